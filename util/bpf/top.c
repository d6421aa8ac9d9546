/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/top.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "bpf/kernel_features.h"
#include "bpf/load_error.h"
#include "bpf/used_maps.h"

/* A variable of the skeleton has a type of this. */
#include "sample_budget.h"

#include "top.skel.h"

struct top_programs {
	struct top_bpf *skel;
	struct target_maps targets;
	struct bpf_link *link; /* of the iterator */
};

static int choose_maps(struct top_bpf *skel, bool tracked)
{
	const struct used_map maps[] = {
		{ skel->maps.task_states, true },
		{ skel->maps.targets, true },
		{ skel->maps.cgroups, true },
		{ skel->maps.top_comms, true },
		{ skel->maps.top_rooms, true },
		{ skel->maps.top_known, true },
		{ skel->maps.track_tasks, tracked },
		{ skel->maps.track_requests, tracked },
		/* Linux 6.1 checks functions that nothing calls, too: their maps must be there. */
		{ skel->maps.orc_modules, true },
	};

	return used_maps__choose(skel->obj, maps, sizeof(maps) / sizeof(maps[0]));
}

/* The tracker's maps are this program's as well. */
static int share_maps(struct top_bpf *skel, const struct track *track)
{
	struct top_wire_settings *settings = (void *)&skel->rodata->top;
	int err;

	if (!track)
		return 0;
	settings->track_slot = (__u8)track__slot(track);
	err = bpf_map__reuse_fd(skel->maps.track_tasks, track__tasks_fd(track));
	return err ? err
		   : bpf_map__reuse_fd(skel->maps.track_requests, track__requests_fd(track));
}

static int settle(struct top_bpf *skel, const struct top_programs_config *config)
{
	struct wire_settings *settings = (void *)&skel->rodata->settings;
	int err;

	*settings = *config->settings;
	memcpy((void *)&skel->rodata->top, &config->top, sizeof(config->top));
	memcpy((void *)skel->rodata->calls, config->classes, WIRE_MAX_CALLS);
	if (config->top.by_call)
		memcpy((void *)skel->rodata->top_calls, config->calls, WIRE_MAX_CALLS);
	err = choose_maps(skel, config->track);
	if (!err)
		err = share_maps(skel, config->track);
	return err ? err
		   : bpf_map__set_max_entries(skel->maps.targets,
					      config->nr_targets ? (__u32)config->nr_targets : 1);
}

/* Names in the map are padded with zeros, as the kernel has them. */
static int add_comms(const struct top_bpf *skel, const struct top_programs_config *config)
{
	__u32 one = 1;
	int err = 0;

	for (size_t i = 0; i < config->nr_comms && !err; i++) {
		char name[WIRE_COMM_LEN] = "";

		memcpy(name, config->comms[i], strnlen(config->comms[i], sizeof(name) - 1));
		err = bpf_map__update_elem(skel->maps.top_comms, name, sizeof(name), &one,
					   sizeof(one), BPF_ANY);
	}
	return err;
}

static int load(struct top_programs *programs, const struct top_programs_config *config)
{
	int err;

	programs->skel = top_bpf__open();
	if (!programs->skel)
		return -errno;
	err = settle(programs->skel, config);
	if (!err)
		err = top_bpf__load(programs->skel);
	if (!err)
		err = add_comms(programs->skel, config);
	if (err)
		return err;
	programs->targets = (struct target_maps){
		.targets = programs->skel->maps.targets,
		.cgroups = programs->skel->maps.cgroups,
	};
	programs->link = bpf_program__attach_iter(programs->skel->progs.sample_threads, NULL);
	if (!programs->link)
		return -errno;
	/* The first pass is slow, and would be told the time of the scheduler's clock too late. */
	return task_iter__pass(programs->link, NULL, NULL);
}

struct top_programs *top_programs__new(const struct top_programs_config *config, int *err)
{
	struct top_programs *programs = calloc(1, sizeof(*programs));
	struct kernel_features features = { 0 };

	*err = -ENOMEM;
	if (!programs)
		return NULL;
	load_error__log_details();
	*err = load(programs, config);
	if (!*err)
		return programs;
	kernel_features__read(&features);
	load_error__log(*err, &features);
	top_programs__delete(programs);
	return NULL;
}

void top_programs__delete(struct top_programs *programs)
{
	if (!programs)
		return;
	bpf_link__destroy(programs->link);
	top_bpf__destroy(programs->skel);
	free(programs);
}

const struct target_maps *top_programs__targets(const struct top_programs *programs)
{
	return &programs->targets;
}

void top_programs__set_stacks(struct top_programs *programs, bool wanted, uint32_t generation)
{
	programs->skel->bss->top_skip_stacks = !wanted;
	programs->skel->bss->top_generation = generation;
}

int top_programs__pass(struct top_programs *programs, task_iter_fn fn, void *ctx,
		       struct top_wire_counts *counts)
{
	struct top_wire_counts *kept = (void *)&programs->skel->bss->top_counts;
	int err;

	*kept = (struct top_wire_counts){ 0 };
	err = task_iter__pass(programs->link, fn, ctx);
	*counts = *kept;
	return err;
}

int top_programs__rehearse(struct top_programs *programs)
{
	int err;

	programs->skel->bss->top_is_rehearsal = 1;
	err = task_iter__pass(programs->link, NULL, NULL);
	programs->skel->bss->top_is_rehearsal = 0;
	return err;
}
