/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_OWN_COST_H
#define DENET_TOP_OWN_COST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * --max-overhead: compares own CPU time with the limit once a second, and chooses a period that
 * keeps within it. A single expensive second makes it twice as long at most; it becomes shorter
 * again once what was used beyond the limit is made up for. The iterator runs in the kernel for the
 * process that reads it, so that the CPU time of this process and its helpers is all there is.
 * Reading what --track follows does not depend on the period: it gets what looks leave of the
 * limit, and half of it at least. Times are ns of one clock. Pure.
 */
struct own_cost {
	uint32_t limit_ppm;    /* millionths of a CPU; 0: none */
	uint64_t wanted_ns;    /* the period that the user wants */
	uint64_t most_ns;      /* the longest one */
	uint64_t period_ns;    /* that of now */
	uint64_t since, cpu_ns;	      /* when the present second began, */
	uint64_t told, told_cpu_ns;   /* the present table, */
	uint64_t began, first_cpu_ns; /* and all */
	double fit_ns;		      /* the period that fits by the last second; 0: not known */
	double debt;		      /* used beyond the limit of looks, in seconds of that limit */
	bool is_judged;		      /* the first second is over */
	uint64_t latest_cpu_ns;	      /* at the latest look */
	uint32_t looks;		      /* in the present second */
	uint32_t ppm;		      /* of the last one; 0: it was not measured yet */
	uint32_t read_ppm;	      /* of it, reading */
	uint64_t read_ns;	      /* CPU time of reading, in the present second */
	uint64_t allowance_ns;	      /* that is left to it, */
	uint64_t allowed_at;	      /* as of then */
	bool used_up;		      /* there was not enough of it */
};

/* cpu_ns: what has been used so far. */
void own_cost__init(struct own_cost *cost, uint32_t limit_ppm, uint64_t wanted_ns,
		    uint64_t most_ns, uint64_t now, uint64_t cpu_ns);

/* A look has been taken. True: the period is another one now. */
bool own_cost__look(struct own_cost *cost, uint64_t now, uint64_t cpu_ns);

/*
 * CPU time that reading may take now, 0 if it has to wait; UINT64_MAX: no limit. What is not used
 * is kept for a second at most.
 */
uint64_t own_cost__allowance(struct own_cost *cost, uint64_t now);

/* Reading has taken so much of it. */
void own_cost__spend(struct own_cost *cost, uint64_t ns);

/* The share of the time since the last call, and that of all, up to the latest look. */
uint32_t own_cost__tell(struct own_cost *cost, uint64_t now);
uint32_t own_cost__mean(const struct own_cost *cost, uint64_t now);

/* CPU time of this process and of those that have ended. */
uint64_t own_cost__cpu_ns(void);

#endif /* DENET_TOP_OWN_COST_H */
