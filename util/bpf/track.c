/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/track.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/syscalls.h"
#include "bpf/kernel_features.h"
#include "bpf/load_error.h"
#include "bpf/task_iter.h"
#include "bpf/track_pins.h"
#include "bpf/used_maps.h"
#include "host/tracepoint.h"

/* A variable of the skeleton has a type of this. */
#include "sample_budget.h"

#include "track.skel.h"

#define RING_BYTES (4U << 20)
#define SHOWN "threads" /* the pin of the iterator that anybody may read */
#define CLOCK_EVERY 64 /* records between two looks at the clock */

/* The maps by which samplers and tracker meet. */
enum shared {
	SHARED_TASKS,
	SHARED_REQUESTS,
	SHARED_RINGS,
	SHARED_SLOTS,
	SHARED_COMMON,
	SHARED_MAPS,
};

static const char *const shared_names[SHARED_MAPS] = { "tasks", "requests", "rings", "slots",
						       "common" };

struct reading {
	track_record_fn fn;
	void *ctx;
	uint64_t until;
	unsigned int nr;
	int err;
};

struct track {
	struct track_bpf *skel;	    /* NULL: it is another's */
	struct track_pins *pins;    /* NULL: nothing is pinned */
	int fds[SHARED_MAPS];	    /* of the skeleton, or our own */
	struct track_wire_slot *slots;
	struct track_wire_common *common;
	uint32_t slot;
	int ring_fd;
	struct ring_buffer *ring; /* NULL: no records are wanted */
	uint64_t left;		  /* records that were in the ring when the last reading ended */
	uint64_t lost_before;	  /* by the tracker, before we joined */
	struct reading reading;
};

static int choose_maps(struct track_bpf *skel, bool shown)
{
	const struct used_map maps[] = {
		{ skel->maps.track_tasks, true },
		{ skel->maps.track_requests, true },
		{ skel->maps.track_rings, true },
		{ skel->maps.track_slots, true },
		{ skel->maps.track_common, true },
		{ skel->maps.track_stacks, true },
		{ skel->maps.track_names, shown },
		/* Linux 6.1 checks functions that nothing calls, too: their maps must be there. */
		{ skel->maps.orc_modules, true },
	};

	return used_maps__choose(skel->obj, maps, sizeof(maps) / sizeof(maps[0]));
}

static void choose_programs(struct track_bpf *skel, uint32_t what,
			    const struct kernel_features *features, bool counted)
{
	bool calls = what & TRACK_WIRE_CALLS, offcpu = what & TRACK_WIRE_OFFCPU;
	bool block = what & TRACK_WIRE_BLOCK;
	bool by_event = features->has_preempted_calls &&
			tracepoint__is_there("raw_syscalls", "sys_enter") &&
			tracepoint__is_there("raw_syscalls", "sys_exit");

	bpf_program__set_autoload(skel->progs.track_entered, calls && !by_event);
	bpf_program__set_autoload(skel->progs.track_returned, calls && !by_event);
	bpf_program__set_autoload(skel->progs.track_entered_unpreempted, calls && by_event);
	bpf_program__set_autoload(skel->progs.track_returned_unpreempted, calls && by_event);
	bpf_program__set_autoload(skel->progs.track_switched, offcpu && features->has_state);
	bpf_program__set_autoload(skel->progs.track_switched_no_state,
				  offcpu && !features->has_state);
	bpf_program__set_autoload(skel->progs.track_woken, offcpu && counted);
	bpf_program__set_autoload(skel->progs.track_woken_walked, offcpu && !counted);
	bpf_program__set_autoload(skel->progs.track_inserted, block);
	bpf_program__set_autoload(skel->progs.track_issued, block);
	bpf_program__set_autoload(skel->progs.track_completed, block);
	bpf_program__set_autoload(skel->progs.track_merged, block);
}

static void name_calls(const struct bpf_map *names)
{
	for (__u32 nr = 0; nr < TRACK_WIRE_CALL_NAMES && (int)nr < syscalls__count(); nr++) {
		char name[TRACK_WIRE_NAME_LEN];

		snprintf(name, sizeof(name), "%s", syscalls__name((int)nr));
		bpf_map__update_elem(names, &nr, sizeof(nr), name, sizeof(name), BPF_ANY);
	}
}

static int try_load(struct track *track, const struct track_config *config,
		    const struct kernel_features *features, bool counted)
{
	struct track_bpf *skel = track->skel = track_bpf__open();
	int err;

	if (!skel)
		return -errno;
	memcpy((void *)&skel->rodata->settings, config->settings, sizeof(*config->settings));
	memcpy((void *)skel->rodata->calls, config->classes, WIRE_MAX_CALLS);
	choose_programs(skel, config->what, features, counted);
	bpf_program__set_autoload(skel->progs.track_show, config->pin);
	err = choose_maps(skel, config->pin);
	if (!err)
		err = track_bpf__load(skel);
	if (err)
		return err;
	if (config->pin)
		name_calls(skel->maps.track_names);
	track->fds[SHARED_TASKS] = bpf_map__fd(skel->maps.track_tasks);
	track->fds[SHARED_REQUESTS] = bpf_map__fd(skel->maps.track_requests);
	track->fds[SHARED_RINGS] = bpf_map__fd(skel->maps.track_rings);
	track->fds[SHARED_SLOTS] = bpf_map__fd(skel->maps.track_slots);
	track->fds[SHARED_COMMON] = bpf_map__fd(skel->maps.track_common);
	return 0;
}

/* Not each kernel shows its counter of interrupts. */
static int load(struct track *track, const struct track_config *config,
		const struct kernel_features *features)
{
	int err = try_load(track, config, features, true);

	if (!err || !(config->what & TRACK_WIRE_OFFCPU))
		return err;
	track_bpf__destroy(track->skel);
	return try_load(track, config, features, false);
}

static void *map_memory(int fd, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

#define SLOTS_BYTES (TRACK_WIRE_SAMPLERS * sizeof(struct track_wire_slot))

static int map_shared(struct track *track)
{
	track->slots = map_memory(track->fds[SHARED_SLOTS], SLOTS_BYTES);
	track->common = map_memory(track->fds[SHARED_COMMON], sizeof(*track->common));
	return track->slots && track->common ? 0 : -errno;
}

/* What the programs look at before they look at each sampler. */
static void settle_common(struct track *track)
{
	uint64_t call_ns = TRACK_WIRE_NEVER, request_ns = TRACK_WIRE_NEVER;
	uint32_t inherits = 0;

	for (uint32_t i = 0; i < TRACK_WIRE_SAMPLERS; i++) {
		const struct track_wire_slot *slot = &track->slots[i];

		if (!slot->used)
			continue;
		call_ns = min_u64(call_ns, slot->min_call_ns);
		request_ns = min_u64(request_ns, slot->min_request_ns);
		inherits |= slot->inherits ? 1U << i : 0;
	}
	track->common->inherits = inherits;
	track->common->least_call_ns = call_ns;
	track->common->least_request_ns = request_ns;
}

/* Forgets a sampler that has ended. */
static void free_slot(struct track *track, uint32_t slot)
{
	track->slots[slot] = (struct track_wire_slot){ .min_call_ns = TRACK_WIRE_NEVER,
						       .min_request_ns = TRACK_WIRE_NEVER };
	bpf_map_delete_elem(track->fds[SHARED_RINGS], &slot);
}

static int pass_record(void *ctx, void *data, size_t size)
{
	struct reading *reading = ctx;

	reading->err = reading->fn(reading->ctx, data, size);
	if (reading->err)
		return reading->err;
	/* Ends the reading. */
	return ++reading->nr % CLOCK_EVERY == 0 && clock__now_ns() >= reading->until ? -EAGAIN : 0;
}

static int make_ring(struct track *track)
{
	int err;

	track->ring_fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "track_ring", 0, 0, RING_BYTES, NULL);
	if (track->ring_fd < 0)
		return -errno;
	err = bpf_map_update_elem(track->fds[SHARED_RINGS], &track->slot, &track->ring_fd, BPF_ANY);
	if (err)
		return err;
	track->ring = ring_buffer__new(track->ring_fd, pass_record, &track->reading, NULL);
	return track->ring ? 0 : -errno;
}

/* Becomes one of the samplers, without records yet: threads have the bits of the last owner. */
static int join(struct track *track, const struct track_config *config)
{
	struct track_wire_slot *slot = &track->slots[track->slot];
	uint64_t min_ns = config->records ? config->min_ns : TRACK_WIRE_NEVER;
	int err;

	free_slot(track, track->slot);
	err = config->records ? make_ring(track) : 0;
	if (err)
		return err;
	slot->min_call_ns = slot->min_request_ns = min_ns;
	slot->inherits = config->inherits;
	track->lost_before = __atomic_load_n(&track->common->lost, __ATOMIC_RELAXED);
	return 0;
}

/* Threads that live already get their storage once births are seen. */
static int attach(struct track_bpf *skel)
{
	struct bpf_program *program;
	int err = 0;

	skel->links.track_born = bpf_program__attach(skel->progs.track_born);
	if (!skel->links.track_born)
		return -errno;
	err = task_iter__run(skel->progs.track_enlist, NULL, NULL);
	bpf_program__set_autoattach(skel->progs.track_born, false);
	bpf_program__set_autoattach(skel->progs.track_enlist, false);
	bpf_object__for_each_program(program, skel->obj)
	{
		if (!bpf_program__autoload(program))
			bpf_program__set_autoattach(program, false);
	}
	return err ? err : track_bpf__attach(skel);
}

static int make_own(struct track *track, const struct track_config *config)
{
	struct kernel_features features = { 0 };
	int err;

	load_error__log_details();
	kernel_features__read(&features);
	err = load(track, config, &features);
	if (!err)
		err = map_shared(track);
	if (!err) {
		*track->common = (struct track_wire_common){
			.magic = TRACK_WIRE_MAGIC,
			.version = TRACK_WIRE_VERSION,
			.what = config->what,
			.pid_ns = config->settings->filter.pid_ns,
		};
		for (uint32_t i = 0; i < TRACK_WIRE_SAMPLERS; i++)
			free_slot(track, i);
		err = join(track, config);
	}
	if (!err)
		err = attach(track->skel);
	if (err)
		load_error__log(err, &features);
	return err;
}

static int pin_all(struct track *track)
{
	struct bpf_link **links = (struct bpf_link **)&track->skel->links;
	size_t nr = sizeof(track->skel->links) / sizeof(*links);
	char name[32];
	int err = 0;

	for (int i = 0; i < SHARED_MAPS && !err; i++)
		err = track_pins__add(track->pins, track->fds[i], shared_names[i]);
	for (size_t i = 0; i < nr && !err; i++) {
		if (!links[i])
			continue;
		if (links[i] == track->skel->links.track_show)
			snprintf(name, sizeof(name), SHOWN);
		else
			snprintf(name, sizeof(name), "link_%zu", i);
		err = track_pins__add(track->pins, bpf_link__fd(links[i]), name);
		/* From here on it is the pin that keeps it attached. */
		if (!err)
			bpf_link__disconnect(links[i]);
	}
	return err ? err : track_pins__publish(track->pins, SHOWN);
}

/* The first one there. What others have left is removed. */
static int make_pinned(struct track *track, const struct track_config *config)
{
	int err = track_pins__clear(track->pins);

	if (!err)
		err = make_own(track, config);
	return err ? err : pin_all(track);
}

static void name_tracked(uint32_t what, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", what & TRACK_WIRE_CALLS ? ",syscalls" : "",
		 what & TRACK_WIRE_OFFCPU ? ",offcpu" : "",
		 what & TRACK_WIRE_BLOCK ? ",block" : "");
	memmove(buf, buf + 1, strlen(buf));
}

static int check_common(const struct track *track, const struct track_config *config)
{
	const char *path = track_pins__path(track->pins);
	const struct track_wire_common *common = track->common;
	char tracked[64];

	if (common->magic != TRACK_WIRE_MAGIC || common->version != TRACK_WIRE_VERSION) {
		pr_err("--pin %s: a denet-top of another version tracks there; end it, or give "
		       "another directory",
		       path);
		return -EPROTO;
	}
	if (common->pid_ns != config->settings->filter.pid_ns) {
		pr_err("--pin %s: the tracker there is one of another PID namespace", path);
		return -EPROTO;
	}
	if (config->what & ~common->what) {
		name_tracked(common->what, tracked, sizeof(tracked));
		pr_err("--pin %s: the tracker there is of another denet-top, and for %s only", path,
		       tracked);
		return -EINVAL;
	}
	return 0;
}

static int open_shared(struct track *track)
{
	const char *path = track_pins__path(track->pins);

	for (int i = 0; i < SHARED_MAPS; i++) {
		track->fds[i] = track_pins__get(track->pins, shared_names[i]);
		if (track->fds[i] >= 0)
			continue;
		pr_err("--pin %s: cannot use the tracker there: %s: %s", path, shared_names[i],
		       strerror(-track->fds[i]));
		return track->fds[i];
	}
	return 0;
}

/* Another one is there. */
static int join_pinned(struct track *track, const struct track_config *config, uint32_t others)
{
	int err = open_shared(track);

	if (!err)
		err = map_shared(track);
	if (!err)
		err = check_common(track, config);
	for (uint32_t i = 0; i < TRACK_WIRE_SAMPLERS && !err; i++) {
		if (!(others >> i & 1) && track->slots[i].used)
			free_slot(track, i);
	}
	return err ? err : join(track, config);
}

static int share(struct track *track, const struct track_config *config)
{
	uint32_t others;
	int err, slot;

	track->pins = track_pins__open(config->pin, &err);
	if (!track->pins)
		return err;
	others = track_pins__others(track->pins);
	slot = track_pins__take(track->pins);
	track->slot = slot < 0 ? 0 : (uint32_t)slot;
	err = slot < 0 ? slot : 0;
	if (!err && others)
		err = join_pinned(track, config, others);
	else if (!err)
		err = make_pinned(track, config);
	track_pins__unlock(track->pins);
	return err;
}

struct track *track__new(const struct track_config *config, int *err)
{
	struct track *track = calloc(1, sizeof(*track));

	*err = -ENOMEM;
	if (!track)
		return NULL;
	track->ring_fd = -1;
	for (int i = 0; i < SHARED_MAPS; i++)
		track->fds[i] = -1;
	*err = config->pin ? share(track, config) : make_own(track, config);
	if (!*err)
		return track;
	track__delete(track);
	return NULL;
}

/* The last one there takes the tracker away. */
static void leave(struct track *track)
{
	if (track_pins__lock(track->pins))
		return;
	if (track->slots && track->common && track->common->version == TRACK_WIRE_VERSION) {
		free_slot(track, track->slot);
		settle_common(track);
	}
	if (!track_pins__others(track->pins))
		track_pins__clear(track->pins);
}

void track__delete(struct track *track)
{
	if (!track)
		return;
	if (track->pins)
		leave(track);
	track_pins__delete(track->pins);
	ring_buffer__free(track->ring);
	if (track->ring_fd >= 0)
		close(track->ring_fd);
	if (track->slots)
		munmap(track->slots, SLOTS_BYTES);
	if (track->common)
		munmap(track->common, sizeof(*track->common));
	for (int i = 0; i < SHARED_MAPS && !track->skel; i++) {
		if (track->fds[i] >= 0)
			close(track->fds[i]);
	}
	track_bpf__destroy(track->skel);
	free(track);
}

int track__start(struct track *track)
{
	int err = track->pins ? track_pins__lock(track->pins) : 0;

	if (err)
		return err;
	track->slots[track->slot].used = 1;
	settle_common(track);
	if (track->pins)
		track_pins__unlock(track->pins);
	return 0;
}

int track__tasks_fd(const struct track *track)
{
	return track->fds[SHARED_TASKS];
}

int track__requests_fd(const struct track *track)
{
	return track->fds[SHARED_REQUESTS];
}

uint32_t track__slot(const struct track *track)
{
	return track->slot;
}

int track__read(struct track *track, uint64_t until, track_record_fn fn, void *ctx)
{
	int ret;

	if (!track->ring)
		return 0;
	track->reading = (struct reading){ .fn = fn, .ctx = ctx, .until = until };
	ret = ring_buffer__consume(track->ring);
	if (track->reading.err)
		return track->reading.err;
	return ret < 0 && ret != -EAGAIN ? ret : 0;
}

static int count_record(void *ctx, const void *data, size_t size)
{
	uint64_t *nr = ctx;

	(void)data;
	(void)size;
	++*nr;
	return 0;
}

int track__read_last(struct track *track, uint64_t until, track_record_fn fn, void *ctx)
{
	int err;

	if (!track->ring)
		return 0;
	__atomic_store_n(&track->slots[track->slot].used, 0, __ATOMIC_SEQ_CST);
	/* Of a map of maps, this waits until all programs that run now have ended. */
	bpf_map_delete_elem(track->fds[SHARED_RINGS], &track->slot);
	err = track__read(track, until, fn, ctx);
	return err ? err : track__read(track, UINT64_MAX, count_record, &track->left);
}

struct track_losses track__losses(const struct track *track)
{
	const struct track_wire_slot *slot = &track->slots[track->slot];

	return (struct track_losses){
		.records = __atomic_load_n(&slot->lost, __ATOMIC_RELAXED) + track->left,
		.tracked = __atomic_load_n(&track->common->lost, __ATOMIC_RELAXED) -
			   track->lost_before,
	};
}
