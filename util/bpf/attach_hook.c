/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/attach_hook.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "bpf/kernel_features.h"

const char *capture_way__name(enum capture_way way)
{
	static const char *const names[CAPTURE_WAY_MAX] = {
		[CAPTURE_WAY_AUTO] = "auto",
		[CAPTURE_WAY_EXIT_TP] = "switch-in (sched_exit_tp)",
		[CAPTURE_WAY_FENTRY] = "switch-in (__perf_event_task_sched_in)",
		[CAPTURE_WAY_SWITCH_OUT] = "switch-out (sched_switch)",
	};

	return way < CAPTURE_WAY_MAX ? names[way] : "unknown";
}

static bool may_have_way(const struct offer *offer, enum capture_way way)
{
	if (way == CAPTURE_WAY_EXIT_TP)
		return offer->has_exit_tp;
	return way == CAPTURE_WAY_SWITCH_OUT || offer->has_sched_in;
}

static bool is_asked_for(enum capture_way want, enum capture_way way)
{
	if (want == CAPTURE_WAY_SWITCH_IN)
		return way != CAPTURE_WAY_SWITCH_OUT;
	return want == CAPTURE_WAY_AUTO || want == way;
}

int way__take(enum capture_way want, const struct offer *offer, way_try_fn fn, void *ctx)
{
	int first = 0, err;

	for (enum capture_way way = CAPTURE_WAY_AUTO + 1; way < CAPTURE_WAY_MAX; way++) {
		if (!is_asked_for(want, way))
			continue;
		err = -EOPNOTSUPP;
		if (may_have_way(offer, way))
			err = fn(ctx, way);
		pr_verbose("capture way %s: %s", capture_way__name(way),
			   !err			 ? "works, taken" :
			   err == -EOPNOTSUPP ? "this kernel does not have it" :
						strerror(-err));
		if (!err)
			return 0;
		/* What the kernel refuses tells more than what it does not have. */
		if (!first || first == -EOPNOTSUPP)
			first = err;
	}
	return first ? first : -EOPNOTSUPP;
}
