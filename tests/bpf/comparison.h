/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_COMPARISON_H
#define DENET_TESTS_COMPARISON_H

#include <stdbool.h>

#include "bpf/orc.h"
#include "tests/bpf/kernel_walk.h"

struct kallsyms;
struct kernel_walk_bpf;

/*
 * Both walks of the kernel stack of each task of the machine that gets a CPU, ours and the kernel's
 * (kernel_walk.bpf.c). A zeroed one has not begun.
 */
struct comparison {
	struct kernel_walk_bpf *skel;
	struct kallsyms *kallsyms;
	struct orc orc;
	int event; /* that keeps the hook of fentry called; 0: not needed */
	bool recognizes; /* stacks that were walked before are not walked again */
};

/*
 * Loads the programs and has them walk where the product does: before a task runs, or when it runs
 * again (at_switch_in). copies: of these, too, the stack is copied, as where programs cannot load
 * from where it lies. 0 or a negative errno; comparison__end() is needed in any case.
 */
int comparison__begin(struct comparison *comparison, bool at_switch_in, bool copies);

/* Why it cannot begin on this machine, by what comparison__begin() returned; NULL: it can. */
const char *comparison__refused(int err);

void comparison__end(struct comparison *comparison);

/* What it has counted so far. */
const volatile struct walk_counts *comparison__counts(const struct comparison *comparison);

/* Print on stderr: the counts; the first stacks of which the walks differ; those that ours left. */
void comparison__print(const struct comparison *comparison, const char *after);
void comparison__show_differences(const struct comparison *comparison);
void comparison__show_refusals(const struct comparison *comparison);

#endif /* DENET_TESTS_COMPARISON_H */
