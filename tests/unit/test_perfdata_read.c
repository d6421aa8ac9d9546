/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file as this machine's perf reads it: it must show what was written, without a warning. Other
 * tests compare bytes with the format's description; this one checks the description.
 */
#include "output/perfdata/writer.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/harness.h"
#include "common/perfdata_events.h"

#define NR_SAMPLES 400
#define OUTPUT_MAX (4 << 20)

FIXTURE(read)
{
	char dir[64];
	char path[80];
	char errors[80];
	char *output;
};

static bool have_perf(void)
{
	return system("perf version >/dev/null 2>&1") == 0;
}

FIXTURE_SETUP(read)
{
	snprintf(self->dir, sizeof(self->dir), "/tmp/denet-read-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/perf.data", self->dir);
	snprintf(self->errors, sizeof(self->errors), "%s/errors", self->dir);
	self->output = malloc(OUTPUT_MAX);
	ASSERT_NE(NULL, self->output);
	self->output[0] = '\0';
}

FIXTURE_TEARDOWN(read)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", self->dir);
	EXPECT_EQ(0, system(command));
	free(self->output);
}

/* A test that finds no perf says so; it does not pass silently. */
#define NEED_PERF()                                                                \
	do {                                                                       \
		if (!have_perf())                                                  \
			SKIP(return, "no perf on this machine: nothing was read"); \
	} while (0)

static const uint64_t kernel_ips[] = { 0xffffffff81012345, 0xffffffff81023456 };
static const uint64_t user_ips[] = { 0x401234, 0x402345, 0x403456 };

/* Sample i: two threads on two CPUs, with the sides of the chain in all combinations. */
static struct sample sample_of(unsigned int i)
{
	return (struct sample){
		.time = 1000000000000ULL + i * 1000000ULL,
		.period = 1000 + i,
		.count = 1,
		.cgroup = 42,
		.pid = 100,
		.tid = 100 + i % 2,
		.cpu = i % 2,
		.kernel = { .ips = kernel_ips, .nr = i % 4 == 1 || i % 4 == 3 ? 0 : 2 },
		.user = { .ips = user_ips, .nr = i % 4 == 2 || i % 4 == 3 ? 0 : 3 },
	};
}

static uint64_t period_sum(unsigned int from, unsigned int to)
{
	uint64_t sum = 0;

	for (unsigned int i = from; i < to; i++)
		sum += sample_of(i).period;
	return sum;
}

/* Writes the recording; returns the first error. close_it false: as if killed. */
static int record(const char *path, bool cgroups, bool close_it)
{
	static const char *const argv[] = { "denet-record", "-a" };
	const struct writer_options options = {
		.path = path,
		.argc = 2,
		.argv = argv,
		.version = "0.1",
		.cgroups = cgroups,
	};
	/* An offset like the address: perf versions differ in which of them they show. */
	const struct task_event cgroup = { .kind = TASK_EVENT_CGROUP,
					   .cgroup = { .id = 42, .path = "/test.slice" } };
	const struct task_event map = { .kind = TASK_EVENT_MMAP,
					.pid = 100,
					.tid = 100,
					.map = { .start = 0x400000,
						 .len = 0x100000,
						 .pgoff = 0x400000,
						 .prot = 5,
						 .flags = 2,
						 .path = "/bin/denet-none" } };
	int err;
	struct writer *writer = writer__new(&options, &err);

	if (!writer)
		return err;
	err |= writer__task_event(writer, &text_mapping);
	err |= write_name(writer, 100, 100, "app");
	err |= write_fork(writer, 100, 100, 101);
	err |= write_name(writer, 100, 101, "worker");
	err |= writer__task_event(writer, &map);
	if (cgroups)
		err |= writer__task_event(writer, &cgroup);
	for (unsigned int i = 0; i < NR_SAMPLES; i++) {
		const struct sample sample = sample_of(i);

		err |= writer__sample(writer, WRITER_OFFCPU_TIME, &sample);
	}
	err |= writer__finished_round(writer);
	if (!close_it) {
		/* A child that ends here leaves what a SIGKILL leaves. */
		err |= writer__flush(writer);
		_exit(err ? 1 : 0);
	}
	return err | writer__close(writer);
}

/* Runs a shell command, %s in it being the file; returns its status, its stdout in out. */
static int run(const char *path, const char *errors, char *out, const char *format)
{
	char command[1024], line[512];
	size_t len;
	FILE *stream;

	len = (size_t)snprintf(command, sizeof(command), "{ ");
	for (const char *p = format; *p && len + 128 < sizeof(command); p++) {
		if (*p == '@')
			len += (size_t)snprintf(command + len, sizeof(command) - len, "%s", path);
		else
			command[len++] = *p;
	}
	snprintf(command + len, sizeof(command) - len, "; } 2>%s </dev/null", errors);
	stream = popen(command, "r");
	if (!stream)
		return -1;
	len = 0;
	while (fgets(line, sizeof(line), stream)) {
		if (len + strlen(line) < OUTPUT_MAX)
			len += (size_t)snprintf(out + len, OUTPUT_MAX - len, "%s", line);
	}
	return pclose(stream);
}

/* True if perf said nothing on stderr; shows it otherwise. */
static bool is_silent(const char *errors)
{
	char line[512];
	FILE *stream = fopen(errors, "re");
	bool silent = true;

	while (stream && fgets(line, sizeof(line), stream)) {
		fprintf(stderr, "# perf says: %s", line);
		silent = false;
	}
	if (stream)
		fclose(stream);
	return silent;
}

/* Sums up the lines "PERIOD" of perf script -F period; *nr receives how many there are. */
static uint64_t sum_lines(const char *output, unsigned int *nr)
{
	uint64_t sum = 0, value;
	int used;

	for (*nr = 0; sscanf(output, " %" SCNu64 "%n", &value, &used) == 1; output += used) {
		sum += value;
		(*nr)++;
	}
	return sum;
}

TEST_F(read, script_gives_every_sample_back)
{
	const char *line = NULL;
	char *rest;

	NEED_PERF();
	ASSERT_EQ(0, record(self->path, false, true));
	ASSERT_EQ(0, run(self->path, self->errors, self->output,
			 "perf script -G --ns -i @ -F comm,pid,tid,cpu,time,period,event,ip"));
	rest = self->output;
	for (unsigned int i = 0; i < NR_SAMPLES; i++) {
		const struct sample sample = sample_of(i);
		unsigned int pid, tid, cpu;
		uint64_t seconds, ns, period;
		char comm[32], event[32];

		line = strtok_r(i ? NULL : rest, "\n", &rest);
		ASSERT_NE(NULL, line);
		ASSERT_EQ(8, sscanf(line,
				    "%31s %u/%u [%u] %" SCNu64 ".%" SCNu64 ": %" SCNu64 " %31[^:]",
				    comm, &pid, &tid, &cpu, &seconds, &ns, &period, event));
		EXPECT_STREQ(i % 2 ? "worker" : "app", comm);
		EXPECT_EQ(sample.pid, pid);
		EXPECT_EQ(sample.tid, tid);
		EXPECT_EQ(sample.cpu, cpu);
		EXPECT_EQ(sample.time, seconds * 1000000000 + ns);
		EXPECT_EQ(sample.period, period);
		EXPECT_STREQ("offcpu-time", event);
	}
	EXPECT_TRUE(is_silent(self->errors));
}

TEST_F(read, script_shows_kernel_frames_and_then_user_frames)
{
	NEED_PERF();
	ASSERT_EQ(0, record(self->path, false, true));
	ASSERT_EQ(0, run(self->path, self->errors, self->output,
			 "perf script -i @ -F ip --time 1000.000,1000.0005 | tr -s ' \\t\\n' ' '"));
	EXPECT_STREQ(" ffffffff81012345 ffffffff81023456 401234 402345 403456 ", self->output);
	EXPECT_TRUE(is_silent(self->errors));
}

TEST_F(read, second_half_by_percent_is_the_second_half)
{
	unsigned int nr;
	uint64_t sum;

	NEED_PERF();
	ASSERT_EQ(0, record(self->path, false, true));
	ASSERT_EQ(0, run(self->path, self->errors, self->output,
			 "perf script -G -i @ -F period --time 50%-100%"));
	sum = sum_lines(self->output, &nr);
	EXPECT_EQ(NR_SAMPLES / 2, nr);
	EXPECT_EQ(period_sum(NR_SAMPLES / 2, NR_SAMPLES), sum);
	EXPECT_TRUE(is_silent(self->errors));
}

TEST_F(read, pipe_and_inject_keep_the_sum)
{
	static const char *const commands[] = {
		"cat @.pipe | perf script -G -i - -F period",
		"perf inject -b -i @ -o @.inject && perf script -G -i @.inject -F period",
	};
	char pipe[96];
	FILE *fifo_end;

	NEED_PERF();
	ASSERT_EQ(0, record(self->path, false, true));
	/* Standard output of a child is where a pipe variant goes. */
	snprintf(pipe, sizeof(pipe), "%s.pipe", self->path);
	fifo_end = fopen(pipe, "we");
	ASSERT_NE(NULL, fifo_end);
	if (!fork()) {
		dup2(fileno(fifo_end), STDOUT_FILENO);
		_exit(record("-", false, true) ? 1 : 0);
	}
	fclose(fifo_end);
	ASSERT_LT(0, wait(NULL));
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		unsigned int nr;
		uint64_t sum;

		self->output[0] = '\0';
		ASSERT_EQ(0, run(self->path, self->errors, self->output, commands[i]));
		sum = sum_lines(self->output, &nr);
		EXPECT_EQ(NR_SAMPLES, nr);
		EXPECT_EQ(period_sum(0, NR_SAMPLES), sum);
		EXPECT_TRUE(is_silent(self->errors));
	}
}

TEST_F(read, file_of_a_killed_writer_has_its_samples_and_its_event_name)
{
	pid_t child = fork();
	unsigned int nr = 0;
	int status;

	if (!child)
		_exit(record(self->path, false, false) ? 1 : 0);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	NEED_PERF();
	ASSERT_EQ(0, run(self->path, self->errors, self->output, "perf script -G -i @ -F event"));
	for (char *p = self->output; (p = strstr(p, "offcpu-time:")); p++)
		nr++;
	EXPECT_EQ(NR_SAMPLES, nr);
}

/* A recording whose samples get coarser now and then, and that is killed later (or not). */
static int record_sampling(const char *path, bool close_it)
{
	const struct writer_options options = {
		.path = path,
		.version = "0.1",
		.perhaps = 1ULL << WRITER_SAMPLING,
	};
	const struct writer_sampling fields = { .new_period_ns = 10000 };
	struct writer_trace trace = { .fields = &fields, .size = sizeof(fields), .pid = 7 };
	int err;
	struct writer *writer = writer__new(&options, &err);

	if (!writer)
		return err;
	for (unsigned int i = 0; i < NR_SAMPLES; i++) {
		const struct sample sample = sample_of(i);

		err |= writer__sample(writer, WRITER_OFFCPU_TIME, &sample);
		trace.time = sample.time;
		if (i % 100 == 50)
			err |= writer__trace(writer, WRITER_SAMPLING, &trace);
		if (i % 50 == 0)
			err |= writer__flush(writer);
	}
	if (close_it)
		return err | writer__close(writer);
	err |= writer__flush(writer);
	_exit(err ? 1 : 0);
}

TEST_F(read, no_word_of_the_recorder_passes_for_time_off_the_cpu_in_an_unfinished_file)
{
	for (int finished = 0; finished < 2; finished++) {
		unsigned int nr = 0, words = 0;
		pid_t child = fork();
		int status;

		if (!child)
			_exit(record_sampling(self->path, finished) ? 1 : 0);
		ASSERT_EQ(child, waitpid(child, &status, 0));
		ASSERT_EQ(0, status);
		NEED_PERF();
		ASSERT_EQ(0, run(self->path, self->errors, self->output,
				 "perf script -G -i @ -F event"));
		for (char *p = self->output; (p = strstr(p, "offcpu-time:")); p++)
			nr++;
		for (char *p = self->output; (p = strstr(p, "denet:rates:")); p++)
			words++;
		EXPECT_EQ(NR_SAMPLES, nr);
		/* Its name and its fields come with the end of the file. */
		EXPECT_EQ(finished ? 4 : 0, words);
		unlink(self->path);
		self->output[0] = '\0';
	}
}

TEST_F(read, report_header_names_what_was_recorded)
{
	static const char *const lines[] = {
		"# hostname : ",
		"# os release : ",
		"# perf version : 0.1\n",
		"# arch : ",
		"# nrcpus online : ",
		"# nrcpus avail : ",
		"# total memory : ",
		"# cmdline : denet-record -a",
		"name = offcpu-time",
		"id = { 1 }",
		"# time of first sample : 1000.000000\n",
		"# time of last sample : 1000.399000\n",
		"# clockid: monotonic (1)\n",
		"(monotonic)\n",
	};

	NEED_PERF();
	ASSERT_EQ(0, record(self->path, true, true));
	ASSERT_EQ(0, run(self->path, self->errors, self->output, "perf report --header-only -i @"));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		EXPECT_NE(NULL, strstr(self->output, lines[i]))
		TH_LOG("no line with: %s", lines[i]);
	}
	EXPECT_TRUE(is_silent(self->errors));
}

TEST_F(read, report_sorts_by_cgroup)
{
	NEED_PERF();
	ASSERT_EQ(0, record(self->path, true, true));
	ASSERT_EQ(0, run(self->path, self->errors, self->output,
			 "perf report --stdio --no-children -g none --sort cgroup,comm -i @"));
	EXPECT_NE(NULL, strstr(self->output, "/test.slice"));
	EXPECT_NE(NULL, strstr(self->output, "worker"));
	EXPECT_NE(NULL, strstr(self->output, "Event count (approx.): 479800"));
	EXPECT_TRUE(is_silent(self->errors));
}

TEST_HARNESS_MAIN
