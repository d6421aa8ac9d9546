/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/time_kind.h"

/*
 * x86-64 and arm64 leave the last 2 MB of addresses unmapped. The last page of them is no place
 * for a symbol: the markers of chains are addresses there.
 */
#define BASE 0xffffffffffe00000ULL

static const char *const names[TIME_KINDS + 1] = {
	[TIME_KIND_BLOCKED] = "[blocked]",
	[TIME_KIND_IDLE] = "[idle]",
	[TIME_KIND_RUNNABLE] = "[runnable]",
	[TIME_KIND_RUNNING] = "[running]",
	[TIME_NOT_SAMPLED] = "[not sampled]",
};

const char *time_kind__name(enum time_kind kind)
{
	return names[kind];
}

uint64_t time_kind__address(enum time_kind kind)
{
	return BASE + (uint64_t)kind * TIME_KIND_SIZE;
}

enum time_kind time_kind__at(uint64_t address)
{
	uint64_t kind = (address - BASE) / TIME_KIND_SIZE;

	return address >= BASE && kind < TIME_KINDS ? (enum time_kind)kind : TIME_KINDS;
}

enum time_kind time_kind__of(enum writer_event event, const struct sample *sample)
{
	switch (event) {
	case WRITER_ONCPU_TIME:
		return TIME_KIND_RUNNING;
	case WRITER_RUNQUEUE_TIME:
		return TIME_KIND_RUNNABLE;
	case WRITER_OFFCPU_IDLE:
		return TIME_KIND_IDLE;
	default:
		return sample->state == 'R' ? TIME_KIND_RUNNABLE : TIME_KIND_BLOCKED;
	}
}
