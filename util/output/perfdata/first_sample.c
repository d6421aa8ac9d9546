/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/first_sample.h"

#include <stddef.h>
#include <string.h>

#include "output/perfdata/encode.h"
#include "output/perfdata/layout.h"
#include "output/perfdata/records.h"

static void note_earlier(uint64_t *earliest, uint64_t time)
{
	if (!*earliest || time < *earliest)
		*earliest = time;
}

static int encode(struct buffer *out, const struct sample *sample, bool cgroups, bool stacks)
{
	return stacks ? encode__stack_sample(out, WRITER_OFFCPU_TIME, cgroups, sample)
		      : encode__sample(out, WRITER_OFFCPU_TIME, cgroups, sample);
}

int first_sample__note(struct first_sample *first, bool is_offcpu, const struct sample *sample,
		       bool cgroups, bool stacks)
{
	struct sample marker = *sample;

	if (first->settled)
		return 0;
	note_earlier(is_offcpu ? &first->offcpu_ns : &first->other_ns, sample->time);
	/* With thread and chain of one of offcpu-time, reports get no new line. */
	if (first->record.len && (first->of_offcpu || !is_offcpu))
		return 0;
	first->record.len = 0;
	first->of_offcpu = is_offcpu;
	marker.period = 0;
	marker.count = 0;
	marker.copy = NULL;
	return encode(&first->record, &marker, cgroups, stacks);
}

void first_sample__note_time(struct first_sample *first, uint64_t time)
{
	note_earlier(&first->other_ns, time);
}

int first_sample__round(struct first_sample *first, bool last, struct buffer *out)
{
	uint64_t time = first->other_ns - 1;

	/* The next round may still hold older samples than this one; the round after it may not. */
	if (first->settled || !first->record.len || (!last && !first->rounds++))
		return 0;
	first->settled = true;
	if (!first->other_ns || (first->offcpu_ns && first->offcpu_ns <= first->other_ns))
		return 0;
	memcpy(first->record.data + offsetof(struct layout_sample, time), &time, sizeof(time));
	return buffer__append(out, first->record.data, first->record.len);
}

void first_sample__free(struct first_sample *first)
{
	buffer__free(&first->record);
}
