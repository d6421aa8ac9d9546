/* SPDX-License-Identifier: GPL-2.0-only */
/* With names of kernel functions at hand, a wait for a lock is no wait for work. */
#include "report/shown_event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "common/harness.h"
#include "machine/machine.h"
#include "report/shares.h"

#define TEXT 0xffffffff81000000
/* As perf's cache has it, of a kernel with the build-id 0101…01. */
#define CACHE "/.debug/[kernel.kallsyms]/0101010101010101010101010101010101010101"

FIXTURE(shown)
{
	char home[32];
	struct profile_filter filter;
	struct machine *machine;
	struct symbols *symbols;
	struct profile *profile;
};

static int write_kallsyms(const char *home)
{
	char path[160], *slash;
	FILE *file;

	snprintf(path, sizeof(path), "%s" CACHE "/kallsyms", home);
	for (slash = strchr(path + strlen(home) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	file = fopen(path, "we");
	if (!file)
		return -1;
	fputs("ffffffff81000000 T _text\nffffffff81000000 T _stext\n"
	      "ffffffff81001000 t __mutex_lock\nffffffff81002000 t ep_poll\n"
	      "ffffffff81003000 t do_epoll_wait\nffffffff81004000 T _etext\n", file);
	return fclose(file);
}

FIXTURE_SETUP(shown)
{
	static const struct symbols_options options;
	const struct task_event kernel = {
		.kind = TASK_EVENT_KERNEL_MMAP,
		.pid = -1,
		.map = { .start = TEXT, .len = 0x4000, .path = "[kernel.kallsyms]_text" },
	};
	unsigned char id[20];

	snprintf(self->home, sizeof(self->home), "/tmp/denet-shown-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->home));
	ASSERT_EQ(0, write_kallsyms(self->home));
	setenv("HOME", self->home, 1);
	memset(id, 1, sizeof(id));
	self->filter = (struct profile_filter){ 0 };
	self->machine = machine__new();
	self->symbols = symbols__new(&options);
	self->profile = profile__new(self->symbols, &self->filter);
	ASSERT_EQ(0, machine__handle(self->machine, &kernel));
	ASSERT_EQ(0, symbols__build_id(self->symbols, "[kernel.kallsyms]", id, sizeof(id)));
}

FIXTURE_TEARDOWN(shown)
{
	char command[64];

	profile__delete(self->profile);
	symbols__delete(self->symbols);
	machine__delete(self->machine);
	snprintf(command, sizeof(command), "rm -rf %s", self->home);
	ASSERT_EQ(0, system(command));
}

static int add_idle(struct profile *profile, const struct machine *machine, uint64_t leaf,
		    uint64_t ns)
{
	const uint64_t ips[] = { leaf, TEXT + 0x2010, TEXT + 0x3010 };
	const struct sample sample = {
		.time = 1000,
		.period = ns,
		.count = 1,
		.pid = 1,
		.tid = (uint32_t)ns,
		.state = 'S',
		.idle = "",
		.kernel = { .ips = ips, .nr = 3 },
	};

	return profile__add(profile, machine, &sample, NULL);
}

TEST_F(shown, a_lock_below_epoll_wait_is_not_idle)
{
	struct shares shares = { 0 };

	ASSERT_EQ(0, add_idle(self->profile, self->machine, TEXT + 0x1010, 7));
	ASSERT_EQ(0, add_idle(self->profile, self->machine, TEXT + 0x2010, 100));
	ASSERT_EQ(0, symbols__resolve(self->symbols, self->machine, true));
	ASSERT_EQ(0, shares__make(&shares, self->profile, false));
	EXPECT_EQ(7, shares.blocked.ns);
	EXPECT_EQ(100, shares.idle.ns);
	EXPECT_EQ(7, shares.total);
	EXPECT_EQ(1, shares.threads);
	shares__free(&shares);
}

/* Files and other outputs keep the event that was recorded. */
TEST_F(shown, sums_by_event_stay_those_of_the_file)
{
	ASSERT_EQ(0, add_idle(self->profile, self->machine, TEXT + 0x1010, 7));
	ASSERT_EQ(0, symbols__resolve(self->symbols, self->machine, true));
	EXPECT_EQ(7, profile__sum(self->profile, PROFILE_IDLE).ns);
	EXPECT_EQ(0, profile__sum(self->profile, PROFILE_OFFCPU).ns);
}

TEST_HARNESS_MAIN
