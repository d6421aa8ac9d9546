/* SPDX-License-Identifier: GPL-2.0-only */
/* From the frames of samples to names: of this process, of stripped, broken and other files. */
#include "symbol/symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "common/harness.h"
#include "common/tolerance.h"
#include "machine/machine.h"
#include "symbol/build_id.h"
#include "symbol/elf_files.h"
#include "symbol/elf_symbols.h"

#define ALIEN 5000000 /* a process that is not there: beyond the greatest pid_max */
#define ALIEN_START 0x10000000ULL
#define BENCH_STACKS 50000
#define BENCH_FRAMES 30

FIXTURE(symbols)
{
	struct machine *machine;
	struct symbols *symbols;
	uint64_t now;
};

static int map(struct machine *machine, pid_t pid, const struct task_map *map)
{
	const struct task_event event = {
		.kind = TASK_EVENT_MMAP, .pid = pid, .tid = pid, .map = *map
	};

	return machine__handle(machine, &event) < 0;
}

/* This process, as /proc tells of it. */
static int map_myself(struct machine *machine)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[4608], path[4096], prot[5];
	struct task_map entry;
	uint64_t end;
	int err = !file;

	while (!err && fgets(line, sizeof(line), file)) {
		entry = (struct task_map){ .path = path, .prot = PROT_READ | PROT_EXEC };
		snprintf(path, sizeof(path), "//anon");
		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %4095[^\n]",
			   &entry.start, &end, prot, &entry.pgoff, &entry.maj, &entry.min,
			   &entry.ino, path) < 7 ||
		    prot[2] != 'x')
			continue;
		entry.len = end - entry.start;
		err = map(machine, getpid(), &entry);
	}
	if (file)
		fclose(file);
	return err;
}

FIXTURE_SETUP(symbols)
{
	const struct symbols_options options = { 0 };

	self->machine = machine__new();
	self->symbols = symbols__new(&options);
	ASSERT_NE(NULL, self->machine);
	ASSERT_NE(NULL, self->symbols);
	self->now = clock__now_ns();
}

FIXTURE_TEARDOWN(symbols)
{
	symbols__delete(self->symbols);
	machine__delete(self->machine);
}

static uint32_t frame_of(FIXTURE_DATA(symbols) * self, pid_t pid, uint64_t ip)
{
	const struct sample sample = { .pid = (uint32_t)pid,
				       .time = self->now,
				       .user = { .ips = &ip, .nr = 1 } };
	uint32_t frame = UINT32_MAX;

	return symbols__frames(self->symbols, self->machine, &sample, &frame) == 1 ? frame
										   : UINT32_MAX;
}

static const struct symbol_label *label_of(FIXTURE_DATA(symbols) * self, uint32_t frame)
{
	size_t nr;
	const uint32_t *labels = symbols__labels_of(self->symbols, frame, &nr);

	return symbols__label(self->symbols, labels[0]);
}

/* The file of a process that is gone: it can be found by its name, device and inode only. */
static int map_file(FIXTURE_DATA(symbols) * self, pid_t pid, const char *path)
{
	struct task_map entry = {
		.start = ALIEN_START, .len = 1 << 20, .path = path, .prot = PROT_READ | PROT_EXEC
	};
	struct stat st;

	if (stat(path, &st))
		return -errno;
	entry.ino = st.st_ino;
	entry.maj = major(st.st_dev);
	entry.min = minor(st.st_dev);
	return map(self->machine, pid, &entry);
}

static void __attribute__((noinline)) local_function(void)
{
	__asm__ volatile("");
}

TEST_F(symbols, of_this_process_by_symtab_and_dynsym)
{
	uint32_t own, libc, stranger, nowhere;
	void *getpid_address = dlsym(RTLD_DEFAULT, "getpid");

	ASSERT_EQ(0, map_myself(self->machine));
	own = frame_of(self, getpid(), (uint64_t)(uintptr_t)local_function);
	libc = frame_of(self, getpid(), (uint64_t)(uintptr_t)getpid_address + 1);
	nowhere = frame_of(self, getpid(), 0x10);
	stranger = frame_of(self, ALIEN, 0x10);
	ASSERT_EQ(0, symbols__resolve(self->symbols, self->machine, false));
	EXPECT_STREQ("local_function", label_of(self, own)->name);
	EXPECT_TRUE(strstr(label_of(self, libc)->name, "getpid") != NULL);
	EXPECT_TRUE(strstr(label_of(self, libc)->place, "/libc") != NULL);
	EXPECT_STREQ("[unknown]+0x10", label_of(self, nowhere)->name);
	EXPECT_FALSE(label_of(self, nowhere)->known);
	EXPECT_STREQ("[unknown]+0x10", label_of(self, stranger)->name);
}

/* A return address is that behind a call, which may be the last thing in a function. */
TEST_F(symbols, a_caller_is_found_by_its_call)
{
	uint64_t ips[2] = { (uint64_t)(uintptr_t)local_function,
			    (uint64_t)(uintptr_t)local_function };
	const struct sample sample = { .pid = (uint32_t)getpid(),
				       .time = self->now,
				       .user = { .ips = ips, .nr = 2 } };
	uint32_t frames[2];

	ASSERT_EQ(0, map_myself(self->machine));
	ASSERT_EQ(2, symbols__frames(self->symbols, self->machine, &sample, frames));
	ASSERT_EQ(0, symbols__resolve(self->symbols, self->machine, false));
	EXPECT_STREQ("local_function", label_of(self, frames[0])->name);
	EXPECT_STRNE("local_function", label_of(self, frames[1])->name);
}

static inline __attribute__((always_inline)) uint64_t inner_function(void)
{
	uint64_t ip;

#ifdef __aarch64__
	/* The address before it is of an instruction of this function, too. */
	__asm__ volatile("nop\n\tadr %0, ." : "=r"(ip));
#else
	__asm__ volatile("leaq 0(%%rip), %0" : "=r"(ip));
#endif
	return ip;
}

static uint64_t __attribute__((noinline)) outer_function(void)
{
	return inner_function();
}

TEST_F(symbols, of_functions_within_others_with_the_lines_of_both)
{
	const struct symbols_options options = { .inlines = true, .lines = true };
	const uint32_t *labels;
	uint32_t frame;
	size_t nr;

	symbols__delete(self->symbols);
	self->symbols = symbols__new(&options);
	ASSERT_NE(NULL, self->symbols);
	ASSERT_EQ(0, map_myself(self->machine));
	frame = frame_of(self, getpid(), outer_function() - 1);
	ASSERT_EQ(0, symbols__resolve(self->symbols, self->machine, false));
	labels = symbols__labels_of(self->symbols, frame, &nr);
	ASSERT_EQ(2, nr);
	EXPECT_EQ(0, strncmp(symbols__label(self->symbols, labels[0])->name,
			     "inner_function test_symbols.c:", 30));
	EXPECT_EQ(0, strncmp(symbols__label(self->symbols, labels[1])->name,
			     "outer_function test_symbols.c:", 30));
}

/* The offset of main() in a file with symbols. */
static int find_main(const char *path, uint64_t *offset)
{
	struct mapped_file file = { .path = (char *)(uintptr_t)path };
	struct elf_wanted wanted = { .file = &file };
	const struct elf_world world = { .symfs = "", .elsewhere = true };
	struct elf_symbols symbols = { 0 };
	struct elf_files files;
	uint64_t address;
	int err = elf_files__open(&files, &wanted, &world);

	if (err)
		return err;
	err = elf_symbols__add(&symbols, files.all[0]);
	elf_symbols__sort(&symbols);
	for (*offset = 0x1000; !err && *offset < 1 << 20; (*offset)++) {
		const struct elf_symbol *symbol;

		if (elf_files__address(&files, *offset, &address))
			continue;
		symbol = elf_symbols__find(&symbols, address);
		if (symbol && !strcmp(symbol->name, "main"))
			break;
	}
	elf_symbols__free(&symbols);
	elf_files__close(&files);
	return *offset == 1 << 20 ? -ENOENT : err;
}

static void path_of(char *path, size_t size, const char *name)
{
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[len > 0 ? len : 0] = '\0';
	*strrchr(self, '/') = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(path, size, "%s/unwind/%s", self, name);
}

TEST_F(symbols, of_a_stripped_file_with_packed_symbols)
{
	char debug[4200], packed[4200];
	uint64_t offset;
	uint32_t frame;

	path_of(debug, sizeof(debug), "nofp_debug");
	path_of(packed, sizeof(packed), "nofp_mini");
	if (access(packed, R_OK))
		SKIP(return, "the workloads are not built");
	ASSERT_EQ(0, find_main(debug, &offset));
	ASSERT_EQ(0, map_file(self, ALIEN, packed));
	frame = frame_of(self, ALIEN, ALIEN_START + offset);
	ASSERT_EQ(0, symbols__resolve(self->symbols, self->machine, false));
	EXPECT_STREQ("main", label_of(self, frame)->name);
}

TEST_F(symbols, a_file_of_another_build_id_gives_no_names)
{
	static const unsigned char id[20] = "not the one of it";
	uint64_t offset;
	char path[4200];
	uint32_t frame;

	path_of(path, sizeof(path), "nofp_debug");
	if (access(path, R_OK))
		SKIP(return, "the workloads are not built");
	ASSERT_EQ(0, find_main(path, &offset));
	ASSERT_EQ(0, map_file(self, ALIEN, path));
	ASSERT_EQ(0, symbols__build_id(self->symbols, path, id, sizeof(id)));
	frame = frame_of(self, ALIEN, ALIEN_START + offset);
	ASSERT_EQ(0, symbols__resolve(self->symbols, self->machine, false));
	EXPECT_FALSE(label_of(self, frame)->known);
	EXPECT_TRUE(strstr(label_of(self, frame)->name, "nofp_debug+0x") != NULL);
}

/* By its build-id a file is found that has another inode now, as after a copy of it. */
TEST_F(symbols, a_file_is_found_again_by_its_build_id)
{
	struct task_map entry = { .start = ALIEN_START,
				  .len = 1 << 20,
				  .ino = 1,
				  .maj = 250,
				  .prot = PROT_READ | PROT_EXEC };
	unsigned char id[BUILD_ID_MAX];
	uint64_t offset;
	char path[4200];
	uint32_t frame;
	int len;

	path_of(path, sizeof(path), "nofp_debug");
	if (access(path, R_OK))
		SKIP(return, "the workloads are not built");
	entry.path = path;
	len = build_id__of_file(0, path, id);
	ASSERT_LT(0, len);
	ASSERT_EQ(0, find_main(path, &offset));
	ASSERT_EQ(0, map(self->machine, ALIEN, &entry));
	ASSERT_EQ(0, symbols__build_id(self->symbols, path, id, (size_t)len));
	frame = frame_of(self, ALIEN, ALIEN_START + offset);
	ASSERT_EQ(0, symbols__resolve(self->symbols, self->machine, true));
	EXPECT_STREQ("main", label_of(self, frame)->name);
}

/* A broken file costs its own names only, whatever it contains. */
TEST_F(symbols, a_broken_file_costs_its_own_names)
{
	char path[] = "/tmp/denet-symbols-XXXXXX";
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd = mkstemp(path);
	unsigned char bytes[65536];
	uint32_t broken, own;
	ssize_t len;

	ASSERT_LE(0, fd);
	len = read(from, bytes, sizeof(bytes));
	ASSERT_LT(4096, len);
	for (ssize_t i = 64; i < len; i += 3)
		bytes[i] ^= 0xff;
	ASSERT_EQ(len, write(fd, bytes, (size_t)len));
	ASSERT_EQ(0, map_file(self, ALIEN, path));
	ASSERT_EQ(0, map_myself(self->machine));
	broken = frame_of(self, ALIEN, ALIEN_START + 0x1234);
	own = frame_of(self, getpid(), (uint64_t)(uintptr_t)local_function);
	ASSERT_EQ(0, symbols__resolve(self->symbols, self->machine, false));
	EXPECT_FALSE(label_of(self, broken)->known);
	EXPECT_STREQ("local_function", label_of(self, own)->name);
	unlink(path);
	close(fd);
	close(from);
}

TEST_F(symbols, of_code_that_was_made_at_run_time)
{
	const struct task_map entry = {
		.start = ALIEN_START, .len = 4096, .path = "//anon", .prot = PROT_READ | PROT_EXEC
	};
	uint32_t known, unknown;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	file = fopen(path, "we");
	ASSERT_NE(NULL, file);
	fprintf(file, "%" PRIx64 " 10 Main::run\n", (uint64_t)ALIEN_START + 0x100);
	fclose(file);
	ASSERT_EQ(0, map(self->machine, getpid(), &entry));
	known = frame_of(self, getpid(), ALIEN_START + 0x108);
	unknown = frame_of(self, getpid(), ALIEN_START + 0x200);
	ASSERT_EQ(0, symbols__resolve(self->symbols, self->machine, false));
	EXPECT_STREQ("Main::run", label_of(self, known)->name);
	EXPECT_FALSE(label_of(self, unknown)->known);
	unlink(path);
}

/* The kernel of another build-id does not get the names of this one. */
TEST_F(symbols, of_another_kernel_there_are_no_names)
{
	static const unsigned char id[20] = "another kernel";
	const uint64_t ip = 0xffffffff81234567;
	const struct sample sample = { .time = self->now, .kernel = { .ips = &ip, .nr = 1 } };
	const struct task_event event = {
		.kind = TASK_EVENT_KERNEL_MMAP,
		.pid = -1,
		.map = { .start = 0xffffffff81000000,
			 .len = 0x2000000,
			 .path = "[kernel.kallsyms]_text" },
	};
	uint32_t frame;

	ASSERT_EQ(0, machine__handle(self->machine, &event));
	ASSERT_EQ(0, symbols__build_id(self->symbols, "[kernel.kallsyms]", id, sizeof(id)));
	ASSERT_EQ(1, symbols__frames(self->symbols, self->machine, &sample, &frame));
	log__init("test", LOG_ERROR);
	ASSERT_EQ(0, symbols__resolve(self->symbols, self->machine, false));
	EXPECT_STREQ("[kernel.kallsyms]+0x234567", label_of(self, frame)->name);
	EXPECT_TRUE(label_of(self, frame)->kernel);
}

static uint64_t cpu_ns(void)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return (uint64_t)(own.ru_utime.tv_sec + own.ru_stime.tv_sec + children.ru_utime.tv_sec +
			  children.ru_stime.tv_sec) *
		       NSEC_PER_SEC +
	       (uint64_t)(own.ru_utime.tv_usec + own.ru_stime.tv_usec + children.ru_utime.tv_usec +
			  children.ru_stime.tv_usec) *
		       NSEC_PER_USEC;
}

/* 50,000 stacks of 30 frames: in 2 s of CPU time and 256 MB. */
TEST_F(symbols, many_stacks_take_little_time_and_memory)
{
	uint64_t start = (uint64_t)(uintptr_t)&malloc & ~0xfffffULL, before = cpu_ns();
	uint64_t ips[BENCH_FRAMES], random = 1;
	uint32_t frames[BENCH_FRAMES];
	struct rusage usage, child;

	ASSERT_EQ(0, map_myself(self->machine));
	for (unsigned int i = 0; i < BENCH_STACKS; i++) {
		const struct sample sample = { .pid = (uint32_t)getpid(),
					       .time = self->now,
					       .user = { .ips = ips, .nr = BENCH_FRAMES } };

		for (unsigned int j = 0; j < BENCH_FRAMES; j++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			ips[j] = start + (random >> 44);
		}
		ASSERT_EQ(BENCH_FRAMES,
			  symbols__frames(self->symbols, self->machine, &sample, frames));
	}
	ASSERT_EQ(0, symbols__resolve(self->symbols, self->machine, false));
	getrusage(RUSAGE_SELF, &usage);
	/* The largest of the processes that read files, one at a time; shared pages count twice. */
	getrusage(RUSAGE_CHILDREN, &child);
	TH_LOG("%.2f s of CPU time, %ld MB and %ld MB in a child",
	       (double)(cpu_ns() - before) / 1e9, usage.ru_maxrss >> 10, child.ru_maxrss >> 10);
#ifndef __SANITIZE_ADDRESS__
	EXPECT_GT(tolerance__cpu_factor() * 2 * NSEC_PER_SEC, cpu_ns() - before);
	EXPECT_GT(256 << 10, usage.ru_maxrss + child.ru_maxrss);
#endif
}

TEST_HARNESS_MAIN
