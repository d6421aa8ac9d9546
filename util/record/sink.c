/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/sink.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "output/perfdata/layout.h"
#include "output/perfdata/writer.h"
#include "symbol/dso_table.h"
#include "machine/snapshot.h"
#include "session/status.h"
#include "machine/mount_ns.h"

/* How often the line on the terminal tells how far unwinding has got. */
#define PROGRESS_MS 200

/* For the budget. A sample that was drawn stands for so many blocks of its length. */
static void count(struct sink *sink, const struct sample *sample)
{
	sink->counts.ns += sample->period;
	if (sample->measured >= sink->level.threshold_ns) {
		sink->counts.above++;
		return;
	}
	sink->counts.below++;
	/* Where nothing is drawn they are sums, which the programs account for. */
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
	if (sample->user.nr && !dso_table__is_hit(sink->dso_table, (pid_t)sample->pid))
		err = mount_ns__look(sink->dso_table, (pid_t)sample->pid);
	return err ? err : dso_table__sample(sink->dso_table, sample);
}

static int follow_mmap2(struct dso_table *dso_table, const void *event, size_t size)
{
	struct layout_mmap2 map;

	if (size <= sizeof(map))
		return 0;
	memcpy(&map, event, sizeof(map));
	if (map.header.misc & PERF_RECORD_MISC_MMAP_DATA)
		return 0;
	return dso_table__map(dso_table, (pid_t)map.pid, (const char *)event + sizeof(map),
			      map.ino);
}

static int follow_task(struct dso_table *dso_table, const void *event, size_t size)
{
	struct layout_task task;

	if (size < sizeof(task))
		return 0;
	memcpy(&task, event, sizeof(task));
	if (task.header.type == PERF_RECORD_FORK)
		return dso_table__fork(dso_table, (pid_t)task.pid, (pid_t)task.ppid);
	if (task.pid == task.tid)
		dso_table__exit(dso_table, (pid_t)task.pid);
	return 0;
}

static int follow_comm(struct dso_table *dso_table, const void *event, size_t size)
{
	struct layout_comm comm;

	if (size < sizeof(comm))
		return 0;
	memcpy(&comm, event, sizeof(comm));
	if (!(comm.header.misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	dso_table__exec(dso_table, (pid_t)comm.pid);
	return mount_ns__look(dso_table, (pid_t)comm.pid);
}

static int follow(struct dso_table *dso_table, const void *event, size_t size)
{
	struct perf_event_header header;

	memcpy(&header, event, sizeof(header));
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		return follow_mmap2(dso_table, event, size);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return follow_task(dso_table, event, size);
	case PERF_RECORD_COMM:
		return follow_comm(dso_table, event, size);
	}
	return 0;
}

/* Writes a record of the side band, and has those who follow it know. */
static int pass_on(void *ctx, const void *event, size_t size)
{
	struct sink *sink = ctx;
	int err;

	/* The writer checks the record, so what follows may trust its strings. */
	err = writer__sideband(sink->writer, event, size);
	if (!err && sink->snapshot)
		err = snapshot__sideband(sink->snapshot, event, size);
	return err;
}

/* EXIT is held back; a birth forgets what is held of the task that had its id before. */
static int order(struct sink *sink, const void *event, size_t size)
{
	struct layout_task task;

	memcpy(&task.header, event, sizeof(task.header));
	if (task.header.type == PERF_RECORD_EXIT)
		return deferred_exit__hold(&sink->deferred_exit, event, size);
	if (task.header.type == PERF_RECORD_FORK && size >= sizeof(task)) {
		memcpy(&task, event, sizeof(task));
		deferred_exit__forked(&sink->deferred_exit, task.tid);
	}
	return pass_on(sink, event, size);
}

/* A record that makes no sense costs itself, not the recording. */
static int leave_out(struct sink *sink, const void *event, size_t size)
{
	struct perf_event_header header;

	memcpy(&header, event, sizeof(header));
	if (!sink->left_out++)
		pr_warn("the kernel sent a record that makes no sense (type %u, misc %#x, %zu "
			"bytes): it is left out, as are others like it",
			header.type, header.misc, size);
	return 0;
}

static int deliver(void *ctx, const void *event, size_t size, uint64_t time)
{
	struct sink *sink = ctx;
	int err = order(sink, event, size);

	if (time > sink->latest)
		sink->latest = time;
	if (err == -EINVAL)
		return leave_out(sink, event, size);
	if (!err)
		err = callchain__sideband(&sink->callchain, event, size, time);
	if (err || !sink->dso_table)
		return err;
	return follow(sink->dso_table, event, size);
}

static int sink__sideband(void *ctx, const void *event, size_t size, uint64_t time)
{
	struct sink *sink = ctx;

	sink->counts.sideband++;
	return leader_exits__follow(&sink->leader_exits, event, size, time, deliver, sink);
}

static int sink__settled(void *ctx, uint64_t time)
{
	struct sink *sink = ctx;

	return callchain__settled(&sink->callchain, time);
}

static int sink__cgroup(void *ctx, uint64_t id, const char *path)
{
	struct sink *sink = ctx;

	return writer__cgroup(sink->writer, id, path);
}

static int sink__lost(void *ctx, uint64_t records, uint32_t cpu)
{
	struct sink *sink = ctx;

	callchain__lost(&sink->callchain);
	return writer__lost(sink->writer, records, 0, cpu);
}

/*
 * Not while a sample is out that is older than what was there at the last one: the next round
 * will do, or the end of the file.
 */
static int finish_round(struct sink *sink)
{
	if (callchain__oldest(&sink->callchain) < sink->latest_round)
		return 0;
	sink->latest_round = sink->latest;
	return writer__finished_round(sink->writer);
}

static int sink__round(void *ctx)
{
	struct sink *sink = ctx;
	int err = deferred_exit__round(&sink->deferred_exit, sink->latest, pass_on, sink);

	if (err)
		return err;
	if (sink->dso_table)
		dso_table__round(sink->dso_table);
	if (sink->snapshot)
		snapshot__round(sink->snapshot);
	callchain__round(&sink->callchain);
	return finish_round(sink);
}

int sink__finish_callchains(struct sink *sink, int deadline_ms, struct status *status)
{
	uint64_t deadline = clock__now_ns() + (uint64_t)deadline_ms * NSEC_PER_MSEC, now;
	size_t left;
	int err = 0;

	while (!err && (left = callchain__pending(&sink->callchain))) {
		now = clock__now_ns();
		if (now >= deadline)
			return callchain__abandon(&sink->callchain);
		status__show_unwinding(status, left);
		err = callchain__poll(&sink->callchain, PROGRESS_MS);
	}
	return err;
}

int sink__finish(struct sink *sink)
{
	int err = deferred_exit__round(&sink->deferred_exit, sink->latest, pass_on, sink);

	/* Those of the last window, too: no sample comes after them. */
	return err ? err : deferred_exit__round(&sink->deferred_exit, sink->latest, pass_on, sink);
}

void sink__set_writer(struct sink *sink, struct writer *writer)
{
	sink->writer = sink->events.writer = writer;
}

void sink__free(struct sink *sink)
{
	leader_exits__free(&sink->leader_exits);
	deferred_exit__free(&sink->deferred_exit);
	callchain__free(&sink->callchain);
}

int sink__init(struct sink *sink, struct capture_sink *capture_sink, enum callchain_mode mode)
{
	*capture_sink = (struct capture_sink){
		.ctx = sink,
		.sample = sink__sample,
		.sideband = sink__sideband,
		.settled = sink__settled,
		.cgroup = sink__cgroup,
		.lost = sink__lost,
		.round = sink__round,
	};
	return callchain__init(&sink->callchain, mode, sample_events__write, &sink->events);
}
