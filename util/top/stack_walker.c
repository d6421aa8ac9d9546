/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/stack_walker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/units.h"
#include "cfi/cfi_walk.h"
#include "host/user_address.h"
#include "machine/machine.h"
#include "machine/mapped_file.h"
#include "synth/synth.h"
#include "top/file_tables.h"

/* Of a stack, read at once. */
#define PIECE 4096
/* Processes whose mappings are read at once, and for how long. */
#define SPACES 64
#define SPACES_MS 100
/*
 * When a walk comes to an address without a mapping, the process's mappings are read again if they
 * are at least so old. That may be in vain, as in a program that switches stacks, so that the time
 * doubles. Frame pointers often lead to such addresses: they get the longest time, after which
 * mappings are read again in any case.
 */
#define AGAIN_NS NSEC_PER_SEC
#define AGAIN_MOST_NS (60 * NSEC_PER_SEC)
/* More processes and mappings than these are forgotten all at once. */
#define MAX_BYTES (32UL << 20)
#define MAX_SPACES 65536

/* When a process's mappings were read, and when they are read again; the machine has them. */
struct space {
	pid_t tid;	  /* a thread of it that lives: its leader may have ended before it */
	bool is_wanted;	  /* they are to be read */
	uint64_t read;	  /* when they were; 0: they were not yet */
	uint64_t pause;	  /* after which they are read again */
	uint64_t program; /* user_request.program */
};

struct stack_walker {
	bool by_tables;
	uint64_t mask;
	struct machine *machine;
	struct idmap numbers; /* pid -> number in spaces, plus 1 */
	struct buffer spaces; /* struct space */
	struct buffer wanted; /* pid_t */
	struct file_tables *tables;
};

/* One walk. */
struct walk {
	struct stack_walker *walker;
	const struct user_request *request;
	struct space *space;	 /* NULL: tables are not wanted, or no memory */
	const struct maps *maps; /* NULL: not known */
	uint64_t now;
	uint64_t base; /* the piece of the stack that was read last */
	size_t len;
	char piece[PIECE];
};

struct stack_walker *stack_walker__new(bool tables)
{
	struct stack_walker *walker = calloc(1, sizeof(*walker));

	if (!walker)
		return NULL;
	walker->mask = user_address__mask();
#ifdef __x86_64__
	walker->by_tables = tables;
#else
	(void)tables; /* there are none yet */
#endif
	if (!walker->by_tables)
		return walker;
	walker->machine = machine__new();
	walker->tables = file_tables__new();
	if (walker->machine && walker->tables)
		return walker;
	stack_walker__delete(walker);
	return NULL;
}

void stack_walker__delete(struct stack_walker *walker)
{
	if (!walker)
		return;
	file_tables__delete(walker->tables);
	machine__delete(walker->machine);
	idmap__free(&walker->numbers);
	buffer__free(&walker->spaces);
	buffer__free(&walker->wanted);
	free(walker);
}

/* The piece is read from where it is needed on: walks go upwards. */
static bool read_stack(void *ctx, uint64_t address, void *to, size_t size)
{
	struct walk *walk = ctx;
	uint64_t at = address - walk->base;

	if (at > walk->len || walk->len - at < size) {
		const struct iovec local = { walk->piece, PIECE };
		const struct iovec remote = { (void *)(uintptr_t)address, PIECE };
		ssize_t len = process_vm_readv(walk->request->tid, &local, 1, &remote, 1, 0);

		walk->base = address;
		walk->len = len < 0 ? 0 : (size_t)len;
		at = 0;
		if (walk->len < size)
			return false;
	}
	memcpy(to, walk->piece + at, size);
	return true;
}

static uint32_t find_rule(void *ctx, uint64_t pc, struct cfi_wide *wide)
{
	const struct walk *walk = ctx;
	const struct maps_entry *map = maps__find(walk->maps, walk->now, pc);

	if (!map)
		return CFI_WALK_NO_CODE;
	return file_tables__rule(walk->walker->tables, walk->request->tid, map, pc, wide);
}

/* The space of a process; valid until another one is met. NULL: no memory. */
static struct space *find_space(struct stack_walker *walker, pid_t pid)
{
	const struct space none = { .pause = AGAIN_NS };
	uint64_t *number = idmap__get(&walker->numbers, (uint32_t)pid);

	if (!number)
		return NULL;
	if (!*number) {
		if (buffer__append(&walker->spaces, &none, sizeof(none)))
			return NULL;
		*number = walker->spaces.len / sizeof(none);
	}
	return (struct space *)(void *)walker->spaces.data + *number - 1;
}

/* Has the mappings read. False: no memory. */
static bool want_space(struct stack_walker *walker, struct space *space,
		       const struct user_request *request)
{
	space->tid = request->tid;
	if (!space->is_wanted)
		space->is_wanted = !buffer__append(&walker->wanted, &request->pid,
						   sizeof(request->pid));
	return space->is_wanted;
}

/* Whether the mappings of the walk's process are to be read first. */
static bool lacks_space(struct walk *walk)
{
	const struct user_request *request = walk->request;
	struct space *space = walk->space;

	if (space->program != request->program)
		*space = (struct space){ .program = request->program, .pause = AGAIN_NS,
					 .is_wanted = space->is_wanted };
	return !space->read && want_space(walk->walker, space, request);
}

/* Whether the walk met an address without a mapping, and the thread was seen after the reading. */
static bool has_old_space(const struct walk *walk, const struct cfi_walk_result *result)
{
	return (result->no_code || !walk->maps) && walk->space->read < walk->request->time;
}

/* Whether they are to be read again, before the walk is any good. */
static bool wants_space(struct walk *walk, const struct cfi_walk_result *result)
{
	struct space *space = walk->space;
	uint64_t pause = result->guessed ? AGAIN_MOST_NS : space->pause;

	if (!has_old_space(walk, result) || walk->now - space->read < pause ||
	    !want_space(walk->walker, space, walk->request))
		return false;
	if (space->pause < AGAIN_MOST_NS)
		space->pause *= 2;
	return true;
}

/* Where a library was, another one may be. */
static void refresh_old(struct walk *walk)
{
	if (walk->now - walk->space->read >= AGAIN_MOST_NS)
		want_space(walk->walker, walk->space, walk->request);
}

/* Whether mappings that are read in future may show more. */
static enum user_stack_again may_become_whole(const struct walk *walk,
					      const struct cfi_walk_result *result)
{
	if (!walk->space || result->guessed || !has_old_space(walk, result))
		return USER_STACK_WHOLE;
	return walk->space->pause < AGAIN_MOST_NS ? USER_STACK_SOON : USER_STACK_LATER;
}

static const struct maps *maps_of(const struct stack_walker *walker, pid_t pid, uint64_t now)
{
	const struct process *process = machine__process(walker->machine, pid);
	const struct maps *maps = process ? process__maps_at(process, now) : NULL;

	return maps && maps__nr_living(maps) ? maps : NULL;
}

uint32_t stack_walker__walk(struct stack_walker *walker, const struct user_request *request,
			    bool last, struct user_stack *stack)
{
	struct walk walk = { .walker = walker, .request = request, .now = clock__now_ns() };
	struct cfi_walk by = { .regs = request->regs, .mask = walker->mask,
			       .max_frames = CAPTURE_MAX_FRAMES, .read = read_stack,
			       .ctx = &walk };
	struct cfi_walk_result result;
	bool lacks;

	if (walker->by_tables)
		walk.space = find_space(walker, request->pid);
	lacks = walk.space && lacks_space(&walk);
	if (lacks && !last)
		return 0;
	if (walk.space)
		walk.maps = maps_of(walker, request->pid, walk.now);
	by.rule = walk.maps ? find_rule : NULL;
	result = cfi_walk__run(&by, stack->ips);
	if (walk.space && !lacks) {
		lacks = wants_space(&walk, &result);
		refresh_old(&walk);
	}
	if ((lacks || result.missing) && !last)
		return 0;
	stack->again = lacks || result.missing || result.later ?
			       USER_STACK_SOON :
			       may_become_whole(&walk, &result);
	return result.nr;
}

/* Mappings are being read. */
struct reading {
	struct stack_walker *walker;
	pid_t pids[SPACES];
	pid_t tids[SPACES]; /* by which they are read */
	bool answered[SPACES];
	size_t nr;
	uint64_t time;
};

/* The process has answered: what it had mapped is over. */
static int begin_space(struct reading *reading, size_t i)
{
	const struct task_event over = { .kind = TASK_EVENT_EXEC, .pid = reading->pids[i],
					 .tid = reading->pids[i], .time = reading->time,
					 .comm = "" };
	int ret = reading->answered[i] ? 0 : machine__handle(reading->walker->machine, &over);

	reading->answered[i] = true;
	return ret < 0 ? ret : 0;
}

static int take_map(void *ctx, const struct task_event *event)
{
	struct reading *reading = ctx;
	struct task_event own = *event;
	size_t i = 0;
	int ret;

	while (i < reading->nr && reading->tids[i] != event->pid)
		i++;
	if (i == reading->nr)
		return 0;
	ret = begin_space(reading, i);
	if (ret)
		return ret;
	own.pid = own.tid = reading->pids[i];
	own.time = reading->time;
	ret = machine__handle(reading->walker->machine, &own);
	return ret < 0 ? ret : 0;
}

/* True: what walks have asked for is forgotten, too. */
static bool forget_many(struct stack_walker *walker)
{
	struct machine *machine;

	if (machine__bytes(walker->machine) < MAX_BYTES &&
	    walker->spaces.len / sizeof(struct space) < MAX_SPACES)
		return false;
	machine = machine__new();
	if (!machine)
		return false;
	machine__delete(walker->machine);
	walker->machine = machine;
	idmap__clear(&walker->numbers);
	walker->spaces.len = walker->wanted.len = 0;
	return true;
}

static void take_wanted(struct stack_walker *walker, struct reading *reading)
{
	const pid_t *wanted = (const void *)walker->wanted.data;
	size_t nr = walker->wanted.len / sizeof(*wanted);

	if (nr > SPACES)
		nr = SPACES;
	for (size_t i = 0; i < nr; i++) {
		struct space *space = find_space(walker, wanted[i]);

		if (!space)
			continue;
		space->is_wanted = false;
		reading->pids[reading->nr] = wanted[i];
		reading->tids[reading->nr++] = space->tid;
	}
	buffer__consume(&walker->wanted, nr * sizeof(*wanted));
}

/* Files may be others than those that are known by the same names and numbers. */
static void check_files(struct stack_walker *walker, pid_t pid, pid_t tid)
{
	const struct maps *maps = maps_of(walker, pid, clock__now_ns());

	for (size_t i = 0; maps && i < maps__nr_living(maps); i++)
		file_tables__check(walker->tables, tid, maps__living(maps, i));
}

/*
 * A process that did not answer in time is asked again; one whose mappings cannot be read, or that
 * is gone, when they are old.
 */
static void end_space(struct stack_walker *walker, const struct reading *reading, size_t i,
		      bool is_slow)
{
	struct space *space = find_space(walker, reading->pids[i]);

	if (reading->answered[i])
		check_files(walker, reading->pids[i], reading->tids[i]);
	if (space && (reading->answered[i] || !is_slow))
		space->read = reading->time;
}

static void read_spaces(struct stack_walker *walker)
{
	struct reading reading = { .walker = walker };
	struct synth_result result = { 0 };
	int err;

	take_wanted(walker, &reading);
	reading.time = clock__now_ns();
	err = synth__maps(reading.tids, reading.nr, SPACES_MS, take_map, &reading, &result);
	for (size_t i = 0; i < reading.nr; i++)
		end_space(walker, &reading, i,
			  err || result.missed || result.not_asked || result.no_process);
	machine__forget(walker->machine, reading.time);
}

bool stack_walker__learn(struct stack_walker *walker, uint64_t until_ns)
{
	if (!walker->by_tables)
		return false;
	if (forget_many(walker))
		return true;
	if (!walker->wanted.len)
		return file_tables__make(walker->tables, until_ns);
	read_spaces(walker);
	return true;
}

void stack_walker__refresh(struct stack_walker *walker)
{
	if (walker->by_tables && walker->wanted.len)
		read_spaces(walker);
}
