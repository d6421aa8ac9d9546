/* SPDX-License-Identifier: GPL-2.0-only */
/* A kernel's types tell which columns stay empty: here those of kernels that are made up. */
#include "top/kernel_lacks.h"

#include <bpf/btf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/harness.h"

static const struct {
	const char *type, *member;
} all[KERNEL_LACKS_MOST] = {
	{ "sched_info", "last_queued" },
	{ "cfs_rq", "rq" },
	{ "io_ring_ctx", "cached_sq_head" },
	{ "unix_sock", "peer" },
};

/* Lists what a kernel lacks that has all of these but one type, or the member of one. */
static size_t list_without(size_t type, size_t member, const char *texts[KERNEL_LACKS_MOST])
{
	char path[] = "/tmp/denet-btf-XXXXXX";
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED), fd = mkstemp(path);
	struct vmlinux_btf kernel;
	const void *data;
	uint32_t size;
	size_t nr = 99;

	for (size_t i = 0; i < KERNEL_LACKS_MOST; i++) {
		int inner;

		if (i == type)
			continue;
		/* As io_ring_ctx has them: in a struct without a name. */
		inner = btf__add_struct(btf, NULL, 4);
		if (i != member)
			btf__add_field(btf, all[i].member, number, 0, 0);
		btf__add_struct(btf, all[i].type, 8);
		btf__add_field(btf, "another", number, 0, 0);
		btf__add_field(btf, NULL, inner, 32, 0);
	}
	data = btf__raw_data(btf, &size);
	if (fd >= 0 && write(fd, data, size) == (ssize_t)size &&
	    !vmlinux_btf__open(&kernel, path)) {
		nr = kernel_lacks__list(&kernel, texts);
		vmlinux_btf__close(&kernel);
	}
	close(fd);
	unlink(path);
	btf__free(btf);
	return nr;
}

TEST(what_is_there_is_not_lacking)
{
	const char *texts[KERNEL_LACKS_MOST];

	EXPECT_EQ(0, list_without(99, 99, texts));
}

TEST(types_and_members_that_are_not_there)
{
	static const char *const words[KERNEL_LACKS_MOST] = { "in their state", "sleeping threads",
							      "io_uring", "Unix sockets" };
	const char *texts[KERNEL_LACKS_MOST];

	for (size_t i = 0; i < KERNEL_LACKS_MOST; i++) {
		ASSERT_EQ(1, list_without(i, 99, texts));
		EXPECT_NE(NULL, strstr(texts[0], words[i]));
		ASSERT_EQ(1, list_without(99, i, texts));
		EXPECT_NE(NULL, strstr(texts[0], words[i]));
	}
	EXPECT_EQ(2, list_without(0, 2, texts));
}

TEST_HARNESS_MAIN
