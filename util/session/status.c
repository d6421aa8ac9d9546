/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/err_out.h"
#include "base/log.h"
#include "base/units.h"

struct status {
	char text[160]; /* empty: nothing shown yet */
};

/* The hooks of the log take no argument, so they find the line here. */
static struct status *shown;

/* Text that finds no room on the terminal is dropped: the next line replaces it. */
static void erase(void)
{
	static const char text[] = "\r\033[K";

	if (shown->text[0])
		err_out__transient(text, sizeof(text) - 1);
}

static void draw(void)
{
	char line[sizeof(shown->text) + 8];
	struct winsize size;
	int width = 80, len;

	if (!shown->text[0])
		return;
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		width = size.ws_col;
	/* A line that wraps cannot be erased. */
	len = snprintf(line, sizeof(line), "\r%.*s\033[K", width - 1, shown->text);
	err_out__transient(line, (size_t)len);
}

struct status *status__new(bool quiet)
{
	struct status *status;

	if (quiet || !isatty(STDERR_FILENO))
		return NULL;
	status = calloc(1, sizeof(*status));
	if (!status)
		return NULL;
	shown = status;
	log__set_hooks(erase, draw);
	return status;
}

/* Whether there is a line, and the terminal is ours now. */
static bool may_show(const struct status *status)
{
	return status && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

void status__show(struct status *status, const struct status_figures *figures)
{
	char samples[32], lost[32], bytes[32];

	if (!may_show(status))
		return;
	snprintf(status->text, sizeof(status->text),
		 "[ %s: %" PRIu64 " s, %s samples, %s, %s lost ]", log__program(),
		 (uint64_t)(figures->elapsed_ns / NSEC_PER_SEC),
		 units__format_count(figures->samples, samples, sizeof(samples)),
		 units__format_size(figures->bytes, bytes, sizeof(bytes)),
		 units__format_count(figures->lost, lost, sizeof(lost)));
	draw();
}

void status__show_hist(struct status *status, const struct status_figures *figures)
{
	char blocks[32], lost[32];

	if (!may_show(status))
		return;
	snprintf(status->text, sizeof(status->text),
		 "[ %s: %" PRIu64 " s, %s blocks, %s lost ]", log__program(),
		 (uint64_t)(figures->elapsed_ns / NSEC_PER_SEC),
		 units__format_count(figures->blocks, blocks, sizeof(blocks)),
		 units__format_count(figures->lost, lost, sizeof(lost)));
	draw();
}

void status__show_counting(struct status *status, uint64_t elapsed_ns, uint64_t threads)
{
	char count[32];

	if (!may_show(status))
		return;
	snprintf(status->text, sizeof(status->text), "[ %s: %" PRIu64 " s, %s %s ]",
		 log__program(), (uint64_t)(elapsed_ns / NSEC_PER_SEC),
		 units__format_count(threads, count, sizeof(count)),
		 threads == 1 ? "thread" : "threads");
	draw();
}

void status__show_unwinding(struct status *status, uint64_t left)
{
	char samples[32];

	if (!may_show(status))
		return;
	snprintf(status->text, sizeof(status->text),
		 "[ %s: unwinding the stacks of %s samples ]", log__program(),
		 units__format_count(left, samples, sizeof(samples)));
	draw();
}

void status__delete(struct status *status)
{
	if (!status)
		return;
	erase();
	log__set_hooks(NULL, NULL);
	shown = NULL;
	free(status);
}
