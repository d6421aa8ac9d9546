/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_ATTRS_H
#define DENET_OUTPUT_PERFDATA_ATTRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/perfdata/layout.h"

/* One kind of event in the file. The table in attrs.c has a line for each. */
struct event_kind {
	uint64_t id; /* enum writer_event; the value of IDENTIFIER and sample_id */
	const char *name;
	uint32_t type;         /* perf_event_attr.type */
	uint64_t config;       /* perf_event_attr.config */
	uint64_t sample_extra; /* PERF_SAMPLE_* bits beyond those that all events have */
};

/* All possible events of a file, in the order of their attrs; *nr receives their number. */
const struct event_kind *attrs__kinds(size_t *nr);

/*
 * The events of one file: offcpu-time and those whose bits (1 << id) are set, late ones at the end.
 * Fills in kinds, ATTRS_MAX at most, and returns their number.
 */
#define ATTRS_MAX 32
/* First id of the kernel's tracepoints; our own ids are below. */
#define ATTRS_FIRST_TRACED 64
size_t attrs__select(uint64_t events, const struct event_kind *kinds[]);

/* The same without offcpu-time. */
size_t attrs__select_others(uint64_t events, const struct event_kind *kinds[]);

/*
 * The bits of all late events. Late events are in few files. TRACING_DATA, which comes last in a
 * file, describes them, so their attrs come last, too, and only if there are samples of them.
 */
uint64_t attrs__late_bits(void);

/*
 * The attr of an event at the front of a file: of a late one, samples that carry raw data. Readers
 * of a file that was never finished can then skip them.
 */
struct event_kind attrs__stand_in(const struct event_kind *kind);

/* The late event of an id; NULL: there is none. */
const struct event_kind *attrs__late_kind(uint64_t id);

/* The event of an id; NULL: there is none. */
const struct event_kind *attrs__kind(uint64_t id);

/*
 * Fills in the LAYOUT_ATTR_SIZE bytes that describe an event. The first event of the table requests
 * side-band records as well. cgroups: samples carry a cgroup id. stack_bytes: samples, but for
 * those of tracepoints, carry user registers and at most so many bytes of stack; 0: they don't.
 */
void attrs__fill(const struct event_kind *kind, bool cgroups, uint32_t stack_bytes,
		 unsigned char *attr);

#endif /* DENET_OUTPUT_PERFDATA_ATTRS_H */
