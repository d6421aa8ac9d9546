/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of /proc/PID/maps: any bytes are a mapping that makes sense, or are refused. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "synth/synth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct task_map map = { 0 };
	char *path = malloc(PATH_MAX);
	int ret;

	if (!path)
		return 0;
	ret = synth__parse_maps_line((const char *)data, size, &map, path);
	if (ret == 1) {
		if (!map.len || map.start + map.len < map.start || !(map.prot & PROT_EXEC) ||
		    map.path != path || !*path || strlen(path) >= PATH_MAX)
			abort();
	}
	free(path);
	return 0;
}
