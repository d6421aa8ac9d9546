/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/dso_table.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Fewer files than this are kept, needed or not. */
#define SWEEP_MIN 4096

/* A file that some process has mapped; there is one for each path and inode number. */
struct file {
	char *path;
	uint64_t ino;
	pid_t pid; /* of the process whose sample hit it */
	bool hit;
	unsigned int links; /* of processes that have it mapped */
	uint64_t view;      /* that process's */
	pid_t root;         /* the same */
	unsigned char id[BUILD_ID_MAX];
	int id_len;
	bool asked;  /* hits__each_early() had its turn, or will */
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
	uint64_t view; /* 0: it sees the files that we see */
	pid_t root;    /* its eldest ancestor of the same view, or itself */
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
struct hits {
	void *processes;
	void *files_tree;
	struct file *files;
	struct kernel_map *kernel;
	size_t nr_kernel;
	struct file *early;
	struct process *left;
	unsigned int round;
	size_t nr_files;
	size_t sweep_at; /* number of files at which those that nobody needs are looked for */
};

static int process__compare(const void *a, const void *b)
{
	pid_t x = ((const struct process *)a)->pid, y = ((const struct process *)b)->pid;

	return (x > y) - (x < y);
}

static int file__compare(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
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

static struct process *hits__find(struct hits *hits, pid_t pid)
{
	struct process key = { .pid = pid };
	struct process **node = tfind(&key, &hits->processes, process__compare);

	return node ? *node : NULL;
}

static struct process *hits__process(struct hits *hits, pid_t pid)
{
	struct process *process = hits__find(hits, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	if (!tsearch(process, &hits->processes, process__compare)) {
		free(process);
		return NULL;
	}
	return process;
}

static struct file *hits__file(struct hits *hits, const char *path, uint64_t ino)
{
	struct file key = { .path = (char *)(uintptr_t)path, .ino = ino };
	struct file **node = tfind(&key, &hits->files_tree, file__compare);
	struct file *file;

	if (node)
		return *node;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->path = strdup(path);
	file->ino = ino;
	if (!file->path || !tsearch(file, &hits->files_tree, file__compare)) {
		free(file->path);
		free(file);
		return NULL;
	}
	file->next = hits->files;
	hits->files = file;
	hits->nr_files++;
	return file;
}

struct hits *hits__new(void)
{
	return calloc(1, sizeof(struct hits));
}

static void keep(void *node)
{
	(void)node; /* the list of files owns it */
}

void hits__delete(struct hits *hits)
{
	struct file *file;

	if (!hits)
		return;
	tdestroy(hits->processes, process__delete);
	tdestroy(hits->files_tree, keep);
	while ((file = hits->files)) {
		hits->files = file->next;
		free(file->path);
		free(file);
	}
	for (size_t i = 0; i < hits->nr_kernel; i++)
		free(hits->kernel[i].name);
	free(hits->kernel);
	free(hits);
}

static void file__hit(struct file *file, const struct process *process)
{
	if (!file->hit) {
		file->pid = process->pid;
		file->root = process->root;
		file->view = process->view;
	}
	file->hit = true;
}

/* A file that may be out of reach when the recording ends is told once before that. */
static void hits__queue(struct hits *hits, struct file *file, const struct process *process)
{
	if (!process->view || file->asked || (file->hit && !file->view))
		return;
	if (!file->hit) {
		file->pid = process->pid;
		file->root = process->root;
		file->view = process->view;
	}
	file->asked = file->queued = true;
	file->next_early = hits->early;
	hits->early = file;
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

int hits__map(struct hits *hits, pid_t pid, const char *path, uint64_t ino)
{
	struct process *process;
	struct link *link;
	struct file *file;

	/* "//anon", "[heap]", "anon_inode:…" have no build-id. */
	if ((path[0] != '/' || path[1] == '/') && strcmp(path, "[vdso]"))
		return 0;
	process = hits__process(hits, pid);
	file = hits__file(hits, path, ino);
	if (!process || !file)
		return -ENOMEM;
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
	hits__queue(hits, file, process);
	return 0;
}

int hits__fork(struct hits *hits, pid_t pid, pid_t parent)
{
	struct process *from, *process;

	if (pid == parent)
		return 0;
	from = hits__find(hits, parent);
	if (!from)
		return 0;
	process = hits__process(hits, pid);
	if (!process)
		return -ENOMEM;
	link__put(process->files);
	process->files = from->files;
	process->view = from->view;
	process->root = from->root;
	process->left = false;
	if (process->files)
		process->files->refs++;
	if (process->hit)
		process__hit(process);
	return 0;
}

void hits__exec(struct hits *hits, pid_t pid)
{
	struct process *process = hits__find(hits, pid);

	if (!process)
		return;
	link__put(process->files);
	process->files = NULL;
}

void hits__exit(struct hits *hits, pid_t pid)
{
	struct process *process = hits__find(hits, pid);

	if (!process)
		return;
	process->left = true;
	process->left_round = hits->round;
	if (process->listed)
		return;
	process->listed = true;
	process->next_left = hits->left;
	hits->left = process;
}

/*
 * Forgets files that no process has mapped any more and no sample has hit, so that a long
 * recording of a machine that makes programs all day (a compiler farm) stays small.
 */
static void hits__sweep(struct hits *hits)
{
	struct file **at = &hits->files, *file;

	while ((file = *at)) {
		if (file->links || file->hit || file->queued) {
			at = &file->next;
			continue;
		}
		*at = file->next;
		tdelete(file, &hits->files_tree, file__compare);
		free(file->path);
		free(file);
		hits->nr_files--;
	}
	hits->sweep_at = 2 * hits->nr_files;
	if (hits->sweep_at < SWEEP_MIN)
		hits->sweep_at = SWEEP_MIN;
}

void hits__round(struct hits *hits)
{
	struct process **at = &hits->left, *process;

	while ((process = *at)) {
		if (process->left && process->left_round == hits->round) {
			at = &process->next_left;
			continue;
		}
		*at = process->next_left;
		process->listed = false;
		if (process->left) {
			tdelete(process, &hits->processes, process__compare);
			process__delete(process);
		}
	}
	hits->round++;
	if (hits->nr_files >= hits->sweep_at)
		hits__sweep(hits);
}

size_t hits__count(const struct hits *hits)
{
	return hits->nr_files;
}

static void forget_hit(const void *node, VISIT visit, void *ctx)
{
	(void)ctx;
	if (visit == postorder || visit == leaf)
		(*(struct process *const *)node)->hit = false;
}

void hits__begin_file(struct hits *hits)
{
	twalk_r(hits->processes, forget_hit, NULL);
	for (struct file *file = hits->files; file; file = file->next)
		file->hit = false;
	for (size_t i = 0; i < hits->nr_kernel; i++)
		hits->kernel[i].hit = false;
}

int hits__kernel_map(struct hits *hits, uint64_t start, uint64_t len, const char *name)
{
	struct kernel_map *maps;
	char *copy = strdup(name);

	maps = copy ? reallocarray(hits->kernel, hits->nr_kernel + 1, sizeof(*maps)) : NULL;
	if (!maps) {
		free(copy);
		return -ENOMEM;
	}
	hits->kernel = maps;
	maps[hits->nr_kernel++] =
		(struct kernel_map){ .start = start, .end = start + len, .name = copy };
	return 0;
}

int hits__set_view(struct hits *hits, pid_t pid, uint64_t view)
{
	struct process *process = hits__process(hits, pid);

	if (!process)
		return -ENOMEM;
	if (process->view != view || !process->root)
		process->root = pid;
	process->view = view;
	for (struct link *link = process->files; view && link; link = link->next)
		hits__queue(hits, link->file, process);
	return 0;
}

bool hits__is_hit(struct hits *hits, pid_t pid)
{
	const struct process *process = hits__find(hits, pid);

	return process && process->hit;
}

/* Modules are some dozens and are mostly hit by nobody, so a plain search will do. */
static void hits__kernel_frame(struct hits *hits, uint64_t ip)
{
	struct kernel_map *map;

	for (size_t i = 0; i < hits->nr_kernel; i++) {
		map = &hits->kernel[i];
		if (ip >= map->start && ip < map->end) {
			map->hit = true;
			return;
		}
	}
}

int hits__sample(struct hits *hits, const struct sample *sample)
{
	struct process *process;

	for (uint32_t i = 0; i < sample->kernel.nr; i++)
		hits__kernel_frame(hits, sample->kernel.ips[i]);
	if (!sample->user.nr)
		return 0;
	process = hits__process(hits, (pid_t)sample->pid);
	if (!process)
		return -ENOMEM;
	if (process->hit)
		return 0;
	process__hit(process);
	return 0;
}

static struct hit file__describe(const struct file *file)
{
	struct hit hit = {
		.path = file->path,
		.pid = file->pid,
		.ino = file->ino,
		.view = file->view,
		.root = file->root,
		.id_len = file->id_len,
	};

	memcpy(hit.id, file->id, sizeof(hit.id));
	return hit;
}

int hits__each(const struct hits *hits, int (*fn)(void *ctx, const struct hit *hit), void *ctx)
{
	struct hit hit = { .kernel = true };
	int err = 0;

	for (size_t i = 0; i < hits->nr_kernel && !err; i++) {
		hit.path = hits->kernel[i].name;
		if (hits->kernel[i].hit)
			err = fn(ctx, &hit);
	}
	for (const struct file *file = hits->files; file && !err; file = file->next) {
		if (!file->hit)
			continue;
		hit = file__describe(file);
		err = fn(ctx, &hit);
	}
	return err;
}

int hits__each_early(struct hits *hits, int (*fn)(void *ctx, const struct hit *hit), void *ctx)
{
	struct file *file;
	struct hit hit;
	int err = 0;

	while (!err && (file = hits->early)) {
		hits->early = file->next_early;
		file->queued = false;
		hit = file__describe(file);
		err = fn(ctx, &hit);
	}
	return err;
}

void hits__learn(struct hits *hits, const char *path, uint64_t ino, const unsigned char *id,
		 int len)
{
	struct file key = { .path = (char *)(uintptr_t)path, .ino = ino };
	struct file **node = tfind(&key, &hits->files_tree, file__compare);

	if (!node || len <= 0 || len > BUILD_ID_MAX)
		return;
	memcpy((*node)->id, id, (size_t)len);
	(*node)->id_len = len;
}
