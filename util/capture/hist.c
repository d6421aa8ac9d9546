/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/hist.h"

#include "base/units.h"
#include "capture/decode.h"
#include "capture/internal.h"

_Static_assert(CAPTURE_HIST_BUCKETS == WIRE_HIST_BUCKETS, "one number with two names");
_Static_assert(CAPTURE_HIST_STATES == WIRE_STATE_MAX, "one number with two names");

uint64_t hist__bound(size_t bucket)
{
	static const uint64_t steps[] = { 1, 2, 4, 8, 16, 32, 64, 125, 250, 500 };
	static const size_t nr_steps = sizeof(steps) / sizeof(steps[0]);
	uint64_t unit = NSEC_PER_USEC;

	if (!bucket)
		return 0;
	if (bucket >= CAPTURE_HIST_BUCKETS)
		return UINT64_MAX;
	bucket--;
	for (size_t i = 0; i < bucket / nr_steps; i++)
		unit *= 1000;
	return steps[bucket % nr_steps] * unit;
}

size_t hist__bucket(uint64_t ns)
{
	size_t bucket = CAPTURE_HIST_BUCKETS - 1;

	while (ns < hist__bound(bucket))
		bucket--;
	return bucket;
}

int capture__hist(const struct capture *capture, struct capture_hist *hist)
{
	struct wire_hist rows[WIRE_STATE_MAX];
	int err = accounts__hist(&capture->maps->accounts, rows);

	*hist = (struct capture_hist){ 0 };
	for (uint32_t state = 0; state < WIRE_STATE_MAX && !err; state++) {
		hist->rows[state].state = state == WIRE_STATE_X ? '\0' : decode__state(state);
		for (size_t i = 0; i < WIRE_HIST_BUCKETS; i++)
			hist->rows[state].buckets[i] = (struct capture_tally){
				rows[state].buckets[i].count,
				rows[state].buckets[i].ns,
			};
	}
	return err;
}
