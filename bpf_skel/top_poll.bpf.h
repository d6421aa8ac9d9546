/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the files that a thread in poll(2) or select(2) polls. The program's memory has the
 * descriptors, and is not read. But the kernel registers the thread with the wait queue of each
 * file, and keeps these entries in a struct poll_wqueues on the thread's kernel stack (__pollwait()
 * in fs/select.c).
 */
#ifndef DENET_TOP_POLL_BPF_H
#define DENET_TOP_POLL_BPF_H

#include "reason.bpf.h"
#include "top_wire.h"

#ifdef __TARGET_ARCH_x86
#define NR_SELECT 23
#define NR_PSELECT6 270
#else
#define NR_SELECT (-1)
#define NR_PSELECT6 72
#endif

/* Calls of 32-bit programs have other numbers. */
static __always_inline bool is_poll(const struct top_wire_sample *sample)
{
	return !(sample->flags & TOP_WIRE_FLAG_COMPAT) && sample->nr >= 0 &&
	       (class_of(sample->nr) == WIRE_CALL_POLL || sample->nr == NR_SELECT ||
		sample->nr == NR_PSELECT6);
}

/* Of the stack, at most, below the registers of user space: a power of two. */
#define POLL_WORDS 512

/*
 * The struct poll_wqueues whose member polling_task has that address; 0: it is none, or was left on
 * the stack. An entry of one that is in use leads back to it, and is in a list. A global function,
 * so that the verifier checks it once.
 */
__noinline __u64 queues_at(__u64 address)
{
	struct list_head *entry, *next;
	struct poll_wqueues *queues;

	if (!bpf_core_field_exists(struct poll_wqueues, polling_task))
		return 0;
	address -= bpf_core_field_offset(struct poll_wqueues, polling_task);
	queues = (struct poll_wqueues *)address;
	if (BPF_CORE_READ(queues, inline_index) <= 0 ||
	    BPF_CORE_READ(queues, inline_entries[0].wait.private) != queues)
		return 0;
	entry = &queues->inline_entries[0].wait.entry;
	next = BPF_CORE_READ(queues, inline_entries[0].wait.entry.next);
	return BPF_CORE_READ(next, prev) == entry ? address : 0;
}

/* A file may have a second queue, as a pipe that is read and written. */
static __always_inline bool is_alone(struct poll_wqueues *queues, struct file *file)
{
	int nr = BPF_CORE_READ(queues, inline_index);

	return nr == 1 || (nr == 2 && BPF_CORE_READ(queues, inline_entries[1].filp) == file);
}

#ifdef __TARGET_ARCH_x86
/*
 * The first file that a thread off the CPU polls; *alone, if it is the only one. NULL: not known.
 * The words are room for its stack.
 */
static __always_inline struct file *polled_file(struct task_struct *task, __u64 words[POLL_WORDS],
						bool *alone)
{
	unsigned long sp = task->thread.sp;
	__u32 bytes = low_half((const void *)bpf_task_pt_regs(task)) - (__u32)sp;
	struct poll_wqueues *queues;
	struct file *file;
	__u64 found = 0;

	if (bytes >= POLL_WORDS * sizeof(*words))
		return NULL;
	bytes &= (POLL_WORDS - 1) * sizeof(*words);
	if (bpf_probe_read_kernel(words, bytes, (const void *)sp))
		return NULL;
	for (__u32 i = 0; i < POLL_WORDS && !found; i++) {
		if (i * sizeof(*words) >= bytes)
			return NULL;
		if (words[i] == (unsigned long)task)
			found = queues_at(sp + i * sizeof(*words));
	}
	if (!found)
		return NULL;
	queues = (struct poll_wqueues *)found;
	file = BPF_CORE_READ(queues, inline_entries[0].filp);
	*alone = is_alone(queues, file);
	return file;
}
#else
static __always_inline struct file *polled_file(struct task_struct *task, __u64 words[POLL_WORDS],
						bool *alone)
{
	(void)task;
	(void)words;
	(void)alone;
	return NULL;
}
#endif

#endif /* DENET_TOP_POLL_BPF_H */
