/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/steal.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/units.h"

uint64_t steal__grain(void)
{
	long ticks = sysconf(_SC_CLK_TCK);

	return NSEC_PER_SEC / (uint64_t)(ticks > 0 ? ticks : 1);
}

uint64_t steal__so_far(void)
{
	FILE *file = fopen("/proc/stat", "re");
	uint64_t ticks = 0;

	if (!file)
		return 0;
	if (fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &ticks) != 1)
		ticks = 0;
	fclose(file);
	return ticks * steal__grain();
}
