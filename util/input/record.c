/* SPDX-License-Identifier: GPL-2.0-only */
#include "input/record.h"
#include "input/rest.h"

#include <errno.h>
#include <string.h>

/* Fields of every event, and fields that some events have besides. */
#define SAMPLE_ALWAYS                                                                   \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)
#define SAMPLE_PERHAPS                                                              \
	(PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | \
	 LAYOUT_COUNTED | PERF_SAMPLE_CGROUP)

int input_record__header(const void *data, size_t size, struct layout_header *header)
{
	uint64_t magic;

	if (size < sizeof(magic))
		return -ENODATA;
	memcpy(&magic, data, sizeof(magic));
	if (magic == __builtin_bswap64(LAYOUT_MAGIC))
		return -ENOTSUP;
	if (magic != LAYOUT_MAGIC)
		return -EINVAL;
	if (size < sizeof(*header))
		return -ENODATA;
	memcpy(header, data, sizeof(*header));
	return header->size == sizeof(*header) && header->attr_size == sizeof(struct layout_attr)
		       ? 0 : -EPROTO;
}

bool input_record__is_pipe(const void *data, size_t size)
{
	struct layout_pipe_header header;

	if (size < sizeof(header))
		return false;
	memcpy(&header, data, sizeof(header));
	return header.magic == LAYOUT_MAGIC && header.size == sizeof(header);
}

int input_record__event(const void *attr, uint64_t id, struct input_event *event)
{
	struct perf_event_attr full = { 0 };

	memcpy(&full, attr, LAYOUT_ATTR_SIZE);
	if (full.size != LAYOUT_ATTR_SIZE || !full.sample_id_all ||
	    (full.sample_type & SAMPLE_ALWAYS) != SAMPLE_ALWAYS ||
	    full.sample_type & ~(SAMPLE_ALWAYS | SAMPLE_PERHAPS))
		return -EINVAL;
	*event = (struct input_event){
		.id = id,
		.type = full.type,
		.config = full.config,
		.sample_type = full.sample_type,
		.regs_user = full.sample_regs_user,
	};
	return 0;
}

int input_record__check(const void *record, size_t size, struct perf_event_header *header)
{
	if (size < sizeof(*header))
		return -EINVAL;
	memcpy(header, record, sizeof(*header));
	return header->size >= sizeof(*header) && header->size <= size ? 0 : -EINVAL;
}

int input_record__sample_id(const void *record, size_t size, uint64_t *id)
{
	if (size < sizeof(struct layout_sample))
		return -EINVAL;
	memcpy(id, (const char *)record + offsetof(struct layout_sample, id), sizeof(*id));
	return 0;
}

/* A side of the chain goes from its marker to the next one. */
static int split_chain(const uint64_t *chain, uint64_t nr, struct input_sample *sample)
{
	struct frames *side = NULL;

	if (nr > 1 && chain[nr - 2] == PERF_CONTEXT_KERNEL)
		sample->time_kind = time_kind__at(chain[nr - 1]);
	if (sample->time_kind != TIME_KINDS)
		nr -= 2;
	for (uint64_t i = 0; i < nr; i++) {
		if (chain[i] == PERF_CONTEXT_KERNEL)
			side = &sample->kernel;
		else if (chain[i] == PERF_CONTEXT_USER)
			side = &sample->user;
		else if (chain[i] >= PERF_CONTEXT_MAX || !side)
			return -EINVAL;
		else if (!side->nr++)
			side->ips = &chain[i];
		else if (side->ips + side->nr - 1 != &chain[i])
			return -EINVAL;
	}
	sample->not_sampled = sample->kernel.nr == 1 && !sample->user.nr &&
			      *sample->kernel.ips == time_kind__address(TIME_NOT_SAMPLED);
	if (sample->not_sampled)
		sample->kernel.nr = 0;
	return 0;
}

/* u32 size and the data, which together are a multiple of 8 bytes. */
static int take_raw(struct rest *rest, struct input_sample *sample)
{
	const void *size = rest__take(rest, sizeof(sample->raw_size));

	if (!size)
		return -EINVAL;
	memcpy(&sample->raw_size, size, sizeof(sample->raw_size));
	sample->raw = rest__take(rest, sample->raw_size);
	return sample->raw && rest->size % 8 == 0 ? 0 : -EINVAL;
}

static int take_regs(struct rest *rest, uint64_t mask)
{
	uint64_t abi;

	if (rest__copy(rest, &abi, sizeof(abi)))
		return -EINVAL;
	if (!abi)
		return 0;
	return rest__take(rest, 8ULL * (uint64_t)__builtin_popcountll(mask)) ? 0 : -EINVAL;
}

static int take_stack(struct rest *rest, struct input_sample *sample)
{
	uint64_t size, used;

	if (rest__copy(rest, &size, sizeof(size)))
		return -EINVAL;
	if (!size)
		return 0;
	sample->has_stack = true;
	return rest__take(rest, size) && !rest__copy(rest, &used, sizeof(used)) ? 0 : -EINVAL;
}

static int take_state(struct rest *rest, struct input_sample *sample)
{
	uint64_t transaction;

	if (rest__copy(rest, &transaction, sizeof(transaction)))
		return -EINVAL;
	sample->state = LAYOUT_STATE_LETTER(transaction);
	sample->preempted = transaction & PERF_TXN_ASYNC;
	return 0;
}

/* The fields behind the chain, in the order that perf has given them. */
static int take_perhaps(struct rest *rest, const struct input_event *event,
			struct input_sample *sample)
{
	const uint64_t type = event->sample_type;

	if (type & PERF_SAMPLE_RAW && take_raw(rest, sample))
		return -EINVAL;
	if (type & PERF_SAMPLE_REGS_USER && take_regs(rest, event->regs_user))
		return -EINVAL;
	if (type & PERF_SAMPLE_STACK_USER && take_stack(rest, sample))
		return -EINVAL;
	if (type & PERF_SAMPLE_WEIGHT && rest__copy(rest, &sample->count, sizeof(sample->count)))
		return -EINVAL;
	if (type & PERF_SAMPLE_TRANSACTION && take_state(rest, sample))
		return -EINVAL;
	if (type & PERF_SAMPLE_CGROUP && rest__copy(rest, &sample->cgroup, sizeof(sample->cgroup)))
		return -EINVAL;
	return rest->size ? -EINVAL : 0;
}

int input_record__sample(const void *record, size_t size, const struct input_event *event,
			 struct input_sample *sample)
{
	struct rest rest = { record, size };
	struct layout_sample fixed;
	const void *chain;

	chain = rest__take(&rest, sizeof(fixed));
	if (!chain || size % 8)
		return -EINVAL;
	memcpy(&fixed, chain, sizeof(fixed));
	if (fixed.header.type != PERF_RECORD_SAMPLE || fixed.header.size != size ||
	    fixed.id != event->id || fixed.nr > rest.size / sizeof(uint64_t))
		return -EINVAL;
	*sample = (struct input_sample){
		.id = fixed.id,
		.pid = fixed.pid,
		.tid = fixed.tid,
		.time = fixed.time,
		.cpu = fixed.cpu,
		.period = fixed.period,
		.count = 1,
		.state = '?',
		.time_kind = TIME_KINDS,
	};
	chain = rest__take(&rest, fixed.nr * sizeof(uint64_t));
	if (split_chain(chain, fixed.nr, sample))
		return -EINVAL;
	return take_perhaps(&rest, event, sample);
}

int input_record__event_name(const void *record, size_t size, uint64_t *id, const char **name)
{
	struct layout_event_update update;

	if (size < sizeof(update))
		return -EINVAL;
	memcpy(&update, record, sizeof(update));
	*name = (const char *)record + sizeof(update);
	*id = update.id;
	return update.header.type == LAYOUT_EVENT_UPDATE &&
		       update.type == LAYOUT_EVENT_UPDATE_NAME &&
		       memchr(*name, '\0', size - sizeof(update)) ? 0 : -EINVAL;
}

int input_record__build_id(const void *record, size_t size, const unsigned char **id, size_t *len,
			   const char **path)
{
	struct layout_build_id build_id;

	if (size < sizeof(build_id))
		return -EINVAL;
	memcpy(&build_id, record, sizeof(build_id));
	*id = (const unsigned char *)record + offsetof(struct layout_build_id, id);
	*len = build_id.id_size;
	*path = (const char *)record + sizeof(build_id);
	return *len && *len <= sizeof(build_id.id) &&
		       memchr(*path, '\0', size - sizeof(build_id)) ? 0 : -EINVAL;
}
