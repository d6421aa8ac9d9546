/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen/line_edit.h"

#include <stdio.h>
#include <string.h>

#include "screen/keys.h"

void line_edit__begin(struct line_edit *edit, const char *text)
{
	snprintf(edit->text, sizeof(edit->text), "%s", text);
	edit->len = strlen(edit->text);
}

static void take_last(struct line_edit *edit)
{
	/* Bytes of a character but its first are 10xxxxxx. */
	while (edit->len && (edit->text[edit->len - 1] & 0xc0) == 0x80)
		edit->len--;
	if (edit->len)
		edit->len--;
	edit->text[edit->len] = '\0';
}

/* As UTF-8, whatever the locale is: so are the names that it is compared with. */
static void add(struct line_edit *edit, unsigned int code)
{
	char bytes[4];
	size_t nr = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char marks[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = nr; i-- > 1; code >>= 6)
		bytes[i] = (char)(0x80 | (code & 0x3f));
	bytes[0] = (char)(marks[nr] | code);
	if (edit->len + nr >= sizeof(edit->text))
		return;
	memcpy(edit->text + edit->len, bytes, nr);
	edit->len += nr;
	edit->text[edit->len] = '\0';
}

enum edit_end line_edit__key(struct line_edit *edit, int key)
{
	switch (key) {
	case SCREEN_KEY_ENTER:
		return EDIT_DONE;
	case SCREEN_KEY_ESC:
		return EDIT_CANCELLED;
	case SCREEN_KEY_BACKSPACE:
		take_last(edit);
		break;
	case SCREEN_KEY_CTRL_U:
		line_edit__begin(edit, "");
		break;
	default:
		if (key >= ' ' && key < SCREEN_KEY_UP)
			add(edit, (unsigned int)key);
	}
	return EDIT_GOES_ON;
}
