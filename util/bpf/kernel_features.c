/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/kernel_features.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "host/sysctl.h"
#include "wire.h"

/* The number of arguments of a raw tracepoint, without its context; -1: there is none. */
static int tracepoint_args(const struct btf *btf, const char *name)
{
	const struct btf_type *type;
	char typedef_name[64];
	int id;

	snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, typedef_name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -1;
	type = btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type);
	type = btf__type_by_id(btf, type->type);
	return (int)btf_vlen(type) - 1;
}

/* Whether the kernel's list of BPF helpers has one of this name. */
static bool has_helper(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, "bpf_func_id", BTF_KIND_ENUM);
	const struct btf_type *type;

	if (id < 0)
		return false;
	type = btf__type_by_id(btf, (__u32)id);
	for (int i = 0; i < btf_vlen(type); i++) {
		if (!strcmp(btf__name_by_offset(btf, btf_enum(type)[i].name_off), name))
			return true;
	}
	return false;
}

/* Whether a struct of the kernel has a member of this name. */
static bool has_member(const struct btf *btf, const char *name, const char *member)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);
	const struct btf_type *type;

	if (id < 0)
		return false;
	type = btf__type_by_id(btf, (__u32)id);
	for (int i = 0; i < btf_vlen(type); i++) {
		if (!strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), member))
			return true;
	}
	return false;
}

/* Registers are known on x86-64 and arm64. */
static bool has_registers(const struct btf *btf)
{
#if defined(__x86_64__) || defined(__aarch64__)
	return has_helper(btf, "BPF_FUNC_task_pt_regs");
#else
	(void)btf;
	return false;
#endif
}

/* Whether our own walk of frame pointers may stand for the kernel's: there is none for arm64. */
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

int kernel_features__read(struct kernel_features *kernel_features)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int args;

	*kernel_features = (struct kernel_features){ .has_btf = btf };
	if (!btf)
		return errno ? -errno : -ENOENT;
	args = tracepoint_args(btf, "sched_switch");
	kernel_features->has_scheduler = args >= 0;
	kernel_features->has_state = args >= 4;
	kernel_features->has_exit_tp = tracepoint_args(btf, "sched_exit_tp") >= 1;
	kernel_features->has_sched_in =
		btf__find_by_name_kind(btf, "__perf_event_task_sched_in", BTF_KIND_FUNC) > 0;
	kernel_features->has_task_storage = has_helper(btf, "BPF_FUNC_task_storage_get");
	kernel_features->has_user_memory = has_helper(btf, "BPF_FUNC_copy_from_user_task");
	kernel_features->has_run_delay = has_member(btf, "sched_info", "run_delay");
	kernel_features->has_throttled = has_member(btf, "task_struct", "throttled") ||
					 has_member(btf, "cfs_rq", "throttle_count");
	kernel_features->has_registers = has_registers(btf);
	kernel_features->quick_frames = has_quick_frames(kernel_features->has_registers);
	kernel_features->has_modules = tracepoint_args(btf, "module_load") >= 0 &&
				       tracepoint_args(btf, "module_free") >= 0;
	if (kernel_features->has_registers)
		orc_format__read(&kernel_features->orc, btf);
	btf__free(btf);
	return 0;
}
