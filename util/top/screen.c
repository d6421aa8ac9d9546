/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/screen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"
#include "screen/messages.h"
#include "top/activity.h"
#include "top/column_cache.h"
#include "top/screen_keys.h"
#include "top/screen_paint.h"
#include "top/screen_write.h"
#include "top/wall_time.h"

/* How much of the past is there, of a machine and of a recording. */
#define KEPT_NS (900 * NSEC_PER_SEC)
#define KEPT_SAMPLES 1000000
#define KEPT_BYTES (64ULL << 20)
#define RECORDED_SAMPLES 8000000
#define RECORDED_BYTES (512ULL << 20)

/* Drawing takes one in so many of the time at most, and is no more frequent than this. */
#define DRAW_SHARE 50
#define DRAW_NS (250 * NSEC_PER_MSEC)
#define FACTS_NS NSEC_PER_SEC
#define MESSAGE_NS (10 * NSEC_PER_SEC)

/* What this process has done up to a time. */
struct usage {
	uint64_t time;
	uint64_t looks;
};

struct screen {
	const struct screen_options *options;
	struct tty *tty;
	struct canvas canvas;
	struct messages messages;
	struct column_cache *columns;
	struct activity *activity;
	struct screen_state state;
	struct screen_facts facts;
	struct usage usage; /* when the facts were told */
	uint64_t looks;
	bool dirty; /* there is more to see than was drawn */
	uint64_t next_draw;
	bool quit;
};

static struct usage usage_now(const struct screen *screen)
{
	return (struct usage){ .time = clock__now_ns(), .looks = screen->looks };
}

static int make_model(struct screen *screen)
{
	const struct screen_options *options = screen->options;
	struct activity_options kept = {
		.nr_columns = SCREEN_TEXTS,
		.window_ns = options->source ? UINT64_MAX : KEPT_NS,
		.max_samples = options->source ? RECORDED_SAMPLES : KEPT_SAMPLES,
		.max_bytes = options->source ? RECORDED_BYTES : KEPT_BYTES,
	};
	int err;

	screen->activity = activity__new(&kept);
	screen->columns = column_cache__new();
	if (!screen->activity || !screen->columns)
		return -ENOMEM;
	err = screen_state__init(&screen->state, screen->activity, options->columns,
				 options->nr_columns);
	screen->state.recorded = options->source != NULL;
	screen->state.time = options->time;
	if (screen->state.recorded)
		screen->state.window_ns = 0;
	return err;
}

static int open_terminal(struct screen *screen)
{
	int err;

	screen->tty = tty__open(screen->options->colours, &err);
	if (screen->tty) {
		screen->canvas.utf8 = tty__has_utf8(screen->tty);
		screen->canvas.colours = tty__has_colours(screen->tty);
		messages__begin(&screen->messages);
		return 0;
	}
	if (err == -ENOTTY)
		pr_err("the screen needs a terminal as input and output; -b prints tables");
	else if (err == -ENOTSUP)
		pr_err("no screen on a terminal of type \"%s\" (TERM); -b prints tables",
		       getenv("TERM") ? getenv("TERM") : "");
	else
		pr_err("cannot take over the terminal: %s", strerror(-err));
	return err;
}

struct screen *screen__open(const struct screen_options *options, int *err)
{
	struct screen *screen = calloc(1, sizeof(*screen));

	*err = -ENOMEM;
	if (!screen)
		return NULL;
	screen->options = options;
	screen->facts.source = options->source;
	if (!options->source)
		wall_time__steady_lead(&screen->facts.wall_lead);
	screen->dirty = true;
	*err = make_model(screen);
	if (!*err)
		*err = open_terminal(screen);
	screen->usage = usage_now(screen);
	if (!*err)
		return screen;
	screen__close(screen);
	return NULL;
}

void screen__close(struct screen *screen)
{
	if (!screen)
		return;
	tty__close(screen->tty);
	if (screen->tty)
		messages__end(&screen->messages);
	screen_state__free(&screen->state);
	activity__delete(screen->activity);
	column_cache__delete(screen->columns);
	canvas__free(&screen->canvas);
	free(screen);
}

int screen__begin(struct screen *screen, const struct top_pass *pass)
{
	screen->looks++;
	if (screen->state.paused)
		return 0;
	return activity__begin_pass(screen->activity, pass->time, pass->weight_ns);
}

static int add(struct screen *screen, const char *const texts[TOP_COLUMNS], bool idle,
	       const struct activity_times *times)
{
	const char *all[SCREEN_TEXTS];

	memcpy(all, texts, TOP_COLUMNS * sizeof(*all));
	all[SCREEN_IDLE] = idle ? "idle" : "";
	return activity__add(screen->activity, all, times);
}

int screen__add(struct screen *screen, const struct thread_sample *sample,
		struct top_names *names)
{
	const struct activity_times times = thread_sample__times(sample);
	const char *const *texts;

	if (screen->state.paused)
		return 0;
	texts = column_cache__texts(screen->columns, sample, names);
	return texts ? add(screen, texts, sample->idle, &times) : -ENOMEM;
}

int screen__add_row(struct screen *screen, const struct csv_row *row)
{
	return add(screen, row->texts, row->idle, &row->times);
}

/* The rate is that of the last second or so. */
static void tell_facts(struct screen *screen, const struct top_pass *pass)
{
	struct screen_facts *facts = &screen->facts;
	struct usage now = usage_now(screen), *last = &screen->usage;
	double ns = (double)max_u64(now.time - last->time, 1);

	facts->threads = (double)pass->counts.targets;
	facts->idle = (double)pass->counts.idle;
	facts->futex = (double)pass->counts.futex;
	facts->filtered = (double)pass->counts.filtered;
	facts->cpu = (double)pass->own_ppm / 1e6;
	if (now.time - last->time < FACTS_NS)
		return;
	facts->looks = (double)(now.looks - last->looks) * NSEC_PER_SEC / ns;
	wall_time__steady_lead(&facts->wall_lead);
	*last = now;
}

void screen__end(struct screen *screen, const struct top_pass *pass)
{
	tell_facts(screen, pass);
	screen->dirty = true;
}

void screen__set_reading(struct screen *screen, bool reading)
{
	screen->facts.reading = reading;
	screen->dirty = true;
	/* The whole is not put off since drawing a part of it took long. */
	screen->next_draw = 0;
}

void screen__poll(const struct screen *screen, struct pollfd fds[TTY_FDS])
{
	tty__poll(screen->tty, fds);
}

/* A message goes after a while. */
static uint64_t message_end(const struct screen *screen)
{
	return screen->facts.message ? screen->messages.time + MESSAGE_NS : UINT64_MAX;
}

/* While the terminal takes nothing, it is waited for. */
uint64_t screen__due(const struct screen *screen)
{
	if (!tty__is_ready(screen->tty))
		return UINT64_MAX;
	return screen->dirty ? screen->next_draw : message_end(screen);
}

static void tell_message(struct screen *screen, uint64_t now)
{
	const struct message *message = messages__latest(&screen->messages);

	screen->facts.message = NULL;
	if (!message || now >= screen->messages.time + MESSAGE_NS)
		return;
	screen->facts.message = message->text;
	screen->facts.alarm = message->level <= LOG_WARNING;
}

static int draw(struct screen *screen)
{
	uint64_t begin = clock__now_ns();
	int err = 0;

	screen->dirty = false;
	if (tty__lines(screen->tty) != screen->canvas.lines ||
	    tty__columns(screen->tty) != screen->canvas.columns)
		err = canvas__resize(&screen->canvas, tty__lines(screen->tty),
				     tty__columns(screen->tty));
	tell_message(screen, begin);
	/* The items of a menu are about the rows that it was opened on. */
	if (!err && !screen->state.menu.title && !screen->state.paused)
		err = screen_state__refresh(&screen->state);
	if (!err)
		err = screen_paint(&screen->state, &screen->facts, &screen->canvas);
	if (!err)
		err = tty__show(screen->tty, &screen->canvas);
	screen->next_draw = begin + max_u64(DRAW_NS, DRAW_SHARE * (clock__now_ns() - begin));
	/* There is more by then. */
	screen->dirty = screen->facts.reading;
	return err;
}

static int take_keys(struct screen *screen, bool *any)
{
	struct screen_state *state = &screen->state;
	int key, err = 0;

	while (!err && !state->quit && (key = tty__key(screen->tty))) {
		*any = true;
		if (key == SCREEN_KEY_CTRL_L)
			tty__redraw(screen->tty);
		else
			err = screen_keys__take(state, key);
		if (!state->write)
			continue;
		state->write = false;
		screen_write__file(state, state->file, state->edit.text);
	}
	screen->quit |= state->quit;
	return err;
}

int screen__work(struct screen *screen, const struct pollfd fds[TTY_FDS])
{
	bool now = false;
	int err;

	if (!tty__handle(screen->tty, fds)) {
		screen->quit = true;
		return 0;
	}
	err = take_keys(screen, &now);
	now |= tty__is_stale(screen->tty);
	screen->dirty |= now || message_end(screen) <= clock__now_ns();
	if (err || !screen->dirty || !tty__is_ready(screen->tty))
		return err;
	return now || clock__now_ns() >= screen->next_draw ? draw(screen) : 0;
}

bool screen__has_quit(const struct screen *screen)
{
	return screen->quit;
}
