/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/bpf_stats.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "bpf/accounts.h"

int upkeep__read(struct upkeep *upkeep, const struct bpf_object *object,
		 const struct upkeep_roles *roles)
{
	struct bpf_program *program;

	*upkeep = (struct upkeep){ 0 };
	bpf_object__for_each_program(program, object)
	{
		struct bpf_prog_info prog = { 0 };
		__u32 len = sizeof(prog);

		if (bpf_program__fd(program) < 0)
			continue;
		if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &prog, &len))
			return -errno;
		upkeep->run_ns += prog.run_time_ns;
		upkeep->run_count += prog.run_cnt;
		if (program == roles->waking)
			upkeep->missed_wakeups += prog.recursion_misses;
		else if (program == roles->born)
			upkeep->missed_births += prog.recursion_misses;
		else if (program == roles->gone)
			upkeep->missed_deaths += prog.recursion_misses;
		else
			upkeep->recursion_misses += prog.recursion_misses;
	}
	return 0;
}

void upkeep__read_maps(struct upkeep *upkeep, const struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object) upkeep->map_bytes += accounts__map_bytes(map);
}
