/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of all kinds; tests/common/stat_lines.py decodes them as denet does. */
#include "stat/json_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/harness.h"

#define CHECKER "tests/common/stat_lines.py"
#define SCHEMA "Documentation/denet-stat.schema.json"

/* A name with all that a comm may hold: a quote, a control byte, bytes that are no UTF-8. */
#define HOSTILE "a\"\\\n\x01\xff</b\xc3"

/* No double is equal to it. */
#define MAX_NS 9007199254740993

/* A constant expression, which an object is for gcc alone. */
#define TIMES                                                                        \
	{                                                                            \
		.count = 3, .total_ns = UINT64_MAX, .min_ns = 1, .max_ns = MAX_NS,   \
		.hist = { [0] = 1, [5] = 2 },                                        \
	}

static struct stat_call calls[] = {
	{ .nr = SYS_read, .file = STAT_FILE_SOCKET, .errors = 1, .blocked_ns = 600000000,
	  .times = TIMES },
	{ .nr = SYS_read, .file = STAT_FILE_REGULAR, .times = TIMES },
	{ .nr = SYS_munmap, .times = { .count = 5, .total_ns = 10, .min_ns = 1, .max_ns = 5 } },
	{ .nr = 9999, .abi = STAT_ABI_COMPAT, .times = { .count = 1, .total_ns = 1 } },
};

static struct stat_task task = {
	.pid = 4194303, .tid = 4194304, .ppid = 1, .comm = HOSTILE, .threads = 1,
	.wall_ns = 1000000000, .running_ns = 100, .runnable_ns = 50, .blocked_ns = 999999850,
	.offcpu = { .count = 2, .total_ns = 900, .min_ns = 400, .max_ns = 500 },
	.state = { [0] = { .count = 1, .total_ns = 50 }, [1] = { .count = 1, .total_ns = 850 } },
	.calls = calls, .nr_calls = 4,
};

static struct stat_open_call open_call = { .pid = 7, .tid = 7, .nr = SYS_futex, .ns = 5,
					   .comm = HOSTILE };
static struct stat_lock stat_lock = { .pid = 7, .address = UINT64_MAX, .name = HOSTILE,
				      .waits = TIMES, .waiter_comm = HOSTILE };
static struct stat_io io = { .dev = 8 << 20 | 1, .device = HOSTILE, .op = STAT_IO_OTHER,
			     .times = TIMES, .waiter_comm = HOSTILE };
static struct stat_socket sock = { .pid = 7, .family = AF_INET6, .remote = { [15] = 1 },
				   .remote_port = 443,
				   .receive = TIMES, .comm = HOSTILE };

static struct stat_data make_data(void)
{
	struct stat_data data = {
		.start_ns = 1000000000, .end_ns = 3000000000,
		.parts = 63,
		.threads = &task, .nr_threads = 1, .processes = &task, .nr_processes = 1,
		.commands = &task, .nr_commands = 1, .total = task,
		.open_calls = &open_call, .nr_open_calls = 1, .locks = &stat_lock, .nr_locks = 1,
		.io = &io, .nr_io = 1, .sockets = &sock, .nr_sockets = 1,
		.losses = { .threads = UINT64_MAX },
	};

	data.total.pid = data.total.tid = 0;
	return data;
}

static struct proc_metrics_row row = { .pid = 4194303, .command = HOSTILE, .cpu_usage = 199.5,
				       .mem_rss_kb = 1, .has_io = true, .cpu = 1,
				       .disk_read_bytes = UINT64_MAX };

static struct proc_metrics_sample make_sample(void)
{
	struct proc_metrics_sample sample = {
		.ts_ms = 1700000000000, .has_parent = true, .parent = row, .children = &row,
		.nr_children = 1, .total = row, .processes = 2,
		.pressure = { .scope = MEMORY_PRESSURE_CGROUP, .some_avg10 = 100 },
	};

	return sample;
}

FIXTURE(lines)
{
	char *text;
	size_t size;
	FILE *out;
	struct stat_data data;
	struct proc_metrics_sample sample;
};

FIXTURE_SETUP(lines)
{
	self->out = open_memstream(&self->text, &self->size);
	self->data = make_data();
	self->sample = make_sample();
}

FIXTURE_TEARDOWN(lines)
{
	if (self->out)
		fclose(self->out);
	free(self->text);
}

static bool has(FIXTURE_DATA(lines) *self, const char *part)
{
	fflush(self->out);
	if (!strstr(self->text, part))
		printf("# not in the lines: %s\n", part);
	return strstr(self->text, part) != NULL;
}

TEST_F(lines, a_tree)
{
	ASSERT_EQ(0, json_lines__tree(&self->sample, &self->data, self->out));
	EXPECT_TRUE(has(self, "{\"kind\":\"tree\",\"ts_ms\":1700000000000,\"parent\":{\"ts_ms\":"
			      "1700000000000,\"cpu_usage\":199.500,"));
	EXPECT_TRUE(has(self, "\"disk_read_bytes\":18446744073709551615,"));
	EXPECT_TRUE(has(self, "\"psi_mem\":{\"some_avg10\":1.0000,\"full_avg10\":0.0000}"));
	EXPECT_TRUE(has(self, "{\"pid\":4194303,\"command\":\"a\\\"\\\\\\u000a\\u0001\\ufffd"
			      "\\u003c/b\\ufffd\",\"metrics\":{"));
	EXPECT_TRUE(has(self, "\"syscalls\":{\"total\":12,\"by_category\":{\"file_io\":3,"
			      "\"memory\":5,\"network\":3,\"other\":1},\"top_syscalls\":["
			      "{\"name\":\"read\",\"count\":6},{\"name\":\"munmap\",\"count\":5},"
			      "{\"name\":\"syscall_9999\",\"count\":1}],\"analysis\":{"
			      "\"syscall_rate_per_sec\":6.000,\"io_intensity\":0.250000,"));
	EXPECT_TRUE(has(self, "\"offcpu\":{\"total_time_ns\":900,\"total_events\":2,"
			      "\"avg_time_ns\":450,\"max_time_ns\":500,\"min_time_ns\":400,"
			      "\"thread_stats\":{\"4194303:4194304\":"
			      "{\"tid\":4194304,\"total_time_ns\":900,"
			      "\"count\":2,\"avg_time_ns\":450,\"max_time_ns\":500,"
			      "\"min_time_ns\":400}},\"top_blocking_threads\":[{\"tid\":4194304,"
			      "\"pid\":4194303,\"time_ms\":0.000900,\"percentage\":100.00}],"
			      "\"bottlenecks\":[\"thread 4194304 ("));
	EXPECT_TRUE(has(self, "],\"stack_traces\":[]}"));
	EXPECT_TRUE(has(self, "\"remote\":\"::1\",\"remote_port\":443"));
	EXPECT_EQ('\n', self->text[self->size - 1]);
	EXPECT_EQ(self->text + self->size - 1, strchr(self->text, '\n'));
}

/* Nothing but /proc, nobody alive: the lists that denet's readers insist on are still there. */
TEST_F(lines, a_tree_of_nothing)
{
	self->data = (struct stat_data){ .parts = STAT_PART_OFFCPU, .from_proc = true,
					 .error = "no BPF" };
	self->sample = (struct proc_metrics_sample){ 0 };
	ASSERT_EQ(0, json_lines__tree(&self->sample, &self->data, self->out));
	EXPECT_TRUE(has(self, "\"parent\":null,\"children\":[],\"aggregated\":{"));
	EXPECT_TRUE(has(self, "\"ebpf\":{\"offcpu\":{\"total_time_ns\":0,\"total_events\":0,"
			      "\"avg_time_ns\":0,\"max_time_ns\":0,\"min_time_ns\":0,"
			      "\"thread_stats\":{},\"top_blocking_threads\":[],\"bottlenecks\":[],"
			      "\"stack_traces\":[]},\"error\":\"no BPF\"}"));
	EXPECT_TRUE(has(self, "\"source\":\"proc\""));
	EXPECT_TRUE(has(self, "\"min_ns\":null"));
}

TEST_F(lines, a_sample_ends_with_its_process)
{
	ASSERT_EQ(0, json_lines__sample(&self->sample, &self->data, self->out));
	EXPECT_TRUE(has(self, "{\"kind\":\"sample\",\"ts_ms\":1700000000000,"));
	rewind(self->out);
	self->sample.has_parent = false;
	ASSERT_EQ(0, json_lines__sample(&self->sample, &self->data, self->out));
	fflush(self->out);
	EXPECT_EQ(0, self->size);
}

TEST_F(lines, metadata)
{
	static const char *const argv[] = { "x", HOSTILE, "", NULL };
	struct json_target target = { .pid = getpid(), .argv = argv, .start_ms = 42 };

	ASSERT_EQ(0, json_lines__metadata(&target, self->out));
	EXPECT_TRUE(has(self, "\"cmd\":[\"x\",\"a\\\"\\\\\\u000a\\u0001\\ufffd\\u003c/b\\ufffd\","
			      "\"\"],\"executable\":\"/"));
	EXPECT_TRUE(has(self, "test_json_lines\",\"t0_ms\":42}\n"));
	/* From /proc. */
	target.argv = NULL;
	ASSERT_EQ(0, json_lines__metadata(&target, self->out));
	EXPECT_TRUE(has(self, "test_json_lines\"],\"executable\":"));
	target = (struct json_target){ .start_ms = 42 };
	ASSERT_EQ(0, json_lines__metadata(&target, self->out));
	EXPECT_TRUE(has(self, "\"pid\":0,\"cmd\":[],\"executable\":\"\""));
}

/* Writing fails, as on a full disk. */
TEST(an_output_that_fails)
{
	struct proc_metrics_sample sample = make_sample();
	struct stat_data data = make_data();
	FILE *out = fopen("/dev/full", "we");

	if (!out)
		SKIP(return, "no /dev/full");
	setvbuf(out, NULL, _IONBF, 0);
	EXPECT_EQ(-EIO, json_lines__tree(&sample, &data, out));
	fclose(out);
}

/* All kinds of lines, the way to the schema and to a decoder with denet's own rules. */
TEST(lines_are_what_denet_decodes)
{
	struct json_target target = { .pid = getpid() };
	struct proc_metrics_sample sample = make_sample();
	struct stat_data data = make_data();
	FILE *out;
	int status;

	if (access(CHECKER, R_OK) || access(SCHEMA, R_OK))
		SKIP(return, "not started in the source tree");
	out = popen("python3 " CHECKER " " SCHEMA " >&2", "w");
	ASSERT_NE(NULL, out);
	EXPECT_EQ(0, json_lines__env(getpid(), 1, out));
	EXPECT_EQ(0, json_lines__metadata(&target, out));
	EXPECT_EQ(0, json_lines__tree(&sample, &data, out));
	EXPECT_EQ(0, json_lines__sample(&sample, &data, out));
	data = (struct stat_data){ .from_proc = true, .error = HOSTILE };
	sample = (struct proc_metrics_sample){ 0 };
	EXPECT_EQ(0, json_lines__tree(&sample, &data, out));
	status = pclose(out);
	if (WIFEXITED(status) && (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127))
		SKIP(return, "no python3-jsonschema");
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
