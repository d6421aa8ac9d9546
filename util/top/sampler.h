/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SAMPLER_H
#define DENET_TOP_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/track.h"
#include "capture/options.h"
#include "top/thread_sample.h"

/* What is followed between looks. */
struct track_options {
	uint32_t what;	 /* TRACK_WIRE_CALLS ...; 0: nothing */
	const char *pin; /* a directory where it is shared; NULL: our own */
	bool records;	 /* calls and requests that were met are told when they end, */
	uint64_t min_ns; /* and all that take so long; TRACK_WIRE_NEVER: none */
};

/* Which threads are looked at. Everything is borrowed until sampler__new() returns. */
struct sampler_options {
	struct capture_targets targets;
	uint32_t states;	  /* bits of enum top_wire_state; 0: all that are active */
	const char *calls;	  /* names of system calls, apart by commas; NULL: any */
	const char *comms;	  /* names of threads, the same */
	const char *idle;	  /* a file of rules that are added, see capture/idle.h; or NULL */
	bool all_states;	  /* idle threads as well */
	bool kernel_stacks;
	bool user_stacks;
	bool frame_pointers; /* user stacks go by these alone, not by unwind tables */
	bool cmdlines;	  /* samples have the command lines of their processes, */
	bool aio;	  /* what calls of Linux AIO are about, */
	bool lock_owners; /* and who holds the locks that they wait for */
	struct track_options track;
};

/* A look at all threads. */
struct top_pass {
	uint64_t time;	    /* ns, CLOCK_MONOTONIC, when it began */
	uint64_t wall_ns;   /* the same since the epoch */
	uint64_t weight_ns; /* time that it stands for */
	uint64_t unseen_ns; /* time before that, which no look stands for */
	bool has_stacks;    /* it takes stacks, if such are wanted, */
	uint64_t stacks_ns; /* and among the passes that do, stands for so much; else 0 */
	uint32_t own_ppm;   /* what looking has cost lately, in millionths of a CPU; 0: unknown */
	struct top_wire_counts counts; /* complete once it has ended */
};

/* Looks at threads in the kernel, which keeps those that are wanted. */
struct sampler;

/* On error NULL, with a negative errno in *err (logged). */
struct sampler *sampler__new(const struct sampler_options *options, int *err);
void sampler__delete(struct sampler *sampler); /* accepts NULL */

/* Receives a thread, valid during the call. 0, or an error that ends the pass. */
typedef int (*sampler_fn)(void *ctx, const struct top_pass *pass,
			  const struct thread_sample *sample);

/*
 * The next look is due in a moment, one in period_ns: until then this process has the priority to
 * take place when it is due. A busy CPU would be looked at when it is given up else, and not while
 * it is busy.
 */
void sampler__expect(struct sampler *sampler, uint64_t period_ns);

/* No look follows. */
void sampler__relax(struct sampler *sampler);

/* Looks once. The pass has its time, wall_ns and weight_ns; its counts are set. 0 or -errno. */
int sampler__pass(struct sampler *sampler, struct top_pass *pass);

/*
 * The threads of the last look that have a user stack, with as much as tells what that is: its
 * frames, and when and of which thread they are. 0, fn's error or a negative errno.
 */
int sampler__user_stacks(struct sampler *sampler, const struct top_pass *pass, sampler_fn fn,
			 void *ctx);

/* The threads of the last look, once. 0, fn's error or a negative errno. */
int sampler__threads(struct sampler *sampler, const struct top_pass *pass, sampler_fn fn,
		     void *ctx);

/* CPU time of the processes that read memory of others. */
uint64_t sampler__helpers_cpu_ns(const struct sampler *sampler);

/*
 * Passes on the records of what has ended, see track_wire.h, until that time has come. 0, fn's
 * error or a negative errno.
 */
int sampler__read_ended(struct sampler *sampler, uint64_t until, track_record_fn fn, void *ctx);

/* The same at the end: what is left at that time is lost. */
int sampler__read_last(struct sampler *sampler, uint64_t until, track_record_fn fn, void *ctx);

/* Warns of what was tracked and got lost. limited: it was read as --max-overhead allowed. */
void sampler__warn_of_losses(const struct sampler *sampler, bool limited);

#endif /* DENET_TOP_SAMPLER_H */
