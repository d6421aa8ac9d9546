/* SPDX-License-Identifier: GPL-2.0-only */
#include "unwind/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "host/owner.h"
#include "unwind/blame.h"
#include "unwind/protocol.h"
#include "unwind/waiting.h"

/* The share of the ring reserved for events of address spaces, which must not get lost. */
#define EVENT_SHARE 8
/* A runnable child gets this many times the deadline, since it may only wait for a CPU, */
#define STARVING_TIMES 10
/* but not after it has used so many times the deadline of CPU time. */
#define BUSY_TIMES 2
/* Interval between attempts to make a process; samples wait for MOST_RETRY_NS. */
#define RETRY_MS 100
#define MOST_RETRY_NS (2 * NSEC_PER_SEC)

struct unwind_worker {
	struct unwind_worker_options options;
	unwind_done_fn fn;
	void *ctx;
	const struct machine *machine;
	struct shm_ring *shm_ring;
	struct child *child; /* NULL: none */
	int bell;
	struct waiting waiting;
	bool behind;	       /* the child missed an event and must be replaced */
	bool told_refusal;     /* it was logged that processes could not be made, */
	bool told_pause;       /* and that they fail too often */
	uint64_t refused_ns;   /* since when none could be made; 0: the last one could */
	uint64_t retry_ns;     /* time of the next attempt */
	uint64_t nr_done;      /* as of the last look */
	uint64_t progress_ns;  /* when it rose last, or when the waiting began */
	uint64_t progress_cpu; /* the child's CPU time then, ns */
	struct blame blame;
	struct unwind_worker_stats stats;
};

struct unwind_worker *unwind_worker__new(const struct unwind_worker_options *options,
					 const struct machine *machine, unwind_done_fn fn,
					 void *ctx)
{
	struct unwind_worker *worker = calloc(1, sizeof(*worker));
	size_t bytes;

	if (!worker)
		return NULL;
	worker->options = *options;
	if (!worker->options.deadline_ms)
		worker->options.deadline_ms = UNWIND_WORKER_MS;
	bytes = options->max_bytes ? options->max_bytes : UNWIND_WORKER_BYTES;
	worker->options.max_bytes = (bytes + 4095) & ~(size_t)4095;
	worker->machine = machine;
	worker->fn = fn;
	worker->ctx = ctx;
	/*
	 * The descriptor's number is taken from the start, so that it stays; a bare root has no
	 * /dev.
	 */
	worker->bell = eventfd(0, EFD_CLOEXEC);
	worker->shm_ring = shm_ring__new(worker->options.max_bytes);
	if (worker->bell >= 0 && worker->shm_ring)
		return worker;
	unwind_worker__delete(worker);
	return NULL;
}

void unwind_worker__delete(struct unwind_worker *worker)
{
	if (!worker)
		return;
	child__delete(worker->child);
	if (worker->bell >= 0)
		close(worker->bell);
	shm_ring__delete(worker->shm_ring);
	waiting__free(&worker->waiting);
	free(worker);
}

pid_t unwind_worker__pid(const struct unwind_worker *worker)
{
	return worker->child ? child__pid(worker->child) : 0;
}

size_t unwind_worker__pending(const struct unwind_worker *worker)
{
	return waiting__count(&worker->waiting);
}

/* State of a child, which has its own copy of the worker as of the fork. */
struct serving {
	struct unwind_worker *worker;
	struct machine *machine;
	int bell;
};

static int serve(void *ctx, struct child_out *out)
{
	struct serving *serving = ctx;
	struct unwind_worker *worker = serving->worker;
	uint64_t avoid[BLAME_FILES];
	size_t nr = blame__files(&worker->blame, clock__now_ns(), avoid);

	(void)out;
	return protocol__serve(worker->shm_ring, serving->machine, serving->bell, avoid, nr);
}

/* CPU time of the current child, ns; 0: there is none. */
static uint64_t cpu_of_child(const struct unwind_worker *worker)
{
	return worker->child ? child__cpu_ns(worker->child) : 0;
}

static void note_progress(struct unwind_worker *worker)
{
	worker->nr_done = shm_ring__nr_done(worker->shm_ring);
	worker->progress_ns = clock__now_ns();
	worker->progress_cpu = cpu_of_child(worker);
}

int unwind_worker__start(struct unwind_worker *worker)
{
	/* A copy of the machine, as of the worker, which the child may change. */
	struct serving serving = { .worker = worker,
				   .machine = (struct machine *)(uintptr_t)worker->machine };
	int fds[2], err;

	if (worker->child)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return -errno;
	shm_ring__before_child(worker->shm_ring);
	shm_ring__reset_bell(worker->shm_ring);
	worker->behind = false;
	note_progress(worker);
	serving.bell = fds[1];
	worker->child = child__new_keeping(serve, &serving, &serving.bell, &err);
	if (worker->child && dup3(fds[0], worker->bell, O_CLOEXEC) < 0)
		err = -errno;
	close(fds[0]);
	close(fds[1]);
	if (err) {
		child__delete(worker->child);
		worker->child = NULL;
	}
	return err;
}

static void wake_child(struct unwind_worker *worker)
{
	if (worker->child && shm_ring__child_sleeps(worker->shm_ring))
		send(worker->bell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Puts an event. If it finds no room, the child must be replaced by a new copy of this process. */
static void tell(struct unwind_worker *worker, uint32_t kind, const struct task_event *event,
		 const char *text)
{
	const struct protocol_event told = { .event = *event };
	size_t text_size = strlen(text) + 1;
	struct shm_ring_entry *entry;

	if (!worker->child || worker->behind)
		return;
	entry = shm_ring__room(worker->shm_ring, kind, sizeof(told) + text_size, 0);
	if (!entry) {
		worker->behind = true;
		return;
	}
	memcpy(entry->data, &told, sizeof(told));
	memcpy((char *)entry->data + sizeof(told), text, text_size);
	shm_ring__push(worker->shm_ring);
	wake_child(worker);
}

void unwind_worker__tell(struct unwind_worker *worker, const struct task_event *event)
{
	switch (event->kind) {
	case TASK_EVENT_MMAP:
		tell(worker, SHM_RING_EVENT, event, event->map.path);
		break;
	case TASK_EVENT_EXEC:
		tell(worker, SHM_RING_EVENT, event, event->comm);
		break;
	case TASK_EVENT_FORK:
	case TASK_EVENT_EXIT:
		tell(worker, SHM_RING_EVENT, event, "");
		break;
	default: /* of no use for unwinding */
		break;
	}
}

void unwind_worker__forget(struct unwind_worker *worker, uint64_t before)
{
	const struct task_event event = { .time = before };

	tell(worker, SHM_RING_FORGET, &event, "");
}

/* Drops the events before the oldest sample: a new child knows all events in the ring. */
static void drop_events(struct unwind_worker *worker)
{
	const struct waiter *oldest = waiting__oldest(&worker->waiting);
	bool done;

	while (shm_ring__oldest(worker->shm_ring, &done) &&
	       (!oldest || shm_ring__oldest_position(worker->shm_ring) < oldest->position))
		shm_ring__pop(worker->shm_ring);
}

/* Deletes the child; its CPU time stays in the account. */
static void drop_child(struct unwind_worker *worker)
{
	worker->stats.gone_ns += cpu_of_child(worker);
	child__delete(worker->child);
	worker->child = NULL;
}

/* Notes that no process could be made, which may last for a moment only. */
static int note_refusal(struct unwind_worker *worker, uint64_t now, int err)
{
	worker->stats.refused++;
	worker->retry_ns = now + RETRY_MS * NSEC_PER_MSEC;
	if (!worker->refused_ns)
		worker->refused_ns = now;
	if (!worker->told_refusal)
		pr_warn("no process can be made to unwind user stacks (%s): until one can, they "
			"are unwound by frame pointers; raise `ulimit -u` or the tasks limit of "
			"the cgroup",
			strerror(-err));
	worker->told_refusal = true;
	return -EAGAIN;
}

static int refuse_for_failures(struct unwind_worker *worker)
{
	if (!worker->told_pause)
		pr_warn("the process that unwinds user stacks got stuck or died %" PRIu64
			" times: for some seconds, and whenever this happens again, they are "
			"unwound by frame pointers",
			worker->stats.restarts);
	worker->told_pause = true;
	return -ESHUTDOWN;
}

/* Makes a child if there is none, or if the current one missed an event. */
static int ready_child(struct unwind_worker *worker)
{
	uint64_t now;
	int err;

	if (worker->behind)
		drop_child(worker);
	if (worker->child)
		return 0;
	now = clock__now_ns();
	if (now < worker->retry_ns)
		return -EAGAIN;
	if (!blame__may_go_on(&worker->blame, now))
		return refuse_for_failures(worker);
	drop_events(worker);
	err = unwind_worker__start(worker);
	if (err)
		return note_refusal(worker, now, err);
	worker->refused_ns = 0;
	return 0;
}

/* True if files of the process's user keep killing or blocking the child, to spare other users. */
static bool is_left_alone(const struct unwind_worker *worker, pid_t pid)
{
	uint64_t now = clock__now_ns();

	return blame__any_user(&worker->blame, now) &&
	       blame__is_left_alone(&worker->blame, now, owner__of_process(pid));
}

/* The entry is visible to the child only when its cookie is noted: by the caller. */
static int put_entry(struct unwind_worker *worker, const struct unwind_sample *sample,
		     uint32_t max_frames, void *cookie)
{
	size_t answer_at = protocol__answer_at(sample->stack_bytes);
	size_t bytes = answer_at + sizeof(struct protocol_answer) + max_frames * sizeof(uint64_t);
	struct protocol_sample *out;
	struct shm_ring_entry *entry;
	struct waiter waiter = { .cookie = cookie, .answer_at = answer_at,
				 .max_frames = max_frames, .pid = sample->pid };

	if (waiting__reserve(&worker->waiting))
		return -ENOMEM;
	entry = shm_ring__room(worker->shm_ring, SHM_RING_SAMPLE, bytes,
			       worker->options.max_bytes / EVENT_SHARE);
	if (!entry)
		return -ENOSPC;
	out = (void *)entry->data;
	*out = (struct protocol_sample){ .pid = sample->pid,
					 .max_frames = max_frames,
					 .time = sample->time,
					 .stack_bytes = sample->stack_bytes,
					 .regs = sample->regs };
	memcpy(out + 1, sample->stack, sample->stack_bytes);
	waiter.position = shm_ring__newest_position(worker->shm_ring);
	return waiting__add(&worker->waiting, &waiter);
}

int unwind_worker__put(struct unwind_worker *worker, const struct unwind_sample *sample,
		       void *cookie)
{
	uint32_t max_frames = sample->max_frames;
	int err = is_left_alone(worker, sample->pid) ? -ESHUTDOWN : ready_child(worker);

	if (!max_frames || max_frames > UNWIND_MAX_FRAMES)
		max_frames = UNWIND_MAX_FRAMES;
	if (!unwind_worker__pending(worker))
		note_progress(worker);
	if (!err)
		err = put_entry(worker, sample, max_frames, cookie);
	if (err) {
		worker->stats.full++;
		return err;
	}
	shm_ring__push(worker->shm_ring);
	wake_child(worker);
	return 0;
}

/* Returns the oldest sample to the caller. answer: in the ring; NULL: none. */
static int give(struct unwind_worker *worker, const struct protocol_answer *answer)
{
	const struct waiter waiter = waiting__take(&worker->waiting);
	struct unwind_result result = { .status = UNWIND_FAILED };

	if (answer && answer->status < UNWIND_NR_STATUS && answer->nr <= waiter.max_frames)
		result = (struct unwind_result){ answer->status, answer->nr, answer->ips };
	worker->stats.status[result.status]++;
	return worker->fn(worker->ctx, waiter.cookie, &result);
}

/* Removes the oldest entry, with its sample if it is one. */
static int take_oldest(struct unwind_worker *worker, bool done)
{
	const uint64_t position = shm_ring__oldest_position(worker->shm_ring);
	const struct waiter *oldest = waiting__oldest(&worker->waiting);
	const struct protocol_answer *answer = NULL;
	int err = 0;

	if (oldest && oldest->position == position) {
		if (done)
			answer = shm_ring__data(worker->shm_ring, oldest->answer_at,
						sizeof(*answer) +
							oldest->max_frames * sizeof(uint64_t));
		err = give(worker, answer);
	}
	shm_ring__pop(worker->shm_ring);
	/* Samples whose entries are lost, as only a broken child can make them. */
	while (!err && (oldest = waiting__oldest(&worker->waiting)) &&
	       oldest->position < shm_ring__oldest_position(worker->shm_ring))
		err = give(worker, NULL);
	return err;
}

static int take_results(struct unwind_worker *worker, size_t *nr)
{
	size_t before = unwind_worker__pending(worker);
	char bytes[64];
	bool done;
	int err = 0;

	if (worker->child) {
		while (recv(worker->bell, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
			;
		shm_ring__reset_bell(worker->shm_ring);
	}
	while (!err && shm_ring__oldest(worker->shm_ring, &done) && done)
		err = take_oldest(worker, true);
	*nr = before - unwind_worker__pending(worker);
	return err;
}

/*
 * SIGKILL comes from outside, for example from a kernel that lacks memory. The sample's process may
 * have ended; then its user is not known.
 */
static void blame_for(struct unwind_worker *worker, uint64_t file, bool stuck, int signal)
{
	const struct waiter *oldest = waiting__oldest(&worker->waiting);
	uint32_t uid = oldest ? owner__of_process(oldest->pid) : UINT32_MAX;

	if (!stuck && signal == SIGKILL)
		file = 0;
	blame__add(&worker->blame, clock__now_ns(), file, uid, stuck);
}

/*
 * The child is dead or is killed now. Its current entry is returned as failed; the rest waits for
 * the next child, which is made on demand.
 */
static int replace_child(struct unwind_worker *worker, bool stuck)
{
	uint64_t file = *shm_ring__place(worker->shm_ring);
	int err, signal = stuck ? 0 : child__signal(worker->child);
	size_t nr;
	bool done;

	drop_child(worker);
	worker->stats.restarts++;
	pr_verbose("the process that unwinds %s: a new one continues",
		   stuck ? "got stuck" : "died");
	err = take_results(worker, &nr);
	blame_for(worker, file, stuck, signal);
	while (!err && shm_ring__oldest(worker->shm_ring, &done) &&
	       unwind_worker__pending(worker)) {
		bool was_sample = waiting__oldest(&worker->waiting)->position ==
				  shm_ring__oldest_position(worker->shm_ring);

		err = take_oldest(worker, false);
		if (was_sample)
			break;
	}
	return err;
}

static bool is_stuck(struct unwind_worker *worker)
{
	uint64_t patience = (uint64_t)worker->options.deadline_ms * NSEC_PER_MSEC;
	uint64_t waited, cpu;

	if (!unwind_worker__pending(worker) ||
	    shm_ring__nr_done(worker->shm_ring) != worker->nr_done) {
		note_progress(worker);
		return false;
	}
	waited = clock__now_ns() - worker->progress_ns;
	if (waited <= patience)
		return false;
	cpu = cpu_of_child(worker);
	return waited > STARVING_TIMES * patience ||
	       cpu > worker->progress_cpu + BUSY_TIMES * patience ||
	       !child__is_runnable(worker->child);
}

/* Makes a child for pending samples; if that fails for some time, they are returned as failed. */
static int ready_for_pending(struct unwind_worker *worker)
{
	int err = ready_child(worker);

	if (err == -EAGAIN && clock__now_ns() < worker->refused_ns + MOST_RETRY_NS)
		return 0;
	return err == -EAGAIN || err == -ESHUTDOWN ? unwind_worker__abandon(worker) : err;
}

static int look_after_child(struct unwind_worker *worker)
{
	struct child_message message;
	int err = 0;

	if (worker->child && child__receive(worker->child, 0, &message) != -ETIMEDOUT)
		err = replace_child(worker, false);
	else if (worker->child && is_stuck(worker))
		err = replace_child(worker, true);
	if (!err && (worker->behind || !worker->child) && unwind_worker__pending(worker))
		err = ready_for_pending(worker);
	return err;
}

int unwind_worker__poll(struct unwind_worker *worker, int timeout_ms)
{
	struct pollfd bell = { .fd = worker->bell, .events = POLLIN };
	size_t nr;
	int err = take_results(worker, &nr);

	if (!err && !nr && timeout_ms && unwind_worker__pending(worker)) {
		if (timeout_ms > worker->options.deadline_ms)
			timeout_ms = worker->options.deadline_ms;
		/* Without a child nothing rings the bell. */
		if (!worker->child && timeout_ms > RETRY_MS)
			timeout_ms = RETRY_MS;
		poll(&bell, worker->child ? 1 : 0, timeout_ms);
		err = take_results(worker, &nr);
	}
	return err ? err : look_after_child(worker);
}

int unwind_worker__abandon(struct unwind_worker *worker)
{
	size_t nr;
	int err, ret;

	drop_child(worker);
	err = take_results(worker, &nr);
	while (unwind_worker__pending(worker)) {
		ret = give(worker, NULL);
		err = err ? err : ret;
	}
	shm_ring__empty(worker->shm_ring);
	return err;
}

void unwind_worker__stats(const struct unwind_worker *worker, struct unwind_worker_stats *stats)
{
	*stats = worker->stats;
	stats->cpu_ns = stats->gone_ns + cpu_of_child(worker);
}
