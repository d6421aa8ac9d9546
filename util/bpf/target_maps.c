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

int roster__add(const struct roster *roster, enum wire_target_kind kind, uint32_t id)
{
	const struct wire_target key = { .kind = kind, .id = id };

	return add_key(roster->targets, &key);
}

int roster__add_cgroup(const struct roster *roster, uint32_t hierarchy, uint64_t id)
{
	const struct wire_cgroup key = { .id = id, .hierarchy = hierarchy };

	return add_key(roster->cgroups, &key);
}

int roster__bell(const struct roster *roster)
{
	return bpf_map__fd(roster->bell);
}

int64_t roster__alive(const struct roster *roster)
{
	return *roster->alive;
}

uint64_t roster__births(const struct roster *roster)
{
	return *roster->births;
}

int roster__find(const struct roster *roster, uint64_t *found)
{
	int err;

	*roster->found = 0;
	err = iterator__run(roster->count, NULL, NULL);
	*found = *roster->found;
	return err;
}
