/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/settings.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/syscalls.h"
#include "bpf/irq_ranges.h"
#include "capture/hist.h"
#include "capture/idle.h"
#include "capture/reason.h"
#include "host/cgroup.h"
#include "host/pidns.h"

_Static_assert((int)CGROUP_V2 == WIRE_CGROUP_V2 && (int)CGROUP_PERF_EVENT == WIRE_CGROUP_V1,
	       "one order of two hierarchies");

static bool want_reasons(const struct capture_options *options)
{
	return options->reasons || options->filter.idle;
}

static enum wire_copied copied(const struct capture_copies *copies)
{
	if (copies->tables)
		return WIRE_COPIED_BRIDGED;
	return copies->chosen ? WIRE_COPIED_CHOSEN : WIRE_COPIED_ALL;
}

static struct wire_settings make_settings(const struct capture_options *options)
{
	const struct capture_targets *targets = &options->targets;
	const struct capture_stacks *stacks = &options->stacks;

	return (struct wire_settings){
		.min_ns = options->filter.min_ns,
		.max_ns = options->filter.max_ns,
		.states = options->filter.states,
		.own_pid = (uint32_t)getpid(),
		.seed = options->seed,
		.max_rate = options->max_rate,
		.max_frames = stacks->max_frames < WIRE_MAX_FRAMES ? stacks->max_frames
								   : WIRE_MAX_FRAMES,
		.copy_bytes = stacks->user ? stacks->copies.bytes : 0,
		.copied = copied(&stacks->copies),
		.all = targets->all,
		.kernel_threads = targets->kernel_threads,
		.no_user_threads = targets->no_user_threads,
		.no_inherit = targets->no_inherit,
		.children = targets->children,
		.kernel_stacks = stacks->kernel,
		.user_stacks = stacks->user,
		.split_runqueue = options->split_runqueue,
		.wakers = options->wakers,
		.reasons = want_reasons(options),
		.skip_idle = options->filter.idle != NULL,
		.histogram = options->histogram,
		.on_cpu = options->on_cpu.clock != CAPTURE_CLOCK_NONE,
		.judge_idle = stacks->user && !stacks->kernel,
	};
}

/* Chooses the hierarchy of the cgroup ids in samples, in the form of wire_settings.cgroups. */
static int choose_hierarchy(__u8 *cgroups)
{
	struct cgroup_mounts mounts;
	int err = cgroup_mounts__read(&mounts, NULL);

	if (err) {
		pr_err("--all-cgroups: cannot read /proc/self/mounts: %s", strerror(-err));
		return err;
	}
	*cgroups = (__u8)(1 + cgroup_mounts__of_samples(&mounts));
	cgroup_mounts__free(&mounts);
	return 0;
}

/* Fills in the filters of blocks by namespace, CPU, user and cgroup. */
static int make_filter(struct wire_settings *settings, const struct capture_options *options)
{
	const struct capture_targets *targets = &options->targets;
	struct wire_filter *filter = &settings->filter;
	int err = pidns__inode(&filter->pid_ns);

	if (err) {
		pr_err("cannot determine our PID namespace: /proc/self/ns/pid: %s", strerror(-err));
		return err;
	}
	if (targets->cpu_bits) {
		filter->cpus = 1;
		memcpy(filter->cpu_bits, targets->cpu_bits, sizeof(filter->cpu_bits));
	}
	if (options->cgroups)
		err = choose_hierarchy(&settings->cgroups);
	filter->users = targets->nr_uids != 0;
	for (size_t i = 0; i < targets->nr_groups; i++) {
		if (targets->groups[i].hierarchy == CGROUP_V2)
			filter->cgroup_v2 = 1;
		else
			filter->cgroup_v1 = 1;
	}
	return err;
}

/* Marks calls that are waits for work in whichever function a thread sleeps. */
static void mark_whole_calls(__u8 calls[WIRE_MAX_CALLS], const struct idle_table *table)
{
	for (int nr = 0; nr < syscalls__count() && nr < WIRE_MAX_CALLS; nr++) {
		if (idle_table__has_whole_call(table, syscalls__name(nr), false))
			calls[nr] |= WIRE_CALL_IDLE;
		if (idle_table__has_whole_call(table, syscalls__name(nr), true))
			calls[nr] |= WIRE_CALL_IDLE_GIVEN;
	}
}

/* Marks all calls of rules: the kernel chain of a wait in them decides whether it is idle. */
static int mark_judged(__u8 calls[WIRE_MAX_CALLS], const struct idle_table *table)
{
	struct idle_table built_in = { 0 };
	int err = 0;

	if (!table) {
		err = idle_table__init(&built_in);
		table = &built_in;
	}
	for (int nr = 0; !err && nr < syscalls__count() && nr < WIRE_MAX_CALLS; nr++) {
		if (idle_table__names_call(table, syscalls__name(nr)))
			calls[nr] |= WIRE_CALL_JUDGED;
	}
	idle_table__free(&built_in);
	return err;
}

static struct cpu_clock_config make_clock(const struct capture_on_cpu *on_cpu)
{
	bool cycles = on_cpu->clock == CAPTURE_CLOCK_CYCLES;

	return (struct cpu_clock_config){
		.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.freq = on_cpu->freq,
		.period = on_cpu->count,
	};
}

int settings__make(struct offcpu_config *config, const struct capture_options *options,
		   struct ksyms_cache *symbols)
{
	const struct capture_targets *targets = &options->targets;
	int err = 0;

	*config = (struct offcpu_config){
		.settings = make_settings(options),
		.hook = options->stacks.hook,
		.clock = make_clock(&options->on_cpu),
		.user_tables = options->stacks.user && options->stacks.copies.tables &&
			       !options->histogram,
		.nr_targets = targets->nr_pids + targets->nr_tids + targets->nr_uids,
	};
	if (options->wakers)
		irq_ranges__read(&config->settings.waker, ksyms_cache__symbols(symbols));
	if (config->settings.reasons)
		reason__classify(config->calls);
	if (options->filter.idle)
		mark_whole_calls(config->calls, options->filter.idle);
	if (config->settings.judge_idle)
		err = mark_judged(config->calls, options->filter.idle);
	for (size_t i = 0; i < WIRE_HIST_BUCKETS; i++)
		config->hist_bounds[i] = hist__bound(i);
	return err ? err : make_filter(&config->settings, options);
}

int settings__add_targets(const struct capture_targets *targets,
			  const struct target_maps *target_maps)
{
	int err = 0;

	for (size_t i = 0; i < targets->nr_pids && !err; i++)
		err = target_maps__add(target_maps, WIRE_TARGET_PID, (uint32_t)targets->pids[i]);
	for (size_t i = 0; i < targets->nr_tids && !err; i++)
		err = target_maps__add(target_maps, WIRE_TARGET_TID, (uint32_t)targets->tids[i]);
	for (size_t i = 0; i < targets->nr_uids && !err; i++)
		err = target_maps__add(target_maps, WIRE_TARGET_UID, targets->uids[i]);
	for (size_t i = 0; i < targets->nr_groups && !err; i++)
		err = target_maps__add_cgroup(target_maps, targets->groups[i].hierarchy,
					      targets->groups[i].id);
	return err;
}
