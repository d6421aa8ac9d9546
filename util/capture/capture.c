/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id_list.h"
#include "base/log.h"
#include "base/units.h"
#include "capture/settings.h"
#include "host/cgroup.h"
#include "host/sysctl.h"
#include "machine/machine.h"

/* Pages of a ring, and of one that each short block goes through: 4 MB last for 100 ms of the
 * worst storm, which is how long a reader may have to wait for a CPU. */
#define RING_PAGES 256
#define RING_PAGES_OF_STORM 1024
/* With copies of stacks, some hundred threads that come back at once bring megabytes; as much
 * as this for all CPUs together, where that is more. */
#define RING_PAGES_OF_COPIES 4096
#define RING_PAGES_OF_ALL 16384
/* A recording whose threshold or period is lower takes the latter. */
#define STORM_NS NSEC_PER_MSEC
/* The descriptors of a recording, but for those of the rings: with room to spare. */
#define DESCRIPTORS 80

_Static_assert(CAPTURE_PID_INTERRUPT == WIRE_PID_INTERRUPT &&
		       CAPTURE_PID_OUTSIDE == WIRE_PID_OUTSIDE,
	       "two pids with two names each");

/* A CPU that has come gets its ring and its clock. */
static int set_ring(void *ctx, unsigned int cpu, int fd)
{
	const struct capture *capture = ctx;
	int err = offcpu__set_ring(capture->offcpu, cpu, fd);

	return err ? err : offcpu__start_clock(capture->offcpu, cpu);
}

/* A CPU that has come online while the recording runs. */
static int welcome_cpu(void *ctx, unsigned int cpu, int fd)
{
	struct capture *capture = ctx;
	int err = set_ring(capture, cpu, fd);

	if (!err)
		tracepoint_rings__add_cpu(capture->tracepoints, cpu);
	return err;
}

static int connect_rings(struct capture *capture)
{
	int err = 0, fd;

	for (size_t i = 0; i < rings__count(capture->rings) && !err; i++)
		err = set_ring(capture, rings__cpu(capture->rings, i),
			       rings__fd(capture->rings, i));
	fd = user_tables__fd(&capture->user_tables);
	if (capture->tracepoints)
		fd = tracepoint_rings__watch(capture->tracepoints, fd);
	rings__watch(capture->rings, fd);
	if (!capture->options.targets.all)
		rings__set_bell(capture->rings, target_maps__bell(&capture->maps->targets));
	return err;
}

int capture__update_rings(struct capture *capture)
{
	return rings__update(capture->rings, welcome_cpu, capture);
}

/* The lists are the caller's; nothing needs them after this. */
static int add_targets(struct capture *capture)
{
	struct capture_targets *targets = &capture->options.targets;
	int err = settings__add_targets(targets, &capture->maps->targets);

	targets->pids = targets->tids = NULL;
	targets->uids = NULL;
	targets->groups = NULL;
	targets->cpu_bits = NULL;
	return err;
}

/* Kernel chains are in the samples, or are there to tell waits for work. */
static bool has_kernel_chains(const struct capture *capture)
{
	return capture->options.stacks.kernel || capture->options.stacks.user;
}

/* Without addresses chains keep the tracer's frames: a warning, no error. */
static void make_kernel_chain(struct capture *capture)
{
	if (!has_kernel_chains(capture))
		return;
	capture->kernel_chain = kernel_chain__new(ksyms_cache__symbols(&capture->ksyms));
	if (!kernel_chain__works(capture->kernel_chain))
		pr_warn("kernel addresses are hidden: %sidle waits are not recognized; run with "
			"CAP_SYSLOG, or with `sysctl kernel.kptr_restrict=0 "
			"kernel.perf_event_paranoid=1`",
			capture->options.stacks.kernel ?
				"kernel frames have no names, the scheduler's are not cut, and " :
				"");
}

/*
 * Reads the symbols by which chains are cut and judged. Listing them takes the kernel long, so a
 * recording of the whole machine begins before; with named targets they are read first, since
 * blocks during the listing might fill a ring.
 */
static int read_symbols(struct capture *capture)
{
	const struct idle_table *table = capture->options.filter.idle;
	int err = 0;

	make_kernel_chain(capture);
	/* That walk has no frames of the tracer's, which raw frames are about. */
	if (has_kernel_chains(capture) && capture->options.stacks.raw_frames)
		pr_verbose("kernel stacks are walked by the kernel: raw frames are those of its "
			   "own walk");
	else if (has_kernel_chains(capture))
		offcpu__walk_kernel_stacks(capture->offcpu, ksyms_cache__symbols(&capture->ksyms));
	if (!table) {
		err = idle_table__init(&capture->idle_rules);
		table = &capture->idle_rules;
	}
	if (!err && has_kernel_chains(capture))
		err = wait_places__init(&capture->places, ksyms_cache__symbols(&capture->ksyms),
					table);
	ksyms_cache__drop(&capture->ksyms);
	return err;
}

/* Programs, maps, the rings of all CPUs, and the files that are written meanwhile. */
static int reserve_descriptors(const struct capture_options *options)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	const size_t nr_groups = options->targets.nr_groups ? options->targets.nr_groups : 1;
	const size_t per_cpu = 2 + options->nr_tracepoints * nr_groups;
	uint64_t limit = 0;
	int err = descriptors__reserve(DESCRIPTORS + per_cpu * (size_t)(cpus > 0 ? cpus : 1),
				       &limit);

	if (err)
		pr_err("no descriptors left: a recording needs %d and %zu per CPU, the limit is "
		       "%" PRIu64 "; raise `ulimit -n`",
		       DESCRIPTORS, per_cpu, limit);
	return err;
}

static uint32_t pages_for_copies(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t pages = RING_PAGES_OF_COPIES;

	while (pages > RING_PAGES_OF_STORM && cpus > RING_PAGES_OF_ALL / (long)pages)
		pages /= 2;
	return pages;
}

static uint32_t ring_pages(const struct capture_options *options)
{
	if (options->ring_pages)
		return options->ring_pages;
	if (options->stacks.copies.bytes && !options->stacks.copies.tables)
		return pages_for_copies();
	if (options->threshold_ns < STORM_NS)
		return RING_PAGES_OF_STORM;
	return options->period_ns && options->period_ns < STORM_NS ? RING_PAGES_OF_STORM
								   : RING_PAGES;
}

/* Frame pointers are what is left then. */
static void explain_copies(const struct capture *capture)
{
	if (offcpu__attach_hook(capture->offcpu) == ATTACH_HOOK_SWITCH_OUT)
		pr_warn("no copies of user stacks: stacks are walked at switch-out here, where "
			"they cannot be copied (-v shows why); frame pointers are used instead");
	else
		pr_warn("no copies of user stacks: the kernel does not provide user registers "
			"(requires Linux 5.15 on x86-64 or arm64); frame pointers are used "
			"instead");
}

/* The cgroups of -G, as events of tracepoints take them. */
static int open_groups(const struct capture_targets *targets, struct cgroup_dirs *groups)
{
	struct cgroup_mounts mounts;
	int err;

	if (!targets->nr_groups)
		return 0;
	err = cgroup_mounts__read(&mounts, NULL);
	if (!err) {
		err = cgroup_dirs__open(groups, targets->groups, targets->nr_groups, &mounts);
		cgroup_mounts__free(&mounts);
	}
	if (err == -EXDEV)
		pr_err("-G with tracepoints (-e) needs cgroups of the hierarchy that the "
		       "perf_event controller belongs to, and one of these is in the other; "
		       "leave out -e SUBSYS:NAME");
	else if (err)
		pr_err("cannot open the cgroups of -G: %s", strerror(-err));
	return err;
}

static int open_tracepoints(struct capture *capture)
{
	const struct capture_options *options = &capture->options;
	struct cgroup_dirs groups = { 0 };
	const struct tracepoint_rings_options rings = {
		.ids = options->tracepoints,
		.nr = options->nr_tracepoints,
		.pages = ring_pages(options),
		.cgroups = options->cgroups,
		.groups = &groups,
	};
	int err;

	if (!options->nr_tracepoints)
		return 0;
	traced_threads__init(&capture->traced, &options->targets);
	err = open_groups(&options->targets, &groups);
	if (!err)
		capture->tracepoints = tracepoint_rings__new(&rings, &err);
	return err;
}

/* As above. That there are no tables is a warning only if they were asked for. */
static void explain_tables(const struct capture_options *options)
{
	static const char why[] =
		"user stacks are not walked by unwind tables: that takes Linux 5.17, on x86-64, "
		"a hook at switch-in, and a kernel.perf_event_max_stack of 127 at least; frame "
		"pointers are followed instead";

	if (options->stacks.copies.asked_for)
		pr_warn("%s", why);
	else
		pr_verbose("%s", why);
}

static int build(struct capture *capture)
{
	struct offcpu_config config;
	int err = reserve_descriptors(&capture->options);

	if (!err)
		err = settings__make(&config, &capture->options, &capture->ksyms);
	if (err)
		return err;
	capture->offcpu = offcpu__new(&config, &err);
	if (!capture->offcpu)
		return err;
	capture->maps = offcpu__maps(capture->offcpu);
	err = user_tables__init(&capture->user_tables, offcpu__user_rules(capture->offcpu));
	if (err)
		return err;
	if (config.user_tables && !capture->user_tables.rules)
		explain_tables(&capture->options);
	capture__set_sampling(capture, capture->options.period_ns, capture->options.threshold_ns);
	if (config.settings.copy_bytes && !config.user_tables && !offcpu__copies(capture->offcpu))
		explain_copies(capture);
	capture->rings = rings__new(ring_pages(&capture->options), capture->options.wake_bytes,
				    capture->options.data_maps, &err);
	if (!capture->rings)
		return err;
	capture->overflow_ring = overflow_ring__new(offcpu__overflow_ring(capture->offcpu), &err);
	if (!capture->overflow_ring) {
		pr_err("cannot map the overflow ring: %s", strerror(-err));
		return err;
	}
	err = open_tracepoints(capture);
	if (err)
		return err;
	capture->stacks[0] = stacks__new();
	capture->stacks[1] = stacks__new();
	if (!capture->stacks[0] || !capture->stacks[1])
		return -ENOMEM;
	if (capture->options.machine)
		err = sideband_filter__init(&capture->sideband_filter, capture->options.machine,
					    getpid(), capture->all_tasks);
	if (err)
		return err;
	capture->sideband_filter.no_inherit = capture->options.targets.no_inherit;
	capture->sideband_filter.keep_known = capture->options.data_maps;
	if (!capture->options.targets.all)
		err = read_symbols(capture);
	if (!err)
		err = connect_rings(capture);
	return err ? err : add_targets(capture);
}

struct capture *capture__new(const struct capture_options *options, const struct capture_sink *sink,
			     int *err)
{
	struct capture *capture = calloc(1, sizeof(*capture));

	if (!capture) {
		*err = -ENOMEM;
		return NULL;
	}
	capture->options = *options;
	capture->own_pid = getpid();
	capture->all_tasks = options->targets.all || options->wakers;
	capture->sink = *sink;
	cost__init(&capture->cost);
	*err = build(capture);
	if (*err) {
		capture__delete(capture);
		return NULL;
	}
	return capture;
}

void capture__delete(struct capture *capture)
{
	if (!capture)
		return;
	cost__free(&capture->cost);
	user_tables__free(&capture->user_tables);
	running__free(&capture->running);
	offcpu__delete(capture->offcpu);
	rings__delete(capture->rings);
	tracepoint_rings__delete(capture->tracepoints);
	traced_threads__free(&capture->traced);
	overflow_ring__delete(capture->overflow_ring);
	kernel_chain__delete(capture->kernel_chain);
	stacks__delete(capture->stacks[0]);
	stacks__delete(capture->stacks[1]);
	for (int i = 0; i < 2; i++)
		reason_store__free(&capture->reasons[i]);
	user_stacks__free(&capture->user_stacks);
	wait_places__free(&capture->places);
	idle_table__free(&capture->idle_rules);
	ksyms_cache__drop(&capture->ksyms);
	ordered_events__free(&capture->ordered_events);
	buffer__free(&capture->tasks);
	buffer__free(&capture->aligned);
	free(capture);
}

int capture__kernel_bounds(struct capture *capture, struct kallsyms_bounds *bounds)
{
	return ksyms_cache__bounds(&capture->ksyms, bounds);
}

/*
 * With --wakers the side band is of all tasks, and the machine tells which of their processes have
 * targets. Children inherit that.
 */
static int mark_target(struct capture *capture, const struct capture_task *task)
{
	const pid_t parent = task->pid == task->tid ? task->ppid : task->pid;
	const struct task_event event = { .kind = TASK_EVENT_FORK, .pid = task->pid,
					  .tid = task->tid, .ppid = parent, .ptid = parent };
	struct machine *machine = capture->options.machine;
	struct process *process;
	int err;

	if (!machine || !capture->all_tasks || capture->options.targets.all || !task->target)
		return 0;
	err = machine__handle(machine, &event);
	process = machine__process(machine, task->pid);
	if (process)
		process->wanted = true;
	return err;
}

static int keep_task(struct capture *capture, const struct capture_task *task)
{
	int err = buffer__append(&capture->tasks, task, sizeof(*task));

	if (!err)
		err = mark_target(capture, task);
	if (!err && capture->tracepoints)
		err = traced_threads__add(&capture->traced, task);
	return err;
}

/* Keeps what the iterator says of the tasks that live. */
static int keep_tasks(void *ctx, const void *data, size_t size)
{
	struct capture_task task;
	struct wire_task wire;
	int err = 0;

	for (size_t at = 0; at + sizeof(wire) <= size && !err; at += sizeof(wire)) {
		memcpy(&wire, (const char *)data + at, sizeof(wire));
		if (wire.flags & WIRE_TASK_OWN)
			continue;
		task = (struct capture_task){
			.pid = (pid_t)wire.pid,
			.tid = (pid_t)wire.tid,
			.ppid = (pid_t)wire.ppid,
			.target = wire.flags & WIRE_TASK_TARGET,
			.kthread = wire.flags & WIRE_TASK_KTHREAD,
		};
		memcpy(task.comm, wire.comm, sizeof(task.comm));
		task.comm[sizeof(task.comm) - 1] = '\0';
		err = keep_task(ctx, &task);
	}
	return err;
}

/* The processes of targets that are threads, for user_tables_targets. */
static int find_named(const struct capture *capture, struct id_list *pids)
{
	size_t nr;
	const struct capture_task *tasks = capture__tasks(capture, &nr);
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (tasks[i].target && tasks[i].tid != tasks[i].pid)
			err = id_list__add(pids, tasks[i].pid);
	}
	return err;
}

static int prepare_tables(struct capture *capture)
{
	struct id_list pids = { 0 };
	struct user_tables_targets targets = {
		.maps = &capture->maps->targets,
		.all = capture->options.targets.all,
	};
	int err = capture->options.targets.nr_tids ? find_named(capture, &pids) : 0;

	targets.pids = pids.ids;
	targets.nr_pids = pids.nr;
	if (!err)
		err = user_tables__prepare(&capture->user_tables, &targets);
	id_list__free(&pids);
	return err;
}

int capture__start(struct capture *capture)
{
	int err;

	/* Nobody would read of names and maps. */
	err = capture->options.histogram ? 0 : rings__enable(capture->rings);
	if (err) {
		pr_err("cannot enable the side band: %s", strerror(-err));
		return err;
	}
	err = offcpu__attach(capture->offcpu);
	if (err)
		return err;
	capture->tasks_seen = clock__now_ns();
	err = offcpu__enlist(capture->offcpu, keep_tasks, capture);
	if (err) {
		pr_err("cannot iterate over the tasks: %s", strerror(-err));
		return err;
	}
	err = prepare_tables(capture);
	if (!err && !capture->options.delayed)
		err = capture__begin(capture);
	capture->started = !err;
	if (!err && capture->options.targets.all)
		err = read_symbols(capture);
	return err;
}

int capture__begin(struct capture *capture)
{
	int err = offcpu__begin(capture->offcpu, &capture->stats.start_ns);

	if (err)
		pr_err("cannot read the threads that are blocked at the start: %s", strerror(-err));
	else if (capture->tracepoints)
		err = tracepoint_rings__enable(capture->tracepoints);
	capture->begun = !err;
	return err;
}

void capture__set_sampling(struct capture *capture, uint64_t period_ns, uint64_t threshold_ns)
{
	offcpu__set_sampling(capture->offcpu, period_ns, threshold_ns);
}

void capture__sampling(const struct capture *capture, uint64_t *period_ns, uint64_t *threshold_ns)
{
	offcpu__sampling(capture->offcpu, period_ns, threshold_ns);
}

const struct capture_task *capture__tasks(const struct capture *capture, size_t *nr)
{
	*nr = capture->tasks.len / sizeof(struct capture_task);
	return (const struct capture_task *)(const void *)capture->tasks.data;
}

uint64_t capture__tasks_seen(const struct capture *capture)
{
	return capture->tasks_seen;
}

/*
 * The kernel writes a LOST record in front of the next record that fits. Losses after the last one
 * are known only from the programs' counters.
 */
static int report_last_losses(struct capture *capture)
{
	struct accounts_sums sums;
	uint64_t lost;
	int err;

	err = accounts__read(&capture->maps->accounts, &sums);
	if (err)
		return err;
	lost = accounts__lost_records(&sums);
	if (lost <= capture->stats.lost_records)
		return 0;
	lost -= capture->stats.lost_records;
	capture->stats.lost_records += lost;
	return capture->sink.lost ? capture->sink.lost(capture->sink.ctx, lost, 0) : 0;
}

/* Ends what is under way; after this the accounts don't move any more. */
static int close_up(struct capture *capture, int deadline_ms)
{
	int results[6], i = 0;

	results[i++] = offcpu__close(capture->offcpu, &capture->stats.end_ns);
	results[i++] = capture__report_blocked(capture, deadline_ms);
	results[i++] = offcpu__end(capture->offcpu);
	/* Both generations may hold sums: the swap of the second drain takes the other. */
	results[i++] = capture__drain(capture);
	results[i++] = capture__drain(capture);
	/* The rings are empty, so nothing older can come. */
	results[i++] = capture__give_sideband(capture, UINT64_MAX);
	/* All steps are tried; the first error is returned. */
	for (i = 0; i < 6; i++) {
		if (results[i] < 0)
			return results[i];
	}
	return report_last_losses(capture);
}

int capture__stop(struct capture *capture, int deadline_ms)
{
	int err;

	if (!capture->started || capture->stopped)
		return 0;
	capture->stopped = true;
	err = close_up(capture, deadline_ms);
	if (!capture->begun)
		capture->stats.start_ns = capture->stats.end_ns;
	if (err)
		pr_err("the last blocks could not be read: %s", strerror(-err));
	return err;
}

void capture__adopt_strays(struct capture *capture)
{
	if (capture->begun && !capture->stopped)
		alive__adopt_strays(&capture->alive, &capture->maps->targets);
}

bool capture__targets_alive(struct capture *capture)
{
	return capture->options.targets.all ||
	       alive__any(&capture->alive, &capture->maps->targets);
}

bool capture__copies(const struct capture *capture)
{
	return offcpu__copies(capture->offcpu);
}

bool capture__walks_by_tables(const struct capture *capture)
{
	return capture->user_tables.rules;
}

int capture__choose(struct capture *capture, pid_t pid, bool chosen)
{
	return offcpu__choose(capture->offcpu, pid, chosen);
}

enum attach_hook capture__attach_hook(const struct capture *capture)
{
	return offcpu__attach_hook(capture->offcpu);
}
