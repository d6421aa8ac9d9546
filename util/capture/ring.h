/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_RING_H
#define DENET_CAPTURE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_header;

/*
 * The perf rings, one for each online CPU, mapped and read with libperf. Each carries the BPF
 * programs' records and the kernel's side band (MMAP2, COMM, FORK, EXIT), in the order of their
 * events on that CPU.
 */
struct rings;

/* The perf events of each ring. Each record has the id of its event. */
enum ring_event {
	RING_SIDEBAND,	 /* MMAP, MMAP2, COMM, FORK, EXIT */
	RING_BPF_OUTPUT, /* SAMPLE: a BPF program's record, as raw data */
	RING_EVENTS,
};

/* A record, valid during the call. */
struct ring_record {
	const struct perf_event_header *header;
	size_t size; /* of the record, header included */
	enum ring_event event;
	unsigned int cpu;
};

/* Receives each record. 0 or a negative errno. */
typedef int (*rings_fn)(void *ctx, const struct ring_record *record);

/*
 * The event, of those with these ids, that a record belongs to; RING_EVENTS: none of them. -EINVAL
 * if it is too short for an id.
 */
int ring_record__event(const void *record, size_t size, const uint64_t ids[RING_EVENTS]);

/* The raw data of a record of RING_BPF_OUTPUT. NULL if it has none, or is cut. */
const void *ring_record__raw(const struct ring_record *record, size_t *size);

/*
 * Opens and maps rings of pages pages (a power of two) for each CPU, or smaller ones, with a
 * warning, where the lock limit is lower. data_maps: the side band includes mappings that are not
 * executable. rings__wait() ends when a ring has wake_bytes (0: none) or is half full. NULL on
 * error, with *err set and the cause logged.
 */
struct rings *rings__new(uint32_t pages, uint32_t wake_bytes, bool data_maps, int *err);
void rings__delete(struct rings *rings); /* accepts NULL */

/* The number of rings; and the CPU and the descriptor for BPF of each. */
size_t rings__count(const struct rings *rings);
unsigned int rings__cpu(const struct rings *rings, size_t index);
int rings__fd(const struct rings *rings, size_t index);

/* Switches the side band on. 0 or a negative errno. */
int rings__enable(struct rings *rings);

/*
 * Reads all records that are there at the call, and of those that come in meanwhile no more than
 * the rings hold. Returns their number or a negative errno.
 */
int rings__read(struct rings *rings, rings_fn fn, void *ctx);

/*
 * Adds rings for CPUs that came online since the last call and drops those of CPUs that went
 * offline, once they have been read. Calls came for each new ring with the descriptor for BPF. A
 * CPU that cannot have a ring is reported once, and is no error. 0 or a negative errno.
 */
typedef int (*rings_came_fn)(void *ctx, unsigned int cpu, int fd);
int rings__update(struct rings *rings, rings_came_fn came, void *ctx);

/*
 * True if rings__update() should be called without an announcement: hotplug events are not
 * available, or a ring waits for its end.
 */
bool rings__wants_update(const struct rings *rings);

/*
 * Waits until a ring is half full or has wake_bytes, extra_fd is readable (-1: none), a CPU came or
 * went or the time is over. 0, RINGS_CPUS_CHANGED if rings__update() must be called, or a negative
 * errno.
 */
#define RINGS_CPUS_CHANGED 1
int rings__wait(struct rings *rings, int timeout_ms, int extra_fd);

/* Makes rings__wait() also return whenever fd is readable; -1: none. Borrowed. */
void rings__watch(struct rings *rings, int fd);

/*
 * Makes rings__wait() also return when fd becomes readable, which it is expected to stay: only the
 * first time counts. Borrowed.
 */
void rings__set_bell(struct rings *rings, int fd);

/* True if there is a bell that has not rung. */
bool rings__awaits_bell(const struct rings *rings);

#endif /* DENET_CAPTURE_RING_H */
