/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/perf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/units.h"
#include "output/perfdata/writer.h"
#include "synth/synth.h"

/* Names of more threads are written again. */
#define MAX_THREADS 65536

struct perf_file {
	struct writer *writer;
	struct idmap comms;   /* of threads that the file has: a hash over the name */
	uint64_t time;	      /* of the pass */
};

static int tell_kernel_map(void *ctx, uint64_t start, uint64_t len, uint64_t pgoff,
			   const char *name)
{
	const struct task_event event = {
		.kind = TASK_EVENT_KERNEL_MMAP,
		.pid = -1,
		.map = { .start = start, .len = len, .pgoff = pgoff, .path = name },
	};
	struct perf_file *file = ctx;

	return writer__task_event(file->writer, &event);
}

struct perf_file *perf_file__open(const struct perf_file_options *options,
				  const struct top_names *names, int *err)
{
	const struct writer_options writer = {
		.path = options->path,
		.one_event = true,
		.event_name = "thread-state",
		.argc = options->argc,
		.argv = options->argv,
		.version = "denet " DENET_VERSION,
	};
	struct perf_file *file = calloc(1, sizeof(*file));

	*err = -ENOMEM;
	if (!file)
		return NULL;
	file->writer = writer__new(&writer, err);
	/* Where its addresses are hidden, frames of the kernel have no names. */
	if (file->writer && names->kallsyms && !kallsyms__hidden(names->kallsyms))
		*err = synth__kernel(kallsyms__bounds(names->kallsyms), tell_kernel_map, file);
	if (file->writer && (!*err || *err == -ENODATA))
		return file;
	perf_file__close(file);
	return NULL;
}

void perf_file__begin(struct perf_file *file, const struct top_pass *pass)
{
	file->time = pass->time;
}

int perf_file__map(void *ctx, const struct task_event *event)
{
	struct task_event at = *event;
	struct perf_file *file = ctx;

	at.time = file->time;
	return writer__task_event(file->writer, &at);
}

int perf_file__close(struct perf_file *file)
{
	int err;

	if (!file)
		return 0;
	err = writer__close(file->writer);
	idmap__free(&file->comms);
	free(file);
	return err;
}

static uint64_t hash_name(const char *name)
{
	uint64_t hash = 1;

	for (; *name; name++)
		hash = idmap__mix(hash, (unsigned char)*name);
	return hash | 1;
}

/* A thread is named before its first sample, and whenever its name is another one. */
static int tell_name(struct perf_file *file, const struct thread_sample *sample)
{
	const struct task_event event = {
		.kind = TASK_EVENT_COMM,
		.pid = (pid_t)sample->pid,
		.tid = (pid_t)sample->tid,
		.time = file->time,
		.comm = sample->comm,
	};
	uint64_t key = idmap__mix(sample->tid, sample->start), name = hash_name(sample->comm);
	uint64_t *told;

	if (file->comms.used >= MAX_THREADS)
		idmap__clear(&file->comms);
	told = idmap__get(&file->comms, key == IDMAP_NONE ? 0 : key);
	if (!told)
		return -ENOMEM;
	if (*told == name)
		return 0;
	*told = name;
	return writer__task_event(file->writer, &event);
}

static char letter_of(enum top_wire_state state)
{
	static const char letters[TOP_WIRE_STATES] = {
		[TOP_WIRE_RUN] = 'R',	 [TOP_WIRE_RUNQ] = 'R',	   [TOP_WIRE_SLEEP] = 'S',
		[TOP_WIRE_DISK] = 'D',	 [TOP_WIRE_IDLE] = 'I',	   [TOP_WIRE_STOPPED] = 'T',
		[TOP_WIRE_TRACED] = 't', [TOP_WIRE_PARKED] = 'P',
	};

	return letters[state] ? letters[state] : '?';
}

/* The frame that begins the chain tells them apart. */
static enum writer_event event_of(const struct thread_sample *sample)
{
	if (sample->state == TOP_WIRE_RUN)
		return WRITER_ONCPU_TIME;
	if (sample->state == TOP_WIRE_RUNQ)
		return WRITER_RUNQUEUE_TIME;
	return sample->idle ? WRITER_OFFCPU_IDLE : WRITER_OFFCPU_TIME;
}

int perf_file__add(struct perf_file *file, const struct top_pass *pass,
		   const struct thread_sample *sample)
{
	const struct sample written = {
		.kind = sample->state == TOP_WIRE_RUN ? SAMPLE_ONCPU : SAMPLE_OFFCPU,
		.time = file->time,
		.period = pass->stacks_ns,
		.measured = pass->stacks_ns,
		.count = 1,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.state = letter_of(sample->state),
		.kthread = sample->kthread,
		.kernel = sample->kernel,
		.user = sample->user,
	};
	int err;

	/* Chains in some samples alone would be no shares; and the dead spend no time. */
	if (!pass->has_stacks || sample->state == TOP_WIRE_DEAD || sample->state == TOP_WIRE_ZOMBIE)
		return 0;
	err = tell_name(file, sample);
	return err ? err : writer__sample(file->writer, event_of(sample), &written);
}

int perf_file__flush(struct perf_file *file)
{
	int err = writer__finished_round(file->writer);

	return err ? err : writer__flush(file->writer);
}
