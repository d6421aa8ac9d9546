/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/stat.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "bpf/accounts.h"
#include "bpf/end_time.h"
#include "bpf/kernel_features.h"
#include "bpf/load_error.h"
#include "bpf/used_maps.h"
#include "bpf/window_maps.h"
#include "host/tracepoint.h"

/* A variable of the skeleton has a type of this. */
#include "sample_budget.h"

#include "stat.skel.h"

struct stat_programs {
	struct stat_bpf *skel;
	struct target_maps targets;
	const struct stat_wire_call *calls; /* mapped; NULL: none are counted */
	size_t calls_size;
};

static int choose_maps(struct stat_bpf *skel, const struct stat_programs_config *config)
{
	const struct used_map maps[] = {
		{ skel->maps.task_states, true },
		{ skel->maps.targets, true },
		{ skel->maps.cgroups, true },
		{ skel->maps.cpus, true },
		{ skel->maps.bell, true },
		{ skel->maps.barrier, true },
		{ skel->maps.barrier_inner, true },
		{ skel->maps.stat_threads, true },
		{ skel->maps.stat_ended, true },
		{ skel->maps.stat_names, true },
		{ skel->maps.stat_own_names, true },
		{ skel->maps.stat_none, true },
		{ skel->maps.stat_room, true },
		{ skel->maps.stat_calls, true },
		{ skel->maps.stat_free, true },
		{ skel->maps.stat_files, config->calls },
		{ skel->maps.stat_no_file, config->calls },
		/* Linux 6.1 checks functions that nothing calls, too: their maps must be there. */
		{ skel->maps.orc_modules, true },
		{ skel->maps.stat_zero, config->locks || config->io || config->sockets },
		{ skel->maps.stat_locks, config->locks },
		{ skel->maps.stat_vma_nodes, config->locks },
		{ skel->maps.stat_holders, config->locks },
		{ skel->maps.stat_sockets, config->sockets },
		{ skel->maps.stat_io, config->io },
		{ skel->maps.stat_requests, config->io },
	};
	int err = used_maps__choose(skel->obj, maps, sizeof(maps) / sizeof(maps[0]));

	if (!err && !config->calls)
		err = bpf_map__set_max_entries(skel->maps.stat_calls, 1);
	if (!err && !config->calls)
		err = bpf_map__set_max_entries(skel->maps.stat_free, 1);
	return err;
}

/* What is off is known to the verifier, which then leaves it out. */
static void choose_programs(struct stat_bpf *skel, const struct stat_programs_config *config,
			    const struct kernel_features *features)
{
	bool entries = (config->calls && config->call_times) || config->locks;
	bool by_event = features->has_preempted_calls &&
			tracepoint__is_there("raw_syscalls", "sys_enter") &&
			tracepoint__is_there("raw_syscalls", "sys_exit");

	skel->rodata->stat_counts_calls = config->calls;
	skel->rodata->stat_times_calls = config->calls && config->call_times;
	skel->rodata->stat_sigreturn = config->sigreturn;
	skel->rodata->stat_counts_locks = config->locks;
	skel->rodata->stat_counts_sockets = config->sockets;
	skel->rodata->stat_counts_io = config->io;
	memcpy((void *)skel->rodata->stat_typed, config->typed, WIRE_MAX_CALLS);
	memcpy((void *)skel->rodata->calls, config->classes, WIRE_MAX_CALLS);
	memcpy((void *)skel->rodata->stat_socket_calls, config->socket_calls, WIRE_MAX_CALLS);
	bpf_program__set_autoload(skel->progs.switched, features->has_state);
	bpf_program__set_autoload(skel->progs.switched_no_state, !features->has_state);
	bpf_program__set_autoload(skel->progs.call_entered, entries && !by_event);
	bpf_program__set_autoload(skel->progs.call_returned, config->calls && !by_event);
	bpf_program__set_autoload(skel->progs.call_entered_unpreempted, entries && by_event);
	bpf_program__set_autoload(skel->progs.call_returned_unpreempted, config->calls && by_event);
	bpf_program__set_autoload(skel->progs.request_issued, config->io);
	bpf_program__set_autoload(skel->progs.request_completed, config->io);
}

static int settle(struct stat_bpf *skel, const struct stat_programs_config *config,
		  const struct kernel_features *features)
{
	struct wire_settings *settings = (void *)&skel->rodata->settings;
	int err;

	*settings = *config->settings;
	settings->on_cpu = 1;
	settings->wakeup_stamps = 0;
	settings->reasons = settings->wakers = settings->histogram = 0;
	choose_programs(skel, config, features);
	err = choose_maps(skel, config);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.targets,
					       config->nr_targets ? (__u32)config->nr_targets : 1);
	if (!err && config->max_ended)
		err = bpf_map__set_max_entries(skel->maps.stat_ended, config->max_ended);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.bell, (__u32)sysconf(_SC_PAGESIZE));
	return err;
}

/* Lists of calls are followed in memory: a helper for each of them would take long. */
static int map_calls(struct stat_programs *programs)
{
	const struct bpf_map *map = programs->skel->maps.stat_calls;
	void *calls;

	programs->calls_size = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);
	calls = mmap(NULL, programs->calls_size, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);
	if (calls == MAP_FAILED)
		return -errno;
	programs->calls = calls;
	return 0;
}

static int load(struct stat_programs *programs, const struct stat_programs_config *config)
{
	struct kernel_features features;
	int err = kernel_features__read(&features);

	if (err)
		return err;
	programs->skel = stat_bpf__open();
	if (!programs->skel)
		return -errno;
	err = settle(programs->skel, config, &features);
	if (!err)
		err = stat_bpf__load(programs->skel);
	if (!err && config->calls)
		err = map_calls(programs);
	if (!err)
		programs->targets = TARGET_MAPS_OF(programs->skel);
	return err;
}

struct stat_programs *stat_programs__new(const struct stat_programs_config *config, int *err)
{
	struct stat_programs *programs = calloc(1, sizeof(*programs));

	*err = -ENOMEM;
	if (!programs)
		return NULL;
	load_error__log_details();
	*err = load(programs, config);
	if (!*err)
		return programs;
	stat_programs__delete(programs);
	return NULL;
}

void stat_programs__delete(struct stat_programs *programs)
{
	if (!programs)
		return;
	if (programs->calls)
		munmap((void *)(uintptr_t)programs->calls, programs->calls_size);
	stat_bpf__destroy(programs->skel);
	free(programs);
}

char *stat_programs__explain(int err, char *buf, size_t size)
{
	struct kernel_features features = { 0 };
	struct load_error_facts facts = { .err = err };

	kernel_features__read(&features);
	facts.has_btf = features.has_btf;
	facts.has_scheduler = features.has_scheduler;
	facts.has_task_storage = features.has_task_storage;
	facts.has_hook = features.has_scheduler;
	load_error_facts__read(&facts);
	return load_error__explain(&facts, buf, size);
}

const struct target_maps *stat_programs__targets(const struct stat_programs *programs)
{
	return &programs->targets;
}

int stat_programs__attach(struct stat_programs *programs)
{
	struct stat_bpf *skel = programs->skel;
	struct {
		struct bpf_program *program;
		struct bpf_link **link;
	} all[] = {
		{ skel->progs.task_born, &skel->links.task_born },
		{ skel->progs.task_gone, &skel->links.task_gone },
		{ skel->progs.program_came, &skel->links.program_came },
		{ skel->progs.switched, &skel->links.switched },
		{ skel->progs.switched_no_state, &skel->links.switched_no_state },
		{ skel->progs.call_returned, &skel->links.call_returned },
		{ skel->progs.call_entered, &skel->links.call_entered },
		{ skel->progs.call_returned_unpreempted, &skel->links.call_returned_unpreempted },
		{ skel->progs.call_entered_unpreempted, &skel->links.call_entered_unpreempted },
		{ skel->progs.request_completed, &skel->links.request_completed },
		{ skel->progs.request_issued, &skel->links.request_issued },
	};

	skel->bss->phase = WIRE_PHASE_ENLISTING;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!bpf_program__autoload(all[i].program))
			continue;
		*all[i].link = bpf_program__attach(all[i].program);
		if (*all[i].link)
			continue;
		pr_err("cannot attach %s: %s", bpf_program__name(all[i].program), strerror(errno));
		return -errno;
	}
	return 0;
}

/* Twice, as offcpu__enlist() does it. */
int stat_programs__enlist(struct stat_programs *programs, task_iter_fn fn, void *ctx)
{
	int err = task_iter__run(programs->skel->progs.list_tasks, NULL, NULL);

	return err ? err : task_iter__run(programs->skel->progs.list_tasks, fn, ctx);
}

int stat_programs__begin(struct stat_programs *programs, uint64_t *start_ns)
{
	*start_ns = clock__now_ns();
	programs->skel->bss->start_ns = *start_ns;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	programs->skel->bss->phase = WIRE_PHASE_RUNNING;
	return task_iter__run(programs->skel->progs.list_tasks, NULL, NULL);
}

void stat_programs__release(struct stat_programs *programs, pid_t pid)
{
	programs->skel->bss->stat_command = (__u32)pid;
	programs->skel->bss->stat_held = (__u32)pid;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* The programs go on to run, and leave out all that happens later. */
int stat_programs__end(struct stat_programs *programs, uint64_t *end_ns)
{
	const struct window_maps barrier = {
		.barrier = programs->skel->maps.barrier,
		.barrier_inner = programs->skel->maps.barrier_inner,
	};

	*end_ns = end_time__set(&programs->skel->bss->end_ns, programs->skel->progs.set_end);
	return window_maps__wait(&barrier);
}

int stat_programs__read_threads(struct stat_programs *programs, task_iter_fn fn, void *ctx)
{
	return task_iter__run(programs->skel->progs.report_threads, fn, ctx);
}

int stat_programs__set_holder(struct stat_programs *programs, uint64_t incarnation, uint32_t tid)
{
	return bpf_map__update_elem(programs->skel->maps.stat_holders, &incarnation,
				    sizeof(incarnation), &tid, sizeof(tid), BPF_ANY);
}

typedef int (*entry_fn)(void *ctx, const void *key, const void *value);

/* Passes each entry of a map to fn. One that is removed meanwhile may be left out. */
static int read_map(const struct bpf_map *map, entry_fn fn, void *ctx)
{
	size_t key_size = bpf_map__key_size(map);
	char *key = calloc(2, key_size), *value = calloc(1, bpf_map__value_size(map));
	char *next = key ? key + key_size : NULL;
	int fd = bpf_map__fd(map), err = key && value ? 0 : -ENOMEM;
	bool first = true;

	while (!err && !bpf_map_get_next_key(fd, first ? NULL : key, next)) {
		memcpy(key, next, key_size);
		first = false;
		if (!bpf_map_lookup_elem(fd, key, value))
			err = fn(ctx, key, value);
	}
	free(value);
	free(key);
	return err;
}

/* The callbacks of the types below, with their types. */
struct reader {
	stat_ended_fn ended;
	stat_lock_fn lock;
	stat_socket_fn socket;
	stat_io_fn io;
	stat_file_fn file;
	void *ctx;
};

static int pass_ended(void *ctx, const void *key, const void *value)
{
	const struct reader *reader = ctx;

	return reader->ended(reader->ctx, key, value);
}

static int pass_lock(void *ctx, const void *key, const void *value)
{
	const struct reader *reader = ctx;

	return reader->lock(reader->ctx, key, value);
}

static int pass_socket(void *ctx, const void *key, const void *value)
{
	const struct reader *reader = ctx;

	return reader->socket(reader->ctx, key, value);
}

static int pass_io(void *ctx, const void *key, const void *value)
{
	const struct reader *reader = ctx;

	return reader->io(reader->ctx, key, value);
}

static int pass_file(void *ctx, const void *key, const void *value)
{
	const struct reader *reader = ctx;

	return reader->file(reader->ctx, key, value);
}

int stat_programs__read_ended(const struct stat_programs *programs, stat_ended_fn fn, void *ctx)
{
	struct reader reader = { .ended = fn, .ctx = ctx };
	int err = read_map(programs->skel->maps.stat_ended, pass_ended, &reader);

	if (!err)
		err = read_map(programs->skel->maps.stat_own_names, pass_ended, &reader);
	return err ? err : read_map(programs->skel->maps.stat_names, pass_ended, &reader);
}

int stat_programs__read_locks(const struct stat_programs *programs, stat_lock_fn fn, void *ctx)
{
	struct reader reader = { .lock = fn, .ctx = ctx };

	return read_map(programs->skel->maps.stat_locks, pass_lock, &reader);
}

int stat_programs__read_sockets(const struct stat_programs *programs, stat_socket_fn fn, void *ctx)
{
	struct reader reader = { .socket = fn, .ctx = ctx };

	return read_map(programs->skel->maps.stat_sockets, pass_socket, &reader);
}

int stat_programs__read_io(const struct stat_programs *programs, stat_io_fn fn, void *ctx)
{
	struct reader reader = { .io = fn, .ctx = ctx };

	return read_map(programs->skel->maps.stat_io, pass_io, &reader);
}

int stat_programs__read_files(const struct stat_programs *programs, stat_file_fn fn, void *ctx)
{
	struct reader reader = { .file = fn, .ctx = ctx };

	return read_map(programs->skel->maps.stat_files, pass_file, &reader);
}

const struct stat_wire_call *stat_programs__call(const struct stat_programs *programs,
						 uint32_t index)
{
	return programs->calls && index && index < STAT_WIRE_MAX_CALLS ? &programs->calls[index]
								       : NULL;
}

struct stat_wire_losses stat_programs__losses(const struct stat_programs *programs)
{
	return *(const volatile struct stat_wire_losses *)&programs->skel->bss->stat_losses;
}

int stat_programs__stats(const struct stat_programs *programs, struct bpf_stats *stats,
			 uint64_t *unseen_switches)
{
	const struct bpf_stats_roles roles = {
		.born = programs->skel->progs.task_born,
		.gone = programs->skel->progs.task_gone,
		.exec = programs->skel->progs.program_came,
		.calls = { programs->skel->progs.call_entered, programs->skel->progs.call_returned,
			   programs->skel->progs.call_entered_unpreempted,
			   programs->skel->progs.call_returned_unpreempted },
		.requests = { programs->skel->progs.request_issued,
			      programs->skel->progs.request_completed },
	};
	const struct accounts accounts = { .cpus = programs->skel->maps.cpus,
					   .waker_cpus = programs->skel->maps.cpus };
	struct accounts_sums sums;
	int err = bpf_stats__read(stats, programs->skel->obj, &roles);

	*unseen_switches = 0;
	if (!err)
		err = accounts__read(&accounts, &sums);
	if (!err)
		*unseen_switches = sums.blocks.unseen + stats->recursion_misses;
	return err;
}
