/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_FIRST_SAMPLE_H
#define DENET_OUTPUT_PERFDATA_FIRST_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "sample.h"

/*
 * Programs that fold the output of perf script show only the event of its first sample. Where a
 * sample of another event is the earliest one of a file, an offcpu-time sample of 0 ns is put
 * before it, which changes no sum. Zero-initialised is empty.
 */
struct first_sample {
	struct buffer record;  /* the encoded sample without its time; empty: no sample was seen */
	bool of_offcpu;	       /* it was made from a sample of offcpu-time */
	uint64_t offcpu_ns;    /* time of the earliest sample of offcpu-time; 0: none was seen */
	uint64_t other_ns;     /* and of all other events */
	unsigned int rounds;   /* rounds ended since a sample was seen */
	bool settled;	       /* the decision was made */
};

/* Notes a written sample of offcpu-time or another event. 0 or -ENOMEM. */
int first_sample__note(struct first_sample *first, bool is_offcpu, const struct sample *sample,
		       bool cgroups, bool stacks);

/* Notes a written sample of a tracepoint, which has no frames. */
void first_sample__note_time(struct first_sample *first, uint64_t time);

/*
 * At the end of a round, or of the file (last): appends the sample to out if it is needed and no
 * earlier sample of another event can come. Called before the round's record. 0 or -ENOMEM.
 */
int first_sample__round(struct first_sample *first, bool last, struct buffer *out);

void first_sample__free(struct first_sample *first);

#endif /* DENET_OUTPUT_PERFDATA_FIRST_SAMPLE_H */
