/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_GRAPH_TRACER_H
#define DENET_TESTS_GRAPH_TRACER_H

#include <stdbool.h>

/*
 * ftrace's tracer function_graph, for some functions in which threads wait: it replaces the return
 * addresses of functions on the stacks. It is that of the whole machine, so only a guest's test
 * may take it.
 */

/* Whether the kernel has it, and tracefs is mounted. */
bool graph_tracer__exists(void);

/* Begins to trace. 0; -EBUSY if another tracer is in use, or as it is: nothing is changed then. */
int graph_tracer__begin(void);

/* Ends it, whoever began it, and no other tracer; all functions may be traced again. */
void graph_tracer__end(void);

#endif /* DENET_TESTS_GRAPH_TRACER_H */
