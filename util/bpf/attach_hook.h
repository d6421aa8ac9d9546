/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_ATTACH_HOOK_H
#define DENET_BPF_ATTACH_HOOK_H

struct kernel_features;

/* The hook at which the programs see a thread return to a CPU, and walk its stacks. */
enum attach_hook {
	ATTACH_HOOK_AUTO = 0,   /* as an option: the first hook that loads */
	ATTACH_HOOK_EXIT_TP,    /* walk at switch-in, tp_btf/sched_exit_tp */
	ATTACH_HOOK_FENTRY,     /* walk at switch-in, fentry/__perf_event_task_sched_in */
	ATTACH_HOOK_SWITCH_OUT, /* walk at switch-out, tp_btf/sched_switch */
	ATTACH_HOOK_MAX,
	ATTACH_HOOK_SWITCH_IN = ATTACH_HOOK_MAX, /* as an option: switch-in, any */
};

/*
 * The hook that an option names: "auto", "switch-in", "switch-out", or one hook of "switch-in":
 * "sched_exit_tp", "fentry". 0 or -EINVAL.
 */
int attach_hook__parse(enum attach_hook *hook, const char *text);

/* Its name, such as "switch-in (sched_exit_tp)". AUTO has one, too. */
const char *attach_hook__name(enum attach_hook hook);

/* Tries one hook. 0 or a negative errno, with nothing left behind. */
typedef int (*attach_hook_try_fn)(void *ctx, enum attach_hook hook);

/*
 * Tries the hooks that want allows and the kernel has, the best first, until one works; each is
 * logged with -v. 0, or the most specific negative errno, -EOPNOTSUPP if the kernel has none.
 */
int attach_hook__take(enum attach_hook want, const struct kernel_features *kernel_features,
		      attach_hook_try_fn fn, void *ctx);

/*
 * Opens a perf event on ourselves, which counts nothing: the scheduler calls
 * __perf_event_task_sched_in() only while there are events of tasks. The caller closes it once
 * ATTACH_HOOK_FENTRY is not needed any more. A descriptor, or -errno.
 */
int attach_hook__open_event(void);

#endif /* DENET_BPF_ATTACH_HOOK_H */
