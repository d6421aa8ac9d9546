/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/kernel_symbols.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "host/kallsyms.h"
#include "symbol/build_id.h"
#include "synth/synth.h"

#define KERNEL "[kernel.kallsyms]"

struct kernel_symbols {
	const struct kernel_identity *identity;
	struct kallsyms *kallsyms; /* NULL: no names */
	uint64_t *shifts;          /* of each map: add to an address to have that in kallsyms */
	bool *named;               /* of each map: kallsyms is right for it */
	bool programs;             /* BPF programs are those of the recording */
};

/* How "[kernel.kallsyms]_text", "[ext4]" and "/lib/modules/.../ext4.ko.xz" name a place. */
static const char *place_of(const struct task_map *map, size_t *len)
{
	const char *slash = strrchr(map->path, '/'), *base = slash ? slash + 1 : map->path;

	*len = strlen(base);
	if (!strncmp(base, KERNEL, strlen(KERNEL)))
		*len = strlen(KERNEL);
	return base;
}

/* Finds out where the modules and the kernel itself are now. */
struct local {
	struct kernel_symbols *symbols;
	size_t nr;
	bool same; /* all are where they were */
};

static int take_local(void *ctx, uint64_t start, uint64_t len, uint64_t pgoff, const char *name)
{
	struct local *local = ctx;
	struct kernel_symbols *symbols = local->symbols;
	const struct kernel_identity *identity = symbols->identity;

	(void)pgoff;
	for (size_t i = 0; i < identity->nr_maps; i++) {
		const struct task_map *map = &identity->maps[i];

		if (strcmp(map->path, name))
			continue;
		symbols->shifts[i] = start - map->start;
		symbols->named[i] = map->len == len || !i;
		local->nr += map->len == len;
		local->same &= map->start == start && map->len == len;
		break;
	}
	return 0;
}

/* Without a build-id, a kernel is the same whose parts all lie where they did. */
static bool is_running(const struct kernel_identity *identity, const struct local *local)
{
	unsigned char id[BUILD_ID_MAX];
	int len = build_id__of_kernel(id);

	if (identity->id_len)
		return len == (int)identity->id_len && !memcmp(id, identity->id, identity->id_len);
	return !identity->elsewhere && local->same && local->nr == identity->nr_maps;
}

static int use_running(struct kernel_symbols *symbols)
{
	struct local local = { .symbols = symbols, .same = true };
	int err;

	symbols->kallsyms = kallsyms__new(NULL, &err);
	if (!symbols->kallsyms)
		return err;
	if (kallsyms__hidden(symbols->kallsyms))
		return -EPERM;
	err = synth__kernel(kallsyms__bounds(symbols->kallsyms), take_local, &local);
	if (err)
		return err;
	symbols->programs = !symbols->identity->elsewhere && !symbols->shifts[0];
	return is_running(symbols->identity, &local) ? 0 : -ESTALE;
}

/* A copy of /proc/kallsyms as it was in the recording, or in another one after the same boot. */
static int use_cached(struct kernel_symbols *symbols)
{
	const struct kernel_identity *identity = symbols->identity;
	char path[PATH_MAX], hex[2 * BUILD_ID_MAX + 1] = "";
	const char *home = getenv("HOME");
	int err;

	if (!home || !identity->id_len)
		return -ENOENT;
	for (size_t i = 0; i < identity->id_len && i < BUILD_ID_MAX; i++)
		snprintf(hex + 2 * i, 3, "%02x", identity->id[i]);
	snprintf(path, sizeof(path), "%s/.debug/" KERNEL "/%s/kallsyms", home, hex);
	symbols->kallsyms = kallsyms__new(path, &err);
	if (!symbols->kallsyms)
		return err;
	symbols->shifts[0] = kallsyms__bounds(symbols->kallsyms)->text - identity->maps[0].start;
	symbols->programs = !symbols->shifts[0];
	for (size_t i = 0; i < identity->nr_maps; i++)
		symbols->named[i] = !i || !symbols->shifts[0];
	return kallsyms__bounds(symbols->kallsyms)->text ? 0 : -ENOENT;
}

static void forget(struct kernel_symbols *symbols)
{
	const size_t nr = symbols->identity->nr_maps;

	kallsyms__delete(symbols->kallsyms);
	symbols->kallsyms = NULL;
	symbols->programs = false;
	memset(symbols->shifts, 0, nr * sizeof(*symbols->shifts));
	memset(symbols->named, 0, nr * sizeof(*symbols->named));
}

static void warn(int err)
{
	if (err == -EPERM)
		pr_warn("kernel functions have no names: /proc/kallsyms is hidden; run as root, "
			"or set kernel.kptr_restrict to 0");
	else
		pr_warn("kernel functions have no names: another kernel was recorded than runs "
			"here; denet-record --buildid-cache keeps its symbols in ~/.debug");
}

struct kernel_symbols *kernel_symbols__new(const struct kernel_identity *identity)
{
	struct kernel_symbols *symbols = calloc(1, sizeof(*symbols));
	int err, cached;

	if (!symbols)
		return NULL;
	symbols->identity = identity;
	symbols->shifts = calloc(identity->nr_maps + 1, sizeof(*symbols->shifts));
	symbols->named = calloc(identity->nr_maps + 1, sizeof(*symbols->named));
	if (!symbols->shifts || !symbols->named) {
		kernel_symbols__delete(symbols);
		return NULL;
	}
	if (!identity->nr_maps)
		return symbols;
	err = use_running(symbols);
	if (!err)
		return symbols;
	forget(symbols);
	cached = use_cached(symbols);
	if (cached) {
		forget(symbols);
		warn(err);
	}
	return symbols;
}

void kernel_symbols__delete(struct kernel_symbols *symbols)
{
	if (!symbols)
		return;
	kallsyms__delete(symbols->kallsyms);
	free(symbols->shifts);
	free(symbols->named);
	free(symbols);
}

/* Outside of the kernel and its modules lies code that was made since: programs, trampolines. */
static struct kernel_symbol find_program(const struct kernel_symbols *symbols, uint64_t address)
{
	struct kernel_symbol found = { .place = "[kernel]", .offset = address };
	uint64_t offset;
	const char *name = NULL;

	found.place_len = strlen(found.place);
	if (symbols->programs && symbols->kallsyms)
		name = kallsyms__lookup_as_perf(symbols->kallsyms, address, &offset);
	if (!name || (strncmp(name, "bpf_", 4) && strncmp(name, "ftrace_trampoline", 17)))
		return found;
	return (struct kernel_symbol){ name, "[bpf]", strlen("[bpf]"), offset };
}

struct kernel_symbol kernel_symbols__find(const struct kernel_symbols *symbols, uint64_t address)
{
	const struct kernel_identity *identity = symbols->identity;
	struct kernel_symbol found = { 0 };

	/* Where parts overlap, the smaller one, a module, stands behind. */
	for (size_t i = identity->nr_maps; i > 0; i--) {
		const struct task_map *map = &identity->maps[i - 1];

		if (address < map->start || address - map->start >= map->len)
			continue;
		found.offset = address - map->start;
		found.place = place_of(map, &found.place_len);
		if (symbols->kallsyms && symbols->named[i - 1])
			found.name = kallsyms__lookup_as_perf(
				symbols->kallsyms, address + symbols->shifts[i - 1], &found.offset);
		return found;
	}
	return find_program(symbols, address);
}
