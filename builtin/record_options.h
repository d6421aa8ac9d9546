/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_RECORD_OPTIONS_H
#define DENET_BUILTIN_RECORD_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

/* Options without a letter. */
enum record_key {
	KEY_MAX_STACK = 0x100,
	KEY_CALL_GRAPH,
	KEY_RAW_STACKS,
	KEY_KERNEL_CALLCHAINS,
	KEY_USER_CALLCHAINS,
	KEY_OFF_CPU,
	KEY_HIST,
	KEY_JSON,
	KEY_THRESHOLD,
	KEY_PERIOD,
	KEY_MAX_RATE,
	KEY_MIN_BLOCK,
	KEY_MAX_BLOCK,
	KEY_STATE,
	KEY_WINDOW,
	KEY_NO_STILL_BLOCKED,
	KEY_SPLIT_RUNQUEUE,
	KEY_WAKERS,
	KEY_SKIP_IDLE,
	KEY_REASON,
	KEY_RAW_FRAMES,
	KEY_CAPTURE,
	KEY_KERNEL_THREADS,
	KEY_MAX_OVERHEAD,
	KEY_MAX_SIZE,
	KEY_SWITCH_OUTPUT,
	KEY_SWITCH_MAX_FILES,
	KEY_ALL_CGROUPS,
	KEY_BUILDID_CACHE,
	KEY_USAGE,
	KEY_VERSION,
};

/* All options of denet-record, for argp; ends with an empty one. */
extern const struct argp_option record_options[];

/* The long name of the option with this key, which must have one. */
const char *record_options__name(int key);

/* Whether it says how samples are made or what is in the file: a histogram has neither. */
bool record_options__is_of_recording(int key);

#endif /* DENET_BUILTIN_RECORD_OPTIONS_H */
