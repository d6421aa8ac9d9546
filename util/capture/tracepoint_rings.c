/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/tracepoint_rings.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/log.h"
#include "host/cpus.h"

#define MIN_PAGES 8
/* PERF_FORMAT_LOST of Linux 6.0 */
#define FORMAT_LOST (1U << 4)

struct tracepoint_ring {
	int *fds; /* of each tracepoint; the first one owns the buffer */
	size_t nr_fds;
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	uint64_t lost; /* as records tell, where the kernel keeps no count */
};

struct tracepoint_rings {
	struct tracepoint_ring *ring;
	size_t nr;
	uint32_t pages;
	bool cgroups;
	bool counts_losses;
	int epoll_fd;
	struct buffer record; /* one that goes over the end of its ring */
};

/* The sample as sample_type of open_event() lays it out. */
struct fixed {
	struct perf_event_header header;
	uint64_t id;
	int32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint32_t raw_size;
	/* the raw data; u64 cgroup, if asked for */
} __attribute__((packed));

_Static_assert(sizeof(struct fixed) == 44, "the fields lie one behind the other");

int tracepoint_hit__decode(const void *record, size_t size, bool cgroups,
			   struct tracepoint_hit *hit)
{
	const size_t tail = cgroups ? sizeof(hit->cgroup) : 0;
	struct fixed fixed;

	if (size < sizeof(fixed))
		return -EINVAL;
	memcpy(&fixed, record, sizeof(fixed));
	if (fixed.header.type != PERF_RECORD_SAMPLE ||
	    fixed.raw_size < sizeof(hit->id) || fixed.raw_size > size - sizeof(fixed) ||
	    size - sizeof(fixed) - fixed.raw_size < tail)
		return -EINVAL;
	*hit = (struct tracepoint_hit){
		.time = fixed.time,
		.pid = fixed.pid,
		.tid = fixed.tid,
		.cpu = fixed.cpu,
		.data = (const char *)record + sizeof(fixed),
		.size = fixed.raw_size,
	};
	memcpy(&hit->id, hit->data, sizeof(hit->id));
	memcpy(&hit->cgroup, (const char *)hit->data + hit->size, tail);
	return 0;
}

static size_t ring_bytes(const struct tracepoint_rings *rings)
{
	return (size_t)rings->pages * (size_t)sysconf(_SC_PAGESIZE);
}

static int open_event(const struct tracepoint_rings *rings, uint16_t id, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = PERF_ATTR_SIZE_VER5,
		.config = id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
		.read_format = rings->counts_losses ? FORMAT_LOST : 0,
		.disabled = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(ring_bytes(rings) / 2),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int fd;

	if (rings->cgroups)
		attr.sample_type |= PERF_SAMPLE_CGROUP;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void close_ring(const struct tracepoint_rings *rings, struct tracepoint_ring *ring)
{
	if (ring->page)
		munmap(ring->page, ring_bytes(rings) + (size_t)sysconf(_SC_PAGESIZE));
	while (ring->nr_fds)
		close(ring->fds[--ring->nr_fds]);
	free(ring->fds);
}

static int map_ring(const struct tracepoint_rings *rings, struct tracepoint_ring *ring)
{
	const size_t size = ring_bytes(rings) + (size_t)sysconf(_SC_PAGESIZE);
	struct epoll_event event = { .events = EPOLLIN };
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fds[0], 0);

	if (page == MAP_FAILED)
		return -errno;
	ring->page = page;
	for (size_t i = 1; i < ring->nr_fds; i++) {
		if (ioctl(ring->fds[i], PERF_EVENT_IOC_SET_OUTPUT, ring->fds[0]) < 0)
			return -errno;
	}
	return epoll_ctl(rings->epoll_fd, EPOLL_CTL_ADD, ring->fds[0], &event) < 0 ? -errno : 0;
}

/* -ENODEV: the CPU went offline meanwhile. *mapping: so far it came. */
static int open_ring(struct tracepoint_rings *rings, struct tracepoint_ring *ring,
		     const uint16_t *ids, size_t nr, unsigned int cpu, bool *mapping)
{
	int fd;

	*mapping = false;
	ring->fds = calloc(nr, sizeof(*ring->fds));
	if (!ring->fds)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		fd = open_event(rings, ids[i], cpu);
		if (fd == -EINVAL && rings->counts_losses) {
			rings->counts_losses = false;
			fd = open_event(rings, ids[i], cpu);
		}
		if (fd < 0)
			return fd;
		ring->fds[ring->nr_fds++] = fd;
	}
	*mapping = true;
	return map_ring(rings, ring);
}

static void close_all(struct tracepoint_rings *rings)
{
	while (rings->nr)
		close_ring(rings, &rings->ring[--rings->nr]);
}

static int open_all(struct tracepoint_rings *rings, const uint16_t *ids, size_t nr,
		    const struct cpus *online, bool *mapping)
{
	struct tracepoint_ring *more;
	int err = 0;

	for (unsigned int cpu = 0; cpu < CPUS_MAX && !err; cpu++) {
		if (!cpus__has(online, cpu))
			continue;
		more = reallocarray(rings->ring, rings->nr + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		rings->ring = more;
		more += rings->nr++;
		*more = (struct tracepoint_ring){ 0 };
		err = open_ring(rings, more, ids, nr, cpu, mapping);
		if (err == -ENODEV) {
			close_ring(rings, &rings->ring[--rings->nr]);
			err = 0;
		}
	}
	return err;
}

static void explain(int err, const struct tracepoint_rings *rings, bool mapping)
{
	if (mapping && err == -EPERM)
		pr_err("no permission to lock %u more pages per CPU for tracepoints: use fewer "
		       "(-m), raise `ulimit -l` or kernel.perf_event_mlock_kb, or run with "
		       "CAP_IPC_LOCK",
		       rings->pages);
	else if (err == -EACCES || err == -EPERM)
		pr_err("no permission to record tracepoints with their data: run as root, with "
		       "CAP_PERFMON, or set kernel.perf_event_paranoid to -1");
	else if (err == -EMFILE)
		pr_err("no descriptors left for tracepoints, which take one for each CPU: raise "
		       "`ulimit -n`");
	else
		pr_err("cannot open the tracepoints: %s", strerror(-err));
}

/* Halves the rings until they may be locked. */
static int open_smaller(struct tracepoint_rings *rings, const uint16_t *ids, size_t nr)
{
	struct cpus online = { 0 };
	bool mapping = false;
	int err = cpus__online(&online);

	if (err)
		return err;
	while ((err = open_all(rings, ids, nr, &online, &mapping)) == -EPERM && mapping &&
	       rings->pages > MIN_PAGES) {
		close_all(rings);
		rings->pages /= 2;
	}
	if (err)
		explain(err, rings, mapping);
	return err;
}

struct tracepoint_rings *tracepoint_rings__new(const uint16_t *ids, size_t nr, uint32_t pages,
					       bool cgroups, int *err)
{
	struct tracepoint_rings *rings = calloc(1, sizeof(*rings));

	*err = -ENOMEM;
	if (!rings)
		return NULL;
	rings->pages = pages;
	rings->cgroups = cgroups;
	rings->counts_losses = true;
	rings->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	*err = rings->epoll_fd < 0 ? -errno : open_smaller(rings, ids, nr);
	if (!*err)
		return rings;
	tracepoint_rings__delete(rings);
	return NULL;
}

void tracepoint_rings__delete(struct tracepoint_rings *rings)
{
	if (!rings)
		return;
	close_all(rings);
	free(rings->ring);
	if (rings->epoll_fd >= 0)
		close(rings->epoll_fd);
	buffer__free(&rings->record);
	free(rings);
}

int tracepoint_rings__enable(struct tracepoint_rings *rings)
{
	for (size_t i = 0; i < rings->nr; i++) {
		for (size_t k = 0; k < rings->ring[i].nr_fds; k++) {
			if (!ioctl(rings->ring[i].fds[k], PERF_EVENT_IOC_ENABLE, 0))
				continue;
			pr_err("cannot switch the tracepoints on: %s", strerror(errno));
			return -errno;
		}
	}
	return 0;
}

/* Bytes of a ring from a position on, which may go over its end. */
static void copy_out(const struct tracepoint_rings *rings, const struct tracepoint_ring *ring,
		     uint64_t from, void *to, size_t size)
{
	const char *data = (const char *)ring->page + sysconf(_SC_PAGESIZE);
	const size_t bytes = ring_bytes(rings), at = from & (bytes - 1);
	const size_t first = size < bytes - at ? size : bytes - at;

	memcpy(to, data + at, first);
	memcpy((char *)to + first, data, size - first);
}

static int pass_record(struct tracepoint_rings *rings, struct tracepoint_ring *ring,
		       tracepoint_rings_fn fn, void *ctx)
{
	struct perf_event_header header;
	struct tracepoint_hit hit;
	uint64_t lost;

	memcpy(&header, rings->record.data, sizeof(header));
	if (header.type == PERF_RECORD_LOST && rings->record.len >= sizeof(header) + 16) {
		memcpy(&lost, rings->record.data + sizeof(header) + 8, sizeof(lost));
		ring->lost += lost;
	}
	if (header.type != PERF_RECORD_SAMPLE)
		return 0;
	if (tracepoint_hit__decode(rings->record.data, rings->record.len, rings->cgroups, &hit))
		return -EINVAL;
	return fn(ctx, rings->record.data, rings->record.len, hit.time);
}

static int read_ring(struct tracepoint_rings *rings, struct tracepoint_ring *ring,
		     tracepoint_rings_fn fn, void *ctx)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	struct perf_event_header header;
	int nr = 0, err = 0;

	while (tail != head && !err) {
		copy_out(rings, ring, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			return -EINVAL;
		rings->record.len = 0;
		if (!buffer__reserve(&rings->record, header.size))
			return -ENOMEM;
		copy_out(rings, ring, tail, rings->record.data, header.size);
		rings->record.len = header.size;
		tail += header.size;
		__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
		err = pass_record(rings, ring, fn, ctx);
		nr++;
	}
	return err ? err : nr;
}

int tracepoint_rings__read(struct tracepoint_rings *rings, tracepoint_rings_fn fn, void *ctx)
{
	int total = 0, nr;

	for (size_t i = 0; rings && i < rings->nr; i++) {
		nr = read_ring(rings, &rings->ring[i], fn, ctx);
		if (nr < 0)
			return nr;
		total += nr;
	}
	return total;
}

int tracepoint_rings__watch(struct tracepoint_rings *rings, int other)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (other >= 0 && epoll_ctl(rings->epoll_fd, EPOLL_CTL_ADD, other, &event) < 0)
		pr_verbose("a descriptor cannot be watched: %s", strerror(errno));
	return rings->epoll_fd;
}

/* What the kernel has counted of one tracepoint; 0 where it cannot be read. */
static uint64_t lost_of(int fd)
{
	uint64_t counts[2] = { 0 }; /* value, lost */

	return read(fd, counts, sizeof(counts)) == sizeof(counts) ? counts[1] : 0;
}

uint64_t tracepoint_rings__lost(const struct tracepoint_rings *rings)
{
	uint64_t lost = 0;

	for (size_t i = 0; rings && i < rings->nr; i++) {
		const struct tracepoint_ring *ring = &rings->ring[i];

		if (!rings->counts_losses)
			lost += ring->lost;
		for (size_t k = 0; rings->counts_losses && k < ring->nr_fds; k++)
			lost += lost_of(ring->fds[k]);
	}
	return lost;
}
