/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "capture/accounts.h"
#include "capture/batch.h"
#include "capture/hist.h"
#include "capture/reason.h"
#include "capture/refusal.h"
#include "host/settings.h"
#include "offcpu.skel.h"

struct programs {
	struct offcpu_bpf *skel;
	struct bpf_link *user_link;
	enum capture_way way;
	int dummy_fd; /* keeps __perf_event_task_sched_in called; -1: not needed */
};

const char *capture_way__name(enum capture_way way)
{
	static const char *const names[CAPTURE_WAY_MAX] = {
		[CAPTURE_WAY_AUTO] = "auto",
		[CAPTURE_WAY_EXIT_TP] = "switch-in (sched_exit_tp)",
		[CAPTURE_WAY_FENTRY] = "switch-in (__perf_event_task_sched_in)",
		[CAPTURE_WAY_SWITCH_OUT] = "switch-out (sched_switch)",
	};

	return way < CAPTURE_WAY_MAX ? names[way] : "unknown";
}

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

/* The number of arguments of a raw tracepoint, without its context; -1: there is none. */
static int tracepoint_args(const struct btf *btf, const char *name)
{
	const struct btf_type *type;
	char typedef_name[64];
	int id;

	snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, typedef_name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -1;
	type = btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type);
	type = btf__type_by_id(btf, type->type);
	return (int)btf_vlen(type) - 1;
}

/* Whether the kernel's list of BPF helpers has one of this name. */
static bool has_helper(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, "bpf_func_id", BTF_KIND_ENUM);
	const struct btf_type *type;

	if (id < 0)
		return false;
	type = btf__type_by_id(btf, (__u32)id);
	for (int i = 0; i < btf_vlen(type); i++) {
		if (!strcmp(btf__name_by_offset(btf, btf_enum(type)[i].name_off), name))
			return true;
	}
	return false;
}

/* Chooses among the programs by what BTF says the kernel has, never by its version. */
static void choose_programs(struct offcpu_bpf *skel, const struct btf *btf, enum capture_way way)
{
	const volatile struct wire_settings *settings = (void *)&skel->rodata->settings;
	bool has_state = tracepoint_args(btf, "sched_switch") >= 4;

	bool at_out = way == CAPTURE_WAY_SWITCH_OUT;

	bpf_program__set_autoload(skel->progs.switch_out, has_state && !at_out);
	bpf_program__set_autoload(skel->progs.switch_out_no_state, !has_state && !at_out);
	bpf_program__set_autoload(skel->progs.switch_park, has_state && at_out);
	bpf_program__set_autoload(skel->progs.switch_park_no_state, !has_state && at_out);
	bpf_program__set_autoload(skel->progs.switch_in_exit_tp, way == CAPTURE_WAY_EXIT_TP);
	bpf_program__set_autoload(skel->progs.switch_in_fentry, way == CAPTURE_WAY_FENTRY);
	bpf_program__set_autoload(skel->progs.waking, settings->split_runqueue || settings->wakers);
	bpf_program__set_autoload(skel->progs.read_user,
				  has_helper(btf, "BPF_FUNC_copy_from_user_task"));
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

	if (programs->way == CAPTURE_WAY_SWITCH_OUT)
		return 0; /* the hook at switch-out sees who comes back as well */
	if (programs->way == CAPTURE_WAY_EXIT_TP) {
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

/*
 * Whether the programs may walk user frames themselves. A limit below ours is the
 * administrator's, and the kernel's own walk heeds it.
 */
static bool has_quick_frames(const struct btf *btf)
{
#if defined(__x86_64__)
	int64_t most = 0;

	return has_helper(btf, "BPF_FUNC_task_pt_regs") &&
	       !sysctl__read("kernel.perf_event_max_stack", &most) && most >= WIRE_MAX_FRAMES;
#else
	(void)btf;
	return false;
#endif
}

/* Registers are known on x86-64 only, and a thread's stack is copied in its own context. */
static bool can_copy(const struct btf *btf, enum capture_way way)
{
#ifdef __x86_64__
	return way != CAPTURE_WAY_SWITCH_OUT && has_helper(btf, "BPF_FUNC_task_pt_regs");
#else
	(void)btf;
	(void)way;
	return false;
#endif
}

/* Room for copies of stacks, for each CPU, where copies are asked for and can be had. */
static int settle_copies(struct offcpu_bpf *skel, const struct btf *btf, enum capture_way way)
{
	struct wire_settings *settings = (void *)&skel->rodata->settings;
	int cpus = libbpf_num_possible_cpus();

	if (!can_copy(btf, way))
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

/* Opens, loads and proves one way. 0 or a negative errno, with nothing left behind. */
static int load_way(struct programs *programs, const struct wire_settings *settings,
		    const struct btf *btf, enum capture_way way, size_t nr_targets)
{
	struct wire_settings *set;
	int err;

	programs->way = way;
	programs->skel = offcpu_bpf__open();
	if (!programs->skel)
		return -errno;
	set = (struct wire_settings *)(void *)&programs->skel->rodata->settings;
	*set = *settings;
	set->walk_at_out = way == CAPTURE_WAY_SWITCH_OUT && !settings->histogram;
	programs->skel->rodata->quick_frames = has_quick_frames(btf);
	choose_programs(programs->skel, btf, way);
	err = settle_reasons(programs->skel, settings->reasons);
	if (!err)
		err = settle_histogram(programs->skel, settings->histogram);
	if (!err)
		err = settle_copies(programs->skel, btf, way);
	if (!err)
		err = bpf_map__set_max_entries(programs->skel->maps.targets,
				       nr_targets ? (__u32)nr_targets : 1);
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

static bool may_have_way(const struct btf *btf, enum capture_way way)
{
	if (way == CAPTURE_WAY_EXIT_TP)
		return tracepoint_args(btf, "sched_exit_tp") >= 1;
	if (way == CAPTURE_WAY_SWITCH_OUT)
		return true;
	return btf__find_by_name_kind(btf, "__perf_event_task_sched_in", BTF_KIND_FUNC) > 0;
}

static bool is_asked_for(enum capture_way want, enum capture_way way)
{
	if (want == CAPTURE_WAY_SWITCH_IN)
		return way != CAPTURE_WAY_SWITCH_OUT;
	return want == CAPTURE_WAY_AUTO || want == way;
}

/* Takes the first way that works, of those that are asked for. */
static int load(struct programs *programs, const struct wire_settings *settings,
		const struct btf *btf, enum capture_way want, size_t nr_targets)
{
	int first = 0, err;

	for (enum capture_way way = CAPTURE_WAY_AUTO + 1; way < CAPTURE_WAY_MAX; way++) {
		if (!is_asked_for(want, way))
			continue;
		err = -EOPNOTSUPP;
		if (may_have_way(btf, way))
			err = load_way(programs, settings, btf, way, nr_targets);
		pr_verbose("capture way %s: %s", capture_way__name(way),
			   !err			 ? "works, taken" :
			   err == -EOPNOTSUPP ? "this kernel does not have it" :
						strerror(-err));
		if (!err)
			return 0;
		/* What the kernel refuses tells more than what it does not have. */
		if (!first || first == -EOPNOTSUPP)
			first = err;
	}
	return first ? first : -EOPNOTSUPP;
}

/* Says why, and what helps. btf NULL: there is none. */
static void explain(int err, const struct btf *btf)
{
	struct refusal_facts facts = { .err = err, .has_btf = btf };
	char text[512];

	refusal_facts__read(&facts);
	if (btf) {
		facts.has_scheduler = tracepoint_args(btf, "sched_switch") >= 0;
		facts.has_task_storage = has_helper(btf, "BPF_FUNC_task_storage_get");
		facts.has_hook = err != -EOPNOTSUPP;
	}
	pr_err("%s", refusal__explain(&facts, text, sizeof(text)));
}

struct programs *programs__new(const struct wire_settings *settings, enum capture_way way,
			       size_t nr_targets, int *err)
{
	struct programs *programs = calloc(1, sizeof(*programs));
	struct btf *btf;

	if (!programs) {
		*err = -ENOMEM;
		return NULL;
	}
	programs->dummy_fd = -1;
	libbpf_set_print(print_libbpf);
	btf = btf__load_vmlinux_btf();
	if (!btf) {
		*err = errno ? -errno : -ENOENT;
		explain(*err, NULL);
		free(programs);
		return NULL;
	}
	*err = load(programs, settings, btf, way, nr_targets);
	if (*err) {
		explain(*err, btf);
		free(programs);
		programs = NULL;
	}
	btf__free(btf);
	return programs;
}

void programs__delete(struct programs *programs)
{
	if (!programs)
		return;
	bpf_link__destroy(programs->user_link);
	drop(programs);
	free(programs);
}

enum capture_way programs__way(const struct programs *programs)
{
	return programs->way;
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

int programs__add_target(struct programs *programs, enum wire_target_kind kind, uint32_t id)
{
	struct wire_target key = { .kind = kind, .id = id };
	__u32 one = 1;
	int err;

	err = bpf_map_update_elem(bpf_map__fd(programs->skel->maps.targets), &key, &one, BPF_ANY);
	return err ? -errno : 0;
}

int programs__add_cgroup(struct programs *programs, uint32_t hierarchy, uint64_t id)
{
	struct wire_cgroup key = { .id = id, .hierarchy = hierarchy };
	__u32 one = 1;
	int err;

	err = bpf_map_update_elem(bpf_map__fd(programs->skel->maps.cgroups), &key, &one, BPF_ANY);
	return err ? -errno : 0;
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

/* Reads an iterator's descriptor to its end, handing over what each read brings. */
static int read_all(int fd, programs_read_fn fn, void *ctx)
{
	static const size_t room = 256 * 1024;
	char *data = malloc(room);
	ssize_t len;
	int err = 0;

	if (!data)
		return -ENOMEM;
	while (!err) {
		len = read(fd, data, room);
		if (len < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (len <= 0) {
			err = len < 0 ? -errno : 0;
			break;
		}
		err = fn ? fn(ctx, data, (size_t)len) : 0;
	}
	free(data);
	return err;
}

static int iterate(struct bpf_program *program, programs_read_fn fn, void *ctx)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	int fd, err;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	err = fd < 0 ? -errno : 0;
	if (!err) {
		err = read_all(fd, fn, ctx);
		close(fd);
	}
	bpf_link__destroy(link);
	return err;
}

/*
 * Twice: a task that is born in the first pass to a parent that has no slot yet is found by
 * the second, at the latest.
 */
int programs__enlist(struct programs *programs, programs_read_fn fn, void *ctx)
{
	int err = iterate(programs->skel->progs.list_tasks, NULL, NULL);

	return err ? err : iterate(programs->skel->progs.list_tasks, fn, ctx);
}

int programs__begin(struct programs *programs, uint64_t *start_ns)
{
	*start_ns = clock__now_ns();
	programs->skel->bss->start_ns = *start_ns;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	programs->skel->bss->phase = WIRE_PHASE_RUNNING;
	return iterate(programs->skel->progs.list_tasks, NULL, NULL);
}

/* Any update of a map of maps returns only after an RCU grace period. */
static int wait_for_programs(struct programs *programs)
{
	int inner = bpf_map__fd(programs->skel->maps.barrier_inner);
	__u32 zero = 0;

	return bpf_map_update_elem(bpf_map__fd(programs->skel->maps.barrier), &zero, &inner,
				   BPF_ANY)
		       ? -errno
		       : 0;
}

int programs__swap(struct programs *programs)
{
	struct offcpu_bpf__bss *bss = programs->skel->bss;
	__u32 old = bss->generation & 1;
	int err;

	bss->generation = old ^ 1;
	err = wait_for_programs(programs);
	return err ? err : (int)old;
}

bool programs__has_sums(const struct programs *programs)
{
	const struct offcpu_bpf__bss *bss = programs->skel->bss;
	__u32 gen = bss->generation & 1;

	return bss->filled[gen] || bss->known[gen] || bss->told[gen];
}

uint32_t programs__sums(const struct programs *programs)
{
	const struct offcpu_bpf__bss *bss = programs->skel->bss;

	return bss->filled[bss->generation & 1];
}

unsigned int programs__filled(const struct programs *programs)
{
	const struct offcpu_bpf__bss *bss = programs->skel->bss;
	__u32 gen = bss->generation & 1;
	__u64 sums =
		100ULL * bss->filled[gen] / bpf_map__max_entries(programs->skel->maps.entries0);
	__u64 stacks =
		100ULL * bss->known[gen] / bpf_map__max_entries(programs->skel->maps.stacks0);

	__u64 reasons =
		100ULL * bss->told[gen] / bpf_map__max_entries(programs->skel->maps.reasons0);

	if (reasons > stacks)
		stacks = reasons;
	return (unsigned int)(sums > stacks ? sums : stacks);
}

struct take_sums {
	programs_sum_fn fn;
	void *ctx;
};

static int take_batch(void *ctx, const struct batch *batch, uint32_t nr)
{
	const struct wire_entry_key *keys = batch->keys;
	const struct wire_entry *values = batch->values;
	struct take_sums *take = ctx;
	int err = 0;

	for (__u32 i = 0; i < nr && !err; i++)
		err = take->fn(take->ctx, &keys[i], &values[i]);
	return err;
}

int programs__take_sums(struct programs *programs, unsigned int gen, programs_sum_fn fn, void *ctx)
{
	struct offcpu_bpf *skel = programs->skel;
	struct take_sums take = { fn, ctx };
	int err = 0;

	if (skel->bss->filled[gen])
		err = batch__take_all(gen ? skel->maps.entries1 : skel->maps.entries0, take_batch,
				      &take);
	if (!err && skel->bss->known[gen])
		err = batch__take_all(gen ? skel->maps.stacks1 : skel->maps.stacks0, NULL, NULL);
	if (!err && skel->bss->told[gen])
		err = batch__take_all(gen ? skel->maps.reasons1 : skel->maps.reasons0, NULL, NULL);
	skel->bss->told[gen] = 0;
	skel->bss->filled[gen] = 0;
	skel->bss->known[gen] = 0;
	return err;
}

int programs__close(struct programs *programs, uint64_t end_ns)
{
	programs->skel->bss->end_ns = end_ns;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	programs->skel->bss->phase = WIRE_PHASE_CLOSING;
	return wait_for_programs(programs);
}

int programs__end(struct programs *programs)
{
	programs->skel->bss->phase = WIRE_PHASE_IDLE;
	return wait_for_programs(programs);
}

int programs__report_blocked(struct programs *programs, programs_read_fn fn, void *ctx)
{
	return iterate(programs->skel->progs.report_blocked, fn, ctx);
}

int programs__open_user_frames(struct programs *programs)
{
	struct bpf_program *program = programs->skel->progs.read_user;
	int fd;

	if (!bpf_program__autoload(program))
		return -EOPNOTSUPP;
	if (!programs->user_link)
		programs->user_link = bpf_program__attach_iter(program, NULL);
	if (!programs->user_link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(programs->user_link));
	return fd < 0 ? -errno : fd;
}

pid_t programs__walking(const struct programs *programs)
{
	return (pid_t)programs->skel->bss->walking_pid;
}

int programs__skip_user_frames(struct programs *programs, pid_t pid)
{
	__u32 key = (__u32)pid, one = 1;

	return bpf_map_update_elem(bpf_map__fd(programs->skel->maps.skip_pids), &key, &one, BPF_ANY)
		       ? -errno
		       : 0;
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

/* What the kernel says of the programs; maps are dearer to ask. */
static int add_programs(const struct programs *programs, struct programs_info *info)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, programs->skel->obj)
	{
		struct bpf_prog_info prog = { 0 };
		__u32 len = sizeof(prog);

		if (bpf_program__fd(program) < 0)
			continue;
		if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &prog, &len))
			return -errno;
		info->run_ns += prog.run_time_ns;
		info->run_count += prog.run_cnt;
		if (program == programs->skel->progs.waking)
			info->missed_wakeups += prog.recursion_misses;
		else if (program == programs->skel->progs.task_born)
			info->missed_births += prog.recursion_misses;
		else
			info->recursion_misses += prog.recursion_misses;
	}
	return 0;
}

int programs__run_ns(const struct programs *programs, uint64_t *run_ns)
{
	struct programs_info info = { 0 };
	int err = add_programs(programs, &info);

	*run_ns = info.run_ns;
	return err;
}

int programs__info(const struct programs *programs, struct programs_info *info)
{
	struct bpf_map *map;
	int err;

	*info = (struct programs_info){ 0 };
	err = add_programs(programs, info);
	if (err)
		return err;
	bpf_object__for_each_map(map, programs->skel->obj) info->map_bytes +=
		accounts__map_bytes(map);
	return 0;
}

int programs__spare(const struct programs *programs)
{
	return bpf_map__fd(programs->skel->maps.spare);
}

int programs__bell(const struct programs *programs)
{
	return bpf_map__fd(programs->skel->maps.bell);
}

int64_t programs__targets_alive(const struct programs *programs)
{
	return programs->skel->bss->targets_alive;
}

uint64_t programs__births(const struct programs *programs)
{
	return programs->skel->bss->last_incarnation;
}

int programs__find_targets(struct programs *programs, uint64_t *found)
{
	int err;

	programs->skel->bss->targets_found = 0;
	err = iterate(programs->skel->progs.count_targets, NULL, NULL);
	*found = programs->skel->bss->targets_found;
	return err;
}
