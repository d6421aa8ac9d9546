/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/dso_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "machine/machine.h"

/* Fewer files than this are kept, needed or not. */
#define SWEEP_MIN 4096

/* A file that some process has mapped. */
struct known_dso {
	struct mapped_file *file; /* one reference is ours */
	pid_t pid;		  /* of the process through which it is read */
	uint64_t view;		  /* that process's */
	pid_t root;		  /* its eldest */
	uint64_t alive;		  /* the same */
	unsigned char build_id[BUILD_ID_MAX];
	int build_id_len;
	bool hit;
	bool left;   /* hit, but that process has exec'd since, and may see other files now */
	bool asked;  /* dso_table__each_early() had its turn, or will */
	bool queued; /* it is in the table's early */
	struct known_dso *next_early;
	struct known_dso *next;
};

struct dso_table {
	const struct machine *machine;
	struct idmap by_file; /* from a mapped file's address */
	struct known_dso *dsos;
	size_t nr_dsos;
	size_t sweep_at; /* number of files at which unused ones are looked for */
	struct known_dso *early;
	bool *kernel_hit; /* of each of the machine's kernel maps */
	size_t nr_kernel_hit;
	unsigned int file; /* its number, see struct process */
	/* Processes with samples whose records have not come: of this round, and of the last. */
	struct idmap strangers, former_strangers;
};

struct dso_table *dso_table__new(const struct machine *machine)
{
	struct dso_table *dso_table = calloc(1, sizeof(*dso_table));

	if (dso_table) {
		dso_table->machine = machine;
		dso_table->file = 1;
	}
	return dso_table;
}

static void known_dso__delete(struct known_dso *dso)
{
	mapped_file__put(dso->file);
	free(dso);
}

void dso_table__delete(struct dso_table *dso_table)
{
	struct known_dso *dso;

	if (!dso_table)
		return;
	while ((dso = dso_table->dsos)) {
		dso_table->dsos = dso->next;
		known_dso__delete(dso);
	}
	idmap__free(&dso_table->by_file);
	idmap__free(&dso_table->strangers);
	idmap__free(&dso_table->former_strangers);
	free(dso_table->kernel_hit);
	free(dso_table);
}

/* "//anon", "[heap]", "anon_inode:..." have no build-id. */
static bool has_build_id(const struct mapped_file *file)
{
	return (file->path[0] == '/' && file->path[1] != '/') || !strcmp(file->path, "[vdso]");
}

/* NULL: no memory. */
static struct known_dso *dso_table__dso(struct dso_table *dso_table, struct mapped_file *file)
{
	uint64_t *place = idmap__get(&dso_table->by_file, (uintptr_t)file);
	struct known_dso *dso;

	if (!place || *place)
		return place ? (struct known_dso *)(uintptr_t)*place : NULL;
	dso = calloc(1, sizeof(*dso));
	if (!dso) {
		idmap__remove(&dso_table->by_file, (uintptr_t)file);
		return NULL;
	}
	*place = (uintptr_t)dso;
	dso->file = mapped_file__get(file);
	dso->next = dso_table->dsos;
	dso_table->dsos = dso;
	dso_table->nr_dsos++;
	return dso;
}

/* The process through which it is read. */
static void known_dso__set_process(struct known_dso *dso, const struct process *process)
{
	dso->pid = process->pid;
	dso->root = process->eldest;
	dso->view = process->view;
	dso->alive = process->alive;
}

static bool is_foreign(uint64_t view)
{
	return view != MACHINE_VIEW_UNKNOWN && view != MACHINE_VIEW_OURS;
}

/*
 * Whether the process through which a file is to be read has ended. Its mount namespace may have
 * ended with it.
 */
static bool dso_table__has_lost(const struct dso_table *dso_table, const struct known_dso *dso)
{
	return is_foreign(dso->view) &&
	       !process__lives(machine__process_at(dso_table->machine, dso->pid, dso->alive));
}

/*
 * Whether a file is better read through that process than through the one chosen before, whose view
 * is not known, or which has ended.
 */
static bool dso_table__is_better(const struct dso_table *dso_table, const struct known_dso *dso,
				 const struct process *process)
{
	if (dso->left)
		return true;
	if (process->view == MACHINE_VIEW_UNKNOWN)
		return false;
	return dso->view == MACHINE_VIEW_UNKNOWN ||
	       (process__lives(process) && dso_table__has_lost(dso_table, dso));
}

/* left: the file is of a program that the process ran before its latest exec. */
static void dso_table__hit(const struct dso_table *dso_table, struct known_dso *dso,
			   const struct process *process, bool left)
{
	if (!dso->hit || (!left && dso_table__is_better(dso_table, dso, process))) {
		known_dso__set_process(dso, process);
		dso->left = left;
		if (left)
			dso->view = MACHINE_VIEW_UNKNOWN;
	}
	dso->hit = true;
}

static void dso_table__queue(struct dso_table *dso_table, struct known_dso *dso)
{
	dso->queued = true;
	dso->next_early = dso_table->early;
	dso_table->early = dso;
}

/*
 * A process has that file: with samples, it is hit. A file that may be out of reach when the
 * recording ends is queued once, to be reported before that.
 */
static int dso_table__add(struct dso_table *dso_table, struct mapped_file *file,
			  const struct process *process, bool left)
{
	bool is_hit = process->sampled_in == dso_table->file;
	struct known_dso *dso;

	if ((!is_hit && !is_foreign(process->view)) || !has_build_id(file))
		return 0;
	dso = dso_table__dso(dso_table, file);
	if (!dso)
		return -ENOMEM;
	if (is_hit)
		dso_table__hit(dso_table, dso, process, left);
	if (left || !is_foreign(process->view) || dso->asked ||
	    (dso->hit && !is_foreign(dso->view)))
		return 0;
	if (!dso->hit)
		known_dso__set_process(dso, process);
	dso->asked = true;
	dso_table__queue(dso_table, dso);
	return 0;
}

/* The files of an era that were mapped at that time or later. */
static int dso_table__add_era(struct dso_table *dso_table, const struct process *process,
			      const struct era *era, uint64_t time)
{
	size_t nr = era->maps ? maps__count(era->maps) : 0;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		const struct maps_entry *map = maps__entry(era->maps, i);

		if (time < map->died)
			err = dso_table__add(dso_table, map->file, process,
					     era != process->space.eras);
	}
	return err;
}

/*
 * A process has a sample of that time: the files of the program that it ran then are hit, and those
 * of all later ones.
 */
static int dso_table__hit_process(struct dso_table *dso_table, struct process *process,
				  uint64_t time)
{
	const struct era *era = process->space.eras;
	int err = 0;

	process->sampled_in = dso_table->file;
	process->sampled_since = time;
	if (!process->alive)
		process->alive = time;
	for (; era && !err; era = era->mapped > time ? era->before : NULL)
		err = dso_table__add_era(dso_table, process, era, time);
	return err;
}

/* The process that had the PID at that time; NULL: not known yet. */
static struct process *dso_table__process(const struct dso_table *dso_table, pid_t pid,
					  uint64_t time)
{
	struct process *process = machine__process_at(dso_table->machine, pid, time);

	return process && process->died >= time ? process : NULL;
}

static bool is_stranger(const struct dso_table *dso_table, pid_t pid)
{
	return idmap__find(&dso_table->strangers, (uint32_t)pid) ||
	       idmap__find(&dso_table->former_strangers, (uint32_t)pid);
}

/* The records of a process come whose samples have come already. */
static int dso_table__meet(struct dso_table *dso_table, struct process *process, uint64_t time)
{
	if (!is_stranger(dso_table, process->pid))
		return 0;
	idmap__remove(&dso_table->strangers, (uint32_t)process->pid);
	idmap__remove(&dso_table->former_strangers, (uint32_t)process->pid);
	return dso_table__hit_process(dso_table, process, time);
}

static int dso_table__map(struct dso_table *dso_table, const struct process *process,
			  const struct task_event *event)
{
	const struct maps *maps = process__maps_at(process, event->time);
	const struct maps_entry *map =
		maps ? maps__find(maps, event->time, event->map.start) : NULL;

	return map ? dso_table__add(dso_table, map->file, process, false) : 0;
}

int dso_table__follow(struct dso_table *dso_table, const struct task_event *event)
{
	struct process *process = machine__process_at(dso_table->machine, event->pid, event->time);
	int err;

	if (!process || event->kind == TASK_EVENT_CGROUP || event->kind == TASK_EVENT_KERNEL_MMAP)
		return 0;
	err = dso_table__meet(dso_table, process, event->time);
	if (err || event->kind != TASK_EVENT_MMAP || event->map.data)
		return err;
	return dso_table__map(dso_table, process, event);
}

/*
 * Forgets files that no process has mapped any more and no sample has hit, so that a long
 * recording of a machine that makes programs all day (a compiler farm) stays small.
 */
static void dso_table__sweep(struct dso_table *dso_table)
{
	struct known_dso **at = &dso_table->dsos, *dso;

	while ((dso = *at)) {
		if (dso->file->refs > 1 || dso->hit || dso->queued) {
			at = &dso->next;
			continue;
		}
		*at = dso->next;
		idmap__remove(&dso_table->by_file, (uintptr_t)dso->file);
		known_dso__delete(dso);
		dso_table->nr_dsos--;
	}
	dso_table->sweep_at = 2 * dso_table->nr_dsos;
	if (dso_table->sweep_at < SWEEP_MIN)
		dso_table->sweep_at = SWEEP_MIN;
}

void dso_table__round(struct dso_table *dso_table)
{
	const struct idmap empty = dso_table->former_strangers;

	dso_table->former_strangers = dso_table->strangers;
	dso_table->strangers = empty;
	idmap__clear(&dso_table->strangers);
	if (dso_table->nr_dsos >= dso_table->sweep_at)
		dso_table__sweep(dso_table);
}

size_t dso_table__count(const struct dso_table *dso_table)
{
	return dso_table->nr_dsos;
}

void dso_table__begin_file(struct dso_table *dso_table)
{
	dso_table->file++;
	for (struct known_dso *dso = dso_table->dsos; dso; dso = dso->next)
		dso->hit = false;
	for (size_t i = 0; i < dso_table->nr_kernel_hit; i++)
		dso_table->kernel_hit[i] = false;
	idmap__clear(&dso_table->strangers);
	idmap__clear(&dso_table->former_strangers);
}

bool dso_table__wants_eldest(const struct dso_table *dso_table, pid_t pid, uint64_t view,
			     uint64_t alive)
{
	const struct process *process = dso_table__process(dso_table, pid, alive);

	return is_foreign(view) && process && (process->view != view || !process->eldest);
}

int dso_table__set_view(struct dso_table *dso_table, pid_t pid, uint64_t view, uint64_t alive,
			pid_t eldest)
{
	struct process *process = dso_table__process(dso_table, pid, alive);

	if (!process)
		return 0;
	if (eldest || process->view != view || !process->eldest)
		process->eldest = eldest ? eldest : pid;
	process->view = view;
	if (!process->alive)
		process->alive = alive;
	if (!is_foreign(view) || !process->space.eras)
		return 0;
	return dso_table__add_era(dso_table, process, process->space.eras, UINT64_MAX - 1);
}

bool dso_table__is_hit(const struct dso_table *dso_table, pid_t pid, uint64_t time)
{
	const struct process *process = dso_table__process(dso_table, pid, time);

	return process ? process->sampled_in == dso_table->file : is_stranger(dso_table, pid);
}

/* Modules are some dozens, most of them without hits, so a linear search will do. */
static int dso_table__kernel_frame(struct dso_table *dso_table, uint64_t ip)
{
	size_t nr;
	const struct task_map *maps = machine__kernel_maps(dso_table->machine, &nr);
	bool *hit;

	if (nr > dso_table->nr_kernel_hit) {
		hit = reallocarray(dso_table->kernel_hit, nr, sizeof(*hit));
		if (!hit)
			return -ENOMEM;
		memset(hit + dso_table->nr_kernel_hit, 0,
		       (nr - dso_table->nr_kernel_hit) * sizeof(*hit));
		dso_table->kernel_hit = hit;
		dso_table->nr_kernel_hit = nr;
	}
	for (size_t i = 0; i < nr; i++) {
		if (ip - maps[i].start < maps[i].len) {
			dso_table->kernel_hit[i] = true;
			break;
		}
	}
	return 0;
}

int dso_table__sample(struct dso_table *dso_table, const struct sample *sample)
{
	struct process *process;
	int err = 0;

	for (uint32_t i = 0; i < sample->kernel.nr && !err; i++)
		err = dso_table__kernel_frame(dso_table, sample->kernel.ips[i]);
	if (err || !sample->user.nr)
		return err;
	process = dso_table__process(dso_table, (pid_t)sample->pid, sample->time);
	if (!process)
		return idmap__get(&dso_table->strangers, sample->pid) ? 0 : -ENOMEM;
	if (process->sampled_in == dso_table->file && sample->time >= process->sampled_since)
		return 0;
	return dso_table__hit_process(dso_table, process, sample->time);
}

/* By its name: libc.so.6, libc-2.31.so, ld-linux-x86-64.so.2, ld-musl-x86_64.so.1. */
static bool is_c_library(const char *path)
{
	static const char *const names[] = { "libc.so", "libc-", "ld-linux", "ld-musl", "ld-2." };
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; slash && i < sizeof(names) / sizeof(*names); i++) {
		if (!strncmp(slash + 1, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

static struct hit dso_table__describe(const struct dso_table *dso_table, struct known_dso *dso)
{
	const struct process *process = machine__process(dso_table->machine, dso->pid);
	const struct mapped_file *file = dso->file;
	struct hit hit = {
		.path = file->path,
		.dso = dso,
		.pid = dso->pid,
		.file = { .ino = file->ino, .maj = file->maj, .min = file->min },
		.view = dso->view,
		.root = dso->root,
		.alive = dso->alive,
		.gone = dso->left || (process && process->born > dso->alive),
		.id_len = dso->build_id_len,
		.first = file->program || is_c_library(file->path),
	};

	memcpy(hit.id, dso->build_id, sizeof(hit.id));
	return hit;
}

int dso_table__each(struct dso_table *dso_table, int (*fn)(void *ctx, const struct hit *hit),
		    void *ctx)
{
	struct hit hit = { .kernel = true };
	const struct task_map *maps;
	size_t nr;
	int err = 0;

	maps = machine__kernel_maps(dso_table->machine, &nr);
	for (size_t i = 0; i < dso_table->nr_kernel_hit && !err; i++) {
		hit.path = maps[i].path;
		if (dso_table->kernel_hit[i])
			err = fn(ctx, &hit);
	}
	for (struct known_dso *dso = dso_table->dsos; dso && !err; dso = dso->next) {
		if (!dso->hit)
			continue;
		hit = dso_table__describe(dso_table, dso);
		err = fn(ctx, &hit);
	}
	return err;
}

int dso_table__each_early(struct dso_table *dso_table, int (*fn)(void *ctx, const struct hit *hit),
			  void *ctx)
{
	struct hit hit;
	struct known_dso *dso;
	int err = 0;

	while (!err && (dso = dso_table->early)) {
		dso_table->early = dso->next_early;
		dso->queued = false;
		hit = dso_table__describe(dso_table, dso);
		err = fn(ctx, &hit);
	}
	return err;
}

void dso_table__ask_again(struct dso_table *dso_table, struct known_dso *dso)
{
	if (!dso->queued && !dso->build_id_len)
		dso_table__queue(dso_table, dso);
}

void known_dso__learn(struct known_dso *dso, const unsigned char *id, int len)
{
	if (len <= 0 || len > BUILD_ID_MAX)
		return;
	memcpy(dso->build_id, id, (size_t)len);
	dso->build_id_len = len;
}
