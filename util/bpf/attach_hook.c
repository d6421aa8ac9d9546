/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/attach_hook.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "bpf/kernel_features.h"

int attach_hook__parse(enum attach_hook *hook, const char *text)
{
	static const struct {
		const char *name;
		enum attach_hook hook;
	} hooks[] = {
		{ "auto", ATTACH_HOOK_AUTO },
		{ "switch-in", ATTACH_HOOK_SWITCH_IN },
		{ "switch-out", ATTACH_HOOK_SWITCH_OUT },
		{ "sched_exit_tp", ATTACH_HOOK_EXIT_TP },
		{ "fentry", ATTACH_HOOK_FENTRY },
	};

	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		if (!strcmp(text, hooks[i].name)) {
			*hook = hooks[i].hook;
			return 0;
		}
	}
	return -EINVAL;
}

const char *attach_hook__name(enum attach_hook hook)
{
	static const char *const names[ATTACH_HOOK_MAX] = {
		[ATTACH_HOOK_AUTO] = "auto",
		[ATTACH_HOOK_EXIT_TP] = "switch-in (sched_exit_tp)",
		[ATTACH_HOOK_FENTRY] = "switch-in (__perf_event_task_sched_in)",
		[ATTACH_HOOK_SWITCH_OUT] = "switch-out (sched_switch)",
	};

	return hook < ATTACH_HOOK_MAX ? names[hook] : "unknown";
}

static bool may_have_hook(const struct kernel_features *kernel_features, enum attach_hook hook)
{
	if (hook == ATTACH_HOOK_EXIT_TP)
		return kernel_features->has_exit_tp;
	return hook == ATTACH_HOOK_SWITCH_OUT || kernel_features->has_sched_in;
}

static bool is_asked_for(enum attach_hook want, enum attach_hook hook)
{
	if (want == ATTACH_HOOK_SWITCH_IN)
		return hook != ATTACH_HOOK_SWITCH_OUT;
	return want == ATTACH_HOOK_AUTO || want == hook;
}

int attach_hook__take(enum attach_hook want, const struct kernel_features *kernel_features,
		      attach_hook_try_fn fn, void *ctx)
{
	int first = 0, err;

	for (enum attach_hook hook = ATTACH_HOOK_AUTO + 1; hook < ATTACH_HOOK_MAX; hook++) {
		if (!is_asked_for(want, hook))
			continue;
		err = -EOPNOTSUPP;
		if (may_have_hook(kernel_features, hook))
			err = fn(ctx, hook);
		pr_verbose("attach hook %s: %s", attach_hook__name(hook),
			   !err			 ? "works, taken" :
			   err == -EOPNOTSUPP ? "this kernel does not have it" :
						strerror(-err));
		if (!err)
			return 0;
		/* A load error is more specific than a missing hook. */
		if (!first || first == -EOPNOTSUPP)
			first = err;
	}
	return first ? first : -EOPNOTSUPP;
}

int attach_hook__open_event(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}
