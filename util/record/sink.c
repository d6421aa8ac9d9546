/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/sink.h"

#include <string.h>

#include "perfdata/layout.h"
#include "perfdata/writer.h"
#include "record/hits.h"
#include "record/wait_event.h"

/*
 * Sleeping daemons would drown the rest of a recording of the whole machine; where the user
 * named the targets, a thread that never ran may be the very deadlock that is looked for.
 */
static int sink__sample(void *ctx, const struct sample *sample)
{
	struct sink *sink = ctx;
	bool idle = sink->idle_apart && sample->never_ran;
	int err;

	err = writer__sample(sink->writer, idle ? WRITER_OFFCPU_IDLE : WRITER_OFFCPU_TIME, sample);
	if (!err && sink->reasons && sample->reason && !idle)
		err = wait_event__write(sink->writer, sample);
	if (err)
		return err;
	if (idle) {
		sink->idle.count++;
		sink->idle.ns += sample->period;
	} else {
		sink->ns += sample->period;
		sink->samples++;
		sink->still_blocked += sample->still_blocked;
	}
	return sink->hits ? hits__sample(sink->hits, sample) : 0;
}

static int follow_mmap2(struct hits *hits, const void *event, size_t size)
{
	struct layout_mmap2 map;

	if (size <= sizeof(map))
		return 0;
	memcpy(&map, event, sizeof(map));
	return hits__map(hits, (pid_t)map.pid, (const char *)event + sizeof(map), map.ino);
}

static int follow_task(struct hits *hits, const void *event, size_t size)
{
	struct layout_task task;

	if (size < sizeof(task))
		return 0;
	memcpy(&task, event, sizeof(task));
	if (task.header.type == PERF_RECORD_FORK)
		return hits__fork(hits, (pid_t)task.pid, (pid_t)task.ppid);
	if (task.pid == task.tid)
		hits__exit(hits, (pid_t)task.pid);
	return 0;
}

static void follow_comm(struct hits *hits, const void *event, size_t size)
{
	struct layout_comm comm;

	if (size < sizeof(comm))
		return;
	memcpy(&comm, event, sizeof(comm));
	if (comm.header.misc & PERF_RECORD_MISC_COMM_EXEC)
		hits__exec(hits, (pid_t)comm.pid);
}

static int follow(struct hits *hits, const void *event, size_t size)
{
	struct perf_event_header header;

	memcpy(&header, event, sizeof(header));
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		return follow_mmap2(hits, event, size);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return follow_task(hits, event, size);
	case PERF_RECORD_COMM:
		follow_comm(hits, event, size);
		return 0;
	}
	return 0;
}

static int sink__sideband(void *ctx, const void *event, size_t size, uint64_t time)
{
	struct sink *sink = ctx;
	int err;

	(void)time;
	/* The writer checks the record, so what follows may trust its strings. */
	err = writer__sideband(sink->writer, event, size);
	if (err || !sink->hits)
		return err;
	return follow(sink->hits, event, size);
}

static int sink__lost(void *ctx, uint64_t records, uint32_t cpu)
{
	struct sink *sink = ctx;

	return writer__lost(sink->writer, records, 0, cpu);
}

static int sink__round(void *ctx)
{
	struct sink *sink = ctx;

	if (sink->hits)
		hits__round(sink->hits);
	return writer__finished_round(sink->writer);
}

void sink__init(struct sink *sink, struct capture_sink *capture_sink)
{
	*capture_sink = (struct capture_sink){
		.ctx = sink,
		.sample = sink__sample,
		.sideband = sink__sideband,
		.lost = sink__lost,
		.round = sink__round,
	};
}
