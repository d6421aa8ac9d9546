/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies of user registers and stacks, for user space to unwind: most binaries are built without
 * frame pointers. All of it is pruned unless requested.
 */
#ifndef DENET_COPY_BPF_H
#define DENET_COPY_BPF_H

#include "maps.bpf.h"
#include "regs.bpf.h"

#define COPY_CHUNKS ((WIRE_MAX_COPY + WIRE_PAGE - 1) / WIRE_PAGE)
#define COPY_ROOM (COPY_CHUNKS * WIRE_PAGE)
#define ITER_COPY_ROOM (8 * WIRE_PAGE)
#define BRIDGE_COPY_BYTES 8192U /* of a walk that met a file without a table */

/* User space sets the number of bytes; it is rounded up to a bound that a mask can express. */
struct copy_room {
	struct wire_copy copy;
	char stack[COPY_ROOM];
};

/* One for each CPU, larger than a per-CPU map permits; only one if no copies are taken. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct copy_room);
} copies SEC(".maps");

/* The same for wakers: an interrupt may wake a thread while a switch hook fills the room above. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct copy_room);
} waker_copies SEC(".maps");

/* Processes without frame pointers, if copies are limited to these. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* WIRE_MAX_COPY_PIDS, set by user space if they are chosen */
	__type(key, __u32);
	__type(value, __u32);
} copy_pids SEC(".maps");

/* The sleepable iterator's room, of which one runs at a time. */
struct iter_copy {
	struct wire_copy copy;
	char stack[ITER_COPY_ROOM];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct iter_copy);
} iter_copies SEC(".maps");

/* Number of bytes from address to the end of its page, if that is less than size; else 0. */
static __always_inline __u32 rest_of_page(__u64 address, __u32 size)
{
	__u32 rest = WIRE_PAGE - (__u32)(address & (WIRE_PAGE - 1));

	if (rest >= size)
		return 0;
	/* Explicit for the verifier; clang would leave it out. */
	asm volatile("%0 &= %1" : "+r"(rest) : "i"(WIRE_PAGE - 1));
	return rest;
}

static __always_inline __u32 chunk_size(__u32 at, __u32 limit)
{
	return limit - at < WIRE_PAGE ? limit - at : WIRE_PAGE;
}

/*
 * Copies the stack of current from sp on, up to the first page that is not in memory. A global
 * function, whose loop the verifier follows once. Returns the number of bytes.
 */
__noinline __u32 copy_stack(struct copy_room *room, __u64 sp)
{
	__u32 limit = settings.copied == WIRE_COPIED_BRIDGED ? BRIDGE_COPY_BYTES :
							       settings.copy_bytes;

	if (!room)
		return 0;
	for (__u32 at = 0; at < COPY_ROOM; at += WIRE_PAGE) {
		__u32 size, rest;

		if (at >= limit)
			break;
		size = chunk_size(at, limit);
		if (!bpf_probe_read_user(&room->stack[at], size, (void *)(sp + at)))
			continue;
		rest = rest_of_page(sp + at, size);
		if (!rest || bpf_probe_read_user(&room->stack[at], rest, (void *)(sp + at)))
			return at;
		return at + rest;
	}
	return limit;
}

/* The same for a task that sleeps; blocks as long as that task's memory does. */
static __always_inline __u32 copy_stack_of(struct task_struct *task, char *stack, __u64 sp)
{
	__u32 limit = settings.copy_bytes;

	if (limit > WIRE_MAX_ITER_COPY)
		limit = WIRE_MAX_ITER_COPY;
	for (__u32 at = 0; at < WIRE_MAX_ITER_COPY; at += WIRE_PAGE) {
		__u32 size, rest;

		if (at >= limit)
			break;
		size = chunk_size(at, limit);
		if (!bpf_copy_from_user_task(&stack[at], size, (void *)(sp + at), task, 0))
			continue;
		rest = rest_of_page(sp + at, size);
		if (!rest || bpf_copy_from_user_task(&stack[at], rest, (void *)(sp + at), task, 0))
			return at;
		return at + rest;
	}
	return limit;
}

enum copy_result {
	COPY_TAKEN,
	COPY_NONE,   /* the task has no user side */
	COPY_COMPAT, /* a 32-bit task */
};

static __always_inline enum copy_result copy_registers(struct task_struct *task, __u64 *to)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	/* A task that waits in its exit may have given up its memory. */
	if (!task->mm || !user_pc(regs) || !regs->sp)
		return COPY_NONE;
	if (is_compat(regs))
		return COPY_COMPAT;
	copy_user_regs(to, regs);
	return COPY_TAKEN;
}

/* A size of a record that the verifier believes to be in a room of room bytes. */
#define COPY_SIZE(bytes, room)                                                        \
	({                                                                            \
		__u32 size_ = (bytes) & ~7U;                                          \
                                                                                      \
		_Static_assert(((room) & ((room) - 1)) == 0, "no mask");              \
		asm volatile("%0 &= %1" : "+r"(size_) : "i"((room) - 1));             \
		size_;                                                                \
	})

static __always_inline void describe_copy(struct wire_copy *copy, __u64 incarnation, __u64 time,
					  __u32 bytes)
{
	copy->head.kind = WIRE_COPY;
	copy->head.size = sizeof(*copy) + bytes;
	copy->incarnation = incarnation;
	copy->time = time;
}

/* True if a block, or a wake-up, carries a copy. */
static __always_inline bool is_copied(const struct wire_block *block)
{
	if (!settings.copy_bytes || settings.copied == WIRE_COPIED_BRIDGED ||
	    block->flags & WIRE_BLOCK_KTHREAD)
		return false;
	return settings.copied == WIRE_COPIED_ALL || bpf_map_lookup_elem(&copy_pids, &block->pid);
}

/* Sends the copy of a block that is about to be sent itself, of current; room may be NULL. */
static __always_inline void send_copy(void *ctx, struct cpu *cpu, struct wire_block *block,
				      struct copy_room *room)
{
	enum copy_result result;
	__u32 bytes;
	long err;

	if (!room)
		return;
	result = copy_registers(bpf_get_current_task_btf(), room->copy.regs);
	if (result == COPY_COMPAT)
		cpu->own.accounts.compat_copies++;
	if (result != COPY_TAKEN)
		return;
	bytes = copy_stack(room, room->copy.regs[USER_REG_SP]);
	bytes = COPY_SIZE(bytes, COPY_ROOM);
	if (!bytes) {
		cpu->own.accounts.unread_copies++;
		return;
	}
	describe_copy(&room->copy, block->incarnation, block->time, bytes);
	/* Not to the ring shared by CPUs without one: copies would fill it at once. */
	err = bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, room,
				    sizeof(room->copy) + (__u64)bytes);
	if (err) {
		if (err == -ENOSPC)
			cpu->own.accounts.lost_copies++;
		else
			cpu->own.accounts.ringless_copies++;
		block->flags |= WIRE_BLOCK_COPY_LOST;
		return;
	}
	cpu->own.accounts.copies++;
	block->stack_bytes = bytes;
}

/* Reads registers and stack of a task that is still blocked. Returns its room; NULL: none. */
static __always_inline struct iter_copy *read_copy(struct task_struct *task)
{
	__u32 zero = 0, bytes;
	struct iter_copy *room;

	if (!settings.copy_bytes)
		return NULL;
	room = bpf_map_lookup_elem(&iter_copies, &zero);
	if (!room || copy_registers(task, room->copy.regs) != COPY_TAKEN)
		return NULL;
	bytes = copy_stack_of(task, room->stack, room->copy.regs[USER_REG_SP]);
	room->copy.head.size = sizeof(room->copy) + bytes;
	return room;
}

static __always_inline void write_copy(struct seq_file *seq, struct iter_copy *room,
				       __u64 incarnation, __u64 since)
{
	__u32 bytes = COPY_SIZE(room->copy.head.size - sizeof(room->copy), ITER_COPY_ROOM);

	describe_copy(&room->copy, incarnation, since, bytes);
	bpf_seq_write(seq, room, sizeof(room->copy) + bytes);
}

#endif /* DENET_COPY_BPF_H */
