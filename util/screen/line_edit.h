/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SCREEN_LINE_EDIT_H
#define DENET_SCREEN_LINE_EDIT_H

#include <stddef.h>

#define LINE_EDIT_LEN 256

/* A line of text that is being typed. */
struct line_edit {
	char text[LINE_EDIT_LEN];
	size_t len;
};

enum edit_end { EDIT_GOES_ON, EDIT_DONE, EDIT_CANCELLED };

/* Begins with a text. */
void line_edit__begin(struct line_edit *edit, const char *text);

/* Takes a key: a character, Backspace, Ctrl-U, Enter or ESC. */
enum edit_end line_edit__key(struct line_edit *edit, int key);

#endif /* DENET_SCREEN_LINE_EDIT_H */
