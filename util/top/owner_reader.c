/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/owner_reader.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "host/lock_owner.h"
#include "host/pidns.h"
#include "host/thread_switches.h"

/* More than this is forgotten all at once. */
#define MAX_WAITS 65536
/* New threads get into the table of ids so late at most. */
#define AGAIN_NS NSEC_PER_SEC
/* A batch that takes longer than a quarter of a second would be taken for one that hangs. */
#define MOST_SEARCH_NS (50 * NSEC_PER_MSEC)
#define MOST_THREADS 4096

/* Who holds a lock, by an id of the waiting process's PID namespace. */
struct owner {
	uint32_t id; /* 0: not known */
	bool shared; /* it may be of another process */
};

static uint64_t key_of(uint64_t a, uint64_t b)
{
	uint64_t key = idmap__mix(idmap__mix(1, a), b);

	return key == IDMAP_NONE ? 0 : key;
}

/*
 * Who held the lock before the look, and holds it after it, held it at the look. Else the wait must
 * be the one that was seen.
 */
static struct owner read_memory(struct owner_reader *reader, const struct user_request *request)
{
	uint64_t *last = idmap__get(&reader->waits,
				    key_of((uint64_t)request->tid, request->switches));
	struct owner owner = { 0 };

	if (!last)
		return owner;
	owner.id = lock_owner__read(request->pid, request->address, request->wait, &owner.shared);
	if (owner.id && owner.id != *last &&
	    thread_switches__read(request->pid, request->tid) != request->switches)
		owner.id = 0;
	*last = owner.id;
	return owner;
}

struct table {
	struct owner_reader *reader;
	pid_t pid;
	uint32_t nr;
};

static int note_thread(void *ctx, pid_t tid, pid_t inner)
{
	struct table *table = ctx;
	uint64_t *value = idmap__get(&table->reader->inner,
				     key_of((uint64_t)table->pid, (uint64_t)inner));

	if (value)
		*value = (uint64_t)tid;
	return ++table->nr == MOST_THREADS;
}

static void search(struct owner_reader *reader, pid_t pid)
{
	struct table table = { .reader = reader, .pid = pid };
	uint64_t *scanned, begin = clock__now_ns();

	if (reader->searched_ns >= MOST_SEARCH_NS)
		return;
	scanned = idmap__get(&reader->scanned, (uint32_t)pid);
	if (!scanned || (*scanned)++)
		return;
	pidns__each_thread(pid, note_thread, &table);
	reader->searched_ns += clock__now_ns() - begin;
}

/* Threads of other processes are not looked for. */
static uint32_t find_inner(struct owner_reader *reader, pid_t pid, uint32_t id)
{
	uint64_t key = key_of((uint64_t)pid, id), *tid = idmap__find(&reader->inner, key);

	if (!tid) {
		search(reader, pid);
		tid = idmap__find(&reader->inner, key);
	}
	return tid ? (uint32_t)*tid : 0;
}

static bool is_there(pid_t pid, uint32_t tid, bool shared)
{
	char path[64];

	if (shared)
		snprintf(path, sizeof(path), "/proc/%u/comm", tid);
	else
		snprintf(path, sizeof(path), "/proc/%d/task/%u", pid, tid);
	return !access(path, F_OK);
}

void owner_reader__begin(struct owner_reader *reader)
{
	uint64_t now = clock__now_ns();

	reader->searched_ns = 0;
	if (reader->waits.used > MAX_WAITS)
		idmap__clear(&reader->waits);
	if (now < reader->forget)
		return;
	reader->forget = now + AGAIN_NS;
	idmap__clear(&reader->inner);
	idmap__clear(&reader->scanned);
}

uint32_t owner_reader__read(struct owner_reader *reader, const struct user_request *request)
{
	struct owner owner = read_memory(reader, request);
	uint32_t tid;

	if (!owner.id)
		owner = (struct owner){ request->tracked, request->tracked_shared };
	tid = owner.id;
	if (tid && request->inner_pids)
		tid = find_inner(reader, request->pid, tid);
	return tid && is_there(request->pid, tid, owner.shared) ? tid : 0;
}

void owner_reader__free(struct owner_reader *reader)
{
	idmap__free(&reader->waits);
	idmap__free(&reader->inner);
	idmap__free(&reader->scanned);
}
