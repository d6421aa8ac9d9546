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
#include "host/cpu_watch.h"
#include "host/resume_watch.h"
#include "host/capabilities.h"

/* perf_event_mlock_kb allows this much to every user, unless it was lowered. */
#define RINGS_MIN_PAGES 8
/* Descriptors polled besides the rings. */
#define OTHER_POLLS 5
/* The clock of a live event advances between two of so many reads. */
#define CLOCK_LOOKS 100

/* One CPU's ring: an evlist of its own, so that rings can be added and removed one by one. */
struct ring {
	struct perf_evlist *evlist;
	struct perf_cpu_map *cpus; /* of that one CPU */
	struct perf_evsel *events[RING_EVENTS];
	uint64_t ids[RING_EVENTS];
	int fds[RING_EVENTS]; /* owned by the events; -1: not open */
	unsigned int cpu;
	bool gone; /* its CPU went offline: the kernel has removed the events from it for good */
	bool read; /* and all of its contents have been read */
};

struct rings {
	struct perf_thread_map *threads;
	struct ring *ring;
	size_t nr;
	struct pollfd *polls; /* nr + OTHER_POLLS */
	uint32_t pages;
	uint32_t wake_bytes; /* 0: half of a ring */
	int bell_fd;  /* negative: none, or it has rung */
	int other_fd; /* another one that ends a wait; negative: none */
	bool data_maps; /* the side band includes data mappings */
	int watch_fd; /* negative: only the list of CPUs shows changes */
	int resume_fd; /* negative: the end of a suspend is not announced */
	bool enabled;
	bool refused; /* it has been reported that a CPU has no ring */
};

__attribute__((format(printf, 2, 0)))
static int print_libperf(enum libperf_print_level level, const char *format, va_list args)
{
	(void)level;
	log__vprint(LOG_DEBUG, format, args);
	return 0;
}

static void explain_open(int err)
{
	struct capabilities rights;

	capabilities__read(&rights);
	if ((err == -EACCES || err == -EPERM) && rights.has[CAPABILITY_PERFMON])
		pr_err("perf_event_open(2) is denied by %s, although this process has "
		       "CAP_PERFMON; run outside of the sandbox, or allow the call there",
		       rights.seccomp ? "a seccomp filter" : "a security module");
	else if (err == -EACCES || err == -EPERM)
		pr_err("no permission to open perf events on all CPUs: run as root, with "
		       "CAP_PERFMON, or set kernel.perf_event_paranoid to -1");
	else if (err == -EMFILE)
		pr_err("no descriptors left for the perf rings: raise `ulimit -n`");
	else
		pr_err("cannot open the perf events: %s", strerror(-err));
}

static size_t ring_bytes(const struct rings *rings)
{
	return rings->pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* The bytes in a ring that end rings__wait(). */
static uint32_t watermark(const struct rings *rings)
{
	uint32_t half = (uint32_t)(ring_bytes(rings) / 2);

	return rings->wake_bytes && rings->wake_bytes < half ? rings->wake_bytes : half;
}

/* The side band: one event on every CPU, for all processes, filtered later. */
static struct perf_evsel *new_sideband(const struct rings *rings)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = CAPTURE_SIDEBAND_SAMPLE_TYPE,
		.disabled = 1,
		.mmap = 1,
		.mmap2 = 1,
		.mmap_data = rings->data_maps,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = watermark(rings),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return perf_evsel__new(&attr);
}

static struct perf_evsel *new_output(const struct rings *rings)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_RAW,
		.sample_id_all = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.watermark = 1,
		.wakeup_watermark = 1U << 30,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	(void)rings;
	return perf_evsel__new(&attr);
}

/* The first event of a ring is the one whose buffer all of them write to. */
static struct perf_evsel *(*const new_event[RING_EVENTS])(const struct rings *rings) = {
	[RING_SIDEBAND] = new_sideband,
	[RING_BPF_OUTPUT] = new_output,
};

/*
 * libperf hides its descriptors, but BPF needs them in a map. A new descriptor is always the lowest
 * free one: finds that one before the open; after it, the ioctl checks that it is a perf event.
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

static int open_event(struct ring *ring, enum ring_event event, const struct rings *rings)
{
	int fd = next_fd(), err;

	if (fd < 0)
		return fd;
	err = perf_evsel__open(ring->events[event], ring->cpus, rings->threads);
	if (!err && ioctl(fd, PERF_EVENT_IOC_ID, &ring->ids[event]))
		err = -EBADF;
	if (!err)
		ring->fds[event] = fd;
	return err;
}

static int open_ring(struct ring *ring, const struct rings *rings)
{
	int err = 0;

	for (int i = 0; i < RING_EVENTS; i++) {
		ring->events[i] = new_event[i](rings);
		if (!ring->events[i])
			return -ENOMEM;
		perf_evlist__add(ring->evlist, ring->events[i]);
	}
	perf_evlist__set_maps(ring->evlist, ring->cpus, rings->threads);
	for (int i = 0; i < RING_EVENTS && !err; i++)
		err = open_event(ring, i, rings);
	return err;
}

static int map_ring(struct ring *ring, uint32_t pages)
{
	int err = perf_evlist__mmap(ring->evlist, (int)pages);

	if (!err)
		return 0;
	/* libperf returns -1 and leaves the reason in errno. */
	err = errno ? -errno : -ENOMEM;
	perf_evlist__munmap(ring->evlist);
	return err;
}

static void explain_map(int err, uint32_t pages)
{
	if (err == -EPERM)
		pr_err("no permission to lock %u pages per CPU for the rings: use fewer (-m), "
		       "raise `ulimit -l` or kernel.perf_event_mlock_kb, or run with CAP_IPC_LOCK",
		       pages);
	else
		pr_err("cannot map rings of %u pages per CPU: %s", pages, strerror(-err));
}

static int new_ring(struct ring *ring, const struct rings *rings)
{
	char name[16];
	int err;

	snprintf(name, sizeof(name), "%u", ring->cpu);
	ring->cpus = perf_cpu_map__new(name);
	ring->evlist = perf_evlist__new();
	if (!ring->cpus || !ring->evlist)
		return -ENOMEM;
	err = open_ring(ring, rings);
	return err ? err : map_ring(ring, rings->pages);
}

static void delete_ring(struct ring *ring)
{
	if (ring->evlist) {
		perf_evlist__munmap(ring->evlist);
		perf_evlist__close(ring->evlist);
		/* An evsel's delete leaks its references to maps. */
		perf_evlist__set_maps(ring->evlist, NULL, NULL);
		perf_evlist__delete(ring->evlist);
	}
	perf_cpu_map__put(ring->cpus);
}

/* Makes room for a ring. The rings may move: pointers to them are invalid afterwards. */
static struct ring *add_ring(struct rings *rings, unsigned int cpu)
{
	struct pollfd *polls = reallocarray(rings->polls, rings->nr + 1 + OTHER_POLLS,
					    sizeof(*polls));
	struct ring *ring;

	if (!polls)
		return NULL;
	rings->polls = polls;
	ring = reallocarray(rings->ring, rings->nr + 1, sizeof(*ring));
	if (!ring)
		return NULL;
	rings->ring = ring;
	ring += rings->nr++;
	*ring = (struct ring){ .cpu = cpu };
	for (int i = 0; i < RING_EVENTS; i++)
		ring->fds[i] = -1;
	return ring;
}

static void drop_ring(struct rings *rings, size_t index)
{
	delete_ring(&rings->ring[index]);
	rings->ring[index] = rings->ring[--rings->nr];
}

/* A CPU may have gone offline since it was listed: no error. */
static int open_all(struct rings *rings, bool *mapping)
{
	struct perf_cpu_map *online = perf_cpu_map__new(NULL);
	struct ring *ring;
	int err = online ? 0 : -ENOMEM;

	for (int i = 0; !err && i < perf_cpu_map__nr(online); i++) {
		ring = add_ring(rings, (unsigned int)perf_cpu_map__cpu(online, i).cpu);
		err = ring ? new_ring(ring, rings) : -ENOMEM;
		*mapping = ring && ring->fds[RING_EVENTS - 1] >= 0;
		if (err == -ENODEV) {
			drop_ring(rings, rings->nr - 1);
			err = 0;
		}
	}
	perf_cpu_map__put(online);
	return err;
}

/* Halves the rings until they may be locked. */
static int open_smaller(struct rings *rings)
{
	uint32_t wanted = rings->pages;
	bool mapping = false;
	int err;

	while ((err = open_all(rings, &mapping)) == -EPERM && mapping &&
	       rings->pages > RINGS_MIN_PAGES) {
		while (rings->nr)
			drop_ring(rings, rings->nr - 1);
		rings->pages /= 2;
	}
	if (err && mapping)
		explain_map(err, rings->pages);
	else if (err)
		explain_open(err);
	else if (rings->pages != wanted)
		pr_warn("rings of %u pages per CPU instead of %u, since no more may be locked; "
			"raise `ulimit -l` or kernel.perf_event_mlock_kb, or run with CAP_IPC_LOCK",
			rings->pages, wanted);
	return err;
}

struct rings *rings__new(uint32_t pages, uint32_t wake_bytes, bool data_maps, int *err)
{
	struct rings *rings = calloc(1, sizeof(*rings));

	libperf_init(print_libperf);
	*err = -ENOMEM;
	if (!rings)
		return NULL;
	rings->pages = pages;
	rings->wake_bytes = wake_bytes;
	rings->data_maps = data_maps;
	/* Opened before the list of CPUs is read, so that later changes are announced. */
	rings->bell_fd = rings->other_fd = -1;
	rings->watch_fd = cpu_watch__open();
	rings->resume_fd = resume_watch__open();
	rings->threads = perf_thread_map__new_dummy();
	if (rings->threads) {
		perf_thread_map__set_pid(rings->threads, 0, -1);
		*err = open_smaller(rings);
	}
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
	while (rings->nr)
		drop_ring(rings, rings->nr - 1);
	if (rings->watch_fd >= 0)
		close(rings->watch_fd);
	if (rings->resume_fd >= 0)
		close(rings->resume_fd);
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
	return rings->ring[index].fds[RING_BPF_OUTPUT];
}

int rings__enable(struct rings *rings)
{
	for (size_t i = 0; i < rings->nr; i++) {
		if (perf_evsel__enable(rings->ring[i].events[RING_SIDEBAND]))
			return -errno;
	}
	rings->enabled = true;
	return 0;
}

/*
 * True if the events of a ring are still on their CPU. When a CPU goes offline, the kernel removes
 * them for good, even if it comes back; their clock then stands still, the only sign of it.
 */
static bool is_alive(const struct ring *ring)
{
	struct perf_counts_values first = { 0 }, next = { 0 };

	if (perf_evsel__read(ring->events[RING_BPF_OUTPUT], 0, 0, &first))
		return false;
	for (int i = 0; i < CLOCK_LOOKS; i++) {
		if (perf_evsel__read(ring->events[RING_BPF_OUTPUT], 0, 0, &next))
			return false;
		if (next.ena != first.ena)
			return true;
	}
	return false;
}

/*
 * A CPU that was offline for a moment needs new events as well. Its coming online may be the only
 * event that arrives, and may also be older than the ring.
 */
static void mark_gone(void *ctx, unsigned int cpu, bool online)
{
	struct rings *rings = ctx;

	for (size_t i = 0; i < rings->nr; i++) {
		struct ring *ring = &rings->ring[i];

		if (ring->cpu == cpu && !ring->gone)
			ring->gone = !online || !is_alive(ring);
	}
}

/* Called after a suspend, which takes CPUs offline without an event for each. */
static void mark_suspended(struct rings *rings)
{
	for (size_t i = 0; i < rings->nr; i++) {
		if (!rings->ring[i].gone)
			rings->ring[i].gone = !is_alive(&rings->ring[i]);
	}
}

static bool has_ring(const struct rings *rings, unsigned int cpu)
{
	for (size_t i = 0; i < rings->nr; i++) {
		if (rings->ring[i].cpu == cpu && !rings->ring[i].gone)
			return true;
	}
	return false;
}

static bool is_online(const struct perf_cpu_map *online, unsigned int cpu)
{
	for (int i = 0; i < perf_cpu_map__nr(online); i++) {
		if (perf_cpu_map__cpu(online, i).cpu == (int)cpu)
			return true;
	}
	return false;
}

/* Opens the ring of a new CPU. If that fails, the recording goes on without, and a warning. */
static int open_late(struct rings *rings, unsigned int cpu, rings_came_fn came, void *ctx)
{
	struct ring *ring = add_ring(rings, cpu);
	int err = ring ? new_ring(ring, rings) : -ENOMEM;

	if (!err && rings->enabled && perf_evsel__enable(ring->events[RING_SIDEBAND]))
		err = -errno;
	if (!err)
		err = came(ctx, cpu, ring->fds[RING_BPF_OUTPUT]);
	if (!err) {
		pr_verbose("CPU %u came online and has a ring", cpu);
		return 0;
	}
	if (ring)
		drop_ring(rings, rings->nr - 1);
	/* The CPU is gone again: the next update will handle it. */
	if (err == -ENODEV || rings->refused)
		return 0;
	rings->refused = true;
	pr_loss("CPU %u came online, but cannot have a ring: %s; blocks that end there are lost",
		cpu, strerror(-err));
	return 0;
}

bool rings__wants_update(const struct rings *rings)
{
	for (size_t i = 0; i < rings->nr; i++) {
		if (rings->ring[i].gone)
			return true;
	}
	return rings->watch_fd < 0;
}

int rings__update(struct rings *rings, rings_came_fn came, void *ctx)
{
	struct perf_cpu_map *online;
	int err = 0;

	/* Before CPUs are marked, so that rings marked now are read once more before they go. */
	for (size_t i = rings->nr; i-- > 0;) {
		if (rings->ring[i].gone && rings->ring[i].read)
			drop_ring(rings, i);
	}
	if (rings->watch_fd >= 0 && cpu_watch__read(rings->watch_fd, mark_gone, rings))
		pr_verbose("some comings and goings of devices were missed");
	if (rings->resume_fd >= 0 && resume_watch__read(rings->resume_fd))
		mark_suspended(rings);
	online = perf_cpu_map__new(NULL);
	if (!online)
		return -ENOMEM;
	for (size_t i = 0; i < rings->nr; i++)
		rings->ring[i].gone |= !is_online(online, rings->ring[i].cpu);
	for (int i = 0; !err && i < perf_cpu_map__nr(online); i++) {
		unsigned int cpu = (unsigned int)perf_cpu_map__cpu(online, i).cpu;

		if (!has_ring(rings, cpu))
			err = open_late(rings, cpu, came, ctx);
	}
	perf_cpu_map__put(online);
	return err;
}

int ring_record__event(const void *record, size_t size, const uint64_t ids[RING_EVENTS])
{
	const struct perf_event_header *header = record;
	uint64_t id;

	if (size < sizeof(*header) + sizeof(id))
		return -EINVAL;
	/* PERF_SAMPLE_IDENTIFIER: the first field of a sample, the last of any other record. */
	if (header->type == PERF_RECORD_SAMPLE)
		memcpy(&id, header + 1, sizeof(id));
	else
		memcpy(&id, (const char *)record + size - sizeof(id), sizeof(id));
	for (int i = 0; i < RING_EVENTS; i++) {
		if (id == ids[i])
			return i;
	}
	return RING_EVENTS;
}

const void *ring_record__raw(const struct ring_record *record, size_t *size)
{
	static const size_t before = sizeof(struct perf_event_header) + sizeof(uint64_t);
	const char *at = (const char *)record->header + before;
	uint32_t raw_size;

	if (record->header->type != PERF_RECORD_SAMPLE || record->size < before + sizeof(raw_size))
		return NULL;
	memcpy(&raw_size, at, sizeof(raw_size));
	if (raw_size > record->size - before - sizeof(raw_size))
		return NULL;
	*size = raw_size;
	return at + sizeof(raw_size);
}

/* Passes a record on as one of its event. */
static int pass_record(const struct ring *ring, const struct perf_event_header *header, rings_fn fn,
		       void *ctx)
{
	int event = ring_record__event(header, header->size, ring->ids);
	const struct ring_record record = { header, header->size, event, ring->cpu };

	if (event < 0)
		return event;
	return event < RING_EVENTS ? fn(ctx, &record) : 0;
}

/*
 * Reads what is in a ring of so many bytes, and no more than it can hold: a storm may fill it as
 * fast as it is read, and samples are kept until all rings have been read.
 */
static int read_ring(struct ring *ring, size_t bytes, rings_fn fn, void *ctx)
{
	struct perf_mmap *map = perf_evlist__next_mmap(ring->evlist, NULL, false);
	union perf_event *event;
	size_t done = 0;
	int nr = 0, err = 0;

	ring->read = ring->gone;
	if (!map || perf_mmap__read_init(map) < 0)
		return 0;
	while (!err && done < bytes && (event = perf_mmap__read_event(map)) != NULL) {
		done += event->header.size;
		err = pass_record(ring, &event->header, fn, ctx);
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
	const size_t bytes = ring_bytes(rings);
	int total = 0, nr;

	for (size_t i = 0; i < rings->nr; i++) {
		nr = read_ring(&rings->ring[i], bytes, fn, ctx);
		if (nr < 0)
			return nr;
		total += nr;
	}
	return total;
}

int rings__wait(struct rings *rings, int timeout_ms, int extra_fd)
{
	struct pollfd *polls = rings->polls;
	size_t nr = rings->nr;

	for (size_t i = 0; i < nr; i++)
		polls[i] = (struct pollfd){
			.fd = rings->ring[i].gone ? -1 : rings->ring[i].fds[RING_BPF_OUTPUT],
			.events = POLLIN,
		};
	polls[nr] = (struct pollfd){ .fd = extra_fd, .events = POLLIN };
	polls[nr + 1] = (struct pollfd){ .fd = rings->watch_fd, .events = POLLIN };
	polls[nr + 2] = (struct pollfd){ .fd = rings->bell_fd, .events = POLLIN };
	polls[nr + 3] = (struct pollfd){ .fd = rings->resume_fd, .events = POLLIN };
	polls[nr + 4] = (struct pollfd){ .fd = rings->other_fd, .events = POLLIN };
	if (poll(polls, nr + OTHER_POLLS, timeout_ms) < 0)
		return -errno;
	if (polls[nr + 2].revents)
		rings->bell_fd = -1;
	return polls[nr + 1].revents || polls[nr + 3].revents ? RINGS_CPUS_CHANGED : 0;
}

void rings__watch(struct rings *rings, int fd)
{
	rings->other_fd = fd;
}

void rings__set_bell(struct rings *rings, int fd)
{
	rings->bell_fd = fd;
}

bool rings__awaits_bell(const struct rings *rings)
{
	return rings->bell_fd >= 0;
}
