/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/kernel_lacks.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"

#define MOST_DEPTH 4

/* Members that the iterator reads if the kernel has them, and the columns that need them. */
static const struct {
	const char *type;
	const char *member;
	const char *text;
} needed[KERNEL_LACKS_MOST] = {
	{ "sched_info", "last_queued",
	  "how long threads have been in their state: P50, P99 and state_us are empty" },
	{ "cfs_rq", "rq",
	  "how long sleeping threads have been so: P50, P99 and state_us of them are empty" },
	{ "io_ring_ctx", "cached_sq_head",
	  "requests of io_uring: uringfilename and their extra_info are empty" },
	{ "unix_sock", "peer", "peers of Unix sockets: connection has one end of them" },
};

/* Members of unnamed structs within count as well, down to MOST_DEPTH. */
static bool has_member(const struct vmlinux_btf *btf, const struct btf_type *type, const char *name,
		       unsigned int depth)
{
	const struct btf_member *members = (const void *)(type + 1);

	if (BTF_INFO_KIND(type->info) != BTF_KIND_STRUCT &&
	    BTF_INFO_KIND(type->info) != BTF_KIND_UNION)
		return false;
	if (vmlinux_btf__member(btf, type, name))
		return true;
	for (uint32_t i = 0; depth < MOST_DEPTH && i < BTF_INFO_VLEN(type->info); i++) {
		const struct btf_type *inner = vmlinux_btf__type(btf, members[i].type);

		if (inner && !*vmlinux_btf__name(btf, members[i].name_off) &&
		    has_member(btf, inner, name, depth + 1))
			return true;
	}
	return false;
}

size_t kernel_lacks__list(const struct vmlinux_btf *btf, const char *texts[KERNEL_LACKS_MOST])
{
	struct btf_wanted wanted[KERNEL_LACKS_MOST];
	size_t nr = 0;

	for (size_t i = 0; i < KERNEL_LACKS_MOST; i++)
		wanted[i] = (struct btf_wanted){ .kind = BTF_KIND_STRUCT, .name = needed[i].type };
	vmlinux_btf__find(btf, wanted, KERNEL_LACKS_MOST);
	for (size_t i = 0; i < KERNEL_LACKS_MOST; i++) {
		if (!wanted[i].type || !has_member(btf, wanted[i].type, needed[i].member, 0))
			texts[nr++] = needed[i].text;
	}
	return nr;
}

void kernel_lacks__warn(void)
{
	const char *texts[KERNEL_LACKS_MOST];
	struct vmlinux_btf btf;
	size_t nr = 0;

	/* Without it the programs were not loaded. */
	if (!vmlinux_btf__open(&btf, NULL))
		nr = kernel_lacks__list(&btf, texts);
	for (size_t i = 0; i < nr; i++)
		pr_warn("this kernel does not tell %s", texts[i]);
	vmlinux_btf__close(&btf);
}
