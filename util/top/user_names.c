/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/user_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/units.h"
#include "symbol/symbols.h"
#include "top/stack_text.h"

/* For all files of a look; a single one has a sixteenth of it. */
#define DEADLINE_MS 4000
/* Code that a runtime makes may be other code later, at the same address. */
#define MEMORY_NS (10 * NSEC_PER_SEC)
/* More names, or longer ones, are forgotten all at once. */
#define MAX_NAMES (1U << 19)
#define MAX_BYTES (32UL << 20)

/* A frame whose name is to be found. */
struct wanted {
	uint64_t key;
	uint32_t frame; /* as struct symbols counts them */
};

struct user_names {
	struct idmap by_key; /* -> const char * of strings; "": there is none */
	struct strings strings;
	struct symbols *symbols; /* NULL: nothing is asked for */
	struct buffer wanted;	 /* struct wanted */
};

struct user_names *user_names__new(void)
{
	return calloc(1, sizeof(struct user_names));
}

static void drop_wanted(struct user_names *names)
{
	symbols__delete(names->symbols);
	names->symbols = NULL;
	names->wanted.len = 0;
}

void user_names__forget(struct user_names *names)
{
	drop_wanted(names);
	idmap__clear(&names->by_key);
	strings__free(&names->strings);
}

void user_names__delete(struct user_names *names)
{
	if (!names)
		return;
	user_names__forget(names);
	idmap__free(&names->by_key);
	buffer__free(&names->wanted);
	free(names);
}

static bool is_file(const struct mapped_file *file)
{
	return file->path[0] == '/' && file->path[1] != '/' && file->ino;
}

/* The same in all processes that have the file; other memory is of one process, and for a while. */
static uint64_t key_of(const struct process *process, const struct maps_entry *map, uint64_t time,
		       uint64_t ip, bool caller)
{
	uint64_t key = map->file->id, place = ip - map->start + map->pgoff;

	if (!is_file(map->file)) {
		key = idmap__mix(idmap__mix(key, (uint64_t)process->pid), process->born);
		key = idmap__mix(key, time / MEMORY_NS);
		place = ip;
	}
	key = idmap__mix(idmap__mix(key, place), caller);
	return key == IDMAP_NONE ? 0 : key;
}

/* The frames of one stack: those whose names are not known are put on the list. */
static int want_frames(struct user_names *names, const uint64_t *keys, const uint32_t *numbers,
		       uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		const struct wanted wanted = { .key = keys[i], .frame = numbers[i] };
		uint64_t *name;

		if (keys[i] == IDMAP_NONE || idmap__find(&names->by_key, keys[i]))
			continue;
		name = idmap__get(&names->by_key, keys[i]);
		if (!name || buffer__append(&names->wanted, &wanted, sizeof(wanted)))
			return -ENOMEM;
		*name = (uint64_t)(uintptr_t)"";
	}
	return 0;
}

static int ask(struct user_names *names, const struct machine *machine, const struct sample *sample,
	       const uint64_t *keys)
{
	const struct symbols_options options = { .deadline_ms = DEADLINE_MS, .no_fetch = true };
	uint32_t *numbers = calloc(sample->user.nr, sizeof(*numbers));
	int err = numbers ? 0 : -ENOMEM;

	if (!err && !names->symbols)
		names->symbols = symbols__new(&options);
	if (!names->symbols)
		err = -ENOMEM;
	if (!err)
		err = symbols__frames(names->symbols, machine, sample, numbers);
	if (err >= 0)
		err = want_frames(names, keys, numbers, sample->user.nr);
	free(numbers);
	return err;
}

static void forget_many(struct user_names *names)
{
	if (!names->symbols &&
	    (names->by_key.used > MAX_NAMES || names->strings.bytes > MAX_BYTES))
		user_names__forget(names);
}

int user_names__want(struct user_names *names, const struct machine *machine, pid_t pid,
		     uint64_t time, const struct frames *frames)
{
	const struct sample sample = { .kind = SAMPLE_OFFCPU, .pid = (uint32_t)pid,
				       .tid = (uint32_t)pid, .time = time, .user = *frames };
	const struct process *process = machine__process(machine, pid);
	const struct maps *space = process__maps_at(process, time);
	uint64_t *keys = space && frames->nr ? calloc(frames->nr, sizeof(*keys)) : NULL;
	bool is_new = false;
	int err;

	if (!space || !frames->nr)
		return 0;
	if (!keys)
		return -ENOMEM;
	forget_many(names);
	for (uint32_t i = 0; i < frames->nr; i++) {
		const struct maps_entry *map = maps__find(space, time, frames->ips[i]);

		keys[i] = map ? key_of(process, map, time, frames->ips[i], i > 0) : IDMAP_NONE;
		is_new |= map && !idmap__find(&names->by_key, keys[i]);
	}
	err = is_new ? ask(names, machine, &sample, keys) : 0;
	free(keys);
	return err;
}

static int keep(struct user_names *names, const struct wanted *wanted)
{
	const struct symbol_label *label = symbols__place(names->symbols, wanted->frame).label;
	uint64_t *name = idmap__find(&names->by_key, wanted->key);
	char text[STACK_TEXT_FRAME];
	const char *kept;

	if (!name || !label->known)
		return 0;
	stack_text__put_name(label->name, text);
	/* It ends a frame. */
	for (char *end = strchr(text, ';'); end; end = strchr(end, ';'))
		*end = ':';
	kept = strings__get(&names->strings, text);
	if (!kept)
		return -ENOMEM;
	*name = (uint64_t)(uintptr_t)kept;
	return 0;
}

int user_names__read(struct user_names *names, const struct machine *machine)
{
	const struct wanted *wanted = (const void *)names->wanted.data;
	const size_t nr = names->wanted.len / sizeof(*wanted);
	int err;

	if (!names->symbols)
		return 0;
	err = symbols__resolve(names->symbols, machine, false);
	for (size_t i = 0; i < nr && !err; i++)
		err = keep(names, &wanted[i]);
	drop_wanted(names);
	if (!err || err == -ENOMEM)
		return err;
	/* For example no process could be started. Looks go on without these names. */
	pr_verbose("%zu frames have no names: %s", nr, strerror(-err));
	return 0;
}

const char *user_names__find(const struct user_names *names, const struct process *process,
			     const struct maps_entry *map, uint64_t time, uint64_t ip,
			     bool caller)
{
	const uint64_t *name = idmap__find(&names->by_key, key_of(process, map, time, ip, caller));
	const char *text = name ? (const char *)(uintptr_t)*name : "";

	return *text ? text : NULL;
}
