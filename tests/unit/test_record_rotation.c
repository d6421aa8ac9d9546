/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/rotation.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "common/harness.h"

TEST(sizes_times_and_signal_are_taken)
{
	static const struct {
		const char *text;
		uint64_t size;
		uint64_t time_ns;
	} cases[] = {
		{ "100B", 100, 0 },
		{ "20K", 20 << 10, 0 },
		{ "3M", 3 << 20, 0 },
		{ "1G", 1 << 30, 0 },
		{ "200ms", 0, 200 * NSEC_PER_MSEC },
		{ "30s", 0, 30 * NSEC_PER_SEC },
		{ "1.5s", 0, 1500 * NSEC_PER_MSEC },
		{ "10m", 0, 600 * NSEC_PER_SEC },
		{ "2h", 0, 7200 * NSEC_PER_SEC },
		{ "1d", 0, 86400 * NSEC_PER_SEC },
		{ "signal", 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rotation_options options = { .max_files = 7 };

		EXPECT_EQ(0, rotation__parse(&options, cases[i].text))
		TH_LOG("%s", cases[i].text);
		EXPECT_TRUE(options.enabled);
		EXPECT_EQ(cases[i].size, options.size);
		EXPECT_EQ(cases[i].time_ns, options.time_ns);
		EXPECT_EQ(7, options.max_files);
	}
}

TEST(what_is_neither_is_refused_and_changes_nothing)
{
	static const char *const bad[] = {
		"",   "10",  "s",   "K",   "0K",   "0s",      "-1s",
		"1x", "1us", "1 s", "1sK", "1e9s", "signals", "99999999999999999d"
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rotation_options options = { 0 };

		EXPECT_GT(0, rotation__parse(&options, bad[i]))
		TH_LOG("%s", bad[i]);
		EXPECT_FALSE(options.enabled);
	}
}

TEST(a_file_is_full_by_what_it_has_beyond_its_beginning_or_by_its_age)
{
	struct rotation_options options = { .enabled = true, .size = 100 };
	struct rotation rotation;

	ASSERT_EQ(0, rotation__init(&rotation, &options, "x"));
	rotation__begin(&rotation, 1000, 500);
	EXPECT_FALSE(rotation__is_full(&rotation, 1001, 599));
	EXPECT_TRUE(rotation__is_full(&rotation, 1001, 600));
	EXPECT_EQ(UINT64_MAX, rotation__due(&rotation));
	rotation__free(&rotation);

	options = (struct rotation_options){ .enabled = true, .time_ns = 100 };
	ASSERT_EQ(0, rotation__init(&rotation, &options, "x"));
	rotation__begin(&rotation, 1000, 500);
	EXPECT_EQ(1100, rotation__due(&rotation));
	EXPECT_FALSE(rotation__is_full(&rotation, 1099, 1 << 30));
	EXPECT_TRUE(rotation__is_full(&rotation, 1100, 0));
	rotation__free(&rotation);
}

TEST(files_get_names_of_their_own_and_the_oldest_go)
{
	const struct rotation_options options = { .enabled = true, .max_files = 3 };
	char dir[] = "/tmp/denet-rotation-XXXXXX", path[64], pattern[80], text[16] = "";
	struct rotation rotation;
	glob_t found;
	FILE *file;

	ASSERT_NE(NULL, mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/perf.data", dir);
	snprintf(pattern, sizeof(pattern), "%s/*", dir);
	ASSERT_EQ(0, rotation__init(&rotation, &options, path));
	/* Faster than the hundredths of a second in the names can tell. */
	for (int i = 0; i < 8; i++) {
		file = fopen(path, "we");
		ASSERT_NE(NULL, file);
		fprintf(file, "%d", i);
		fclose(file);
		rotation__end(&rotation);
	}
	rotation__free(&rotation);
	ASSERT_EQ(0, glob(pattern, 0, NULL, &found));
	ASSERT_EQ(3, found.gl_pathc);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		EXPECT_EQ(strlen(path) + 17, strlen(found.gl_pathv[i]));
		file = fopen(found.gl_pathv[i], "re");
		ASSERT_NE(NULL, fgets(text, sizeof(text), file));
		/* The glob is sorted, and so are the names: the latest three, in their order. */
		EXPECT_EQ('5' + (char)i, text[0]);
		fclose(file);
		unlink(found.gl_pathv[i]);
	}
	globfree(&found);
	EXPECT_EQ(0, rmdir(dir));
}

TEST_HARNESS_MAIN
