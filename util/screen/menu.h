/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SCREEN_MENU_H
#define DENET_SCREEN_MENU_H

#include <stdbool.h>
#include <stddef.h>

#include "screen/canvas.h"

#define MENU_ITEMS 80
#define MENU_ITEM_LEN 160

/* A list from which one item is chosen, or, with marks, several in an order. */
struct menu {
	const char *title; /* NULL: it is closed */
	bool marks;
	size_t nr;
	size_t at;
	size_t nr_marked;
	struct {
		char text[MENU_ITEM_LEN];
		size_t mark; /* 1 is the first that was marked; 0: it is not */
	} items[MENU_ITEMS];
};

enum menu_end { MENU_GOES_ON, MENU_CHOSEN, MENU_CANCELLED };

/* Opens an empty one; title is borrowed. */
void menu__open(struct menu *menu, const char *title, bool marks);
void menu__close(struct menu *menu);

/* Adds an item, unless there are too many. */
void menu__add(struct menu *menu, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Marks an item, behind those that are marked, or takes its mark away. */
void menu__toggle(struct menu *menu, size_t item);

/* Takes a key: arrows, Home, End, the first letter of an item, the blank (marks), Enter, ESC. */
enum menu_end menu__key(struct menu *menu, int key);

/* Paints it in the middle of a part of the canvas. */
void menu__paint(const struct menu *menu, struct canvas *canvas);

#endif /* DENET_SCREEN_MENU_H */
