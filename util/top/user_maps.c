/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/user_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/units.h"
#include "machine/machine.h"
#include "machine/mapped_file.h"
#include "synth/synth.h"
#include "top/stack_text.h"
#include "top/user_names.h"

/* How long a process may delay us, and how often it may. */
#define DEADLINE_MS 500
#define AGAIN_NS (5 * NSEC_PER_SEC)
/* The same for callers further out: chains of frame pointers that break lead anywhere. */
#define AGAIN_FAR_NS (60 * NSEC_PER_SEC)
/* If all is known: where a library was, another one may be. Not all processes at one time. */
#define AGAIN_KNOWN_NS (30 * NSEC_PER_SEC)
/* More processes and mappings than these are forgotten all at once. */
#define MAX_BYTES (64UL << 20)

struct user_maps {
	struct machine *machine;
	struct idmap read; /* pid -> when its mappings were read, CLOCK_MONOTONIC */
	struct idmap programs; /* pid -> the hash of its program's name then */
	user_map_fn fn;
	void *ctx;
	uint64_t time; /* of the sample for which they are read */
	struct user_names *names; /* NULL: none are wanted */
};

struct user_maps *user_maps__new(user_map_fn fn, void *ctx, bool named)
{
	struct user_maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return NULL;
	*maps = (struct user_maps){ .machine = machine__new(), .fn = fn, .ctx = ctx };
	if (named)
		maps->names = user_names__new();
	if (maps->machine && (maps->names || !named))
		return maps;
	user_maps__delete(maps);
	return NULL;
}

void user_maps__delete(struct user_maps *maps)
{
	if (!maps)
		return;
	user_names__delete(maps->names);
	machine__delete(maps->machine);
	idmap__free(&maps->read);
	idmap__free(&maps->programs);
	free(maps);
}

static const struct maps_entry *find(const struct user_maps *maps,
				     const struct thread_sample *sample, uint64_t ip)
{
	const struct process *process = machine__process(maps->machine, (pid_t)sample->pid);
	const struct maps *space = process__maps_at(process, sample->time);

	return space ? maps__find(space, sample->time, ip) : NULL;
}

/* After how long the mappings of a sample's frames are read again. */
static uint64_t again_after(const struct user_maps *maps, const struct thread_sample *sample)
{
	const struct process *process = machine__process(maps->machine, (pid_t)sample->pid);
	const struct maps *space = process__maps_at(process, sample->time);

	for (uint32_t i = 0; i < sample->user.nr; i++) {
		if (!space || !maps__find(space, sample->time, sample->user.ips[i]))
			return i < 2 ? AGAIN_NS : AGAIN_FAR_NS;
	}
	return AGAIN_KNOWN_NS + sample->pid % 30 * NSEC_PER_SEC;
}

/*
 * Whether the process runs another program than when its mappings were read, be it by exec or since
 * the PID was used again: then what it had mapped is over.
 */
static int note_program(struct user_maps *maps, const struct thread_sample *sample, bool *changed)
{
	const struct task_event over = {
		.kind = TASK_EVENT_EXEC, .pid = (pid_t)sample->pid, .tid = (pid_t)sample->pid,
		.time = sample->time, .comm = sample->exe,
	};
	uint64_t *program = idmap__get(&maps->programs, sample->pid), hash = 1;
	int ret;

	*changed = false;
	if (!program)
		return -ENOMEM;
	for (const char *at = sample->exe; *at; at++)
		hash = idmap__mix(hash, (unsigned char)*at);
	*changed = *program && *program != hash;
	*program = hash;
	ret = *changed ? machine__handle(maps->machine, &over) : 0;
	return ret < 0 ? ret : 0;
}

static int take_map(void *ctx, const struct task_event *event)
{
	struct user_maps *maps = ctx;
	struct task_event at = *event;
	int ret;

	at.time = maps->time;
	ret = machine__handle(maps->machine, &at);
	if (ret)
		return ret < 0 ? ret : 0;
	return maps->fn ? maps->fn(maps->ctx, &at) : 0;
}

static int forget_many(struct user_maps *maps)
{
	struct machine *machine;

	if (machine__bytes(maps->machine) < MAX_BYTES)
		return 0;
	machine = machine__new();
	if (!machine)
		return -ENOMEM;
	machine__delete(maps->machine);
	maps->machine = machine;
	idmap__clear(&maps->read);
	idmap__clear(&maps->programs);
	if (maps->names)
		user_names__forget(maps->names);
	return 0;
}

static int learn_maps(struct user_maps *maps, const struct thread_sample *sample)
{
	const pid_t pid = (pid_t)sample->pid;
	struct synth_result result = { 0 };
	uint64_t *when;
	bool changed;
	int err = note_program(maps, sample, &changed);

	if (!err)
		err = forget_many(maps);
	when = idmap__get(&maps->read, sample->pid);
	if (err || !when)
		return err ? err : -ENOMEM;
	if (*when && !changed && sample->time - *when < again_after(maps, sample))
		return 0;
	*when = sample->time;
	maps->time = sample->time;
	return synth__maps(&pid, 1, DEADLINE_MS, take_map, maps, &result);
}

static const char *find_name(const struct user_maps *maps, const struct thread_sample *sample,
			     const struct maps_entry *map, uint32_t i)
{
	const struct process *process = machine__process(maps->machine, (pid_t)sample->pid);

	return maps->names ? user_names__find(maps->names, process, map, sample->time,
					      sample->user.ips[i], i > 0)
			   : NULL;
}

struct user_stack_names {
	const struct user_maps *maps;
	const struct thread_sample *sample;
};

static void name_frame(const void *ctx, uint32_t i, char frame[STACK_TEXT_FRAME])
{
	const struct user_stack_names *stack = ctx;
	const struct user_maps *maps = stack->maps;
	const struct thread_sample *sample = stack->sample;
	const uint64_t ip = sample->user.ips[i];
	const struct maps_entry *map = maps ? find(maps, sample, ip) : NULL;
	const char *slash = map ? strrchr(map->file->path, '/') : NULL;
	const char *name = map ? find_name(maps, sample, map, i) : NULL;

	if (name)
		stack_text__put_name(name, frame);
	else if (map)
		snprintf(frame, STACK_TEXT_FRAME, "%s+0x%" PRIx64,
			 slash ? slash + 1 : map->file->path, ip - map->start + map->pgoff);
	else
		snprintf(frame, STACK_TEXT_FRAME, "0x%" PRIx64, ip);
}

/* A chain of frame pointers that breaks goes on anywhere: nobody returns to what is no code. */
static uint32_t frames_of_code(const struct user_maps *maps, const struct thread_sample *sample)
{
	const struct process *process =
		maps ? machine__process(maps->machine, (pid_t)sample->pid) : NULL;
	uint32_t i = 0;

	if (!process || !process__maps_at(process, sample->time))
		return sample->user.nr;
	while (i < sample->user.nr && (!i || find(maps, sample, sample->user.ips[i])))
		i++;
	return i;
}

int user_maps__learn(struct user_maps *maps, const struct thread_sample *sample)
{
	struct frames frames = sample->user;
	int err = frames.nr ? learn_maps(maps, sample) : 0;

	if (err || !frames.nr || !maps->names)
		return err;
	frames.nr = frames_of_code(maps, sample);
	return user_names__want(maps->names, maps->machine, (pid_t)sample->pid, sample->time,
				&frames);
}

int user_maps__read_names(struct user_maps *maps)
{
	return maps->names ? user_names__read(maps->names, maps->machine) : 0;
}

void user_maps__put(const struct user_maps *maps, const struct thread_sample *sample, char *buf,
		    size_t size)
{
	const struct user_stack_names stack = { maps, sample };

	stack_text__join(frames_of_code(maps, sample), name_frame, &stack, buf, size);
}
