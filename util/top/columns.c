/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/columns.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/cgroup.h"
#include "stat/syscall_names.h"
#include "top/activity.h"
#include "top/extra_text.h"
#include "top/socket_text.h"
#include "top/uring_text.h"
#include "top/user_maps.h"

/* The first names are those of xcapture, which readers know. */
static const struct {
	const char *name;
	const char *letters; /* in ps(1) */
} states[TOP_WIRE_STATES] = {
	[TOP_WIRE_RUN] = { "RUN", "R" },	 [TOP_WIRE_RUNQ] = { "RUNQ", "R" },
	[TOP_WIRE_SLEEP] = { "SLEEP", "S" },	 [TOP_WIRE_DISK] = { "DISK", "D" },
	[TOP_WIRE_IDLE] = { "IDLE", "I" },	 [TOP_WIRE_STOPPED] = { "STOPPED", "T" },
	[TOP_WIRE_TRACED] = { "TRACED", "t" },	 [TOP_WIRE_PARKED] = { "PARKED", "P" },
	[TOP_WIRE_ZOMBIE] = { "ZOMBIE", "Z" },	 [TOP_WIRE_DEAD] = { "DEAD", "X" },
	[TOP_WIRE_OTHER] = { "OTHER", "" },
};

const char *top_state__name(enum top_wire_state state)
{
	return states[state].name;
}

enum top_wire_state top_state__of_letter(char letter)
{
	for (int i = 0; i < TOP_WIRE_STATES; i++) {
		if (letter && states[i].letters[0] == letter)
			return (enum top_wire_state)i;
	}
	return TOP_WIRE_OTHER;
}

static uint32_t states_of(const char *word)
{
	uint32_t found = 0;

	for (size_t i = 0; i < TOP_WIRE_STATES; i++) {
		if (!strcasecmp(word, states[i].name) || !strcmp(word, states[i].letters))
			found |= 1U << i;
	}
	return found;
}

int top_states__parse(const char *text, uint32_t *wanted)
{
	char *copy = strdup(text), *rest = copy;
	uint32_t all = 0, found;
	int err = copy ? 0 : -ENOMEM;

	for (char *word; !err && (word = strsep(&rest, ","));) {
		found = *word ? states_of(word) : 0;
		all |= found;
		err = found ? 0 : -EINVAL;
	}
	free(copy);
	if (!err)
		*wanted = all;
	return err;
}

void top_column__mask_digits(char *text)
{
	bool in_digits = false;
	char *to = text;

	for (const char *at = text; *at; at++) {
		bool is_digit = isdigit((unsigned char)*at);

		if (!is_digit)
			*to++ = *at;
		else if (!in_digits)
			*to++ = '*';
		in_digits = is_digit;
	}
	*to = '\0';
}

const char *top_column__extension(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	/* Names that begin with a dot are whole. */
	return dot && dot != name ? dot + 1 : "";
}

static const char *const time_steps[ACTIVITY_BANDS] = { "<10us", "10us+",  "100us+", "1ms+",
							"10ms+", "100ms+", "1s+",    "10s+" };

const char *top_column__time_step(uint64_t ns)
{
	return time_steps[activity__band(ns)];
}

/* Those of other texts, such as none, are 0. */
static uint64_t step_of(const char *text)
{
	for (size_t i = 0; i < ACTIVITY_BANDS; i++) {
		if (!strcmp(time_steps[i], text))
			return i + 1;
	}
	return 0;
}

int top_column__compare(enum top_column column, const char *a, const char *b)
{
	bool is_time = column == TOP_COLUMN_SYSC_TIME || column == TOP_COLUMN_IORQ_TIME;
	uint64_t x, y;

	if (!is_time && !top_column__is_number(column))
		return strcmp(a, b);
	x = is_time ? step_of(a) : strtoull(a, NULL, 10);
	y = is_time ? step_of(b) : strtoull(b, NULL, 10);
	return x == y ? 0 : x < y ? -1 : 1;
}

const char *top_column__sysc_time(const struct thread_sample *sample)
{
	uint64_t ns = thread_sample__times(sample).ns[ACTIVITY_TIME_CALL];

	return ns ? top_column__time_step(ns) : "";
}

static void put_exe(const struct thread_sample *sample, char *buf)
{
	if (sample->kthread)
		snprintf(buf, TOP_TEXT_LEN, "[kernel]");
	else
		snprintf(buf, TOP_TEXT_LEN, "%s", sample->exe);
}

static void put_call(const struct thread_sample *sample, char *buf)
{
	char name[SYSCALL_NAME_LEN];

	if (sample->nr < 0) {
		snprintf(buf, TOP_TEXT_LEN, "%s", sample->call_unknown ? "?" : "-");
		return;
	}
	syscall_names__put(sample->compat ? STAT_ABI_COMPAT : STAT_ABI_NATIVE,
			   (uint32_t)sample->nr, name);
	snprintf(buf, TOP_TEXT_LEN, "%s", name);
}

static void put_wait(const struct thread_sample *sample, const struct top_names *names, char *buf)
{
	const char *function = top_names__function(names, sample->wchan);

	if (sample->nr >= 0)
		put_call(sample, buf);
	else
		snprintf(buf, TOP_TEXT_LEN, "%s", *function ? function : "-");
}

static void put_file(const struct thread_sample *sample, char *buf)
{
	snprintf(buf, TOP_TEXT_LEN, "%s", sample->has_object ? sample->reason.path : "");
}

static void put_number(uint64_t number, char *buf)
{
	snprintf(buf, TOP_TEXT_LEN, "%" PRIu64, number);
}

static void put_hex(uint64_t number, char *buf)
{
	snprintf(buf, TOP_TEXT_LEN, "%" PRIx64, number);
}

/* No stack has no hash. */
static void put_hash(uint64_t hash, char *buf)
{
	if (hash)
		put_hex(hash, buf);
}

static void put_lock(const struct thread_sample *sample, char *buf)
{
	if (sample->has_object && sample->reason.futex)
		snprintf(buf, TOP_TEXT_LEN, "0x%" PRIx64, sample->args[0]);
}

static void put_text(const char *text, char *buf)
{
	snprintf(buf, TOP_TEXT_LEN, "%s", text);
}

/* The columns of identity. */
static void put_who(enum top_column column, const struct thread_sample *sample,
		    struct top_names *names, char *buf)
{
	switch (column) {
	case TOP_COLUMN_STATE:
		return put_text(top_state__name(sample->state), buf);
	case TOP_COLUMN_USERNAME:
		return put_text(top_names__user(names, sample->uid), buf);
	case TOP_COLUMN_EXE:
		return put_exe(sample, buf);
	case TOP_COLUMN_COMM:
		return put_text(sample->comm, buf);
	case TOP_COLUMN_COMM2:
		put_text(sample->comm, buf);
		return top_column__mask_digits(buf);
	case TOP_COLUMN_CMDLINE:
		return put_text(sample->cmdline ? sample->cmdline : "", buf);
	case TOP_COLUMN_TID:
		return put_number(sample->tid, buf);
	case TOP_COLUMN_TGID:
		return put_number(sample->pid, buf);
	case TOP_COLUMN_PIDNS:
		return put_number(sample->pid_ns, buf);
	case TOP_COLUMN_CGROUP:
		return put_text(top_names__cgroup(names, sample->cgroup), buf);
	case TOP_COLUMN_CGROUP_ID:
		return put_number(sample->cgroup, buf);
	case TOP_COLUMN_CONTAINER:
		return cgroup_name__container(top_names__cgroup(names, sample->cgroup), buf,
					      TOP_TEXT_LEN);
	default:
		return put_number(sample->cpu, buf);
	}
}

static void put_kernel_leaf(const struct thread_sample *sample, const struct top_names *names,
			    char *buf)
{
	const struct frames leaf = { .ips = sample->kernel.ips, .nr = sample->kernel.nr != 0 };

	stack_text__put_kernel(&leaf, names, false, buf, TOP_COLUMN_LEN);
}

static void put_user_leaf(const struct thread_sample *sample, const struct top_names *names,
			  char *buf)
{
	struct thread_sample leaf = *sample;

	leaf.user.nr = sample->user.nr != 0;
	user_maps__put(names->user_maps, &leaf, buf, TOP_COLUMN_LEN);
}

/* Those of what the thread is doing. */
static void put_what(enum top_column column, const struct thread_sample *sample,
		     const struct top_names *names, char *buf)
{
	switch (column) {
	case TOP_COLUMN_SYSCALL:
		return put_call(sample, buf);
	case TOP_COLUMN_WCHAN:
		return put_text(top_names__function(names, sample->wchan), buf);
	case TOP_COLUMN_WAIT:
		return put_wait(sample, names, buf);
	case TOP_COLUMN_FILENAME:
		return put_file(sample, buf);
	case TOP_COLUMN_FILENAMESUM:
		put_file(sample, buf);
		return top_column__mask_digits(buf);
	case TOP_COLUMN_FEXT:
		return put_text(sample->has_object ? top_column__extension(sample->reason.path)
						   : "", buf);
	case TOP_COLUMN_AIOFILENAME:
		return put_text(sample->aio ? sample->aio->file : "", buf);
	case TOP_COLUMN_URINGFILENAME:
		return uring_text__put_file(sample, buf, TOP_TEXT_LEN);
	case TOP_COLUMN_CONNECTION:
		return socket_text__put_connection(sample, buf, TOP_TEXT_LEN);
	case TOP_COLUMN_CONN_STATE:
		return put_text(socket_text__state(sample), buf);
	case TOP_COLUMN_LOCK:
		return put_lock(sample, buf);
	case TOP_COLUMN_EXTRA_INFO:
		return extra_text__put(sample, buf, TOP_COLUMN_LEN);
	case TOP_COLUMN_KSTACK_HASH:
		return put_hash(sample->kernel_id, buf);
	case TOP_COLUMN_KSTACK:
		return stack_text__put_kernel(&sample->kernel, names, false, buf, TOP_COLUMN_LEN);
	case TOP_COLUMN_KFUNC:
		return put_kernel_leaf(sample, names, buf);
	case TOP_COLUMN_USTACK_HASH:
		return put_hash(sample->user_id, buf);
	case TOP_COLUMN_USTACK:
		return user_maps__put(names->user_maps, sample, buf, TOP_COLUMN_LEN);
	case TOP_COLUMN_UFUNC:
		return put_user_leaf(sample, names, buf);
	default:
		return put_hex(sample->args[column - TOP_COLUMN_ARG1], buf);
	}
}

/* The tracker knows of calls on a CPU, and where it does not know, there is a "?". */
static void put_active_call(const struct thread_sample *sample, char *buf)
{
	struct thread_sample call = *sample;

	if (!(sample->track.what & TRACK_WIRE_CALLS))
		return;
	call.nr = sample->track.nr;
	call.call_unknown = !sample->track.calls_known && !sample->kthread;
	put_call(&call, buf);
}

static void put_nonzero(uint64_t number, char *buf)
{
	if (number)
		put_number(number, buf);
}

static void put_waker(const struct thread_track *track, char *buf)
{
	bool by_interrupt = track->waker_kind == TRACK_WIRE_WAKER_INTERRUPT;

	put_text(by_interrupt ? "[interrupt]" : track->waker, buf);
}

static void put_tracked(enum top_column column, const struct thread_sample *sample, char *buf)
{
	const struct thread_track *track = &sample->track;

	switch (column) {
	case TOP_COLUMN_ACTIVE_CALL:
		return put_active_call(sample, buf);
	case TOP_COLUMN_SYSC_SEQ:
		return put_nonzero(track->seq, buf);
	case TOP_COLUMN_IORQ_SEQ:
		return put_nonzero(track->request_seq, buf);
	case TOP_COLUMN_IORQS:
		return put_nonzero(track->requests, buf);
	case TOP_COLUMN_WAKER:
		return put_waker(track, buf);
	case TOP_COLUMN_WAKER_TID:
		return put_nonzero(track->waker_tid, buf);
	case TOP_COLUMN_LOCK_OWNER:
		return put_nonzero(sample->lock_owner, buf);
	case TOP_COLUMN_SYSC_TIME:
		return put_text(top_column__sysc_time(sample), buf);
	default: /* the end of a request tells its time */
		return;
	}
}

static const char *const column_names[TOP_COLUMNS] = {
	[TOP_COLUMN_STATE] = "state",
	[TOP_COLUMN_USERNAME] = "username",
	[TOP_COLUMN_EXE] = "exe",
	[TOP_COLUMN_COMM] = "comm",
	[TOP_COLUMN_COMM2] = "comm2",
	[TOP_COLUMN_CMDLINE] = "cmdline",
	[TOP_COLUMN_TID] = "tid",
	[TOP_COLUMN_TGID] = "tgid",
	[TOP_COLUMN_PIDNS] = "pidns",
	[TOP_COLUMN_CGROUP] = "cgroup",
	[TOP_COLUMN_CGROUP_ID] = "cgroup_id",
	[TOP_COLUMN_CONTAINER] = "container",
	[TOP_COLUMN_CPU] = "cpu",
	[TOP_COLUMN_SYSCALL] = "syscall",
	[TOP_COLUMN_WCHAN] = "wchan",
	[TOP_COLUMN_WAIT] = "wait",
	[TOP_COLUMN_FILENAME] = "filename",
	[TOP_COLUMN_FILENAMESUM] = "filenamesum",
	[TOP_COLUMN_FEXT] = "fext",
	[TOP_COLUMN_AIOFILENAME] = "aiofilename",
	[TOP_COLUMN_URINGFILENAME] = "uringfilename",
	[TOP_COLUMN_CONNECTION] = "connection",
	[TOP_COLUMN_CONN_STATE] = "conn_state",
	[TOP_COLUMN_LOCK] = "lock",
	[TOP_COLUMN_ARG1] = "sysc_arg1",
	[TOP_COLUMN_ARG2] = "sysc_arg2",
	[TOP_COLUMN_ARG3] = "sysc_arg3",
	[TOP_COLUMN_ARG4] = "sysc_arg4",
	[TOP_COLUMN_ARG5] = "sysc_arg5",
	[TOP_COLUMN_ARG6] = "sysc_arg6",
	[TOP_COLUMN_EXTRA_INFO] = "extra_info",
	[TOP_COLUMN_KSTACK_HASH] = "kstack_hash",
	[TOP_COLUMN_KSTACK] = "kstack",
	[TOP_COLUMN_KFUNC] = "kfunc",
	[TOP_COLUMN_USTACK_HASH] = "ustack_hash",
	[TOP_COLUMN_USTACK] = "ustack",
	[TOP_COLUMN_UFUNC] = "ufunc",
	[TOP_COLUMN_ACTIVE_CALL] = "syscall_active",
	[TOP_COLUMN_SYSC_SEQ] = "sysc_seq_num",
	[TOP_COLUMN_IORQ_SEQ] = "iorq_seq_num",
	[TOP_COLUMN_IORQS] = "iorq_in_flight",
	[TOP_COLUMN_WAKER] = "waker",
	[TOP_COLUMN_WAKER_TID] = "waker_tid",
	[TOP_COLUMN_LOCK_OWNER] = "lock_owner",
	[TOP_COLUMN_SYSC_TIME] = "sysc_time",
	[TOP_COLUMN_IORQ_TIME] = "iorq_time",
};

const char *top_column__name(enum top_column column)
{
	return column_names[column];
}

bool top_column__is_number(enum top_column column)
{
	return column == TOP_COLUMN_TID || column == TOP_COLUMN_TGID ||
	       column == TOP_COLUMN_PIDNS || column == TOP_COLUMN_CGROUP_ID ||
	       column == TOP_COLUMN_CPU ||
	       (column >= TOP_COLUMN_SYSC_SEQ && column <= TOP_COLUMN_LOCK_OWNER &&
		column != TOP_COLUMN_WAKER);
}

bool top_column__is_json(enum top_column column)
{
	return column == TOP_COLUMN_EXTRA_INFO;
}

char *top_column__put(enum top_column column, const struct thread_sample *sample,
		      struct top_names *names, char buf[TOP_COLUMN_LEN])
{
	*buf = '\0';
	if (column <= TOP_COLUMN_CPU)
		put_who(column, sample, names, buf);
	else if (column >= TOP_COLUMN_ACTIVE_CALL)
		put_tracked(column, sample, buf);
	else
		put_what(column, sample, names, buf);
	return buf;
}

static bool find_column(const char *name, enum top_column *column)
{
	for (int i = 0; i < TOP_COLUMNS; i++) {
		if (!strcmp(name, column_names[i])) {
			*column = (enum top_column)i;
			return true;
		}
	}
	return false;
}

int top_columns__parse(const char *text, enum top_column *columns, size_t max, size_t *nr)
{
	char *copy = strdup(text), *rest = copy;
	int err = copy ? 0 : -ENOMEM;

	*nr = 0;
	for (char *name; !err && (name = strsep(&rest, ","));) {
		if (*nr == max) {
			err = -E2BIG;
			break;
		}
		if (!find_column(name, &columns[*nr]))
			err = -EINVAL;
		for (size_t i = 0; !err && i < *nr; i++)
			err = columns[i] == columns[*nr] ? -EINVAL : 0;
		++*nr;
	}
	free(copy);
	return err;
}
