/* SPDX-License-Identifier: GPL-2.0-only */
/* What keys make of what is seen, without a terminal. */
#include "top/screen_state.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/harness.h"
#include "screen/keys.h"
#include "top/screen_keys.h"
#include "top/screen_paint.h"
#include "top/screen_write.h"

#define SECOND 1000000000ULL

FIXTURE(screen)
{
	struct activity *activity;
	struct screen_state state;
	struct canvas canvas;
	uint64_t now;
};

/* A thread, as far as these tests know it. */
struct who {
	const char *state, *comm, *tid, *wait, *file, *kernel, *user;
	uint64_t ns;
	bool idle;
};

static const struct who writer = { "DISK", "writer", "10", "fsync", "/data", "io_wait;fsync",
				   "libc+1;main", SECOND, false };
static const struct who locker = { "SLEEP", "locker", "20", "futex", "", "futex_wait", "",
				   2 * SECOND, false };
static const struct who other = { "SLEEP", "locker", "21", "futex", "", "futex_wait", "",
				  5 * SECOND, false };
static const struct who busy = { "RUN", "busy", "30", "-", "", "", "", 1000, false };

static int add(struct activity *activity, const struct who *who)
{
	const char *texts[SCREEN_TEXTS];

	for (int i = 0; i < SCREEN_TEXTS; i++)
		texts[i] = "";
	texts[SCREEN_IDLE] = who->idle ? "idle" : "";
	texts[TOP_COLUMN_STATE] = who->state;
	texts[TOP_COLUMN_COMM] = who->comm;
	texts[TOP_COLUMN_TID] = texts[TOP_COLUMN_TGID] = who->tid;
	texts[TOP_COLUMN_WAIT] = who->wait;
	texts[TOP_COLUMN_FILENAME] = who->file;
	texts[TOP_COLUMN_KSTACK] = who->kernel;
	texts[TOP_COLUMN_USTACK] = who->user;
	return activity__add(activity, texts, &(struct activity_times){ { who->ns } });
}

FIXTURE_SETUP(screen)
{
	const enum top_column columns[] = { TOP_COLUMN_STATE, TOP_COLUMN_COMM, TOP_COLUMN_WAIT };
	const struct activity_options options = { .nr_columns = SCREEN_TEXTS,
						  .window_ns = 900 * SECOND };

	setlocale(LC_CTYPE, "C.UTF-8");
	self->activity = activity__new(&options);
	ASSERT_NE(NULL, self->activity);
	self->now = 1000 * SECOND;
	/* Two lockers all the time, a writer each second one, and somebody busy once. */
	for (int i = 0; i < 20; i++) {
		self->now += SECOND;
		ASSERT_EQ(0, activity__begin_pass(self->activity, self->now, SECOND));
		ASSERT_EQ(0, add(self->activity, &locker));
		ASSERT_EQ(0, add(self->activity, &other));
		if (i % 2)
			ASSERT_EQ(0, add(self->activity, &writer));
		if (i == 19)
			ASSERT_EQ(0, add(self->activity, &busy));
	}
	ASSERT_EQ(0, screen_state__init(&self->state, self->activity, columns, 3));
	ASSERT_EQ(0, screen_state__refresh(&self->state));
	screen_state__set_page(&self->state, 10);
	self->canvas = (struct canvas){ .utf8 = true };
	ASSERT_EQ(0, canvas__resize(&self->canvas, 24, 80));
}

FIXTURE_TEARDOWN(screen)
{
	screen_state__free(&self->state);
	activity__delete(self->activity);
	canvas__free(&self->canvas);
}

static int press(struct screen_state *state, const char *letters)
{
	int err = 0;

	for (; *letters && !err; letters++)
		err = screen_keys__take(state, *letters == '\b' ? SCREEN_KEY_BACKSPACE : *letters);
	return err;
}

static const char *text(const struct screen_state *state, size_t row, size_t column)
{
	size_t nr;
	const struct activity_row *const *rows = screen_state__rows(state, &nr);

	return row < nr ? rows[row]->texts[column] : "no such row";
}

static size_t nr_rows(const struct screen_state *state)
{
	size_t nr;

	screen_state__rows(state, &nr);
	return nr;
}

/* Whether some line of what is painted has a text. */
static bool shows(struct screen_state *state, struct canvas *canvas, const char *wanted)
{
	const struct screen_facts facts = { .looks = 1 };
	char line[1000];
	bool found = false;

	if (screen_paint(state, &facts, canvas))
		return false;
	for (size_t i = 0; i < canvas->lines; i++)
		found |= strstr(canvas__line(canvas, i, line, sizeof(line)), wanted) != NULL;
	return found;
}

TEST_F(screen, rows_are_those_of_the_last_ten_seconds)
{
	size_t nr;
	const struct activity_row *const *rows = screen_state__rows(&self->state, &nr);

	ASSERT_EQ(3, nr);
	EXPECT_STREQ("locker", rows[0]->texts[1]);
	EXPECT_EQ(20 * SECOND, rows[0]->weight_ns);
	EXPECT_STREQ("writer", rows[1]->texts[1]);
	EXPECT_EQ(5 * SECOND, rows[1]->weight_ns);
	EXPECT_STREQ("busy", rows[2]->texts[1]);
	EXPECT_TRUE(shows(&self->state, &self->canvas, ">   2.00   76.9%"));
	EXPECT_TRUE(shows(&self->state, &self->canvas, "DISK  writer fsync"));
	EXPECT_TRUE(shows(&self->state, &self->canvas, "last 10 s"));
}

TEST_F(screen, the_way_down_leads_over_files_and_stacks_to_a_thread)
{
	ASSERT_EQ(0, press(&self->state, "j\n"));
	EXPECT_EQ(1, drill__depth(self->state.drill));
	EXPECT_STREQ("/data", text(&self->state, 0, 0));
	ASSERT_EQ(0, press(&self->state, "\n"));
	EXPECT_EQ(PAGE_STACKS, screen_state__level(&self->state)->page);
	EXPECT_STREQ("io_wait;fsync", text(&self->state, 0, 0));
	EXPECT_TRUE(shows(&self->state, &self->canvas, "KERNEL, 2 frames"));
	EXPECT_TRUE(shows(&self->state, &self->canvas, "USER, 2 frames"));
	EXPECT_TRUE(shows(&self->state, &self->canvas, " fsync"));
	EXPECT_TRUE(shows(&self->state, &self->canvas, "main"));
	ASSERT_EQ(0, press(&self->state, "\n"));
	EXPECT_EQ(PAGE_THREADS, screen_state__level(&self->state)->page);
	EXPECT_STREQ("10", text(&self->state, 0, 0));
	ASSERT_EQ(0, press(&self->state, "\n"));
	EXPECT_EQ(PAGE_THREAD, screen_state__level(&self->state)->page);
	EXPECT_TRUE(shows(&self->state, &self->canvas, "filename      100.0% /data"));
	EXPECT_TRUE(shows(&self->state, &self->canvas, "DISK writer fsync > /data > io_wait"));
	/* There is nothing below. */
	ASSERT_EQ(0, press(&self->state, "\n"));
	EXPECT_EQ(4, drill__depth(self->state.drill));
	/* Each step up is back at the row that it came from. */
	ASSERT_EQ(0, press(&self->state, "\b\b\b\b\b"));
	EXPECT_EQ(0, drill__depth(self->state.drill));
	EXPECT_STREQ("writer", screen_state__chosen(&self->state)->texts[1]);
}

TEST_F(screen, levels_with_nothing_to_see_are_left_out)
{
	/* Lockers have no file, but stacks; the busy one has neither. */
	ASSERT_EQ(0, press(&self->state, "\n"));
	EXPECT_EQ(PAGE_STACKS, screen_state__level(&self->state)->page);
	ASSERT_EQ(0, press(&self->state, "\n"));
	EXPECT_EQ(2, nr_rows(&self->state));
	ASSERT_EQ(0, press(&self->state, "\b\bjj\n"));
	EXPECT_EQ(PAGE_THREADS, screen_state__level(&self->state)->page);
	EXPECT_STREQ("30", text(&self->state, 0, 0));
}

TEST_F(screen, a_choice_stays_with_its_row)
{
	ASSERT_EQ(0, press(&self->state, "j"));
	EXPECT_STREQ("writer", screen_state__chosen(&self->state)->texts[1]);
	for (int i = 0; i < 30; i++) {
		self->now += SECOND;
		ASSERT_EQ(0, activity__begin_pass(self->activity, self->now, SECOND));
		for (int j = 0; j < 3; j++)
			ASSERT_EQ(0, add(self->activity, &writer));
		ASSERT_EQ(0, add(self->activity, &locker));
	}
	ASSERT_EQ(0, screen_state__refresh(&self->state));
	EXPECT_STREQ("writer", text(&self->state, 0, 1));
	EXPECT_STREQ("writer", screen_state__chosen(&self->state)->texts[1]);
	/* The first one is followed as the first, whoever it is. */
	ASSERT_EQ(0, screen_keys__take(&self->state, SCREEN_KEY_HOME));
	EXPECT_FALSE(screen_state__level(&self->state)->moved);
}

TEST_F(screen, filters_keep_rows_in_or_out_and_are_taken_away)
{
	/* "without state = SLEEP" is the second item. */
	ASSERT_EQ(0, screen_keys__take(&self->state, 'f'));
	ASSERT_EQ(0, screen_keys__take(&self->state, SCREEN_KEY_DOWN));
	ASSERT_EQ(0, press(&self->state, "\n"));
	EXPECT_EQ(2, nr_rows(&self->state));
	EXPECT_STREQ("writer", text(&self->state, 0, 1));
	EXPECT_TRUE(shows(&self->state, &self->canvas, "all state!=SLEEP"));
	ASSERT_EQ(0, press(&self->state, "f\n"));
	EXPECT_EQ(1, nr_rows(&self->state));
	EXPECT_TRUE(shows(&self->state, &self->canvas, "state!=SLEEP state=DISK"));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, press(&self->state, "f"));
		ASSERT_EQ(0, screen_keys__take(&self->state, SCREEN_KEY_END));
		ASSERT_EQ(0, press(&self->state, "\n"));
	}
	EXPECT_EQ(3, nr_rows(&self->state));
}

TEST_F(screen, a_search_goes_around)
{
	ASSERT_EQ(0, press(&self->state, "/ER\n"));
	EXPECT_STREQ("locker", screen_state__chosen(&self->state)->texts[1]);
	ASSERT_EQ(0, press(&self->state, "n"));
	EXPECT_STREQ("writer", screen_state__chosen(&self->state)->texts[1]);
	ASSERT_EQ(0, press(&self->state, "n"));
	EXPECT_STREQ("locker", screen_state__chosen(&self->state)->texts[1]);
	ASSERT_EQ(0, press(&self->state, "N"));
	EXPECT_STREQ("writer", screen_state__chosen(&self->state)->texts[1]);
	ASSERT_EQ(0, press(&self->state, "/nobody\n"));
	EXPECT_STREQ("writer", screen_state__chosen(&self->state)->texts[1]);
	ASSERT_EQ(0, screen_keys__take(&self->state, SCREEN_KEY_ESC));
	EXPECT_STREQ("", self->state.search);
	/* Letters in a search are no keys. */
	ASSERT_EQ(0, press(&self->state, "/q"));
	EXPECT_FALSE(self->state.quit);
	EXPECT_TRUE(shows(&self->state, &self->canvas, "search: q"));
}

TEST_F(screen, rows_are_sorted_either_way)
{
	/* P50 is the second item, the state the fourth. */
	ASSERT_EQ(0, press(&self->state, "s"));
	ASSERT_EQ(0, screen_keys__take(&self->state, SCREEN_KEY_DOWN));
	ASSERT_EQ(0, press(&self->state, "\n"));
	EXPECT_STREQ("locker", text(&self->state, 0, 1));
	EXPECT_STREQ("busy", text(&self->state, 2, 1));
	ASSERT_EQ(0, press(&self->state, "s\n"));
	EXPECT_STREQ("busy", text(&self->state, 0, 1));
	ASSERT_EQ(0, press(&self->state, "ss\n"));
	EXPECT_STREQ("DISK", text(&self->state, 0, 0));
	EXPECT_STREQ("RUN", text(&self->state, 1, 0));
}

/* Marks an item of the menu, or takes its mark away. */
static int mark(struct screen_state *state, const char *item)
{
	int err = screen_keys__take(state, SCREEN_KEY_HOME);

	while (!err && strcmp(state->menu.items[state->menu.at].text, item) != 0)
		err = screen_keys__take(state, SCREEN_KEY_DOWN);
	return err ? err : screen_keys__take(state, ' ');
}

TEST_F(screen, columns_to_group_by_are_chosen)
{
	ASSERT_EQ(0, press(&self->state, "g"));
	ASSERT_EQ(0, mark(&self->state, "comm"));
	ASSERT_EQ(0, mark(&self->state, "wait"));
	ASSERT_EQ(0, press(&self->state, "\n"));
	EXPECT_TRUE(shows(&self->state, &self->canvas, "SHARE          STATE"));
	EXPECT_FALSE(shows(&self->state, &self->canvas, "COMM"));
	/* What is not known yet comes next. */
	ASSERT_EQ(0, press(&self->state, "j\n"));
	EXPECT_STREQ("writer", text(&self->state, 0, 0));
}

TEST_F(screen, the_window_grows_and_moves)
{
	size_t nr;

	ASSERT_EQ(0, press(&self->state, "ta\n"));
	EXPECT_EQ(0, self->state.window_ns);
	EXPECT_EQ(40 * SECOND, screen_state__rows(&self->state, &nr)[0]->weight_ns);
	EXPECT_TRUE(shows(&self->state, &self->canvas, "all"));
	ASSERT_EQ(0, press(&self->state, "t1\n["));
	EXPECT_EQ(10 * SECOND, self->state.window_ns);
	EXPECT_EQ(self->now + 1 - 5 * SECOND, self->state.until);
	/* Whoever was busy in the last second is not there. */
	EXPECT_EQ(2, nr_rows(&self->state));
	EXPECT_TRUE(shows(&self->state, &self->canvas, "10 s before "));
	ASSERT_EQ(0, press(&self->state, "[[[[[[[["));
	EXPECT_EQ(1001 * SECOND + 1, self->state.until);
	ASSERT_EQ(0, press(&self->state, "]]]]]]]]"));
	EXPECT_EQ(0, self->state.until);
	EXPECT_EQ(3, nr_rows(&self->state));
}

TEST_F(screen, a_file_is_asked_for_by_name)
{
	ASSERT_EQ(0, press(&self->state, "w\n"));
	EXPECT_EQ(PROMPT_FILE, self->state.prompt);
	EXPECT_NE(NULL, strstr(self->state.edit.text, ".csv"));
	ASSERT_EQ(0, screen_keys__take(&self->state, SCREEN_KEY_ESC));
	EXPECT_FALSE(self->state.write);
	ASSERT_EQ(0, press(&self->state, "wp\n"));
	ASSERT_EQ(0, screen_keys__take(&self->state, SCREEN_KEY_CTRL_U));
	ASSERT_EQ(0, press(&self->state, "x.html\n"));
	EXPECT_TRUE(self->state.write);
	EXPECT_EQ(SCREEN_FILE_PAGE, self->state.file);
	EXPECT_STREQ("x.html", self->state.edit.text);
}

TEST_F(screen, it_is_painted_at_any_size)
{
	static const char *const ways[] = { "", "\n", "\n", "\n", "h", "qg", "", "s", "" };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		ASSERT_EQ(0, press(&self->state, ways[i]));
		for (size_t lines = 1; lines < 60; lines += 1 + lines / 9) {
			for (size_t columns = 1; columns < 300; columns += 1 + columns / 7) {
				ASSERT_EQ(0, canvas__resize(&self->canvas, lines, columns));
				shows(&self->state, &self->canvas, "x");
			}
		}
	}
	ASSERT_EQ(0, canvas__resize(&self->canvas, 5, 20));
	EXPECT_TRUE(shows(&self->state, &self->canvas, "too small: 40x8"));
	self->canvas.utf8 = false;
	ASSERT_EQ(0, canvas__resize(&self->canvas, 50, 200));
	EXPECT_FALSE(shows(&self->state, &self->canvas, "│"));
}

TEST_F(screen, long_texts_are_scrolled_into_sight)
{
	struct who odd = busy;

	odd.comm = "a-very-long-name-of-a-thread-that-ends-in-more-columns-than-there-are-here-END";
	self->now += SECOND;
	ASSERT_EQ(0, activity__begin_pass(self->activity, self->now, SECOND));
	ASSERT_EQ(0, add(self->activity, &odd));
	ASSERT_EQ(0, screen_state__refresh(&self->state));
	EXPECT_FALSE(shows(&self->state, &self->canvas, "END"));
	for (int i = 0; i < 8; i++)
		ASSERT_EQ(0, screen_keys__take(&self->state, SCREEN_KEY_RIGHT));
	EXPECT_TRUE(shows(&self->state, &self->canvas, "END"));
}

TEST_F(screen, pause_and_help)
{
	ASSERT_EQ(0, press(&self->state, "p"));
	EXPECT_TRUE(self->state.paused);
	EXPECT_TRUE(shows(&self->state, &self->canvas, "PAUSED"));
	ASSERT_EQ(0, press(&self->state, "ph"));
	EXPECT_FALSE(self->state.paused);
	EXPECT_TRUE(shows(&self->state, &self->canvas, "choose the columns to group by"));
	/* The first key ends the help only. */
	ASSERT_EQ(0, press(&self->state, "q"));
	EXPECT_FALSE(self->state.quit);
	ASSERT_EQ(0, press(&self->state, "q"));
	EXPECT_TRUE(self->state.quit);
}

TEST_F(screen, a_recording_is_not_paused)
{
	self->state.recorded = true;
	ASSERT_EQ(0, press(&self->state, "p"));
	EXPECT_FALSE(self->state.paused);
}

/* Whether a page has a line that begins so. */
static bool has(const char *path, const char *text)
{
	char command[256];

	snprintf(command, sizeof(command), "grep -q '^%s' %s", text, path);
	return !system(command);
}

TEST_F(screen, a_page_has_the_kinds_of_time_that_a_file_of_perf_has)
{
	static const struct who of_page[] = {
		{ "DEAD", "dead", "1", "-", "", "", "", 0, false },
		{ "ZOMBIE", "zombie", "2", "-", "", "", "", 0, false },
		{ "SLEEP", "waiter", "3", "poll", "", "", "", 0, true },
	};
	char dir[] = "/tmp/denet-page.XXXXXX", path[64];

	ASSERT_NE(NULL, mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/page.html", dir);
	activity__clear(self->activity);
	ASSERT_EQ(0, activity__begin_pass(self->activity, self->now, SECOND));
	for (size_t i = 0; i < 3; i++)
		ASSERT_EQ(0, add(self->activity, &of_page[i]));
	EXPECT_EQ(0, screen_write__file(&self->state, SCREEN_FILE_PAGE, path));
	/* Of nodes, the depth, the number of the name and the time; kinds have the first names. */
	EXPECT_TRUE(has(path, "1,4,1000000000"));
	EXPECT_TRUE(has(path, "\"waiter\""));
	EXPECT_FALSE(has(path, "1,2,"));
	EXPECT_FALSE(has(path, "1,3,"));
	EXPECT_FALSE(has(path, "\"dead\""));
	EXPECT_FALSE(has(path, "\"zombie\""));
	unlink(path);
	ASSERT_EQ(0, add(self->activity, &writer));
	ASSERT_EQ(0, add(self->activity, &locker));
	EXPECT_EQ(0, screen_write__file(&self->state, SCREEN_FILE_PAGE, path));
	EXPECT_TRUE(has(path, "1,2,1000000000"));
	EXPECT_TRUE(has(path, "1,3,1000000000"));
	EXPECT_TRUE(has(path, "1,4,1000000000"));
	unlink(path);
	rmdir(dir);
}

TEST_HARNESS_MAIN
