/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_DSO_TABLE_H
#define DENET_SYMBOL_DSO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sample.h"
#include "symbol/build_id.h"

/*
 * Which files the samples of a recording need for their symbols: those that a
 * process with samples has mapped, and the kernel's modules that a frame lies in. Build-ids
 * are read for these alone. Samples may come before the records of their process.
 */
struct dso_table;

/* NULL: no memory. */
struct dso_table *dso_table__new(void);
void dso_table__delete(struct dso_table *dso_table); /* accepts NULL */

/*
 * Events of address spaces; time is CLOCK_MONOTONIC, in ns. 0 or -ENOMEM. Of mappings without a
 * file of a file system, only "[vdso]" is kept.
 */
int dso_table__map(struct dso_table *dso_table, pid_t pid, const char *path,
		   const struct file_id *id);
int dso_table__fork(struct dso_table *dso_table, pid_t pid, pid_t parent, uint64_t time);
void dso_table__exec(struct dso_table *dso_table, pid_t pid);
void dso_table__exit(struct dso_table *dso_table, pid_t pid);

/*
 * The view of the file systems that a process has, a number of mount_ns__of(). Other numbers than
 * these: the process has a mount namespace or a root of its own, with other files under the same
 * names. Children inherit it. A process that execs may have left our view before, as containers are
 * started: its view is unknown until it is set again.
 */
#define DSO_VIEW_UNKNOWN 0
#define DSO_VIEW_OURS 1

/* A process lived at time alive and saw this. 0 or -ENOMEM. */
int dso_table__set_view(struct dso_table *dso_table, pid_t pid, uint64_t view, uint64_t alive);

/* Whether the process has had samples already. */
bool dso_table__is_hit(struct dso_table *dso_table, pid_t pid);

/*
 * A window has been drained. Processes that ended before the window began are forgotten: sums come
 * when their window ends, so a process's samples may come after its exit.
 */
void dso_table__round(struct dso_table *dso_table);

/* Another file begins: nothing in it is hit yet, what is mapped stays known. */
void dso_table__begin_file(struct dso_table *dso_table);

/* The kernel or a module, as synth__kernel() names it. 0 or -ENOMEM. */
int dso_table__kernel_map(struct dso_table *dso_table, uint64_t start, uint64_t len,
			  const char *name);

/* A sample was taken: its process's files and its kernel frames are hit. 0 or -ENOMEM. */
int dso_table__sample(struct dso_table *dso_table, const struct sample *sample);

/* How many files it knows. */
size_t dso_table__count(const struct dso_table *dso_table);

struct hit {
	const char *path;
	bool kernel;  /* path is the name of the kernel or of a module */
	pid_t pid;    /* a process that had it mapped when it was hit */
	struct file_id file; /* as that process's map shows it */
	uint64_t view; /* which files that process sees */
	pid_t root;   /* its eldest ancestor that sees the same, which may live longer */
	uint64_t alive; /* a time at which the process lived, 0: not known; see build_id_query */
	bool gone;    /* the PID belongs to a process that was born after it */
	unsigned char id[BUILD_ID_MAX];
	int id_len; /* 0: not known yet */
	/* A program, or of the C library, without which hardly a chain has names. */
	bool first;
};

/* Calls fn for each; stops at its first result other than 0, which is returned. */
int dso_table__each(struct dso_table *dso_table, int (*fn)(void *ctx, const struct hit *hit),
		    void *ctx);

/*
 * The same for files of processes with another view than ours, hit or not, each once: they are out
 * of reach when the last of these processes has ended.
 */
int dso_table__each_early(struct dso_table *dso_table, int (*fn)(void *ctx, const struct hit *hit),
			  void *ctx);

/* A file passed on by dso_table__each_early() could not be asked: passes it on again. */
void dso_table__ask_again(struct dso_table *dso_table, const char *path,
			  const struct file_id *id);

/* The build-id of a file that dso_table__each_early() told. */
void dso_table__learn(struct dso_table *dso_table, const char *path, const struct file_id *file_id,
		      const unsigned char *id, int len);

#endif /* DENET_SYMBOL_DSO_TABLE_H */
