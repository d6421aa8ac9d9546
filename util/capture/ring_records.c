/* SPDX-License-Identifier: GPL-2.0-only */
/* Records of the rings, of the programs and of the kernel, on their way to the sink. */
#include "capture/internal.h"

#include <errno.h>
#include <linux/perf_event.h>

#include "base/clock.h"
#include "base/units.h"
#include "capture/decode.h"
#include "capture/idle.h"
#include "machine/machine.h"

/* Interval in ms of checks whether targets are alive after a false ring of the bell. */
#define ALIVE_MS 200
/* How often it is looked whether modules have come or gone. */
#define MODULES_NS NSEC_PER_SEC

/*
 * Decides by the kernel chain whether the sample is a page fault, and whether it waits for work.
 * Without a reason, the chain also gives the system call.
 */
static const char *match_idle(struct capture *capture, const struct sample *sample,
			      struct wait_place place)
{
	const struct idle_table *table = capture->options.filter.idle;
	struct reason by_chain;

	if (sample->reason)
		capture->reason.fault = place.fault;
	else if (!place.call && !sample->kthread)
		return NULL;
	by_chain = (struct reason){ .nr = -1, .call = place.call ? place.call : "",
				    .fault = place.fault };
	return idle_table__match(table ? table : &capture->idle_rules, sample,
				 sample->reason && *sample->reason->call ? sample->reason :
									  &by_chain,
				 place.leaf);
}

/* Adds a drawn block's share to the variance of the total: see sample_weight__of(). */
static void count_drawn(struct capture_stats *stats, const struct sample *sample)
{
	stats->drawn.count++;
	stats->drawn.ns += sample->period;
	stats->variance += (double)sample->period * (double)(sample->period - sample->measured);
}

/* Waits are judged by their cut kernel frames, whether or not the sample keeps these. */
static void cut_kernel_chain(struct capture *capture, struct sample *sample)
{
	const struct capture_stacks *stacks = &capture->options.stacks;
	struct frames chain = sample->kernel;
	struct wait_place place;

	kernel_chain__cut(capture->kernel_chain, sample->kind, &chain);
	if (sample->kind == SAMPLE_OFFCPU) {
		place = wait_places__find(&capture->places, &chain);
		sample->idle = match_idle(capture, sample, place);
		sample->call = place.fault ? "a page fault" : place.entry;
		sample->for_any = place.for_any && sample->state == 'S';
	}
	if (!stacks->kernel)
		sample->kernel = (struct frames){ 0 };
	else if (!stacks->raw_frames)
		sample->kernel = chain;
	if (sample->kernel.truncated)
		capture->stats.truncated_kernel += sample->count;
}

int capture__deliver(struct capture *capture, struct sample *sample, enum delivery delivery)
{
	if (sample->time > capture->stats.end_ns)
		capture->stats.end_ns = sample->time;
	if (sample->user.truncated)
		capture->stats.truncated_user += sample->count;
	cut_kernel_chain(capture, sample);
	if (sample->idle && capture->options.filter.idle) {
		capture->idle[delivery].count += sample->count;
		capture->idle[delivery].ns += sample->measured;
		return 0;
	}
	if (sample->kind == SAMPLE_OFFCPU && sample->period != sample->measured)
		count_drawn(&capture->stats, sample);
	return capture->sink.sample ? capture->sink.sample(capture->sink.ctx, sample) : 0;
}

/* Reads a single block, together with the reason and the copy before it. */
static int read_block(struct capture *capture, const void *data, size_t size,
		      const struct reason *reason)
{
	const struct wire_block *block;
	struct user_copy copy;
	struct sample sample;

	if (decode__block(data, size, &sample, &block) < 0)
		return -EINVAL;
	if (sample.kind == SAMPLE_ONCPU) {
		sample.period = sample.measured =
			running__tell(&capture->running, block->incarnation, block->ns);
		if (!sample.period)
			return 0;
	}
	sample.reason = reason;
	if (block->flags & WIRE_BLOCK_COPY_LOST)
		capture->stats.without_copy++;
	if (user_stacks__find(&capture->user_stacks, block, &copy))
		sample.copy = &copy;
	return capture__deliver(capture, &sample, DELIVERY_DIRECT);
}

/* A reason: of the next block, or of sums. */
static int read_reason(struct capture *capture, const char *data, size_t size)
{
	const struct wire_reason *wire = (const struct wire_reason *)(const void *)data;
	int len = reason__decode(data, size, &capture->reason);

	if (len < 0)
		return len;
	if (decode__kind(data + len, size - (size_t)len) != WIRE_BLOCK)
		return reason_store__add(&capture->reasons[wire->generation & 1], wire);
	return read_block(capture, data + len, size - (size_t)len, &capture->reason);
}

/* A record of the wire: the raw data of a sample. */
static int read_wire(struct capture *capture, const char *raw, size_t size, unsigned int cpu)
{
	struct decoded_cgroup cgroup;
	struct decoded_stack stack;
	struct thread_waits thread;
	struct wire_run run;

	/* In the ring the raw data is off by 4 bytes from an 8-byte boundary. */
	capture->aligned.len = 0;
	if (buffer__append(&capture->aligned, raw, size))
		return -ENOMEM;
	switch (decode__kind(capture->aligned.data, size)) {
	case WIRE_REASON:
		return read_reason(capture, capture->aligned.data, size);
	case WIRE_BLOCK:
		return read_block(capture, capture->aligned.data, size, NULL);
	case WIRE_COPY:
		return user_stacks__keep(&capture->user_stacks, cpu, &capture->aligned);
	case WIRE_STACK:
		if (decode__stack(capture->aligned.data, size, &stack) < 0)
			return -EINVAL;
		return stacks__add(capture->stacks[stack.generation & 1], stack.id, &stack.frames);
	case WIRE_THREAD:
		if (decode__thread(capture->aligned.data, size, &thread) < 0)
			return -EINVAL;
		waiting_threads__add(&capture->waiting, &thread);
		return 0;
	case WIRE_RUN:
		if (decode__run(capture->aligned.data, size, &run) < 0)
			return -EINVAL;
		return running__take(&capture->running, &run);
	case WIRE_CGROUP_BORN:
		if (decode__cgroup(capture->aligned.data, size, &cgroup) < 0)
			return -EINVAL;
		if (!capture->sink.cgroup)
			return 0;
		return capture->sink.cgroup(capture->sink.ctx, cgroup.id, cgroup.path);
	default:
		return -EINVAL;
	}
}

static int read_output(struct capture *capture, const struct ring_record *record)
{
	size_t size;
	const char *raw = ring_record__raw(record, &size);

	return raw ? read_wire(capture, raw, size, record->cpu) : -EINVAL;
}

/* Copies of stacks, the only records that depend on their CPU, don't come this way. */
static int read_overflow_ring(void *ctx, const void *data, size_t size)
{
	return read_wire(ctx, data, size, 0);
}

static int read_lost(struct capture *capture, const struct ring_record *record)
{
	struct {
		struct perf_event_header header;
		uint64_t id;
		uint64_t lost;
	} lost;

	if (record->size < sizeof(lost))
		return -EINVAL;
	memcpy(&lost, record->header, sizeof(lost));
	capture->stats.lost_records += lost.lost;
	if (!capture->sink.lost)
		return 0;
	return capture->sink.lost(capture->sink.ctx, lost.lost, record->cpu);
}

/* True if a hit counts: of a target, on one of its CPUs, in the recording. */
static bool is_wanted_hit(const struct capture *capture, const struct tracepoint_hit *hit)
{
	const struct process *process;

	if (hit->pid <= 0 || hit->pid == capture->own_pid || hit->time < capture->stats.start_ns ||
	    (capture->stopped && hit->time > capture->stats.end_ns))
		return false;
	process = machine__process(capture->options.machine, hit->pid);
	return !(process && process->left_out) &&
	       traced_threads__has(&capture->traced, hit->tid, hit->cpu);
}

static int pass_hit(struct capture *capture, const void *record, size_t size)
{
	struct tracepoint_hit hit;

	if (tracepoint_hit__decode(record, size, capture->options.cgroups, &hit))
		return -EINVAL;
	if (!capture->sink.hit || !is_wanted_hit(capture, &hit))
		return 0;
	capture->stats.hits++;
	return capture->sink.hit(capture->sink.ctx, &hit);
}

/* With --wakers the side band is of all; see mark_target() in capture.c. */
static bool is_target(const struct capture *capture, pid_t pid)
{
	const struct process *process;

	if (capture->options.targets.all || !capture->all_tasks)
		return true;
	process = machine__process(capture->options.machine, pid);
	return process && process->wanted;
}

/* A record of the side band, or of a tracepoint, in the order of time. */
static int pass_sideband(void *ctx, const void *record, size_t size)
{
	const struct perf_event_header *header = record;
	struct capture *capture = ctx;
	struct task_event event;
	int ret;

	if (header->type == PERF_RECORD_SAMPLE)
		return pass_hit(capture, record, size);
	if (!sideband_filter__decode(&capture->sideband_filter, record, size, &event))
		return 0;
	/* Births and deaths decide about later hits. */
	ret = capture->tracepoints ? traced_threads__follow(&capture->traced, &event) : 0;
	if (!ret)
		ret = sideband_filter__take(&capture->sideband_filter, &event);
	if (ret > 0 && event.kind == TASK_EVENT_MMAP && is_target(capture, event.pid))
		user_tables__follow(&capture->user_tables, &event);
	if (ret <= 0 || !capture->sink.task)
		return ret;
	return capture->sink.task(capture->sink.ctx, &event);
}

/* Queued, since another CPU's ring may hold older records of the same process. */
static int queue_task_record(struct capture *capture, const struct perf_event_header *header,
			     size_t size)
{
	const void *record = header;
	uint64_t time = 0;

	if (!capture->options.machine)
		return 0;
	/* A record too short for a time is dropped when its turn comes. */
	task_event__time(record, size, &time);
	if (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID && header->type == PERF_RECORD_MMAP2) {
		capture->aligned.len = 0;
		if (buffer__append(&capture->aligned, record, size))
			return -ENOMEM;
		sideband_filter__unmark(capture->aligned.data);
		record = capture->aligned.data;
	}
	return ordered_events__add(&capture->ordered_events, record, size, time);
}

static int read_sideband(struct capture *capture, const struct ring_record *record)
{
	switch (record->header->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return queue_task_record(capture, record->header, record->size);
	default:
		return 0; /* THROTTLE and the like are of no use here */
	}
}

/* Each event of a ring has its reader. LOST counts for the ring, whichever event it belongs to. */
static int read_record(void *ctx, const struct ring_record *record)
{
	static int (*const read_event[RING_EVENTS])(struct capture *capture,
						    const struct ring_record *record) = {
		[RING_SIDEBAND] = read_sideband,
		[RING_BPF_OUTPUT] = read_output,
	};
	struct capture *capture = ctx;

	if (record->header->type == PERF_RECORD_LOST)
		return read_lost(capture, record);
	return read_event[record->event](capture, record);
}

int capture__give_sideband(struct capture *capture, uint64_t until)
{
	int err = ordered_events__give(&capture->ordered_events, until, pass_sideband, capture);

	if (err || !capture->sink.settled)
		return err;
	return capture->sink.settled(capture->sink.ctx, until);
}

/* Queued in the order of time among births and deaths, which decide whether it counts. */
static int queue_hit(void *ctx, const void *record, size_t size, uint64_t time)
{
	struct capture *capture = ctx;

	return ordered_events__add(&capture->ordered_events, record, size, time);
}

int capture__read_rings(struct capture *capture)
{
	uint64_t began = clock__now_ns();
	int nr, more, err;

	nr = tracepoint_rings__read(capture->tracepoints, queue_hit, capture);
	if (nr < 0)
		return nr;
	more = rings__read(capture->rings, read_record, capture);
	nr = more < 0 ? more : nr + more;
	more = nr < 0 ? 0
		      : overflow_ring__read(capture->overflow_ring, read_overflow_ring, capture);
	nr = more < 0 ? more : nr + more;
	err = capture__give_sideband(capture, began);
	return nr < 0 || !err ? nr : err;
}

/* Until then, frames in all modules are left to the kernel's walk. */
static void update_modules(struct capture *capture)
{
	uint64_t now = clock__now_ns();

	if (now < capture->next_modules)
		return;
	capture->next_modules = now + MODULES_NS;
	offcpu__update_modules(capture->offcpu);
}

int capture__poll(struct capture *capture, int timeout_ms, int wake_fd)
{
	int err;

	if (!capture->options.targets.all && !rings__awaits_bell(capture->rings) &&
	    (timeout_ms < 0 || timeout_ms > ALIVE_MS))
		timeout_ms = ALIVE_MS;
	err = rings__wait(capture->rings,
			  user_tables__timeout(&capture->user_tables, timeout_ms), wake_fd);
	if (err == RINGS_CPUS_CHANGED)
		err = capture__update_rings(capture);
	capture__adopt_strays(capture);
	update_modules(capture);
	if (!err)
		err = user_tables__update(&capture->user_tables);
	return err ? err : capture__read_rings(capture);
}
