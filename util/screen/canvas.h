/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SCREEN_CANVAS_H
#define DENET_SCREEN_CANVAS_H

#include <stdbool.h>
#include <stddef.h>

/* How text looks. A terminal without colours has bold, reverse and underlined letters. */
enum canvas_style {
	STYLE_NORMAL,
	STYLE_DIM,
	STYLE_TITLE,
	STYLE_HEADING,
	STYLE_SELECTED,
	STYLE_MATCH, /* what was searched for */
	STYLE_KEY,   /* names of keys */
	STYLE_ALARM,
	STYLE_GREEN, /* colours of kinds of time */
	STYLE_YELLOW,
	STYLE_RED,
	STYLE_BLUE,
	STYLE_MAGENTA,
	STYLE_CYAN,
	CANVAS_STYLES,
};

struct canvas_cell {
	char text[5];	     /* a character; "": the right half of the one before */
	unsigned char style; /* enum canvas_style */
};

/* What a screen shows, before a terminal does. Zero-initialised is empty. */
struct canvas {
	size_t lines, columns;
	bool utf8;    /* the terminal shows it */
	bool colours; /* the same */
	struct canvas_cell *cells;
};

/* Has the size from now on, and nothing on it. 0 or -ENOMEM. */
int canvas__resize(struct canvas *canvas, size_t lines, size_t columns);
void canvas__clear(struct canvas *canvas);
void canvas__free(struct canvas *canvas);

/*
 * Writes a text into width columns at most, or up to the right end. Of one that is longer the end
 * is cut off, which a mark in the last column tells. What is outside of the canvas is left out, and
 * what a terminal cannot show is escaped (screen/glyph.h). Returns the columns that were written.
 */
size_t canvas__put(struct canvas *canvas, size_t line, size_t column, size_t width,
		   enum canvas_style style, const char *text);

/* The same, but of a text that is longer the beginning is cut off: its end tells more. */
size_t canvas__put_end(struct canvas *canvas, size_t line, size_t column, size_t width,
		       enum canvas_style style, const char *text);

/* Aligned right in its width. */
void canvas__put_right(struct canvas *canvas, size_t line, size_t column, size_t width,
		       enum canvas_style style, const char *text);

/* One character of one column, as it is. */
void canvas__set(struct canvas *canvas, size_t line, size_t column, enum canvas_style style,
		 const char *character);

/* Gives columns of a line another style, and keeps their text. */
void canvas__restyle(struct canvas *canvas, size_t line, size_t column, size_t width,
		     enum canvas_style style);

/* Blanks in a part of the canvas. */
void canvas__blank(struct canvas *canvas, size_t line, size_t column, size_t lines, size_t columns);

/* The columns that a text takes. */
size_t canvas__width(const struct canvas *canvas, const char *text);

/* A line as text, without blanks at its end. Returns buf. */
char *canvas__line(const struct canvas *canvas, size_t line, char *buf, size_t size);

#endif /* DENET_SCREEN_CANVAS_H */
