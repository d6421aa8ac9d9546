/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that are still blocked when the recording ends. */
#include "capture/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/log.h"
#include "base/units.h"
#include "capture/decode.h"

/* How long one process may block the reading. */
#define STUCK_MS 250
/* Limit of stack copies; later threads have frames by frame pointers. */
#define MOST_COPY_BYTES (64UL << 20)

/* User sides by thread: incarnation -> offset of a record in the buffer. */
struct user_frames {
	struct idmap offsets; /* of wire_user */
	struct idmap copies;  /* of wire_copy */
	struct buffer records;
	size_t copy_bytes;
	uint64_t left_out; /* copies */
	int refused; /* the error if no process could be made to read them; 0: none */
	unsigned int skipped; /* processes that did not answer */
	pid_t first_skipped;
};

struct report {
	struct capture *capture;
	struct user_frames *user;
};

/* In the child: reads the iterator, which may never return. */
static int read_frames(void *ctx, struct child_out *out)
{
	int fd = *(const int *)ctx, err = 0;
	char data[65536];
	ssize_t len;

	while (!err) {
		len = read(fd, data, sizeof(data));
		if (len < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (len <= 0)
			return len < 0 ? -errno : 0;
		err = child_out__put(out, WIRE_USER, data, (size_t)len);
		if (!err)
			err = child_out__flush(out);
	}
	return err;
}

static int keep_record(struct user_frames *user, struct idmap *map, uint64_t incarnation,
		       const void *data, int size)
{
	uint64_t *offset = idmap__get(map, incarnation);

	if (!offset)
		return -ENOMEM;
	*offset = user->records.len;
	return buffer__append(&user->records, data, (size_t)size);
}

/* Keeps a record. Returns its size or a negative errno. */
static int keep_one(struct user_frames *user, const void *data, size_t size)
{
	struct decoded_user frames;
	struct decoded_copy copy;
	int len = decode__user(data, size, &frames), err;

	if (len > 0) {
		err = keep_record(user, &user->offsets, frames.incarnation, data, len);
		return err ? err : len;
	}
	len = decode__copy(data, size, &copy);
	if (len <= 0)
		return -EINVAL;
	if (user->copy_bytes + (size_t)len > MOST_COPY_BYTES) {
		user->left_out++;
		return len;
	}
	user->copy_bytes += (size_t)len;
	err = keep_record(user, &user->copies, copy.incarnation, data, len);
	return err ? err : len;
}

/* Keeps the records of one message. */
static int keep_frames(struct user_frames *user, const void *data, size_t size)
{
	int len;

	for (size_t at = 0; at < size; at += (size_t)len) {
		len = keep_one(user, (const char *)data + at, size - at);
		if (len < 0)
			return len;
	}
	return 0;
}

/* One child's run. 0: all was read; -EBUSY: it hung on a process, which is now skipped. */
static int read_once(struct capture *capture, struct user_frames *user, uint64_t deadline)
{
	struct blocked_iter *blocked_iter = &capture->maps->blocked;
	int fd = blocked_iter__open_user_frames(blocked_iter), err;
	struct child *child;
	struct child_message message;
	pid_t stuck;

	if (fd < 0)
		return fd;
	child = child__new_patiently(read_frames, &fd, &fd, (clock__now_ns() + deadline) / 2, &err);
	close(fd);
	if (!child) {
		user->refused = err;
		return err;
	}
	while ((err = child__receive_unless_stuck(child, STUCK_MS * NSEC_PER_MSEC, deadline,
						  &message)) == 1) {
		err = keep_frames(user, message.data, message.size);
		if (err)
			break;
	}
	stuck = blocked_iter__walking(blocked_iter);
	child__delete(child);
	if (err != -ETIMEDOUT || !stuck)
		return err;
	user->skipped++;
	if (!user->first_skipped)
		user->first_skipped = stuck;
	blocked_iter__skip(blocked_iter, stuck);
	return -EBUSY;
}

/* Reads the user frames available by the deadline. Missing ones are no error. */
static void read_user_frames(struct capture *capture, struct user_frames *user, int deadline_ms)
{
	uint64_t deadline = clock__now_ns() + (uint64_t)deadline_ms * 1000000ULL;
	int err;

	if (capture->options.filter.no_still_blocked ||
	    (!capture->options.stacks.user && !capture->options.reasons))
		return;
	do {
		err = read_once(capture, user, deadline);
	} while (err == -EBUSY && clock__now_ns() < deadline);
	if (user->refused)
		pr_loss("no process can be made to read the user frames of threads that are still "
			"blocked (%s): they have kernel frames only; raise `ulimit -u` or the "
			"tasks limit of the cgroup",
			strerror(-user->refused));
	if (user->skipped)
		pr_loss("%u processes did not let their memory be read (first: pid %d): their "
			"threads that are still blocked have kernel frames only",
			user->skipped, (int)user->first_skipped);
	else if (err)
		pr_verbose("user frames of blocked threads: %s", strerror(-err));
	if (user->left_out)
		pr_verbose("stacks of blocked threads: %" PRIu64 " were too many to keep",
			   user->left_out);
}

static bool find_user_frames(const struct user_frames *user, const struct wire_block *block,
			     struct decoded_user *decoded)
{
	const uint64_t *offset = idmap__find(&user->offsets, block->incarnation);

	return offset &&
	       decode__user(user->records.data + *offset, user->records.len - *offset, decoded) >
		       0 &&
	       decoded->since == block->since;
}

static bool find_user_copy(const struct user_frames *user, const struct wire_block *block,
			   struct user_copy *copy)
{
	const uint64_t *offset = idmap__find(&user->copies, block->incarnation);
	struct decoded_copy decoded;

	if (!offset ||
	    decode__copy(user->records.data + *offset, user->records.len - *offset, &decoded) < 0 ||
	    decoded.time != block->since)
		return false;
	*copy = decoded.copy;
	return true;
}

/* Applies the filters as to ended blocks; returns the counter, NULL: it is reported. */
static struct capture_tally *filter(struct capture *capture, const struct wire_block *block)
{
	struct capture_stats *stats = &capture->stats;

	if (capture->options.filter.no_still_blocked)
		return &stats->filtered_blocked;
	if (!(capture->options.filter.states & (1U << block->state)))
		return &stats->filtered_state;
	if (block->ns < capture->options.filter.min_ns)
		return &stats->filtered_min;
	if (block->ns > capture->options.filter.max_ns)
		return &stats->filtered_max;
	return NULL;
}

/* Delivers a block with its user side, if that was read. */
static int deliver_block(struct report *report, const struct wire_block *block,
			 struct sample *sample)
{
	struct capture *capture = report->capture;
	struct reason *reason = &capture->reason;
	struct decoded_user decoded;
	struct user_copy copy;

	if (find_user_frames(report->user, block, &decoded)) {
		sample->user = decoded.frames;
		sample->by_tables = decoded.by_tables;
		sample->user_end = decoded.forbidden ? CHAIN_FORBIDDEN : CHAIN_WHOLE;
		/* sample->reason, if not NULL, points to it. */
		reason->owner = decoded.owner;
		reason->owner_shared = decoded.owner_shared;
		memcpy(reason->title, decoded.title, sizeof(reason->title));
		if (capture->options.stacks.copies.bytes && decoded.compat)
			capture->stats.compat_copies++;
	}
	if (find_user_copy(report->user, block, &copy)) {
		sample->copy = &copy;
		capture->stats.copies++;
	}
	return capture__deliver(capture, sample, DELIVERY_IN_FLIGHT);
}

/* Adds the waits of a block in flight, which the programs do not count before its end. */
static void count_runnable(struct capture_stats *stats, const struct wire_block *block)
{
	if (block->flags & WIRE_BLOCK_THROTTLED) {
		stats->throttled_ns += block->runqueue_ns;
		return;
	}
	stats->runnable_ns += block->runqueue_ns;
	if (block->state == WIRE_STATE_R)
		stats->preempted_ns += block->runqueue_ns;
}

static int report_block(struct report *report, const struct wire_block *block,
			struct sample *sample)
{
	struct capture *capture = report->capture;
	struct capture_tally *tally = filter(capture, block);
	int err = 0;

	capture->blocked.count++;
	capture->blocked.ns += block->ns;
	capture->in_flight_queued_ns += block->runqueue_ns;
	count_runnable(&capture->stats, block);
	if (!capture->options.split_runqueue)
		sample->runqueue = 0;
	if (!tally) {
		tally = &capture->stats.in_flight;
		err = deliver_block(report, block, sample);
	}
	tally->count++;
	tally->ns += block->ns;
	return err;
}

static int report_records(void *ctx, const void *data, size_t size)
{
	struct report *report = ctx;
	const struct wire_block *block;
	struct reason *reason = &report->capture->reason;
	struct sample sample;
	bool has_reason;
	int len, err = 0;

	for (size_t at = 0; at < size && !err; at += (size_t)len) {
		/* With options.reasons, a reason precedes each block. */
		len = reason__decode((const char *)data + at, size - at, reason);
		has_reason = len > 0;
		if (has_reason)
			at += (size_t)len;
		len = decode__block((const char *)data + at, size - at, &sample, &block);
		if (len <= 0)
			return -EINVAL;
		if (has_reason)
			sample.reason = reason;
		err = report_block(report, block, &sample);
	}
	return err;
}

static int take_threads(void *ctx, const void *data, size_t size)
{
	struct capture *capture = ctx;
	struct thread_waits thread;
	int len;

	for (size_t at = 0; at < size; at += (size_t)len) {
		len = decode__thread((const char *)data + at, size - at, &thread);
		if (len < 0)
			return len;
		waiting_threads__add(&capture->waiting, &thread);
	}
	return 0;
}

int capture__take_runs(void *ctx, const void *data, size_t size)
{
	struct capture *capture = ctx;
	struct wire_run run;
	int len, err = 0;

	for (size_t at = 0; at < size && !err; at += (size_t)len) {
		len = decode__run((const char *)data + at, size - at, &run);
		err = len < 0 ? len : running__take(&capture->running, &run);
	}
	return err;
}

const struct thread_waits *capture__waiting_threads(const struct capture *capture, size_t *nr)
{
	*nr = capture->waiting.nr;
	return capture->waiting.top;
}

int capture__report_blocked(struct capture *capture, int deadline_ms)
{
	struct user_frames user = { 0 };
	struct report report = { capture, &user };
	int err;

	read_user_frames(capture, &user, deadline_ms);
	err = blocked_iter__report(&capture->maps->blocked, report_records, &report);
	if (err)
		pr_err("cannot report the threads that are still blocked: %s", strerror(-err));
	if (!err)
		err = blocked_iter__report_threads(&capture->maps->blocked,
						   take_threads, capture);
	if (!err && capture->options.on_cpu.clock)
		err = offcpu__report_last_runs(capture->offcpu, capture__take_runs, capture);
	idmap__free(&user.offsets);
	idmap__free(&user.copies);
	buffer__free(&user.records);
	return err;
}
