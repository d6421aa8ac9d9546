/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "common/bytes.h"
#include "common/harness.h"
#include "common/perfdata_events.h"
#include "output/perfdata/layout.h"

#define FILE_MAX (8 << 20)

/* In perf's order, those of arch/ARCH/include/uapi/asm/perf_regs.h that are copied. */
#ifdef __aarch64__
#define ALL_REGS 0x1ffffffffULL
#else
#define ALL_REGS 0xff01ffULL
#endif

FIXTURE(writer)
{
	char dir[64];
	char path[80];
	char old[96];
	char *data; /* what load() read */
	size_t size;
	struct sample sample;
};

static const uint64_t ips[] = { 0xffffffff81000010, 0xffffffff81000020 };

FIXTURE_SETUP(writer)
{
	/* Errors that the tests provoke are logged; the name tells them from others. */
	log__init("provoked", LOG_ERROR);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	snprintf(self->dir, sizeof(self->dir), "/tmp/denet-writer-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/perf.data", self->dir);
	snprintf(self->old, sizeof(self->old), "%s.old", self->path);
	self->data = malloc(FILE_MAX);
	ASSERT_NE(NULL, self->data);
	self->sample = (struct sample){
		.time = 1000,
		.period = 5,
		.count = 1,
		.state = 'S',
		.pid = 1,
		.tid = 2,
		.kernel = { .ips = ips, .nr = 2 },
	};
}

FIXTURE_TEARDOWN(writer)
{
	free(self->data);
	unlink(self->path);
	unlink(self->old);
	rmdir(self->path);
	rmdir(self->dir);
}

static struct writer *open_writer(const char *path, int *err)
{
	static const char *const argv[] = { "denet-record", "-a" };
	const struct writer_options options = {
		.path = path,
		.argc = 2,
		.argv = argv,
		.version = "0.1",
	};

	return writer__new(&options, err);
}

static size_t load(const char *path, char *data)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n, size = 0;

	if (fd < 0)
		return 0;
	while ((n = read(fd, data + size, (size_t)(FILE_MAX - size))) > 0)
		size += n;
	close(fd);
	return (size_t)size;
}

#define DATA_OFFSET (104 + 8 + 128)

/* Records of a type in a stretch of data; -1 if it does not end where a record does. */
static int count_records(const char *data, size_t size, uint32_t type)
{
	struct perf_event_header header;
	int nr = 0;

	while (size >= sizeof(header)) {
		memcpy(&header, data, sizeof(header));
		if (header.size < 8 || header.size % 8 || header.size > size)
			return -1;
		nr += header.type == type;
		data += header.size;
		size -= header.size;
	}
	return size ? -1 : nr;
}

/* Where the first or the last record of a type begins; size: there is none. */
static size_t find_record(const char *data, size_t size, uint32_t type, bool last)
{
	struct perf_event_header header;
	size_t found = size;

	for (size_t at = 0; at + sizeof(header) <= size; at += header.size) {
		memcpy(&header, data + at, sizeof(header));
		if (header.size < 8)
			break;
		if (header.type == type && (last || found == size))
			found = at;
	}
	return found;
}

/* The same in the data section that a file's header announces; -2: not all is there. */
static int count_in_file(const char *file, size_t size, uint32_t type)
{
	uint64_t offset = bytes__u64(file, 40), data = bytes__u64(file, 48);

	if (offset + data > size)
		return -2;
	return count_records(file + offset, data, type);
}

TEST_F(writer, an_event_is_in_the_file_only_if_it_was_asked_for)
{
	const struct writer_options options = {
		.path = self->path,
		.events = 1ULL << WRITER_OFFCPU_IDLE,
		.version = "0.1",
	};
	struct writer *writer;
	int err;

	writer = open_writer(self->path, &err);
	ASSERT_NE(NULL, writer);
	EXPECT_EQ(-EINVAL, writer__sample(writer, WRITER_OFFCPU_IDLE, &self->sample));
	EXPECT_EQ(0, writer__close(writer));
	self->size = load(self->path, self->data);
	EXPECT_EQ(1, bytes__u64(self->data, 32) / 128);
	EXPECT_EQ(NULL, memmem(self->data, self->size, "offcpu-idle", 11));

	writer = writer__new(&options, &err);
	ASSERT_NE(NULL, writer);
	EXPECT_EQ(0, writer__sample(writer, WRITER_OFFCPU_IDLE, &self->sample));
	EXPECT_EQ(0, writer__sample(writer, WRITER_OFFCPU_TIME, &self->sample));
	EXPECT_EQ(0, writer__close(writer));
	self->size = load(self->path, self->data);
	/* Two ids, two attrs, two names and two descriptions. */
	EXPECT_EQ(2, bytes__u64(self->data, 32) / 128);
	EXPECT_EQ(1, bytes__u64(self->data, 104));
	EXPECT_EQ(2, bytes__u64(self->data, 112));
	EXPECT_EQ(2, count_in_file(self->data, self->size, PERF_RECORD_SAMPLE));
	EXPECT_NE(NULL, memmem(self->data, self->size, "offcpu-idle", 11));
}

/* perf report begins with a menu where there are several events, samples or not. */
TEST_F(writer, an_event_that_may_come_is_in_the_file_from_its_first_sample_on)
{
	const struct writer_options options = {
		.path = self->path,
		.events = 1ULL << WRITER_RUNQUEUE_TIME,
		.perhaps = 1ULL << WRITER_OFFCPU_IDLE | 1ULL << WRITER_SAMPLING,
		.version = "0.1",
	};
	struct writer *writer;

	for (int comes = 0; comes <= 1; comes++) {
		int err;

		writer = writer__new(&options, &err);
		ASSERT_NE(NULL, writer);
		EXPECT_EQ(0, writer__sample(writer, WRITER_OFFCPU_TIME, &self->sample));
		for (int i = 0; comes && i < 2; i++)
			EXPECT_EQ(0, writer__sample(writer, WRITER_OFFCPU_IDLE, &self->sample));
		EXPECT_EQ(0, writer__flush(writer));
		/* Also if it is killed here. */
		self->size = load(self->path, self->data);
		EXPECT_EQ(2 + comes, bytes__u64(self->data, 32) / 128);
		EXPECT_EQ(2 + comes, count_in_file(self->data, self->size, 78 /* EVENT_UPDATE */));
		EXPECT_EQ(0, writer__close(writer));
		self->size = load(self->path, self->data);
		EXPECT_EQ(2 + comes, bytes__u64(self->data, 32) / 128);
		EXPECT_EQ(WRITER_RUNQUEUE_TIME, bytes__u64(self->data, 112));
		EXPECT_EQ(WRITER_OFFCPU_IDLE, bytes__u64(self->data, 120));
		EXPECT_EQ(comes, memmem(self->data, self->size, "offcpu-idle", 11) != NULL);
	}
}

TEST_F(writer, header_and_attr_golden)
{
	int err;
	struct writer *writer = open_writer(self->path, &err);

	ASSERT_NE(NULL, writer);
	/* Before anything is recorded the file opens: a name of the event, no features. */
	ASSERT_EQ(DATA_OFFSET + 40, load(self->path, self->data));
	EXPECT_TRUE(bytes__equal(self->data, DATA_OFFSET + 40,
				 "50455246494c4532 6800000000000000 "
				 "8000000000000000 7000000000000000 "
				 "8000000000000000 f000000000000000 "
				 "2800000000000000 0000000000000000 "
				 "0000000000000000 0000000000000000 "
				 "0000000000000000 0000000000000000 "
				 "0000000000000000 "
				 "0100000000000000 "                  /* ids */
				 "0100000070000000 0300000000000000 " /* the attr */
				 "0100000000000000 a741030000000000 "
				 "0400000000000000 "
				 "0327840300000000 "
				 "0000000000000000 0000000000000000 "
				 "0000000000000000 0000000000000000 "
				 "0000000000000000 0000000001000000 "
				 "0000000000000000 0000000000000000 "
				 "6800000000000000 0800000000000000 "
				 "4e00000000002800 0200000000000000 "
				 "0100000000000000 6f66666370752d74 "
				 "696d650000000000"));
	EXPECT_EQ(0, writer__close(writer));
}

/* A file with all kinds of events and records, of fixed input. 0 or the first error. */
static int write_one_of_each(const char *path, struct sample sample)
{
	static const char *const argv[] = { "denet-record", "-a" };
	static const unsigned char build_id[20] = { 0xde, 0x11, 0xe7 };
	const struct writer_options options = {
		.path = path,
		.events = 1ULL << WRITER_OFFCPU_IDLE | 1ULL << WRITER_RUNQUEUE_TIME |
			  1ULL << WRITER_WAKEUP_TIME,
		.perhaps = 1ULL << WRITER_SAMPLING,
		.cgroups = true,
		.argc = 2,
		.argv = argv,
		.version = "0.1",
	};
	const struct task_event mapping = { .kind = TASK_EVENT_MMAP,
					    .pid = 1,
					    .tid = 2,
					    .map = { .start = 0x1000, .len = 0x1000, .prot = 5,
						     .flags = 2, .path = "/bin/a" } };
	const struct task_event cgroup = { .kind = TASK_EVENT_CGROUP,
					   .cgroup = { .id = 42, .path = "/test.slice" } };
	const struct writer_sampling sampling = { .new_period_ns = 1000000, .text = "period" };
	const struct writer_trace trace = { .time = 1500, .pid = 1, .tid = 2,
					    .fields = &sampling, .size = sizeof(sampling) };
	int err;
	struct writer *writer = writer__new(&options, &err);

	if (!writer)
		return err;
	err = writer__task_event(writer, &text_mapping);
	err |= write_name(writer, 1, 1, "app");
	err |= write_fork(writer, 1, 1, 2);
	err |= writer__task_event(writer, &mapping);
	err |= writer__task_event(writer, &cgroup);
	for (int event = WRITER_OFFCPU_TIME; event <= WRITER_WAKEUP_TIME; event++) {
		err |= writer__sample(writer, event, &sample);
		sample.time += 1000;
	}
	err |= writer__trace(writer, WRITER_SAMPLING, &trace);
	err |= writer__lost(writer, 3, 2500, 1);
	err |= writer__finished_round(writer);
	err |= writer__build_id(writer, false, "/bin/a", build_id, sizeof(build_id));
	return err | writer__close(writer);
}

/* A line for each record: its type, misc, size and, but for those of user space, its event's id. */
static void list_records(const char *data, size_t size, char *out, size_t room)
{
	struct perf_event_header header;
	uint64_t id;

	for (size_t at = 0, n = 0; at < size && n < room; at += header.size) {
		memcpy(&header, data + at, sizeof(header));
		id = bytes__u64(data, header.type == PERF_RECORD_SAMPLE ? at + 8
									: at + header.size - 8);
		n += (size_t)snprintf(out + n, room - n, "%u %#x %u %d\n", header.type, header.misc,
				      header.size, header.type < 64 ? (int)id : 0);
		if (!header.size)
			return;
	}
}

/* The sum of FNV-1a: it changes with any byte and with their order. */
static uint64_t digest(const char *data, size_t size)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ (unsigned char)data[i]) * 0x100000001b3;
	return sum;
}

/*
 * Documentation/format.txt holds what readers may rely on: keep it in step with changes here. The
 * contents of features depend on the machine, so only their order is fixed.
 */
TEST_F(writer, a_whole_file_golden)
{
	static const char records[] =
		"78 0 40 0\n" /* EVENT_UPDATE of each event */
		"78 0 40 0\n"
		"78 0 40 0\n"
		"78 0 40 0\n"
		"1 0x1 96 1\n" /* the kernel's MMAP */
		"3 0 56 1\n" /* COMM */
		"7 0 64 1\n" /* FORK */
		"10 0x2 112 1\n" /* MMAP2 */
		"19 0 64 1\n" /* CGROUP */
		"9 0x1 112 1\n" /* samples */
		"9 0x1 112 2\n"
		"9 0x1 112 3\n"
		"9 0x1 112 4\n"
		"9 0x2 216 33\n" /* denet:rates */
		"2 0 56 1\n" /* LOST */
		"68 0 8 0\n" /* FINISHED_ROUND */;
	char list[2048] = "";
	uint64_t data, size, end;

	ASSERT_EQ(0, write_one_of_each(self->path, self->sample));
	self->size = load(self->path, self->data);
	data = bytes__u64(self->data, 40);
	size = bytes__u64(self->data, 48);
	list_records(self->data + data, size, list, sizeof(list));
	EXPECT_STREQ(records, list);
	/* Ids, attrs and records. */
	EXPECT_EQ(0xf157eec80cb348be, digest(self->data + 104, data + size - 104));
	/* Behind the records a table, by ascending bits, and then the features without gaps. */
	EXPECT_EQ(0x20a01cfe, bytes__u64(self->data, 72) & ~(1ULL << LAYOUT_FEATURE_CPUDESC));
	end = bytes__u64(self->data, data + size);
	for (uint64_t bits = bytes__u64(self->data, 72), at = data + size; bits; bits &= bits - 1) {
		EXPECT_EQ(end, bytes__u64(self->data, at));
		end += bytes__u64(self->data, at + 8);
		at += 16;
	}
	EXPECT_EQ(self->size, end);
}

TEST_F(writer, attr_says_what_design_asks_for)
{
	struct perf_event_attr attr = { 0 };
	int err;
	struct writer *writer = open_writer(self->path, &err);

	ASSERT_NE(NULL, writer);
	ASSERT_LT(DATA_OFFSET, load(self->path, self->data));
	memcpy(&attr, self->data + 112, LAYOUT_ATTR_SIZE);
	EXPECT_EQ(PERF_ATTR_SIZE_VER5, attr.size);
	EXPECT_EQ(PERF_TYPE_SOFTWARE, attr.type);
	EXPECT_EQ(PERF_COUNT_SW_CONTEXT_SWITCHES, attr.config);
	EXPECT_EQ(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			  PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
			  PERF_SAMPLE_WEIGHT | PERF_SAMPLE_TRANSACTION,
		  attr.sample_type);
	EXPECT_EQ(PERF_FORMAT_ID, attr.read_format);
	EXPECT_TRUE(attr.freq && attr.sample_freq && attr.sample_id_all && attr.disabled &&
		    attr.inherit && attr.mmap && attr.mmap2 && attr.comm && attr.comm_exec &&
		    attr.task && attr.use_clockid && !attr.cgroup);
	EXPECT_EQ(CLOCK_MONOTONIC, attr.clockid);
	EXPECT_EQ(0, writer__close(writer));
}

TEST_F(writer, attr_tells_of_registers_and_stacks_where_samples_carry_them)
{
	static const char *const argv[] = { "denet-record", "-a" };
	const struct writer_options options = {
		.path = self->path,
		.events = 1ULL << WRITER_RUNQUEUE_TIME | 1ULL << WRITER_OFFCPU_WAIT,
		.stack_bytes = 4096,
		.argc = 2,
		.argv = argv,
		.version = "0.1",
	};
	struct perf_event_attr attr[3] = { 0 };
	int err;
	struct writer *writer = writer__new(&options, &err);

	ASSERT_NE(NULL, writer);
	/* Behind the header and three ids. */
	ASSERT_LT(128 + 3 * 128, load(self->path, self->data));
	for (int i = 0; i < 3; i++)
		memcpy(&attr[i], self->data + 128 + i * 128, LAYOUT_ATTR_SIZE);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
			  attr[i].sample_type &
				  (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER));
		EXPECT_EQ(ALL_REGS, attr[i].sample_regs_user);
		EXPECT_EQ(4096, attr[i].sample_stack_user);
	}
	/* Tracepoints have no user side. */
	EXPECT_EQ(0, attr[2].sample_type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER));
	EXPECT_EQ(0, attr[2].sample_stack_user);
	EXPECT_EQ(0, writer__close(writer));
}

TEST_F(writer, features_are_announced_only_once_they_are_there)
{
	int err;
	struct writer *writer = open_writer(self->path, &err);
	uint64_t bits, end, first;

	ASSERT_NE(NULL, writer);
	ASSERT_EQ(0, writer__sample(writer, WRITER_OFFCPU_TIME, &self->sample));
	ASSERT_EQ(0, writer__flush(writer));
	self->size = load(self->path, self->data);
	EXPECT_EQ(0, bytes__u64(self->data, 72));
	EXPECT_EQ(1, count_in_file(self->data, self->size, PERF_RECORD_SAMPLE));
	EXPECT_EQ(writer__bytes(writer), self->size);
	ASSERT_EQ(0, writer__close(writer));

	self->size = load(self->path, self->data);
	bits = bytes__u64(self->data, 72);
	/* No build-id was given; the text of the CPU is not everywhere. */
	EXPECT_EQ(0x20a01cf8, bits & ~(1ULL << 8));
	end = bytes__u64(self->data, 40) + bytes__u64(self->data, 48);
	first = bytes__u64(self->data, end);
	EXPECT_EQ(end + 16 * (uint64_t)__builtin_popcountll(bits), first);
}

TEST_F(writer, data_size_never_goes_beyond_what_is_written)
{
	int err;
	struct writer *writer = open_writer(self->path, &err);

	ASSERT_NE(NULL, writer);
	/* More than is kept in memory, so that some of it is flushed on the way. */
	for (int i = 1; i <= 30000; i++) {
		ASSERT_EQ(0, writer__sample(writer, WRITER_OFFCPU_TIME, &self->sample));
		if (i % 5000)
			continue;
		self->size = load(self->path, self->data);
		ASSERT_LE(0, count_in_file(self->data, self->size, PERF_RECORD_SAMPLE));
	}
	EXPECT_LT(0, count_in_file(self->data, self->size, PERF_RECORD_SAMPLE));
	ASSERT_EQ(0, writer__close(writer));
	self->size = load(self->path, self->data);
	EXPECT_EQ(30000, count_in_file(self->data, self->size, PERF_RECORD_SAMPLE));
}

TEST_F(writer, what_was_flushed_before_sigkill_is_readable)
{
	pid_t child = fork();
	int err, status;

	if (!child) {
		struct writer *writer = open_writer(self->path, &err);

		for (int i = 0; writer && i < 100; i++) {
			writer__sample(writer, WRITER_OFFCPU_TIME, &self->sample);
			if (i == 49)
				writer__flush(writer);
		}
		kill(getpid(), SIGKILL);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status));
	self->size = load(self->path, self->data);
	EXPECT_EQ(50, count_in_file(self->data, self->size, PERF_RECORD_SAMPLE));
	EXPECT_EQ(1, count_in_file(self->data, self->size, LAYOUT_EVENT_UPDATE));
	EXPECT_EQ(0, bytes__u64(self->data, 72));
}

TEST_F(writer, full_disk_leaves_whole_records_and_the_first_error)
{
	const struct rlimit limit = { .rlim_cur = 100001, .rlim_max = 100001 };
	pid_t child = fork();
	int err, status;

	if (!child) {
		struct writer *writer;
		int first = 0;

		setrlimit(RLIMIT_FSIZE, &limit);
		writer = open_writer(self->path, &err);
		if (!writer)
			_exit(1);
		for (int i = 0; i < 3000 && !first; i++) {
			first = writer__sample(writer, WRITER_OFFCPU_TIME, &self->sample);
			if (!first && i % 100 == 99)
				first = writer__flush(writer);
		}
		if (first != -EFBIG || writer__flush(writer) != -EFBIG)
			_exit(2);
		if (writer__sample(writer, WRITER_OFFCPU_TIME, &self->sample) != -EFBIG)
			_exit(3);
		_exit(writer__close(writer) == -EFBIG ? 0 : 4);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	self->size = load(self->path, self->data);
	/* 104 bytes a sample: (100001 - 240 - 40) / 104, the last one that fits included. */
	EXPECT_EQ(958, count_in_file(self->data, self->size, PERF_RECORD_SAMPLE));
	/* No part of a record and no part of the features lies behind them. */
	EXPECT_EQ(DATA_OFFSET + 40 + 958 * 104, self->size);
}

TEST_F(writer, full_device_is_an_error_from_the_start)
{
	int err = 0;

	EXPECT_EQ(NULL, open_writer("/dev/full", &err));
	EXPECT_EQ(-ENOSPC, err);
}

TEST_F(writer, new_file_is_private_and_the_one_before_becomes_old)
{
	struct writer *writer;
	struct stat st;
	int err;

	umask(0);
	for (int i = 1; i <= 2; i++) {
		writer = open_writer(self->path, &err);
		ASSERT_NE(NULL, writer);
		for (int n = 0; n < i; n++)
			writer__sample(writer, WRITER_OFFCPU_TIME, &self->sample);
		ASSERT_EQ(0, writer__close(writer));
	}
	ASSERT_EQ(0, stat(self->path, &st));
	EXPECT_EQ(0600, st.st_mode & 07777);
	self->size = load(self->path, self->data);
	EXPECT_EQ(2, count_in_file(self->data, self->size, PERF_RECORD_SAMPLE));
	self->size = load(self->old, self->data);
	EXPECT_EQ(1, count_in_file(self->data, self->size, PERF_RECORD_SAMPLE));
}

TEST_F(writer, a_discarded_file_leaves_all_as_it_was)
{
	struct writer *writer;
	int fd, err;

	writer = open_writer(self->path, &err);
	ASSERT_NE(NULL, writer);
	writer__discard(writer);
	EXPECT_EQ(-1, access(self->path, F_OK));
	fd = open(self->path, O_WRONLY | O_CREAT, 0600);
	ASSERT_EQ(3, write(fd, "old", 3));
	close(fd);
	writer = open_writer(self->path, &err);
	ASSERT_NE(NULL, writer);
	EXPECT_EQ(3, load(self->old, self->data));
	writer__discard(writer);
	EXPECT_EQ(3, load(self->path, self->data));
	EXPECT_EQ(-1, access(self->old, F_OK));
}

TEST_F(writer, empty_file_does_not_displace_an_old_recording)
{
	struct writer *writer;
	int err, fd;

	fd = open(self->old, O_WRONLY | O_CREAT, 0600);
	ASSERT_EQ(3, write(fd, "old", 3));
	close(fd);
	close(open(self->path, O_WRONLY | O_CREAT, 0600));
	writer = open_writer(self->path, &err);
	ASSERT_NE(NULL, writer);
	EXPECT_EQ(0, writer__close(writer));
	EXPECT_EQ(3, load(self->old, self->data));
}

TEST_F(writer, planted_link_is_moved_and_its_target_untouched)
{
	struct writer *writer;
	char victim[96];
	struct stat st;
	int err, fd;

	snprintf(victim, sizeof(victim), "%s/victim", self->dir);
	fd = open(victim, O_WRONLY | O_CREAT, 0644);
	ASSERT_EQ(5, write(fd, "hello", 5));
	close(fd);
	ASSERT_EQ(0, symlink(victim, self->path));
	writer = open_writer(self->path, &err);
	ASSERT_NE(NULL, writer);
	EXPECT_EQ(0, writer__close(writer));
	ASSERT_EQ(0, lstat(self->path, &st));
	EXPECT_TRUE(S_ISREG(st.st_mode));
	ASSERT_EQ(0, lstat(self->old, &st));
	EXPECT_TRUE(S_ISLNK(st.st_mode));
	EXPECT_EQ(5, load(victim, self->data));
	unlink(victim);
}

TEST_F(writer, link_to_nothing_creates_nothing_behind_it)
{
	struct writer *writer;
	char target[96];
	struct stat st;
	int err;

	snprintf(target, sizeof(target), "%s/target", self->dir);
	ASSERT_EQ(0, symlink(target, self->path));
	writer = open_writer(self->path, &err);
	ASSERT_NE(NULL, writer);
	EXPECT_EQ(0, writer__close(writer));
	EXPECT_EQ(-1, stat(target, &st));
}

/* A FIFO that another user has planted under the name would receive the recording. */
TEST_F(writer, a_fifo_of_another_user_is_refused_and_not_even_opened)
{
	struct stat st;
	int err = 0, reader;

	if (geteuid())
		SKIP(return, "needs root to give a file away");
	ASSERT_EQ(0, mkfifo(self->path, 0666));
	ASSERT_EQ(0, chown(self->path, 12345, 12345));
	reader = open(self->path, O_RDONLY | O_NONBLOCK);
	EXPECT_EQ(NULL, open_writer(self->path, &err));
	EXPECT_EQ(-EPERM, err);
	/* A link of root's leads there just the same. */
	ASSERT_EQ(0, rename(self->path, self->old));
	ASSERT_EQ(0, symlink(self->old, self->path));
	err = 0;
	EXPECT_EQ(NULL, open_writer(self->path, &err));
	EXPECT_EQ(-EPERM, err);
	ASSERT_EQ(0, stat(self->old, &st));
	EXPECT_TRUE(S_ISFIFO(st.st_mode));
	close(reader);
}

TEST_F(writer, a_socket_of_another_user_is_refused)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), err = 0;

	if (geteuid())
		SKIP(return, "needs root to give a file away");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", self->path);
	ASSERT_EQ(0, bind(fd, (struct sockaddr *)&address, sizeof(address)));
	ASSERT_EQ(0, chown(self->path, 12345, 12345));
	EXPECT_EQ(NULL, open_writer(self->path, &err));
	EXPECT_EQ(-EPERM, err);
	close(fd);
}

TEST_F(writer, directory_as_path_is_refused)
{
	int err = 0;

	ASSERT_EQ(0, mkdir(self->path, 0700));
	EXPECT_EQ(NULL, open_writer(self->path, &err));
	EXPECT_EQ(-EISDIR, err);
}

TEST_F(writer, missing_directory_is_an_error)
{
	int err = 0;

	EXPECT_EQ(NULL, open_writer("/nonexistent/perf.data", &err));
	EXPECT_EQ(-ENOENT, err);
}

TEST_F(writer, an_event_that_has_no_record_leaves_the_file_as_it_was)
{
	const struct task_event exit = { .kind = TASK_EVENT_EXIT, .pid = 1, .tid = 1 };
	int err;
	struct writer *writer = open_writer(self->path, &err);
	uint64_t before;

	ASSERT_NE(NULL, writer);
	before = writer__bytes(writer);
	EXPECT_EQ(-EINVAL, writer__task_event(writer, &exit));
	EXPECT_EQ(before, writer__bytes(writer));
	EXPECT_EQ(-EINVAL, writer__sample(writer, 99, &self->sample));
	EXPECT_EQ(0, writer__sample(writer, WRITER_OFFCPU_TIME, &self->sample));
	EXPECT_EQ(0, writer__close(writer));
}

struct drain {
	const char *path;
	char *data;
	size_t size;
};

static void *drain_fifo(void *arg)
{
	struct drain *drain = arg;

	drain->size = load(drain->path, drain->data);
	return NULL;
}

/* A FIFO holds 64 KB: what follows is written in parts, as the reader takes them. */
TEST_F(writer, fifo_gets_the_pipe_variant_whole)
{
	struct drain drain = { .path = self->path, .data = self->data };
	struct writer *writer;
	pthread_t thread;
	int err;

	ASSERT_EQ(0, mkfifo(self->path, 0600));
	ASSERT_EQ(0, pthread_create(&thread, NULL, drain_fifo, &drain));
	writer = open_writer(self->path, &err);
	ASSERT_NE(NULL, writer);
	EXPECT_EQ(0, writer__build_id(writer, false, "/bin/a", (const unsigned char *)"x", 1));
	for (int i = 0; i < 5000; i++)
		ASSERT_EQ(0, writer__sample(writer, WRITER_OFFCPU_TIME, &self->sample));
	EXPECT_EQ(0, writer__close(writer));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_LT(16, drain.size);
	EXPECT_EQ(16, bytes__u64(self->data, 8));
	EXPECT_EQ(5000, count_records(self->data + 16, drain.size - 16, PERF_RECORD_SAMPLE));
	EXPECT_EQ(1, count_records(self->data + 16, drain.size - 16, LAYOUT_HEADER_ATTR));
	EXPECT_EQ(1, count_records(self->data + 16, drain.size - 16, LAYOUT_EVENT_UPDATE));
	EXPECT_EQ(1, count_records(self->data + 16, drain.size - 16, LAYOUT_HEADER_BUILD_ID));
	EXPECT_LE(10, count_records(self->data + 16, drain.size - 16, LAYOUT_HEADER_FEATURE));
	/* A reader knows no record before it knows its attr; then as perf sends them. */
	EXPECT_EQ(LAYOUT_HEADER_ATTR, bytes__u64(self->data, 16) & 0xffffffff);
	EXPECT_LT(find_record(self->data + 16, drain.size - 16, LAYOUT_HEADER_ATTR, true),
		  find_record(self->data + 16, drain.size - 16, LAYOUT_HEADER_FEATURE, false));
	EXPECT_LT(find_record(self->data + 16, drain.size - 16, LAYOUT_HEADER_FEATURE, false),
		  find_record(self->data + 16, drain.size - 16, LAYOUT_EVENT_UPDATE, false));
	EXPECT_LT(find_record(self->data + 16, drain.size - 16, LAYOUT_EVENT_UPDATE, false),
		  find_record(self->data + 16, drain.size - 16, PERF_RECORD_SAMPLE, false));
}

TEST_F(writer, reader_that_goes_away_is_an_error)
{
	int fds[2], err = 0, saved = dup(STDOUT_FILENO);
	struct writer *writer;

	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(STDOUT_FILENO, dup2(fds[1], STDOUT_FILENO));
	writer = open_writer("-", &err);
	close(fds[0]);
	if (writer) {
		writer__sample(writer, WRITER_OFFCPU_TIME, &self->sample);
		err = writer__close(writer);
	}
	dup2(saved, STDOUT_FILENO);
	EXPECT_NE(NULL, writer);
	EXPECT_EQ(-EPIPE, err);
	close(fds[1]);
	close(saved);
}

/* A pipe that does not block takes what it has room for, and no more. */
TEST_F(writer, nonblocking_pipe_loses_nothing)
{
	int fds[2], err, saved = dup(STDOUT_FILENO);
	struct drain drain = { .data = self->data };
	struct writer *writer;
	pthread_t thread;
	char name[32];

	ASSERT_EQ(0, pipe(fds));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fds[0]);
	drain.path = name;
	ASSERT_EQ(0, fcntl(fds[1], F_SETFL, O_NONBLOCK));
	dup2(fds[1], STDOUT_FILENO);
	writer = open_writer("/dev/stdout", &err);
	dup2(saved, STDOUT_FILENO);
	ASSERT_NE(NULL, writer);
	close(fds[1]);
	/* It is opened here, so that the writer finds a reader whenever it begins. */
	ASSERT_EQ(0, pthread_create(&thread, NULL, drain_fifo, &drain));
	for (int i = 0; i < 5000; i++)
		ASSERT_EQ(0, writer__sample(writer, WRITER_OFFCPU_TIME, &self->sample));
	EXPECT_EQ(0, writer__close(writer));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(5000, count_records(self->data + 16, drain.size - 16, PERF_RECORD_SAMPLE));
	close(fds[0]);
	close(saved);
}

TEST_HARNESS_MAIN
