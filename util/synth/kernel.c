/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/buffer.h"
#include "synth/synth.h"

struct module {
	char name[64];
	uint64_t start, len;
	char *path; /* NULL: not known */
};

static int compare_modules(const void *a, const void *b)
{
	const struct module *l = a, *r = b;

	return l->start < r->start ? -1 : l->start > r->start;
}

/*
 * /proc/modules tells the address of a module's text but the size of all of it, and from
 * Linux 6.4 on its parts lie apart: a length may not reach into the next module.
 */
static void clip_modules(struct module *modules, size_t nr)
{
	for (size_t i = 0; i + 1 < nr; i++) {
		if (modules[i].len > modules[i + 1].start - modules[i].start)
			modules[i].len = modules[i + 1].start - modules[i].start;
	}
}

static int read_modules(const char *path, struct buffer *modules)
{
	struct module module = { 0 };
	FILE *file = fopen(path, "re");
	size_t capacity = 0;
	char *line = NULL;
	int err = 0;

	/* A kernel without modules has no such file. */
	if (!file)
		return errno == ENOENT ? 0 : -errno;
	while (!err && getline(&line, &capacity, file) > 0) {
		if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, module.name, &module.len,
			   &module.start) == 3 &&
		    module.start && module.len)
			err = buffer__append(modules, &module, sizeof(module));
	}
	free(line);
	fclose(file);
	if (!err && modules->len) {
		size_t nr = modules->len / sizeof(module);

		qsort(modules->data, nr, sizeof(module), compare_modules);
		clip_modules((struct module *)modules->data, nr);
	}
	return err;
}

/* Files say "snd-hda.ko.xz" where the kernel says "snd_hda". */
static bool is_file_of(const char *file, size_t len, const char *name)
{
	if (strlen(name) != len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if ((file[i] == '-' ? '_' : file[i]) != name[i])
			return false;
	}
	return true;
}

/* file is what modules.dep has before the colon, relative to dir as a rule. */
static int set_module_path(struct module *modules, size_t nr, const char *dir, const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash ? slash + 1 : file;
	const char *suffix = strstr(base, ".ko");

	if (!suffix)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		if (modules[i].path || !is_file_of(base, (size_t)(suffix - base), modules[i].name))
			continue;
		if (asprintf(&modules[i].path, "%s%s%s", *file == '/' ? "" : dir,
			     *file == '/' ? "" : "/", file) < 0) {
			modules[i].path = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

/* Where there is no modules.dep (in a container), modules go by their names. */
static int find_module_paths(const char *dir, struct module *modules, size_t nr)
{
	char name[PATH_MAX];
	size_t capacity = 0;
	char *line = NULL, *colon;
	FILE *file;
	int err = 0;

	if (!nr)
		return 0;
	snprintf(name, sizeof(name), "%s/modules.dep", dir);
	file = fopen(name, "re");
	if (!file)
		return 0;
	while (!err && getline(&line, &capacity, file) > 0) {
		colon = strchr(line, ':');
		if (!colon)
			continue;
		*colon = '\0';
		err = set_module_path(modules, nr, dir, line);
	}
	free(line);
	fclose(file);
	return err;
}

static int emit_kernel(const struct kallsyms_bounds *bounds, const struct module *modules,
		       size_t nr, synth_kernel_fn fn, void *ctx)
{
	uint64_t start = bounds->text ? bounds->text : bounds->stext;
	uint64_t end = bounds->edata ? bounds->edata : bounds->etext;

	if (!start)
		return -ENODATA;
	for (size_t i = 0; i < nr && end <= start; i++)
		end = modules[i].start;
	if (end <= start)
		end = UINT64_MAX;
	return fn(ctx, start, end - start, start,
		  bounds->text ? "[kernel.kallsyms]_text" : "[kernel.kallsyms]_stext");
}

static int emit_module(const struct module *module, synth_kernel_fn fn, void *ctx)
{
	char name[sizeof(module->name) + 2];

	if (module->path)
		return fn(ctx, module->start, module->len, 0, module->path);
	snprintf(name, sizeof(name), "[%s]", module->name);
	return fn(ctx, module->start, module->len, 0, name);
}

int synth__kernel_of(const struct synth_kernel_files *files, const struct kallsyms_bounds *bounds,
		     synth_kernel_fn fn, void *ctx)
{
	struct buffer buffer = { 0 };
	struct module *modules;
	size_t nr;
	int err;

	err = read_modules(files->modules, &buffer);
	modules = (struct module *)buffer.data;
	nr = buffer.len / sizeof(*modules);
	if (!err)
		err = find_module_paths(files->modules_dir, modules, nr);
	if (!err)
		err = emit_kernel(bounds, modules, nr, fn, ctx);
	for (size_t i = 0; i < nr && !err; i++)
		err = emit_module(&modules[i], fn, ctx);
	for (size_t i = 0; i < nr; i++)
		free(modules[i].path);
	buffer__free(&buffer);
	return err;
}

int synth__kernel(const struct kallsyms_bounds *bounds, synth_kernel_fn fn, void *ctx)
{
	struct synth_kernel_files files = { .modules = "/proc/modules" };
	char dir[PATH_MAX];
	struct utsname name;

	if (uname(&name))
		return -errno;
	snprintf(dir, sizeof(dir), "/lib/modules/%s", name.release);
	files.modules_dir = dir;
	return synth__kernel_of(&files, bounds, fn, ctx);
}
