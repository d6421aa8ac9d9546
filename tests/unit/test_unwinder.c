/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our stacks of programs that block at known places against gdb's, address for address. The
 * programs are as distributions build them, without frame pointers.
 */
#include "unwind/unwinder.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "common/harness.h"
#include "common/machine_events.h"
#include "common/stopped.h"
#include "base/heap.h"

#define COPY (64u << 10)
/* After the birth of every process. */
#define NOW (UINT64_C(1) << 60)

FIXTURE(unwinder)
{
	struct stopped stopped;
	struct machine *machine;
	struct unwinder *unwinder;
	struct unwind_result result;
	uint64_t truth[1024];
	int nr_truth;
};

FIXTURE_SETUP(unwinder)
{
	int err;

	memset(&self->stopped, 0, sizeof(self->stopped));
	self->machine = machine__new();
	ASSERT_NE(NULL, self->machine);
	self->unwinder = unwinder__new(self->machine, &err);
	ASSERT_NE(NULL, self->unwinder);
}

FIXTURE_TEARDOWN(unwinder)
{
	unwinder__delete(self->unwinder);
	machine__delete(self->machine);
	stopped__free(&self->stopped);
}

typedef FIXTURE_DATA(unwinder) data;

static const struct maps *maps_now(const data *self)
{
	return process__maps_at(machine__process(self->machine, self->stopped.pid), NOW);
}

/* NULL, or why the test cannot be: the reason of a SKIP. */
static const char *block(data *self, const char *const *argv, long nr, bool other)
{
	static char why[64];
	int err = stopped__start(&self->stopped, argv);

	if (!err)
		err = stopped__await(&self->stopped, nr, other);
	if (err != -ENOENT)
		return err ? "the program does not block where it should" : NULL;
	snprintf(why, sizeof(why), "%s is not there", argv[0]);
	return why;
}

static const char *ask_gdb(data *self)
{
	self->nr_truth = stopped__ask_gdb(&self->stopped, self->truth, 1024, false);
	if (self->nr_truth == -ENOENT)
		return "gdb is not installed";
	return self->nr_truth <= 0 ? "gdb must not attach to another process here" : NULL;
}

static int unwind_at(data *self, size_t bytes, uint64_t time, uint32_t max_frames)
{
	struct unwind_sample sample = {
		.pid = self->stopped.pid,
		.time = time,
		.regs = self->stopped.regs,
		.stack = self->stopped.stack,
		.stack_bytes = bytes < self->stopped.stack_bytes ? bytes
								 : self->stopped.stack_bytes,
		.max_frames = max_frames,
	};

	return unwinder__unwind(self->unwinder, &sample, &self->result);
}

static int take_and_unwind(data *self, size_t bytes)
{
	int err = stopped__take(&self->stopped, bytes);

	if (!err)
		err = stopped__tell_maps(&self->stopped, self->machine, 0);
	return err ? err : unwind_at(self, bytes, NOW, 0);
}

/* How many of the first frames are gdb's; prints both where they part. */
static uint32_t nr_equal(const data *self)
{
	uint32_t nr = 0;

	while (nr < self->result.nr && (int)nr < self->nr_truth &&
	       self->result.ips[nr] == self->truth[nr])
		nr++;
	if (nr == self->result.nr)
		return nr;
	for (uint32_t i = 0; i < self->result.nr || (int)i < self->nr_truth; i++)
		fprintf(stderr, "# %3u ours %16llx gdb's %16llx\n", i,
			i < self->result.nr ? (unsigned long long)self->result.ips[i] : 0,
			(int)i < self->nr_truth ? (unsigned long long)self->truth[i] : 0);
	return nr;
}

/* Not a function: the harness's words need a test around them. */
#define EXPECT_THE_TRUTH(argv_, call_, other_)							   \
	do {											   \
		SKIP_FOR(block(self, argv_, call_, other_));					   \
		SKIP_FOR(ask_gdb(self));							   \
		ASSERT_EQ(0, stopped__await(&self->stopped, call_, other_));			   \
		ASSERT_EQ(0, take_and_unwind(self, COPY));					   \
		EXPECT_STREQ("complete", unwind__status_name(self->result.status));		   \
		EXPECT_EQ((uint32_t)self->nr_truth, self->result.nr);				   \
		EXPECT_EQ((uint32_t)self->nr_truth, nr_equal(self));				   \
	} while (0)

static const char *const python[] = {
	"/usr/bin/python3", "-S", "-c",
	"import os, sys\ndef f(n):\n  return f(n - 1) if n else sys.stdin.read()\nf(5)\n", NULL
};

TEST_F(unwinder, stock_python_is_as_gdb_sees_it)
{
	EXPECT_THE_TRUTH(python, SYS_read, false);
	EXPECT_LT(8, self->nr_truth);
}

TEST_F(unwinder, stock_bash_is_as_gdb_sees_it)
{
	const char *const argv[] = { "/bin/bash", "--norc", "-c", "f() { read x; }; f; :", NULL };

	EXPECT_THE_TRUTH(argv, SYS_read, false);
	EXPECT_LT(8, self->nr_truth);
}

/*
 * The tools of redis are one program with its server, which goes by its name: so no package that
 * starts a server on the machine is asked for.
 */
TEST_F(unwinder, a_server_in_epoll_wait_is_as_gdb_sees_it)
{
	static const char start[] = "exec -a redis-server /usr/bin/redis-check-rdb --port 0 "
				    "--save '' --hz 1 --unixsocket \"$0\"";
	char name[64];
	const char *const argv[] = { "/bin/bash", "-c", start, name, NULL };

	SKIP_FOR(access("/usr/bin/redis-check-rdb", X_OK) ? "redis-tools is not installed" : NULL);
	snprintf(name, sizeof(name), "/tmp/denet-redis-%d", getpid());
	EXPECT_THE_TRUTH(argv, STOPPED_IN_EPOLL, false);
	EXPECT_LT(4, self->nr_truth);
	unlink(name);
}

TEST_F(unwinder, c_without_frame_pointers_is_as_gdb_sees_it)
{
	const char *const argv[] = { "nofp", "nested", NULL };

	EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false);
	EXPECT_LT(21, self->nr_truth);
}

TEST_F(unwinder, a_program_with_only_debug_frame_is_as_gdb_sees_it)
{
	const char *const argv[] = { "nofp_debug", "nested", NULL };

	EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false);
	EXPECT_LT(21, self->nr_truth);
}

TEST_F(unwinder, a_program_with_only_packed_debug_frame_is_as_gdb_sees_it)
{
	const char *const argv[] = { "nofp_mini", "nested", NULL };

	EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false);
	EXPECT_LT(21, self->nr_truth);
}

TEST_F(unwinder, cplusplus_is_as_gdb_sees_it)
{
	const char *const argv[] = { "nofp_cpp", NULL };

	EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false);
	EXPECT_LT(8, self->nr_truth);
}

TEST_F(unwinder, a_rust_thread_is_as_gdb_sees_it)
{
	const char *const argv[] = { "nofp_rs", NULL };

	EXPECT_THE_TRUTH(argv, SYS_futex, true);
	EXPECT_LT(7, self->nr_truth);
}

TEST_F(unwinder, another_thread_is_as_gdb_sees_it)
{
	const char *const argv[] = { "nofp", "threads", NULL };

	EXPECT_THE_TRUTH(argv, SYS_futex, true);
	EXPECT_LT(3, self->nr_truth);
}

TEST_F(unwinder, a_static_position_independent_program_is_as_gdb_sees_it)
{
	const char *const argv[] = { "nofp_static", "nested", NULL };

	EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false);
}

TEST_F(unwinder, a_block_in_a_signal_handler_is_as_gdb_sees_it)
{
	const char *const argv[] = { "nofp", "handler", NULL };

	EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false);
	EXPECT_LT(5, self->nr_truth);
}

TEST_F(unwinder, a_return_address_in_a_register_is_found)
{
	const char *const argv[] = { "popped", NULL };

	EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false);
	EXPECT_EQ(3, self->nr_truth);
}

/* gdb reads the other stack, which is not in the copy. */
TEST_F(unwinder, a_handler_on_a_stack_of_its_own_is_cut_where_that_one_ends)
{
	const char *const argv[] = { "nofp", "altstack", NULL };

	SKIP_FOR(block(self, argv, STOPPED_IN_PAUSE, false));
	SKIP_FOR(ask_gdb(self));
	ASSERT_EQ(0, stopped__await(&self->stopped, STOPPED_IN_PAUSE, false));
	ASSERT_EQ(0, take_and_unwind(self, COPY));
	EXPECT_STREQ(unwind__status_name(UNWIND_CUT_STACK),
		     unwind__status_name(self->result.status));
	/* pause, who called it, the handler, its return, and what it interrupted. */
	EXPECT_LE(5, self->result.nr);
	EXPECT_GT((uint32_t)self->nr_truth, self->result.nr);
	EXPECT_EQ(self->result.nr, nr_equal(self));
}

static bool is_made(const data *self, uint64_t ip)
{
	const struct maps *maps = maps_now(self);
	const struct maps_entry *map = maps__find(maps, NOW, ip);

	return map && !strcmp(map->file->path, "//anon");
}

#ifdef __aarch64__
/* gdb takes words of the stack for frames there: the file of each function is checked instead. */
static void expect_callers_of_made_code(struct __test_metadata *_metadata, const data *self,
					uint32_t first)
{
	/* main(), two functions of the C library, _start. */
	static const char *const files[] = { "/nofp", "/libc.so.6", "/libc.so.6", "/nofp" };
	const struct maps_entry *map;

	ASSERT_EQ(first + 4, self->result.nr);
	for (uint32_t i = 0; i < 4; i++) {
		map = maps__find(maps_now(self), NOW, self->result.ips[first + i]);
		ASSERT_NE(NULL, map);
		EXPECT_STREQ(files[i], strrchr(map->file->path, '/'));
	}
}
#else
/* gdb takes a word of the stack for a frame, so it is compared from the outermost one on. */
static void expect_callers_of_made_code(struct __test_metadata *_metadata, const data *self,
					uint32_t first)
{
	for (uint32_t i = 1; i <= self->result.nr - first; i++)
		EXPECT_EQ(self->truth[(uint32_t)self->nr_truth - i],
			  self->result.ips[self->result.nr - i]);
}
#endif

TEST_F(unwinder, code_without_a_file_is_passed_by_its_frame_pointer)
{
	const char *const argv[] = { "nofp", "made", NULL };
	uint32_t made = 0;

	SKIP_FOR(block(self, argv, STOPPED_IN_PAUSE, false));
	SKIP_FOR(ask_gdb(self));
	ASSERT_EQ(0, stopped__await(&self->stopped, STOPPED_IN_PAUSE, false));
	ASSERT_EQ(0, take_and_unwind(self, COPY));
	EXPECT_STREQ("complete", unwind__status_name(self->result.status));
	while (made < self->result.nr && !is_made(self, self->result.ips[made]))
		made++;
	ASSERT_LE(2, made);
	ASSERT_LE(made + 5, self->result.nr);
	for (uint32_t i = 0; i <= made; i++)
		EXPECT_EQ(self->truth[i], self->result.ips[i]);
	expect_callers_of_made_code(_metadata, self, made + 1);
}

static const struct maps_entry *find_vdso(const struct maps *maps)
{
	const struct maps_entry *map = maps ? maps__after(maps, NOW, 0) : NULL;

	while (map && strcmp(map->file->path, "[vdso]"))
		map = maps__after(maps, NOW, map->end);
	return map;
}

/* Its vDSO, once it runs its own program. */
static const struct maps_entry *await_vdso(data *self, const char *program)
{
	uint64_t end = clock__now_ns() + 10 * NSEC_PER_SEC;
	const struct maps_entry *vdso = NULL;
	char link[32], path[PATH_MAX];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/exe", self->stopped.pid);
	while (!vdso && clock__now_ns() < end) {
		len = readlink(link, path, sizeof(path) - 1);
		path[len < 0 ? 0 : len] = '\0';
		if (!strstr(path, program) || stopped__tell_maps(&self->stopped, self->machine, 0))
			continue;
		vdso = find_vdso(maps_now(self));
	}
	return vdso;
}

/* gdb cannot stop a thread there: the test expects the frames from the vDSO to the root. */
TEST_F(unwinder, the_vdso_is_passed)
{
	const char *const argv[] = { "nofp", "clock", NULL };
	const struct maps_entry *vdso, *libc;
	const struct maps *maps;

	ASSERT_EQ(0, stopped__start(&self->stopped, argv));
	vdso = await_vdso(self, "/nofp");
	SKIP_FOR(vdso ? NULL : "there is no vDSO");
	ASSERT_EQ(0, stopped__take_entering(&self->stopped, COPY, vdso->start, vdso->end));
	ASSERT_EQ(0, stopped__tell_maps(&self->stopped, self->machine, NOW));
	ASSERT_EQ(0, unwind_at(self, COPY, NOW, 0));
	EXPECT_STREQ("complete", unwind__status_name(self->result.status));
	/* The vDSO, clock_gettime() of the C library, and from ask_the_time() on to the root. */
	ASSERT_LE(6, self->result.nr);
	maps = maps_now(self);
	libc = maps__find(maps, NOW, self->result.ips[1]);
	ASSERT_NE(NULL, libc);
	EXPECT_NE(NULL, strstr(libc->file->path, "libc.so"));
	EXPECT_NE(NULL, strstr(maps__find(maps, NOW, self->result.ips[2])->file->path, "nofp"));
}

TEST_F(unwinder, a_32_bit_program_is_said_to_be_one)
{
	const char *const argv[] = { "pause32", NULL };

	SKIP_FOR(block(self, argv, 29, false));
	ASSERT_EQ(0, take_and_unwind(self, COPY));
	EXPECT_EQ(UNWIND_32BIT, self->result.status);
	EXPECT_EQ(0, self->result.nr);
}

TEST_F(unwinder, a_short_copy_cuts_and_says_so)
{
	const char *const argv[] = { "nofp", "nested", NULL };
	uint32_t before = 0;

	SKIP_FOR(block(self, argv, STOPPED_IN_PAUSE, false));
	SKIP_FOR(ask_gdb(self));
	ASSERT_EQ(0, stopped__await(&self->stopped, STOPPED_IN_PAUSE, false));
	ASSERT_EQ(0, take_and_unwind(self, COPY));
	for (size_t bytes = 0; bytes < 2048; bytes += 8) {
		ASSERT_EQ(0, unwind_at(self, bytes, NOW, 0));
		ASSERT_EQ(UNWIND_CUT_STACK, self->result.status);
		ASSERT_LE(before, self->result.nr);
		ASSERT_EQ(self->result.nr, nr_equal(self));
		before = self->result.nr;
	}
	EXPECT_LT(5, before);
}

TEST_F(unwinder, no_more_frames_are_given_than_asked_for)
{
	const char *const argv[] = { "nofp", "deep", NULL };

	SKIP_FOR(block(self, argv, STOPPED_IN_PAUSE, false));
	ASSERT_EQ(0, take_and_unwind(self, 256u << 10));
	EXPECT_EQ(UNWIND_CUT_LIMIT, self->result.status);
	EXPECT_EQ(UNWIND_MAX_FRAMES, self->result.nr);
	ASSERT_EQ(0, unwind_at(self, COPY, NOW, 127));
	EXPECT_EQ(UNWIND_CUT_LIMIT, self->result.status);
	EXPECT_EQ(127, self->result.nr);
}

TEST_F(unwinder, an_unknown_process_has_no_frames)
{
	self->stopped.pid = getpid();
	ASSERT_EQ(0, unwind_at(self, 0, NOW, 0));
	self->stopped.pid = 0;
	EXPECT_EQ(UNWIND_NO_MAPS, self->result.status);
	EXPECT_EQ(0, self->result.nr);
}

/* Each word of the stack in turn is made an address in the middle of nowhere, or of data. */
TEST_F(unwinder, what_is_broken_in_the_copy_never_gives_a_frame_outside_of_code)
{
	const char *const argv[] = { "nofp", "nested", NULL };
	const struct maps *maps;

	SKIP_FOR(block(self, argv, STOPPED_IN_PAUSE, false));
	ASSERT_EQ(0, take_and_unwind(self, 4096));
	maps = maps_now(self);
	for (size_t at = 0; at + 8 <= 4096; at += 8) {
		uint64_t saved, bad[] = { 1, self->stopped.regs.r[UNWIND_SP], UINT64_MAX, 0 };

		memcpy(&saved, self->stopped.stack + at, 8);
		for (size_t i = 0; i < 4; i++) {
			memcpy(self->stopped.stack + at, &bad[i], 8);
			ASSERT_EQ(0, unwind_at(self, COPY, NOW, 0));
			for (uint32_t n = 0; n < self->result.nr; n++)
				ASSERT_NE(NULL, maps__find(maps, NOW, self->result.ips[n]));
		}
		memcpy(self->stopped.stack + at, &saved, 8);
	}
}

/* The name of what it has mapped now leads to a file with other frames. */
TEST_F(unwinder, a_replaced_library_is_unwound_as_it_was)
{
	char dir[PATH_MAX], path[PATH_MAX + 16], from[PATH_MAX], command[4 * PATH_MAX];
	const char *const argv[] = { "nofp", "libraries", path, NULL };
	const char *tmp = getenv("TMPDIR"), *why;

	snprintf(dir, sizeof(dir), "%s/denet-unwind-XXXXXX", tmp ? tmp : "/tmp");
	ASSERT_NE(NULL, mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/library.so", dir);
	ASSERT_EQ(0, stopped__path("small.so", from, sizeof(from)));
	snprintf(command, sizeof(command), "cp '%s' '%s'", from, path);
	ASSERT_EQ(0, system(command));
	why = block(self, argv, SYS_read, false);
	if (!why)
		why = ask_gdb(self);
	/* The maps are of a time when the name was still its own. */
	if (!why)
		EXPECT_EQ(0, stopped__tell_maps(&self->stopped, self->machine, 0));
	ASSERT_EQ(0, stopped__path("large.so", from, sizeof(from)));
	snprintf(command, sizeof(command), "rm '%s'; cp '%s' '%s'", path, from, path);
	ASSERT_EQ(0, system(command));
	if (!why) {
		EXPECT_EQ(0, stopped__take(&self->stopped, COPY));
		EXPECT_EQ(0, unwind_at(self, COPY, NOW, 0));
	}
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	ASSERT_EQ(0, system(command));
	SKIP_FOR(why);
	/* The old file is only to be had through the mapping, for which one must be root. */
	if (geteuid()) {
		EXPECT_EQ(UNWIND_CUT_CFI, self->result.status);
		EXPECT_EQ(self->result.nr, nr_equal(self));
		return;
	}
	EXPECT_EQ(UNWIND_COMPLETE, self->result.status);
	EXPECT_EQ((uint32_t)self->nr_truth, self->result.nr);
	EXPECT_EQ((uint32_t)self->nr_truth, nr_equal(self));
}

/* Its files are still found by their names, and what was known of it is kept. */
TEST_F(unwinder, a_program_that_has_ended_is_unwound)
{
	const char *const argv[] = { "nofp", "nested", NULL };
	int status;

	SKIP_FOR(block(self, argv, STOPPED_IN_PAUSE, false));
	ASSERT_EQ(0, stopped__take(&self->stopped, COPY));
	ASSERT_EQ(0, stopped__tell_maps(&self->stopped, self->machine, 0));
	ASSERT_EQ(0, kill(self->stopped.pid, SIGKILL));
	ASSERT_EQ(self->stopped.pid, waitpid(self->stopped.pid, &status, 0));
	ASSERT_EQ(0, unwind_at(self, COPY, NOW, 0));
	self->stopped.pid = 0;
	EXPECT_EQ(UNWIND_COMPLETE, self->result.status);
	EXPECT_LT(21, self->result.nr);
}

TEST_F(unwinder, a_program_that_cannot_be_found_any_more_is_cut_after_its_leaf)
{
	struct task_event event = mapping(0, 0x1000, 0x1000, "/not/there", 0);
	uint64_t stack[16] = { 0x7f0000000040, 0x1200, 0x1300 };

	/* The frame pointer would lead on, but code with frame information has none. */
	self->stopped.regs.r[UNWIND_FP] = 0x7f0000000000;
	self->stopped.regs.r[UNWIND_PC] = 0x1010;
	self->stopped.regs.r[UNWIND_SP] = 0x7f0000000000;
	self->stopped.stack = malloc(sizeof(stack));
	memcpy(self->stopped.stack, stack, sizeof(stack));
	self->stopped.stack_bytes = sizeof(stack);
	event.map.maj = 1;
	event.map.ino = 12345;
	event.map.pgoff = 0;
	ASSERT_EQ(0, machine__handle(self->machine, &event));
	ASSERT_EQ(0, unwind_at(self, COPY, NOW, 0));
	EXPECT_STREQ(unwind__status_name(UNWIND_CUT_CFI),
		     unwind__status_name(self->result.status));
	EXPECT_EQ(1, self->result.nr);
}

/* Made code at 0x1000, and a stack of which each test says what is in it. */
static int set_made_code(data *self, const uint64_t *stack, size_t bytes)
{
	self->stopped.regs.r[UNWIND_PC] = 0x1010;
	self->stopped.regs.r[UNWIND_SP] = 0x7f0000000000;
	self->stopped.regs.r[UNWIND_FP] = 0x7f0000000000;
	self->stopped.stack = malloc(bytes);
	if (!self->stopped.stack)
		return -ENOMEM;
	memcpy(self->stopped.stack, stack, bytes);
	self->stopped.stack_bytes = bytes;
	return maps_code(self->machine, 0, 0x1000, 0x1000, "//anon", 0);
}

TEST_F(unwinder, frame_pointers_are_followed_to_their_end)
{
	const uint64_t stack[] = { 0x7f0000000010, 0x1100, 0x7f0000000020, 0x1200, 0, 0x1300 };

	ASSERT_EQ(0, set_made_code(self, stack, sizeof(stack)));
	ASSERT_EQ(0, unwind_at(self, COPY, NOW, 0));
	EXPECT_EQ(UNWIND_COMPLETE, self->result.status);
	ASSERT_EQ(4, self->result.nr);
	EXPECT_EQ(0x1300, self->result.ips[3]);
}

TEST_F(unwinder, frame_pointers_that_lead_back_end_the_chain)
{
	const uint64_t stack[] = { 0x7f0000000010, 0x1100, 0x7f0000000000, 0x1200 };

	ASSERT_EQ(0, set_made_code(self, stack, sizeof(stack)));
	ASSERT_EQ(0, unwind_at(self, COPY, NOW, 0));
	EXPECT_NE(UNWIND_COMPLETE, self->result.status);
	EXPECT_EQ(3, self->result.nr);
}

TEST_F(unwinder, frame_information_that_leads_nowhere_ends_the_chain)
{
	const char *const argv[] = { "badcfi", NULL };

	SKIP_FOR(block(self, argv, STOPPED_IN_PAUSE, false));
	ASSERT_EQ(0, take_and_unwind(self, COPY));
	EXPECT_EQ(UNWIND_CUT_GARBAGE, self->result.status);
	EXPECT_EQ(2, self->result.nr);
}

TEST_F(unwinder, frame_information_that_leads_to_the_same_place_ends_the_chain)
{
	const char *const argv[] = { "samecfi", NULL };

	SKIP_FOR(block(self, argv, STOPPED_IN_PAUSE, false));
	ASSERT_EQ(0, take_and_unwind(self, COPY));
	EXPECT_EQ(UNWIND_CUT_GARBAGE, self->result.status);
	EXPECT_EQ(2, self->result.nr);
}

TEST_F(unwinder, files_are_opened_once_for_all_processes)
{
	const char *const argv[] = { "nofp", "nested", NULL };
	struct unwinder_stats before, after;
	struct stopped first;

	SKIP_FOR(block(self, argv, STOPPED_IN_PAUSE, false));
	ASSERT_EQ(0, take_and_unwind(self, COPY));
	unwinder__stats(self->unwinder, &before);
	EXPECT_EQ(2, before.opened);
	first = self->stopped;
	SKIP_FOR(block(self, argv, STOPPED_IN_PAUSE, false));
	ASSERT_EQ(0, take_and_unwind(self, COPY));
	stopped__free(&first);
	EXPECT_EQ(UNWIND_COMPLETE, self->result.status);
	unwinder__stats(self->unwinder, &after);
	EXPECT_EQ(2, after.opened);
	EXPECT_EQ(before.spaces + 1, after.spaces);
}

/* Two libraries at one place, one after the other: each sample is unwound by that of its time. */
/* As many processes, each with a layout of its own. */
static int spread(data *self, int nr)
{
	pid_t pid = self->stopped.pid;
	int err = 0;

	for (int i = 1; i <= nr && !err; i++) {
		err = forks(self->machine, pid + i, pid, 1);
		if (!err)
			err = maps_code(self->machine, pid + i, 4096, 4096, "//anon", 2);
	}
	return err;
}

TEST_F(unwinder, what_files_unpack_is_not_kept_for_all_processes)
{
	static const char *const argv[] = { "nofp_roomy", "nested", NULL };
	uint64_t before = heap__used(), most = 0;
	pid_t pid;

#ifdef __SANITIZE_ADDRESS__
	SKIP_FOR("the address sanitizer does not tell what malloc has given out");
#endif
	SKIP_FOR(block(self, argv, STOPPED_IN_PAUSE, false));
	ASSERT_EQ(0, take_and_unwind(self, COPY));
	ASSERT_EQ(UNWIND_COMPLETE, self->result.status);
	EXPECT_LT(12000000, heap__used() - before);
	ASSERT_EQ(0, spread(self, 20));
	pid = self->stopped.pid;
	for (int i = 1; i <= 20; i++) {
		self->stopped.pid = pid + i;
		ASSERT_EQ(0, unwind_at(self, COPY, NOW, 0));
		EXPECT_EQ(UNWIND_COMPLETE, self->result.status);
		if (heap__used() - before > most)
			most = heap__used() - before;
	}
	self->stopped.pid = pid;
	/* 128 MB, and that of one more. */
	EXPECT_GT(160 << 20, most);
}

TEST_F(unwinder, a_library_that_was_left_is_still_known_for_its_time)
{
	char small[PATH_MAX], large[PATH_MAX];
	const char *const argv[] = { "nofp", "libraries", large, small, NULL };
	struct stopped first;
	uint64_t truth[64];
	uint32_t nr = 0;
	int nr_truth;

	ASSERT_EQ(0, stopped__path("small.so", small, sizeof(small)));
	ASSERT_EQ(0, stopped__path("large.so", large, sizeof(large)));
	SKIP_FOR(block(self, argv, SYS_read, false));
	SKIP_FOR(ask_gdb(self));
	nr_truth = self->nr_truth;
	memcpy(truth, self->truth, sizeof(truth));
	ASSERT_EQ(0, take_and_unwind(self, COPY));
	EXPECT_EQ((uint32_t)nr_truth, nr_equal(self));
	first = self->stopped;
	self->stopped.stack = NULL;

	/* The next library has been entered once another byte than the first is waited for. */
	ASSERT_EQ(1, write(self->stopped.in, "x", 1));
	do {
		ASSERT_EQ(0, stopped__await(&self->stopped, SYS_read, false));
		ASSERT_EQ(0, stopped__take(&self->stopped, COPY));
	} while (self->stopped.regs.r[UNWIND_SP] == first.regs.r[UNWIND_SP]);
	ASSERT_EQ(0, stopped__tell_maps(&self->stopped, self->machine, 2 * NOW));
	SKIP_FOR(ask_gdb(self));
	ASSERT_EQ(0, unwind_at(self, COPY, 2 * NOW, 0));
	EXPECT_EQ(UNWIND_COMPLETE, self->result.status);
	EXPECT_EQ((uint32_t)self->nr_truth, nr_equal(self));

	free(self->stopped.stack);
	self->stopped = first;
	ASSERT_EQ(0, unwind_at(self, COPY, NOW, 0));
	EXPECT_EQ(UNWIND_COMPLETE, self->result.status);
	while (nr < self->result.nr && self->result.ips[nr] == truth[nr])
		nr++;
	EXPECT_EQ((uint32_t)nr_truth, nr);
}

TEST_HARNESS_MAIN
