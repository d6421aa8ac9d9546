/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "bpf/accounts.h"
#include "capture/hist.h"
#include "bpf/kernel_features.h"
#include "capture/reason.h"
#include "bpf/load_error.h"
#include "bpf/attach_hook.h"
#include "offcpu.skel.h"

struct programs {
	struct offcpu_bpf *skel;
	struct target_maps target_maps;
	struct window_maps window_maps;
	struct blocked_iter blocked_iter;
	enum attach_hook hook;
	int dummy_fd; /* keeps __perf_event_task_sched_in called; -1: not needed */
};

static int print_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text, *line, *rest;

	(void)level;
	/* What a user can act on is said by us; libbpf's and the verifier's words are for -vv. */
	if (log__level() < LOG_DEBUG || vasprintf(&text, format, args) < 0)
		return 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		pr_debug("%s", line);
	free(text);
	return 0;
}

/* Chooses among the programs by what the kernel has. */
static void choose_programs(struct offcpu_bpf *skel, const struct kernel_features *kernel_features,
			    enum attach_hook hook)
{
	const volatile struct wire_settings *settings = (void *)&skel->rodata->settings;
	bool has_state = kernel_features->has_state;
	bool at_out = hook == ATTACH_HOOK_SWITCH_OUT;

	bpf_program__set_autoload(skel->progs.switch_out, has_state && !at_out);
	bpf_program__set_autoload(skel->progs.switch_out_no_state, !has_state && !at_out);
	bpf_program__set_autoload(skel->progs.switch_park, has_state && at_out);
	bpf_program__set_autoload(skel->progs.switch_park_no_state, !has_state && at_out);
	bpf_program__set_autoload(skel->progs.switch_in_exit_tp, hook == ATTACH_HOOK_EXIT_TP);
	bpf_program__set_autoload(skel->progs.switch_in_fentry, hook == ATTACH_HOOK_FENTRY);
	bpf_program__set_autoload(skel->progs.waking, settings->split_runqueue || settings->wakers);
	bpf_program__set_autoload(skel->progs.read_user, kernel_features->has_user_memory);
	bpf_program__set_autoload(skel->progs.cgroup_born, skel->rodata->settings.cgroups);
}

/* A perf event on ourselves: with one, the scheduler calls __perf_event_task_sched_in. */
static int open_dummy(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Attaches the switch-in hook, which some kernels take only to refuse it here. */
static int attach_switch_in(struct programs *programs)
{
	struct offcpu_bpf *skel = programs->skel;

	if (programs->hook == ATTACH_HOOK_SWITCH_OUT)
		return 0; /* the hook at switch-out sees who comes back as well */
	if (programs->hook == ATTACH_HOOK_EXIT_TP) {
		skel->links.switch_in_exit_tp = bpf_program__attach(skel->progs.switch_in_exit_tp);
		return skel->links.switch_in_exit_tp ? 0 : -errno;
	}
	programs->dummy_fd = open_dummy();
	if (programs->dummy_fd < 0)
		return programs->dummy_fd;
	skel->links.switch_in_fentry = bpf_program__attach(skel->progs.switch_in_fentry);
	return skel->links.switch_in_fentry ? 0 : -errno;
}

static void drop(struct programs *programs)
{
	offcpu_bpf__destroy(programs->skel);
	programs->skel = NULL;
	if (programs->dummy_fd >= 0)
		close(programs->dummy_fd);
	programs->dummy_fd = -1;
}

/* What reasons need of memory and tables, where they are asked for. */
static int settle_reasons(struct offcpu_bpf *skel, bool reasons)
{
	int err;

	if (reasons) {
		reason__classify((uint8_t *)skel->rodata->calls);
		return 0;
	}
	err = bpf_map__set_max_entries(skel->maps.reasons0, 1);
	return err ? err : bpf_map__set_max_entries(skel->maps.reasons1, 1);
}

/*
 * A histogram has neither sums nor stacks, and without one its rows are not needed: no memory
 * for what is not.
 */
static int settle_histogram(struct offcpu_bpf *skel, bool histogram)
{
	struct bpf_map *const unused[] = { skel->maps.entries0, skel->maps.entries1,
					   skel->maps.stacks0, skel->maps.stacks1 };
	int err = 0;

	if (!histogram)
		return bpf_map__set_max_entries(skel->maps.hist, 1);
	for (size_t i = 0; i < WIRE_HIST_BUCKETS; i++)
		skel->rodata->hist_bounds[i] = hist__bound(i);
	for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]) && !err; i++)
		err = bpf_map__set_max_entries(unused[i], 1);
	return err;
}

/* Room for copies of stacks, for each CPU, where copies are asked for and can be had. */
static int settle_copies(struct offcpu_bpf *skel, const struct kernel_features *kernel_features,
			 enum attach_hook hook)
{
	struct wire_settings *settings = (void *)&skel->rodata->settings;
	int cpus = libbpf_num_possible_cpus();

	/* A thread's stack is copied in its own context. */
	if (!kernel_features->has_registers || hook == ATTACH_HOOK_SWITCH_OUT)
		settings->copy_bytes = 0;
	if (!settings->copy_bytes)
		return 0;
	if (cpus < 0)
		return cpus;
	if (settings->copy_chosen &&
	    bpf_map__set_max_entries(skel->maps.copy_pids, WIRE_MAX_COPY_PIDS))
		return -errno;
	return bpf_map__set_max_entries(skel->maps.copies, (__u32)cpus);
}

/* What is loaded, whichever the way. */
struct load {
	struct programs *programs;
	const struct wire_settings *settings;
	const struct kernel_features *kernel_features;
	size_t nr_targets;
};

/* Opens, loads and proves one way; a way_try_fn. */
static int load_hook(void *ctx, enum attach_hook hook)
{
	const struct load *load = ctx;
	const struct wire_settings *settings = load->settings;
	struct programs *programs = load->programs;
	struct wire_settings *set;
	int err;

	programs->hook = hook;
	programs->skel = offcpu_bpf__open();
	if (!programs->skel)
		return -errno;
	set = (struct wire_settings *)(void *)&programs->skel->rodata->settings;
	*set = *settings;
	set->walk_at_out = hook == ATTACH_HOOK_SWITCH_OUT && !settings->histogram;
	programs->skel->rodata->quick_frames = load->kernel_features->quick_frames;
	choose_programs(programs->skel, load->kernel_features, hook);
	err = settle_reasons(programs->skel, settings->reasons);
	if (!err)
		err = settle_histogram(programs->skel, settings->histogram);
	if (!err)
		err = settle_copies(programs->skel, load->kernel_features, hook);
	if (!err)
		err = bpf_map__set_max_entries(programs->skel->maps.targets,
				       load->nr_targets ? (__u32)load->nr_targets : 1);
	if (!err)
		err = bpf_map__set_max_entries(programs->skel->maps.bell,
					       (__u32)sysconf(_SC_PAGESIZE));
	/* Nothing is parked by the other ways: no memory for it. */
	if (!err && !set->walk_at_out)
		err = bpf_map__set_max_entries(programs->skel->maps.parked, 1);
	if (!err)
		err = offcpu_bpf__load(programs->skel);
	if (!err)
		err = attach_switch_in(programs);
	if (err)
		drop(programs);
	return err;
}

/* Says why, and what helps. */
static void explain(int err, const struct kernel_features *kernel_features)
{
	struct load_error_facts facts = {
		.err = err,
		.has_btf = kernel_features->has_btf,
		.has_scheduler = kernel_features->has_scheduler,
		.has_task_storage = kernel_features->has_task_storage,
		.has_hook = kernel_features->has_btf && err != -EOPNOTSUPP,
	};
	char text[512];

	load_error_facts__read(&facts);
	pr_err("%s", load_error__explain(&facts, text, sizeof(text)));
}

static void find_target_maps(struct programs *programs)
{
	const struct offcpu_bpf *skel = programs->skel;

	programs->target_maps = (struct target_maps){
		.targets = skel->maps.targets,
		.cgroups = skel->maps.cgroups,
		.bell = skel->maps.bell,
		.count = skel->progs.count_targets,
		.found = &skel->bss->targets_found,
		.alive = &skel->bss->targets_alive,
		.births = &skel->bss->last_incarnation,
	};
}

static void find_blocked_iter(struct programs *programs)
{
	const struct offcpu_bpf *skel = programs->skel;

	programs->blocked_iter = (struct blocked_iter){
		.report = skel->progs.report_blocked,
		.read_user = skel->progs.read_user,
		.skip_pids = skel->maps.skip_pids,
		.walking_pid = &skel->bss->walking_pid,
	};
}

static void find_window_maps(struct programs *programs)
{
	const struct offcpu_bpf *skel = programs->skel;

	programs->window_maps = (struct window_maps){
		.current = &skel->bss->generation,
		.barrier = skel->maps.barrier,
		.barrier_inner = skel->maps.barrier_inner,
		.rooms = {
			[WINDOW_SUMS] = { { skel->maps.entries0, skel->maps.entries1 },
					       skel->bss->nr_sums },
			[WINDOW_STACKS] = { { skel->maps.stacks0, skel->maps.stacks1 },
						 skel->bss->nr_stacks },
			[WINDOW_REASONS] = { { skel->maps.reasons0, skel->maps.reasons1 },
						  skel->bss->nr_reasons },
		},
	};
}

struct programs *programs__new(const struct wire_settings *settings, enum attach_hook hook,
			       size_t nr_targets, int *err)
{
	struct programs *programs = calloc(1, sizeof(*programs));
	struct kernel_features kernel_features;
	struct load load = {
		.programs = programs,
		.settings = settings,
		.kernel_features = &kernel_features,
		.nr_targets = nr_targets,
	};

	if (!programs) {
		*err = -ENOMEM;
		return NULL;
	}
	programs->dummy_fd = -1;
	libbpf_set_print(print_libbpf);
	*err = kernel_features__read(&kernel_features);
	if (!*err)
		*err = attach_hook__take(hook, &kernel_features, load_hook, &load);
	if (!*err) {
		find_target_maps(programs);
		find_window_maps(programs);
		find_blocked_iter(programs);
		return programs;
	}
	explain(*err, &kernel_features);
	free(programs);
	return NULL;
}

void programs__delete(struct programs *programs)
{
	if (!programs)
		return;
	blocked_iter__free(&programs->blocked_iter);
	drop(programs);
	free(programs);
}

enum attach_hook programs__attach_hook(const struct programs *programs)
{
	return programs->hook;
}

bool programs__copies(const struct programs *programs)
{
	return programs->skel->rodata->settings.copy_bytes != 0;
}

int programs__choose(struct programs *programs, pid_t pid, bool chosen)
{
	int fd = bpf_map__fd(programs->skel->maps.copy_pids);
	__u32 key = (__u32)pid, one = 1;
	int err = chosen ? bpf_map_update_elem(fd, &key, &one, BPF_ANY) :
			   bpf_map_delete_elem(fd, &key);

	return err ? -errno : 0;
}

int programs__set_ring(struct programs *programs, unsigned int cpu, int fd)
{
	int err = bpf_map_update_elem(bpf_map__fd(programs->skel->maps.rings), &cpu, &fd, BPF_ANY);

	return err ? -errno : 0;
}

const struct target_maps *programs__target_maps(const struct programs *programs)
{
	return &programs->target_maps;
}

/* The iterators have no hook of their own: they are attached when they are read. */
static int attach_one(struct bpf_program *program, struct bpf_link **link)
{
	if (!bpf_program__autoload(program))
		return 0;
	*link = bpf_program__attach(program);
	if (*link)
		return 0;
	pr_err("cannot attach %s: %s", bpf_program__name(program), strerror(errno));
	return -errno;
}

int programs__attach(struct programs *programs)
{
	struct offcpu_bpf *skel = programs->skel;
	int err;

	skel->bss->phase = WIRE_PHASE_ENLISTING;
	err = attach_one(skel->progs.task_born, &skel->links.task_born);
	if (!err)
		err = attach_one(skel->progs.task_gone, &skel->links.task_gone);
	if (!err)
		err = attach_one(skel->progs.waking, &skel->links.waking);
	if (!err)
		err = attach_one(skel->progs.cgroup_born, &skel->links.cgroup_born);
	if (!err)
		err = attach_one(skel->progs.switch_out, &skel->links.switch_out);
	if (!err)
		err = attach_one(skel->progs.switch_out_no_state, &skel->links.switch_out_no_state);
	if (!err)
		err = attach_one(skel->progs.switch_park, &skel->links.switch_park);
	if (!err)
		err = attach_one(skel->progs.switch_park_no_state,
				 &skel->links.switch_park_no_state);
	return err;
}

/*
 * Twice: a task that is born in the first pass to a parent that has no slot yet is found by
 * the second, at the latest.
 */
int programs__enlist(struct programs *programs, task_iter_fn fn, void *ctx)
{
	int err = task_iter__run(programs->skel->progs.list_tasks, NULL, NULL);

	return err ? err : task_iter__run(programs->skel->progs.list_tasks, fn, ctx);
}

int programs__begin(struct programs *programs, uint64_t *start_ns)
{
	*start_ns = clock__now_ns();
	programs->skel->bss->start_ns = *start_ns;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	programs->skel->bss->phase = WIRE_PHASE_RUNNING;
	return task_iter__run(programs->skel->progs.list_tasks, NULL, NULL);
}

struct window_maps *programs__window_maps(struct programs *programs)
{
	return &programs->window_maps;
}

int programs__close(struct programs *programs, uint64_t end_ns)
{
	programs->skel->bss->end_ns = end_ns;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	programs->skel->bss->phase = WIRE_PHASE_CLOSING;
	return window_maps__wait(&programs->window_maps);
}

int programs__end(struct programs *programs)
{
	programs->skel->bss->phase = WIRE_PHASE_IDLE;
	return window_maps__wait(&programs->window_maps);
}

struct blocked_iter *programs__blocked_iter(struct programs *programs)
{
	return &programs->blocked_iter;
}

int programs__accounts(const struct programs *programs, struct wire_accounts *sum,
		       struct wire_accounts *wakeups)
{
	int err = accounts__sum(programs->skel->maps.cpus, sum);

	return err ? err : accounts__sum(programs->skel->maps.waker_cpus, wakeups);
}

int programs__hist(const struct programs *programs, struct wire_hist *rows)
{
	return accounts__hist(programs->skel->maps.hist, rows);
}

void programs__set_sampling(struct programs *programs, uint64_t period_ns, uint64_t threshold_ns)
{
	programs->skel->bss->threshold_ns = threshold_ns;
	programs->skel->bss->period_ns = period_ns;
}

int programs__seen(const struct programs *programs, uint64_t *counts, size_t nr, uint64_t *kept)
{
	return accounts__seen(programs->skel->maps.cpus, counts, nr, kept);
}

/* What the programs take, but for their maps. */
static int read_bpf_stats(const struct programs *programs, struct bpf_stats *bpf_stats)
{
	const struct offcpu_bpf *skel = programs->skel;
	const struct bpf_stats_roles roles = {
		.waking = skel->progs.waking,
		.born = skel->progs.task_born,
		.gone = skel->progs.task_gone,
	};

	return bpf_stats__read(bpf_stats, skel->obj, &roles);
}

int programs__run_ns(const struct programs *programs, uint64_t *run_ns)
{
	struct bpf_stats bpf_stats;
	int err = read_bpf_stats(programs, &bpf_stats);

	*run_ns = bpf_stats.run_ns;
	return err;
}

int programs__bpf_stats(const struct programs *programs, struct bpf_stats *bpf_stats)
{
	int err = read_bpf_stats(programs, bpf_stats);

	if (!err)
		bpf_stats__read_maps(bpf_stats, programs->skel->obj);
	return err;
}

int programs__overflow_ring(const struct programs *programs)
{
	return bpf_map__fd(programs->skel->maps.overflow_ring);
}
