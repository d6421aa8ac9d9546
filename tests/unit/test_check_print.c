/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of denet-check, for people and for programs. */
#include <errno.h>
#include <string.h>

#include "common/harness.h"

#include "check/check.h"

FIXTURE(print)
{
	struct check check;
	char text[4096];
	FILE *out;
};

FIXTURE_SETUP(print)
{
	struct check_row *row;

	memset(&self->check, 0, sizeof(self->check));
	memset(self->text, 0, sizeof(self->text));
	row = check__add(&self->check, "rights", CHECK_BAD, "CAP_BPF");
	ASSERT_NE(NULL, row);
	snprintf(row->value, sizeof(row->value), "a\"\\\n\033[2J\xff\xc3\xa9");
	snprintf(row->remedy, sizeof(row->remedy), "setcap x");
	ASSERT_NE(NULL, check__add(&self->check, "limits", CHECK_OK, "ulimit"));
	self->out = fmemopen(self->text, sizeof(self->text), "w");
	ASSERT_NE(NULL, self->out);
}

FIXTURE_TEARDOWN(print)
{
	fclose(self->out);
	check__free(&self->check);
}

TEST_F(print, json_is_escaped_and_has_the_verdict)
{
	ASSERT_EQ(0, check__print_json(&self->check, self->out));
	EXPECT_NE(NULL, strstr(self->text, "{\"works\": false, \"way\": null, "));
	EXPECT_NE(NULL, strstr(self->text, "\"value\": \"a\\\"\\\\\\u000a\\u001b[2J\\ufffd"
					   "\xc3\xa9\""));
	EXPECT_NE(NULL, strstr(self->text, "\"remedy\": \"setcap x\"}"));
	EXPECT_EQ(NULL, strchr(self->text, '\033'));
}

TEST_F(print, the_table_has_no_escapes_but_its_own_colours)
{
	ASSERT_EQ(0, check__print_table(&self->check, self->out, false));
	EXPECT_EQ(NULL, strchr(self->text, '\033'));
	EXPECT_NE(NULL, strstr(self->text, "BAD   CAP_BPF"));
	EXPECT_NE(NULL, strstr(self->text, "-> setcap x\n"));
	EXPECT_NE(NULL, strstr(self->text, "recording does not work here"));
}

TEST_F(print, colours_do_not_leak_into_the_value)
{
	ASSERT_EQ(0, check__print_table(&self->check, self->out, true));
	EXPECT_NE(NULL, strstr(self->text, "\033[31mBAD \033[0m"));
	EXPECT_EQ(NULL, strstr(self->text, "\033[2J"));
}

TEST_F(print, a_full_disk_is_an_error)
{
	FILE *full = fopen("/dev/full", "w");

	ASSERT_NE(NULL, full);
	EXPECT_EQ(-ENOSPC, check__print_table(&self->check, full, false));
	fclose(full);
}

TEST_HARNESS_MAIN
