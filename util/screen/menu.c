/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen/menu.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "screen/keys.h"

/* Columns beside an item: a frame, blanks and the mark. */
#define BESIDE 4
#define MARK_COLUMNS 4

void menu__open(struct menu *menu, const char *title, bool marks)
{
	*menu = (struct menu){ .title = title, .marks = marks };
}

void menu__close(struct menu *menu)
{
	menu->title = NULL;
}

void menu__add(struct menu *menu, const char *format, ...)
{
	va_list args;

	if (menu->nr == MENU_ITEMS)
		return;
	va_start(args, format);
	vsnprintf(menu->items[menu->nr++].text, MENU_ITEM_LEN, format, args);
	va_end(args);
}

void menu__toggle(struct menu *menu, size_t item)
{
	size_t mark = menu->items[item].mark;

	if (!mark) {
		menu->items[item].mark = ++menu->nr_marked;
		return;
	}
	for (size_t i = 0; i < menu->nr; i++) {
		if (menu->items[i].mark > mark)
			menu->items[i].mark--;
	}
	menu->items[item].mark = 0;
	menu->nr_marked--;
}

static void find_letter(struct menu *menu, int key)
{
	for (size_t i = 1; i <= menu->nr; i++) {
		size_t item = (menu->at + i) % menu->nr;

		if (menu->items[item].text[0] == key) {
			menu->at = item;
			return;
		}
	}
}

enum menu_end menu__key(struct menu *menu, int key)
{
	size_t last = menu->nr ? menu->nr - 1 : 0;

	switch (key) {
	case SCREEN_KEY_UP:
		menu->at -= menu->at ? 1 : 0;
		break;
	case SCREEN_KEY_DOWN:
		menu->at += menu->at < last ? 1 : 0;
		break;
	case SCREEN_KEY_HOME:
	case SCREEN_KEY_PAGE_UP:
		menu->at = 0;
		break;
	case SCREEN_KEY_END:
	case SCREEN_KEY_PAGE_DOWN:
		menu->at = last;
		break;
	case SCREEN_KEY_ENTER:
		return menu->nr ? MENU_CHOSEN : MENU_CANCELLED;
	case SCREEN_KEY_ESC:
	case SCREEN_KEY_BACKSPACE:
		return MENU_CANCELLED;
	case ' ':
		if (menu->marks && menu->nr)
			menu__toggle(menu, menu->at);
		break;
	default:
		find_letter(menu, key);
	}
	return MENU_GOES_ON;
}

static size_t widest(const struct menu *menu, const struct canvas *canvas)
{
	size_t width = canvas__width(canvas, menu->title);

	for (size_t i = 0; i < menu->nr; i++)
		width = max_u64(width, canvas__width(canvas, menu->items[i].text) +
					       (menu->marks ? MARK_COLUMNS : 0));
	return width;
}

static void paint_item(const struct menu *menu, struct canvas *canvas, size_t item, size_t line,
		       size_t column, size_t width)
{
	enum canvas_style style = item == menu->at ? STYLE_SELECTED : STYLE_NORMAL;
	char mark[24] = "    ";

	if (menu->items[item].mark)
		snprintf(mark, sizeof(mark), "%2zu  ", menu->items[item].mark);
	canvas__restyle(canvas, line, column, width, style);
	if (menu->marks) {
		canvas__put(canvas, line, column, MARK_COLUMNS, style, mark);
		column += MARK_COLUMNS;
		width -= min_u64(width, MARK_COLUMNS);
	}
	canvas__put(canvas, line, column, width, style, menu->items[item].text);
}

static void paint_frame(struct canvas *canvas, size_t line, size_t column, size_t lines,
			size_t columns)
{
	static const char *const lines_of[2][6] = { { "-", "|", "+", "+", "+", "+" },
						    { "─", "│", "┌", "┐", "└", "┘" } };
	const char *const *of = lines_of[canvas->utf8];
	size_t right = column + columns - 1, bottom = line + lines - 1;

	canvas__blank(canvas, line, column, lines, columns);
	for (size_t i = column; i <= right; i++) {
		canvas__set(canvas, line, i, STYLE_NORMAL, of[0]);
		canvas__set(canvas, bottom, i, STYLE_NORMAL, of[0]);
	}
	for (size_t i = line; i <= bottom; i++) {
		canvas__set(canvas, i, column, STYLE_NORMAL, of[1]);
		canvas__set(canvas, i, right, STYLE_NORMAL, of[1]);
	}
	canvas__set(canvas, line, column, STYLE_NORMAL, of[2]);
	canvas__set(canvas, line, right, STYLE_NORMAL, of[3]);
	canvas__set(canvas, bottom, column, STYLE_NORMAL, of[4]);
	canvas__set(canvas, bottom, right, STYLE_NORMAL, of[5]);
}

void menu__paint(const struct menu *menu, struct canvas *canvas)
{
	size_t columns = min_u64(widest(menu, canvas) + BESIDE, canvas->columns);
	size_t lines = min_u64(menu->nr + 2, canvas->lines), shown = lines - min_u64(lines, 2);
	size_t line = (canvas->lines - lines) / 2, column = (canvas->columns - columns) / 2;
	size_t first = menu->at < shown ? 0 : menu->at - shown + 1;

	if (!shown || columns <= BESIDE)
		return;
	paint_frame(canvas, line, column, lines, columns);
	canvas__put(canvas, line, column + 2, columns - BESIDE, STYLE_TITLE, menu->title);
	for (size_t i = 0; i < shown && first + i < menu->nr; i++)
		paint_item(menu, canvas, first + i, line + 1 + i, column + 2, columns - BESIDE);
}
