/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_DSO_TABLE_H
#define DENET_SYMBOL_DSO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "machine/task_event.h"
#include "sample.h"
#include "symbol/build_id.h"

struct machine;

/*
 * Which files the samples of a recording need for their symbols: those that a process with samples
 * has mapped, and the kernel's modules that a frame lies in. Build-ids are read for these alone.
 * The machine knows the processes and what they map. Samples may come before the records of their
 * process.
 */
struct dso_table;

/* A file of the table, valid until dso_table__round() or dso_table__begin_file(). */
struct known_dso;

/* Of a machine, which must outlive it. NULL: no memory. */
struct dso_table *dso_table__new(const struct machine *machine);
void dso_table__delete(struct dso_table *dso_table); /* accepts NULL */

/* Follows an event that the machine has handled. 0 or -ENOMEM. */
int dso_table__follow(struct dso_table *dso_table, const struct task_event *event);

/*
 * A process lived at time alive (CLOCK_MONOTONIC, ns) and saw that, a MACHINE_VIEW_* or another
 * number of mount_ns__of(). eldest: its eldest ancestor with that view, see root of struct hit; 0:
 * the one inherited from its parent, or itself. 0 or -ENOMEM.
 */
int dso_table__set_view(struct dso_table *dso_table, pid_t pid, uint64_t view, uint64_t alive,
			pid_t eldest);

/* Whether the eldest is not known: who calls dso_table__set_view() looks for it in /proc. */
bool dso_table__wants_eldest(const struct dso_table *dso_table, pid_t pid, uint64_t view,
			     uint64_t alive);

/* Whether the process that had the PID at that time has had samples already. */
bool dso_table__is_hit(const struct dso_table *dso_table, pid_t pid, uint64_t time);

/* A window has been drained: forgets files that nothing maps any more and no sample has hit. */
void dso_table__round(struct dso_table *dso_table);

/* Another file begins: nothing in it is hit yet, what is mapped stays known. */
void dso_table__begin_file(struct dso_table *dso_table);

/* A sample was taken: its process's files and its kernel frames are hit. 0 or -ENOMEM. */
int dso_table__sample(struct dso_table *dso_table, const struct sample *sample);

/* How many files it knows. */
size_t dso_table__count(const struct dso_table *dso_table);

struct hit {
	const char *path;
	bool kernel;	     /* path is the name of the kernel or of a module */
	struct known_dso *dso; /* NULL: of the kernel */
	pid_t pid;	     /* a process that had it mapped when it was hit */
	struct file_id file; /* as that process's map shows it */
	uint64_t view;	     /* which files that process sees */
	pid_t root;	     /* its eldest ancestor that sees the same, which may live longer */
	uint64_t alive; /* a time at which the process lived, 0: not known; see build_id_query */
	bool gone; /* the process has exec'd since, or its PID belongs to one born after it */
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
void dso_table__ask_again(struct dso_table *dso_table, struct known_dso *dso);

/* The build-id of a file that dso_table__each_early() told, of len bytes. */
void known_dso__learn(struct known_dso *dso, const unsigned char *id, int len);

#endif /* DENET_SYMBOL_DSO_TABLE_H */
