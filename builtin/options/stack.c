/* SPDX-License-Identifier: GPL-2.0-only */
/* Options for walking stacks. */
#include "builtin/options/stack.h"

#include <errno.h>

#include "builtin/options/values.h"
#include "capture/options.h"

static void set_call_graph(const struct option_value *value, void *field)
{
	int err = capture_copies__parse(field, value->text);

	if (err == -ERANGE)
		option_value__error(value, "incorrect stack dump size (max %d)", CAPTURE_MAX_DUMP);
	else if (err)
		option_value__error(value, "must be fp, auto[,BYTES], tables or dwarf[,BYTES]");
}

static void set_max_frames(const struct option_value *value, void *field)
{
	*(uint32_t *)field = (uint32_t)option_value__number(value, CAPTURE_MAX_FRAMES);
}

static void set_hook(const struct option_value *value, void *field)
{
	if (attach_hook__parse(field, value->text))
		option_value__error(value, "must be auto, switch-in or switch-out");
}

static const struct option_row walk_rows[] = {
	{ "raw-frames", .of_samples = true,
	  .text = "Keep the frames of the BPF programs, the scheduler and the system call entry",
	  OPTION_TRUE(struct capture_stacks, raw_frames) },
	{ "capture", .arg = "WHEN",
	  .text = "When to walk stacks: switch-in (only for blocks that are kept), "
		  "switch-out or auto (the default: switch-in where the kernel has a hook)",
	  OPTION_FIELD(set_hook, enum attach_hook, struct capture_stacks, hook) },
};

static const struct option_row rows[] = {
	{ NULL, 'g', .text = "Accepted for compatibility; callchains are always recorded",
	  OPTION_NOTHING },
	{ "call-graph", .of_samples = true, .arg = "MODE",
	  .text = "How to unwind user stacks: auto (the default: unwind tables, in the kernel, "
		  "and frame pointers where there are none), tables (auto, with a warning if "
		  "it is not possible), fp (frame pointers), dwarf[,BYTES] (unwind tables, on "
		  "a copy of BYTES of each stack, default 8192) or auto,BYTES (dwarf for "
		  "processes without frame pointers)",
	  OPTION_FIELD(set_call_graph, struct capture_copies, struct capture_stacks, copies) },
	{ "max-stack", .of_samples = true, .arg = "N",
	  .text = "Maximum number of frames, each of kernel and user (default and maximum: "
		  "127)",
	  OPTION_FIELD(set_max_frames, uint32_t, struct capture_stacks, max_frames) },
	{ "kernel-callchains", .of_samples = true, .text = "Kernel frames only",
	  OPTION_FALSE(struct capture_stacks, user) },
	{ "user-callchains", .of_samples = true, .text = "User frames only",
	  OPTION_FALSE(struct capture_stacks, kernel) },
};

static void check(const struct options *options, const void *values)
{
	const struct capture_stacks *stacks = values;

	if (!stacks->kernel && !stacks->user)
		options__exclude(options, "kernel-callchains", "user-callchains");
	if (stacks->copies.bytes && !stacks->copies.tables && !stacks->user)
		options__exclude(options, "call-graph", "kernel-callchains");
}

const struct option_table walk_table = {
	.title = "Callchains:",
	.group = 3,
	OPTION_ROWS(walk_rows),
};

const struct option_table stack_table = {
	.group = 3,
	OPTION_ROWS(rows),
	.check = check,
};
