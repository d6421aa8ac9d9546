/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/target_maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "bpf/task_iter.h"

/* The maps are sets: their values say nothing. */
static int add_key(const struct bpf_map *map, const void *key)
{
	__u32 one = 1;

	return bpf_map_update_elem(bpf_map__fd(map), key, &one, BPF_ANY) ? -errno : 0;
}

int target_maps__add(const struct target_maps *target_maps, enum wire_target_kind kind, uint32_t id)
{
	const struct wire_target key = { .kind = kind, .id = id };

	return add_key(target_maps->targets, &key);
}

int target_maps__add_cgroup(const struct target_maps *target_maps, uint32_t hierarchy, uint64_t id)
{
	const struct wire_cgroup key = { .id = id, .hierarchy = hierarchy };

	return add_key(target_maps->cgroups, &key);
}

int target_maps__bell(const struct target_maps *target_maps)
{
	return bpf_map__fd(target_maps->bell);
}

int64_t target_maps__alive(const struct target_maps *target_maps)
{
	return *target_maps->alive;
}

uint64_t target_maps__births(const struct target_maps *target_maps)
{
	return *target_maps->births;
}

bool target_maps__has_strays(const struct target_maps *target_maps)
{
	return *target_maps->strays;
}

int target_maps__find(const struct target_maps *target_maps, uint64_t *found)
{
	int err;

	*target_maps->found = 0;
	*target_maps->strays = 0;
	err = task_iter__run(target_maps->count, NULL, NULL);
	*found = *target_maps->found;
	return err;
}

void target_maps__list_named(const struct target_maps *target_maps, bool named)
{
	*target_maps->lists_named = named;
}
