/* SPDX-License-Identifier: GPL-2.0-only */
/* Records of the sampler become samples, and samples the texts of columns. */
#include "top/thread_sample.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/units.h"
#include "common/harness.h"
#include "top/columns.h"
#include "top/schedule.h"
#include "top/wall_time.h"

/* The greatest records: a thread in a call on a socket. */
struct records {
	struct top_wire_sample sample;
	struct wire_reason reason;
	struct top_wire_socket socket;
	struct top_wire_regs regs;
	struct wire_stack stack;
	__u64 ips[WIRE_MAX_FRAMES];
};

static struct records make_records(void)
{
	struct records records = {
		.sample = { .head = { TOP_WIRE_SAMPLE, sizeof(records.sample) },
			    .nr = SYS_recvfrom,
			    .pid = 41,
			    .tid = 42,
			    .state = TOP_WIRE_SLEEP,
			    .flags = TOP_WIRE_FLAG_REASON | TOP_WIRE_FLAG_SOCKET |
				     TOP_WIRE_FLAG_REGS | TOP_WIRE_FLAG_KERNEL,
			    .args = { 3, 0x7f00 } },
		.reason = { .head = { WIRE_REASON, sizeof(records.reason) },
			    .nr = SYS_recvfrom,
			    .object = WIRE_OBJECT_SOCKET,
			    .ino = 77,
			    .mode = 0140777,
			    .family = AF_INET,
			    .protocol = IPPROTO_TCP,
			    .local_port = 51312,
			    .remote_port = htons(443),
			    .local = { 10, 0, 0, 1 },
			    .remote = { 10, 0, 0, 2 } },
		.socket = { .head = { TOP_WIRE_SOCKET, sizeof(records.socket) },
			    .family = AF_INET,
			    .protocol = IPPROTO_TCP,
			    .state = 1,
			    .cwnd = 10,
			    .unread = 5 },
		.regs = { .head = { TOP_WIRE_REGS, sizeof(records.regs) },
			  .regs = { [USER_REG_PC] = 0x401234 } },
		.stack = { .head = { WIRE_STACK, sizeof(records.stack) + sizeof(records.ips) },
			   .nr = WIRE_MAX_FRAMES },
		.ips = { 0x1000, 0x2000 },
	};

	/* No byte behind the names: neither is the kernel's copy bound to end with one. */
	memset(records.sample.comm, 'c', sizeof(records.sample.comm));
	memset(records.sample.exe, 'e', sizeof(records.sample.exe));
	return records;
}

FIXTURE(sample)
{
	struct records records;
	struct thread_sample sample;
	struct top_names names;
	char text[TOP_COLUMN_LEN];
};

FIXTURE_SETUP(sample)
{
	self->records = make_records();
	self->names = (struct top_names){ 0 };
	ASSERT_EQ((int)sizeof(self->records),
		  thread_sample__decode(&self->records, sizeof(self->records), &self->sample));
}

FIXTURE_TEARDOWN(sample)
{
	top_names__free(&self->names);
}

TEST_F(sample, what_is_cut_is_refused)
{
	struct records records = make_records();

	for (size_t size = 0; size < sizeof(records); size++)
		EXPECT_EQ(-EINVAL, thread_sample__decode(&records, size, &self->sample));
	records.sample.flags = 0;
	EXPECT_EQ((int)sizeof(records.sample),
		  thread_sample__decode(&records, sizeof(records), &self->sample));
	EXPECT_EQ(16, strlen(self->sample.comm));
	EXPECT_EQ(WIRE_NAME_LEN, strlen(self->sample.exe));
}

TEST_F(sample, what_is_no_such_record_is_refused)
{
	struct records records = make_records();

	ASSERT_NE(NULL, self->sample.user_regs);
	EXPECT_EQ(0x401234, self->sample.user_regs[USER_REG_PC]);
	records.stack.nr++;
	EXPECT_EQ(-EINVAL, thread_sample__decode(&records, sizeof(records), &self->sample));
	records = make_records();
	records.socket.head.kind = WIRE_BLOCK;
	EXPECT_EQ(-EINVAL, thread_sample__decode(&records, sizeof(records), &self->sample));
	records = make_records();
	records.regs.head.size -= 8;
	EXPECT_EQ(-EINVAL, thread_sample__decode(&records, sizeof(records), &self->sample));
	records = make_records();
	records.sample.state = TOP_WIRE_STATES;
	EXPECT_EQ(-EINVAL, thread_sample__decode(&records, sizeof(records), &self->sample));
}

#define COLUMN(column) top_column__put(column, &self->sample, &self->names, self->text)

TEST_F(sample, columns_of_a_connection)
{
	EXPECT_STREQ("SLEEP", COLUMN(TOP_COLUMN_STATE));
	EXPECT_STREQ("recvfrom", COLUMN(TOP_COLUMN_SYSCALL));
	EXPECT_STREQ("recvfrom", COLUMN(TOP_COLUMN_WAIT));
	EXPECT_STREQ("socket:[77]", COLUMN(TOP_COLUMN_FILENAME));
	EXPECT_STREQ("socket:[*]", COLUMN(TOP_COLUMN_FILENAMESUM));
	EXPECT_STREQ("TCP 10.0.0.1:51312->10.0.0.2:443", COLUMN(TOP_COLUMN_CONNECTION));
	EXPECT_STREQ("ESTABLISHED", COLUMN(TOP_COLUMN_CONN_STATE));
	EXPECT_STREQ("7f00", COLUMN(TOP_COLUMN_ARG2));
	EXPECT_STREQ("42", COLUMN(TOP_COLUMN_TID));
	EXPECT_STREQ("41", COLUMN(TOP_COLUMN_TGID));
	EXPECT_STREQ("", COLUMN(TOP_COLUMN_CGROUP));
	EXPECT_NE(NULL, strstr(COLUMN(TOP_COLUMN_EXTRA_INFO), "\"bytes_unread\":5"));
}

TEST_F(sample, columns_of_other_sockets)
{
	self->sample.reason.remote[0] = '\0';
	self->sample.socket.state = 10;
	EXPECT_STREQ("TCP 10.0.0.1:51312->0.0.0.0:0", COLUMN(TOP_COLUMN_CONNECTION));
	EXPECT_STREQ("LISTEN", COLUMN(TOP_COLUMN_CONN_STATE));
	EXPECT_STREQ("", COLUMN(TOP_COLUMN_EXTRA_INFO));
	self->sample.socket = (struct top_wire_socket){ .family = AF_UNIX, .type = 1,
							.peer_ino = 78, .peer_pid = 9 };
	EXPECT_STREQ("UNIX-STREAM inode=77->inode=78 peerpid=9", COLUMN(TOP_COLUMN_CONNECTION));
	EXPECT_STREQ("{\"unix\":{\"inode\":77,\"peer_pid\":9,\"peer_inode\":78}}",
		     COLUMN(TOP_COLUMN_EXTRA_INFO));
	/* The NUL at the end of a path is told with it; of a path of no file, each byte counts. */
	memcpy(self->sample.socket.path, "/run/\"s", 8);
	self->sample.socket.path_len = 8;
	self->sample.socket.owner = 1000;
	EXPECT_STREQ("{\"unix\":{\"inode\":77,\"path\":\"/run/\\\"s\",\"peer_pid\":9,"
		     "\"peer_inode\":78,\"owner_uid\":1000}}", COLUMN(TOP_COLUMN_EXTRA_INFO));
	memcpy(self->sample.socket.path, "\0a\0b", 4);
	self->sample.socket.path_len = 4;
	self->sample.socket.path_of_peer = 1;
	self->sample.socket.owner = 0;
	EXPECT_STREQ("{\"unix\":{\"inode\":77,\"peer_path\":\"a@b\",\"abstract\":true,"
		     "\"peer_pid\":9,\"peer_inode\":78}}", COLUMN(TOP_COLUMN_EXTRA_INFO));
	self->sample.has_socket = false;
	EXPECT_STREQ("", COLUMN(TOP_COLUMN_CONNECTION));
	EXPECT_STREQ("", COLUMN(TOP_COLUMN_EXTRA_INFO));
}

TEST_F(sample, extra_info_has_the_keys_of_xcapture)
{
	self->sample.socket.delivered = 7;
	EXPECT_NE(NULL, strstr(COLUMN(TOP_COLUMN_EXTRA_INFO),
			       ",\"delivered\":7,\"delivered_ce\":0,\"bytes_unsent\":0}}"));
	self->sample.socket.cwnd_limited = 1;
	self->sample.socket.reord_seen = 2;
	self->sample.socket.retransmits = 3;
	EXPECT_NE(NULL, strstr(COLUMN(TOP_COLUMN_EXTRA_INFO),
			       "\"cwnd_limited\":true,\"reord_seen\":true,"
			       "\"retransmits\":3,"));
	self->sample.has_socket = false;
	self->sample.has_uring = self->sample.has_request = true;
	snprintf(self->sample.request.path, sizeof(self->sample.request.path), "/a\"b");
	self->sample.uring = (struct top_wire_uring){
		.has_request = 1, .opcode = 22, .fd = 5, .offset = 1ULL << 40, .len = 512,
		.completed = 1,
	};
	EXPECT_STREQ("{\"uring_cq\":1,\"uring_sq_file\":\"/a\\\"b\",\"uring_fd\":5,"
		     "\"uring_opcode\":22,\"uring_offset\":1099511627776,\"uring_len\":512,"
		     "\"uring_request\":\"READ\"}", COLUMN(TOP_COLUMN_EXTRA_INFO));
	self->sample.has_request = false;
	self->sample.uring = (struct top_wire_uring){
		.has_request = 1, .registered = 1, .opcode = 200, .flags = 0x11, .rw_flags = 8,
		.fd = 3, .unsubmitted = 2,
	};
	EXPECT_STREQ("{\"uring_sq\":2,\"uring_sq_file\":\"[registered 3]\","
		     "\"uring_opcode\":200,\"uring_offset\":0,\"uring_len\":0,"
		     "\"uring_flags\":\"0x11\",\"uring_rw_flags\":\"0x8\",\"uring_reg_idx\":3}",
		     COLUMN(TOP_COLUMN_EXTRA_INFO));
	self->sample.uring = (struct top_wire_uring){ 0 };
	EXPECT_STREQ("", COLUMN(TOP_COLUMN_EXTRA_INFO));
	self->sample.has_uring = false;
}

TEST_F(sample, requests_of_linux_aio)
{
	struct aio_request aio = { .file = "/data", .fd = 3, .completed = 2, .has_context = true };

	self->sample.has_socket = false;
	self->sample.aio = &aio;
	EXPECT_STREQ("{\"aio_fd\":3,\"aio_completed\":2,\"aio_file\":\"/data\"}",
		     COLUMN(TOP_COLUMN_EXTRA_INFO));
	EXPECT_STREQ("/data", COLUMN(TOP_COLUMN_AIOFILENAME));
	aio = (struct aio_request){ .file = "", .fd = -1, .has_context = true };
	EXPECT_STREQ("{\"aio_completed\":0}", COLUMN(TOP_COLUMN_EXTRA_INFO));
	EXPECT_STREQ("", COLUMN(TOP_COLUMN_AIOFILENAME));
}

TEST_F(sample, names_with_digits_are_one)
{
	snprintf(self->sample.comm, sizeof(self->sample.comm), "12worker-3/45");
	EXPECT_STREQ("*worker-*/*", COLUMN(TOP_COLUMN_COMM2));
	self->sample.comm[0] = '\0';
	EXPECT_STREQ("", COLUMN(TOP_COLUMN_COMM2));
}

TEST_F(sample, no_call_and_an_unknown_one)
{
	self->sample.nr = -1;
	EXPECT_STREQ("-", COLUMN(TOP_COLUMN_SYSCALL));
	EXPECT_STREQ("-", COLUMN(TOP_COLUMN_WAIT));
	self->sample.call_unknown = true;
	EXPECT_STREQ("?", COLUMN(TOP_COLUMN_SYSCALL));
	self->sample.kthread = true;
	EXPECT_STREQ("[kernel]", COLUMN(TOP_COLUMN_EXE));
}

TEST_F(sample, stacks_have_one_hash_where_they_have_the_same_frames)
{
	uint64_t id = self->sample.kernel_id;

	ASSERT_EQ(WIRE_MAX_FRAMES, self->sample.kernel.nr);
	EXPECT_NE(0, id);
	/* Without the kernel's symbols frames are addresses. */
	EXPECT_EQ(0, strncmp(COLUMN(TOP_COLUMN_KSTACK), "0x1000;0x2000;0x0;", 18));
	EXPECT_EQ(16, strlen(COLUMN(TOP_COLUMN_KSTACK_HASH)));
	self->records.sample.tid++;
	thread_sample__decode(&self->records, sizeof(self->records), &self->sample);
	EXPECT_EQ(id, self->sample.kernel_id);
	self->records.ips[5] = 1;
	thread_sample__decode(&self->records, sizeof(self->records), &self->sample);
	EXPECT_NE(id, self->sample.kernel_id);
	self->records.sample.flags &= ~TOP_WIRE_FLAG_KERNEL;
	thread_sample__decode(&self->records, sizeof(self->records), &self->sample);
	EXPECT_STREQ("", COLUMN(TOP_COLUMN_KSTACK));
	EXPECT_STREQ("", COLUMN(TOP_COLUMN_KSTACK_HASH));
}

/* The record of the tracker, with the sample in front of it. */
struct tracked {
	struct top_wire_sample sample;
	struct top_wire_track track;
};

static struct tracked make_tracked(void)
{
	return (struct tracked){
		.sample = { .head = { TOP_WIRE_SAMPLE, sizeof(struct top_wire_sample) },
			    .nr = -1,
			    .state = TOP_WIRE_RUN,
			    .flags = TOP_WIRE_FLAG_TRACK },
		.track = { .head = { TOP_WIRE_TRACK, sizeof(struct top_wire_track) },
			   .what = TRACK_WIRE_CALLS | TRACK_WIRE_OFFCPU,
			   .entered = 5,
			   .seq = 77,
			   .nr = SYS_recvfrom,
			   .calls_known = 1,
			   .waker_kind = TRACK_WIRE_WAKER_THREAD,
			   .waker_tid = 9,
			   .waker = "0123456789abcdef" },
	};
}

TEST_F(sample, what_is_tracked)
{
	struct tracked tracked = make_tracked();
	int size = (int)sizeof(tracked);

	ASSERT_EQ(size, thread_sample__decode(&tracked, sizeof(tracked), &self->sample));
	EXPECT_STREQ("recvfrom", COLUMN(TOP_COLUMN_ACTIVE_CALL));
	EXPECT_STREQ("77", COLUMN(TOP_COLUMN_SYSC_SEQ));
	EXPECT_STREQ("0123456789abcdef", COLUMN(TOP_COLUMN_WAKER));
	EXPECT_STREQ("9", COLUMN(TOP_COLUMN_WAKER_TID));
	EXPECT_STREQ("", COLUMN(TOP_COLUMN_IORQ_SEQ));
	tracked.track.nr = -1;
	tracked.track.waker_kind = TRACK_WIRE_WAKER_INTERRUPT;
	thread_sample__decode(&tracked, sizeof(tracked), &self->sample);
	EXPECT_STREQ("-", COLUMN(TOP_COLUMN_ACTIVE_CALL));
	EXPECT_STREQ("[interrupt]", COLUMN(TOP_COLUMN_WAKER));
	tracked.track.calls_known = 0;
	thread_sample__decode(&tracked, sizeof(tracked), &self->sample);
	EXPECT_STREQ("?", COLUMN(TOP_COLUMN_ACTIVE_CALL));
	tracked.track.what = 0;
	thread_sample__decode(&tracked, sizeof(tracked), &self->sample);
	EXPECT_STREQ("", COLUMN(TOP_COLUMN_ACTIVE_CALL));
	EXPECT_EQ(-EINVAL, thread_sample__decode(&tracked, sizeof(tracked) - 1, &self->sample));
	tracked.track.waker_kind = 3;
	EXPECT_EQ(-EINVAL, thread_sample__decode(&tracked, sizeof(tracked), &self->sample));
}

TEST(lists)
{
	enum top_column columns[3];
	uint32_t states = 7;
	size_t nr;

	EXPECT_EQ(0, top_columns__parse("wait,comm2", columns, 3, &nr));
	EXPECT_EQ(2, nr);
	EXPECT_EQ(TOP_COLUMN_COMM2, columns[1]);
	EXPECT_EQ(-EINVAL, top_columns__parse("wait,", columns, 3, &nr));
	EXPECT_EQ(-EINVAL, top_columns__parse("wait,wait", columns, 3, &nr));
	EXPECT_EQ(-E2BIG, top_columns__parse("wait,comm,tid,tgid", columns, 3, &nr));
	EXPECT_EQ(-EINVAL, top_states__parse("RUN,,D", &states));
	EXPECT_EQ(-EINVAL, top_states__parse("", &states));
	EXPECT_EQ(7, states);
	EXPECT_EQ(0, top_states__parse("R,disk", &states));
	EXPECT_EQ(1U << TOP_WIRE_RUN | 1U << TOP_WIRE_RUNQ | 1U << TOP_WIRE_DISK, states);
	EXPECT_EQ(0, top_states__parse("t,T", &states));
	EXPECT_EQ(1U << TOP_WIRE_TRACED | 1U << TOP_WIRE_STOPPED, states);
	for (int i = 0; i < TOP_COLUMNS; i++)
		EXPECT_EQ(0, top_columns__parse(top_column__name((enum top_column)i), columns, 1,
						&nr));
}

TEST(parts_of_texts)
{
	EXPECT_STREQ("so", top_column__extension("/lib/a.b/libc.so"));
	EXPECT_STREQ("", top_column__extension("/lib/a.b/libc"));
	EXPECT_STREQ("", top_column__extension("/home/.profile"));
	EXPECT_STREQ("gz", top_column__extension("a.tar.gz"));
	EXPECT_STREQ("", top_column__extension(""));
}

TEST(order_of_texts)
{
	EXPECT_GT(0, top_column__compare(TOP_COLUMN_TID, "9", "10"));
	EXPECT_LT(0, top_column__compare(TOP_COLUMN_COMM, "9", "10"));
	EXPECT_GT(0, top_column__compare(TOP_COLUMN_SYSC_TIME, "100us+", "10ms+"));
	EXPECT_GT(0, top_column__compare(TOP_COLUMN_IORQ_TIME, "", "<10us"));
	EXPECT_EQ(0, top_column__compare(TOP_COLUMN_IORQ_TIME, "1s+", "1s+"));
	EXPECT_LT(0, top_column__compare(TOP_COLUMN_SYSC_TIME, "10s+",
					 top_column__time_step(9999999999)));
}

TEST(one_look_in_each_period)
{
	struct schedule schedule;
	uint64_t now = 1000, sum = 0;

	schedule__init(&schedule, 100, now, 42);
	EXPECT_EQ(1000, schedule.due);
	EXPECT_EQ(100, schedule__take(&schedule, now));
	for (uint64_t i = 1; i <= 1000; i++) {
		ASSERT_GE(schedule.due, 1000 + 100 * i);
		ASSERT_LT(schedule.due, 1100 + 100 * i);
		sum += schedule.due % 100;
		ASSERT_EQ(100, schedule__take(&schedule, schedule.due));
	}
	/* Anywhere in it: 50 on average, with a standard error of 0.9. */
	EXPECT_GT(sum, 45000);
	EXPECT_LT(sum, 55000);
	/* Late by three periods: it stands for them, too. */
	EXPECT_EQ(400, schedule__take(&schedule, schedule.slot + 350));
}

TEST(local_time)
{
	char text[WALL_TIME_LEN];

	setenv("TZ", "UTC", 1);
	tzset();
	EXPECT_STREQ("2026-01-31T23:59:59.000001", wall_time__put(1769903999000001999, text));
}

static void set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

/* On 2026-10-25, 03:00 of summer is followed by 02:00. */
TEST(a_time_that_comes_twice_in_autumn_goes_on)
{
	const uint64_t two = 1792886400000000000, hour = 3600 * NSEC_PER_SEC;
	uint64_t last = 0, ns;
	char text[WALL_TIME_LEN];

	set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	EXPECT_STREQ("2026-10-25T02:00:00.000000", wall_time__put(two, text));
	EXPECT_STREQ("2026-10-25T02:00:00.000000", wall_time__put(two + hour, text));
	for (uint64_t at = two - 2 * hour; at < two + 4 * hour; at += hour / 6) {
		ASSERT_EQ(0, wall_time__parse(wall_time__put(at, text), last, &ns));
		EXPECT_EQ(at, ns);
		last = ns;
	}
	/* Set back by some minutes, it is not an hour later. */
	ASSERT_EQ(0, wall_time__parse("2026-10-25T02:10:00", two + hour / 2, &ns));
	EXPECT_EQ(two + hour / 6, ns);
	/* All times of other days come once, and so do those that are skipped in spring. */
	ASSERT_EQ(0, wall_time__parse("2026-10-26T02:10:00", two + 100 * hour, &ns));
	EXPECT_EQ(two + 25 * hour + hour / 6, ns);
	ASSERT_EQ(0, wall_time__parse("2026-03-29T02:10:00", 0, &ns));
	set_zone("UTC");
	ASSERT_EQ(0, wall_time__parse("2026-10-25T02:10:00", two + 100 * hour, &ns));
	EXPECT_EQ(two + 2 * hour + hour / 6, ns);
}

TEST(times_that_are_no_number_of_ns_are_refused)
{
	char text[WALL_TIME_LEN];
	uint64_t ns;

	set_zone("UTC");
	ASSERT_EQ(0, wall_time__parse("1970-01-01T00:00:00", 0, &ns));
	EXPECT_EQ(0, ns);
	ASSERT_EQ(0, wall_time__parse("2262-04-11T23:47:15.999999", 0, &ns));
	EXPECT_STREQ("2262-04-11T23:47:15.999999", wall_time__put(ns, text));
	EXPECT_EQ(-EINVAL, wall_time__parse("2262-04-11T23:47:16", 0, &ns));
	EXPECT_EQ(-EINVAL, wall_time__parse("2555-01-01T00:00:00", 0, &ns));
	EXPECT_EQ(-EINVAL, wall_time__parse("9999-12-31T23:59:59", 0, &ns));
	EXPECT_EQ(-EINVAL, wall_time__parse("1969-12-31T23:59:59", 0, &ns));
}

TEST_HARNESS_MAIN
