/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SCREEN_GLYPH_H
#define DENET_SCREEN_GLYPH_H

#include <stdbool.h>
#include <stddef.h>

#define GLYPH_LEN 12

/*
 * The next thing of a text that a terminal can show: a character, or the escape of what it cannot.
 * Control bytes and bytes that are no UTF-8 become \x1b, characters without a width of their own,
 * which might change the order of others, \u202e. Where the terminal has no UTF-8, each byte of a
 * longer character becomes an escape.
 */
struct glyph {
	char text[GLYPH_LEN];
	size_t columns; /* an escape has as many characters, each in a column of its own */
	bool escaped;
};

/* Goes on by a glyph. False: the text ends here. */
bool glyph__next(const char **text, bool utf8, struct glyph *glyph);

#endif /* DENET_SCREEN_GLYPH_H */
