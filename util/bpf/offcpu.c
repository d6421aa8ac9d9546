/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/offcpu.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "bpf/end_time.h"
#include "bpf/kernel_features.h"
#include "bpf/load_error.h"
#include "bpf/orc.h"
#include "bpf/user_rules.h"
#include "host/user_address.h"

/* A variable of the skeleton has a type of this. */
#include "sample_budget.h"

#include "offcpu.skel.h"

struct offcpu {
	struct offcpu_bpf *skel;
	struct offcpu_maps maps;
	struct orc orc;
	struct user_rules user_rules;
	struct orc_format orc_format;
	enum attach_hook hook;
	bool has_throttled;
	struct cpu_clock clock;
	int dummy_fd; /* keeps __perf_event_task_sched_in called; -1: not needed */
};

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
	bpf_program__set_autoload(skel->progs.waking, settings->wakeup_stamps);
	bpf_program__set_autoload(skel->progs.read_user, kernel_features->has_user_memory);
	bpf_program__set_autoload(skel->progs.cgroup_born, skel->rodata->settings.cgroups);
}

/*
 * Kernel stacks are walked by ORC rules once a thread has come back, or is about to. The limit of
 * kernel.perf_event_max_stack, for which quick_frames stands, only the kernel's own walk heeds.
 */
static bool may_walk_kernel(const struct wire_settings *settings,
			    const struct kernel_features *features)
{
	return features->orc.known && features->quick_frames &&
	       (settings->kernel_stacks || settings->judge_idle) && !settings->histogram;
}

/* User stacks are walked by tables in the context of their thread. */
static bool may_walk_user(const struct offcpu_config *config,
			  const struct kernel_features *features, enum attach_hook hook)
{
	return config->user_tables && features->quick_frames && features->has_find_vma &&
	       !config->settings.histogram && hook != ATTACH_HOOK_SWITCH_OUT;
}

/* Gives each CPU its share of known stacks, a power of two. 0 or a negative errno. */
static int settle_known_stacks(struct offcpu_bpf *skel)
{
	int cpus = libbpf_num_possible_cpus();
	__u32 nr = KNOWN_STACKS_MOST;

	if (cpus < 0)
		return cpus;
	while (nr > KNOWN_STACKS_LEAST && nr * (__u32)cpus > KNOWN_STACKS)
		nr /= 2;
	skel->rodata->known_mask = nr - 1;
	return bpf_map__set_max_entries(skel->maps.known_stacks, nr);
}

/* Without that walk there is no memory for it, and threads that are still blocked go as others. */
static int settle_user_walk(struct offcpu_bpf *skel, const struct kernel_features *features,
			    bool walks)
{
	struct wire_settings *settings = (void *)&skel->rodata->settings;
	struct bpf_map *const maps[] = { skel->maps.rules_slab0, skel->maps.rules_slabs,
					 skel->maps.rules_files, skel->maps.rules_wides,
					 skel->maps.rules_wanted, skel->maps.rules_caches,
					 skel->maps.rules_bell, skel->maps.rules_unmapped,
					 skel->maps.known_stacks, skel->maps.known_pieces };
	int err = settle_known_stacks(skel);

	if (!walks && settings->copied == WIRE_COPIED_BRIDGED)
		settings->copy_bytes = 0;
	skel->rodata->has_user_walk = walks;
	bpf_program__set_autoload(skel->progs.program_came, walks);
	bpf_program__set_autoload(skel->progs.room_found, walks && features->has_unmapped_area);
	bpf_program__set_autoload(skel->progs.list_code, walks);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.rules_bell,
					       (__u32)sysconf(_SC_PAGESIZE));
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]) && !err; i++)
		err = bpf_map__set_autocreate(maps[i], walks);
	return err;
}

static int choose_orc_programs(struct offcpu_bpf *skel, const struct kernel_features *features,
			       bool walks, bool loads)
{
	int err;

	skel->rodata->has_kernel_walk = walks;
	skel->rodata->has_kernel_loads = loads;
	bpf_program__set_autoload(skel->progs.orc_sleepers, walks);
	bpf_program__set_autoload(skel->progs.orc_check, walks);
	bpf_program__set_autoload(skel->progs.orc_module, walks && features->has_modules);
	bpf_program__set_autoload(skel->progs.module_came, walks && features->has_modules);
	bpf_program__set_autoload(skel->progs.module_gone, walks && features->has_modules);
	err = bpf_map__set_autocreate(skel->maps.known_kernels, loads);
	if (!err && !walks)
		err = bpf_map__set_max_entries(skel->maps.orc_modules, 1);
	return err;
}

/* The clock of on-CPU samples, and the iterators of running time. */
static int settle_clock(struct offcpu_bpf *skel)
{
	const struct wire_settings *settings = (void *)&skel->rodata->settings;
	int cpus = libbpf_num_possible_cpus(), err;

	bpf_program__set_autoload(skel->progs.look, settings->on_cpu);
	bpf_program__set_autoload(skel->progs.report_runs, settings->on_cpu);
	bpf_program__set_autoload(skel->progs.report_last_runs, settings->on_cpu);
	err = bpf_map__set_autocreate(skel->maps.clock_cpus, settings->on_cpu);
	if (!err)
		err = bpf_map__set_autocreate(skel->maps.clock_copies, settings->on_cpu);
	if (err || !settings->on_cpu || !settings->copy_bytes ||
	    settings->copied == WIRE_COPIED_BRIDGED)
		return err;
	return cpus < 0 ? cpus : bpf_map__set_max_entries(skel->maps.clock_copies, (__u32)cpus);
}

/* Attaches the switch-in hook, which some kernels take only to refuse it here. */
static int attach_switch_in(struct offcpu *offcpu)
{
	struct offcpu_bpf *skel = offcpu->skel;

	if (offcpu->hook == ATTACH_HOOK_SWITCH_OUT)
		return 0; /* the hook at switch-out also sees the next task */
	if (offcpu->hook == ATTACH_HOOK_EXIT_TP) {
		skel->links.switch_in_exit_tp = bpf_program__attach(skel->progs.switch_in_exit_tp);
		return skel->links.switch_in_exit_tp ? 0 : -errno;
	}
	offcpu->dummy_fd = attach_hook__open_event();
	if (offcpu->dummy_fd < 0)
		return offcpu->dummy_fd;
	skel->links.switch_in_fentry = bpf_program__attach(skel->progs.switch_in_fentry);
	return skel->links.switch_in_fentry ? 0 : -errno;
}

static void drop(struct offcpu *offcpu)
{
	offcpu_bpf__destroy(offcpu->skel);
	offcpu->skel = NULL;
	if (offcpu->dummy_fd >= 0)
		close(offcpu->dummy_fd);
	offcpu->dummy_fd = -1;
}

/* Sets up memory and tables of reasons, or of waits for work. */
static int settle_reasons(struct offcpu_bpf *skel, const struct offcpu_config *config)
{
	int err;

	if (config->settings.reasons || config->settings.judge_idle)
		memcpy((void *)skel->rodata->calls, config->calls, sizeof(config->calls));
	if (config->settings.reasons)
		return 0;
	err = bpf_map__set_max_entries(skel->maps.reasons0, 1);
	return err ? err : bpf_map__set_max_entries(skel->maps.reasons1, 1);
}

/*
 * A histogram has neither sums nor stacks, and without one its rows are not needed: no memory
 * for what is not.
 */
static int settle_histogram(struct offcpu_bpf *skel, const struct offcpu_config *config)
{
	struct bpf_map *const unused[] = { skel->maps.entries0, skel->maps.entries1,
					   skel->maps.stacks0, skel->maps.stacks1 };
	int err = 0;

	if (!config->settings.histogram)
		return bpf_map__set_max_entries(skel->maps.hist, 1);
	memcpy((void *)skel->rodata->hist_bounds, config->hist_bounds, sizeof(config->hist_bounds));
	for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]) && !err; i++)
		err = bpf_map__set_max_entries(unused[i], 1);
	return err;
}

/* Room for copies of stacks, for each CPU, where copies are asked for and can be had. */
static int settle_copies(struct offcpu_bpf *skel, const struct kernel_features *kernel_features,
			 enum attach_hook hook)
{
	struct wire_settings *settings = (void *)&skel->rodata->settings;
	int cpus = libbpf_num_possible_cpus(), err = 0;

	/* A thread's stack is copied in its own context. */
	if (!kernel_features->has_registers || hook == ATTACH_HOOK_SWITCH_OUT)
		settings->copy_bytes = 0;
	if (!settings->copy_bytes)
		return 0;
	if (cpus < 0)
		return cpus;
	if (settings->copied == WIRE_COPIED_CHOSEN &&
	    bpf_map__set_max_entries(skel->maps.copy_pids, WIRE_MAX_COPY_PIDS))
		return -errno;
	if (settings->wakers && settings->copied != WIRE_COPIED_BRIDGED)
		err = bpf_map__set_max_entries(skel->maps.waker_copies, (__u32)cpus);
	return err ? err : bpf_map__set_max_entries(skel->maps.copies, (__u32)cpus);
}

/* Arguments of loading, for any hook. */
struct load {
	struct offcpu *offcpu;
	const struct offcpu_config *config;
	const struct kernel_features *features;
};

/* Which stacks the programs walk by tables. */
struct walks {
	bool kernel;
	bool loads; /* the kernel's by loads from where the stack lies, without a copy */
	bool user;
};

/* Opens and loads the programs of a hook. */
static int load_programs(const struct load *load, enum attach_hook hook, struct walks walks)
{
	const struct offcpu_config *config = load->config;
	struct offcpu *offcpu = load->offcpu;
	struct wire_settings *set;
	int err;

	offcpu->hook = hook;
	offcpu->skel = offcpu_bpf__open();
	if (!offcpu->skel)
		return -errno;
	set = (struct wire_settings *)(void *)&offcpu->skel->rodata->settings;
	*set = config->settings;
	/* Beside running time the scheduler's own figure does, so that a switch costs no more. */
	set->wakeup_stamps = set->wakers || (set->split_runqueue && !set->on_cpu) ||
			     !load->features->has_run_delay;
	set->walk_at_out = hook == ATTACH_HOOK_SWITCH_OUT && !set->histogram;
	offcpu->skel->rodata->quick_frames = load->features->quick_frames;
	offcpu->skel->rodata->address_mask = user_address__mask();
	choose_programs(offcpu->skel, load->features, hook);
	err = choose_orc_programs(offcpu->skel, load->features, walks.kernel, walks.loads);
	if (!err)
		err = settle_user_walk(offcpu->skel, load->features, walks.user);
	if (!err)
		err = settle_reasons(offcpu->skel, config);
	if (!err)
		err = settle_histogram(offcpu->skel, config);
	if (!err)
		err = settle_copies(offcpu->skel, load->features, hook);
	if (!err)
		err = settle_clock(offcpu->skel);
	if (!err)
		err = bpf_map__set_max_entries(offcpu->skel->maps.targets,
					       config->nr_targets ? (__u32)config->nr_targets : 1);
	if (!err)
		err = bpf_map__set_max_entries(offcpu->skel->maps.bell,
					       (__u32)sysconf(_SC_PAGESIZE));
	/* The other hooks park nothing: no memory for it. */
	if (!err && !set->walk_at_out)
		err = bpf_map__set_max_entries(offcpu->skel->maps.parked, 1);
	if (!err)
		err = offcpu_bpf__load(offcpu->skel);
	if (err)
		drop(offcpu);
	return err;
}

/* What the verifier refused of the walks that were tried, if it took less. */
static void explain_walks(struct walks tried, struct walks taken, int refused)
{
	if (tried.kernel && !taken.kernel)
		pr_verbose("kernel stacks are walked by bpf_get_stack(), since the kernel refuses "
			   "the walk by ORC tables: %s",
			   strerror(-refused));
	else if (tried.loads && !taken.loads)
		pr_verbose("kernel stacks are copied for the walk by ORC tables, since the kernel "
			   "refuses loads from where they lie: %s",
			   strerror(-refused));
	if (tried.user && !taken.user)
		pr_verbose("user stacks are walked by frame pointers, since the kernel refuses the "
			   "walk by unwind tables: %s",
			   strerror(-refused));
}

/*
 * Loads and proves one hook; an attach_hook_try_fn. A verifier that refuses a walk by tables may
 * take the rest: bpf_get_stack() then finds the kernel's frames at a higher price, and frame
 * pointers lead to user frames.
 */
static int load_hook(void *ctx, enum attach_hook hook)
{
	static const struct walks less[] = {
		{ true, true, true },	{ true, false, true },	{ true, true, false },
		{ true, false, false }, { false, false, true }, { false, false, false },
	};
	const struct load *load = ctx;
	const bool kernel = may_walk_kernel(&load->config->settings, load->features);
	const struct walks may = { kernel, kernel && load->features->has_kernel_loads,
				   may_walk_user(load->config, load->features, hook) };
	int refused = 0, err = -EINVAL;

	for (size_t i = 0; i < sizeof(less) / sizeof(less[0]) && err; i++) {
		if (less[i].kernel > may.kernel || less[i].loads > may.loads ||
		    less[i].user > may.user)
			continue;
		err = load_programs(load, hook, less[i]);
		if (!err)
			explain_walks(may, less[i], refused);
		else if (!refused)
			refused = err;
	}
	if (err)
		return err;
	err = attach_switch_in(load->offcpu);
	if (err)
		drop(load->offcpu);
	return err;
}

static void find_blocked_iter(struct offcpu *offcpu)
{
	const struct offcpu_bpf *skel = offcpu->skel;

	offcpu->maps.blocked = (struct blocked_iter){
		.report = skel->progs.report_blocked,
		.report_threads = skel->progs.report_threads,
		.read_user = skel->progs.read_user,
		.skip_pids = skel->maps.skip_pids,
		.walking_pid = &skel->bss->walking_pid,
	};
}

static void find_window_maps(struct offcpu *offcpu)
{
	const struct offcpu_bpf *skel = offcpu->skel;

	offcpu->maps.windows = (struct window_maps){
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

static void find_accounts(struct offcpu *offcpu)
{
	const struct offcpu_bpf *skel = offcpu->skel;

	offcpu->maps.accounts = (struct accounts){
		.cpus = skel->maps.cpus,
		.waker_cpus = skel->maps.waker_cpus,
		.clock_cpus = skel->rodata->settings.on_cpu ? skel->maps.clock_cpus : NULL,
		.hist = skel->maps.hist,
	};
}

static void find_orc(struct offcpu *offcpu)
{
	const struct offcpu_bpf *skel = offcpu->skel;

	offcpu->orc = (struct orc){
		.shared = &skel->bss->orc,
		.rules = (uint64_t *)skel->bss->orc_rules,
		.modules = skel->maps.orc_modules,
		.sleepers = skel->progs.orc_sleepers,
		.check = skel->progs.orc_check,
		.read_module = skel->progs.orc_module,
		.same = (const volatile uint64_t *)&skel->bss->orc_same,
		.differ = (const volatile uint64_t *)&skel->bss->orc_differ,
	};
}

static void find_user_rules(struct offcpu *offcpu)
{
	const struct offcpu_bpf *skel = offcpu->skel;

	offcpu->user_rules = (struct user_rules){
		.slab0 = skel->maps.rules_slab0,
		.slabs = skel->maps.rules_slabs,
		.files = skel->maps.rules_files,
		.wides = skel->maps.rules_wides,
		.wanted = skel->maps.rules_wanted,
		.bell = skel->maps.rules_bell,
		.list_code = skel->progs.list_code,
		.epoch = &offcpu->skel->bss->rules_epoch,
		.silent = &offcpu->skel->bss->rules_silent,
		.btf_fd = bpf_object__btf_fd(skel->obj),
	};
}

struct offcpu *offcpu__new(const struct offcpu_config *config, int *err)
{
	struct offcpu *offcpu = calloc(1, sizeof(*offcpu));
	struct kernel_features features;
	struct load load = { offcpu, config, &features };

	if (!offcpu) {
		*err = -ENOMEM;
		return NULL;
	}
	offcpu->dummy_fd = -1;
	load_error__log_details();
	*err = kernel_features__read(&features);
	if (!*err)
		*err = attach_hook__take(config->hook, &features, load_hook, &load);
	if (!*err) {
		offcpu->has_throttled = features.has_throttled;
		offcpu->maps.targets = TARGET_MAPS_OF(offcpu->skel);
		find_window_maps(offcpu);
		find_blocked_iter(offcpu);
		find_accounts(offcpu);
		find_orc(offcpu);
		find_user_rules(offcpu);
		offcpu->orc_format = features.orc;
		offcpu->clock = (struct cpu_clock){ .program = offcpu->skel->progs.look,
						    .config = config->clock };
		return offcpu;
	}
	load_error__log(*err, &features);
	free(offcpu);
	return NULL;
}

void offcpu__delete(struct offcpu *offcpu)
{
	if (!offcpu)
		return;
	blocked_iter__free(&offcpu->maps.blocked);
	user_rules__free(&offcpu->user_rules);
	cpu_clock__free(&offcpu->clock);
	drop(offcpu);
	free(offcpu);
}

struct offcpu_maps *offcpu__maps(struct offcpu *offcpu)
{
	return &offcpu->maps;
}

enum attach_hook offcpu__attach_hook(const struct offcpu *offcpu)
{
	return offcpu->hook;
}

bool offcpu__knows_throttling(const struct offcpu *offcpu)
{
	return offcpu->has_throttled;
}

bool offcpu__copies(const struct offcpu *offcpu)
{
	return offcpu->skel->rodata->settings.copy_bytes != 0;
}

struct user_rules *offcpu__user_rules(struct offcpu *offcpu)
{
	return offcpu->skel->rodata->has_user_walk ? &offcpu->user_rules : NULL;
}

int offcpu__choose(struct offcpu *offcpu, pid_t pid, bool chosen)
{
	int fd = bpf_map__fd(offcpu->skel->maps.copy_pids);
	__u32 key = (__u32)pid, one = 1;
	int err = chosen ? bpf_map_update_elem(fd, &key, &one, BPF_ANY)
			 : bpf_map_delete_elem(fd, &key);

	return err ? -errno : 0;
}

int offcpu__set_ring(struct offcpu *offcpu, unsigned int cpu, int fd)
{
	int err = bpf_map_update_elem(bpf_map__fd(offcpu->skel->maps.rings), &cpu, &fd, BPF_ANY);

	return err ? -errno : 0;
}

int offcpu__start_clock(struct offcpu *offcpu, unsigned int cpu)
{
	const struct wire_settings *settings = (void *)&offcpu->skel->rodata->settings;
	const struct wire_filter *filter = &settings->filter;
	int err;

	if (!settings->on_cpu ||
	    (filter->cpus && !(filter->cpu_bits[cpu / 64] >> (cpu & 63) & 1)))
		return 0;
	err = cpu_clock__start(&offcpu->clock, cpu);
	if (err)
		cpu_clock__explain(&offcpu->clock, err);
	return err;
}

int offcpu__report_runs(struct offcpu *offcpu, uint64_t time_ns, task_iter_fn fn, void *ctx)
{
	offcpu->skel->bss->window_ns = time_ns;
	return task_iter__run(offcpu->skel->progs.report_runs, fn, ctx);
}

int offcpu__report_last_runs(struct offcpu *offcpu, task_iter_fn fn, void *ctx)
{
	/* A thread that came back meanwhile may be about to add the block that it ended. */
	int err = window_maps__wait(&offcpu->maps.windows);

	return err ? err : task_iter__run(offcpu->skel->progs.report_last_runs, fn, ctx);
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

int offcpu__attach(struct offcpu *offcpu)
{
	struct offcpu_bpf *skel = offcpu->skel;
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
		err = attach_one(skel->progs.program_came, &skel->links.program_came);
	if (!err)
		err = attach_one(skel->progs.room_found, &skel->links.room_found);
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

int offcpu__walk_kernel_stacks(struct offcpu *offcpu, const struct kallsyms *kallsyms)
{
	struct offcpu_bpf *skel = offcpu->skel;
	int err;

	if (!skel->rodata->has_kernel_walk) {
		if (!skel->rodata->settings.histogram)
			pr_verbose("kernel stacks are walked by the kernel: its ORC tables cannot "
				   "be used, or kernel.perf_event_max_stack is below %d",
				   WIRE_MAX_FRAMES);
		return -EOPNOTSUPP;
	}
	/* Before the modules are read, so that none comes or goes unseen. */
	err = attach_one(skel->progs.module_came, &skel->links.module_came);
	if (!err)
		err = attach_one(skel->progs.module_gone, &skel->links.module_gone);
	return err ? err : orc__start(&offcpu->orc, &offcpu->orc_format, kallsyms);
}

int offcpu__update_modules(struct offcpu *offcpu)
{
	return offcpu->orc.shared->ready ? orc__update(&offcpu->orc) : 0;
}

/*
 * Twice: a task that is born in the first pass to a parent that has no state yet is found by
 * the second, at the latest.
 */
int offcpu__enlist(struct offcpu *offcpu, task_iter_fn fn, void *ctx)
{
	int err = task_iter__run(offcpu->skel->progs.list_tasks, NULL, NULL);

	return err ? err : task_iter__run(offcpu->skel->progs.list_tasks, fn, ctx);
}

int offcpu__begin(struct offcpu *offcpu, uint64_t *start_ns)
{
	*start_ns = clock__now_ns();
	offcpu->skel->bss->start_ns = *start_ns;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	offcpu->skel->bss->phase = WIRE_PHASE_RUNNING;
	return task_iter__run(offcpu->skel->progs.list_tasks, NULL, NULL);
}

int offcpu__close(struct offcpu *offcpu, uint64_t *end_ns)
{
	*end_ns = end_time__set(&offcpu->skel->bss->end_ns, offcpu->skel->progs.set_end);
	/* Of a recording that has not begun, nothing lies in it. */
	if (!offcpu->skel->bss->start_ns)
		offcpu->skel->bss->start_ns = *end_ns;
	offcpu->skel->bss->phase = WIRE_PHASE_CLOSING;
	return window_maps__wait(&offcpu->maps.windows);
}

int offcpu__end(struct offcpu *offcpu)
{
	offcpu->skel->bss->phase = WIRE_PHASE_IDLE;
	return window_maps__wait(&offcpu->maps.windows);
}

void offcpu__set_sampling(struct offcpu *offcpu, uint64_t period_ns, uint64_t threshold_ns)
{
	offcpu->skel->bss->threshold_ns = threshold_ns;
	offcpu->skel->bss->period_ns = period_ns;
}

void offcpu__sampling(const struct offcpu *offcpu, uint64_t *period_ns, uint64_t *threshold_ns)
{
	*threshold_ns = offcpu->skel->bss->threshold_ns;
	*period_ns = offcpu->skel->bss->period_ns;
}

/* Reads the programs' statistics, without the memory of their maps. */
static int read_bpf_stats(const struct offcpu *offcpu, struct bpf_stats *bpf_stats)
{
	const struct offcpu_bpf *skel = offcpu->skel;
	const struct bpf_stats_roles roles = {
		.waking = skel->progs.waking,
		.born = skel->progs.task_born,
		.gone = skel->progs.task_gone,
		.exec = skel->progs.program_came,
	};

	return bpf_stats__read(bpf_stats, skel->obj, &roles);
}

int offcpu__runs(const struct offcpu *offcpu, uint64_t *runs, uint64_t *run_ns)
{
	struct bpf_stats bpf_stats;
	int err = read_bpf_stats(offcpu, &bpf_stats);

	*runs = bpf_stats.run_count;
	*run_ns = bpf_stats.run_ns;
	return err;
}

int offcpu__bpf_stats(const struct offcpu *offcpu, struct bpf_stats *bpf_stats)
{
	int err = read_bpf_stats(offcpu, bpf_stats);

	if (!err)
		bpf_stats__read_maps(bpf_stats, offcpu->skel->obj);
	return err;
}

int offcpu__overflow_ring(const struct offcpu *offcpu)
{
	return bpf_map__fd(offcpu->skel->maps.overflow_ring);
}
