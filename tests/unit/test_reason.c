/* SPDX-License-Identifier: GPL-2.0-only */
/* Reason records into words, and words into the event that perf reads. */
#include "capture/reason.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "base/syscalls.h"
#include "common/harness.h"
#include "output/perfdata/tracing.h"
#include "output/perfdata/wait_event.h"

static struct wire_reason new_record(void)
{
	return (struct wire_reason){
		.head = { WIRE_REASON, sizeof(struct wire_reason) },
		.id = 1,
		.nr = SYS_read,
		.args = { 3, 0x1000, ~0ULL },
		.fd = 3,
	};
}

static void set_names(struct wire_reason *wire, uint32_t mode, const char *const *names)
{
	wire->object = WIRE_OBJECT_FILE;
	wire->mode = mode;
	wire->ino = 77;
	wire->dev = 8U << 20 | 5;
	for (wire->nr_names = 0; names[wire->nr_names]; wire->nr_names++)
		snprintf(wire->names[wire->nr_names], WIRE_NAME_LEN, "%s", names[wire->nr_names]);
}

static const char *path_of(const struct wire_reason *wire, struct reason *reason)
{
	return reason__decode(wire, sizeof(*wire), reason) == sizeof(*wire) ? reason->path : "bad";
}

TEST(system_calls_have_their_names)
{
	EXPECT_STREQ("read", syscalls__name(SYS_read));
	EXPECT_STREQ("futex", syscalls__name(SYS_futex));
	EXPECT_STREQ("", syscalls__name(-1));
	EXPECT_STREQ("", syscalls__name(syscalls__count()));
}

TEST(calls_are_classed_by_what_they_wait_for)
{
	uint8_t calls[WIRE_MAX_CALLS];

	memset(calls, 0xff, sizeof(calls));
	reason__classify(calls);
	EXPECT_EQ(WIRE_CALL_FD, calls[SYS_read]);
	EXPECT_EQ(WIRE_CALL_FD, calls[SYS_fsync]);
	EXPECT_EQ(WIRE_CALL_POLL, calls[SYS_ppoll]);
	EXPECT_EQ(WIRE_CALL_PATHAT, calls[SYS_openat]);
	EXPECT_EQ(WIRE_CALL_FUTEX, calls[SYS_futex]);
	EXPECT_EQ(WIRE_CALL_EPOLL, calls[SYS_epoll_pwait]);
	EXPECT_EQ(WIRE_CALL_OTHER, calls[SYS_clock_nanosleep]);
}

TEST(a_path_is_put_together_from_the_root)
{
	struct wire_reason wire = new_record();
	struct reason reason;

	set_names(&wire, S_IFREG, (const char *const[]){ "passwd", "etc", "/", NULL });
	EXPECT_STREQ("/etc/passwd", path_of(&wire, &reason));
	EXPECT_EQ(8, reason.major);
	EXPECT_EQ(5, reason.minor);
	EXPECT_EQ(3, reason.fd);
	EXPECT_EQ(~0ULL, reason.args[2]);
	wire.flags = WIRE_REASON_CUT;
	set_names(&wire, S_IFREG, (const char *const[]){ "b", "a", NULL });
	EXPECT_STREQ(".../a/b", path_of(&wire, &reason));
	wire.flags = 0;
	set_names(&wire, S_IFDIR, (const char *const[]){ "/", NULL });
	EXPECT_STREQ("/", path_of(&wire, &reason));
}

TEST(pipes_and_anonymous_inodes_have_the_names_that_proc_gives_them)
{
	struct wire_reason wire = new_record();
	struct reason reason;

	set_names(&wire, S_IFIFO, (const char *const[]){ "", NULL });
	EXPECT_STREQ("pipe:[77]", path_of(&wire, &reason));
	set_names(&wire, 0600, (const char *const[]){ "[eventpoll]", NULL });
	EXPECT_STREQ("anon_inode:[eventpoll]", path_of(&wire, &reason));
}

TEST(the_longest_path_fits_and_ends)
{
	struct wire_reason wire = new_record();
	struct reason reason;

	wire.object = WIRE_OBJECT_FILE;
	wire.mode = S_IFREG;
	wire.flags = WIRE_REASON_CUT;
	wire.nr_names = WIRE_PATH_NAMES;
	memset(wire.names, 'x', sizeof(wire.names));
	ASSERT_EQ(sizeof(wire), reason__decode(&wire, sizeof(wire), &reason));
	EXPECT_EQ(sizeof(reason.path) - 1, strlen(reason.path));
	wire.nr_names++;
	EXPECT_EQ(-EINVAL, reason__decode(&wire, sizeof(wire), &reason));
	wire.object = WIRE_OBJECT_PATH;
	wire.nr_names = 0;
	ASSERT_EQ(sizeof(wire), reason__decode(&wire, sizeof(wire), &reason));
	EXPECT_EQ(sizeof(reason.path) - 1, strlen(reason.path));
}

TEST(a_cut_record_or_another_kind_is_refused)
{
	struct wire_reason wire = new_record();
	struct reason reason;

	EXPECT_EQ(-EINVAL, reason__decode(&wire, sizeof(wire) - 1, &reason));
	EXPECT_EQ(-EINVAL, reason__decode(&wire, 0, &reason));
	wire.head.size--;
	EXPECT_EQ(-EINVAL, reason__decode(&wire, sizeof(wire), &reason));
	wire = new_record();
	wire.head.kind = WIRE_BLOCK;
	EXPECT_EQ(-EINVAL, reason__decode(&wire, sizeof(wire), &reason));
}

static void set_socket(struct wire_reason *wire)
{
	const uint8_t here[] = { 127, 0, 0, 1 };

	wire->object = WIRE_OBJECT_SOCKET;
	wire->mode = S_IFSOCK;
	wire->family = AF_INET;
	wire->ino = 5;
	wire->local_port = 4000;
	wire->remote_port = htons(80);
	memcpy(wire->local, here, 4);
	memcpy(wire->remote, here, 4);
}

TEST(sockets_have_their_ends)
{
	struct wire_reason wire = new_record();
	struct reason reason;

	set_socket(&wire);
	EXPECT_STREQ("socket:[5]", path_of(&wire, &reason));
	EXPECT_STREQ("127.0.0.1:4000", reason.local);
	EXPECT_STREQ("127.0.0.1:80", reason.remote);
	wire.family = AF_INET6;
	memset(wire.local, 0, 16);
	wire.local[15] = 1;
	wire.remote_port = 0;
	path_of(&wire, &reason);
	EXPECT_STREQ("[::1]:4000", reason.local);
	EXPECT_STREQ("", reason.remote);
	memset(wire.local, 0xff, 16);
	path_of(&wire, &reason);
	EXPECT_STREQ("[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:4000", reason.local);
}

TEST(a_call_of_the_32_bit_table_is_not_named_by_ours)
{
	struct wire_reason wire = new_record();
	struct reason reason;

	wire.flags = WIRE_REASON_COMPAT;
	path_of(&wire, &reason);
	EXPECT_STREQ("", reason.call);
	EXPECT_EQ(SYS_read, reason.nr);
}

TEST(the_store_gives_back_what_it_was_given)
{
	struct reason_store store = { 0 };
	struct wire_reason wire = new_record();
	struct reason reason;

	for (uint64_t id = 1; id <= 1000; id++) {
		wire.id = id;
		wire.fd = (int)id;
		ASSERT_EQ(0, reason_store__add(&store, &wire));
	}
	for (uint64_t id = 1; id <= 1000; id++) {
		ASSERT_TRUE(reason_store__find(&store, id, &reason));
		ASSERT_EQ(id, (uint64_t)reason.fd);
	}
	EXPECT_FALSE(reason_store__find(&store, 1001, &reason));
	reason_store__clear(&store);
	EXPECT_FALSE(reason_store__find(&store, 1, &reason));
	reason_store__free(&store);
}

FIXTURE(event)
{
	struct tep_handle *tep;
	struct tep_event *event;
	struct {
		struct tracing_common common;
		struct writer_wait wait;
	} raw;
	struct trace_seq seq;
	struct reason reason;
	struct sample sample;
};

FIXTURE_SETUP(event)
{
	const struct tracing_event *own = tracing__event(60002);
	struct buffer text = { 0 };

	ASSERT_NE(NULL, own);
	ASSERT_EQ(tracing_event__size(own), sizeof(self->raw));
	ASSERT_EQ(0, tracing_event__format(own, &text));
	self->tep = tep_alloc();
	ASSERT_EQ(0, tep_parse_event(self->tep, text.data, text.len, TRACING_SYSTEM));
	self->event = tep_find_event(self->tep, 60002);
	ASSERT_NE(NULL, self->event);
	buffer__free(&text);
	trace_seq_init(&self->seq);
	self->raw.common.type = 60002;
	self->sample = (struct sample){ .period = 1500,
					.count = 2,
					.state = 'S',
					.reason = &self->reason };
	self->reason = (struct reason){ .nr = -1, .call = "", .fd = -1, .ready_fd = -1 };
}

FIXTURE_TEARDOWN(event)
{
	trace_seq_destroy(&self->seq);
	tep_free(self->tep);
}

static const char *print_event(FIXTURE_DATA(event) * self)
{
	struct tep_record record = { .data = &self->raw, .size = sizeof(self->raw) };

	wait_event__fill(&self->raw.wait, &self->sample);
	trace_seq_reset(&self->seq);
	tep_print_event(self->tep, &self->seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&self->seq);
	return self->seq.buffer;
}

TEST_F(event, reads_as_a_sentence)
{
	self->reason = (struct reason){ .nr = 0, .call = "read", .args = { 3, 0x10, 5 }, .fd = 3,
					.ready_fd = -1, .ino = 9, .major = 8, .minor = 1,
					.path = "/etc/passwd" };
	EXPECT_STREQ("waited 1.500 us (S, 2 blocks) in read on descriptor 3, /etc/passwd",
		     print_event(self));
	self->sample.count = 1;
	self->reason = (struct reason){ .nr = 202, .call = "futex", .args = { 0xffff800000000000 },
					.fd = -1, .ready_fd = -1, .futex = true };
	EXPECT_STREQ("waited 1.500 us (S) in futex on the futex 0xffff800000000000",
		     print_event(self));
	self->reason = (struct reason){ .nr = -1, .call = "", .fd = -1, .ready_fd = -1 };
	EXPECT_STREQ("waited 1.500 us (S) outside of system calls", print_event(self));
	self->reason.fault = true;
	EXPECT_STREQ("waited 1.500 us (S) for a page", print_event(self));
}

TEST_F(event, tells_the_owner_of_a_mutex_and_the_object_that_it_lies_in)
{
	self->sample.count = 1;
	self->reason = (struct reason){ .nr = 202, .call = "futex", .args = { 0x1040 }, .fd = -1,
					.ready_fd = -1, .futex = true, .owner = 9537,
					.owner_comm = "writer", .futex_at = "accounts+0x40" };
	EXPECT_STREQ("waited 1.500 us (S) in futex on accounts+0x40, held by 9537 (writer)",
		     print_event(self));
	*self->reason.owner_comm = '\0';
	EXPECT_STREQ("waited 1.500 us (S) in futex on accounts+0x40, held by 9537",
		     print_event(self));
}

TEST_F(event, tells_the_descriptor_that_ended_an_epoll_and_its_peer)
{
	self->sample.count = 1;
	self->reason = (struct reason){ .nr = 232, .call = "epoll_wait", .fd = 5, .ready_fd = 9,
					.path = "anon_inode:[eventpoll]" };
	EXPECT_STREQ("waited 1.500 us (S) in epoll_wait until 9 was ready",
		     print_event(self));
	snprintf(self->reason.ready_remote, sizeof(self->reason.ready_remote), "10.0.0.1:80");
	snprintf(self->reason.title, sizeof(self->reason.title), "web: idle");
	EXPECT_STREQ("waited 1.500 us (S) in epoll_wait until 9 was ready, "
		     "peer 10.0.0.1:80; web: idle", print_event(self));
	/* Of the longest address the end, with the port, is there, and the columns hold. */
	snprintf(self->reason.ready_remote, sizeof(self->reason.ready_remote),
		 "[1111:2222:3333:4444:5555:6666:7777:8888]:65535");
	self->sample.count = 1234567;
	self->sample.period = 902926000;
	EXPECT_EQ(100, strlen(print_event(self)));
	EXPECT_TRUE(strstr(self->seq.buffer, ":7777:8888]:65535") != NULL)
	TH_LOG("%s", self->seq.buffer);
	self->sample.count = 1;
	self->sample.period = 1500;
	/* A title without a blank is the name of the program as a rule. */
	snprintf(self->reason.title, sizeof(self->reason.title), "/usr/bin/web");
	self->reason.ready_fd = -1;
	EXPECT_STREQ("waited 1.500 us (S) in epoll_wait on descriptor 5, anon_inode:[eventpoll]",
		     print_event(self));
}

TEST_F(event, is_at_most_100_columns_wide)
{
	size_t whole;

	self->reason = (struct reason){ .nr = 0, .call = "read", .fd = 3, .ready_fd = -1,
					.path = "e" };
	whole = strlen(print_event(self)) - 1;
	for (size_t len = 1; len < sizeof(self->reason.path); len++) {
		memset(self->reason.path, 'p', len - 1);
		self->reason.path[len - 1] = 'e';
		ASSERT_GE(100, strlen(print_event(self)));
		/* The end of the path is there. */
		ASSERT_EQ('e', self->seq.buffer[strlen(self->seq.buffer) - 1]);
		ASSERT_EQ(whole + len < 100 ? whole + len : 100, strlen(self->seq.buffer));
	}
	/* A title takes no room from it, and is cut where it has some, but not enough. */
	memset(self->reason.title, ' ', sizeof(self->reason.title) - 1);
	EXPECT_EQ(100, strlen(print_event(self)));
	EXPECT_EQ('e', self->seq.buffer[99]);
	snprintf(self->reason.path, sizeof(self->reason.path), "/a");
	EXPECT_EQ(100, strlen(print_event(self)));
	EXPECT_STREQ("...", self->seq.buffer + 97);
}

TEST_F(event, fields_are_where_the_format_says)
{
	static const char *const strings[] = { "state",	 "name", "kind",       "device", "path",
					       "local",	 "remote", "text",     "owner_comm",
					       "object", "peer", "title" };
	unsigned long long value = 0;

	self->reason = (struct reason){ .nr = 202, .call = "futex", .futex = true, .fd = 4,
					.args = { 1, 2, 3, 4, 5, ~0ULL }, .ino = 42,
					.local = "1.2.3.4:5", .owner = 17, .ready_fd = -1 };
	print_event(self);
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		struct tep_format_field *field = tep_find_any_field(self->event, strings[i]);

		ASSERT_NE(NULL, field);
		EXPECT_TRUE(field->flags & TEP_FIELD_IS_STRING);
	}
	tep_read_number_field(tep_find_any_field(self->event, "arg5"), &self->raw, &value);
	EXPECT_EQ(~0ULL, value);
	tep_read_number_field(tep_find_any_field(self->event, "inode"), &self->raw, &value);
	EXPECT_EQ(42, value);
	tep_read_number_field(tep_find_any_field(self->event, "ns"), &self->raw, &value);
	EXPECT_EQ(1500, value);
	tep_read_number_field(tep_find_any_field(self->event, "owner"), &self->raw, &value);
	EXPECT_EQ(17, value);
	tep_read_number_field(tep_find_any_field(self->event, "ready"), &self->raw, &value);
	EXPECT_EQ(-1, (int32_t)value);
	EXPECT_STREQ("1.2.3.4:5",
		     (char *)&self->raw + tep_find_any_field(self->event, "local")->offset);
}

TEST_F(event, the_longest_strings_end_in_a_nul)
{
	memset(self->reason.path, 'p', sizeof(self->reason.path) - 1);
	memset(self->reason.local, 'l', sizeof(self->reason.local) - 1);
	memset(self->reason.remote, 'r', sizeof(self->reason.remote) - 1);
	self->reason.call = "a_call_with_a_name_of_more_than_thirty_two_letters";
	self->reason.nr = 1;
	print_event(self);
	EXPECT_EQ(sizeof(self->raw.wait.path) - 1, strlen(self->raw.wait.path));
	EXPECT_EQ(sizeof(self->raw.wait.name) - 1, strlen(self->raw.wait.name));
	EXPECT_GT(sizeof(self->raw.wait.text), strlen(self->raw.wait.text));
}

TEST_HARNESS_MAIN
