/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/kernel_features.h"

#include <stdint.h>
#include <string.h>

#include "bpf/vmlinux_btf.h"
#include "host/sysctl.h"
#include "wire.h"

/* Types that reveal the features. */
enum {
	SCHED_SWITCH,
	SCHED_EXIT_TP,
	MODULE_LOAD,
	MODULE_FREE,
	UNMAPPED_AREA,
	SCHED_IN,
	HELPERS,
	SCHED_INFO,
	TASK_STRUCT,
	CFS_RQ,
	ORC_ENTRY,
	FAULTABLE,
	STRING_KFUNCS,
	WANTED,
};

/* The number of arguments of a raw tracepoint, without its context; -1: there is none. */
static int tracepoint_args(const struct vmlinux_btf *btf, const struct btf_wanted *tracepoint)
{
	const struct btf_type *type = tracepoint->type;

	/* A typedef of a pointer to a function. */
	for (int i = 0; i < 2 && type; i++)
		type = vmlinux_btf__type(btf, type->type);
	return type ? (int)BTF_INFO_VLEN(type->info) - 1 : -1;
}

/* True if the kernel's list of BPF helpers has this name. */
static bool has_helper(const struct vmlinux_btf *btf, const struct btf_wanted *helpers,
		       const char *name)
{
	const struct btf_enum *values;

	if (!helpers->type)
		return false;
	values = (const struct btf_enum *)(helpers->type + 1);
	for (uint32_t i = 0; i < BTF_INFO_VLEN(helpers->type->info); i++) {
		if (!strcmp(vmlinux_btf__name(btf, values[i].name_off), name))
			return true;
	}
	return false;
}

/* True if a struct of the kernel has a member of this name. */
static bool has_member(const struct vmlinux_btf *btf, const struct btf_wanted *wanted,
		       const char *member)
{
	return wanted->type && vmlinux_btf__member(btf, wanted->type, member);
}

/* Registers are known on x86-64 and arm64. */
static bool has_registers(const struct vmlinux_btf *btf, const struct btf_wanted *helpers)
{
#if defined(__x86_64__) || defined(__aarch64__)
	return has_helper(btf, helpers, "BPF_FUNC_task_pt_regs");
#else
	(void)btf;
	(void)helpers;
	return false;
#endif
}

/* True if our own walk of frame pointers may replace the kernel's: there is none for arm64. */
static bool has_quick_frames(bool has_registers)
{
#ifdef __x86_64__
	int64_t most = 0;

	return has_registers && !sysctl__read("kernel.perf_event_max_stack", &most) &&
	       most >= WIRE_MAX_FRAMES;
#else
	(void)has_registers;
	return false;
#endif
}

static void read_features(struct kernel_features *features, const struct vmlinux_btf *btf,
			  const struct btf_wanted *types)
{
	int args = tracepoint_args(btf, &types[SCHED_SWITCH]);

	features->has_scheduler = args >= 0;
	features->has_state = args >= 4;
	features->has_exit_tp = tracepoint_args(btf, &types[SCHED_EXIT_TP]) >= 1;
	features->has_sched_in = types[SCHED_IN].type;
	features->has_task_storage =
		has_helper(btf, &types[HELPERS], "BPF_FUNC_task_storage_get");
	features->has_user_memory =
		has_helper(btf, &types[HELPERS], "BPF_FUNC_copy_from_user_task");
	features->has_run_delay = has_member(btf, &types[SCHED_INFO], "run_delay");
	features->has_throttled = has_member(btf, &types[TASK_STRUCT], "throttled") ||
				  has_member(btf, &types[CFS_RQ], "throttle_count");
	features->has_registers = has_registers(btf, &types[HELPERS]);
	features->quick_frames = has_quick_frames(features->has_registers);
	features->has_find_vma = has_helper(btf, &types[HELPERS], "BPF_FUNC_find_vma");
	features->has_unmapped_area = tracepoint_args(btf, &types[UNMAPPED_AREA]) >= 0;
	features->has_modules = tracepoint_args(btf, &types[MODULE_LOAD]) >= 0 &&
				tracepoint_args(btf, &types[MODULE_FREE]) >= 0;
	features->has_preempted_calls = types[FAULTABLE].type;
	/* BTF does not tell what the verifier takes; both came with Linux 6.17. */
	features->has_kernel_loads = types[STRING_KFUNCS].type;
	if (features->has_registers)
		orc_format__read(&features->orc, btf, types[ORC_ENTRY].type);
}

int kernel_features__read(struct kernel_features *kernel_features)
{
	struct btf_wanted types[WANTED] = {
		[SCHED_SWITCH] = { BTF_KIND_TYPEDEF, "btf_trace_sched_switch", NULL },
		[SCHED_EXIT_TP] = { BTF_KIND_TYPEDEF, "btf_trace_sched_exit_tp", NULL },
		[MODULE_LOAD] = { BTF_KIND_TYPEDEF, "btf_trace_module_load", NULL },
		[MODULE_FREE] = { BTF_KIND_TYPEDEF, "btf_trace_module_free", NULL },
		[UNMAPPED_AREA] = { BTF_KIND_TYPEDEF, "btf_trace_vm_unmapped_area", NULL },
		[SCHED_IN] = { BTF_KIND_FUNC, "__perf_event_task_sched_in", NULL },
		[HELPERS] = { BTF_KIND_ENUM, "bpf_func_id", NULL },
		[SCHED_INFO] = { BTF_KIND_STRUCT, "sched_info", NULL },
		[TASK_STRUCT] = { BTF_KIND_STRUCT, "task_struct", NULL },
		[CFS_RQ] = { BTF_KIND_STRUCT, "cfs_rq", NULL },
		[ORC_ENTRY] = { BTF_KIND_STRUCT, ORC_FORMAT_STRUCT, NULL },
		[FAULTABLE] = { BTF_KIND_FUNC, "trace_call_bpf_faultable", NULL },
		[STRING_KFUNCS] = { BTF_KIND_FUNC, "bpf_strcmp", NULL },
	};
	struct vmlinux_btf btf;
	int err = vmlinux_btf__open(&btf, NULL);

	*kernel_features = (struct kernel_features){ .has_btf = !err };
	if (err)
		return err;
	vmlinux_btf__find(&btf, types, WANTED);
	read_features(kernel_features, &btf, types);
	vmlinux_btf__close(&btf);
	return 0;
}
