/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <perf/cpumap.h>
#include <perf/evlist.h>
#include <perf/evsel.h>
#include <perf/event.h>
#include <perf/mmap.h>
#include <perf/threadmap.h>
#include <perf/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/capture.h"

struct rings {
	struct perf_evlist *evlist;
	struct perf_cpu_map *cpus;
	struct perf_thread_map *threads;
	struct perf_evsel *sideband;
	size_t nr;
	unsigned int *cpu; /* nr of them */
	int *fd;	   /* of the BPF output event on that CPU; owned by its evsel */
	struct pollfd *polls; /* nr + 1 */
};

static int print_libperf(enum libperf_print_level level, const char *format, va_list args)
{
	(void)level;
	log__vprint(LOG_DEBUG, format, args);
	return 0;
}

static void explain_open(int err)
{
	if (err == -EACCES || err == -EPERM)
		pr_err("no right to open perf events on all CPUs: run as root, with CAP_PERFMON, "
		       "or set kernel.perf_event_paranoid to -1");
	else if (err == -EMFILE)
		pr_err("no descriptors left for the perf rings: raise `ulimit -n`");
	else
		pr_err("cannot open the perf events: %s", strerror(-err));
}

/* The side band: one event on every CPU, for all processes, filtered later. */
static struct perf_evsel *new_sideband(uint32_t pages)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = CAPTURE_SIDEBAND_SAMPLE_TYPE,
		.disabled = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = pages * (uint32_t)sysconf(_SC_PAGESIZE) / 2,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return perf_evsel__new(&attr);
}

static struct perf_evsel *new_output(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
		.watermark = 1,
		.wakeup_watermark = 1U << 30,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return perf_evsel__new(&attr);
}

/*
 * libperf keeps its descriptors to itself, but BPF needs them in a map. A new descriptor
 * is always the lowest free one: so that one is found before, and proved to be a perf
 * event after.
 */
static int next_fd(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return fd;
}

static int open_output(struct rings *rings, size_t index)
{
	struct perf_cpu_map *one;
	struct perf_evsel *evsel;
	char name[16];
	uint64_t id;
	int fd, err;

	snprintf(name, sizeof(name), "%u", rings->cpu[index]);
	one = perf_cpu_map__new(name);
	evsel = one ? new_output() : NULL;
	if (!evsel) {
		perf_cpu_map__put(one);
		return -ENOMEM;
	}
	perf_evlist__add(rings->evlist, evsel);
	fd = next_fd();
	err = fd < 0 ? fd : perf_evsel__open(evsel, one, rings->threads);
	if (!err && ioctl(fd, PERF_EVENT_IOC_ID, &id))
		err = -EBADF;
	perf_cpu_map__put(one);
	rings->fd[index] = fd;
	return err;
}

static int open_all(struct rings *rings, uint32_t pages)
{
	int err;

	rings->sideband = new_sideband(pages);
	if (!rings->sideband)
		return -ENOMEM;
	perf_evlist__add(rings->evlist, rings->sideband);
	err = perf_evsel__open(rings->sideband, rings->cpus, rings->threads);
	for (size_t i = 0; i < rings->nr && !err; i++)
		err = open_output(rings, i);
	if (err)
		explain_open(err);
	return err;
}

static int map_all(struct rings *rings, uint32_t pages)
{
	int err;

	perf_evlist__set_maps(rings->evlist, rings->cpus, rings->threads);
	err = perf_evlist__mmap(rings->evlist, (int)pages);
	if (!err)
		return 0;
	/* libperf says -1 and leaves the reason in errno. */
	err = errno ? -errno : -ENOMEM;
	if (err == -EPERM)
		pr_err("no right to lock %u pages a CPU for the rings: use fewer (-m), raise "
		       "`ulimit -l` or kernel.perf_event_mlock_kb, or run with CAP_IPC_LOCK", pages);
	else
		pr_err("cannot map rings of %u pages a CPU: %s", pages, strerror(-err));
	return err;
}

static int allocate(struct rings *rings)
{
	rings->cpus = perf_cpu_map__new(NULL);
	rings->threads = perf_thread_map__new_dummy();
	rings->evlist = perf_evlist__new();
	if (!rings->cpus || !rings->threads || !rings->evlist)
		return -ENOMEM;
	perf_thread_map__set_pid(rings->threads, 0, -1);
	rings->nr = (size_t)perf_cpu_map__nr(rings->cpus);
	rings->cpu = calloc(rings->nr, sizeof(*rings->cpu));
	rings->fd = calloc(rings->nr, sizeof(*rings->fd));
	rings->polls = calloc(rings->nr + 1, sizeof(*rings->polls));
	if (!rings->cpu || !rings->fd || !rings->polls)
		return -ENOMEM;
	for (size_t i = 0; i < rings->nr; i++)
		rings->cpu[i] = (unsigned int)perf_cpu_map__cpu(rings->cpus, (int)i).cpu;
	return 0;
}

struct rings *rings__new(uint32_t pages, int *err)
{
	struct rings *rings = calloc(1, sizeof(*rings));

	libperf_init(print_libperf);
	*err = rings ? allocate(rings) : -ENOMEM;
	if (!*err)
		*err = open_all(rings, pages);
	if (!*err)
		*err = map_all(rings, pages);
	if (*err) {
		rings__delete(rings);
		return NULL;
	}
	return rings;
}

void rings__delete(struct rings *rings)
{
	if (!rings)
		return;
	if (rings->evlist) {
		perf_evlist__munmap(rings->evlist);
		perf_evlist__close(rings->evlist);
		perf_evlist__delete(rings->evlist);
	}
	perf_cpu_map__put(rings->cpus);
	perf_thread_map__put(rings->threads);
	free(rings->cpu);
	free(rings->fd);
	free(rings->polls);
	free(rings);
}

size_t rings__count(const struct rings *rings)
{
	return rings->nr;
}

unsigned int rings__cpu(const struct rings *rings, size_t index)
{
	return rings->cpu[index];
}

int rings__fd(const struct rings *rings, size_t index)
{
	return rings->fd[index];
}

int rings__enable(struct rings *rings)
{
	return perf_evsel__enable(rings->sideband) ? -errno : 0;
}

static int read_ring(struct perf_mmap *map, unsigned int cpu, rings_fn fn, void *ctx)
{
	union perf_event *event;
	int nr = 0, err = 0;

	if (perf_mmap__read_init(map) < 0)
		return 0;
	while (!err && (event = perf_mmap__read_event(map)) != NULL) {
		err = fn(ctx, event, event->header.size, cpu);
		perf_mmap__consume(map);
		nr++;
	}
	perf_mmap__read_done(map);
	return err ? err : nr;
}

int rings__read(struct rings *rings, rings_fn fn, void *ctx)
{
	struct perf_mmap *map;
	size_t index = 0;
	int total = 0, nr;

	perf_evlist__for_each_mmap(rings->evlist, map, false) {
		nr = read_ring(map, rings->cpu[index < rings->nr ? index : rings->nr - 1], fn, ctx);
		if (nr < 0)
			return nr;
		total += nr;
		index++;
	}
	return total;
}

int rings__wait(struct rings *rings, int timeout_ms, int extra_fd)
{
	for (size_t i = 0; i < rings->nr; i++)
		rings->polls[i] = (struct pollfd){ .fd = rings->fd[i], .events = POLLIN };
	rings->polls[rings->nr] = (struct pollfd){ .fd = extra_fd, .events = POLLIN };
	return poll(rings->polls, rings->nr + 1, timeout_ms) < 0 ? -errno : 0;
}
