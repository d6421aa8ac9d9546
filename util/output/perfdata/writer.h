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
 * Writes a perf.data file (seekable, or the pipe variant); Documentation/format.txt has the exact
 * bytes. Records are buffered and flushed by writer__flush(); after each flush the header's
 * data.size covers exactly the data in the file, so that perf opens a file whose writer was killed.
 */
struct writer;
struct tracepoint_list; /* host/tracepoint.h */

struct writer_options {
	const char *path; /* "-": the pipe variant on stdout */
	uint64_t events;  /* bits 1 << enum writer_event, besides offcpu-time */
	/*
	 * Events that are in the file only if there are samples of them. Samples of tracepoints in
	 * neither set are allowed, too; but readers refuse such a file if it is never finished.
	 */
	uint64_t perhaps;
	/*
	 * All time goes to one event, wall-time, whose chains begin with its kind (time_kind.h).
	 * There are no other events: events, perhaps and stack_bytes are 0.
	 */
	bool one_event;
	const char *event_name; /* of the one event; NULL: wall-time */
	/* The kernel's, for writer__hit(); borrowed until writer__close(). */
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

/* Writes a sample of the event. -EINVAL if the file was not made with it. */
int writer__sample(struct writer *writer, enum writer_event event, const struct sample *sample);

/*
 * Writes a sample of one of our tracepoints (attrs__late_kind()): fields are the size bytes of the
 * event's table entry without the common ones. -EINVAL for another size.
 */
int writer__trace(struct writer *writer, enum writer_event event, const struct writer_trace *trace);

/*
 * Writes a hit of a tracepoint of writer_options.tracepoints, with the sample's time, thread, CPU
 * and cgroup, and the kernel's data. -EINVAL if no tracepoint has this id.
 */
int writer__hit(struct writer *writer, uint16_t id, const struct sample *sample, const void *data,
		size_t size);

/*
 * Writes an event of a task, a cgroup or the kernel's mappings: the kernel's record, under an id of
 * ours, or one made from the event (encode__task_event()). Readers sort those of time 0 first.
 * -EINVAL if there is no such record; the file goes on.
 */
int writer__task_event(struct writer *writer, const struct task_event *event);

/* Writes that so many records of a CPU's ring were lost by that time. 0 or a negative errno. */
int writer__lost(struct writer *writer, uint64_t records, uint64_t time, uint32_t cpu);

/* Tells readers that they may sort what was written before. 0 or a negative errno. */
int writer__finished_round(struct writer *writer);

/*
 * A build-id for the BUILD_ID feature, 1 to 20 bytes, of the kernel or a module or of a
 * user file; each file once. -EINVAL if len is wrong.
 */
int writer__build_id(struct writer *writer, bool kernel, const char *path, const unsigned char *id,
		     size_t len);

/* Writes the buffer and updates data.size. */
int writer__flush(struct writer *writer);

/* Bytes in the file or pipe so far, buffered ones included. */
uint64_t writer__bytes(const struct writer *writer);

/*
 * Sets a note for readers on the whole recording so far, in less than 96 characters: it is appended
 * to the version, which `perf report --header` shows. A pipe has sent its version by then.
 */
void writer__note(struct writer *writer, const char *note);

/* The user wants an end: limits the wait for the reader of a pipe to 2 s. */
void writer__hurry(struct writer *writer);

/* True if the file has not been removed or renamed. */
bool writer__has_name(const struct writer *writer);

/*
 * Flushes, writes the features, closes, frees. 0 or the first error of the file's life;
 * after an error the file holds all whole records up to it. Accepts NULL.
 */
int writer__close(struct writer *writer);

/*
 * Frees, and restores the state before writer__new(): for a recording that turns out to have no
 * object. Data sent to a pipe stays there. Accepts NULL.
 */
void writer__discard(struct writer *writer);

#endif /* DENET_OUTPUT_PERFDATA_WRITER_H */
