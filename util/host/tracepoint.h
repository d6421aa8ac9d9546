/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_TRACEPOINT_H
#define DENET_HOST_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A tracepoint of the kernel, as its tracefs describes it. */
struct tracepoint {
	char *name;	/* SUBSYS:NAME */
	char *system;	/* SUBSYS */
	uint16_t id;	/* the config of its perf event, and the first field of its data */
	char *format;	/* the text of tracefs: its fields, and how they are printed */
};

/* Free with tracepoint_list__free(). */
struct tracepoint_list {
	struct tracepoint *all;
	size_t nr; /* at most TRACEPOINTS_MAX */
};

#define TRACEPOINTS_MAX 20

/*
 * Reads the tracepoints of a list of names SUBSYS:NAME, apart by commas; a name that is given twice
 * counts once. tracefs: where it is mounted; NULL: where it usually is. libtraceevent must be able
 * to parse each format. 0, or (logged, with what helps) -ENOENT: there is no such tracepoint or no
 * tracefs, -EACCES, -EINVAL: the format is none, -E2BIG: there are too many, -ENOMEM.
 */
int tracepoint_list__read(struct tracepoint_list *list, const char *names, const char *tracefs);
void tracepoint_list__free(struct tracepoint_list *list);

/* True if perf events of this tracepoint can be opened: tracefs is mounted and has its id. */
bool tracepoint__is_there(const char *system, const char *event);

#endif /* DENET_HOST_TRACEPOINT_H */
