/* SPDX-License-Identifier: GPL-2.0-only */
/* The line that ends a recording names a command that a shell takes for this very file. */
#include "common/harness.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "record/next_step.h"

static const char *format(const struct next_step *step)
{
	static char line[4 * PATH_MAX + 128];

	return next_step__format(step, line, sizeof(line));
}

TEST(the_command_names_the_file_unless_readers_look_there_themselves)
{
	EXPECT_STREQ("[ next: denet-report ]",
		     format(&(struct next_step){ .path = "perf.data" }));
	EXPECT_STREQ("[ next: denet-report -i /tmp/a.data ]",
		     format(&(struct next_step){ .path = "/tmp/a.data" }));
	EXPECT_STREQ("[ next: sudo perf report --no-children --sort cgroup,comm,sym ]",
		     format(&(struct next_step){
			     .path = "perf.data", .sudo = true, .cgroups = true }));
	EXPECT_STREQ("", format(&(struct next_step){ .path = NULL }));
}

TEST(a_file_without_samples_is_not_to_be_looked_at)
{
	const char *line = format(&(struct next_step){ .path = "perf.data", .empty = true });

	EXPECT_EQ(NULL, strstr(line, "report"));
	EXPECT_NE(NULL, strstr(line, "-v"));
}

/* The word behind -i, as bash parses it. */
static void read_back(const char *path, char *back, size_t size)
{
	char command[4 * PATH_MAX + 256];
	const char *line = format(&(struct next_step){ .path = path });
	const char *word = strstr(line, "-i ") + 3;
	FILE *bash;
	size_t n;

	snprintf(command, sizeof(command), "exec bash -c \"$(cat <<'E'\nprintf %%s %.*s\nE\n)\"",
		 (int)(strstr(line, " ]") - word), word);
	bash = popen(command, "r");
	n = bash ? fread(back, 1, size - 1, bash) : 0;
	back[n] = '\0';
	if (bash)
		pclose(bash);
}

TEST(any_path_is_quoted_so_that_a_shell_reads_it_back)
{
	static const char *const paths[] = {
		"a b", "it's", "back\\slash", "$(touch x)`y`;z\"", "tab\tnewline\nbell\a\033[2J",
		"h\303\266he", "*?[a]", "~root", "#x", "!",
	};
	char back[PATH_MAX];

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const char *line = format(&(struct next_step){ .path = paths[i] });

		for (const char *p = line; *p; p++)
			EXPECT_TRUE(*p >= 0x20 && *p < 0x7f);
		read_back(paths[i], back, sizeof(back));
		EXPECT_STREQ(paths[i], back);
	}
	read_back("-x", back, sizeof(back));
	EXPECT_STREQ("./-x", back);
}

TEST_HARNESS_MAIN
