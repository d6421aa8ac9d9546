/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/dso_table.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Fewer files than this are kept, needed or not. */
#define SWEEP_MIN 4096

/* A file that some process has mapped; there is one for each path, device and inode number. */
struct file {
	char *path;
	struct file_id id;
	pid_t pid; /* of the process whose sample hit it */
	bool hit;
	unsigned int links; /* of processes that have it mapped */
	uint64_t view;      /* that process's */
	pid_t root;         /* the same */
	uint64_t alive;     /* the same */
	unsigned char build_id[BUILD_ID_MAX];
	int build_id_len;
	bool program; /* the first file that some process mapped */
	bool asked;  /* dso_table__each_early() had its turn, or will */
	bool queued; /* it is in hits.early */
	struct file *next_early;
	struct file *next;
};

/*
 * The files of an address space: a list that grows at its head only, so that a fork
 * shares its parent's tail however many files that has.
 */
struct link {
	struct file *file;
	struct link *next;
	unsigned int refs;
};

struct process {
	pid_t pid;
	struct link *files;
	bool hit; /* it has samples: all its files are hit, those to come as well */
	uint64_t view;
	pid_t root;    /* its eldest ancestor of the same view, or itself */
	uint64_t alive; /* a time at which it lived; 0: none is known */
	uint64_t born;	/* 0: not known */
	struct process *next_left; /* of hits.left */
	unsigned int left_round;
	bool left;   /* it has ended */
	bool listed; /* in hits.left; also where its PID has been used again since */
};

struct kernel_map {
	uint64_t start;
	uint64_t end;
	char *name;
	bool hit;
};

/* The trees are tsearch(3)'s. */
struct dso_table {
	void *processes;
	void *files_tree;
	struct file *files;
	struct kernel_map *kernel;
	size_t nr_kernel;
	struct file *early;
	struct process *left;
	unsigned int round;
	size_t nr_files;
	size_t sweep_at; /* number of files at which unused ones are looked for */
};

static int process__compare(const void *a, const void *b)
{
	pid_t x = ((const struct process *)a)->pid, y = ((const struct process *)b)->pid;

	return (x > y) - (x < y);
}

static int file__compare(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	if (x->id.ino != y->id.ino)
		return x->id.ino < y->id.ino ? -1 : 1;
	if (x->id.maj != y->id.maj)
		return x->id.maj < y->id.maj ? -1 : 1;
	if (x->id.min != y->id.min)
		return x->id.min < y->id.min ? -1 : 1;
	return strcmp(x->path, y->path);
}

static void link__put(struct link *link)
{
	struct link *next;

	while (link && !--link->refs) {
		next = link->next;
		link->file->links--;
		free(link);
		link = next;
	}
}

static void process__delete(void *ptr)
{
	struct process *process = ptr;

	link__put(process->files);
	free(process);
}

static struct process *dso_table__find(struct dso_table *dso_table, pid_t pid)
{
	struct process key = { .pid = pid };
	struct process **node = tfind(&key, &dso_table->processes, process__compare);

	return node ? *node : NULL;
}

static struct process *dso_table__process(struct dso_table *dso_table, pid_t pid)
{
	struct process *process = dso_table__find(dso_table, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	if (!tsearch(process, &dso_table->processes, process__compare)) {
		free(process);
		return NULL;
	}
	return process;
}

/* NULL: not known. */
static struct file *dso_table__find_file(struct dso_table *dso_table, const char *path,
					 const struct file_id *id)
{
	struct file key = { .path = (char *)(uintptr_t)path, .id = *id };
	struct file **node = tfind(&key, &dso_table->files_tree, file__compare);

	return node ? *node : NULL;
}

static struct file *dso_table__file(struct dso_table *dso_table, const char *path,
				    const struct file_id *id)
{
	struct file *file = dso_table__find_file(dso_table, path, id);

	if (file)
		return file;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->path = strdup(path);
	file->id = *id;
	if (!file->path || !tsearch(file, &dso_table->files_tree, file__compare)) {
		free(file->path);
		free(file);
		return NULL;
	}
	file->next = dso_table->files;
	dso_table->files = file;
	dso_table->nr_files++;
	return file;
}

struct dso_table *dso_table__new(void)
{
	return calloc(1, sizeof(struct dso_table));
}

static void keep(void *node)
{
	(void)node; /* the list of files owns it */
}

void dso_table__delete(struct dso_table *dso_table)
{
	struct file *file;

	if (!dso_table)
		return;
	tdestroy(dso_table->processes, process__delete);
	tdestroy(dso_table->files_tree, keep);
	while ((file = dso_table->files)) {
		dso_table->files = file->next;
		free(file->path);
		free(file);
	}
	for (size_t i = 0; i < dso_table->nr_kernel; i++)
		free(dso_table->kernel[i].name);
	free(dso_table->kernel);
	free(dso_table);
}

/* The process through which it is read. */
static void file__set_process(struct file *file, const struct process *process)
{
	file->pid = process->pid;
	file->root = process->root;
	file->view = process->view;
	file->alive = process->alive;
}

static void file__hit(struct file *file, const struct process *process)
{
	if (!file->hit)
		file__set_process(file, process);
	file->hit = true;
}

static bool is_foreign(uint64_t view)
{
	return view != DSO_VIEW_UNKNOWN && view != DSO_VIEW_OURS;
}

/* A file that may be out of reach when the recording ends is reported once before that. */
static void dso_table__queue(struct dso_table *dso_table, struct file *file,
			     const struct process *process)
{
	if (!is_foreign(process->view) || file->asked || (file->hit && !is_foreign(file->view)))
		return;
	if (!file->hit)
		file__set_process(file, process);
	file->asked = file->queued = true;
	file->next_early = dso_table->early;
	dso_table->early = file;
}

static void process__hit(struct process *process)
{
	process->hit = true;
	for (struct link *link = process->files; link; link = link->next)
		file__hit(link->file, process);
}

/* A process maps a file in several pieces, one right after the other, and maps few files
 * in all, so looking through its list keeps it short at little cost. */
static bool process__has(const struct process *process, const struct file *file)
{
	for (const struct link *link = process->files; link; link = link->next) {
		if (link->file == file)
			return true;
	}
	return false;
}

int dso_table__map(struct dso_table *dso_table, pid_t pid, const char *path,
		   const struct file_id *id)
{
	struct process *process;
	struct link *link;
	struct file *file;

	/* "//anon", "[heap]", "anon_inode:…" have no build-id. */
	if ((path[0] != '/' || path[1] == '/') && strcmp(path, "[vdso]"))
		return 0;
	process = dso_table__process(dso_table, pid);
	file = dso_table__file(dso_table, path, id);
	if (!process || !file)
		return -ENOMEM;
	if (!process->files)
		file->program = true;
	if (process__has(process, file))
		return 0;
	link = calloc(1, sizeof(*link));
	if (!link)
		return -ENOMEM;
	*link = (struct link){ .file = file, .next = process->files, .refs = 1 };
	process->files = link;
	file->links++;
	if (process->hit)
		file__hit(file, process);
	dso_table__queue(dso_table, file, process);
	return 0;
}

int dso_table__fork(struct dso_table *dso_table, pid_t pid, pid_t parent, uint64_t time)
{
	struct process *from, *process;

	if (pid == parent)
		return 0;
	from = dso_table__find(dso_table, parent);
	/* Its PID may have been that of another process, which is known. */
	if (!from && !dso_table__find(dso_table, pid))
		return 0;
	process = dso_table__process(dso_table, pid);
	if (!process)
		return -ENOMEM;
	link__put(process->files);
	process->files = from ? from->files : NULL;
	process->view = from ? from->view : DSO_VIEW_UNKNOWN;
	process->root = from ? from->root : 0;
	process->alive = process->born = time;
	process->left = false;
	if (process->files)
		process->files->refs++;
	if (process->hit)
		process__hit(process);
	return 0;
}

void dso_table__exec(struct dso_table *dso_table, pid_t pid)
{
	struct process *process = dso_table__find(dso_table, pid);

	if (!process)
		return;
	link__put(process->files);
	process->files = NULL;
	if (process->view == DSO_VIEW_OURS)
		process->view = DSO_VIEW_UNKNOWN;
}

void dso_table__exit(struct dso_table *dso_table, pid_t pid)
{
	struct process *process = dso_table__find(dso_table, pid);

	if (!process)
		return;
	process->left = true;
	process->left_round = dso_table->round;
	if (process->listed)
		return;
	process->listed = true;
	process->next_left = dso_table->left;
	dso_table->left = process;
}

/*
 * Forgets files that no process has mapped any more and no sample has hit, so that a long
 * recording of a machine that makes programs all day (a compiler farm) stays small.
 */
static void dso_table__sweep(struct dso_table *dso_table)
{
	struct file **at = &dso_table->files, *file;

	while ((file = *at)) {
		if (file->links || file->hit || file->queued) {
			at = &file->next;
			continue;
		}
		*at = file->next;
		tdelete(file, &dso_table->files_tree, file__compare);
		free(file->path);
		free(file);
		dso_table->nr_files--;
	}
	dso_table->sweep_at = 2 * dso_table->nr_files;
	if (dso_table->sweep_at < SWEEP_MIN)
		dso_table->sweep_at = SWEEP_MIN;
}

void dso_table__round(struct dso_table *dso_table)
{
	struct process **at = &dso_table->left, *process;

	while ((process = *at)) {
		if (process->left && process->left_round == dso_table->round) {
			at = &process->next_left;
			continue;
		}
		*at = process->next_left;
		process->listed = false;
		if (process->left) {
			tdelete(process, &dso_table->processes, process__compare);
			process__delete(process);
		}
	}
	dso_table->round++;
	if (dso_table->nr_files >= dso_table->sweep_at)
		dso_table__sweep(dso_table);
}

size_t dso_table__count(const struct dso_table *dso_table)
{
	return dso_table->nr_files;
}

static void forget_hit(const void *node, VISIT visit, void *ctx)
{
	(void)ctx;
	if (visit == postorder || visit == leaf)
		(*(struct process *const *)node)->hit = false;
}

void dso_table__begin_file(struct dso_table *dso_table)
{
	twalk_r(dso_table->processes, forget_hit, NULL);
	for (struct file *file = dso_table->files; file; file = file->next)
		file->hit = false;
	for (size_t i = 0; i < dso_table->nr_kernel; i++)
		dso_table->kernel[i].hit = false;
}

int dso_table__kernel_map(struct dso_table *dso_table, uint64_t start, uint64_t len,
			  const char *name)
{
	struct kernel_map *maps;
	char *copy = strdup(name);

	maps = copy ? reallocarray(dso_table->kernel, dso_table->nr_kernel + 1, sizeof(*maps))
		    : NULL;
	if (!maps) {
		free(copy);
		return -ENOMEM;
	}
	dso_table->kernel = maps;
	maps[dso_table->nr_kernel++] =
		(struct kernel_map){ .start = start, .end = start + len, .name = copy };
	return 0;
}

int dso_table__set_view(struct dso_table *dso_table, pid_t pid, uint64_t view, uint64_t alive)
{
	struct process *process = dso_table__process(dso_table, pid);

	if (!process)
		return -ENOMEM;
	if (process->view != view || !process->root)
		process->root = pid;
	process->view = view;
	if (!process->alive)
		process->alive = alive;
	for (struct link *link = process->files; is_foreign(view) && link; link = link->next)
		dso_table__queue(dso_table, link->file, process);
	return 0;
}

bool dso_table__is_hit(struct dso_table *dso_table, pid_t pid)
{
	const struct process *process = dso_table__find(dso_table, pid);

	return process && process->hit;
}

/* Modules are some dozens, most of them without hits, so a linear search will do. */
static void dso_table__kernel_frame(struct dso_table *dso_table, uint64_t ip)
{
	struct kernel_map *map;

	for (size_t i = 0; i < dso_table->nr_kernel; i++) {
		map = &dso_table->kernel[i];
		if (ip >= map->start && ip < map->end) {
			map->hit = true;
			return;
		}
	}
}

int dso_table__sample(struct dso_table *dso_table, const struct sample *sample)
{
	struct process *process;

	for (uint32_t i = 0; i < sample->kernel.nr; i++)
		dso_table__kernel_frame(dso_table, sample->kernel.ips[i]);
	if (!sample->user.nr)
		return 0;
	process = dso_table__process(dso_table, (pid_t)sample->pid);
	if (!process)
		return -ENOMEM;
	if (process->hit)
		return 0;
	if (!process->alive)
		process->alive = sample->time;
	process__hit(process);
	return 0;
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

static struct hit dso_table__describe(struct dso_table *dso_table, const struct file *file)
{
	const struct process *process = dso_table__find(dso_table, file->pid);
	struct hit hit = {
		.path = file->path,
		.pid = file->pid,
		.file = file->id,
		.view = file->view,
		.root = file->root,
		.alive = file->alive,
		.gone = process && process->born > file->alive,
		.id_len = file->build_id_len,
		.first = file->program || is_c_library(file->path),
	};

	memcpy(hit.id, file->build_id, sizeof(hit.id));
	return hit;
}

int dso_table__each(struct dso_table *dso_table, int (*fn)(void *ctx, const struct hit *hit),
		    void *ctx)
{
	struct hit hit = { .kernel = true };
	int err = 0;

	for (size_t i = 0; i < dso_table->nr_kernel && !err; i++) {
		hit.path = dso_table->kernel[i].name;
		if (dso_table->kernel[i].hit)
			err = fn(ctx, &hit);
	}
	for (const struct file *file = dso_table->files; file && !err; file = file->next) {
		if (!file->hit)
			continue;
		hit = dso_table__describe(dso_table, file);
		err = fn(ctx, &hit);
	}
	return err;
}

int dso_table__each_early(struct dso_table *dso_table, int (*fn)(void *ctx, const struct hit *hit),
			  void *ctx)
{
	struct file *file;
	struct hit hit;
	int err = 0;

	while (!err && (file = dso_table->early)) {
		dso_table->early = file->next_early;
		file->queued = false;
		hit = dso_table__describe(dso_table, file);
		err = fn(ctx, &hit);
	}
	return err;
}

void dso_table__ask_again(struct dso_table *dso_table, const char *path,
			  const struct file_id *id)
{
	struct file *file = dso_table__find_file(dso_table, path, id);

	if (!file || file->queued || file->build_id_len)
		return;
	file->queued = true;
	file->next_early = dso_table->early;
	dso_table->early = file;
}

void dso_table__learn(struct dso_table *dso_table, const char *path, const struct file_id *file_id,
		      const unsigned char *id, int len)
{
	struct file *file = dso_table__find_file(dso_table, path, file_id);

	if (!file || len <= 0 || len > BUILD_ID_MAX)
		return;
	memcpy(file->build_id, id, (size_t)len);
	file->build_id_len = len;
}
