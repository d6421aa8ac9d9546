/* SPDX-License-Identifier: GPL-2.0-only */
#include "machine/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"

/* Objects that may end before machine__wants_forget(). */
#define MAX_PAST 8192
#define MAX_PAST_BYTES (MAP_STORE_MAX_BYTES / 4)
/* Names kept of one thread; older ones are dropped. */
#define MAX_COMMS 16

struct machine {
	struct idmap by_pid; /* to the latest struct process of each pid */
	struct idmap by_tid; /* to the latest struct thread of each tid */
	struct map_store store;
	struct task_map *kernel;
	size_t nr_kernel;
	struct process *aging; /* processes with parts that have ended and are still kept */
	uint64_t bytes;	       /* without those of the store */
	size_t past;	       /* threads, programs and names that have ended */
	size_t past_kept;      /* of these, those that the last machine__forget() left */
	uint64_t bytes_kept;   /* machine__bytes() then */
};

struct machine *machine__new(void)
{
	return calloc(1, sizeof(struct machine));
}

static void *find(const struct idmap *map, pid_t id)
{
	const uint64_t *value = idmap__find(map, (uint32_t)id);

	return value ? (void *)(uintptr_t)*value : NULL;
}

static int set(struct idmap *map, pid_t id, const void *what)
{
	uint64_t *value = what ? idmap__get(map, (uint32_t)id) : NULL;

	if (value)
		*value = (uintptr_t)what;
	else
		idmap__remove(map, (uint32_t)id);
	return value ? 0 : -ENOMEM;
}

struct process *machine__process(const struct machine *machine, pid_t pid)
{
	return find(&machine->by_pid, pid);
}

struct process *machine__process_at(const struct machine *machine, pid_t pid, uint64_t time)
{
	struct process *process = find(&machine->by_pid, pid);

	while (process && process->before && process->born > time)
		process = process->before;
	return process;
}

struct thread *machine__thread(const struct machine *machine, pid_t tid)
{
	return find(&machine->by_tid, tid);
}

struct thread *machine__thread_at(const struct machine *machine, pid_t tid, uint64_t time)
{
	struct thread *thread = find(&machine->by_tid, tid);

	while (thread && thread->before && thread->born > time)
		thread = thread->before;
	return thread;
}

const char *thread__comm_at(const struct thread *thread, uint64_t time)
{
	const struct comm *comm = thread->comm;

	while (comm && comm->before && comm->since > time)
		comm = comm->before;
	return comm ? comm->name : NULL;
}

const struct maps *process__maps_at(const struct process *process, uint64_t time)
{
	return process ? address_space__at(&process->space, time) : NULL;
}

bool process__lives(const struct process *process)
{
	return process && process->died == UINT64_MAX;
}

/* Lists a process, parts of which have ended, for machine__forget(). */
static void age(struct machine *machine, struct process *process)
{
	if (process->aging)
		return;
	process->aging = true;
	process->next_aging = machine->aging;
	machine->aging = process;
}

static struct process *new_process(struct machine *machine, pid_t pid, uint64_t time)
{
	struct process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->before = machine__process(machine, pid);
	if (set(&machine->by_pid, pid, process)) {
		free(process);
		return NULL;
	}
	process->pid = pid;
	process->born = time;
	process->died = UINT64_MAX;
	machine->bytes += sizeof(*process);
	return process;
}

static struct process *get_process(struct machine *machine, pid_t pid)
{
	struct process *process = machine__process(machine, pid);

	return process ? process : new_process(machine, pid, 0);
}

static bool lives(const struct thread *thread)
{
	return thread && thread->died == UINT64_MAX;
}

static void end_thread(struct machine *machine, struct thread *thread, uint64_t time)
{
	struct process *process = thread->process;

	thread->died = time;
	if (!--process->nr_threads)
		process->died = time;
	age(machine, process);
	machine->past++;
}

/* Ends all threads but one, which may be NULL. */
static void end_threads(struct machine *machine, const struct process *process,
			const struct thread *but, uint64_t time)
{
	for (struct thread *thread = process->threads; thread; thread = thread->next) {
		if (thread != but && lives(thread))
			end_thread(machine, thread, time);
	}
}

static struct thread *new_thread(struct machine *machine, struct process *process, pid_t tid,
				 uint64_t time)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	thread->before = machine__thread(machine, tid);
	if (set(&machine->by_tid, tid, thread)) {
		free(thread);
		return NULL;
	}
	/* The end of the tid's former thread was missed. */
	if (lives(thread->before))
		end_thread(machine, thread->before, time);
	thread->tid = tid;
	thread->born = time;
	thread->died = UINT64_MAX;
	thread->process = process;
	thread->next = process->threads;
	process->threads = thread;
	process->nr_threads++;
	process->died = UINT64_MAX;
	machine->bytes += sizeof(*thread);
	return thread;
}

static struct thread *get_thread(struct machine *machine, struct process *process, pid_t tid,
				 uint64_t time)
{
	struct thread *thread = machine__thread(machine, tid);

	if (lives(thread) && thread->process == process)
		return thread;
	return new_thread(machine, process, tid, time);
}

/* Frees the names from *at on. Returns their number. */
static size_t free_comms(struct machine *machine, struct comm **at)
{
	struct comm *comm;
	size_t nr = 0;

	while ((comm = *at)) {
		*at = comm->before;
		free(comm);
		machine->bytes -= sizeof(*comm);
		nr++;
	}
	return nr;
}

/* Returns how many names were dropped. */
static size_t limit_comms(struct machine *machine, struct thread *thread)
{
	struct comm **at = &thread->comm;

	for (int i = 0; *at && i < MAX_COMMS; i++)
		at = &(*at)->before;
	return free_comms(machine, at);
}

static int set_comm(struct machine *machine, struct thread *thread, const char *name,
		    uint64_t time)
{
	struct comm *comm = thread->comm;

	if (comm && !strcmp(comm->name, name))
		return 0;
	if (!comm || comm->since < time) {
		comm = calloc(1, sizeof(*comm));
		if (!comm)
			return -ENOMEM;
		comm->since = time;
		comm->before = thread->comm;
		thread->comm = comm;
		machine->bytes += sizeof(*comm);
	}
	snprintf(comm->name, sizeof(comm->name), "%s", name);
	if (comm->before) {
		age(machine, thread->process);
		/* Dropped names don't count: a loop of renames would end window after window. */
		if (!limit_comms(machine, thread))
			machine->past++;
	}
	return 0;
}

/* A new thread inherits the name of the thread that made it. */
static int inherit_comm(struct machine *machine, struct thread *thread,
			const struct task_event *event)
{
	const struct thread *parent = machine__thread(machine, event->ptid);

	thread->ptid = event->ptid;
	if (!event->time || !parent || parent == thread || !parent->comm ||
	    thread->process->left_out)
		return 0;
	return set_comm(machine, thread, parent->comm->name, event->time);
}

static int handle_new_thread(struct machine *machine, const struct task_event *event)
{
	struct process *process = get_process(machine, event->pid);
	struct thread *thread = machine__thread(machine, event->tid);

	if (!process)
		return -ENOMEM;
	/* The task iterator may have reported it as well. */
	if (!lives(thread) || thread->process != process || (thread->born && event->time))
		thread = new_thread(machine, process, event->tid, event->time);
	return thread ? inherit_comm(machine, thread, event) : -ENOMEM;
}

static int inherit(struct machine *machine, struct process *process, uint64_t time)
{
	static const struct address_space none = { 0 };
	const struct process *parent = machine__process_at(machine, process->parent, time);

	if (!parent)
		return address_space__begin(&process->space, &machine->store, &none, time);
	process->left_out = parent->left_out;
	process->wanted = parent->wanted;
	process->floods = parent->floods;
	process->fp_quality = parent->fp_quality;
	process->view = parent->view;
	process->eldest = parent->eldest;
	return address_space__begin(&process->space, &machine->store, &parent->space, time);
}

/* A process that still has the pid has ended, even if its end was missed. */
static int handle_new_process(struct machine *machine, const struct task_event *event)
{
	struct process *process = machine__process(machine, event->pid);
	struct thread *thread;
	int err = 0;

	if (!process || event->time) {
		if (process)
			end_threads(machine, process, NULL, event->time);
		process = new_process(machine, event->pid, event->time);
	}
	if (!process)
		return -ENOMEM;
	process->parent = event->ppid;
	if (event->time) {
		process->alive = event->time;
		err = inherit(machine, process, event->time);
	}
	thread = err ? NULL : get_thread(machine, process, event->tid, event->time);
	return thread ? inherit_comm(machine, thread, event) : -ENOMEM;
}

static void handle_exit(struct machine *machine, const struct task_event *event)
{
	struct process *process = machine__process(machine, event->pid);
	struct thread *thread = machine__thread(machine, event->tid);

	if (lives(thread)) {
		end_thread(machine, thread, event->time);
	} else if (process__lives(process) && !process->nr_threads && event->pid == event->tid) {
		process->died = event->time;
		age(machine, process);
		machine->past++;
	}
}

static int handle_comm(struct machine *machine, const struct task_event *event)
{
	struct process *process = get_process(machine, event->pid);
	struct thread *thread;

	thread = process ? get_thread(machine, process, event->tid, event->time) : NULL;
	return thread ? set_comm(machine, thread, event->comm, event->time) : -ENOMEM;
}

/* An exec ends all threads but the calling one, which gets the id of the first one. */
static int handle_exec(struct machine *machine, const struct task_event *event)
{
	struct process *process = get_process(machine, event->pid);
	int err;

	if (!process)
		return -ENOMEM;
	end_threads(machine, process, machine__thread(machine, event->pid), event->time);
	err = handle_comm(machine, event);
	if (err)
		return err;
	if (process->view == MACHINE_VIEW_OURS)
		process->view = MACHINE_VIEW_UNKNOWN;
	machine->past++;
	age(machine, process);
	return address_space__begin(&process->space, &machine->store, NULL, event->time);
}

static int handle_mmap(struct machine *machine, const struct task_event *event)
{
	struct process *process;
	int ret;

	if (event->map.data)
		return 0;
	process = machine__process_at(machine, event->pid, event->time);
	if (!process)
		process = new_process(machine, event->pid, 0);
	if (!process)
		return -ENOMEM;
	ret = address_space__map(&process->space, &machine->store, event->pid, &event->map,
				 event->time);
	if (!ret)
		age(machine, process);
	return ret;
}

static int handle_kernel_mmap(struct machine *machine, const struct task_event *event)
{
	struct task_map *kernel, map = event->map;

	map.path = strdup(map.path);
	kernel = map.path ? reallocarray(machine->kernel, machine->nr_kernel + 1, sizeof(map))
			  : NULL;
	if (!kernel) {
		free((char *)(uintptr_t)map.path);
		return -ENOMEM;
	}
	kernel[machine->nr_kernel++] = map;
	machine->kernel = kernel;
	return 0;
}

int machine__handle(struct machine *machine, const struct task_event *event)
{
	switch (event->kind) {
	case TASK_EVENT_FORK:
		return event->pid == event->ppid ? handle_new_thread(machine, event)
						 : handle_new_process(machine, event);
	case TASK_EVENT_EXIT:
		handle_exit(machine, event);
		return 0;
	case TASK_EVENT_EXEC:
		return handle_exec(machine, event);
	case TASK_EVENT_COMM:
		return handle_comm(machine, event);
	case TASK_EVENT_MMAP:
		return handle_mmap(machine, event);
	case TASK_EVENT_KERNEL_MMAP:
		return handle_kernel_mmap(machine, event);
	case TASK_EVENT_CGROUP:
		return 0;
	}
	return 0;
}

static void free_thread(struct machine *machine, struct thread *thread)
{
	free_comms(machine, &thread->comm);
	free(thread);
	machine->bytes -= sizeof(*thread);
}

static void free_process(struct machine *machine, struct process *process)
{
	address_space__free(&process->space, &machine->store);
	free(process);
	machine->bytes -= sizeof(*process);
}

/* Removes a thread from the list of those that had its tid. */
static void forget_thread(struct machine *machine, struct thread *thread)
{
	struct thread *latest = machine__thread(machine, thread->tid), **at = &latest;

	while (*at != thread)
		at = &(*at)->before;
	*at = thread->before;
	if (machine__thread(machine, thread->tid) == thread)
		set(&machine->by_tid, thread->tid, latest);
	free_thread(machine, thread);
}

static void forget_process(struct machine *machine, struct process *process)
{
	struct process *latest = machine__process(machine, process->pid), **at = &latest;

	while (*at != process)
		at = &(*at)->before;
	*at = process->before;
	if (machine__process(machine, process->pid) == process)
		set(&machine->by_pid, process->pid, latest);
	free_process(machine, process);
}

/* Returns the number of past names that are kept. */
static size_t forget_comms(struct machine *machine, struct thread *thread, uint64_t before)
{
	struct comm *comm = thread->comm;
	size_t left = 0;

	for (; comm && comm->since > before; comm = comm->before)
		left += comm->before != NULL;
	if (comm)
		free_comms(machine, &comm->before);
	return left;
}

/* perf finds a process's names and maps by its first thread, which is kept as long as that. */
static bool is_over(const struct thread *thread, uint64_t before)
{
	const struct process *process = thread->process;

	return thread->died <= before && (thread->tid != process->pid || process->died <= before);
}

/* Returns the number of past threads and names that are kept. */
static size_t forget_threads(struct machine *machine, struct process *process, uint64_t before)
{
	struct thread **at = &process->threads, *thread;
	size_t left = 0;

	while ((thread = *at)) {
		if (is_over(thread, before)) {
			*at = thread->next;
			forget_thread(machine, thread);
			continue;
		}
		left += forget_comms(machine, thread, before) + !lives(thread);
		at = &thread->next;
	}
	return left;
}

void machine__forget(struct machine *machine, uint64_t before)
{
	struct process **at = &machine->aging, *process;
	size_t left;

	machine->past = 0;
	while ((process = *at)) {
		left = forget_threads(machine, process, before);
		/* Nobody asks for the mappings of a process that had ended by then. */
		if (address_space__forget(&process->space, &machine->store, before))
			left += process->died > before;
		left += !process__lives(process) && process->died > before;
		machine->past += left;
		if (left) {
			at = &process->next_aging;
			continue;
		}
		*at = process->next_aging;
		process->aging = false;
		if (!process__lives(process))
			forget_process(machine, process);
	}
	mapped_files__sweep(&machine->store.files);
	machine->past_kept = machine->past;
	machine->bytes_kept = machine__bytes(machine);
}

bool machine__wants_forget(const struct machine *machine)
{
	return machine->past >= machine->past_kept + MAX_PAST ||
	       machine__bytes(machine) >= machine->bytes_kept + MAX_PAST_BYTES;
}

static int compare_slots(const void *a, const void *b)
{
	const struct idmap_slot *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* The slots of a map by ascending ids, for the caller to free; NULL: no memory. */
static struct idmap_slot *sort(const struct idmap *map)
{
	struct idmap_slot *slots = calloc(map->used + 1, sizeof(*slots));
	size_t nr = 0;

	if (!slots)
		return NULL;
	for (size_t i = 0; i < map->capacity; i++) {
		if (map->slots[i].id != IDMAP_NONE)
			slots[nr++] = map->slots[i];
	}
	qsort(slots, nr, sizeof(*slots), compare_slots);
	return slots;
}

int machine__each_thread(const struct machine *machine,
			 int (*fn)(void *ctx, const struct thread *thread), void *ctx)
{
	struct idmap_slot *slots = sort(&machine->by_tid);
	int err = slots ? 0 : -ENOMEM;

	for (size_t i = 0; i < machine->by_tid.used && !err; i++)
		err = fn(ctx, (const void *)(uintptr_t)slots[i].value);
	free(slots);
	return err;
}

int machine__each_process(const struct machine *machine,
			  int (*fn)(void *ctx, const struct process *process), void *ctx)
{
	struct idmap_slot *slots = sort(&machine->by_pid);
	int err = slots ? 0 : -ENOMEM;

	for (size_t i = 0; i < machine->by_pid.used && !err; i++)
		err = fn(ctx, (const void *)(uintptr_t)slots[i].value);
	free(slots);
	return err;
}

const struct task_map *machine__kernel_maps(const struct machine *machine, size_t *nr)
{
	*nr = machine->nr_kernel;
	return machine->kernel;
}

uint64_t machine__refused(const struct machine *machine)
{
	return machine->store.refused;
}

uint64_t machine__bytes(const struct machine *machine)
{
	return machine->bytes + map_store__bytes(&machine->store);
}

/* Frees a process and all former ones of its pid. */
static void free_processes(struct machine *machine, struct process *process)
{
	struct process *before;

	for (; process; process = before) {
		before = process->before;
		while (process->threads) {
			struct thread *thread = process->threads;

			process->threads = thread->next;
			free_thread(machine, thread);
		}
		free_process(machine, process);
	}
}

void machine__delete(struct machine *machine)
{
	const struct idmap *map;

	if (!machine)
		return;
	map = &machine->by_pid;
	for (size_t i = 0; i < map->capacity; i++) {
		if (map->slots[i].id != IDMAP_NONE)
			free_processes(machine, (void *)(uintptr_t)map->slots[i].value);
	}
	idmap__free(&machine->by_pid);
	idmap__free(&machine->by_tid);
	mapped_files__free(&machine->store.files);
	for (size_t i = 0; i < machine->nr_kernel; i++)
		free((char *)(uintptr_t)machine->kernel[i].path);
	free(machine->kernel);
	free(machine);
}
