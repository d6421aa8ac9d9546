/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/options.h"

#include "base/units.h"
#include "capture/decode.h"

_Static_assert(CAPTURE_MAX_FRAMES == WIRE_MAX_FRAMES, "one limit with two names");
_Static_assert(CAPTURE_MAX_COPY == WIRE_MAX_COPY, "one limit with two names");
_Static_assert(CAPTURE_MAX_CPUS == WIRE_MAX_CPUS, "one limit with two names");
_Static_assert(CAPTURE_MAX_GROUPS == WIRE_MAX_CGROUPS, "one limit with two names");

uint32_t capture__state_bit(char letter)
{
	for (uint32_t state = 0; state < WIRE_STATE_X; state++) {
		if (decode__state(state) == letter)
			return 1U << state;
	}
	return 0;
}

uint32_t capture__all_states(void)
{
	return ((1U << WIRE_STATE_MAX) - 1) & ~(1U << WIRE_STATE_X);
}

void capture_options__init(struct capture_options *options)
{
	*options = (struct capture_options){
		.threshold_ns = 500 * NSEC_PER_MSEC,
		.max_ns = UINT64_MAX,
		.states = 1U << WIRE_STATE_S | 1U << WIRE_STATE_D,
		.max_frames = WIRE_MAX_FRAMES,
		.kernel_stacks = true,
		.user_stacks = true,
	};
}
