/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_LAYOUT_H
#define DENET_OUTPUT_PERFDATA_LAYOUT_H

#include <linux/limits.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/record_layout.h"

/*
 * The layout of a perf.data file, as perf's readers define it; Documentation/format.txt describes
 * it. Everything is in the byte order of the machine that records. These numbers belong to perf:
 * never renumber, never reuse.
 */

#define LAYOUT_MAGIC 0x32454c4946524550ULL /* "PERFILE2" */
/* Version 5 of perf_event_attr: the largest that every reader since 5.10 takes. */
#define LAYOUT_ATTR_SIZE 112
#define LAYOUT_FEATURE_BITS 256
/*
 * sample_regs_user, in perf's order: of x86, ax, bx, cx, dx, si, di, bp, sp, ip and r8 to r15; of
 * arm64, x0 to x29, lr, sp and pc.
 */
#ifdef __aarch64__
#define LAYOUT_REGS_MASK 0x1ffffffffULL
#else
#define LAYOUT_REGS_MASK 0xff01ffULL
#endif
#define LAYOUT_NR_REGS USER_NR_REGS

/* Records of user space; the kernel's own end below 64. */
enum layout_record {
	LAYOUT_HEADER_ATTR = 64,
	LAYOUT_HEADER_TRACING_DATA = 66,
	LAYOUT_HEADER_BUILD_ID = 67,
	LAYOUT_FINISHED_ROUND = 68,
	LAYOUT_EVENT_UPDATE = 78,
	LAYOUT_HEADER_FEATURE = 80,
};

#define LAYOUT_EVENT_UPDATE_NAME 2
/* In the misc of a build-id: the length byte behind the id is valid. */
#define LAYOUT_MISC_BUILD_ID_SIZE (1U << 15)

/* Bits of layout_header.features. */
enum layout_feature {
	LAYOUT_FEATURE_TRACING_DATA = 1,
	LAYOUT_FEATURE_BUILD_ID = 2,
	LAYOUT_FEATURE_HOSTNAME = 3,
	LAYOUT_FEATURE_OSRELEASE = 4,
	LAYOUT_FEATURE_VERSION = 5,
	LAYOUT_FEATURE_ARCH = 6,
	LAYOUT_FEATURE_NRCPUS = 7,
	LAYOUT_FEATURE_CPUDESC = 8,
	LAYOUT_FEATURE_TOTAL_MEM = 10,
	LAYOUT_FEATURE_CMDLINE = 11,
	LAYOUT_FEATURE_EVENT_DESC = 12,
	LAYOUT_FEATURE_SAMPLE_TIME = 21,
	LAYOUT_FEATURE_CLOCKID = 23,
	LAYOUT_FEATURE_CLOCK_DATA = 29,
};

struct layout_section {
	uint64_t offset;
	uint64_t size;
};

struct layout_header {
	uint64_t magic;
	uint64_t size;      /* of this header */
	uint64_t attr_size; /* of a struct layout_attr */
	struct layout_section attrs;
	struct layout_section data;
	struct layout_section event_types; /* unused since 2011 */
	uint64_t features[LAYOUT_FEATURE_BITS / 64];
};

struct layout_pipe_header {
	uint64_t magic;
	uint64_t size;
};

struct layout_attr {
	unsigned char attr[LAYOUT_ATTR_SIZE]; /* the front of a struct perf_event_attr */
	struct layout_section ids;
};

struct layout_sample {
	struct perf_event_header header;
	uint64_t id;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t period;
	uint64_t nr; /* entries of the chain, context markers included */
		     /* uint64_t chain[nr]; the fields that the event has behind it */
};

/* Behind the chain, and registers and stack, of all samples but those of tracepoints. */
struct layout_counted {
	uint64_t weight;      /* blocks */
	uint64_t transaction; /* their state: LAYOUT_STATE */
};

#define LAYOUT_COUNTED (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_TRANSACTION)

/*
 * A state as the abort code of a transaction. One of the two flags is set, without which perf
 * prints one more word: SYNC for a thread that left by itself, ASYNC for a preempted one.
 */
#define LAYOUT_STATE(letter, preempted)                                          \
	((uint64_t)(unsigned char)(letter) << PERF_TXN_ABORT_SHIFT |             \
	 ((preempted) ? PERF_TXN_ASYNC : PERF_TXN_SYNC))
#define LAYOUT_STATE_LETTER(transaction) ((char)((transaction) >> PERF_TXN_ABORT_SHIFT))

struct layout_event_update {
	struct perf_event_header header;
	uint64_t type;
	uint64_t id;
	/* char name[], padded */
};

struct layout_header_attr {
	struct perf_event_header header;
	unsigned char attr[LAYOUT_ATTR_SIZE];
	uint64_t id;
};

/* The data follow the record, and are no part of its size. */
struct layout_tracing_data {
	struct perf_event_header header;
	uint32_t size; /* of the data, padding included */
};

struct layout_header_feature {
	struct perf_event_header header;
	uint64_t feature;
	/* the bytes of the feature, padded */
};

struct layout_build_id {
	struct perf_event_header header;
	int32_t pid; /* of the machine, -1: the host */
	uint8_t id[20];
	uint8_t id_size;
	uint8_t reserved[3];
	/* char path[], padded so that the whole is a multiple of 8 bytes */
};

LAYOUT_ASSERT(layout_header, 104);
LAYOUT_ASSERT(layout_pipe_header, 16);
LAYOUT_ASSERT(layout_attr, 128);
LAYOUT_ASSERT(layout_sample, 64);
LAYOUT_ASSERT(layout_counted, 16);
LAYOUT_ASSERT(layout_event_update, 24);
LAYOUT_ASSERT(layout_header_attr, 128);
LAYOUT_ASSERT(layout_tracing_data, 12);
LAYOUT_ASSERT(layout_header_feature, 16);
LAYOUT_ASSERT(layout_build_id, 36);
_Static_assert(offsetof(struct layout_header, data.size) == 48, "data.size has moved");
_Static_assert(offsetof(struct layout_header, attrs) == 24, "attrs has moved");
_Static_assert(offsetof(struct layout_header, features) == 72, "the feature bits have moved");
_Static_assert(sizeof(struct perf_event_attr) >= LAYOUT_ATTR_SIZE, "attr is too old");

#endif /* DENET_OUTPUT_PERFDATA_LAYOUT_H */
