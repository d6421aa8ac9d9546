/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_WRITER_H
#define DENET_OUTPUT_PERFDATA_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample.h"

/*
 * Writes a perf.data file (seekable, or the pipe variant). The exact bytes are told in
 * Documentation/format.txt. Records are buffered and flushed by writer__flush(); after
 * each flush the header's data.size covers exactly what is in the file, so that a file
 * whose writer was killed opens in perf.
 */
struct writer;

/* Ids of the events in the file; fixed, since a reader may have learnt them. */
enum writer_event {
	WRITER_OFFCPU_TIME = 1, /* "offcpu-time"; in every file, the first one */
	WRITER_OFFCPU_IDLE = 2, /* "offcpu-idle": threads that never ran in the recording */
	WRITER_RUNQUEUE_TIME = 3, /* "runqueue-time": woken or preempted, waiting for a CPU */
	WRITER_WAKEUP_TIME = 4, /* "wakeup-time": of wakers, the time that they ended */
	WRITER_SAMPLING = 33,   /* "denet:sampling": see writer__trace() */
	WRITER_OFFCPU_WAIT = 34, /* "denet:offcpu_wait": what a sample of offcpu-time waited for */
};

struct writer_options {
	const char *path; /* "-": the pipe variant on stdout */
	uint64_t events;  /* bits 1 << enum writer_event of those besides offcpu-time */
	/*
	 * Those of tracepoints that may come: a file has them only if they did. One that is in
	 * neither may be written, too; but a file that is never finished cannot then be read.
	 */
	uint64_t perhaps;
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
struct writer_trace {
	uint64_t time;
	uint64_t period; /* by which readers weigh it; 0: not at all */
	uint32_t pid, tid, cpu;
	const void *fields;
	size_t size;
};
int writer__trace(struct writer *writer, enum writer_event event, const struct writer_trace *trace);

/* The fields of WRITER_SAMPLING: how coarse the samples are from now on, and why. */
struct writer_sampling {
	uint64_t old_period_ns; /* 0: all blocks counted */
	uint64_t new_period_ns; /* of blocks below both, one is drawn for so much time */
	uint64_t old_threshold_ns;
	uint64_t new_threshold_ns;
	uint32_t max_rate; /* samples a second that may be; 0: that was not the reason */
	uint32_t bpf_ppm;  /* millionths of the busiest CPU */
	uint32_t own_ppm;  /* millionths of a CPU, over all of them */
	uint32_t limit_ppm; /* of both together; 0: cost was not the reason */
	char text[80];	   /* the reason in words, ends in a NUL */
};

/* The fields of WRITER_OFFCPU_WAIT; strings end in a NUL. */
struct writer_wait {
	uint64_t ns;
	uint64_t blocks;
	int32_t nr; /* of the system call; -1: in none */
	char state[4];
	uint64_t args[6];
	uint64_t futex; /* its address; 0: none */
	uint64_t inode;
	char name[32]; /* of the system call */
	char kind[16]; /* "syscall", "page-fault" or "none" */
	char device[16];
	char path[256];
	char local[56];
	char remote[56];
	char text[384]; /* all of it in words */
};

/*
 * A record of the kernel's side band, which ends in a sample_id of {u32 pid, tid; u64
 * time; u32 cpu, res; u64 id}: the id is replaced by ours. -EINVAL if it is too short or
 * its size field lies.
 */
int writer__sideband(struct writer *writer, const void *event, size_t size);

/* Records made by us, with a sample_id of time 0 so that they sort first. */
int writer__comm(struct writer *writer, uint32_t pid, uint32_t tid, const char *comm);
int writer__fork(struct writer *writer, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid);

struct writer_mmap {
	uint32_t pid;
	uint32_t tid;
	uint64_t start;
	uint64_t len;
	uint64_t pgoff;
	uint32_t maj, min;
	uint64_t ino;
	uint64_t ino_generation;
	uint32_t prot, flags; /* as mmap(2) */
	const char *path;     /* any bytes; cut at PATH_MAX - 1 */
	bool executable;
};
int writer__mmap2(struct writer *writer, const struct writer_mmap *map);

/* PERF_RECORD_MMAP of pid -1 in kernel mode: the kernel itself and its modules. */
int writer__kernel_mmap(struct writer *writer, uint64_t start, uint64_t len, uint64_t pgoff,
			const char *name);

/* CGROUP record: the path below its hierarchy for an id. */
int writer__cgroup(struct writer *writer, uint64_t id, const char *path);

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

/* Samples written so far. */
uint64_t writer__samples(const struct writer *writer);

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
