/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_MACHINE_RECORD_LAYOUT_H
#define DENET_MACHINE_RECORD_LAYOUT_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The layout of the kernel's side-band records, the same in a ring and in a perf.data file. In the
 * byte order of the machine.
 */

#define LAYOUT_ALIGN 8
/* The size field of a record has 16 bits and each record is a multiple of 8 bytes. */
#define LAYOUT_RECORD_MAX 65528

/* The trailer of each record but samples (perf's sample_id). */
struct layout_sample_id {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t id;
};

struct layout_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	/* char comm[], padded; struct layout_sample_id */
};

struct layout_task { /* FORK and EXIT */
	struct perf_event_header header;
	uint32_t pid, ppid;
	uint32_t tid, ptid;
	uint64_t time;
	/* struct layout_sample_id */
};

struct layout_mmap {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start;
	uint64_t len;
	uint64_t pgoff;
	/* char path[], padded; struct layout_sample_id */
};

struct layout_mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start;
	uint64_t len;
	uint64_t pgoff;
	union {
		struct {
			uint32_t maj, min;
			uint64_t ino;
			uint64_t ino_generation;
		};
		struct {
			uint8_t build_id_size;
			uint8_t reserved[3];
			uint8_t build_id[20];
		};
	};
	uint32_t prot, flags;
	/* char path[], padded; struct layout_sample_id */
};

struct layout_cgroup {
	struct perf_event_header header;
	uint64_t id;
	/* char path[], padded; struct layout_sample_id */
};

struct layout_ksymbol {
	struct perf_event_header header;
	uint64_t addr;
	uint32_t len;
	uint16_t type;
	uint16_t flags;
	/* char name[], padded; struct layout_sample_id */
};

struct layout_lost {
	struct perf_event_header header;
	uint64_t id;
	uint64_t lost;
	struct layout_sample_id sample_id;
};

#define LAYOUT_ASSERT(type, bytes) \
	_Static_assert(sizeof(struct type) == (bytes), #type " is not " #bytes " bytes")
LAYOUT_ASSERT(perf_event_header, 8);
LAYOUT_ASSERT(layout_sample_id, 32);
LAYOUT_ASSERT(layout_comm, 16);
LAYOUT_ASSERT(layout_task, 32);
LAYOUT_ASSERT(layout_mmap, 40);
LAYOUT_ASSERT(layout_mmap2, 72);
LAYOUT_ASSERT(layout_cgroup, 16);
LAYOUT_ASSERT(layout_ksymbol, 24);
LAYOUT_ASSERT(layout_lost, 56);
_Static_assert(offsetof(struct layout_mmap2, prot) == 64, "mmap2.prot has moved");

#endif /* DENET_MACHINE_RECORD_LAYOUT_H */
