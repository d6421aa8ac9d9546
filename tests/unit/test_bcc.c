/* SPDX-License-Identifier: GPL-2.0-only */
/* The text of bcc's offcputime, byte for byte. */
#include "output/bcc/bcc.h"

#include <stdlib.h>
#include <string.h>

#include "common/example_profile.h"
#include "common/harness.h"

static struct bcc_form form;

static int write_form(const struct profile *profile, FILE *out)
{
	return bcc__write(profile, &form, out);
}

static char *print(const struct bcc_form *wanted)
{
	/* Times off the CPU alone, as a live source has them. */
	struct example_profile example = {
		.filter = { .events = 1 << PROFILE_OFFCPU | 1 << PROFILE_IDLE }
	};
	size_t size;
	char *text;

	form = *wanted;
	text = example_profile__make(&example)
		       ? NULL
		       : example_profile__print(&example, write_form, &size);
	example_profile__free(&example);
	return text;
}

TEST(stacks_in_ascending_order_of_time)
{
	char *text = print(&(struct bcc_form){ .ns = true });

	ASSERT_NE(NULL, text);
	EXPECT_STREQ("    [kernel]+0xffffffff80001001\n"
		     "    -                wor ker (5000001)\n"
		     "        5\n"
		     "\n"
		     "    [kernel]+0xffffffff80001001\n"
		     "    [kernel]+0xffffffff80002001\n"
		     "    read<\"char\">\n"
		     "    run;it\n"
		     "    main\n"
		     "    -                app (5000000)\n"
		     "        130\n"
		     "\n"
		     "    anon+0x1fff\n"
		     "    main\n"
		     "    -                wor ker (5000001)\n"
		     "        9007199254740993\n"
		     "\n",
		     text);
	free(text);
}

TEST(microseconds_and_nothing_below_one)
{
	char *text = print(&(struct bcc_form){ .by = BCC_BY_COMM });

	ASSERT_NE(NULL, text);
	EXPECT_STREQ("    anon+0x1fff\n"
		     "    main\n"
		     "    -                wor ker\n"
		     "        9007199254740\n"
		     "\n",
		     text);
	free(text);
}

TEST(folded_with_a_delimiter)
{
	char *text = print(&(struct bcc_form){ .folded = true, .delimited = true, .ns = true });

	ASSERT_NE(NULL, text);
	EXPECT_STREQ("wor ker;[kernel]+0xffffffff80001001 5\n"
		     "app;main;run:it;read<\"char\">;-;[kernel]+0xffffffff80002001;"
		     "[kernel]+0xffffffff80001001 130\n"
		     "wor ker;main;anon+0x1fff 9007199254740993\n",
		     text);
	free(text);
}

TEST(the_time_of_a_process_is_that_of_its_threads)
{
	char *text = print(&(struct bcc_form){ .by = BCC_BY_PID, .ns = true, .delimited = true });

	ASSERT_NE(NULL, text);
	EXPECT_NE(NULL, strstr(text, "-                app (5000000)\n        5\n"));
	EXPECT_NE(NULL, strstr(text, "    [kernel]+0xffffffff80002001\n    --\n    read<"));
	EXPECT_EQ(NULL, strstr(text, "wor ker"));
	free(text);
}

static char *print_header(const struct bcc_form *wanted, const char *threads, uint64_t ns)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bcc__print_header(wanted, threads, ns, out);
	fclose(out);
	return text;
}

TEST(the_first_line)
{
	static const struct {
		struct bcc_form form;
		const char *threads;
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ { 0 },
		  "all threads",
		  0,
		  "Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C "
		  "to end.\n" },
		{ { .no_user = true },
		  "PID 42",
		  5000000000,
		  "Tracing off-CPU time (us) of PID 42 by kernel stack for 5 secs.\n" },
		{ { .no_kernel = true, .ns = true },
		  "threads of \033[2J\xff\xc2\x9b",
		  1500000000,
		  "Tracing off-CPU time (ns) of threads of ?[2J\xef\xbf\xbd? by user stack for 1.5 "
		  "secs.\n" },
		{ { .folded = true }, "all threads", 0, "" },
		{ { .libbpf = true }, "all threads", 0, "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = print_header(&cases[i].form, cases[i].threads, cases[i].ns);

		ASSERT_NE(NULL, text);
		EXPECT_STREQ(cases[i].text, text);
		free(text);
	}
}

TEST_HARNESS_MAIN
