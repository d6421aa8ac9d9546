/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/sink.h"

#include <errno.h>

#include "base/log.h"
#include "capture/tracepoint_rings.h"
#include "output/perfdata/writer.h"
#include "symbol/dso_table.h"
#include "machine/machine.h"
#include "machine/snapshot.h"
#include "session/status.h"
#include "symbol/mount_ns.h"

/* Counts a sample for rate control. A drawn sample stands for several blocks of its length. */
static void count(struct sink *sink, const struct sample *sample)
{
	/* Rate control is for blocks. */
	if (sample->kind == SAMPLE_ONCPU)
		return;
	if (sample->measured >= sink->level.threshold_ns) {
		sink->counts.above++;
		return;
	}
	sink->counts.below++;
	/* Without a period they are sums, which the BPF programs account for. */
	if (sink->level.period_ns && sample->kind == SAMPLE_OFFCPU)
		sink->counts.below_ns += sample->measured;
	if (sample->measured && sample->measured >= sink->level.lower_ns)
		sink->counts.between += sample->period / sample->measured;
}

static int sink__sample(void *ctx, const struct sample *sample)
{
	struct sink *sink = ctx;
	int err;

	count(sink, sample);
	err = callchain__sample(&sink->callchain, sample);
	if (err)
		return err;
	if (sample->time > sink->latest)
		sink->latest = sample->time;
	if (!sink->dso_table)
		return 0;
	if (sample->user.nr &&
	    !dso_table__is_hit(sink->dso_table, (pid_t)sample->pid, sample->time))
		err = mount_ns__look(sink->dso_table, (pid_t)sample->pid, sample->time);
	return err ? err : dso_table__sample(sink->dso_table, sample);
}

static int follow(struct sink *sink, const struct task_event *event)
{
	int err = dso_table__follow(sink->dso_table, event);

	if (err || event->kind != TASK_EVENT_EXEC)
		return err;
	return mount_ns__look(sink->dso_table, event->pid, event->time);
}

void sink__want(struct sink *sink, pid_t pid)
{
	struct process *process = machine__process(sink->machine, pid);

	if (process)
		process->wanted = true;
}

bool sink__tells(const struct sink *sink, pid_t pid)
{
	const struct process *process = machine__process(sink->machine, pid);

	return !sink->selective || !process || process->wanted || process->told;
}

/*
 * True if the event goes to the file. A process that reuses a pid of the file goes there from its
 * birth on: otherwise readers would take it for the former one.
 */
static bool is_told(struct sink *sink, const struct task_event *event)
{
	struct process *process = machine__process(sink->machine, event->pid);

	if (sink->selective && process && event->kind == TASK_EVENT_FORK &&
	    event->pid != event->ppid && idmap__find(&sink->told_pids, (uint32_t)event->pid))
		process->told = true;
	return sink__tells(sink, event->pid);
}

/* EXIT is deferred; a birth drops the deferred EXIT of the former task of that id. */
static int write_event(struct sink *sink, const struct task_event *event)
{
	bool alive = process__lives(machine__process(sink->machine, event->pid));
	int err;

	if (!is_told(sink, event))
		return 0;
	err = deferred_exit__follow(&sink->deferred_exit, event, alive);
	if (err || event->kind == TASK_EVENT_EXIT)
		return err;
	/* At the FORK of a process, hotspot replaces its mappings by those of its parent. */
	if (event->kind == TASK_EVENT_FORK && !event->record && event->pid == event->tid)
		return 0;
	return writer__task_event(sink->writer, event);
}

static int sink__task(void *ctx, const struct task_event *event)
{
	struct sink *sink = ctx;
	int err = write_event(sink, event);

	if (event->record)
		sink->counts.sideband++;
	if (event->time > sink->latest)
		sink->latest = event->time;
	if (err)
		return err;
	callchain__task(&sink->callchain, event);
	return sink->dso_table ? follow(sink, event) : 0;
}

int sink__synthesized(struct sink *sink, const struct task_event *event)
{
	int err = machine__handle(sink->machine, event);

	return err < 0 ? err : sink__task(sink, event);
}

static int sink__settled(void *ctx, uint64_t time)
{
	struct sink *sink = ctx;

	return callchain__settled(&sink->callchain, time);
}

static int sink__cgroup(void *ctx, uint64_t id, const char *path)
{
	const struct task_event event = { .kind = TASK_EVENT_CGROUP,
					  .cgroup = { .id = id, .path = path } };
	struct sink *sink = ctx;

	return writer__task_event(sink->writer, &event);
}

static int sink__lost(void *ctx, uint64_t records, uint32_t cpu)
{
	struct sink *sink = ctx;

	callchain__lost(&sink->callchain);
	return writer__lost(sink->writer, records, 0, cpu);
}

/*
 * Writes no FINISHED_ROUND while a pending sample is older than the latest event at the last one:
 * the next round, or the end of the file, will do.
 */
static int finish_round(struct sink *sink)
{
	if (callchain__oldest(&sink->callchain) < sink->latest_round)
		return 0;
	sink->latest_round = sink->latest;
	return writer__finished_round(sink->writer);
}

static int write_exit(void *ctx, const void *record, size_t size)
{
	const struct task_event event = {
		.kind = TASK_EVENT_EXIT, .record = record, .size = size
	};
	const struct sink *sink = ctx;

	return writer__task_event(sink->writer, &event);
}

static int sink__round(void *ctx)
{
	struct sink *sink = ctx;
	int err = deferred_exit__round(&sink->deferred_exit, sink->latest, write_exit, sink);

	if (err)
		return err;
	if (sink->dso_table)
		dso_table__round(sink->dso_table);
	callchain__round(&sink->callchain);
	return finish_round(sink);
}

static void show_progress(void *ctx, size_t left)
{
	status__show_unwinding(ctx, left);
}

int sink__finish_callchains(struct sink *sink, int deadline_ms, struct status *status)
{
	return callchain__finish(&sink->callchain, deadline_ms, show_progress, status);
}

int sink__finish(struct sink *sink)
{
	int err = deferred_exit__round(&sink->deferred_exit, sink->latest, write_exit, sink);

	/* Twice: those of the last window go, too, since no sample comes after them. */
	if (!err)
		err = deferred_exit__round(&sink->deferred_exit, sink->latest, write_exit, sink);
	return err;
}

void sink__set_writer(struct sink *sink, struct writer *writer)
{
	sink->writer = sink->events.writer = writer;
}

void sink__free(struct sink *sink)
{
	deferred_exit__free(&sink->deferred_exit);
	callchain__free(&sink->callchain);
	wait_names__free(&sink->wait_names);
	wait_stats__free(&sink->wait_stats);
	idmap__free(&sink->told_pids);
}

static int write_known(void *ctx, const struct task_event *event)
{
	const struct sink *sink = ctx;

	return writer__task_event(sink->writer, event);
}

/*
 * At the first sample of a process: writes its names and mappings as of the last round, the
 * earliest time that a sample may still need, and later ones.
 */
static int tell_process(struct sink *sink, pid_t pid, uint64_t time)
{
	struct process *process = machine__process_at(sink->machine, pid, time);
	uint64_t since = sink->callchain.last_round;

	if (!process || process->told || process->wanted)
		return 0;
	process->told = true;
	if (!idmap__get(&sink->told_pids, (uint32_t)pid))
		return -ENOMEM;
	return snapshot__tell_process(process, since > process->born ? since : process->born,
				      write_known, sink);
}

static int sink__hit(void *ctx, const struct tracepoint_hit *hit)
{
	const struct sample sample = {
		.time = hit->time,
		.period = 1,
		.cgroup = hit->cgroup,
		.pid = (uint32_t)hit->pid,
		.tid = (uint32_t)hit->tid,
		.cpu = hit->cpu,
	};
	struct sink *sink = ctx;
	int err = sink->selective ? tell_process(sink, hit->pid, hit->time) : 0;

	if (err)
		return err;
	if (hit->time > sink->latest)
		sink->latest = hit->time;
	return writer__hit(sink->writer, hit->id, &sample, hit->data, hit->size);
}

/* Notes the names of the threads with the longest idle waits at that time, for the last lines. */
static void name_longest(struct sink *sink, const struct sample *sample)
{
	for (size_t i = 0; i < SAMPLE_EVENTS_LONGEST; i++) {
		struct sample_events_wait *wait = &sink->events.longest[i];
		const struct thread *thread;
		const char *comm;

		if (wait->tid != sample->tid || *wait->comm)
			continue;
		thread = machine__thread_at(sink->machine, (pid_t)sample->tid, sample->time);
		comm = thread ? thread__comm_at(thread, sample->time) : NULL;
		if (comm)
			log__escape(wait->comm, sizeof(wait->comm), comm);
	}
}

static int write_sample(struct sink *sink, const struct sample *sample)
{
	int err = sample_events__write(&sink->events, sample);

	if (!err)
		chain_stats__sample(&sink->chain_stats, sink->machine, sample);
	if (err || sample->kind != SAMPLE_OFFCPU)
		return err;
	if (!sample->idle)
		return wait_stats__add(&sink->wait_stats, sink->machine, sample);
	name_longest(sink, sample);
	return 0;
}

/* Called once the side band of the sample's time is complete. */
static int give(void *ctx, const struct sample *sample)
{
	struct sink *sink = ctx;
	struct sample named = *sample;
	struct reason reason;
	int err = 0;

	if (sink->selective)
		err = tell_process(sink, (pid_t)sample->pid, sample->time);
	if (err)
		return err;
	if (!sample->reason || !sink->events.reasons)
		return write_sample(sink, sample);
	reason = *sample->reason;
	wait_names__fill(&sink->wait_names, sample, &reason);
	named.reason = &reason;
	return write_sample(sink, &named);
}

int sink__init(struct sink *sink, struct machine *machine, struct capture_sink *capture_sink,
	       enum callchain_mode mode)
{
	sink->machine = machine;
	sink->wait_names.machine = machine;
	*capture_sink = (struct capture_sink){
		.ctx = sink,
		.sample = sink__sample,
		.task = sink__task,
		.settled = sink__settled,
		.cgroup = sink__cgroup,
		.hit = sink__hit,
		.lost = sink__lost,
		.round = sink__round,
	};
	return callchain__init(&sink->callchain, mode, machine, give, sink);
}
