/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_WRITER_H
#define DENET_OUTPUT_PERFDATA_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/task_event.h"
#include "output/perfdata/records.h"
#include "sample.h"

/*
 * Writes a perf.data file (seekable, or the pipe variant). The exact bytes are told in
 * Documentation/format.txt. Records are buffered and flushed by writer__flush(); after
 * each flush the header's data.size covers exactly what is in the file, so that a file
 * whose writer was killed opens in perf.
 */
struct writer;
struct tracepoint_list; /* host/tracepoint.h */

struct writer_options {
	const char *path; /* "-": the pipe variant on stdout */
	uint64_t events;  /* bits 1 << enum writer_event of those besides offcpu-time */
	/*
	 * Events that are in the file only if there are samples of them. A tracepoint in neither
	 * set may be written, too; but a file that is never finished cannot then be read.
	 */
	uint64_t perhaps;
	/*
	 * All time goes to one event, wall-time, whose chains begin with its kind (time_kind.h).
	 * There are no others: events and perhaps are 0, and so are stack_bytes.
	 */
	bool one_event;
	/* Of the kernel, whose hits writer__hit() takes; borrowed until writer__close(). */
	const struct tracepoint_list *tracepoints;
	bool cgroups;     /* samples carry PERF_SAMPLE_CGROUP */
	/* Samples carry user registers and stacks of at most so many bytes, a multiple of 8, for
	 * perf to unwind; 0: they don't. */
	uint32_t stack_bytes;
	int argc;         /* CMDLINE feature */
	const char *const *argv;
	const char *version; /* VERSION feature */
};

/*
 * Creates the file with mode 0600 (an existing one becomes PATH.old; never through a
 * symbolic link), writes header, attrs, ids and the EVENT_UPDATE records that name the
 * events. A FIFO, a character device and /dev/stdout get the pipe variant. argv and
 * version are borrowed until writer__close(). The process ignores SIGPIPE and SIGXFSZ,
 * so that they are errors here. NULL on error, *err is set and the cause is logged with
 * its remedy.
 */
struct writer *writer__new(const struct writer_options *options, int *err);

/* A sample of the event. -EINVAL if the file was not made with it. */
int writer__sample(struct writer *writer, enum writer_event event, const struct sample *sample);

/*
 * A sample of one of our tracepoints (attrs__late_kinds()): fields are size bytes, those of
 * the event's table entry without the common ones. -EINVAL if that is not their size.
 */
int writer__trace(struct writer *writer, enum writer_event event, const struct writer_trace *trace);

/*
 * A hit of a tracepoint of writer_options.tracepoints, of which sample tells time, thread, CPU and
 * cgroup, with the data that the kernel gave. -EINVAL if no tracepoint has this id.
 */
int writer__hit(struct writer *writer, uint16_t id, const struct sample *sample, const void *data,
		size_t size);

/*
 * What happens to a task, a cgroup or the kernel's mappings: the record that the event was decoded
 * from, under an id of ours, or one made of it (encode__task_event()). One of time 0 sorts first.
 * -EINVAL if there is no such record; the file goes on.
 */
int writer__task_event(struct writer *writer, const struct task_event *event);

int writer__lost(struct writer *writer, uint64_t records, uint64_t time, uint32_t cpu);
int writer__finished_round(struct writer *writer);

/*
 * A build-id for the BUILD_ID feature, 1 to 20 bytes, of the kernel or a module or of a
 * user file; each file once. The format has no place for pid. -EINVAL if len is wrong.
 */
int writer__build_id(struct writer *writer, bool kernel, uint32_t pid, const char *path,
		     const unsigned char *id, size_t len);

/* Writes what is buffered and rewrites data.size. */
int writer__flush(struct writer *writer);

/* Bytes in the file or pipe so far, buffered ones included. */
uint64_t writer__bytes(const struct writer *writer);

/*
 * What readers are to know of the whole recording so far, in less than 96 characters: it is told
 * behind the version, which `perf report --header` shows. A pipe has told its version by then.
 */
void writer__note(struct writer *writer, const char *note);

/* The user wants an end: a reader of a pipe that takes nothing is waited for no more than 2 s. */
void writer__hurry(struct writer *writer);

/* Whether the file still has its name: nobody has removed or renamed it. */
bool writer__has_name(const struct writer *writer);

/*
 * Flushes, writes the features, closes, frees. 0 or the first error of the file's life;
 * after an error the file holds all whole records up to it. Accepts NULL.
 */
int writer__close(struct writer *writer);

/*
 * Frees, and leaves everything as it was before writer__new(): for a recording that turns
 * out to have no object. What went into a pipe stays there. Accepts NULL.
 */
void writer__discard(struct writer *writer);

#endif /* DENET_OUTPUT_PERFDATA_WRITER_H */
