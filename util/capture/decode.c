/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/decode.h"

#include <errno.h>
#include <string.h>

char decode__state(uint32_t state)
{
	static const char letters[WIRE_STATE_MAX] = {
		[WIRE_STATE_R] = 'R', [WIRE_STATE_S] = 'S', [WIRE_STATE_D] = 'D',
		[WIRE_STATE_T] = 'T', [WIRE_STATE_t] = 't', [WIRE_STATE_I] = 'I',
		[WIRE_STATE_P] = 'P', [WIRE_STATE_X] = 'X', [WIRE_STATE_OTHER] = '?',
	};

	return state < WIRE_STATE_MAX ? letters[state] : '?';
}

/* The head, if the buffer holds the whole record of its size and at least min bytes of it. */
static const struct wire_head *check_head(const void *data, size_t size, uint32_t kind, size_t min)
{
	const struct wire_head *head = data;

	if (size < sizeof(*head) || head->kind != kind || head->size < min || head->size > size)
		return NULL;
	return head;
}

/* True if nr frames fit behind a struct of min bytes in a record of size bytes. */
static bool frames_fit(size_t size, size_t min, size_t nr)
{
	return nr <= (size - min) / sizeof(uint64_t);
}

uint32_t decode__kind(const void *data, size_t size)
{
	const struct wire_head *head = data;

	return size < sizeof(*head) ? 0 : head->kind;
}

static enum sample_kind kind_of(uint32_t flags)
{
	if (flags & WIRE_BLOCK_ON_CPU)
		return SAMPLE_ONCPU;
	return flags & WIRE_BLOCK_WAKEUP ? SAMPLE_WAKEUP : SAMPLE_OFFCPU;
}

/* How the walk by tables ended, if the frames are of one. */
static enum chain_end end_of(uint32_t flags)
{
	static const enum chain_end ends[USER_WALK_ENDS] = {
		[USER_WALK_NO_TABLE] = CHAIN_NO_TABLE,
		[USER_WALK_NO_CFI] = CHAIN_NO_CFI,
		[USER_WALK_UNREADABLE] = CHAIN_UNREADABLE,
		[USER_WALK_NO_RULE] = CHAIN_NO_RULE,
		[USER_WALK_BUSY] = CHAIN_BUSY,
		[USER_WALK_FORBIDDEN] = CHAIN_FORBIDDEN,
	};
	uint32_t end = flags >> WIRE_BLOCK_WALK_SHIFT;

	return flags & WIRE_BLOCK_BY_TABLES && end < USER_WALK_ENDS ? ends[end] : CHAIN_WHOLE;
}

/* Scales a part of a block to the time that the block stands for. */
static uint64_t weigh(uint64_t part, const struct wire_block *block)
{
	if (!part || block->weight == block->ns || !block->ns)
		return part;
	return (uint64_t)((unsigned __int128)part * block->weight / block->ns);
}

int decode__block(const void *data, size_t size, struct sample *sample,
		  const struct wire_block **out)
{
	const struct wire_block *block = data;
	const uint64_t *ips = (const uint64_t *)(block + 1);

	if (!check_head(data, size, WIRE_BLOCK, sizeof(*block)) ||
	    !frames_fit(block->head.size, sizeof(*block),
			(size_t)block->nr_kernel + block->nr_user))
		return -EINVAL;
	*sample = (struct sample){
		.kind = kind_of(block->flags),
		.time = block->time,
		.period = block->weight,
		.measured = block->ns,
		.runqueue = weigh(block->runqueue_ns, block),
		.count = 1,
		.cgroup = block->cgroup,
		.pid = block->pid,
		.tid = block->tid,
		.cpu = block->cpu,
		.state = decode__state(block->state),
		.preempted = block->flags & WIRE_BLOCK_PREEMPTED,
		.kthread = block->flags & WIRE_BLOCK_KTHREAD,
		.handed_over = block->flags & WIRE_BLOCK_HANDED_OVER,
		.by_tables = block->flags & WIRE_BLOCK_BY_TABLES,
		.user_end = end_of(block->flags),
		.still_blocked = block->flags & WIRE_BLOCK_IN_FLIGHT,
		.never_ran = block->flags & WIRE_BLOCK_NEVER_RAN,
		.kernel = { ips, block->nr_kernel, block->flags & WIRE_BLOCK_TRUNC_KERNEL },
		.user = { ips + block->nr_kernel, block->nr_user,
			  block->flags & WIRE_BLOCK_TRUNC_USER },
	};
	*out = block;
	return (int)block->head.size;
}

int decode__stack(const void *data, size_t size, struct decoded_stack *stack)
{
	const struct wire_stack *wire = data;

	if (!check_head(data, size, WIRE_STACK, sizeof(*wire)) ||
	    !frames_fit(wire->head.size, sizeof(*wire), wire->nr))
		return -EINVAL;
	*stack = (struct decoded_stack){
		.id = wire->id,
		.generation = wire->generation,
		.user = wire->user,
		.frames = { (const uint64_t *)(wire + 1), wire->nr, false },
	};
	return (int)wire->head.size;
}

int decode__user(const void *data, size_t size, struct decoded_user *user)
{
	const struct wire_user *wire = data;

	if (!check_head(data, size, WIRE_USER, sizeof(*wire)) ||
	    !frames_fit(wire->head.size, sizeof(*wire), wire->nr))
		return -EINVAL;
	*user = (struct decoded_user){
		.incarnation = wire->incarnation,
		.since = wire->since,
		.tid = wire->tid,
		.compat = wire->compat,
		.by_tables = wire->by_tables,
		.forbidden = wire->forbidden,
		.owner = wire->owner,
		.owner_shared = wire->owner_shared,
		.frames = { (const uint64_t *)(wire + 1), wire->nr, wire->truncated },
	};
	memcpy(user->title, wire->title, strnlen(wire->title, sizeof(wire->title) - 1));
	return (int)wire->head.size;
}

int decode__copy(const void *data, size_t size, struct decoded_copy *copy)
{
	const struct wire_copy *wire = data;

	if (!check_head(data, size, WIRE_COPY, sizeof(*wire)))
		return -EINVAL;
	*copy = (struct decoded_copy){
		.incarnation = wire->incarnation,
		.time = wire->time,
		.copy = { (const uint64_t *)wire->regs, wire + 1,
			  wire->head.size - (uint32_t)sizeof(*wire) },
	};
	return (int)wire->head.size;
}

int decode__thread(const void *data, size_t size, struct thread_waits *thread)
{
	const struct wire_thread *wire = data;

	if (!check_head(data, size, WIRE_THREAD, sizeof(*wire)))
		return -EINVAL;
	*thread = (struct thread_waits){
		.pid = (pid_t)wire->pid,
		.tid = (pid_t)wire->tid,
		.runnable_ns = wire->runnable_ns,
		.throttled_ns = wire->throttled_ns,
	};
	memcpy(thread->comm, wire->comm, strnlen(wire->comm, sizeof(thread->comm) - 1));
	return (int)wire->head.size;
}

int decode__run(const void *data, size_t size, struct wire_run *run)
{
	if (!check_head(data, size, WIRE_RUN, sizeof(*run)))
		return -EINVAL;
	memcpy(run, data, sizeof(*run));
	return (int)run->head.size;
}

void decode__not_sampled(const struct wire_run *run, uint64_t period, struct sample *sample)
{
	*sample = (struct sample){
		.kind = SAMPLE_ONCPU,
		.time = run->time,
		.period = period,
		.measured = period,
		.not_sampled = true,
		.cgroup = run->cgroup,
		.pid = run->pid,
		.tid = run->tid,
		.cpu = run->cpu,
		.state = decode__state(WIRE_STATE_R),
		.kthread = run->flags & WIRE_BLOCK_KTHREAD,
	};
}

int decode__cgroup(const void *data, size_t size, struct decoded_cgroup *cgroup)
{
	const struct wire_cgroup_born *wire = data;
	const char *path = (const char *)(wire + 1);

	if (!check_head(data, size, WIRE_CGROUP_BORN, sizeof(*wire)) ||
	    !memchr(path, '\0', wire->head.size - sizeof(*wire)))
		return -EINVAL;
	*cgroup = (struct decoded_cgroup){ .id = wire->id, .path = path };
	return (int)wire->head.size;
}

void decode__entry(const struct wire_entry_key *key, const struct wire_entry *entry,
		   struct sample *sample)
{
	*sample = (struct sample){
		.kind = kind_of(key->flags),
		.time = entry->time,
		.period = entry->ns,
		.measured = entry->ns,
		.runqueue = entry->runqueue_ns,
		.count = entry->count,
		.cgroup = key->cgroup,
		.pid = key->pid,
		.tid = key->tid,
		.cpu = entry->cpu,
		.state = decode__state(key->state),
		.preempted = key->flags & WIRE_BLOCK_PREEMPTED,
		.kthread = key->flags & WIRE_BLOCK_KTHREAD,
		.handed_over = key->flags & WIRE_BLOCK_HANDED_OVER,
		.by_tables = key->flags & WIRE_BLOCK_BY_TABLES,
		.user_end = end_of(key->flags),
		.kernel.truncated = key->flags & WIRE_BLOCK_TRUNC_KERNEL,
		.user.truncated = key->flags & WIRE_BLOCK_TRUNC_USER,
	};
}
