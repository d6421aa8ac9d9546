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
#include "host/cgroup.h"
#include "host/cpus.h"

#define MIN_PAGES 8
/* PERF_FORMAT_LOST of Linux 6.0 */
#define FORMAT_LOST (1U << 4)

struct tracepoint_ring {
	unsigned int cpu;
	bool gone; /* its CPU went offline, and the kernel has taken the events off it for good */
	int *fds;  /* of each tracepoint in each cgroup; the first one owns the buffer */
	size_t nr_fds;
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	uint64_t lost; /* as records tell, where the kernel keeps no count */
};

struct tracepoint_rings {
	struct tracepoint_ring *ring;
	size_t nr;
	uint16_t *ids;
	size_t nr_ids;
	struct cgroup_dirs groups;
	uint32_t pages;
	bool cgroups;
	bool counts_losses;
	bool enabled;
	bool refused; /* a CPU without a ring has been reported */
	uint64_t lost; /* by rings that are gone */
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

/* group: the directory of a cgroup, whose tasks alone count; -1: all of them. */
static int open_event(const struct tracepoint_rings *rings, uint16_t id, int group,
		      unsigned int cpu)
{
	const unsigned long flags = PERF_FLAG_FD_CLOEXEC | (group < 0 ? 0 : PERF_FLAG_PID_CGROUP);
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
	fd = (int)syscall(SYS_perf_event_open, &attr, group, (int)cpu, -1, flags);
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

/* The event of a tracepoint in a cgroup (-1: any), at the end of a ring's. */
static int add_event(struct tracepoint_rings *rings, struct tracepoint_ring *ring, uint16_t id,
		     int group)
{
	int fd = open_event(rings, id, group, ring->cpu);

	if (fd == -EINVAL && rings->counts_losses) {
		rings->counts_losses = false;
		fd = open_event(rings, id, group, ring->cpu);
	}
	if (fd < 0)
		return fd;
	ring->fds[ring->nr_fds++] = fd;
	return 0;
}

/* -ENODEV: the CPU went offline meanwhile. *mapping: so far it came. */
static int open_ring(struct tracepoint_rings *rings, struct tracepoint_ring *ring, bool *mapping)
{
	const size_t nr_groups = rings->groups.nr ? rings->groups.nr : 1;
	int err = 0;

	*mapping = false;
	ring->fds = calloc(rings->nr_ids * nr_groups, sizeof(*ring->fds));
	if (!ring->fds)
		return -ENOMEM;
	for (size_t i = 0; i < rings->nr_ids && !err; i++) {
		for (size_t k = 0; k < nr_groups && !err; k++)
			err = add_event(rings, ring, rings->ids[i],
					rings->groups.nr ? rings->groups.fds[k] : -1);
	}
	if (err)
		return err;
	*mapping = true;
	return map_ring(rings, ring);
}

static void close_all(struct tracepoint_rings *rings)
{
	while (rings->nr)
		close_ring(rings, &rings->ring[--rings->nr]);
}

/* Appends the ring of a CPU. After an error there is none. */
static int add_ring(struct tracepoint_rings *rings, unsigned int cpu, bool *mapping)
{
	struct tracepoint_ring *more = reallocarray(rings->ring, rings->nr + 1, sizeof(*more));
	int err;

	if (!more)
		return -ENOMEM;
	rings->ring = more;
	more += rings->nr;
	*more = (struct tracepoint_ring){ .cpu = cpu };
	err = open_ring(rings, more, mapping);
	if (err)
		close_ring(rings, more);
	else
		rings->nr++;
	return err;
}

static int open_all(struct tracepoint_rings *rings, const struct cpus *online, bool *mapping)
{
	int err = 0;

	for (unsigned int cpu = 0; cpu < CPUS_MAX && !err; cpu++) {
		if (!cpus__has(online, cpu))
			continue;
		err = add_ring(rings, cpu, mapping);
		if (err == -ENODEV)
			err = 0;
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
static int open_smaller(struct tracepoint_rings *rings)
{
	struct cpus online = { 0 };
	bool mapping = false;
	int err = cpus__online(&online);

	if (err)
		return err;
	while ((err = open_all(rings, &online, &mapping)) == -EPERM && mapping &&
	       rings->pages > MIN_PAGES) {
		close_all(rings);
		rings->pages /= 2;
	}
	if (err)
		explain(err, rings, mapping);
	return err;
}

struct tracepoint_rings *tracepoint_rings__new(const struct tracepoint_rings_options *options,
					       int *err)
{
	struct tracepoint_rings *rings = calloc(1, sizeof(*rings));

	*err = -ENOMEM;
	if (!rings) {
		cgroup_dirs__close(options->groups);
		return NULL;
	}
	rings->groups = *options->groups;
	*options->groups = (struct cgroup_dirs){ 0 };
	rings->pages = options->pages;
	rings->cgroups = options->cgroups;
	rings->counts_losses = true;
	rings->nr_ids = options->nr;
	rings->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (rings->epoll_fd < 0)
		*err = -errno;
	rings->ids = calloc(options->nr, sizeof(*rings->ids));
	if (rings->ids && rings->epoll_fd >= 0) {
		memcpy(rings->ids, options->ids, options->nr * sizeof(*rings->ids));
		*err = open_smaller(rings);
	}
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
	cgroup_dirs__close(&rings->groups);
	free(rings->ring);
	free(rings->ids);
	if (rings->epoll_fd >= 0)
		close(rings->epoll_fd);
	buffer__free(&rings->record);
	free(rings);
}

/* Switches all events of a ring on or off. 0 or a negative errno. */
static int switch_ring(const struct tracepoint_ring *ring, bool on)
{
	for (size_t i = 0; i < ring->nr_fds; i++) {
		if (ioctl(ring->fds[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0))
			return -errno;
	}
	return 0;
}

int tracepoint_rings__enable(struct tracepoint_rings *rings)
{
	int err = 0;

	for (size_t i = 0; i < rings->nr && !err; i++)
		err = switch_ring(&rings->ring[i], true);
	if (err)
		pr_err("cannot switch the tracepoints on: %s", strerror(-err));
	rings->enabled = !err;
	return err;
}

void tracepoint_rings__add_cpu(struct tracepoint_rings *rings, unsigned int cpu)
{
	bool mapping = false;
	int err;

	if (!rings)
		return;
	/* The events of its former ring count nothing, or the same once more. */
	for (size_t i = 0; i < rings->nr; i++) {
		if (rings->ring[i].cpu != cpu)
			continue;
		switch_ring(&rings->ring[i], false);
		rings->ring[i].gone = true;
	}
	err = add_ring(rings, cpu, &mapping);
	if (!err && rings->enabled)
		err = switch_ring(&rings->ring[rings->nr - 1], true);
	/* Gone again already: it will come once more. */
	if (!err || err == -ENODEV || rings->refused)
		return;
	rings->refused = true;
	pr_loss("CPU %u came online, but cannot have a ring for tracepoints: %s; hits there are "
		"not recorded",
		cpu, strerror(-err));
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

/* The kernel's count of lost records of one tracepoint; 0 if it cannot be read. */
static uint64_t lost_of(int fd)
{
	uint64_t counts[2] = { 0 }; /* value, lost */

	return read(fd, counts, sizeof(counts)) == sizeof(counts) ? counts[1] : 0;
}

static uint64_t lost_in(const struct tracepoint_rings *rings, const struct tracepoint_ring *ring)
{
	uint64_t lost = 0;

	if (!rings->counts_losses)
		return ring->lost;
	for (size_t i = 0; i < ring->nr_fds; i++)
		lost += lost_of(ring->fds[i]);
	return lost;
}

static void drop_ring(struct tracepoint_rings *rings, size_t index)
{
	struct tracepoint_ring *ring = &rings->ring[index];

	rings->lost += lost_in(rings, ring);
	close_ring(rings, ring);
	*ring = rings->ring[--rings->nr];
}

int tracepoint_rings__read(struct tracepoint_rings *rings, tracepoint_rings_fn fn, void *ctx)
{
	int total = 0, nr;

	for (size_t i = rings ? rings->nr : 0; i-- > 0;) {
		nr = read_ring(rings, &rings->ring[i], fn, ctx);
		if (nr < 0)
			return nr;
		total += nr;
		if (rings->ring[i].gone)
			drop_ring(rings, i);
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

uint64_t tracepoint_rings__lost(const struct tracepoint_rings *rings)
{
	uint64_t lost = rings ? rings->lost : 0;

	for (size_t i = 0; rings && i < rings->nr; i++)
		lost += lost_in(rings, &rings->ring[i]);
	return lost;
}
