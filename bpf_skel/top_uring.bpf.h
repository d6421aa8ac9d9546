/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The latest request of the io_uring that a thread in io_uring_enter(2) waits for. */
#ifndef DENET_TOP_URING_BPF_H
#define DENET_TOP_URING_BPF_H

#include "reason.bpf.h"
#include "top_wire.h"

/* Of each architecture that we know, as of all newer calls. */
#define NR_IO_URING_ENTER 426
#define ENTER_REGISTERED_RING 16U /* args[0] is no descriptor */

#define RING_SQE128 (1U << 10)
#define SQE_BYTES 64
#define SQE_FIXED_FILE 1

/* The first bytes of struct io_uring_sqe, which programs write. */
struct sqe_head {
	__u8 opcode;
	__u8 flags;
	__u16 ioprio;
	__s32 fd;
	__u64 off;
	__u64 addr;
	__u32 len;
	__u32 rw_flags;
};

static __always_inline bool is_uring_call(const struct top_wire_sample *sample)
{
	return sample->nr == NR_IO_URING_ENTER && !(sample->flags & TOP_WIRE_FLAG_COMPAT);
}

static __always_inline bool is_registered_ring(const struct top_wire_sample *sample)
{
	return is_uring_call(sample) && sample->args[3] & ENTER_REGISTERED_RING;
}

/* The file of a ring that a thread has registered for itself, by its number. NULL: not known. */
static __always_inline struct file *registered_ring(struct task_struct *task, __u64 number)
{
	struct io_uring_task *rings;
	struct file *file = NULL;

	if (!bpf_core_field_exists(struct task_struct, io_uring) ||
	    !bpf_core_field_exists(struct io_uring_task, registered_rings) ||
	    number >= sizeof(rings->registered_rings) / sizeof(rings->registered_rings[0]))
		return NULL;
	rings = BPF_CORE_READ(task, io_uring);
	if (rings)
		bpf_core_read(&file, sizeof(file), &rings->registered_rings[number]);
	return file;
}

/* By the name of its file, "[io_uring]": the descriptor may have become another one. */
static __always_inline bool is_ring(const struct wire_reason *reason)
{
	return *(const __u64 *)&reason->names[0][0] == 0x6e6972755f6f695bULL;
}

/*
 * The request that was submitted last. The program writes new ones to where old ones were, so that
 * it may be one that is about to be submitted.
 */
static __always_inline bool read_request(struct io_ring_ctx *ctx, __u32 mask,
					 struct sqe_head *request)
{
	__u32 head = BPF_CORE_READ(ctx, cached_sq_head), index = (head - 1) & mask;
	__u32 *array = BPF_CORE_READ(ctx, sq_array);
	void *requests = BPF_CORE_READ(ctx, sq_sqes);

	if (!head || !requests)
		return false;
	if (array && bpf_probe_read_kernel(&index, sizeof(index), &array[index]))
		return false;
	index &= mask;
	if (BPF_CORE_READ(ctx, flags) & RING_SQE128)
		index <<= 1;
	return !bpf_probe_read_kernel(request, sizeof(*request),
				      requests + (__u64)index * SQE_BYTES);
}

/* Flags are in the lowest bits of the address. */
#define REGISTERED_FILE_MASK (~7UL)

/* Before Linux 6.13, an array of addresses. 0: there is no such file. */
static __always_inline unsigned long old_registered_file(void *ring, __u32 number)
{
	struct io_ring_ctx___before_6_13 *ctx = ring;
	struct io_fixed_file___before_6_13 *files;
	unsigned long address = 0;

	if (!bpf_core_field_exists(struct io_file_table___before_6_13, files) ||
	    !bpf_core_field_exists(struct io_ring_ctx___before_6_13, nr_user_files) ||
	    number >= BPF_CORE_READ(ctx, nr_user_files))
		return 0;
	files = BPF_CORE_READ(ctx, file_table.files);
	bpf_probe_read_kernel(&address, sizeof(address), &files[number]);
	return address;
}

/* A file that the program has registered with the ring, by its number. NULL: not known. */
static __always_inline struct file *registered_file(struct io_ring_ctx *ctx, __u32 number)
{
	struct io_rsrc_node **nodes, *node = NULL;
	unsigned long address;

	if (!bpf_core_field_exists(struct io_file_table, data) ||
	    !bpf_core_field_exists(struct io_rsrc_node, file_ptr)) {
		address = old_registered_file(ctx, number);
	} else {
		if (number >= BPF_CORE_READ(ctx, file_table.data.nr))
			return NULL;
		nodes = BPF_CORE_READ(ctx, file_table.data.nodes);
		bpf_probe_read_kernel(&node, sizeof(node), &nodes[number]);
		address = node ? BPF_CORE_READ(node, file_ptr) : 0;
	}
	return (struct file *)(address & REGISTERED_FILE_MASK);
}

/* Describes the ring that a file is. Returns the file of its latest request; NULL: not known. */
static __always_inline struct file *read_ring(struct task_struct *task, struct file *file,
					      struct top_wire_uring *out)
{
	struct io_ring_ctx *ctx = BPF_CORE_READ(file, private_data);
	struct io_rings *rings;
	struct sqe_head request = {};

	__builtin_memset(out, 0, sizeof(*out));
	out->head.kind = TOP_WIRE_URING;
	out->head.size = sizeof(*out);
	if (!bpf_core_field_exists(struct io_ring_ctx, rings) ||
	    !bpf_core_field_exists(struct io_ring_ctx, sq_array) ||
	    !bpf_core_field_exists(struct io_ring_ctx, sq_sqes) ||
	    !bpf_core_field_exists(struct io_ring_ctx, cached_sq_head))
		return NULL;
	rings = BPF_CORE_READ(ctx, rings);
	out->unsubmitted = BPF_CORE_READ(rings, sq.tail) - BPF_CORE_READ(rings, sq.head);
	out->completed = BPF_CORE_READ(rings, cq.tail) - BPF_CORE_READ(rings, cq.head);
	if (!read_request(ctx, BPF_CORE_READ(rings, sq_ring_mask), &request))
		return NULL;
	out->has_request = 1;
	out->opcode = request.opcode;
	out->fd = request.fd;
	out->flags = request.flags;
	out->offset = request.off;
	out->len = request.len;
	out->rw_flags = request.rw_flags;
	out->registered = request.flags & SQE_FIXED_FILE;
	return out->registered ? registered_file(ctx, (__u32)request.fd) :
				 file_of(task, request.fd);
}

/* The file of the latest request, as that of a call. */
static __always_inline void read_request_file(struct file *file, struct wire_reason *out)
{
	__builtin_memset(out, 0, __builtin_offsetof(struct wire_reason, names));
	out->head.kind = WIRE_REASON;
	out->head.size = sizeof(*out);
	out->nr = -1;
	out->fd = out->ready_fd = -1;
	read_object(file, out);
	if (out->object == WIRE_OBJECT_FILE)
		read_names(file, out);
}

/* Reads and writes, and what makes them durable: nobody waits for those to have work. */
static __always_inline bool is_file_request(const struct top_wire_uring *uring)
{
	switch (uring->opcode) {
	case 1:	 /* READV */
	case 2:	 /* WRITEV */
	case 3:	 /* FSYNC */
	case 4:	 /* READ_FIXED */
	case 5:	 /* WRITE_FIXED */
	case 8:	 /* SYNC_FILE_RANGE */
	case 22: /* READ */
	case 23: /* WRITE */
		return true;
	default:
		return false;
	}
}

#endif /* DENET_TOP_URING_BPF_H */
