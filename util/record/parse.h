/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_PARSE_H
#define DENET_RECORD_PARSE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/options.h"

/* The texts of options, made into values. Nothing here prints: the caller knows the
 * option's name. */

/* Ids of processes or threads, each once, ascending. Free with id_list__free(). */
struct id_list {
	pid_t *ids;
	size_t nr;
};

/*
 * Adds the ids of a list such as "42,43" to list; what is named twice is there once.
 * 0, -EINVAL if an item is no number above 0 or the list is empty, -ERANGE if a number
 * is no PID, -ENOMEM. On error the list is as it was.
 */
int id_list__parse(struct id_list *list, const char *text);

/* Adds one id. 0 or -ENOMEM. */
int id_list__add(struct id_list *list, pid_t id);

void id_list__free(struct id_list *list);

/*
 * Reads off-CPU states: letters of ps(1), R S D T t I P, apart by commas or not, or
 * "all". Writes a bits of capture__state_bit(). 0 or -EINVAL.
 */
int parse__states(const char *text, uint32_t *states);

/*
 * Reads the size of a ring: a number of pages, or bytes with a unit (perf's -m). Rounds
 * up to a power of two. 0, -EINVAL, or -ERANGE for none or more than 1 GB.
 */
int parse__ring_pages(const char *text, size_t page_size, uint32_t *pages);

/*
 * Reads when stacks are walked: "auto", "switch-in", "switch-out", or one way of "switch-in":
 * "sched_exit_tp", "fentry". 0 or -EINVAL.
 */
int parse__attach_hook(const char *text, enum attach_hook *hook);

/* How user stacks are walked. */
enum call_graph {
	CALL_GRAPH_FP,	  /* along frame pointers */
	CALL_GRAPH_DWARF, /* from copies, by the unwinding tables */
	CALL_GRAPH_AUTO,  /* the latter for processes that turn out to need it */
};

/* As perf has it: what a sample can hold at most, and what it holds by default. */
#define PARSE_MAX_DUMP 65528
#define PARSE_DEFAULT_DUMP 8192

/*
 * Reads a --call-graph: "fp", "dwarf", "auto", "dwarf,BYTES" or "auto,BYTES"; *dump_bytes is
 * then BYTES, rounded up to a multiple of 8. 0, -EINVAL if it is none of these, -ERANGE if
 * BYTES is no number from 1 to PARSE_MAX_DUMP.
 */
int parse__call_graph(const char *text, enum call_graph *mode, uint32_t *dump_bytes);

/* Reads a share of 0 to 100 %, as in "3", "0.5" or "3%", in millionths. 0 or -EINVAL. */
int parse__percent(const char *text, uint32_t *ppm);

#endif /* DENET_RECORD_PARSE_H */
