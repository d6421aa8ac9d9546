/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen/canvas.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "screen/glyph.h"

int canvas__resize(struct canvas *canvas, size_t lines, size_t columns)
{
	struct canvas_cell *cells = calloc(lines * columns + 1, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	free(canvas->cells);
	canvas->cells = cells;
	canvas->lines = lines;
	canvas->columns = columns;
	canvas__clear(canvas);
	return 0;
}

void canvas__clear(struct canvas *canvas)
{
	canvas__blank(canvas, 0, 0, canvas->lines, canvas->columns);
}

void canvas__free(struct canvas *canvas)
{
	free(canvas->cells);
	*canvas = (struct canvas){ 0 };
}

void canvas__set(struct canvas *canvas, size_t line, size_t column, enum canvas_style style,
		 const char *character)
{
	struct canvas_cell *cell;

	if (line >= canvas->lines || column >= canvas->columns)
		return;
	cell = &canvas->cells[line * canvas->columns + column];
	/* The other half of a wide character goes with this one. */
	if (!*cell->text && column)
		memcpy(cell[-1].text, " ", 2);
	if (column + 1 < canvas->columns && !*cell[1].text)
		memcpy(cell[1].text, " ", 2);
	snprintf(cell->text, sizeof(cell->text), "%s", character);
	cell->style = (unsigned char)style;
}

static void set_wide(struct canvas *canvas, size_t line, size_t column, enum canvas_style style,
		     const char *character)
{
	canvas__set(canvas, line, column + 1, style, " ");
	canvas__set(canvas, line, column, style, character);
	canvas->cells[line * canvas->columns + column + 1].text[0] = '\0';
}

static void set_glyph(struct canvas *canvas, size_t line, size_t column, enum canvas_style style,
		      const struct glyph *glyph)
{
	char character[2] = "";

	if (glyph->escaped) {
		for (size_t i = 0; i < glyph->columns; i++) {
			*character = glyph->text[i];
			canvas__set(canvas, line, column + i, style, character);
		}
	} else if (glyph->columns == 2) {
		set_wide(canvas, line, column, style, glyph->text);
	} else {
		canvas__set(canvas, line, column, style, glyph->text);
	}
}

size_t canvas__put(struct canvas *canvas, size_t line, size_t column, size_t width,
		   enum canvas_style style, const char *text)
{
	struct glyph glyph;
	size_t used = 0;

	if (line >= canvas->lines || column >= canvas->columns)
		return 0;
	width = min_u64(width, canvas->columns - column);
	while (glyph__next(&text, canvas->utf8, &glyph)) {
		/* Behind a text that is cut there is the mark. */
		if (used + glyph.columns > width - (*text ? 1 : 0) || !width) {
			for (; used < width; used++)
				canvas__set(canvas, line, column + used, style,
					    used + 1 < width ? " " : canvas->utf8 ? "…" : "~");
			return used;
		}
		set_glyph(canvas, line, column + used, style, &glyph);
		used += glyph.columns;
	}
	return used;
}

size_t canvas__put_end(struct canvas *canvas, size_t line, size_t column, size_t width,
		       enum canvas_style style, const char *text)
{
	size_t columns = canvas__width(canvas, text);
	struct glyph glyph;

	if (columns <= width || !width)
		return canvas__put(canvas, line, column, width, style, text);
	while (columns > width - 1 && glyph__next(&text, canvas->utf8, &glyph))
		columns -= glyph.columns;
	canvas__set(canvas, line, column, style, canvas->utf8 ? "…" : "~");
	return 1 + canvas__put(canvas, line, column + 1, width - 1, style, text);
}

void canvas__put_right(struct canvas *canvas, size_t line, size_t column, size_t width,
		       enum canvas_style style, const char *text)
{
	size_t columns = min_u64(canvas__width(canvas, text), width);

	canvas__put(canvas, line, column + width - columns, columns, style, text);
}

void canvas__restyle(struct canvas *canvas, size_t line, size_t column, size_t width,
		     enum canvas_style style)
{
	if (line >= canvas->lines)
		return;
	for (size_t i = column; i < canvas->columns && i - column < width; i++)
		canvas->cells[line * canvas->columns + i].style = (unsigned char)style;
}

void canvas__blank(struct canvas *canvas, size_t line, size_t column, size_t lines, size_t columns)
{
	for (size_t i = line; i < canvas->lines && i - line < lines; i++) {
		for (size_t j = column; j < canvas->columns && j - column < columns; j++)
			canvas__set(canvas, i, j, STYLE_NORMAL, " ");
	}
}

size_t canvas__width(const struct canvas *canvas, const char *text)
{
	struct glyph glyph;
	size_t columns = 0;

	while (glyph__next(&text, canvas->utf8, &glyph))
		columns += glyph.columns;
	return columns;
}

char *canvas__line(const struct canvas *canvas, size_t line, char *buf, size_t size)
{
	const struct canvas_cell *cells = &canvas->cells[line * canvas->columns];
	size_t len = 0, end = 0;

	for (size_t i = 0; i < canvas->columns && len + sizeof(cells->text) < size; i++) {
		len += (size_t)snprintf(buf + len, size - len, "%s", cells[i].text);
		if (strcmp(cells[i].text, " ") != 0)
			end = len;
	}
	buf[end] = '\0';
	return buf;
}
