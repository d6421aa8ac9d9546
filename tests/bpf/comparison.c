/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/bpf/comparison.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/attach_hook.h"
#include "bpf/kernel_features.h"
#include "host/kallsyms.h"
#include "tests/bpf/kernel_walk.skel.h"

#define SHOWN 3

/*
 * The hook at which the product walks tasks that run again, or fentry's if DENET_TEST_HOOK asks for
 * that. ATTACH_HOOK_AUTO: this kernel has none.
 */
static enum attach_hook switch_in_hook(const struct kernel_features *features)
{
	const char *name = getenv("DENET_TEST_HOOK");

	if (features->has_exit_tp && (!name || strcmp(name, "fentry")))
		return ATTACH_HOOK_EXIT_TP;
	return features->has_sched_in ? ATTACH_HOOK_FENTRY : ATTACH_HOOK_AUTO;
}

static int load(struct comparison *comparison, const struct kernel_features *features,
		enum attach_hook hook, bool copies)
{
	struct kernel_walk_bpf *skel = kernel_walk_bpf__open();

	comparison->skel = skel;
	if (!skel)
		return -errno;
	bpf_program__set_autoload(skel->progs.compare_next, hook == ATTACH_HOOK_SWITCH_OUT);
	bpf_program__set_autoload(skel->progs.compare_at_exit_tp, hook == ATTACH_HOOK_EXIT_TP);
	bpf_program__set_autoload(skel->progs.compare_at_fentry, hook == ATTACH_HOOK_FENTRY);
	bpf_program__set_autoload(skel->progs.module_came, features->has_modules);
	bpf_program__set_autoload(skel->progs.module_gone, features->has_modules);
	bpf_program__set_autoload(skel->progs.orc_module, features->has_modules);
	skel->rodata->has_kernel_walk = 1;
	skel->rodata->has_kernel_loads = features->has_kernel_loads && !copies;
	comparison->recognizes =
		skel->rodata->has_kernel_loads && hook != ATTACH_HOOK_SWITCH_OUT;
	return kernel_walk_bpf__load(skel);
}

/* Attaches the comparison as the product its programs. 0 or a negative errno. */
static int attach(struct comparison *comparison, enum attach_hook hook)
{
	fprintf(stderr, "# at %s\n", attach_hook__name(hook));
	if (hook == ATTACH_HOOK_FENTRY) {
		comparison->event = attach_hook__open_event();
		if (comparison->event < 0)
			return comparison->event;
	}
	return kernel_walk_bpf__attach(comparison->skel);
}

int comparison__begin(struct comparison *comparison, bool at_switch_in, bool copies)
{
	enum attach_hook hook = ATTACH_HOOK_SWITCH_OUT;
	struct kernel_features features;
	struct kernel_walk_bpf *skel;
	int err = kernel_features__read(&features);

	if (!err && at_switch_in)
		hook = switch_in_hook(&features);
	if (!err && hook == ATTACH_HOOK_AUTO)
		err = -ENOENT;
	if (!err && copies && !features.has_kernel_loads)
		err = -EALREADY;
	if (!err)
		comparison->kallsyms = kallsyms__new(NULL, &err);
	if (!err)
		err = load(comparison, &features, hook, copies);
	if (err)
		return err;
	skel = comparison->skel;
	comparison->orc = (struct orc){
		.shared = (volatile struct wire_orc *)(void *)&skel->bss->orc,
		.rules = (uint64_t *)skel->bss->orc_rules,
		.modules = skel->maps.orc_modules,
		.sleepers = skel->progs.orc_sleepers,
		.check = skel->progs.orc_check,
		.read_module = skel->progs.orc_module,
		.same = (const volatile uint64_t *)&skel->bss->orc_same,
		.differ = (const volatile uint64_t *)&skel->bss->orc_differ,
	};
	err = orc__start(&comparison->orc, &features.orc, comparison->kallsyms);
	return err ? err : attach(comparison, hook);
}

const char *comparison__refused(int err)
{
	if (err == -EOPNOTSUPP)
		return "this kernel has no ORC tables that we know";
	if (err == -EALREADY)
		return "on this kernel stacks are copied in the other tests as well";
	return err == -ENOENT ? "this kernel has no hook at switch-in" : NULL;
}

void comparison__end(struct comparison *comparison)
{
	kernel_walk_bpf__destroy(comparison->skel);
	if (comparison->event > 0)
		close(comparison->event);
	kallsyms__delete(comparison->kallsyms);
	memset(comparison, 0, sizeof(*comparison));
}

const volatile struct walk_counts *comparison__counts(const struct comparison *comparison)
{
	return &comparison->skel->bss->result;
}

void comparison__print(const struct comparison *comparison, const char *after)
{
	const struct walk_counts *counts = &comparison->skel->bss->result;

	fprintf(stderr,
		"# after %s: %llu same (%llu recognized, %llu in modules), %llu differ, %llu left, "
		"%llu newborn, %llu none\n",
		after, counts->same, counts->recognized, counts->in_modules, counts->differ,
		counts->left, counts->newborn, counts->none);
	if (counts->timed)
		fprintf(stderr,
			"# mean of %llu walks: ours %llu ns, the kernel's %llu, with a reading of "
			"the clock each, which takes %llu\n",
			counts->timed, counts->ours_ns / counts->timed,
			counts->kernels_ns / counts->timed, counts->clock_ns / counts->timed);
}

static void show_frames(const struct comparison *comparison, const char *what, const __u64 *ips,
			uint32_t nr)
{
	uint64_t offset = 0;

	for (uint32_t i = 0; i < nr && i < 40; i++) {
		const char *name = kallsyms__lookup(comparison->kallsyms, ips[i], &offset);

		fprintf(stderr, "#   %s %2u %llx %s+%#llx\n", what, i, ips[i], name ? name : "?",
			(unsigned long long)offset);
	}
}

static void show(const struct comparison *comparison, const char *kind,
		 const struct kept_walk *walks, uint32_t nr)
{
	for (uint32_t i = 0; i < nr && i < SHOWN; i++) {
		fprintf(stderr, "# %s, %.16s: ours %u, the kernel's %u\n", kind, walks[i].comm,
			walks[i].nr_ours, walks[i].nr_kernel);
		show_frames(comparison, "ours", walks[i].ours, walks[i].nr_ours);
		show_frames(comparison, "kernel", walks[i].kernels, walks[i].nr_kernel);
		show_frames(comparison, "word", walks[i].words, 40);
	}
}

void comparison__show_differences(const struct comparison *comparison)
{
	show(comparison, "differences", comparison->skel->bss->differences,
	     comparison->skel->bss->nr_differences);
}

void comparison__show_refusals(const struct comparison *comparison)
{
	show(comparison, "refusals", comparison->skel->bss->refusals,
	     comparison->skel->bss->nr_refusals);
}
