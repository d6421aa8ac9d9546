/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen/glyph.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"

static wchar_t code_point(const char *text, size_t bytes)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned int code = bytes == 1 ? at[0] : at[0] & (0xffU >> (bytes + 1));

	for (size_t i = 1; i < bytes; i++)
		code = code << 6 | (at[i] & 0x3f);
	return (wchar_t)code;
}

static void escape(struct glyph *glyph, bool is_byte, unsigned int code)
{
	int len = is_byte ? snprintf(glyph->text, sizeof(glyph->text), "\\x%02x", code)
			  : snprintf(glyph->text, sizeof(glyph->text), "\\u%04x", code);

	glyph->columns = (size_t)len;
	glyph->escaped = true;
}

bool glyph__next(const char **text, bool utf8, struct glyph *glyph)
{
	size_t bytes = utf8__bytes(*text);
	unsigned char first = (unsigned char)**text;
	int width;

	if (!first)
		return false;
	*glyph = (struct glyph){ .columns = 1 };
	if (!bytes || first < ' ' || first == 0x7f || (bytes > 1 && !utf8)) {
		escape(glyph, true, first);
		++*text;
		return true;
	}
	width = bytes == 1 ? 1 : wcwidth(code_point(*text, bytes));
	if (width <= 0) {
		escape(glyph, false, (unsigned int)code_point(*text, bytes));
	} else {
		memcpy(glyph->text, *text, bytes);
		glyph->columns = (size_t)width;
	}
	*text += bytes;
	return true;
}
