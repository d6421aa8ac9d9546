/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_OVERHEAD_H
#define DENET_SESSION_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * --max-overhead: judges once a second what the recording costs, and which period of the draw
 * would keep that below the limit. Pure arithmetic: session/rate_control.h measures.
 *
 * The cost is the run time of the BPF programs on the busiest CPU, as a share of that CPU, and the
 * CPU time of this process and its helpers as a share of all CPUs. It is split into what sampling
 * can lower (stacks that are walked, samples that are written and unwound) and what it cannot (the
 * switches themselves, records of the side band). A period is asked for only if it is predicted to
 * save a good part of the cost, and only one that does; it is taken back once all blocks are
 * predicted to be affordable again.
 */
struct overhead {
	uint32_t limit_ppm;	/* of a CPU; 0: no limit */
	double run_ns;		/* of the least run of a program, as measured last */
	double runs;		/* runs a second then */
	double seen;		/* blocks a second then */
	double samples_per_block; /* while all blocks counted: sums are fewer than blocks */
	unsigned int calm;	/* seconds for which all blocks would have been affordable */
	unsigned int patience;	/* of these, until all blocks count again */
	uint64_t returned;	/* time of the last return to that, ns; 0: never */
};

/* Events and costs since the previous look. */
struct overhead_look {
	uint64_t now; /* ns, CLOCK_MONOTONIC */
	uint64_t elapsed_ns;
	unsigned int nr_cpus;
	uint64_t period_ns;  /* set by --max-overhead; 0: none */
	uint64_t base_period; /* without --max-overhead; 0: all blocks are recorded */
	bool trusted;	     /* a step may be taken: run time was measured, or cannot be */
	uint64_t runs;	     /* of the programs, on all CPUs; 0: not measured */
	uint64_t run_ns;     /* of these */
	uint64_t seen;	     /* blocks */
	uint64_t seen_busiest; /* of these, on the busiest CPU */
	uint64_t kept;	     /* of these, in samples */
	uint64_t not_drawn;  /* of these, not drawn */
	uint64_t short_ns;   /* of the blocks below the threshold, kept or not */
	uint64_t samples;    /* that this process handled: blocks and sums */
	uint64_t sideband;   /* records of the side band that it handled */
	uint64_t own_ns;     /* CPU time of this process and its helpers */
	uint64_t unwind_ns;  /* of it, of the process that unwinds */
};

enum overhead_advice {
	OVERHEAD_STAYS = 0, /* nothing changes */
	OVERHEAD_SAMPLES,   /* period_ns, which is greater than the one in force, or finer again */
	OVERHEAD_RETURNS,   /* --max-overhead needs no period any more */
	OVERHEAD_HELPLESS,  /* it costs too much, and sampling would not lower that */
};

struct overhead_verdict {
	enum overhead_advice advice;
	uint64_t period_ns; /* requested period; 0: none */
	uint32_t bpf_ppm; /* the cost, in millionths of a CPU */
	uint32_t own_ppm;
	uint32_t fixed_ppm; /* of both, the part that sampling cannot lower */
};

/* Begins without a period. limit_ppm: of a CPU; 0: no limit. */
void overhead__init(struct overhead *overhead, uint32_t limit_ppm);

/* elapsed_ns must not be 0. */
void overhead__judge(struct overhead *overhead, const struct overhead_look *look,
		     struct overhead_verdict *verdict);

#endif /* DENET_SESSION_OVERHEAD_H */
