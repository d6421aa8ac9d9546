/* SPDX-License-Identifier: GPL-2.0-only */
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/harness.h"

#include "bpf/vmlinux_btf.h"

FIXTURE(file)
{
	char path[32];
	char *data; /* of make_btf()'s BTF */
	uint32_t size;
};

/* One type of each kind that libbpf can add, so that each size is asked for. */
static struct btf *make_btf(void)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int pointer = btf__add_ptr(btf, number), function, variable;

	btf__add_array(btf, number, number, 3);
	btf__add_struct(btf, "pair", 8);
	btf__add_field(btf, "first", number, 0, 0);
	btf__add_field(btf, "second", number, 32, 0);
	btf__add_union(btf, "either", 4);
	btf__add_field(btf, "one", number, 0, 0);
	btf__add_enum(btf, "color", 4);
	btf__add_enum_value(btf, "RED", 1);
	btf__add_enum_value(btf, "BLUE", 2);
	btf__add_enum64(btf, "large", 8, false);
	btf__add_enum64_value(btf, "LARGE", 1ULL << 40);
	btf__add_fwd(btf, "later", BTF_FWD_STRUCT);
	btf__add_volatile(btf, number);
	btf__add_const(btf, number);
	btf__add_restrict(btf, pointer);
	btf__add_float(btf, "double", 8);
	btf__add_type_tag(btf, "rcu", number);
	function = btf__add_func_proto(btf, number);
	btf__add_func_param(btf, "context", pointer);
	btf__add_func_param(btf, "argument", number);
	btf__add_func(btf, "function", BTF_FUNC_GLOBAL, function);
	variable = btf__add_var(btf, "variable", BTF_VAR_GLOBAL_ALLOCATED, number);
	btf__add_datasec(btf, ".data", 4);
	btf__add_datasec_var_info(btf, variable, 0, 4);
	btf__add_decl_tag(btf, "tag", function, -1);
	btf__add_typedef(btf, "callback", btf__add_ptr(btf, function));
	return btf;
}

static int open_data(FIXTURE_DATA(file) *self, struct vmlinux_btf *btf, size_t size)
{
	int fd = open(self->path, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, self->data, size) != (ssize_t)size)
		abort();
	close(fd);
	return vmlinux_btf__open(btf, self->path);
}

FIXTURE_SETUP(file)
{
	struct btf *btf = make_btf();
	const void *data = btf__raw_data(btf, &self->size);
	int fd;

	self->data = malloc(self->size);
	ASSERT_NE(NULL, self->data);
	memcpy(self->data, data, self->size);
	btf__free(btf);
	memcpy(self->path, "/tmp/denet-btf-XXXXXX", sizeof("/tmp/denet-btf-XXXXXX"));
	fd = mkstemp(self->path);
	ASSERT_LE(0, fd);
	close(fd);
}

FIXTURE_TEARDOWN(file)
{
	unlink(self->path);
	free(self->data);
}

TEST_F(file, types_are_found_by_kind_and_name_behind_types_of_every_kind)
{
	struct btf_wanted wanted[] = {
		{ BTF_KIND_STRUCT, "pair", NULL },	{ BTF_KIND_TYPEDEF, "callback", NULL },
		{ BTF_KIND_ENUM, "color", NULL },	{ BTF_KIND_FUNC, "function", NULL },
		{ BTF_KIND_TYPEDEF, "pair", NULL },	{ BTF_KIND_STRUCT, "none", NULL },
	};
	struct vmlinux_btf btf;
	const struct btf_member *second;
	const struct btf_type *type;

	ASSERT_EQ(0, open_data(self, &btf, self->size));
	vmlinux_btf__find(&btf, wanted, 6);
	for (int i = 0; i < 4; i++)
		ASSERT_NE(NULL, wanted[i].type);
	EXPECT_EQ(NULL, wanted[4].type);
	EXPECT_EQ(NULL, wanted[5].type);
	second = vmlinux_btf__member(&btf, wanted[0].type, "second");
	ASSERT_NE(NULL, second);
	EXPECT_EQ(32, second->offset);
	EXPECT_EQ(NULL, vmlinux_btf__member(&btf, wanted[0].type, "third"));
	/* A typedef of a pointer to a function of two arguments. */
	type = vmlinux_btf__type(&btf, vmlinux_btf__type(&btf, wanted[1].type->type)->type);
	ASSERT_NE(NULL, type);
	EXPECT_EQ(BTF_KIND_FUNC_PROTO, BTF_INFO_KIND(type->info));
	EXPECT_EQ(2, BTF_INFO_VLEN(type->info));
	vmlinux_btf__close(&btf);
}

TEST_F(file, void_and_ids_and_offsets_out_of_bounds_are_nothing)
{
	struct vmlinux_btf btf;

	ASSERT_EQ(0, open_data(self, &btf, self->size));
	EXPECT_EQ(NULL, vmlinux_btf__type(&btf, 0));
	EXPECT_NE(NULL, vmlinux_btf__type(&btf, btf.nr - 1));
	EXPECT_EQ(NULL, vmlinux_btf__type(&btf, btf.nr));
	EXPECT_STREQ("", vmlinux_btf__name(&btf, btf.strings_len));
	vmlinux_btf__close(&btf);
}

TEST_F(file, a_file_that_is_cut_anywhere_is_none)
{
	struct vmlinux_btf btf;

	for (uint32_t size = 0; size < self->size; size++)
		ASSERT_EQ(-EINVAL, open_data(self, &btf, size));
}

TEST_F(file, a_kind_that_is_not_known_and_a_vlen_beyond_the_end_are_refused)
{
	struct btf_header *header = (void *)self->data;
	struct btf_type *first = (void *)(self->data + header->hdr_len + header->type_off);
	uint32_t info = first->info;
	struct vmlinux_btf btf;

	first->info = 31U << 24;
	EXPECT_EQ(-EINVAL, open_data(self, &btf, self->size));
	first->info = BTF_KIND_STRUCT << 24 | 0xffff;
	EXPECT_EQ(-EINVAL, open_data(self, &btf, self->size));
	first->info = info;
	header->magic ^= 1;
	EXPECT_EQ(-EINVAL, open_data(self, &btf, self->size));
}

TEST_HARNESS_MAIN
