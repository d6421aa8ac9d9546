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

/* One CPU's ring: an evlist of its own, so that each can come and go by itself. */
struct ring {
	struct perf_evlist *evlist;
	struct perf_cpu_map *cpus; /* of that one CPU */
	struct perf_evsel *sideband;
	unsigned int cpu;
	int fd; /* of the event that BPF writes to; owned by its evsel */
};

struct rings {
	struct perf_thread_map *threads;
	struct ring *ring;
	size_t nr;
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
static struct perf_evsel *new_sideband(uint32_t pages, bool cgroups)
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
		.cgroup = cgroups,
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

static int open_ring(struct ring *ring, struct perf_thread_map *threads, uint32_t pages,
		     bool cgroups)
{
	struct perf_evsel *output;
	uint64_t id;
	int err;

	ring->sideband = new_sideband(pages, cgroups);
	if (!ring->sideband)
		return -ENOMEM;
	perf_evlist__add(ring->evlist, ring->sideband);
	output = new_output();
	if (!output)
		return -ENOMEM;
	perf_evlist__add(ring->evlist, output);
	perf_evlist__set_maps(ring->evlist, ring->cpus, threads);
	err = perf_evsel__open(ring->sideband, ring->cpus, threads);
	if (err)
		return err;
	ring->fd = next_fd();
	if (ring->fd < 0)
		return ring->fd;
	err = perf_evsel__open(output, ring->cpus, threads);
	return !err && ioctl(ring->fd, PERF_EVENT_IOC_ID, &id) ? -EBADF : err;
}

static int map_ring(struct ring *ring, uint32_t pages)
{
	int err = perf_evlist__mmap(ring->evlist, (int)pages);

	if (!err)
		return 0;
	/* libperf says -1 and leaves the reason in errno. */
	err = errno ? -errno : -ENOMEM;
	if (err == -EPERM)
		pr_err("no right to lock %u pages a CPU for the rings: use fewer (-m), raise "
		       "`ulimit -l` or kernel.perf_event_mlock_kb, or run with CAP_IPC_LOCK",
		       pages);
	else
		pr_err("cannot map rings of %u pages a CPU: %s", pages, strerror(-err));
	return err;
}

static int new_ring(struct ring *ring, struct perf_thread_map *threads, uint32_t pages,
		    bool cgroups)
{
	char name[16];
	int err;

	snprintf(name, sizeof(name), "%u", ring->cpu);
	ring->cpus = perf_cpu_map__new(name);
	ring->evlist = perf_evlist__new();
	if (!ring->cpus || !ring->evlist)
		return -ENOMEM;
	err = open_ring(ring, threads, pages, cgroups);
	if (err) {
		explain_open(err);
		return err;
	}
	return map_ring(ring, pages);
}

static void delete_ring(struct ring *ring)
{
	if (ring->evlist) {
		perf_evlist__munmap(ring->evlist);
		perf_evlist__close(ring->evlist);
		/* An evsel's delete forgets its references; without maps it has none. */
		perf_evlist__set_maps(ring->evlist, NULL, NULL);
		perf_evlist__delete(ring->evlist);
	}
	perf_cpu_map__put(ring->cpus);
}

static int allocate(struct rings *rings)
{
	struct perf_cpu_map *online = perf_cpu_map__new(NULL);

	rings->threads = perf_thread_map__new_dummy();
	if (!online || !rings->threads)
		return -ENOMEM;
	perf_thread_map__set_pid(rings->threads, 0, -1);
	rings->nr = (size_t)perf_cpu_map__nr(online);
	rings->ring = calloc(rings->nr, sizeof(*rings->ring));
	rings->polls = calloc(rings->nr + 1, sizeof(*rings->polls));
	for (size_t i = 0; rings->ring && i < rings->nr; i++)
		rings->ring[i].cpu = (unsigned int)perf_cpu_map__cpu(online, (int)i).cpu;
	perf_cpu_map__put(online);
	return rings->ring && rings->polls ? 0 : -ENOMEM;
}

struct rings *rings__new(uint32_t pages, bool cgroups, int *err)
{
	struct rings *rings = calloc(1, sizeof(*rings));

	libperf_init(print_libperf);
	*err = rings ? allocate(rings) : -ENOMEM;
	for (size_t i = 0; !*err && i < rings->nr; i++)
		*err = new_ring(&rings->ring[i], rings->threads, pages, cgroups);
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
	for (size_t i = 0; rings->ring && i < rings->nr; i++)
		delete_ring(&rings->ring[i]);
	perf_thread_map__put(rings->threads);
	free(rings->ring);
	free(rings->polls);
	free(rings);
}

size_t rings__count(const struct rings *rings)
{
	return rings->nr;
}

unsigned int rings__cpu(const struct rings *rings, size_t index)
{
	return rings->ring[index].cpu;
}

int rings__fd(const struct rings *rings, size_t index)
{
	return rings->ring[index].fd;
}

int rings__enable(struct rings *rings)
{
	for (size_t i = 0; i < rings->nr; i++) {
		if (perf_evsel__enable(rings->ring[i].sideband))
			return -errno;
	}
	return 0;
}

static int read_ring(const struct ring *ring, rings_fn fn, void *ctx)
{
	struct perf_mmap *map = perf_evlist__next_mmap(ring->evlist, NULL, false);
	union perf_event *event;
	int nr = 0, err = 0;

	if (!map || perf_mmap__read_init(map) < 0)
		return 0;
	while (!err && (event = perf_mmap__read_event(map)) != NULL) {
		err = fn(ctx, event, event->header.size, ring->cpu);
		perf_mmap__consume(map);
		nr++;
	}
	/*
	 * No perf_mmap__read_done(): it is meant for overwritten rings and moves the reading
	 * position to the head, past records that came after the last look.
	 */
	return err ? err : nr;
}

int rings__read(struct rings *rings, rings_fn fn, void *ctx)
{
	int total = 0, nr;

	for (size_t i = 0; i < rings->nr; i++) {
		nr = read_ring(&rings->ring[i], fn, ctx);
		if (nr < 0)
			return nr;
		total += nr;
	}
	return total;
}

int rings__wait(struct rings *rings, int timeout_ms, int extra_fd)
{
	for (size_t i = 0; i < rings->nr; i++)
		rings->polls[i] = (struct pollfd){ .fd = rings->ring[i].fd, .events = POLLIN };
	rings->polls[rings->nr] = (struct pollfd){ .fd = extra_fd, .events = POLLIN };
	return poll(rings->polls, rings->nr + 1, timeout_ms) < 0 ? -errno : 0;
}
