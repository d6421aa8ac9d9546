/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_PROBE_H
#define DENET_BPF_PROBE_H

#include <stdbool.h>

/* How a recording depends on a probed feature. */
enum probe_need {
	PROBE_REQUIRED,
	PROBE_ONE_OF, /* one of these is enough: the hooks at which a thread comes back */
	PROBE_USEFUL, /* without it a named part is missing */
};

struct probe {
	const char *name; /* the kernel's name of the hook or helper */
	const char *what; /* its purpose */
	enum probe_need need;
	int err; /* 0: the kernel accepted it, else a negative errno */
};

/*
 * Tries each hook and helper by loading a program that uses it, and attaching the hooks of
 * the scheduler for a moment. fn is called for each. 0, or a negative errno if nothing could
 * be tried at all (then fn was not called).
 */
typedef void (*probe_fn)(void *ctx, const struct probe *probe);
int probe__run(probe_fn fn, void *ctx);

#endif /* DENET_BPF_PROBE_H */
