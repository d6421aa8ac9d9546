/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/test_capture.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/clock.h"
#include "base/units.h"
#include "machine/machine.h"

const char *test_capture__refused(void)
{
	if (geteuid())
		return "not root: BPF programs cannot be loaded";
	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_SOCKET_FILTER, NULL) != 1)
		return "the kernel refuses BPF programs, even to root";
	return NULL;
}

static int copy_frames(struct frames *to, const struct frames *from)
{
	uint64_t *ips = NULL;

	*to = *from;
	if (from->nr) {
		ips = malloc(from->nr * sizeof(*ips));
		if (!ips)
			return -ENOMEM;
		memcpy(ips, from->ips, from->nr * sizeof(*ips));
	}
	to->ips = ips;
	return 0;
}

/* In one piece with its bytes and registers, so that one free() is enough. */
static struct user_copy *copy_user_copy(const struct user_copy *from)
{
	size_t size = sizeof(struct user_copy) + USER_COPY_REGS * sizeof(uint64_t) + from->nr;
	struct user_copy *copy = malloc(size);
	uint64_t *regs = (uint64_t *)(copy + 1);

	if (!copy)
		return NULL;
	memcpy(regs, from->regs, USER_COPY_REGS * sizeof(*regs));
	memcpy(regs + USER_COPY_REGS, from->bytes, from->nr);
	*copy = (struct user_copy){ regs, regs + USER_COPY_REGS, from->nr };
	return copy;
}

static int take_sample(void *ctx, const struct sample *sample)
{
	struct test_capture *test_capture = ctx;
	struct sample *copy;
	int err;

	if (test_capture->nr == test_capture->capacity) {
		size_t capacity = test_capture->capacity ? 2 * test_capture->capacity : 1024;
		struct sample *grown = realloc(test_capture->samples, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		test_capture->samples = grown;
		test_capture->capacity = capacity;
	}
	/*
	 * Blocks that ended before the previous drain began were due in that drain, except those
	 * that a CPU was still adding to the window it ended: these come with the next one.
	 */
	test_capture->late += sample->time < test_capture->began[1];
	test_capture->stale += sample->time < test_capture->began[2];
	copy = &test_capture->samples[test_capture->nr];
	*copy = *sample;
	copy->user.ips = NULL;
	copy->copy = NULL;
	err = copy_frames(&copy->kernel, &sample->kernel);
	if (err)
		return err;
	err = copy_frames(&copy->user, &sample->user);
	test_capture->nr++;
	if (!err && sample->copy) {
		copy->copy = copy_user_copy(sample->copy);
		if (!copy->copy)
			return -ENOMEM;
	}
	if (!err && sample->reason) {
		struct reason *reason = malloc(sizeof(*reason));

		copy->reason = reason;
		if (!reason)
			return -ENOMEM;
		*reason = *sample->reason;
	}
	return err;
}

static int take_task(void *ctx, const struct task_event *event)
{
	struct test_capture *test_capture = ctx;

	(void)event;
	test_capture->sideband++;
	return 0;
}

static int take_lost(void *ctx, uint64_t records, uint32_t cpu)
{
	struct test_capture *test_capture = ctx;

	(void)cpu;
	test_capture->lost += records;
	return 0;
}

/* The attach hook that the environment names; an unknown name is an error, not the default. */
static int choose_hook(struct capture_options *options)
{
	const char *name = getenv("DENET_TEST_HOOK");

	return name && options->stacks.hook == ATTACH_HOOK_AUTO ?
		       attach_hook__parse(&options->stacks.hook, name) :
		       0;
}

int test_capture__open(struct test_capture *test_capture, const struct capture_options *options)
{
	struct capture_options chosen = *options;
	int err = choose_hook(&chosen);

	memset(test_capture, 0, sizeof(*test_capture));
	test_capture->sink = (struct capture_sink){
		.ctx = test_capture,
		.sample = take_sample,
		.task = take_task,
		.lost = take_lost,
	};
	test_capture->machine = machine__new();
	if (!err && !test_capture->machine)
		err = -ENOMEM;
	if (err)
		return err;
	chosen.machine = test_capture->machine;
	test_capture->capture = capture__new(&chosen, &test_capture->sink, &err);
	if (!test_capture->capture)
		return err ? err : -EINVAL;
	test_capture->at_switch_out =
		capture__attach_hook(test_capture->capture) == ATTACH_HOOK_SWITCH_OUT;
	err = init_switches__read(&test_capture->init);
	return err ? err : capture__start(test_capture->capture);
}

int test_capture__open_process(struct test_capture *test_capture, struct capture_options *options,
			  const struct workload *workload)
{
	options->targets.pids = &workload->pid;
	options->targets.nr_pids = 1;
	return test_capture__open(test_capture, options);
}

int test_capture__drain(struct test_capture *test_capture)
{
	test_capture->drains++;
	test_capture->began[2] = test_capture->began[1];
	test_capture->began[1] = test_capture->began[0];
	test_capture->began[0] = clock__now_ns();
	return capture__drain(test_capture->capture);
}

int test_capture__poll(struct test_capture *test_capture, int timeout_ms, int wake_fd)
{
	int n = capture__poll(test_capture->capture, timeout_ms, wake_fd);

	if (n < 0 && n != -EINTR)
		return n;
	if (!capture__wants_drain(test_capture->capture))
		return 0;
	test_capture->wanted_drains++;
	return test_capture__drain(test_capture);
}

int test_capture__pass_time(struct test_capture *test_capture, int ms)
{
	uint64_t end = clock__now_ns() + (uint64_t)ms * NSEC_PER_MSEC;
	int err = 0;

	while (!err && clock__now_ns() < end)
		err = test_capture__poll(test_capture, 10, -1);
	return err;
}

int test_capture__run_until(struct test_capture *test_capture, struct workload *workload,
			    int window_ms, const char *word)
{
	uint64_t window = (uint64_t)window_ms * NSEC_PER_MSEC, next = clock__now_ns() + window;
	int err = workload__go(workload);

	while (!err) {
		int ended = workload__read(workload);

		if (ended < 0)
			return ended;
		if (word && !strcmp(workload->said, word))
			return 0;
		if (ended)
			return word ? -EPIPE : 0;
		err = test_capture__poll(test_capture, window_ms ? window_ms : 100, workload->out);
		if (!err && window && clock__now_ns() >= next) {
			err = test_capture__drain(test_capture);
			next = clock__now_ns() + window;
		}
	}
	return err;
}

int test_capture__run(struct test_capture *test_capture, struct workload *workload, int window_ms)
{
	int err = test_capture__run_until(test_capture, workload, window_ms, NULL);

	return err ? err : workload__finish(workload);
}

int test_capture__close(struct test_capture *test_capture)
{
	int err = capture__stop(test_capture->capture, 2000);
	struct init_switches init = { 0 };

	if (!err)
		err = init_switches__read(&init);
	test_capture->init_stretches = init_switches__stretches(&test_capture->init, &init);
	init_switches__free(&init);
	if (!err)
		err = capture__stats(test_capture->capture, &test_capture->stats);
	capture__delete(test_capture->capture);
	test_capture->capture = NULL;
	return err;
}

uint64_t test_capture__hidden(const struct test_capture *test_capture)
{
	return test_capture->at_switch_out ? test_capture->init_stretches : 0;
}

void test_capture__free(struct test_capture *test_capture)
{
	capture__delete(test_capture->capture);
	machine__delete(test_capture->machine);
	for (size_t i = 0; i < test_capture->nr; i++) {
		free((void *)test_capture->samples[i].kernel.ips);
		free((void *)test_capture->samples[i].user.ips);
		free((void *)test_capture->samples[i].reason);
		free((void *)test_capture->samples[i].copy);
	}
	free(test_capture->samples);
	init_switches__free(&test_capture->init);
	memset(test_capture, 0, sizeof(*test_capture));
}

/*
 * The function of a frame. Frames are return addresses, except for the leaf of user frames: that is
 * where the thread was, which may be the first instruction of a function. Kernel addresses are
 * negative.
 */
static const char *frame_name(const struct frames *frames, const struct symbols *symbols,
			      uint32_t i)
{
	uint64_t ip = frames->ips[i];
	bool is_user_leaf = !i && (int64_t)ip >= 0;

	return symbols__name(symbols, is_user_leaf ? ip + 1 : ip);
}

bool frames__call(const struct frames *frames, const struct symbols *symbols, const char *function)
{
	for (uint32_t i = 0; i < frames->nr; i++) {
		const char *name = frame_name(frames, symbols, i);

		if (name && !strcmp(name, function))
			return true;
	}
	return false;
}

const char *frames__leaf(const struct frames *frames, const struct symbols *symbols)
{
	const char *name = frames->nr ? frame_name(frames, symbols, 0) : NULL;

	return name ? name : "?";
}

bool test_capture__matches(const struct sample *sample, const struct session_filter *filter)
{
	if (filter->pid && sample->pid != (uint32_t)filter->pid)
		return false;
	if (filter->tid && sample->tid != (uint32_t)filter->tid)
		return false;
	if (filter->states && !strchr(filter->states, sample->state))
		return false;
	return !filter->function || frames__call(&sample->user, filter->user, filter->function);
}

struct capture_tally test_capture__sum(const struct test_capture *test_capture,
				  const struct session_filter *filter)
{
	struct capture_tally sum = { 0 };

	for (size_t i = 0; i < test_capture->nr; i++) {
		if (!test_capture__matches(&test_capture->samples[i], filter))
			continue;
		sum.count += test_capture->samples[i].count;
		sum.ns += test_capture->samples[i].period;
	}
	return sum;
}

static void frames__print(const struct frames *frames, const struct symbols *symbols)
{
	for (uint32_t i = 0; i < frames->nr; i++) {
		const char *name = symbols ? frame_name(frames, symbols, i) : NULL;

		fprintf(stderr, "#   %016" PRIx64 " %s\n", frames->ips[i], name ? name : "?");
	}
}

void sample__print(const struct sample *sample, const struct symbols *kernel,
		   const struct symbols *user)
{
	fprintf(stderr,
		"# pid %u tid %u cpu %u state %c%s period %" PRIu64 " count %" PRIu64
		" time %" PRIu64 "%s\n",
		sample->pid, sample->tid, sample->cpu, sample->state, sample->preempted ? "+" : "",
		sample->period, sample->count, sample->time,
		sample->still_blocked ? " still blocked" : "");
	frames__print(&sample->kernel, kernel);
	fprintf(stderr, "#   --\n");
	frames__print(&sample->user, user);
}

/* lost_stack is a part of accumulated, so it is not a fate of its own. */
#define OUTCOMES_SUM(stats, field)                                                                \
	((stats)->direct.field + (stats)->accumulated.field + (stats)->in_flight.field +          \
	 (stats)->not_drawn.field + (stats)->filtered_state.field + (stats)->filtered_min.field + \
	 (stats)->filtered_max.field + (stats)->filtered_blocked.field +                          \
	 (stats)->filtered_idle.field + (stats)->in_histogram.field + (stats)->lost_ring.field +  \
	 (stats)->lost_internal.field)

int64_t stats__unaccounted_count(const struct capture_stats *stats)
{
	return (int64_t)(stats->seen.count - OUTCOMES_SUM(stats, count));
}

int64_t stats__unaccounted_ns(const struct capture_stats *stats)
{
	return (int64_t)(stats->seen.ns - OUTCOMES_SUM(stats, ns));
}

void stats__print(const struct capture_stats *stats)
{
	const struct {
		const char *name;
		struct capture_tally tally;
	} lines[] = {
		{ "seen", stats->seen },
		{ "direct", stats->direct },
		{ "accumulated", stats->accumulated },
		{ "in the histogram", stats->in_histogram },
		{ "in flight", stats->in_flight },
		{ "filtered (state)", stats->filtered_state },
		{ "filtered (min)", stats->filtered_min },
		{ "filtered (max)", stats->filtered_max },
		{ "filtered (idle)", stats->filtered_idle },
		{ "filtered (blocked)", stats->filtered_blocked },
		{ "lost (ring)", stats->lost_ring },
		{ "lost (internal)", stats->lost_internal },
		{ "stack lost", stats->lost_stack },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		fprintf(stderr, "# %-18s %10" PRIu64 " %16" PRIu64 " ns\n", lines[i].name,
			lines[i].tally.count, lines[i].tally.ns);
	fprintf(stderr,
		"# unseen switches %" PRIu64 " births %" PRIu64 " deaths %" PRIu64
		" full entries %" PRIu64 " full stacks %" PRIu64 " windows %" PRIu64
		" map bytes %" PRIu64 "\n",
		stats->unseen_switches, stats->unseen_births, stats->unseen_deaths,
		stats->full_entries, stats->full_stacks, stats->windows, stats->bpf_map_bytes);
}
