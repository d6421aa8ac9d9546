/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/bpf_stats.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

static bool is_one_of(const struct bpf_program *const *programs, size_t nr,
		      const struct bpf_program *program)
{
	for (size_t i = 0; i < nr; i++) {
		if (program == programs[i])
			return true;
	}
	return false;
}

/* Where the misses of a program are counted. */
static uint64_t *misses_of(struct bpf_stats *bpf_stats, const struct bpf_stats_roles *roles,
			   const struct bpf_program *program)
{
	if (program == roles->waking)
		return &bpf_stats->missed_wakeups;
	if (program == roles->born)
		return &bpf_stats->missed_births;
	if (program == roles->gone)
		return &bpf_stats->missed_deaths;
	if (is_one_of(roles->calls, BPF_STATS_CALLS, program))
		return &bpf_stats->missed_calls;
	if (is_one_of(roles->requests, BPF_STATS_REQUESTS, program))
		return &bpf_stats->missed_requests;
	return program == roles->exec ? NULL : &bpf_stats->recursion_misses;
}

int bpf_stats__read(struct bpf_stats *bpf_stats, const struct bpf_object *object,
		 const struct bpf_stats_roles *roles)
{
	struct bpf_program *program;
	uint64_t *misses;

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
		misses = misses_of(bpf_stats, roles, program);
		if (misses)
			*misses += prog.recursion_misses;
	}
	return 0;
}

/* Memory of a map, as the kernel accounts it (memlock in its fdinfo); 0: not available. */
static uint64_t map_bytes(const struct bpf_map *map)
{
	char path[64], line[128];
	unsigned long long bytes = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", bpf_map__fd(map));
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	}
	fclose(file);
	return bytes;
}

void bpf_stats__read_maps(struct bpf_stats *bpf_stats, const struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object) bpf_stats->map_bytes += map_bytes(map);
}
