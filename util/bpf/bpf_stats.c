/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/bpf_stats.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "bpf/accounts.h"

int bpf_stats__read(struct bpf_stats *bpf_stats, const struct bpf_object *object,
		 const struct bpf_stats_roles *roles)
{
	struct bpf_program *program;

	*bpf_stats = (struct bpf_stats){ 0 };
	bpf_object__for_each_program(program, object)
	{
		struct bpf_prog_info prog = { 0 };
		__u32 len = sizeof(prog);

		if (bpf_program__fd(program) < 0)
			continue;
		if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &prog, &len))
			return -errno;
		bpf_stats->run_ns += prog.run_time_ns;
		bpf_stats->run_count += prog.run_cnt;
		if (program == roles->waking)
			bpf_stats->missed_wakeups += prog.recursion_misses;
		else if (program == roles->born)
			bpf_stats->missed_births += prog.recursion_misses;
		else if (program == roles->gone)
			bpf_stats->missed_deaths += prog.recursion_misses;
		else
			bpf_stats->recursion_misses += prog.recursion_misses;
	}
	return 0;
}

void bpf_stats__read_maps(struct bpf_stats *bpf_stats, const struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object) bpf_stats->map_bytes += accounts__map_bytes(map);
}
