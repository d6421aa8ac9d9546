/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/attrs.h"

#include <string.h>
#include <time.h>

#include "output/perfdata/records.h"
#include "host/tracepoint.h"

/*
 * To add an event, add a line (and its id to enum writer_event). Names have no colon, which readers
 * take for the end of a tracepoint's subsystem. All names, those of tracepoints included, have 11
 * characters: perf script pads shorter ones, and inferno then counts samples instead of time. The
 * config is not that of BPF_OUTPUT: perf 5.10 takes each sample of it for a raw one, and refuses
 * the file.
 */
#define SW_CONFIG PERF_COUNT_SW_CONTEXT_SWITCHES

static const struct event_kind kinds[] = {
	{ WRITER_OFFCPU_TIME, "offcpu-time", PERF_TYPE_SOFTWARE, SW_CONFIG, 0 },
	{ WRITER_RUNQUEUE_TIME, "queued-time", PERF_TYPE_SOFTWARE, SW_CONFIG, 0 },
	{ WRITER_WAKEUP_TIME, "wakeup-time", PERF_TYPE_SOFTWARE, SW_CONFIG, 0 },
	{ WRITER_ONCPU_TIME, "on-cpu-time", PERF_TYPE_SOFTWARE, SW_CONFIG, 0 },
	{ WRITER_OFFCPU_IDLE, "offcpu-idle", PERF_TYPE_SOFTWARE, SW_CONFIG, 0 },
};

/* Tracepoints of our own: their config is that of the table in tracing.c. */
static const struct event_kind late_kinds[] = {
	{ WRITER_SAMPLING, "denet:rates", PERF_TYPE_TRACEPOINT, 60001, PERF_SAMPLE_RAW },
	{ WRITER_OFFCPU_WAIT, "denet:waits", PERF_TYPE_TRACEPOINT, 60002, PERF_SAMPLE_RAW },
};

#define NR_LATE_KINDS (sizeof(late_kinds) / sizeof(late_kinds[0]))
#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/*
 * The first event has no RAW: perf since 6.15 takes a raw sample of this name for its own off-CPU
 * data.
 */
#define SAMPLE_TYPE                                                                     \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

const struct event_kind *attrs__kinds(size_t *nr)
{
	*nr = NR_KINDS;
	return kinds;
}

const struct event_kind *attrs__late_kind(uint64_t id)
{
	for (size_t i = 0; i < NR_LATE_KINDS; i++) {
		if (late_kinds[i].id == id)
			return &late_kinds[i];
	}
	return NULL;
}

size_t attrs__select_others(uint64_t events, const struct event_kind *selected[])
{
	size_t nr = 0;

	for (size_t i = 1; i < NR_KINDS; i++) {
		if (events & 1ULL << kinds[i].id)
			selected[nr++] = &kinds[i];
	}
	for (size_t i = 0; i < NR_LATE_KINDS; i++) {
		if (events & 1ULL << late_kinds[i].id)
			selected[nr++] = &late_kinds[i];
	}
	return nr;
}

uint64_t attrs__late_bits(void)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < NR_LATE_KINDS; i++)
		bits |= 1ULL << late_kinds[i].id;
	return bits;
}

struct event_kind attrs__stand_in(const struct event_kind *kind)
{
	struct event_kind stand_in = *kind;

	if (kind->type == PERF_TYPE_TRACEPOINT) {
		stand_in.type = PERF_TYPE_SOFTWARE;
		stand_in.config = SW_CONFIG;
	}
	return stand_in;
}

size_t attrs__select(uint64_t events, const struct event_kind *selected[])
{
	_Static_assert(NR_KINDS + NR_LATE_KINDS + TRACEPOINTS_MAX <= ATTRS_MAX,
		       "ATTRS_MAX is too small");
	/* The first event requests the side band: every file has it. */
	selected[0] = &kinds[0];
	return 1 + attrs__select_others(events, selected + 1);
}

const struct event_kind *attrs__kind(uint64_t id)
{
	for (size_t i = 0; i < NR_KINDS; i++) {
		if (kinds[i].id == id)
			return &kinds[i];
	}
	return NULL;
}

void attrs__fill(const struct event_kind *kind, bool cgroups, uint32_t stack_bytes,
		 unsigned char *attr)
{
	struct perf_event_attr full = {
		.type = kind->type,
		.size = LAYOUT_ATTR_SIZE,
		.config = kind->config,
		/* Readers weigh samples by their period only if the period is not fixed. */
		.freq = 1,
		.sample_freq = 1,
		.sample_type = SAMPLE_TYPE | kind->sample_extra,
		.read_format = PERF_FORMAT_ID,
		.disabled = 1,
		.inherit = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	if (cgroups)
		full.sample_type |= PERF_SAMPLE_CGROUP;
	if (kind->type == PERF_TYPE_SOFTWARE && !kind->sample_extra)
		full.sample_type |= LAYOUT_COUNTED;
	if (stack_bytes && full.sample_type & LAYOUT_COUNTED) {
		full.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		full.sample_regs_user = LAYOUT_REGS_MASK;
		full.sample_stack_user = stack_bytes;
	}
	if (kind->id == kinds[0].id) {
		full.mmap = 1;
		full.mmap2 = 1;
		/* For files that are to be unwound, readers look for tables in mappings of data. */
		full.mmap_data = stack_bytes != 0;
		full.comm = 1;
		full.comm_exec = 1;
		full.task = 1;
		full.cgroup = cgroups;
	}
	memcpy(attr, &full, LAYOUT_ATTR_SIZE);
}
