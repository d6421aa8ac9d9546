/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/used_maps.h"

#include <bpf/libbpf.h>

int used_maps__choose(struct bpf_object *object, const struct used_map *maps, size_t nr)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, object)
	{
		bool is_used = bpf_map__is_internal(map);

		for (size_t i = 0; i < nr; i++)
			is_used |= map == maps[i].map && maps[i].used;
		err = err ? err : bpf_map__set_autocreate(map, is_used);
	}
	return err;
}
