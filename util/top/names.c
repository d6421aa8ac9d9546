/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/names.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/units.h"
#include "session/users.h"

/* More than this many are forgotten all at once: some machines make new ones all the time. */
#define MAX_NAMES 65536
#define WALK_NS NSEC_PER_SEC

void top_names__init(struct top_names *names)
{
	int err;

	*names = (struct top_names){ 0 };
	names->kallsyms = kallsyms__new(NULL, &err);
	if (cgroup_mounts__read(&names->mounts, NULL))
		names->mounts = (struct cgroup_mounts){ 0 };
}

void top_names__free(struct top_names *names)
{
	kallsyms__delete(names->kallsyms);
	cgroup_mounts__free(&names->mounts);
	idmap__free(&names->users);
	idmap__free(&names->cgroups);
	strings__free(&names->strings);
}

static const char *find(const struct idmap *map, uint64_t id)
{
	const uint64_t *value = idmap__find(map, id);

	return value ? (const char *)(uintptr_t)*value : NULL;
}

static void keep(struct top_names *names, struct idmap *map, uint64_t id, const char *name)
{
	const char *kept = strings__get(&names->strings, name);
	uint64_t *value = kept ? idmap__get(map, id) : NULL;

	if (value)
		*value = (uint64_t)(uintptr_t)kept;
}

static void forget_many(struct top_names *names)
{
	if (names->users.used + names->cgroups.used <= MAX_NAMES)
		return;
	idmap__clear(&names->users);
	idmap__clear(&names->cgroups);
	strings__free(&names->strings);
}

const char *top_names__user(struct top_names *names, uint32_t uid)
{
	const char *name = find(&names->users, uid);
	char text[64];

	if (name)
		return name;
	forget_many(names);
	keep(names, &names->users, uid, users__name(uid, text, sizeof(text)));
	name = find(&names->users, uid);
	return name ? name : "?";
}

static int keep_cgroup(void *ctx, uint64_t id, const char *path)
{
	struct top_names *names = ctx;

	if (!find(&names->cgroups, id))
		keep(names, &names->cgroups, id, path);
	return 0;
}

const char *top_names__cgroup(struct top_names *names, uint64_t id)
{
	const char *root = names->mounts.path[cgroup_mounts__of_samples(&names->mounts)];
	const char *path = find(&names->cgroups, id);
	uint64_t now = clock__now_ns();

	if (path || !id || !root)
		return path ? path : "";
	if (now < names->next_walk)
		return "";
	forget_many(names);
	cgroup__walk(root, keep_cgroup, names);
	names->next_walk = now + WALK_NS;
	path = find(&names->cgroups, id);
	return path ? path : "";
}

const char *top_names__function(const struct top_names *names, uint64_t address)
{
	const char *name = address ? kallsyms__name(names->kallsyms, address) : NULL;

	return name ? name : "";
}
