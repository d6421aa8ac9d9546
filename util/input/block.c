/* SPDX-License-Identifier: GPL-2.0-only */
#include "input/block.h"

#include <errno.h>
#include <string.h>

const struct input_event *input_events__find(const struct input_events *events, uint64_t id)
{
	for (size_t i = 0; i < events->nr; i++) {
		if (events->all[i].id == id)
			return &events->all[i];
	}
	return NULL;
}

/* Of a writer that was killed, tracepoints have a stand-in of another type. */
bool input_block__knows(const struct input_event *event)
{
	switch (event->id) {
	case WRITER_OFFCPU_TIME:
	case WRITER_OFFCPU_IDLE:
	case WRITER_RUNQUEUE_TIME:
	case WRITER_WAKEUP_TIME:
	case WRITER_ONCPU_TIME:
		return event->type == PERF_TYPE_SOFTWARE;
	case WRITER_OFFCPU_WAIT:
		return event->type == PERF_TYPE_TRACEPOINT &&
		       event->sample_type & PERF_SAMPLE_RAW;
	default:
		return false;
	}
}

bool input_block__goes_on(const void *first, size_t size, size_t more, const void *record,
			  size_t record_size)
{
	struct layout_sample head, next;

	if (size < sizeof(head) || record_size < sizeof(next))
		return false;
	memcpy(&head, first, sizeof(head));
	memcpy(&next, record, sizeof(next));
	if (head.header.type != PERF_RECORD_SAMPLE || head.tid != next.tid ||
	    head.time != next.time)
		return false;
	if (next.id == WRITER_RUNQUEUE_TIME)
		return !more && (head.id == WRITER_OFFCPU_TIME || head.id == WRITER_OFFCPU_IDLE);
	return next.id == WRITER_OFFCPU_WAIT && head.id != WRITER_WAKEUP_TIME &&
	       head.id != WRITER_ONCPU_TIME;
}

/* The event of a sample: in a file of one event, the chain determines it. */
static enum writer_event event_of(const struct input_sample *part)
{
	switch (part->time_kind) {
	case TIME_KIND_IDLE:
		return WRITER_OFFCPU_IDLE;
	case TIME_KIND_RUNNABLE:
		return WRITER_RUNQUEUE_TIME;
	case TIME_KIND_RUNNING:
		return WRITER_ONCPU_TIME;
	default:
		return (enum writer_event)part->id;
	}
}

static enum sample_kind kind_of(enum writer_event event)
{
	switch (event) {
	case WRITER_WAKEUP_TIME:
		return SAMPLE_WAKEUP;
	case WRITER_ONCPU_TIME:
		return SAMPLE_ONCPU;
	default:
		return SAMPLE_OFFCPU;
	}
}

static void take_first(struct input_block *block, const struct input_sample *part)
{
	const enum writer_event event = event_of(part);
	struct sample *sample = &block->sample;

	*sample = (struct sample){
		.kind = kind_of(event),
		.time = part->time,
		.period = part->period,
		.runqueue = event == WRITER_RUNQUEUE_TIME ? part->period : 0,
		.count = part->count,
		.cgroup = part->cgroup,
		.pid = part->pid,
		.tid = part->tid,
		.cpu = part->cpu,
		.state = part->state,
		.preempted = part->preempted,
		.not_sampled = part->not_sampled,
		.idle = event == WRITER_OFFCPU_IDLE ? "" : NULL,
		.kernel = part->kernel,
		.user = part->user,
	};
	block->has_stack = part->has_stack;
}

static int take_wait(struct input_block *block, const struct trace_fields *fields,
		     const struct input_sample *part)
{
	int err = trace_fields__wait(fields, part->raw, part->raw_size, &block->wait);

	if (err)
		return err == -ENOENT ? 0 : err;
	block->sample.reason = &block->wait.reason;
	return 0;
}

static int take_more(struct input_block *block, const struct trace_fields *fields,
		     const struct input_sample *part)
{
	if (part->id == WRITER_OFFCPU_WAIT)
		return take_wait(block, fields, part);
	if (part->period > UINT64_MAX - block->sample.period)
		return -EINVAL;
	block->sample.period += part->period;
	block->sample.runqueue += part->period;
	return 0;
}

static int decode_part(const struct input_events *events, const void *record, size_t size,
		       struct input_sample *part)
{
	const struct input_event *event;
	uint64_t id;

	if (input_record__sample_id(record, size, &id))
		return -EINVAL;
	event = input_events__find(events, id);
	return event ? input_record__sample(record, size, event, part) : -EINVAL;
}

int input_block__decode(const struct input_events *events, const struct trace_fields *fields,
			const void *first, size_t size, const void *more, size_t more_size,
			struct input_block *block)
{
	const char *at = more;
	struct perf_event_header header;
	struct input_sample part;
	int err = decode_part(events, first, size, &part);

	if (err)
		return err;
	take_first(block, &part);
	while (more_size && !err) {
		err = input_record__check(at, more_size, &header);
		if (!err)
			err = decode_part(events, at, header.size, &part);
		if (!err)
			err = take_more(block, fields, &part);
		at += header.size;
		more_size -= err ? more_size : header.size;
	}
	block->sample.measured = block->sample.period;
	return err;
}
