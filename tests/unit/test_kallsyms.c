/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "common/listing.h"
#include "host/kallsyms.h"

static int parse(const char *line, struct kallsyms_line *out)
{
	return kallsyms__parse_line(line, strlen(line), out);
}

TEST(lines_of_functions_modules_and_programs_are_parsed)
{
	struct kallsyms_line line;

	ASSERT_EQ(0, parse("ffffffff81000000 T _text", &line));
	EXPECT_EQ(0xffffffff81000000, line.address);
	EXPECT_EQ('T', line.type);
	EXPECT_EQ(5, line.name_len);
	EXPECT_EQ(0, memcmp("_text", line.name, 5));
	EXPECT_FALSE(line.in_module);
	ASSERT_EQ(0, parse("ffffffffc0201000 t do_it\t[snd]", &line));
	EXPECT_EQ(5, line.name_len);
	EXPECT_TRUE(line.in_module);
	ASSERT_EQ(0, parse("ffffffffc0201000 t bpf_prog_0011_x\t[bpf]", &line));
	EXPECT_TRUE(line.in_module);
	ASSERT_EQ(0, parse("c0201000 D x", &line));
	EXPECT_EQ(0xc0201000, line.address);
}

TEST(malformed_lines_are_refused)
{
	static const char *const lines[] = {
		"", " ", "T x", "10", "10 ", "10 T", "10 T ", "10 Tx y", "xyz T x", "10T x",
		"10000000000000000 T x", "10 T \t[m]", "10 T x\t", "10 T x\t[", "10 T x\t[]",
		"10 T x\t[m", "10 T x\tm]",
	};
	struct kallsyms_line line;
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		EXPECT_EQ(-EINVAL, parse(lines[i], &line)) TH_LOG("line %zu", i);
	/* Bytes behind the length are not read, and a NUL is no part of a name. */
	EXPECT_EQ(-EINVAL, kallsyms__parse_line("10 T x", 5, &line));
	EXPECT_EQ(-EINVAL, kallsyms__parse_line("10 T a\0b", 8, &line));
}

TEST(look_up_finds_function_and_offset)
{
	static const char text[] = "0000000000000000 t percpu_zero\n"
				   "2000 t second\n"
				   "1000 T first\n"
				   "1800 D data\n"
				   "nonsense\n"
				   "3000 t third\t[mod]";
	struct kallsyms *kallsyms;
	uint64_t offset;
	int err;

	kallsyms = listing__read(text, &err);
	ASSERT_NE(NULL, kallsyms);
	EXPECT_EQ(0, err);
	EXPECT_EQ(3, kallsyms__nr(kallsyms));
	EXPECT_FALSE(kallsyms__hidden(kallsyms));
	EXPECT_EQ(NULL, kallsyms__lookup(kallsyms, 0, &offset));
	EXPECT_EQ(NULL, kallsyms__lookup(kallsyms, 0xfff, &offset));
	EXPECT_STREQ("first", kallsyms__lookup(kallsyms, 0x1000, &offset));
	EXPECT_EQ(0, offset);
	EXPECT_STREQ("first", kallsyms__lookup(kallsyms, 0x1fff, &offset));
	EXPECT_EQ(0xfff, offset);
	EXPECT_STREQ("second", kallsyms__name(kallsyms, 0x2000));
	EXPECT_STREQ("third", kallsyms__lookup(kallsyms, 0x3000 + KALLSYMS_OFFSET_MAX - 1, NULL));
	EXPECT_EQ(NULL, kallsyms__lookup(kallsyms, 0x3000 + KALLSYMS_OFFSET_MAX, NULL));
	EXPECT_EQ(NULL, kallsyms__lookup(kallsyms, UINT64_MAX, NULL));
	EXPECT_EQ(NULL, kallsyms__name(NULL, 0x2000));
	kallsyms__delete(kallsyms);
	kallsyms__delete(NULL);
}

TEST(perf_takes_the_last_alias_of_the_file)
{
	static const char text[] = "2000 T far\n1000 T b_global\n1000 t a_local\n";
	struct kallsyms *kallsyms;
	uint64_t offset;
	int err;

	kallsyms = listing__read(text, &err);
	ASSERT_NE(NULL, kallsyms);
	EXPECT_STREQ("a_local", kallsyms__lookup_as_perf(kallsyms, 0x1004, &offset));
	EXPECT_EQ(4, offset);
	EXPECT_STREQ("b_global", kallsyms__lookup(kallsyms, 0x1004, &offset));
	EXPECT_EQ(NULL, kallsyms__lookup_as_perf(kallsyms, 0xfff, &offset));
	kallsyms__delete(kallsyms);
}

TEST(global_name_speaks_for_its_aliases)
{
	struct kallsyms *kallsyms;
	int err;

	kallsyms = listing__read("1000 W weak\n1000 t local\n1000 T global\n1000 T later\n", &err);
	ASSERT_NE(NULL, kallsyms);
	EXPECT_STREQ("global", kallsyms__name(kallsyms, 0x1000));
	EXPECT_STREQ("global", kallsyms__name(kallsyms, 0x1001));
	kallsyms__delete(kallsyms);
}

TEST(range_ends_where_the_next_function_begins)
{
	struct kallsyms *kallsyms;
	uint64_t start, end;
	int err;

	kallsyms = listing__read("3000 t last\n1000 T a\n1000 T alias\n2000 t a\n", &err);
	ASSERT_NE(NULL, kallsyms);
	ASSERT_EQ(0, kallsyms__range(kallsyms, "a", &start, &end));
	EXPECT_EQ(0x1000, start);
	EXPECT_EQ(0x2000, end);
	ASSERT_EQ(0, kallsyms__range(kallsyms, "alias", &start, &end));
	EXPECT_EQ(0x2000, end);
	ASSERT_EQ(0, kallsyms__range(kallsyms, "last", &start, &end));
	EXPECT_EQ(UINT64_MAX, end);
	EXPECT_EQ(-ENOENT, kallsyms__range(kallsyms, "none", &start, &end));
	kallsyms__delete(kallsyms);
}

/* A call that does not return may be the last instruction: its return address lies behind it. */
TEST(padding_between_functions_belongs_to_the_one_in_front)
{
	static const char text[] = "0ff0 t __pfx_first\n"
				   "1000 t first\n"
				   "17f0 t __pfx_second\n"
				   "1800 t second\n"
				   "1ff0 t __cfi_third\n"
				   "2000 t third\n";
	uint64_t start = 0, end = 0;
	struct kallsyms *kallsyms;
	int err;

	kallsyms = listing__read(text, &err);
	ASSERT_NE(NULL, kallsyms);
	EXPECT_EQ(3, kallsyms__nr(kallsyms));
	EXPECT_STREQ("first", kallsyms__name(kallsyms, 0x17f0));
	EXPECT_STREQ("second", kallsyms__name(kallsyms, 0x1ff0));
	ASSERT_EQ(0, kallsyms__range(kallsyms, "first", &start, &end));
	EXPECT_EQ(0x1000, start);
	EXPECT_EQ(0x1800, end);
	kallsyms__delete(kallsyms);
}

TEST(addresses_that_are_all_zero_are_hidden)
{
	struct kallsyms *kallsyms;
	uint64_t start, end;
	int err;

	kallsyms = listing__read("0000000000000000 T _text\n0000000000000000 t x\t[m]\n", &err);
	ASSERT_NE(NULL, kallsyms);
	EXPECT_TRUE(kallsyms__hidden(kallsyms));
	EXPECT_EQ(0, kallsyms__nr(kallsyms));
	EXPECT_EQ(NULL, kallsyms__name(kallsyms, 0));
	EXPECT_EQ(NULL, kallsyms__name(kallsyms, UINT64_MAX));
	EXPECT_EQ(-ENOENT, kallsyms__range(kallsyms, "x", &start, &end));
	kallsyms__delete(kallsyms);
}

TEST(file_that_is_missing_or_holds_no_function_is_an_error)
{
	int err = 0;

	EXPECT_EQ(NULL, kallsyms__new("/nonexistent/kallsyms", &err));
	EXPECT_EQ(-ENOENT, err);
	EXPECT_EQ(NULL, listing__read("", &err));
	EXPECT_EQ(-ENODATA, err);
	EXPECT_EQ(NULL, listing__read("1000 D data\n", &err));
	EXPECT_EQ(-ENODATA, err);
	EXPECT_EQ(NULL, kallsyms__new("/proc/self", &err));
	EXPECT_EQ(-EIO, err);
}

TEST(many_symbols_out_of_order_are_all_found_in_bounded_memory)
{
	const size_t nr = 150000;
	struct kallsyms *kallsyms;
	char *text = NULL, name[32];
	size_t size, wrong = 0;
	FILE *file = open_memstream(&text, &size);
	int err;

	for (size_t i = 0; i < nr; i++) {
		size_t k = i * 7919 % nr;

		fprintf(file, "%016zx t some_function_%zu\n", 0x1000 + k * 16, k);
	}
	fclose(file);
	kallsyms = listing__read(text, &err);
	free(text);
	ASSERT_NE(NULL, kallsyms);
	EXPECT_EQ(nr, kallsyms__nr(kallsyms));
	EXPECT_GT(12u << 20, kallsyms__memory(kallsyms));
	for (size_t k = 0; k < nr; k++) {
		snprintf(name, sizeof(name), "some_function_%zu", k);
		wrong += strcmp(name, kallsyms__name(kallsyms, 0x1000 + k * 16 + 7)) != 0;
	}
	EXPECT_EQ(0, wrong);
	kallsyms__delete(kallsyms);
}

TEST(machines_own_file_is_read)
{
	struct kallsyms *kallsyms;
	uint64_t start, end;
	int err;

	kallsyms = kallsyms__new(NULL, &err);
	if (!kallsyms)
		SKIP(return, "no /proc/kallsyms: %s", strerror(-err));
	if (kallsyms__hidden(kallsyms)) {
		kallsyms__delete(kallsyms);
		SKIP(return, "kernel addresses are hidden (kernel.kptr_restrict)");
	}
	EXPECT_LT(10000, kallsyms__nr(kallsyms));
	ASSERT_EQ(0, kallsyms__range(kallsyms, "schedule", &start, &end));
	EXPECT_LT(start, end);
	EXPECT_STREQ("schedule", kallsyms__name(kallsyms, start + 1));
	TH_LOG("%zu symbols in %zu bytes", kallsyms__nr(kallsyms), kallsyms__memory(kallsyms));
	kallsyms__delete(kallsyms);
}

TEST(bounds_are_those_of_the_kernel_not_of_a_module)
{
	int err;
	struct kallsyms *kallsyms = listing__read("1000 T _stext\n1000 T _text\n3000 T _etext\n"
						  "3800 D _edata\n9000 T _etext\t[m]\n",
						  &err);
	const struct kallsyms_bounds *bounds;

	ASSERT_NE(NULL, kallsyms);
	bounds = kallsyms__bounds(kallsyms);
	EXPECT_EQ(0x1000, bounds->text);
	EXPECT_EQ(0x1000, bounds->stext);
	EXPECT_EQ(0x3000, bounds->etext);
	EXPECT_EQ(0x3800, bounds->edata);
	kallsyms__delete(kallsyms);
	kallsyms = listing__read("1000 T _textual\n2000 T x\n", &err);
	ASSERT_NE(NULL, kallsyms);
	EXPECT_EQ(0, kallsyms__bounds(kallsyms)->text);
	kallsyms__delete(kallsyms);
}

TEST_HARNESS_MAIN
