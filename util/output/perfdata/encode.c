/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/encode.h"

#include <errno.h>
#include <string.h>

/* Longest names, without NUL. perf reads names into buffers of these sizes. */
#define COMM_LIMIT 15
#define PATH_LIMIT (PATH_MAX - 1)
#define EVENT_NAME_LIMIT 255
#define SYMBOL_LIMIT 255
/* A build-id record has 36 bytes before its path, 4088 of room for it at most, and 4 behind. */
#define BUILD_ID_PATH_LIMIT (PATH_MAX - 9)
/* perf shows 127 frames (kernel.perf_event_max_stack): so many, and an outermost one. */
#define ROOTED_FRAMES 126

/* A record being written: front, name or chain, trailer. */
struct record {
	struct perf_event_header header;
	const void *front; /* the fixed part, without its header */
	size_t front_size;
	const char *name; /* NULL: no name */
	size_t name_limit;
	const struct layout_sample_id *trailer; /* NULL: none */
};

static size_t aligned(size_t size)
{
	return (size + LAYOUT_ALIGN - 1) & ~(size_t)(LAYOUT_ALIGN - 1);
}

/* Appends a record in one piece: reserves room for all of it before writing a byte. */
static int append(struct buffer *out, struct record *record)
{
	size_t before = sizeof(record->header) + record->front_size;
	size_t trailer = record->trailer ? sizeof(*record->trailer) : 0;
	size_t name_len = record->name ? strnlen(record->name, record->name_limit) : 0;
	/* The room of a name is a multiple of 8 wherever it begins: pprof's converter insists. */
	size_t body = aligned(before + (record->name ? aligned(name_len + 1) : 0));
	size_t size = body + trailer;
	char *at = buffer__reserve(out, size);

	if (!at)
		return -ENOMEM;
	record->header.size = (uint16_t)size;
	memset(at, 0, size);
	memcpy(at, &record->header, sizeof(record->header));
	if (record->front_size)
		memcpy(at + sizeof(record->header), record->front, record->front_size);
	if (name_len)
		memcpy(at + before, record->name, name_len);
	if (trailer)
		memcpy(at + body, record->trailer, trailer);
	out->len += size;
	return 0;
}

/* The arguments of append() for a fixed struct: the bytes behind its header. */
#define FRONT(object)                                                        \
	.front = (const char *)&(object) + sizeof(struct perf_event_header), \
	.front_size = sizeof(object) - sizeof(struct perf_event_header)

struct chain {
	uint32_t kernel;
	uint32_t user;
	size_t entries; /* with context markers */
	uint64_t root;	/* a kernel address as the outermost frame; 0: none */
};

/* The frames of both sides that fit into a record: the roots of the user side are cut first. */
static struct chain chain_of(const struct sample *sample, size_t max_entries)
{
	struct chain chain = { .kernel = sample->kernel.nr, .user = sample->user.nr };

	if (chain.kernel > max_entries - 1)
		chain.kernel = (uint32_t)(max_entries - 1);
	chain.entries = chain.kernel ? chain.kernel + 1 : 0;
	if (chain.entries + 2 > max_entries)
		chain.user = 0;
	else if (chain.user > max_entries - chain.entries - 1)
		chain.user = (uint32_t)(max_entries - chain.entries - 1);
	chain.entries += chain.user ? chain.user + 1 : 0;
	return chain;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The same with one more frame at the root, behind a marker of its own. */
static struct chain rooted_chain_of(const struct sample *sample, uint64_t root)
{
	struct chain chain = { .root = root };

	chain.kernel = least(sample->kernel.nr, ROOTED_FRAMES);
	chain.user = least(sample->user.nr, ROOTED_FRAMES - chain.kernel);
	chain.entries = chain.kernel + chain.user + !!chain.kernel + !!chain.user + 2;
	return chain;
}

/* Writes a context marker and its frames; returns the address of the next entry. */
static char *put_side(char *at, uint64_t context, const uint64_t *ips, uint32_t nr)
{
	if (!nr)
		return at;
	memcpy(at, &context, sizeof(context));
	memcpy(at + sizeof(context), ips, nr * sizeof(*ips));
	return at + sizeof(context) + nr * sizeof(*ips);
}

/* Appends a sample. Returns the address of its tail, behind the chain; NULL: no memory. */
static char *put_sample(struct buffer *out, uint64_t id, const struct sample *sample,
			struct chain chain, size_t tail)
{
	size_t size = sizeof(struct layout_sample) + chain.entries * sizeof(uint64_t) + tail;
	struct layout_sample fixed = {
		.header = { .type = PERF_RECORD_SAMPLE,
			    .misc = chain.kernel || (chain.root && !chain.user)
					    ? PERF_RECORD_MISC_KERNEL
					    : PERF_RECORD_MISC_USER,
			    .size = (uint16_t)size },
		.id = id,
		.ip = chain.kernel ? sample->kernel.ips[0]
		      : chain.user ? sample->user.ips[0]
		      : sample->copy ? sample->copy->regs[USER_REG_PC]
				   : chain.root,
		.pid = sample->pid,
		.tid = sample->tid,
		.time = sample->time,
		.cpu = sample->cpu,
		.period = sample->period,
		.nr = chain.entries,
	};
	char *at = buffer__reserve(out, size);

	if (!at)
		return NULL;
	memcpy(at, &fixed, sizeof(fixed));
	at += sizeof(fixed);
	at = put_side(at, (uint64_t)PERF_CONTEXT_KERNEL, sample->kernel.ips, chain.kernel);
	at = put_side(at, (uint64_t)PERF_CONTEXT_USER, sample->user.ips, chain.user);
	at = put_side(at, (uint64_t)PERF_CONTEXT_KERNEL, &chain.root, !!chain.root);
	out->len += size;
	return at;
}

/* Greatest number of chain entries with so many bytes behind the chain. */
static size_t most_entries(size_t tail)
{
	return (LAYOUT_RECORD_MAX - sizeof(struct layout_sample) - tail) / sizeof(uint64_t);
}

/* Size of the fields behind registers and stack. */
static size_t counted_size(bool cgroup, const struct sample *sample)
{
	return sizeof(struct layout_counted) + (cgroup ? sizeof(sample->cgroup) : 0);
}

static void put_counted(char *at, bool cgroup, const struct sample *sample)
{
	const struct layout_counted counted = {
		.weight = sample->count,
		.transaction = LAYOUT_STATE(sample->state, sample->preempted),
	};

	memcpy(at, &counted, sizeof(counted));
	if (cgroup)
		memcpy(at + sizeof(counted), &sample->cgroup, sizeof(sample->cgroup));
}

static int append_sample(struct buffer *out, uint64_t id, bool cgroup, const struct sample *sample,
			 struct chain chain)
{
	char *at = put_sample(out, id, sample, chain, counted_size(cgroup, sample));

	if (!at)
		return -ENOMEM;
	put_counted(at, cgroup, sample);
	return 0;
}

int encode__sample(struct buffer *out, uint64_t id, bool cgroup, const struct sample *sample)
{
	size_t most = most_entries(counted_size(cgroup, sample));

	return append_sample(out, id, cgroup, sample, chain_of(sample, most));
}

int encode__rooted_sample(struct buffer *out, uint64_t id, bool cgroup, uint64_t root,
			  const struct sample *sample)
{
	return append_sample(out, id, cgroup, sample, rooted_chain_of(sample, root));
}

static char *put_u64(char *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

/* The DWARF number of register i in perf's order: on arm64 they are the same. */
static int reg_in_perfs_order(int i)
{
#ifdef __aarch64__
	return i;
#else
	static const uint8_t order[LAYOUT_NR_REGS] = { 0, 3, 2,	 1,  4,	 5,  6,	 7, 16,
						       8, 9, 10, 11, 12, 13, 14, 15 };

	return order[i];
#endif
}

/* REGS_USER and STACK_USER; a stack of no bytes has no second size. */
static char *put_copy(char *at, const struct user_copy *copy, uint32_t bytes)
{
	if (!copy)
		return put_u64(put_u64(at, PERF_SAMPLE_REGS_ABI_NONE), 0);
	at = put_u64(at, PERF_SAMPLE_REGS_ABI_64);
	for (int i = 0; i < LAYOUT_NR_REGS; i++)
		at = put_u64(at, copy->regs[reg_in_perfs_order(i)]);
	at = put_u64(at, bytes);
	if (!bytes)
		return at;
	memcpy(at, copy->bytes, bytes);
	return put_u64(at + bytes, bytes);
}

int encode__stack_sample(struct buffer *out, uint64_t id, bool cgroup, const struct sample *sample)
{
	size_t tail = 2 * sizeof(uint64_t) + counted_size(cgroup, sample), room;
	struct chain chain = chain_of(sample, most_entries(tail));
	uint32_t bytes = 0;
	char *at;

	if (sample->copy) {
		tail += LAYOUT_NR_REGS * sizeof(uint64_t);
		chain.entries -= chain.user ? chain.user + 1 : 0;
		chain.user = 0;
		room = (most_entries(tail) - chain.entries) * sizeof(uint64_t);
		bytes = sample->copy->nr & ~7U;
		if (bytes + sizeof(uint64_t) > room)
			bytes = (uint32_t)(room - sizeof(uint64_t));
		tail += bytes ? bytes + sizeof(uint64_t) : 0;
	}
	at = put_sample(out, id, sample, chain, tail);
	if (!at)
		return -ENOMEM;
	put_counted(put_copy(at, sample->copy, bytes), cgroup, sample);
	return 0;
}

int encode__raw_sample(struct buffer *out, uint64_t id, bool cgroup, const struct sample *sample,
		       const void *raw, size_t size)
{
	uint32_t padded = (uint32_t)(aligned(sizeof(padded) + size) - sizeof(padded));
	size_t tail = cgroup ? sizeof(sample->cgroup) : 0;
	size_t total = sizeof(struct layout_sample) + sizeof(padded) + padded + tail;
	struct layout_sample fixed = {
		.header = { .type = PERF_RECORD_SAMPLE,
			    .misc = sample->kernel.nr ? PERF_RECORD_MISC_KERNEL
						      : PERF_RECORD_MISC_USER,
			    .size = (uint16_t)total },
		.id = id,
		.ip = sample->kernel.nr ? sample->kernel.ips[0] : 0,
		.pid = sample->pid,
		.tid = sample->tid,
		.time = sample->time,
		.cpu = sample->cpu,
		.period = sample->period,
	};
	char *at;

	if (size > LAYOUT_RECORD_MAX || total > LAYOUT_RECORD_MAX)
		return -E2BIG;
	at = buffer__reserve(out, total);
	if (!at)
		return -ENOMEM;
	memset(at, 0, total);
	memcpy(at, &fixed, sizeof(fixed));
	memcpy(at + sizeof(fixed), &padded, sizeof(padded));
	memcpy(at + sizeof(fixed) + sizeof(padded), raw, size);
	if (cgroup)
		memcpy(at + total - tail, &sample->cgroup, tail);
	out->len += total;
	return 0;
}

/* A record of the kernel. The id is the last field of its trailer, whatever its event requests. */
static int copy_record(struct buffer *out, uint64_t id, const struct task_event *event)
{
	int err = buffer__append(out, event->record, event->size);

	if (!err)
		memcpy(out->data + out->len - sizeof(id), &id, sizeof(id));
	return err;
}

static int encode_comm(struct buffer *out, const struct layout_sample_id *trailer, const char *comm)
{
	struct layout_comm fixed = { .pid = trailer->pid, .tid = trailer->tid };
	struct record record = { .header = { .type = PERF_RECORD_COMM },
				 FRONT(fixed),
				 .name = comm,
				 .name_limit = COMM_LIMIT,
				 .trailer = trailer };

	return append(out, &record);
}

/* The kernel reports a fork from the parent. */
static int encode_fork(struct buffer *out, struct layout_sample_id *trailer,
		       const struct task_event *event)
{
	struct layout_task fixed = { .pid = (uint32_t)event->pid,
				     .ppid = (uint32_t)event->ppid,
				     .tid = (uint32_t)event->tid,
				     .ptid = (uint32_t)event->ptid };
	struct record record = { .header = { .type = PERF_RECORD_FORK },
				 FRONT(fixed),
				 .trailer = trailer };

	trailer->pid = fixed.ppid;
	trailer->tid = fixed.ptid;
	return append(out, &record);
}

static int encode_mmap2(struct buffer *out, const struct layout_sample_id *trailer,
			const struct task_map *map)
{
	struct layout_mmap2 fixed = {
		.pid = trailer->pid,
		.tid = trailer->tid,
		.start = map->start,
		.len = map->len,
		.pgoff = map->pgoff,
		.maj = map->maj,
		.min = map->min,
		.ino = map->ino,
		.ino_generation = map->generation,
		.prot = map->prot,
		.flags = map->flags,
	};
	struct record record = { .header = { .type = PERF_RECORD_MMAP2,
					     .misc = PERF_RECORD_MISC_USER },
				 FRONT(fixed),
				 .name = map->path ? map->path : "",
				 .name_limit = PATH_LIMIT,
				 .trailer = trailer };

	if (map->data)
		record.header.misc |= PERF_RECORD_MISC_MMAP_DATA;
	return append(out, &record);
}

/* MMAP of pid -1 in kernel mode. */
static int encode_kernel_mmap(struct buffer *out, struct layout_sample_id *trailer,
			      const struct task_map *map)
{
	struct layout_mmap fixed = { .pid = UINT32_MAX,
				     .start = map->start,
				     .len = map->len,
				     .pgoff = map->pgoff };
	struct record record = { .header = { .type = PERF_RECORD_MMAP,
					     .misc = PERF_RECORD_MISC_KERNEL },
				 FRONT(fixed),
				 .name = map->path,
				 .name_limit = PATH_LIMIT,
				 .trailer = trailer };

	trailer->pid = UINT32_MAX;
	trailer->tid = 0;
	return append(out, &record);
}

static int encode_cgroup(struct buffer *out, const struct layout_sample_id *trailer,
			 const struct task_event *event)
{
	struct layout_cgroup fixed = { .id = event->cgroup.id };
	struct record record = { .header = { .type = PERF_RECORD_CGROUP },
				 FRONT(fixed),
				 .name = event->cgroup.path,
				 .name_limit = PATH_LIMIT,
				 .trailer = trailer };

	return append(out, &record);
}

int encode__task_event(struct buffer *out, uint64_t id, const struct task_event *event)
{
	struct layout_sample_id trailer = { .pid = (uint32_t)event->pid,
					    .tid = (uint32_t)event->tid,
					    .time = event->time,
					    .id = id };

	if (event->record)
		return copy_record(out, id, event);
	switch (event->kind) {
	case TASK_EVENT_FORK:
		return encode_fork(out, &trailer, event);
	case TASK_EVENT_COMM:
		return encode_comm(out, &trailer, event->comm);
	case TASK_EVENT_MMAP:
		return encode_mmap2(out, &trailer, &event->map);
	case TASK_EVENT_KERNEL_MMAP:
		return encode_kernel_mmap(out, &trailer, &event->map);
	case TASK_EVENT_CGROUP:
		return encode_cgroup(out, &trailer, event);
	default:
		return -EINVAL;
	}
}

int encode__kernel_symbol(struct buffer *out, uint64_t id, uint64_t addr, uint32_t len,
			  const char *name)
{
	const struct layout_sample_id trailer = { .pid = UINT32_MAX, .id = id };
	struct layout_ksymbol fixed = {
		.addr = addr,
		.len = len,
		.type = PERF_RECORD_KSYMBOL_TYPE_OOL,
	};
	struct record record = { .header = { .type = PERF_RECORD_KSYMBOL },
				 FRONT(fixed),
				 .name = name,
				 .name_limit = SYMBOL_LIMIT,
				 .trailer = &trailer };

	return append(out, &record);
}

int encode__lost(struct buffer *out, uint64_t id, uint64_t records, uint64_t time, uint32_t cpu)
{
	struct layout_lost fixed = { .id = id,
				     .lost = records,
				     .sample_id = { .time = time, .cpu = cpu, .id = id } };
	struct record record = { .header = { .type = PERF_RECORD_LOST }, FRONT(fixed) };

	return append(out, &record);
}

int encode__finished_round(struct buffer *out)
{
	struct record record = { .header = { .type = LAYOUT_FINISHED_ROUND } };

	return append(out, &record);
}

int encode__event_name(struct buffer *out, uint64_t id, const char *name)
{
	struct layout_event_update fixed = { .type = LAYOUT_EVENT_UPDATE_NAME, .id = id };
	struct record record = { .header = { .type = LAYOUT_EVENT_UPDATE },
				 FRONT(fixed),
				 .name = name,
				 .name_limit = EVENT_NAME_LIMIT };

	return append(out, &record);
}

int encode__header_attr(struct buffer *out, uint64_t id, const unsigned char *attr)
{
	struct layout_header_attr fixed = { .id = id };
	struct record record = { .header = { .type = LAYOUT_HEADER_ATTR }, FRONT(fixed) };

	memcpy(fixed.attr, attr, sizeof(fixed.attr));
	return append(out, &record);
}

int encode__tracing_data(struct buffer *out, const void *data, size_t size)
{
	struct layout_tracing_data fixed = {
		.header = { .type = LAYOUT_HEADER_TRACING_DATA, .size = sizeof(fixed) },
		.size = (uint32_t)aligned(size),
	};
	char *at = buffer__reserve(out, sizeof(fixed) + fixed.size);

	if (!at)
		return -ENOMEM;
	memset(at, 0, sizeof(fixed) + fixed.size);
	memcpy(at, &fixed, sizeof(fixed));
	memcpy(at + sizeof(fixed), data, size);
	out->len += sizeof(fixed) + fixed.size;
	return 0;
}

int encode__header_feature(struct buffer *out, unsigned int feature, const void *data, size_t size)
{
	struct layout_header_feature fixed = {
		.header = { .type = LAYOUT_HEADER_FEATURE },
		.feature = feature,
	};
	size_t total;
	char *at;

	if (size > LAYOUT_RECORD_MAX - sizeof(fixed))
		return -E2BIG;
	total = aligned(sizeof(fixed) + size);
	at = buffer__reserve(out, total);
	if (!at)
		return -ENOMEM;
	fixed.header.size = (uint16_t)total;
	memset(at, 0, total);
	memcpy(at, &fixed, sizeof(fixed));
	if (size)
		memcpy(at + sizeof(fixed), data, size);
	out->len += total;
	return 0;
}

int encode__build_id(struct buffer *out, bool kernel, const char *path, const unsigned char *id,
		     size_t len)
{
	/* pid is that of the machine, not of the process; a pid of 0 would mean a guest. */
	struct layout_build_id fixed = { .pid = -1, .id_size = (uint8_t)len };
	struct record record = { .header = { .type = LAYOUT_HEADER_BUILD_ID,
					     .misc = kernel ? PERF_RECORD_MISC_KERNEL
							    : PERF_RECORD_MISC_USER },
				 FRONT(fixed),
				 .name = path,
				 .name_limit = BUILD_ID_PATH_LIMIT };

	if (!len || len > sizeof(fixed.id))
		return -EINVAL;
	memcpy(fixed.id, id, len);
	record.header.misc |= LAYOUT_MISC_BUILD_ID_SIZE;
	return append(out, &record);
}

size_t encode__whole_records(const void *data, size_t size)
{
	struct perf_event_header header;
	size_t at = 0;

	while (size - at >= sizeof(header)) {
		memcpy(&header, (const char *)data + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > size - at)
			break;
		at += header.size;
	}
	return at;
}
