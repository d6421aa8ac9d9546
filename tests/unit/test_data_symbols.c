/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of variables: of this program's own, as another process would have it mapped. */
#include "unwind/data_symbols.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/harness.h"
#include "machine/machine.h"
#include "synth/synth.h"

struct ledger {
	char pages[0x100];
	int sum;
};

struct ledger ledger_of_the_test; /* in .bss */
int counter_of_the_test = 5;	  /* in .data */

FIXTURE(names)
{
	struct machine *machine;
	struct data_symbols symbols;
	char name[64];
};

/* The executable mappings of this process, as /proc tells them. */
static int map_self(struct machine *machine)
{
	struct task_event event = { .kind = TASK_EVENT_FORK, .pid = getpid(), .tid = getpid() };
	unsigned long start, end, pgoff, ino;
	unsigned int major, minor;
	char line[4400], prot[8], path[4096];
	FILE *file = fopen("/proc/self/maps", "re");
	int err = machine__handle(machine, &event);

	if (!file)
		return -errno;
	while (err >= 0 && fgets(line, sizeof(line), file)) {
		*path = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %4095[^\n]", &start, &end, prot, &pgoff,
			   &major, &minor, &ino, path) < 7 || !strchr(prot, 'x'))
			continue;
		event = (struct task_event){
			.kind = TASK_EVENT_MMAP, .pid = getpid(), .tid = getpid(),
			.map = { .start = start, .len = end - start, .pgoff = pgoff, .ino = ino,
				 .maj = major, .min = minor, .path = *path ? path : "//anon",
				 .prot = PROT_EXEC | PROT_READ },
		};
		err = machine__handle(machine, &event);
	}
	fclose(file);
	return err < 0 ? err : 0;
}

/*
 * Reads this program's file into the page cache: a child that reads names gives up on a file that
 * does not answer for a quarter of a second, which a disk that is busy may not do.
 */
static int read_own_file(void)
{
	FILE *file = fopen("/proc/self/exe", "re");
	char bytes[4096];
	int err;

	if (!file)
		return -errno;
	while (fread(bytes, 1, sizeof(bytes), file) > 0)
		;
	err = ferror(file) ? -EIO : 0;
	fclose(file);
	return err;
}

FIXTURE_SETUP(names)
{
	ASSERT_EQ(0, read_own_file());
	self->machine = machine__new();
	ASSERT_NE(NULL, self->machine);
	ASSERT_EQ(0, map_self(self->machine));
}

FIXTURE_TEARDOWN(names)
{
	data_symbols__free(&self->symbols);
	machine__delete(self->machine);
}

static int find(FIXTURE_DATA(names) * self, const void *at)
{
	memset(self->name, 0, sizeof(self->name));
	return data_symbols__find(&self->symbols, self->machine, getpid(), 1, (uintptr_t)at,
				  self->name, sizeof(self->name));
}

TEST_F(names, a_variable_is_told_with_the_offset_in_it)
{
	ASSERT_EQ(0, find(self, &ledger_of_the_test));
	EXPECT_STREQ("ledger_of_the_test", self->name);
	ASSERT_EQ(0, find(self, &ledger_of_the_test.sum));
	EXPECT_STREQ("ledger_of_the_test+0x100", self->name);
	ASSERT_EQ(0, find(self, &counter_of_the_test));
	EXPECT_STREQ("counter_of_the_test", self->name);
}

TEST_F(names, a_variable_of_a_library_is_found_by_its_dynamic_symbols)
{
	ASSERT_EQ(0, find(self, &stderr));
	/* It may have been copied into the program, under the same name. */
	EXPECT_EQ(0, strncmp("stderr", self->name, strlen("stderr")) &&
		     strncmp("_IO_2_1_stderr_", self->name, strlen("_IO_2_1_stderr_")));
}

TEST_F(names, memory_that_is_no_variable_has_no_name)
{
	int on_stack;
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT_EQ(-ENOENT, find(self, &on_stack));
	EXPECT_EQ(-ENOENT, find(self, page));
	EXPECT_EQ(-ENOENT, find(self, NULL));
	EXPECT_EQ(-ENOENT, data_symbols__find(&self->symbols, self->machine, getpid() + 1, 1,
					      (uintptr_t)&counter_of_the_test, self->name,
					      sizeof(self->name)));
}

TEST_F(names, a_name_is_cut_to_its_room)
{
	char room[8];

	ASSERT_EQ(0, data_symbols__find(&self->symbols, self->machine, getpid(), 1,
					(uintptr_t)&ledger_of_the_test.sum, room, sizeof(room)));
	EXPECT_STREQ("ledger_", room);
}

TEST_F(names, where_the_table_has_no_variable_the_file_and_its_address_are_told)
{
	/* Functions are no variables. */
	ASSERT_EQ(0, find(self, (const void *)(uintptr_t)map_self));
	EXPECT_EQ(0, strncmp("test_data_symbols+0x", self->name, 20));
}

TEST_HARNESS_MAIN
