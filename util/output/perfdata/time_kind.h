/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_TIME_KIND_H
#define DENET_OUTPUT_PERFDATA_TIME_KIND_H

#include <stdint.h>

#include "output/perfdata/records.h"
#include "sample.h"

/*
 * The kind of a thread's time, which is the outermost frame of a chain in a file of one event. The
 * frame is the address of a symbol that the file defines (KSYMBOL), where no kernel has anything
 * mapped. Addresses are never renumbered: files carry them.
 */
enum time_kind {
	TIME_KIND_BLOCKED,
	TIME_KIND_IDLE, /* blocked in a wait for work */
	TIME_KIND_RUNNABLE,
	TIME_KIND_RUNNING,
	TIME_KINDS,
};

/* Bytes of each symbol. */
#define TIME_KIND_SIZE 4096

/* The only frame of a sample that is not_sampled: a symbol behind those of the kinds. */
#define TIME_NOT_SAMPLED ((enum time_kind)TIME_KINDS)

/* The name of the symbol, "[blocked]", and its first address; also of TIME_NOT_SAMPLED. */
const char *time_kind__name(enum time_kind kind);
uint64_t time_kind__address(enum time_kind kind);

/* The kind that an address is a frame of; TIME_KINDS: of none. */
enum time_kind time_kind__at(uint64_t address);

/* The kind of a sample of one of the events of time. */
enum time_kind time_kind__of(enum writer_event event, const struct sample *sample);

#endif /* DENET_OUTPUT_PERFDATA_TIME_KIND_H */
