/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "report/shown_event.h"
#include "report/thread_group.h"
#include "report/wait_words.h"

/* A block of at least this share of the recording counts as lasting for all of it. */
#define WHOLE_PERCENT 95
/* How many functions one row names, and how long they are together. */
#define NAMES 3
#define NAMES_MAX 400

static const struct {
	const char *name, *heading;
} key_names[] = {
	[ROW_GROUP] = { "group", "THREADS" }, [ROW_COMM] = { "comm", "THREAD" },
	[ROW_PID] = { "pid", "PROCESS" },
	[ROW_TID] = { "tid", "THREAD ID" }, [ROW_STATE] = { "state", "STATE" },
	[ROW_EVENT] = { "event", "EVENT" }, [ROW_WAIT] = { "wait", "WAITED FOR" },
	[ROW_SYM] = { "sym", "IN" },	    [ROW_CALLERS] = { "callers", "IN" },
};

const char *row_key__heading(enum row_key key)
{
	return key_names[key].heading;
}

static int find_key(const char *text, size_t len)
{
	for (int i = 0; i < ROW_KEYS; i++) {
		if (strlen(key_names[i].name) == len && !strncmp(key_names[i].name, text, len))
			return i;
	}
	return -EINVAL;
}

int row_keys__parse(const char *text, enum row_key keys[ROW_KEYS])
{
	int nr = 0;

	for (;;) {
		size_t len = strcspn(text, ",");
		int key = find_key(text, len);

		for (int i = 0; i < nr && key >= 0; i++) {
			if (keys[i] == (enum row_key)key)
				key = -EINVAL;
		}
		if (key < 0)
			return key;
		keys[nr++] = (enum row_key)key;
		if (!text[len])
			return nr;
		text += len + 1;
	}
}

/* Libraries through which programs wait; that they do so tells nothing. */
static bool is_plumbing(const struct symbol_label *label)
{
	static const char *const names[] = { "libc.so", "libc-",  "libpthread", "ld-linux",
					     "ld-2",    "[vdso]", "ld-musl",    "libc.musl" };
	const char *slash = strrchr(label->place, '/'), *base = slash ? slash + 1 : label->place;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strncmp(base, names[i], strlen(names[i])))
			return true;
	}
	return !label->known;
}

/* The innermost function of the program itself; without one the innermost of all. */
static const char *deciding_function(const struct profile *profile, const uint32_t *labels,
				     size_t nr)
{
	const struct symbol_label *label;

	for (size_t i = 0; i < nr; i++) {
		label = profile__label(profile, labels[i]);
		if (!label->kernel && !is_plumbing(label))
			return label->name;
	}
	for (size_t i = 0; i < nr; i++) {
		label = profile__label(profile, labels[i]);
		if (!label->kernel)
			return label->name;
	}
	return nr ? profile__label(profile, labels[0])->name : "-";
}

/*
 * "WaitLatch < ProcSleep < LockAcquireExtended". One function often serves all waits of a program:
 * its callers show which wait it is. Frames without information are left out.
 */
static const char *callers(const struct profile *profile, const uint32_t *labels, size_t nr,
			   char *buf, size_t size)
{
	const struct symbol_label *label;
	size_t len = 0, names = 0;

	for (size_t i = 0; i < nr && names < NAMES && len < size; i++) {
		label = profile__label(profile, labels[i]);
		if (label->kernel || is_plumbing(label))
			continue;
		len += (size_t)snprintf(buf + len, size - len, "%s%s", names ? " < " : "",
					label->name);
		names++;
	}
	return names ? buf : deciding_function(profile, labels, nr);
}

struct making {
	struct rows *rows;
	const struct profile *profile;
	uint32_t *labels;
};

static const char *text_of(struct making *making, const struct profile_entry *entry,
			   enum row_key key, size_t nr)
{
	struct strings *strings = &making->rows->strings;
	char text[WAIT_WORDS_MAX > NAMES_MAX ? WAIT_WORDS_MAX : NAMES_MAX];

	switch (key) {
	case ROW_GROUP:
		return strings__get(strings, thread_group__of(*entry->comm ? entry->comm : "?",
							      text, sizeof(text)));
	case ROW_COMM:
		return strings__get(strings, *entry->comm ? entry->comm : "?");
	case ROW_PID:
		snprintf(text, sizeof(text), "%u %s", entry->pid, entry->process);
		return strings__get(strings, text);
	case ROW_TID:
		snprintf(text, sizeof(text), "%u %s", entry->tid, entry->comm);
		return strings__get(strings, text);
	case ROW_STATE:
		return strings__get_part(strings, &entry->state, 1);
	case ROW_EVENT:
		return strings__get(strings, profile_event__name(entry->event));
	case ROW_WAIT:
		return strings__get(strings, wait_words__of_entry(making->profile, entry,
								  making->labels, nr, text));
	case ROW_CALLERS:
		return strings__get(strings, callers(making->profile, making->labels, nr, text,
						     sizeof(text)));
	default:
		return strings__get(strings,
				    deciding_function(making->profile, making->labels, nr));
	}
}

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = x->whole - y->whole;

	if (order)
		return order;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	for (size_t i = 0; i < ROW_KEYS && x->texts[i] && !order; i++)
		order = strcmp(x->texts[i], y->texts[i]);
	return order;
}

/* The row with these texts of such blocks. NULL: no memory. */
static struct row *get_row(struct rows *rows, const struct row *like)
{
	uint64_t hash = 1 + like->whole, *index;
	struct row *row;

	for (size_t i = 0; i < ROW_KEYS; i++)
		hash = (hash ^ (uintptr_t)like->texts[i]) * 0x9e3779b97f4a7c15ULL;
	for (;; hash++) {
		index = idmap__get(&rows->by_key, hash == IDMAP_NONE ? hash = 0 : hash);
		if (!index)
			return NULL;
		if (!*index)
			break;
		row = (struct row *)rows->all.data + *index - 1;
		if (row->whole == like->whole &&
		    !memcmp(row->texts, like->texts, sizeof(row->texts)))
			return row;
	}
	if (buffer__append(&rows->all, like, sizeof(*like)))
		return NULL;
	*index = ++rows->nr;
	return (struct row *)rows->all.data + rows->nr - 1;
}

bool row__is_whole(const struct profile *profile, const struct profile_entry *entry)
{
	return entry->event == PROFILE_OFFCPU && entry->ns && entry->blocks == 1 &&
	       entry->longest >= profile__span(profile) / 100 * WHOLE_PERCENT;
}

static int add_entry(struct making *making, const struct profile_entry *entry, unsigned int events,
		     const enum row_key *keys, size_t nr_keys)
{
	size_t nr = profile__labels(making->profile, entry->stack, making->labels, SIZE_MAX);
	struct row like = { .comm = entry->comm };
	struct row *row;

	like.whole = row__is_whole(making->profile, entry);
	if (!(events >> shown_event__of(making->profile, entry, making->labels, nr) & 1))
		return 0;
	for (size_t i = 0; i < nr_keys; i++) {
		like.texts[i] = text_of(making, entry, keys[i], nr);
		if (!like.texts[i])
			return -ENOMEM;
	}
	row = get_row(making->rows, &like);
	if (!row)
		return -ENOMEM;
	row->ns += entry->ns;
	row->blocks += entry->blocks;
	row->longest = max_u64(row->longest, entry->longest);
	row->mean = max_u64(row->mean, entry->mean);
	if (row->comm != entry->comm)
		row->comm = NULL;
	return idmap__get(&row->tids, entry->tid) ? 0 : -ENOMEM;
}

/* Groups get their words once all of their threads are known. */
static int name_groups(struct rows *rows, size_t column)
{
	char text[64];

	for (size_t i = 0; i < rows->nr; i++) {
		struct row *row = (struct row *)rows->all.data + i;

		row->texts[column] = strings__get(
			&rows->strings, thread_group__words(row->texts[column], row->comm,
							    row->tids.used, text, sizeof(text)));
		if (!row->texts[column])
			return -ENOMEM;
	}
	return 0;
}

int rows__make(struct rows *rows, const struct profile *profile, unsigned int events,
	       const enum row_key *keys, size_t nr_keys)
{
	struct making making = { .rows = rows, .profile = profile };
	const struct profile_entry *entries;
	size_t nr;
	int err = 0;

	making.labels = calloc(profile__depth(profile) + 1, sizeof(*making.labels));
	if (!making.labels)
		return -ENOMEM;
	entries = profile__entries(profile, &nr);
	for (size_t i = 0; i < nr && !err; i++)
		err = add_entry(&making, &entries[i], events, keys, nr_keys);
	for (size_t i = 0; i < nr_keys && !err; i++) {
		if (keys[i] == ROW_GROUP)
			err = name_groups(rows, i);
	}
	if (!err && rows->nr)
		qsort(rows->all.data, rows->nr, sizeof(struct row), compare);
	free(making.labels);
	return err;
}

const struct row *rows__at(const struct rows *rows, size_t i)
{
	return (const struct row *)rows->all.data + i;
}

void rows__free(struct rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		idmap__free(&((struct row *)rows->all.data)[i].tids);
	buffer__free(&rows->all);
	idmap__free(&rows->by_key);
	strings__free(&rows->strings);
	*rows = (struct rows){ 0 };
}
