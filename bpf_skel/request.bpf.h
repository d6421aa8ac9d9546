/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests of block devices, as the kernel has them. */
#ifndef DENET_REQUEST_BPF_H
#define DENET_REQUEST_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define REQUEST_OP 0xffU /* REQ_OP_MASK of cmd_flags */

/* Its device, as the kernel packs it: major << 20 | minor. */
static __always_inline __u32 device_of_request(struct request *request)
{
	struct request___before_5_17 *old = (void *)request;
	struct gendisk *disk;

	if (bpf_core_field_exists(old->rq_disk))
		disk = BPF_CORE_READ(old, rq_disk);
	else
		disk = BPF_CORE_READ(request, q, disk);
	return (__u32)BPF_CORE_READ(disk, major) << 20 | BPF_CORE_READ(disk, first_minor);
}

/* Called for each part of a request that ends; the last one has the rest of its bytes. */
static __always_inline bool is_last_part(struct request *request, __u32 bytes)
{
	return bytes >= BPF_CORE_READ(request, __data_len);
}

#endif /* DENET_REQUEST_BPF_H */
