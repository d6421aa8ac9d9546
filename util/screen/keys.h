/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SCREEN_KEYS_H
#define DENET_SCREEN_KEYS_H

/* Keys are their characters in Unicode, and these. */
enum screen_key {
	SCREEN_KEY_NONE,
	SCREEN_KEY_CTRL_L = 0x0c,
	SCREEN_KEY_ENTER = '\n',
	SCREEN_KEY_CTRL_U = 0x15,
	SCREEN_KEY_ESC = 0x1b,
	SCREEN_KEY_BACKSPACE = 0x7f,
	SCREEN_KEY_UP = 0x200000, /* behind the last character */
	SCREEN_KEY_DOWN,
	SCREEN_KEY_LEFT,
	SCREEN_KEY_RIGHT,
	SCREEN_KEY_PAGE_UP,
	SCREEN_KEY_PAGE_DOWN,
	SCREEN_KEY_HOME,
	SCREEN_KEY_END,
	SCREEN_KEY_OTHER, /* one that has no meaning here */
};

#endif /* DENET_SCREEN_KEYS_H */
