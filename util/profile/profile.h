/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_PROFILE_H
#define DENET_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id_list.h"
#include "sample.h"
#include "symbol/symbols.h"

struct machine;

/*
 * Samples added up by thread, stack and what their time was spent on: what all outputs are made of,
 * wherever the samples come from. Not thread-safe.
 */
struct profile;

/* Kinds of time, named as their events in perf.data files. */
enum profile_event {
	PROFILE_OFFCPU, /* off the CPU, but for: */
	PROFILE_IDLE,   /* waits for work */
	PROFILE_QUEUED, /* runnable, where that was recorded apart */
	PROFILE_WAKEUP, /* of wakers: time of others, which they ended */
	PROFILE_ONCPU,
	PROFILE_EVENTS,
};

/* "offcpu-time" and so on. */
const char *profile_event__name(enum profile_event event);

/* Which samples count. Zero and NULL: all do. */
struct profile_filter {
	uint64_t from, to; /* times, ns; to is not in it; 0: no end */
	struct id_list tids;
	const char *comms;   /* names of threads, apart by commas */
	unsigned int events; /* bits 1 << enum profile_event; 0: all */
};

/* Time of one thread under one name in one stack. */
struct profile_entry {
	enum profile_event event;
	char state; /* as in struct sample */
	bool preempted;
	uint32_t pid, tid;
	const char *comm;    /* of the thread; "" if it is not known */
	const char *process; /* of its process */
	const char *wait;    /* what it waited for, in words; NULL: the file does not tell */
	uint32_t stack;
	uint64_t ns;
	uint64_t samples;
	uint64_t blocks;
	/* Both 0 for PROFILE_ONCPU, whose samples are no blocks. */
	uint64_t longest; /* of the blocks whose own length is known, ns */
	uint64_t mean;    /* the largest mean of blocks known as a sum only, ns */
};

/* symbols and filter are borrowed. NULL: no memory. */
struct profile *profile__new(struct symbols *symbols, const struct profile_filter *filter);
void profile__delete(struct profile *profile); /* accepts NULL */

/* Distinguishes stacks by their addresses, too. Called before the first sample. */
void profile__keep_addresses(struct profile *profile);

/*
 * Adds a sample, whose thread machine knows as it was at the time. wait may be NULL, and is copied.
 * 0 or -ENOMEM.
 */
int profile__add(struct profile *profile, const struct machine *machine,
		 const struct sample *sample, const char *wait);

/* The entries, in the order in which they came first. Valid until the next change. */
const struct profile_entry *profile__entries(const struct profile *profile, size_t *nr);

/*
 * The labels of a stack, once symbols are resolved, leaf first, at most max; returns how many it
 * has.
 */
size_t profile__labels(const struct profile *profile, uint32_t stack, uint32_t *labels, size_t max);

/* A frame as it was in its process. */
struct profile_frame {
	uint64_t address;
	struct symbol_place place;
};

/* How many frames a stack has, and one of them, of a profile with addresses; leaf first. */
size_t profile__nr_frames(const struct profile *profile, uint32_t stack);
struct profile_frame profile__frame(const struct profile *profile, uint32_t stack, size_t i);

/* Labels that the longest stack has. */
size_t profile__depth(const struct profile *profile);

const struct symbol_label *profile__label(const struct profile *profile, uint32_t label);
size_t profile__nr_labels(const struct profile *profile);

/* Samples and ns of an event that are in the entries. */
struct profile_sum {
	uint64_t ns, samples;
};
struct profile_sum profile__sum(const struct profile *profile, enum profile_event event);

/* Samples that the filter left out. */
struct profile_sum profile__left_out(const struct profile *profile);

/* From the start of the earliest sample to the end of the latest, ns, whatever the filter. */
uint64_t profile__span(const struct profile *profile);

#endif /* DENET_PROFILE_H */
