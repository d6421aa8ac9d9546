/* SPDX-License-Identifier: GPL-2.0-only */
/* What is painted has any bytes in its names, and stays within its columns. */
#include "screen/canvas.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "common/harness.h"
#include "screen/keys.h"
#include "screen/line_edit.h"
#include "screen/menu.h"

FIXTURE(canvas)
{
	struct canvas canvas;
	char line[200];
};

FIXTURE_SETUP(canvas)
{
	self->canvas = (struct canvas){ .utf8 = true };
	setlocale(LC_CTYPE, "C.UTF-8");
	ASSERT_EQ(0, canvas__resize(&self->canvas, 3, 20));
}

FIXTURE_TEARDOWN(canvas)
{
	canvas__free(&self->canvas);
}

static const char *put(struct canvas *canvas, char line[200], size_t width, const char *text)
{
	canvas__clear(canvas);
	canvas__put(canvas, 1, 2, width, STYLE_NORMAL, text);
	return canvas__line(canvas, 1, line, 200);
}

TEST_F(canvas, texts_are_cut_with_a_mark)
{
	EXPECT_STREQ("  abcde", put(&self->canvas, self->line, 5, "abcde"));
	EXPECT_STREQ("  abcd…", put(&self->canvas, self->line, 5, "abcdef"));
	EXPECT_STREQ("", put(&self->canvas, self->line, 0, "abcdef"));
	EXPECT_STREQ("  abcdefghijklmnopq…",
		     put(&self->canvas, self->line, SIZE_MAX, "abcdefghijklmnopqrstu"));
	self->canvas.utf8 = false;
	EXPECT_STREQ("  abcd~", put(&self->canvas, self->line, 5, "abcdef"));
	EXPECT_STREQ("", canvas__line(&self->canvas, 0, self->line, sizeof(self->line)));
	EXPECT_STREQ("", canvas__line(&self->canvas, 2, self->line, sizeof(self->line)));
}

TEST_F(canvas, of_paths_the_end_is_kept)
{
	canvas__put_end(&self->canvas, 0, 0, 6, STYLE_NORMAL, "/a/漢/file");
	EXPECT_STREQ("…/file", canvas__line(&self->canvas, 0, self->line, sizeof(self->line)));
	canvas__put_end(&self->canvas, 1, 0, 7, STYLE_NORMAL, "/a/漢/file");
	/* No half of the wide one. */
	EXPECT_STREQ("…/file", canvas__line(&self->canvas, 1, self->line, sizeof(self->line)));
	canvas__put_end(&self->canvas, 2, 0, 10, STYLE_NORMAL, "/a/漢/file");
	EXPECT_STREQ("/a/漢/file", canvas__line(&self->canvas, 2, self->line, sizeof(self->line)));
	canvas__put_end(&self->canvas, 2, 0, 0, STYLE_NORMAL, "abc");
}

TEST_F(canvas, bytes_that_are_no_text_are_escaped)
{
	EXPECT_STREQ("  \\x1b[1m\\x0a\\x7f", put(&self->canvas, self->line, 18, "\x1b[1m\n\x7f"));
	EXPECT_STREQ("  a\\xff\\xc3b", put(&self->canvas, self->line, 18, "a\xff\xc3"
									     "b"));
	/* C1 controls, what turns the direction around, a combining accent. */
	EXPECT_STREQ("  \\u009b\\u202e", put(&self->canvas, self->line, 18, "\xc2\x9b\u202e"));
	EXPECT_STREQ("  e\\u0301", put(&self->canvas, self->line, 18, "e\u0301"));
	self->canvas.utf8 = false;
	EXPECT_STREQ("  \\xc3\\xa4", put(&self->canvas, self->line, 18, "\u00e4"));
}

TEST_F(canvas, wide_characters_take_two_columns_and_are_never_halved)
{
	EXPECT_STREQ("  漢字", put(&self->canvas, self->line, 4, "漢字"));
	EXPECT_STREQ("  漢…", put(&self->canvas, self->line, 3, "漢字"));
	EXPECT_STREQ("  漢 …", put(&self->canvas, self->line, 4, "漢字x"));
	EXPECT_STREQ("   …", put(&self->canvas, self->line, 2, "漢字"));
	EXPECT_EQ(5, canvas__width(&self->canvas, "漢字x"));
	put(&self->canvas, self->line, 4, "漢字");
	/* One half of the first goes, and the other with it. */
	canvas__set(&self->canvas, 1, 3, STYLE_NORMAL, "x");
	EXPECT_STREQ("   x字", canvas__line(&self->canvas, 1, self->line, sizeof(self->line)));
	canvas__set(&self->canvas, 1, 4, STYLE_NORMAL, "y");
	EXPECT_STREQ("   xy", canvas__line(&self->canvas, 1, self->line, sizeof(self->line)));
}

TEST_F(canvas, what_is_outside_is_left_out)
{
	EXPECT_EQ(0, canvas__put(&self->canvas, 3, 0, 5, STYLE_NORMAL, "a"));
	EXPECT_EQ(0, canvas__put(&self->canvas, 0, 20, 5, STYLE_NORMAL, "a"));
	canvas__set(&self->canvas, 9, 9, STYLE_NORMAL, "x");
	canvas__restyle(&self->canvas, 2, 15, SIZE_MAX, STYLE_SELECTED);
	canvas__restyle(&self->canvas, 3, 0, 1, STYLE_SELECTED);
	EXPECT_EQ(STYLE_NORMAL, self->canvas.cells[2 * 20 + 14].style);
	EXPECT_EQ(STYLE_SELECTED, self->canvas.cells[2 * 20 + 19].style);
	canvas__put_right(&self->canvas, 0, 10, 10, STYLE_NORMAL, "right");
	EXPECT_STREQ("               right",
		     canvas__line(&self->canvas, 0, self->line, sizeof(self->line)));
}

TEST(a_line_is_edited_by_characters)
{
	struct line_edit edit;

	line_edit__begin(&edit, "a");
	line_edit__key(&edit, 0xe4);
	line_edit__key(&edit, 0x1f600);
	line_edit__key(&edit, SCREEN_KEY_LEFT);
	EXPECT_STREQ("a\u00e4\U0001f600", edit.text);
	line_edit__key(&edit, SCREEN_KEY_BACKSPACE);
	EXPECT_STREQ("a\u00e4", edit.text);
	line_edit__key(&edit, SCREEN_KEY_BACKSPACE);
	EXPECT_STREQ("a", edit.text);
	line_edit__key(&edit, SCREEN_KEY_BACKSPACE);
	line_edit__key(&edit, SCREEN_KEY_BACKSPACE);
	EXPECT_STREQ("", edit.text);
	for (int i = 0; i < 2 * LINE_EDIT_LEN; i++)
		EXPECT_EQ(EDIT_GOES_ON, line_edit__key(&edit, 'x'));
	EXPECT_EQ(LINE_EDIT_LEN - 1, strlen(edit.text));
	line_edit__key(&edit, SCREEN_KEY_CTRL_U);
	EXPECT_STREQ("", edit.text);
	EXPECT_EQ(EDIT_DONE, line_edit__key(&edit, SCREEN_KEY_ENTER));
	EXPECT_EQ(EDIT_CANCELLED, line_edit__key(&edit, SCREEN_KEY_ESC));
}

TEST(marks_of_a_menu_keep_their_order)
{
	struct menu menu;

	menu__open(&menu, "title", true);
	for (int i = 0; i < MENU_ITEMS + 10; i++)
		menu__add(&menu, "item %d", i);
	EXPECT_EQ(MENU_ITEMS, menu.nr);
	menu__toggle(&menu, 5);
	menu__toggle(&menu, 2);
	menu__toggle(&menu, 7);
	menu__toggle(&menu, 5);
	EXPECT_EQ(1, menu.items[2].mark);
	EXPECT_EQ(2, menu.items[7].mark);
	EXPECT_EQ(0, menu.items[5].mark);
	EXPECT_EQ(MENU_GOES_ON, menu__key(&menu, SCREEN_KEY_END));
	EXPECT_EQ(MENU_GOES_ON, menu__key(&menu, SCREEN_KEY_DOWN));
	EXPECT_EQ(MENU_ITEMS - 1, menu.at);
	EXPECT_EQ(MENU_GOES_ON, menu__key(&menu, ' '));
	EXPECT_EQ(3, menu.items[MENU_ITEMS - 1].mark);
	EXPECT_EQ(MENU_CHOSEN, menu__key(&menu, SCREEN_KEY_ENTER));
}

TEST_HARNESS_MAIN
