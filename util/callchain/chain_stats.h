/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CALLCHAIN_CHAIN_STATS_H
#define DENET_CALLCHAIN_CHAIN_STATS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sample.h"

struct machine;

/*
 * Which programs have user chains that are not whole, for how much of their time off the CPU, and
 * why: over a whole recording, in memory of a fixed size. Waits for work don't count.
 */

/* Number of names with statistics of their own. */
#define CHAIN_STATS_NAMES 64
/* Number of processes of a name that are told apart. */
#define CHAIN_STATS_PIDS 8

/* Processes of one name. */
struct chain_program {
	char comm[16];
	pid_t pids[CHAIN_STATS_PIDS]; /* those with a broken chain, the first ones */
	unsigned int nr_pids;	      /* CHAIN_STATS_PIDS + 1: there are more */
	uint64_t ns;		      /* in blocks with a chain, */
	uint64_t broken_ns;	      /* of it with one that is not whole, */
	uint64_t by_end[CHAIN_ENDS];  /* and of that, by the reason */
};

/* Zero-initialised is empty. */
struct chain_stats {
	struct chain_program programs[CHAIN_STATS_NAMES];
	size_t nr;
	struct chain_program rest; /* all further names */
	uint64_t ns;		   /* of all */
};

/* Adds a chain of ns of a process of that name. */
void chain_stats__add(struct chain_stats *stats, const char *comm, pid_t pid, enum chain_end end,
		      uint64_t ns);

/* Adds a sample with its final frames, by the name that its process had at its time. */
void chain_stats__sample(struct chain_stats *stats, const struct machine *machine,
			 const struct sample *sample);

/*
 * The program with the most time in broken chains, if that is half of its own time and a tenth of
 * all time; NULL: none.
 */
const struct chain_program *chain_stats__worst(const struct chain_stats *stats);

/* Lists the programs with broken chains, those with most time in them first; returns how many. */
size_t chain_stats__list(const struct chain_stats *stats,
			 const struct chain_program *list[CHAIN_STATS_NAMES]);

/* What ended most of a program's broken chains, by their time. */
enum chain_end chain_program__main_end(const struct chain_program *program);

#endif /* DENET_CALLCHAIN_CHAIN_STATS_H */
