/* SPDX-License-Identifier: GPL-2.0-only */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "base/buffer.h"
#include "capture/ksyms_cache.h"
#include "synth/synth.h"

static struct task_map map;
static char path[PATH_MAX];

static int parse(const char *line)
{
	memset(&map, 0xaa, sizeof(map));
	return synth__parse_maps_line(line, strlen(line), &map, path);
}

TEST(mapping_of_a_file_is_parsed_whole)
{
	ASSERT_EQ(1, parse("7f55259af000-7f5525a82000 r-xp 0000a000 fe:1f 1045"
			   "                       /usr/lib/x y.so"));
	EXPECT_EQ(0x7f55259af000, map.start);
	EXPECT_EQ(0xd3000, map.len);
	EXPECT_EQ(0xa000, map.pgoff);
	EXPECT_EQ(0xfe, map.maj);
	EXPECT_EQ(0x1f, map.min);
	EXPECT_EQ(1045, map.ino);
	EXPECT_EQ(PROT_READ | PROT_EXEC, map.prot);
	EXPECT_EQ(MAP_PRIVATE, map.flags);
	EXPECT_STREQ("/usr/lib/x y.so", map.path);
	ASSERT_EQ(1, parse("ffffffffff600000-ffffffffff601000 -wxs 00000000 00:00 0 [vsyscall]"));
	EXPECT_EQ(PROT_WRITE | PROT_EXEC, map.prot);
	EXPECT_EQ(MAP_SHARED, map.flags);
	EXPECT_STREQ("[vsyscall]", map.path);
	ASSERT_EQ(1, parse("0-ffffffffffffffff --xp ffffffffffffffff ffffffff:ffffffff "
			   "18446744073709551615 /a"));
	EXPECT_EQ(UINT64_MAX, map.len);
	EXPECT_EQ(UINT64_MAX, map.ino);
}

TEST(memory_without_a_file_is_anon_as_in_the_kernels_records)
{
	ASSERT_EQ(1, parse("1000-2000 rwxp 00000000 00:00 0"));
	EXPECT_STREQ("//anon", map.path);
	ASSERT_EQ(1, parse("1000-2000 rwxp 00000000 00:00 0 "));
	EXPECT_STREQ("//anon", map.path);
	ASSERT_EQ(1, parse("1000-2000 rwxp 00000000 00:00 0    [anon:v8]"));
	EXPECT_STREQ("//anon", map.path);
	ASSERT_EQ(1, parse("1000-2000 rwxs 00000000 00:01 7    [anon_shmem:jit]"));
	EXPECT_STREQ("//anon", map.path);
}

TEST(special_names_stay_as_they_are)
{
	static const char *const names[] = {
		"[vdso]", "[stack]", "[heap]", "anon_inode:[perf_event]", "/dev/zero (deleted)",
		"/memfd:jit (deleted)", "/SYSV00000000 (deleted)", "/usr/bin/x (deleted)",
		"/a\\040b", "/a\\01", "/a\\", "/a\\0123",
	};
	static const char *const expected[] = {
		"[vdso]", "[stack]", "[heap]", "anon_inode:[perf_event]", "/dev/zero (deleted)",
		"/memfd:jit (deleted)", "/SYSV00000000 (deleted)", "/usr/bin/x (deleted)",
		"/a\\040b", "/a\\01", "/a\\", "/a\n3",
	};
	char line[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(line, sizeof(line), "1000-2000 r-xp 00000000 00:00 0 %s", names[i]);
		ASSERT_EQ(1, parse(line));
		EXPECT_STREQ(expected[i], map.path);
	}
}

TEST(data_is_passed_over)
{
	EXPECT_EQ(0, parse("1000-2000 rw-p 00000000 00:00 0 [heap]"));
	EXPECT_EQ(0, parse("1000-2000 ---p 00000000 00:00 0"));
}

TEST(malformed_lines_are_refused)
{
	static const char *const lines[] = {
		"", "1000", "1000-", "1000-2000", "1000-2000 r-xp", "1000-2000 r-xp 0 00:00",
		"1000-2000 r-xp 0 00:00 x", "1000-2000 rxxp 0 00:00 0", "1000-2000 r-x 0 00:00 0",
		"1000-2000 r-xq 0 00:00 0", "2000-1000 r-xp 0 00:00 0", "1000-1000 r-xp 0 00:00 0",
		"-2000 r-xp 0 00:00 0", "10000000000000000-2 r-xp 0 00:00 0",
		"1000-2000 r-xp 0 100000000:00 0", "1000-2000 r-xp 0 00:100000000 0",
		"1000-2000 r-xp 0 00:00 18446744073709551616", "1000-2000 r-xp 0 0000 0",
		"1000 2000 r-xp 0 00:00 0", "xyz",
	};
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		EXPECT_EQ(-EINVAL, parse(lines[i])) TH_LOG("line %zu", i);
	EXPECT_EQ(-EINVAL, synth__parse_maps_line("1-2 r-xp 0 0:0 0 /a\0b", 21, &map, path));
}

TEST(longest_path_passes_and_one_byte_more_is_told_as_the_kernel_does)
{
	char line[PATH_MAX + 64];
	int head = snprintf(line, sizeof(line), "1-2 r-xp 0 0:0 0 ");

	memset(line + head, '/', PATH_MAX);
	ASSERT_EQ(1, synth__parse_maps_line(line, (size_t)head + PATH_MAX - 1, &map, path));
	EXPECT_EQ(PATH_MAX - 1, strlen(map.path));
	ASSERT_EQ(1, synth__parse_maps_line(line, (size_t)head + PATH_MAX, &map, path));
	EXPECT_STREQ("//toolong", map.path);
}

/* Results of the callback. */
struct seen {
	size_t nr;
	int error;
	pid_t pid;
	uint64_t address;  /* to look for */
	struct task_map found;
	char path[PATH_MAX];
};

static int see(void *ctx, const struct task_event *event)
{
	const struct task_map *m = &event->map;
	struct seen *seen = ctx;

	seen->nr++;
	if (event->pid == seen->pid && m->start <= seen->address &&
	    seen->address - m->start < m->len) {
		seen->found = *m;
		snprintf(seen->path, sizeof(seen->path), "%s", m->path);
	}
	return seen->error;
}

TEST(own_code_is_found_with_its_file)
{
	struct seen seen = { .pid = getpid(), .address = (uint64_t)(uintptr_t)see };
	struct synth_result result;
	pid_t pid = getpid();
	char self[PATH_MAX];
	struct stat st;
	ssize_t len;

	ASSERT_EQ(0, synth__maps(&pid, 1, 20000, see, &seen, &result));
	EXPECT_EQ(1, result.processes);
	EXPECT_EQ(0, result.gone + result.denied + result.missed);
	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	ASSERT_LT(0, len);
	self[len] = '\0';
	EXPECT_STREQ(self, seen.path);
	ASSERT_EQ(0, stat(self, &st));
	EXPECT_EQ(st.st_ino, seen.found.ino);
	EXPECT_NE(0, seen.found.prot & PROT_EXEC);
}

TEST(many_mappings_and_odd_paths_arrive_complete)
{
	const size_t nr = 600, page = (size_t)sysconf(_SC_PAGESIZE);
	char name[] = "/tmp/denet-maps-XXXXXX", odd[64];
	struct synth_result result;
	struct seen seen = { .pid = getpid() };
	pid_t pid = getpid();
	char *area, *code;
	int fd;

	ASSERT_NE(NULL, mkdtemp(name));
	snprintf(odd, sizeof(odd), "%s/a b\n\\012 c", name);
	fd = open(odd, O_RDWR | O_CREAT, 0700);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, (off_t)page));
	code = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ASSERT_NE(MAP_FAILED, code);
	/* Every other page is executable, so that neighbours don't merge. */
	area = mmap(NULL, 2 * nr * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, area);
	for (size_t i = 0; i < nr; i++)
		ASSERT_EQ(0, mprotect(area + 2 * i * page, page, PROT_READ | PROT_EXEC));
	seen.address = (uint64_t)(uintptr_t)code;
	ASSERT_EQ(0, synth__maps(&pid, 1, 20000, see, &seen, &result));
	EXPECT_LE(nr, seen.nr);
	/* The backslash of the name is shown by the kernel as it is: the two look alike. */
	snprintf(odd, sizeof(odd), "%s/a b\n\n c", name);
	EXPECT_STREQ(odd, seen.path);
	snprintf(odd, sizeof(odd), "%s/a b\n\\012 c", name);
	unlink(odd);
	rmdir(name);
	close(fd);
}

TEST(processes_that_are_gone_are_counted_and_the_others_read)
{
	struct synth_result result;
	struct seen seen = { .pid = getpid(), .address = (uint64_t)(uintptr_t)see };
	pid_t pids[3] = { getpid(), 0, getpid() };

	pids[1] = fork();
	if (!pids[1])
		_exit(0);
	waitpid(pids[1], NULL, 0);
	ASSERT_EQ(0, synth__maps(pids, 3, 20000, see, &seen, &result));
	EXPECT_EQ(2, result.processes);
	EXPECT_EQ(1, result.gone);
	EXPECT_EQ(0, result.first_missed);
	EXPECT_NE(0, seen.path[0]);
}

TEST(process_of_another_user_is_counted_as_denied)
{
	struct synth_result result;
	struct seen seen = { 0 };
	pid_t pid = 1;

	if (!geteuid() && (setgid(65534) || setuid(65534)))
		SKIP(return, "cannot become another user");
	ASSERT_EQ(0, synth__maps(&pid, 1, 20000, see, &seen, &result));
	EXPECT_EQ(1, result.denied);
	EXPECT_EQ(0, seen.nr);
}

TEST(who_was_not_asked_before_the_deadline_is_not_called_stuck)
{
	struct synth_result result;
	struct seen seen = { 0 };
	pid_t pids[2] = { getpid(), 1 };

	ASSERT_EQ(0, synth__maps(pids, 2, 0, see, &seen, &result));
	EXPECT_EQ(2, result.not_asked);
	EXPECT_EQ(0, result.missed);
	EXPECT_EQ(0, result.first_missed);
}

/* Below directories whose names are as long as can be, step by step. */
static int open_deep(int dir, int depth, char *name)
{
	int next, fd = -1;

	if (!depth)
		return openat(dir, "file", O_RDWR | O_CREAT, 0700);
	if (mkdirat(dir, name, 0700) && errno != EEXIST)
		return -1;
	next = openat(dir, name, O_RDONLY | O_DIRECTORY);
	if (next >= 0)
		fd = open_deep(next, depth - 1, name);
	close(next);
	return fd;
}

static void remove_deep(int dir, int depth, const char *name)
{
	int next;

	if (!depth) {
		unlinkat(dir, "file", 0);
		return;
	}
	next = openat(dir, name, O_RDONLY | O_DIRECTORY);
	remove_deep(next, depth - 1, name);
	close(next);
	unlinkat(dir, name, AT_REMOVEDIR);
}

#define DEPTH 20

TEST(a_path_that_is_too_long_costs_its_own_name_and_no_other_mapping)
{
	char name[] = "/tmp/denet-maps-XXXXXX", part[251];
	struct seen seen = { .pid = getpid() };
	struct synth_result result;
	pid_t pid = getpid();
	char *code;
	int dir, fd;

	memset(part, 'd', sizeof(part) - 1);
	part[sizeof(part) - 1] = '\0';
	ASSERT_NE(NULL, mkdtemp(name));
	dir = open(name, O_RDONLY | O_DIRECTORY);
	fd = open_deep(dir, DEPTH, part);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, 4096));
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	remove_deep(dir, DEPTH, part);
	rmdir(name);
	ASSERT_NE(MAP_FAILED, code);
	seen.address = (uint64_t)(uintptr_t)code;
	ASSERT_EQ(0, synth__maps(&pid, 1, 20000, see, &seen, &result));
	EXPECT_EQ(1, result.processes);
	EXPECT_EQ(0, result.failed + result.missed + result.bad_lines);
	EXPECT_STREQ("//toolong", seen.path);
	EXPECT_LT(3, seen.nr);
	munmap(code, 4096);
	close(fd);
	close(dir);
}

TEST(error_of_the_callback_is_passed_on)
{
	struct seen seen = { .error = -ENOSPC };
	struct synth_result result;
	pid_t pid = getpid();

	EXPECT_EQ(-ENOSPC, synth__maps(&pid, 1, 20000, see, &seen, &result));
	EXPECT_EQ(1, seen.nr);
}

/* Older harnesses define the set-up of a fixture without a prototype. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* The kernel and its modules. */
FIXTURE(kernel)
{
	char dir[64];
	char modules[96], dep[96];
	struct synth_kernel_files files;
	struct kallsyms_bounds bounds;
	char seen[1024];
};

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "we");

	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

FIXTURE_SETUP(kernel)
{
	snprintf(self->dir, sizeof(self->dir), "/tmp/denet-kernel-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->modules, sizeof(self->modules), "%s/modules", self->dir);
	snprintf(self->dep, sizeof(self->dep), "%s/modules.dep", self->dir);
	self->files = (struct synth_kernel_files){ self->modules, "/lib/m" };
	self->bounds = (struct kallsyms_bounds){ .text = 0x1000, .stext = 0x1000, .etext = 0x3000 };
}

FIXTURE_TEARDOWN(kernel)
{
	unlink(self->modules);
	unlink(self->dep);
	rmdir(self->dir);
}

static int see_kernel(void *ctx, uint64_t start, uint64_t len, uint64_t pgoff, const char *name)
{
	size_t n = strlen(ctx);

	snprintf((char *)ctx + n, 1024 - n, "%lx+%lx@%lx %s\n", (unsigned long)start,
		 (unsigned long)len, (unsigned long)pgoff, name);
	return 0;
}

TEST_F(kernel, without_modules_is_one_mapping_from_text_to_etext)
{
	ASSERT_EQ(0, synth__kernel_of(&self->files, &self->bounds, see_kernel, self->seen));
	EXPECT_STREQ("1000+2000@1000 [kernel.kallsyms]_text\n", self->seen);
}

TEST_F(kernel, reaches_to_edata_where_data_has_symbols)
{
	self->bounds = (struct kallsyms_bounds){
		.stext = 0x1000,
		.etext = 0x3000,
		.edata = 0x4000,
	};
	ASSERT_EQ(0, synth__kernel_of(&self->files, &self->bounds, see_kernel, self->seen));
	EXPECT_STREQ("1000+3000@1000 [kernel.kallsyms]_stext\n", self->seen);
}

TEST_F(kernel, without_an_end_reaches_to_the_first_module)
{
	self->bounds = (struct kallsyms_bounds){ .text = 0x1000 };
	ASSERT_EQ(0, synth__kernel_of(&self->files, &self->bounds, see_kernel, self->seen));
	EXPECT_STREQ("1000+ffffffffffffefff@1000 [kernel.kallsyms]_text\n", self->seen);
	self->seen[0] = '\0';
	write_file(self->modules, "low 16 0 - Live 0x100\nm 4096 0 - Live 0x8000 (OE)\n");
	ASSERT_EQ(0, synth__kernel_of(&self->files, &self->bounds, see_kernel, self->seen));
	/* The kernel is told first, whatever the addresses are. */
	EXPECT_STREQ("1000+7000@1000 [kernel.kallsyms]_text\n100+10@0 [low]\n8000+1000@0 [m]\n",
		     self->seen);
}

TEST_F(kernel, modules_are_sorted_clipped_and_named_by_their_files)
{
	char expected[512];

	write_file(self->modules, "snd_hda 8192 1 - Live 0x9000\n"
				  "ext4 8192 2 mbcache,jbd2, Live 0x8000\n"
				  "foreign 4096 0 - Live 0xb000 (OE)\n"
				  "hidden 4096 0 - Live 0x0\n"
				  "nonsense\n");
	write_file(self->dep, "kernel/fs/ext4/ext4.ko.xz: kernel/fs/mbcache.ko.xz\n"
			      "kernel/sound/snd-hda.ko:\n"
			      "/opt/foreign.ko:\n"
			      "kernel/other.ko: \nodd line\n");
	self->files.modules_dir = self->dir;
	ASSERT_EQ(0, synth__kernel_of(&self->files, &self->bounds, see_kernel, self->seen));
	snprintf(expected, sizeof(expected),
		 "1000+2000@1000 [kernel.kallsyms]_text\n"
		 "8000+1000@0 %s/kernel/fs/ext4/ext4.ko.xz\n"
		 "9000+2000@0 %s/kernel/sound/snd-hda.ko\n"
		 "b000+1000@0 /opt/foreign.ko\n", self->dir, self->dir);
	EXPECT_STREQ(expected, self->seen);
}

TEST_F(kernel, without_a_beginning_is_refused)
{
	self->bounds = (struct kallsyms_bounds){ .etext = 0x3000, .edata = 0x4000 };
	EXPECT_EQ(-ENODATA, synth__kernel_of(&self->files, &self->bounds, see_kernel, self->seen));
	EXPECT_STREQ("", self->seen);
}

static int refuse(void *ctx, uint64_t start, uint64_t len, uint64_t pgoff, const char *name)
{
	(void)ctx;
	(void)start;
	(void)len;
	(void)pgoff;
	(void)name;
	return -ENOSPC;
}

TEST_F(kernel, error_of_the_callback_is_passed_on)
{
	EXPECT_EQ(-ENOSPC, synth__kernel_of(&self->files, &self->bounds, refuse, NULL));
}

TEST_F(kernel, of_this_machine_is_told_or_hidden)
{
	struct ksyms_cache kernel = { 0 };
	int err = ksyms_cache__bounds(&kernel, &self->bounds);

	if (err == -EPERM)
		SKIP(return, "kernel addresses are hidden (kernel.kptr_restrict)");
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, synth__kernel(&self->bounds, see_kernel, self->seen));
	EXPECT_NE(NULL, strstr(self->seen, "[kernel.kallsyms]_"));
}

TEST(kernel_symbols_outlive_no_drop_but_the_bounds_do)
{
	struct kallsyms_bounds first, second;
	struct ksyms_cache kernel = { 0 };

	if (!ksyms_cache__symbols(&kernel))
		SKIP(return, "kernel addresses are hidden (kernel.kptr_restrict)");
	ASSERT_EQ(0, ksyms_cache__bounds(&kernel, &first));
	EXPECT_NE(0, first.text | first.stext);
	EXPECT_EQ(kernel.kallsyms, ksyms_cache__symbols(&kernel));
	ksyms_cache__drop(&kernel);
	EXPECT_EQ(NULL, kernel.kallsyms);
	ASSERT_EQ(0, ksyms_cache__bounds(&kernel, &second));
	EXPECT_EQ(0, memcmp(&first, &second, sizeof(first)));
	EXPECT_EQ(NULL, kernel.kallsyms);
}

TEST_HARNESS_MAIN
