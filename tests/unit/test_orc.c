/* SPDX-License-Identifier: GPL-2.0-only */
#include <bpf/btf.h>
#include <kselftest_harness.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf/orc.h"
#include "bpf/vmlinux_btf.h"

/* A bit field of struct orc_entry, in bits from the begin of the struct. */
struct field {
	const char *name;
	uint32_t bit, bits;
};

/* BTF with a struct orc_entry of these fields; an empty name ends them. */
static struct btf *make_btf(const struct field *fields, uint32_t bytes)
{
	struct btf *btf = btf__new_empty();
	int type = btf__add_int(btf, "unsigned int", 4, 0);

	btf__add_struct(btf, "orc_entry", bytes);
	for (; fields->name; fields++)
		btf__add_field(btf, fields->name, type, fields->bit, fields->bits);
	return btf;
}

/* As the file of a kernel would have it. */
static struct orc_format read_btf(const struct btf *btf)
{
	struct btf_wanted wanted = { BTF_KIND_STRUCT, ORC_FORMAT_STRUCT, NULL };
	char path[] = "/tmp/denet-orc-XXXXXX";
	int fd = mkstemp(path);
	struct orc_format format = { .known = true };
	struct vmlinux_btf kernel;
	const void *data;
	uint32_t size;

	data = btf__raw_data(btf, &size);
	if (write(fd, data, size) == (ssize_t)size && !vmlinux_btf__open(&kernel, path)) {
		vmlinux_btf__find(&kernel, &wanted, 1);
		orc_format__read(&format, &kernel, wanted.type);
		vmlinux_btf__close(&kernel);
	}
	close(fd);
	unlink(path);
	return format;
}

static struct orc_format read_format(const struct field *fields, uint32_t bytes)
{
	struct btf *btf = make_btf(fields, bytes);
	struct orc_format format = read_btf(btf);

	btf__free(btf);
	return format;
}

TEST(of_linux_6_4_and_later_the_type_tells_the_end)
{
	static const struct field fields[] = {
		{ "sp_offset", 0, 0 }, { "bp_offset", 16, 0 }, { "sp_reg", 32, 4 },
		{ "bp_reg", 36, 4 },   { "type", 40, 3 },      { "signal", 43, 1 },
		{ NULL, 0, 0 },
	};
	struct orc_format format = read_format(fields, 6);

	EXPECT_TRUE(format.known);
	EXPECT_EQ(8, format.type_shift);
	EXPECT_EQ(7, format.type_mask);
	EXPECT_EQ(WIRE_ORC_NO_END, format.end_shift);
}

TEST(of_linux_6_1_a_flag_tells_the_end)
{
	static const struct field fields[] = {
		{ "sp_offset", 0, 0 }, { "bp_offset", 16, 0 }, { "sp_reg", 32, 4 },
		{ "bp_reg", 36, 4 },   { "type", 40, 2 },      { "end", 42, 1 },
		{ NULL, 0, 0 },
	};
	struct orc_format format = read_format(fields, 6);

	EXPECT_TRUE(format.known);
	EXPECT_EQ(8, format.type_shift);
	EXPECT_EQ(3, format.type_mask);
	EXPECT_EQ(10, format.end_shift);
}

TEST(a_struct_of_another_size_or_without_a_type_is_not_known)
{
	static const struct field none[] = { { "sp_offset", 0, 0 }, { NULL, 0, 0 } };
	static const struct field type[] = { { "type", 40, 3 }, { NULL, 0, 0 } };

	EXPECT_FALSE(read_format(none, 6).known);
	EXPECT_FALSE(read_format(type, 8).known);
}

TEST(a_kernel_without_the_tables_is_not_known)
{
	struct btf *btf = btf__new_empty();

	btf__add_int(btf, "unsigned int", 4, 0);
	EXPECT_FALSE(read_btf(btf).known);
	btf__free(btf);
}

TEST_HARNESS_MAIN
