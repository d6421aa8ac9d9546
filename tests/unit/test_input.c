/* SPDX-License-Identifier: GPL-2.0-only */
/* The reader gives back the writer's samples, in the order of their times. */
#include "input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "common/harness.h"
#include "common/perfdata_events.h"
#include "output/perfdata/sample_events.h"
#include "output/perfdata/writer.h"

#define NR_SAMPLES 300
#define EVENTS                                                                                  \
	(1ULL << WRITER_OFFCPU_IDLE | 1ULL << WRITER_RUNQUEUE_TIME | 1ULL << WRITER_WAKEUP_TIME | \
	 1ULL << WRITER_ONCPU_TIME |                                                            \
	 1ULL << WRITER_OFFCPU_WAIT)

FIXTURE(input)
{
	char dir[64];
	char path[80];
	struct machine *machine;
	struct sample seen[NR_SAMPLES + 1];
	char comms[NR_SAMPLES + 1][16];
	char calls[NR_SAMPLES + 1][128];
	uint32_t nr;
	uint64_t last;
	bool disordered;
	unsigned int errors;
};

static void keep_error(void *ctx, enum log_level level, const char *text)
{
	(void)text;
	*(unsigned int *)ctx += level == LOG_ERROR;
}

FIXTURE_SETUP(input)
{
	snprintf(self->dir, sizeof(self->dir), "/tmp/denet-input-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/perf.data", self->dir);
	self->machine = machine__new();
	ASSERT_NE(NULL, self->machine);
	log__set_sink(keep_error, &self->errors);
}

FIXTURE_TEARDOWN(input)
{
	log__set_sink(NULL, NULL);
	machine__delete(self->machine);
	unlink(self->path);
	/* Of writing the file twice. */
	snprintf(self->path, sizeof(self->path), "%s/perf.data.old", self->dir);
	unlink(self->path);
	rmdir(self->dir);
}

static const uint64_t kernel_ips[] = { 0xffffffff81012345, 0xffffffff81023456 };
static const uint64_t user_ips[] = { 0x401234, 0x402345, 0x403456 };

/* All kinds: with and without reason, idle, queued in part, as a whole and not at all. */
static struct sample sample_of(unsigned int i)
{
	static const struct reason reason = { .nr = 202, .call = "futex", .fd = -1, .ready_fd = -1,
					      .futex = true, .args = { 0x7000 }, .owner = 101,
					      .owner_comm = "holder", .futex_at = "lock+0x8" };
	struct sample sample = {
		.kind = i % 11 == 10 ? SAMPLE_WAKEUP : i % 11 == 9 ? SAMPLE_ONCPU : SAMPLE_OFFCPU,
		.time = 1000000000000ULL + i * 1000000ULL,
		.period = 1000 + i,
		.count = 1 + i % 3,
		.cgroup = 42,
		.pid = 100,
		.tid = 100 + i % 2,
		.cpu = i % 2,
		.state = 'S',
		.kernel = { .ips = kernel_ips, .nr = i % 4 == 1 || i % 4 == 3 ? 0 : 2 },
		.user = { .ips = user_ips, .nr = i % 4 == 2 || i % 4 == 3 ? 0 : 3 },
	};

	if (sample.kind == SAMPLE_ONCPU)
		return sample;
	/* Every eighth one was drawn, and stands for four of its length. */
	sample.measured = i % 8 ? sample.period : sample.period / 4;
	if (sample.kind != SAMPLE_OFFCPU)
		return sample;
	sample.idle = i % 5 == 4 ? "epoll_wait" : NULL;
	sample.runqueue = i % 7 == 3 ? sample.period : i % 7 < 2 ? i : 0;
	sample.reason = i % 3 == 2 ? &reason : NULL;
	return sample;
}

static int write_head(struct writer *writer)
{
	int err = write_fork(writer, 100, 1, 100);

	if (!err)
		err = write_name(writer, 100, 100, "app");
	if (!err)
		err = write_fork(writer, 100, 100, 101);
	return err ? err : write_name(writer, 100, 101, "worker");
}

/* The times of neighbours are swapped, as those of two CPUs may be; a round ends now and then. */
static int write_samples(struct writer *writer)
{
	struct sample_events events = { .writer = writer, .idle_apart = true, .split = true,
					.reasons = true };
	const struct sample marker = { .time = 999999999999, .pid = 100, .tid = 100, .state = 'S' };
	int err;

	/* The marker that may open the data has no time and no blocks: readers do not get it. */
	err = writer__sample(writer, WRITER_OFFCPU_TIME, &marker);
	for (unsigned int i = 0; i < NR_SAMPLES && !err; i++) {
		const struct sample sample = sample_of(i ^ 1);

		err = sample_events__write(&events, &sample);
		if (!err && i % 50 == 49)
			err = writer__finished_round(writer);
	}
	return err;
}

/* How the child that writes the file ends. */
enum end { CLOSE, KILLED };

static int write_file(const char *path, enum end end)
{
	static const char *const argv[] = { "denet-record", "--reason" };
	const struct writer_options options = {
		.path = path, .events = EVENTS, .cgroups = true, .argc = 2, .argv = argv,
		.version = "7.8.9",
	};
	struct writer *writer;
	int err;

	writer = writer__new(&options, &err);
	if (!writer)
		return err;
	err = write_head(writer);
	if (!err)
		err = write_samples(writer);
	if (!err)
		err = writer__build_id(writer, false, "/bin/app", (const void *)"0123456789", 10);
	if (!err)
		err = writer__flush(writer);
	if (end == KILLED)
		_exit(err != 0);
	return err ? err : writer__close(writer);
}

static pid_t start_writing(const char *path, enum end end)
{
	pid_t pid = fork();

	if (!pid)
		_exit(write_file(path, end) != 0);
	return pid;
}

static int see(void *ctx, const struct sample *sample)
{
	FIXTURE_DATA(input) *self = ctx;
	const struct thread *thread = machine__thread_at(self->machine, (pid_t)sample->tid,
							 sample->time);
	const char *comm = thread ? thread__comm_at(thread, sample->time) : NULL;

	if (self->nr > NR_SAMPLES)
		return -E2BIG;
	self->disordered |= sample->time < self->last;
	self->last = sample->time;
	snprintf(self->comms[self->nr], 16, "%s", comm ? comm : "");
	if (sample->reason)
		snprintf(self->calls[self->nr], 128, "%s %s %s", sample->reason->call,
			 sample->reason->owner_comm, sample->reason->futex_at);
	self->seen[self->nr++] = *sample;
	return 0;
}

static int read_file(FIXTURE_DATA(input) *self, const char *path, struct input **input)
{
	int err;

	*input = input__open(path, &err);
	return *input ? input__read(*input, self->machine, see, self) : err;
}

/* with_reasons: the file has the formats of our events. */
static void check_samples(struct __test_metadata *_metadata, FIXTURE_DATA(input) *self,
			  bool with_reasons)
{
	ASSERT_EQ(NR_SAMPLES, self->nr);
	EXPECT_FALSE(self->disordered);
	for (unsigned int i = 0; i < NR_SAMPLES; i++) {
		const struct sample *got = &self->seen[i];
		const struct sample want = sample_of(i);

		ASSERT_EQ(want.time, got->time);
		EXPECT_EQ(want.kind, got->kind);
		EXPECT_EQ(want.period, got->period);
		EXPECT_EQ(want.runqueue, got->runqueue);
		EXPECT_EQ(want.tid, got->tid);
		EXPECT_EQ(want.cgroup, got->cgroup);
		/* Also in a file that was never finished. */
		EXPECT_EQ(want.count * (want.measured == want.period / 4 ? 4 : 1), got->count);
		EXPECT_EQ(want.kind == SAMPLE_ONCPU ? 'R' : 'S', got->state);
		EXPECT_EQ(want.kernel.nr, got->kernel.nr);
		EXPECT_EQ(want.user.nr, got->user.nr);
		/* A sample that was queued for its whole length is in no other event. */
		EXPECT_EQ(want.idle && want.runqueue != want.period, got->idle != NULL);
		EXPECT_STREQ(want.tid == 100 ? "app" : "worker", self->comms[i]);
		EXPECT_EQ(want.reason && with_reasons, got->reason != NULL);
		if (!want.reason || !with_reasons)
			continue;
		EXPECT_STREQ("futex holder lock+0x8", self->calls[i]);
	}
}

static int see_build_id(void *ctx, const char *path, const unsigned char *id, size_t len)
{
	*(int *)ctx += !strcmp(path, "/bin/app") && len == 10 && !memcmp(id, "0123456789", 10);
	return 0;
}

static void check_info(struct __test_metadata *_metadata, const struct input_info *info)
{
	char hostname[65] = "";
	int build_ids = 0;

	gethostname(hostname, sizeof(hostname) - 1);
	EXPECT_STREQ(hostname, info->hostname);
	EXPECT_STREQ("7.8.9", info->version);
	ASSERT_EQ(sizeof("denet-record\0--reason"), info->cmdline.len);
	EXPECT_EQ(0, memcmp("denet-record\0--reason", info->cmdline.data, info->cmdline.len));
	EXPECT_LT(0, info->realtime_ns);
	EXPECT_EQ(0, input_info__each_build_id(info, see_build_id, &build_ids));
	EXPECT_EQ(1, build_ids);
}

TEST_F(input, a_regular_file_comes_back)
{
	struct input *input;

	ASSERT_EQ(0, write_file(self->path, CLOSE));
	ASSERT_EQ(0, read_file(self, self->path, &input));
	check_samples(_metadata, self, true);
	check_info(_metadata, input__info(input));
	EXPECT_EQ(NR_SAMPLES, input__totals(input)->samples);
	EXPECT_EQ(0, input__totals(input)->broken);
	EXPECT_EQ(0, input__totals(input)->unknown);
	EXPECT_EQ(sample_of(0).time, input__totals(input)->first);
	EXPECT_EQ(sample_of(NR_SAMPLES - 1).time, input__totals(input)->last);
	input__close(input);
}

/* The sum of an event's periods in perf script, in ns. */
static uint64_t sum_of_perf(const char *path, const char *event)
{
	unsigned long long sum = 0;
	char command[256];
	FILE *out;

	snprintf(command, sizeof(command),
		 "perf script -i %s -F event,period 2>/dev/null | "
		 "awk '$2 == \"%s:\" { sum += $1 } END { printf \"%%.0f\", sum }'", path, event);
	out = popen(command, "r");
	if (!out || fscanf(out, "%llu", &sum) != 1)
		sum = 0;
	if (out)
		pclose(out);
	return sum;
}

TEST_F(input, sums_are_those_of_perf_script)
{
	uint64_t blocked = 0, idle = 0, queued = 0, wakeups = 0, running = 0;
	struct input *input;

	if (system("perf version >/dev/null 2>&1"))
		SKIP(return, "no perf on this machine: nothing was compared");
	ASSERT_EQ(0, write_file(self->path, CLOSE));
	ASSERT_EQ(0, read_file(self, self->path, &input));
	input__close(input);
	for (unsigned int i = 0; i < self->nr; i++) {
		const struct sample *sample = &self->seen[i];

		queued += sample->runqueue;
		if (sample->kind == SAMPLE_WAKEUP)
			wakeups += sample->period;
		else if (sample->kind == SAMPLE_ONCPU)
			running += sample->period;
		else if (sample->idle)
			idle += sample->period - sample->runqueue;
		else
			blocked += sample->period - sample->runqueue;
	}
	EXPECT_LT(0, blocked);
	EXPECT_EQ(sum_of_perf(self->path, "offcpu-time"), blocked);
	EXPECT_EQ(sum_of_perf(self->path, "offcpu-idle"), idle);
	EXPECT_EQ(sum_of_perf(self->path, "queued-time"), queued);
	EXPECT_EQ(sum_of_perf(self->path, "wakeup-time"), wakeups);
	EXPECT_LT(0, running);
	EXPECT_EQ(sum_of_perf(self->path, "on-cpu-time"), running);
}

TEST_F(input, a_pipe_comes_back)
{
	struct input *input;
	int status, err;
	pid_t pid;

	ASSERT_EQ(0, mkfifo(self->path, 0600));
	pid = start_writing(self->path, CLOSE);
	ASSERT_LT(0, pid);
	err = read_file(self, self->path, &input);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ(0, err);
	check_samples(_metadata, self, true);
	check_info(_metadata, input__info(input));
	EXPECT_FALSE(input__totals(input)->unfinished);
	EXPECT_EQ(0, input__totals(input)->broken);
	input__close(input);
}

/* Its formats would have come last. */
TEST_F(input, the_file_of_a_killed_writer_comes_back_without_reasons)
{
	struct input *input;
	int status;
	pid_t pid = start_writing(self->path, KILLED);

	ASSERT_LT(0, pid);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ(0, read_file(self, self->path, &input));
	check_samples(_metadata, self, false);
	EXPECT_TRUE(input__totals(input)->unfinished);
	EXPECT_LT(0, input__totals(input)->unknown);
	input__close(input);
}

/* Its table of events lies behind the records. */
TEST_F(input, a_finished_file_that_was_not_copied_whole_is_refused)
{
	struct input *input;

	ASSERT_EQ(0, write_file(self->path, CLOSE));
	ASSERT_EQ(0, truncate(self->path, 20001));
	EXPECT_EQ(-EINVAL, read_file(self, self->path, &input));
	EXPECT_EQ(1, self->errors);
	input__close(input);
}

/* As a full disk may leave it, or a pipe whose writer died. */
TEST_F(input, a_stream_that_ends_within_a_record_tells_it)
{
	pid_t pid = start_writing(self->path, KILLED);
	struct input *input;
	int status;

	ASSERT_LT(0, pid);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, truncate(self->path, 20001));
	ASSERT_EQ(0, read_file(self, self->path, &input));
	EXPECT_TRUE(input__totals(input)->cut);
	EXPECT_LT(0, self->nr);
	EXPECT_GT(NR_SAMPLES, self->nr);
	input__close(input);
}

static void put_file(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd))
		abort();
}

/* Replaces the first OLD in a file by NEW, which is as long. */
static int replace(const char *path, const char *old, const char *new)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;
	char *data, *at;

	if (fd < 0 || fstat(fd, &st) || strlen(old) != strlen(new))
		return -EINVAL;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (data == MAP_FAILED)
		return -errno;
	at = memmem(data, (size_t)st.st_size, old, strlen(old));
	if (at)
		memcpy(at, new, strlen(new));
	munmap(data, (size_t)st.st_size);
	return at ? 0 : -ENOENT;
}

/* libtraceevent 1.7.1 crashes on the first. */
TEST_F(input, reasons_in_a_format_that_no_kernel_prints_are_left_out)
{
	static const char *const others[] = {
		"__attribute__((x)) of_name;",
		"unsigned short common[000];",
		"unsigned short\ncommon_type;",
	};
	struct input *input;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		ASSERT_EQ(0, write_file(self->path, CLOSE));
		ASSERT_EQ(0, replace(self->path, "unsigned short common_type;", others[i]));
		self->nr = 0;
		self->last = 0;
		ASSERT_EQ(0, read_file(self, self->path, &input));
		check_samples(_metadata, self, false);
		input__close(input);
	}
}

TEST_F(input, files_of_others_are_refused_with_one_error)
{
	static const char text[] = "no perf.data at all, but longer than the header of one, "
				   "which takes a hundred and four bytes in this version";
	struct layout_header header = { .magic = LAYOUT_MAGIC, .size = sizeof(header),
					.attr_size = sizeof(struct layout_attr) };
	struct input *input;

	put_file(self->path, text, sizeof(text));
	EXPECT_EQ(-EINVAL, read_file(self, self->path, &input));
	EXPECT_EQ(1, self->errors);
	put_file(self->path, "", 0);
	EXPECT_EQ(-EINVAL, read_file(self, self->path, &input));
	EXPECT_EQ(2, self->errors);
	/* Without events. */
	put_file(self->path, &header, sizeof(header));
	EXPECT_EQ(-EINVAL, read_file(self, self->path, &input));
	EXPECT_EQ(3, self->errors);
	input__close(input);
	/* Without records. */
	header.magic = __builtin_bswap64(LAYOUT_MAGIC);
	put_file(self->path, &header, sizeof(header));
	EXPECT_EQ(-ENOTSUP, read_file(self, self->path, &input));
	EXPECT_EQ(4, self->errors);
	EXPECT_EQ(-ENOENT, read_file(self, "/nonexistent/perf.data", &input));
	EXPECT_EQ(5, self->errors);
	EXPECT_EQ(0, self->nr);
}

TEST_HARNESS_MAIN
