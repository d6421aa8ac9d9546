/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/probe.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "bpf/load_error.h"
#include "probe.skel.h"

static const struct {
	const char *program;
	struct probe probe;
	bool attach; /* some kernels load it and refuse to attach it */
} table[] = {
	{ "hook_switch_out",
	  { "tp_btf/sched_switch", "a thread leaves its CPU", PROBE_REQUIRED, 0 },
	  true },
	{ "hook_exit_tp", { "tp_btf/sched_exit_tp", "a thread comes back", PROBE_ONE_OF, 0 },
	  true },
	{ "hook_fentry",
	  { "fentry/__perf_event_task_sched_in", "a thread comes back", PROBE_ONE_OF, 0 },
	  true },
	{ "hook_birth", { "tp_btf/task_newtask", "a thread is born", PROBE_REQUIRED, 0 }, true },
	{ "hook_exit", { "tp_btf/sched_process_exit", "a thread ends", PROBE_REQUIRED, 0 }, true },
	{ "help_task_storage",
	  { "bpf_task_storage_get", "a thread's own room for time stamps", PROBE_REQUIRED, 0 },
	  false },
	{ "help_read_kernel",
	  { "bpf_probe_read_kernel", "names and parents of threads", PROBE_REQUIRED, 0 },
	  false },
	{ "help_get_stack", { "bpf_get_stack", "callchains", PROBE_REQUIRED, 0 }, false },
	{ "help_output", { "bpf_perf_event_output", "samples", PROBE_REQUIRED, 0 }, false },
	{ "iterate_tasks",
	  { "iter/task", "threads that exist already", PROBE_REQUIRED, 0 },
	  false },
	{ "iterate_memory",
	  { "iter.s/task", "user frames of threads that never come back", PROBE_USEFUL, 0 },
	  false },
};

#define NR_PROBES (sizeof(table) / sizeof(table[0]))

static int attach(struct bpf_program *program)
{
	struct bpf_link *link = bpf_program__attach(program);

	if (!link)
		return errno ? -errno : -EINVAL;
	bpf_link__destroy(link);
	return 0;
}

/* Loads the object with only this program. */
static int try(size_t index)
{
	struct bpf_program *program, *wanted = NULL;
	struct probe_bpf *skel = probe_bpf__open();
	int err;

	if (!skel)
		return errno ? -errno : -ENOMEM;
	bpf_object__for_each_program(program, skel->obj)
	{
		bool it = !strcmp(bpf_program__name(program), table[index].program);

		bpf_program__set_autoload(program, it);
		if (it)
			wanted = program;
	}
	err = wanted ? probe_bpf__load(skel) : -ENOENT;
	if (!err && table[index].attach)
		err = attach(wanted);
	probe_bpf__destroy(skel);
	return err;
}

int probe__run(probe_fn fn, void *ctx)
{
	struct probe_bpf *skel;

	load_error__log_details();
	skel = probe_bpf__open();
	if (!skel)
		return errno ? -errno : -ENOMEM;
	probe_bpf__destroy(skel);
	for (size_t i = 0; i < NR_PROBES; i++) {
		struct probe probe = table[i].probe;

		probe.err = try(i);
		fn(ctx, &probe);
	}
	return 0;
}
