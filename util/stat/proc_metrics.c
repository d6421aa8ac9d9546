/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/proc_metrics.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/minmax.h"
#include "base/units.h"
#include "stat/io_reader.h"

#define IO_PATIENCE_MS 100

/* Samples without /proc/PID/io of a process that did not answer. */
#define IO_PAUSE 16

enum counter { CPU_NS, DISK_READ, DISK_WRITE, CALL_READ, CALL_WRITE, MINOR, MAJOR, COUNTERS };

/*
 * A process that is followed. Its counters are of itself, and with those of children that it has
 * waited for: these are no longer to be found elsewhere. (In /proc/PID/io both are one.)
 */
struct member {
	pid_t pid;
	struct proc_text_stat stat; /* as seen last */
	bool seen;                  /* in this sample */
	bool has_io;
	unsigned int io_pause;
	uint64_t own[COUNTERS];
	uint64_t with_reaped[COUNTERS];
	uint64_t own_base[COUNTERS];
	uint64_t with_reaped_base[COUNTERS];
	uint64_t cpu_before; /* own[CPU_NS] at the last sample */
};

struct proc_metrics {
	struct member *members; /* the first process first, parents before children */
	size_t nr, room;
	pid_t first; /* 0: there is none, or it has ended */
	bool alone;
	bool own_net; /* there never was a first process: the network is that of ours */
	uint64_t start_ticks; /* since boot: what is born later has done nothing before */
	uint64_t last_ns; /* when CPU times were read the last time, and this time */
	uint64_t look_ns;
	uint64_t ended[COUNTERS]; /* of members whose parent is not followed */
	uint64_t total[COUNTERS]; /* as of the last sample */
	bool had_io;		  /* of a member, which may have ended */
	uint64_t rx_base, tx_base, rx, tx;
	struct io_reader *reader;
	struct memory_pressure_source pressure;
	struct proc_metrics_row *rows;
};

static uint64_t tick_ns(void)
{
	long hz = sysconf(_SC_CLK_TCK);

	return NSEC_PER_SEC / (uint64_t)(hz > 0 ? hz : 100);
}

static uint64_t boot_ticks(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return ((uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec) / tick_ns();
}

static int read_stat(pid_t pid, struct proc_text_stat *stat)
{
	char path[32], text[1024];
	int len;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	len = proc_text__read(path, text, sizeof(text));
	if (len < 0)
		return len == -ENOENT ? -ESRCH : len;
	return len ? proc_text__stat(text, stat) : -ESRCH;
}

/* In ns, where /proc has ticks; the threads that have ended are in it. */
static uint64_t cpu_ns(const struct member *member)
{
	struct timespec used;
	clockid_t clock;

	if (!clock_getcpuclockid(member->pid, &clock) && !clock_gettime(clock, &used))
		return (uint64_t)used.tv_sec * NSEC_PER_SEC + (uint64_t)used.tv_nsec;
	return (member->stat.user_ticks + member->stat.system_ticks) * tick_ns();
}

/* False: the process has ended, or another one has its PID. */
static bool look(struct member *member)
{
	struct proc_text_stat stat;

	if (read_stat(member->pid, &stat) ||
	    (member->stat.start_ticks && stat.start_ticks != member->stat.start_ticks))
		return false;
	member->stat = stat;
	member->own[CPU_NS] = max_u64(member->own[CPU_NS], cpu_ns(member));
	member->own[MINOR] = stat.minor_faults;
	member->own[MAJOR] = stat.major_faults;
	member->with_reaped[CPU_NS] = member->own[CPU_NS] + stat.reaped_ticks * tick_ns();
	member->with_reaped[MINOR] = stat.minor_faults + stat.reaped_minor_faults;
	member->with_reaped[MAJOR] = stat.major_faults + stat.reaped_major_faults;
	return true;
}

static void take_io(struct member *member, const struct proc_text_io *io)
{
	member->has_io = true;
	member->own[DISK_READ] = io->read_bytes;
	member->own[DISK_WRITE] = io->write_bytes;
	member->own[CALL_READ] = io->rchar;
	member->own[CALL_WRITE] = io->wchar;
	memcpy(&member->with_reaped[DISK_READ], &member->own[DISK_READ],
	       (CALL_WRITE - DISK_READ + 1) * sizeof(member->own[0]));
}

/* Reads /proc/PID/io of the members from that one on. 0 or -ENOMEM. */
static int read_io(struct proc_metrics *metrics, size_t from)
{
	size_t nr = metrics->nr - from, asked = 0, i;
	struct proc_text_io *io = calloc(nr + 1, sizeof(*io));
	pid_t *pids = calloc(nr + 1, sizeof(*pids));
	size_t *which = calloc(nr + 1, sizeof(*which));
	int *status = calloc(nr + 1, sizeof(*status));
	bool ok = io && pids && which && status;

	for (i = from; ok && i < metrics->nr; i++) {
		struct member *member = &metrics->members[i];

		if (member->io_pause) {
			member->io_pause--;
		} else if (member->seen) {
			which[asked] = i;
			pids[asked++] = member->pid;
		}
	}
	if (ok)
		io_reader__read(metrics->reader, pids, asked, IO_PATIENCE_MS, io, status);
	for (i = 0; ok && i < asked; i++) {
		struct member *member = &metrics->members[which[i]];

		if (!status[i])
			take_io(member, &io[i]);
		else if (status[i] == -ETIMEDOUT)
			member->io_pause = IO_PAUSE;
	}
	free(io);
	free(pids);
	free(which);
	free(status);
	return ok ? 0 : -ENOMEM;
}

static struct member *find(struct proc_metrics *metrics, pid_t pid)
{
	for (size_t i = 0; i < metrics->nr; i++) {
		if (metrics->members[i].pid == pid)
			return &metrics->members[i];
	}
	return NULL;
}

/* 0, -ESRCH or -ENOMEM. */
static int add(struct proc_metrics *metrics, pid_t pid)
{
	struct member member = { .pid = pid, .seen = true };

	if (find(metrics, pid))
		return 0;
	if (!look(&member))
		return -ESRCH;
	if (metrics->nr == metrics->room) {
		size_t room = metrics->room ? metrics->room * 2 : 16;
		void *members = realloc(metrics->members, room * sizeof(member));

		if (!members)
			return -ENOMEM;
		metrics->members = members;
		metrics->room = room;
	}
	metrics->members[metrics->nr++] = member;
	return 0;
}

/* The children of a thread. Where the kernel has no such file, there are none. */
static int add_children(struct proc_metrics *metrics, pid_t pid, const char *thread)
{
	char path[64];
	pid_t child;
	FILE *file;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", pid, thread);
	file = fopen(path, "re");
	while (file && err != -ENOMEM && fscanf(file, "%d", &child) == 1)
		err = add(metrics, child);
	if (file)
		fclose(file);
	return err == -ENOMEM ? err : 0;
}

/* The list grows while it is walked, so that descendants of any distance are found. */
static int find_descendants(struct proc_metrics *metrics)
{
	int err = 0;

	for (size_t i = 0; i < metrics->nr && !metrics->alone && !err; i++) {
		pid_t pid = metrics->members[i].pid;
		char path[32];
		struct dirent *entry;
		DIR *dir;

		if (!metrics->members[i].seen)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task", pid);
		dir = opendir(path);
		while (dir && !err && (entry = readdir(dir)))
			err = entry->d_name[0] == '.' ? 0
						      : add_children(metrics, pid, entry->d_name);
		if (dir)
			closedir(dir);
	}
	return err;
}

/* Takes the counters of members from that one on as their beginning, but of those born since. */
static void set_bases(struct proc_metrics *metrics, size_t from)
{
	for (size_t i = from; i < metrics->nr; i++) {
		struct member *member = &metrics->members[i];

		if (member->stat.start_ticks >= metrics->start_ticks)
			continue;
		memcpy(member->own_base, member->own, sizeof(member->own));
		memcpy(member->with_reaped_base, member->with_reaped, sizeof(member->own));
		member->cpu_before = member->own[CPU_NS];
	}
}

/* A process that ignores SIGCHLD does not inherit what its children have counted. */
static bool waits_for_children(pid_t pid)
{
	char path[32], text[4096];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (proc_text__read(path, text, sizeof(text)) < 0)
		return true;
	line = strstr(text, "\nSigIgn:");
	return !line || !(strtoull(line + 8, NULL, 16) & 1ULL << (SIGCHLD - 1));
}

/* The nearest ancestor that is still there: by a chain of waits, it has the counters now. */
static struct member *heir_of(struct proc_metrics *metrics, const struct member *member)
{
	for (int i = 0; i < 64; i++) {
		struct member *parent = find(metrics, member->stat.ppid);

		if (!parent || parent->seen)
			return parent && waits_for_children(parent->pid) ? parent : NULL;
		member = parent;
	}
	return NULL;
}

static void settle_ended(struct proc_metrics *metrics)
{
	size_t kept = 0, i;

	for (i = 0; i < metrics->nr; i++) {
		struct member *member = &metrics->members[i], *heir;

		if (member->seen)
			continue;
		heir = heir_of(metrics, member);
		for (int k = 0; k < COUNTERS; k++) {
			if (heir)
				heir->with_reaped_base[k] += member->with_reaped_base[k];
			else
				metrics->ended[k] +=
					member->with_reaped[k] - member->with_reaped_base[k];
		}
		if (member->pid == metrics->first)
			metrics->first = 0;
	}
	for (i = 0; i < metrics->nr; i++) {
		if (metrics->members[i].seen)
			metrics->members[kept++] = metrics->members[i];
	}
	metrics->nr = kept;
}

/* Looks at all members, forgets those that have ended, and finds new ones. 0 or -ENOMEM. */
static int update(struct proc_metrics *metrics)
{
	size_t known;
	int err;

	metrics->look_ns = clock__now_ns();
	for (size_t i = 0; i < metrics->nr; i++)
		metrics->members[i].seen = look(&metrics->members[i]);
	settle_ended(metrics);
	known = metrics->nr;
	err = find_descendants(metrics);
	if (!err)
		err = read_io(metrics, 0);
	if (!err)
		set_bases(metrics, known);
	return err;
}

static void read_net(struct proc_metrics *metrics)
{
	char path[40], text[16384];

	snprintf(path, sizeof(path), "/proc/%d/net/dev",
		 metrics->own_net ? getpid() : metrics->first);
	if ((metrics->first || metrics->own_net) && proc_text__read(path, text, sizeof(text)) >= 0)
		proc_text__net_dev(text, &metrics->rx, &metrics->tx);
}

struct proc_metrics *proc_metrics__new(pid_t pid, bool alone)
{
	struct proc_metrics *metrics = calloc(1, sizeof(*metrics));

	if (!metrics)
		return NULL;
	metrics->first = pid;
	metrics->alone = alone;
	metrics->own_net = !pid;
	metrics->start_ticks = boot_ticks();
	metrics->reader = io_reader__new();
	if (!metrics->reader || (pid && proc_metrics__follow(metrics, pid) == -ENOMEM)) {
		proc_metrics__delete(metrics);
		return NULL;
	}
	memory_pressure__begin(&metrics->pressure, pid);
	read_net(metrics);
	metrics->rx_base = metrics->rx;
	metrics->tx_base = metrics->tx;
	metrics->last_ns = clock__now_ns();
	return metrics;
}

int proc_metrics__follow(struct proc_metrics *metrics, pid_t pid)
{
	size_t known = metrics->nr;
	int err = add(metrics, pid);

	if (!err)
		err = find_descendants(metrics);
	if (!err)
		err = read_io(metrics, known);
	if (!err)
		set_bases(metrics, known);
	return err;
}

static void fill_counters(struct proc_metrics_row *row, const uint64_t counters[COUNTERS])
{
	row->cpu_ns = counters[CPU_NS];
	row->disk_read_bytes = counters[DISK_READ];
	row->disk_write_bytes = counters[DISK_WRITE];
	row->syscall_read_bytes = counters[CALL_READ];
	row->syscall_write_bytes = counters[CALL_WRITE];
	row->page_faults_cached = counters[MINOR];
	row->page_faults_disk = counters[MAJOR];
}

static struct proc_metrics_row make_row(struct member *member, uint64_t interval_ns)
{
	const struct proc_text_stat *stat = &member->stat;
	uint64_t since[COUNTERS], ticks = boot_ticks();
	struct proc_metrics_row row = {
		.pid = member->pid,
		.cpu_usage = 100.0 * (double)(member->own[CPU_NS] - member->cpu_before) /
			     (double)interval_ns,
		.mem_rss_kb = stat->rss_pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024,
		.mem_vms_kb = stat->vms_bytes / 1024,
		.has_io = member->has_io,
		.threads = stat->threads,
		.uptime_secs = ticks > stat->start_ticks
				       ? (ticks - stat->start_ticks) * tick_ns() / NSEC_PER_SEC
				       : 0,
		.cpu = stat->cpu,
	};

	memcpy(row.command, stat->comm, sizeof(row.command));
	for (int i = 0; i < COUNTERS; i++)
		since[i] = member->own[i] - member->own_base[i];
	fill_counters(&row, since);
	member->cpu_before = member->own[CPU_NS];
	return row;
}

/*
 * A child that was waited for between the looks at its parent and at itself is in neither, until
 * the next sample: no sum shrinks.
 */
static void sum_counters(struct proc_metrics *metrics, struct proc_metrics_row *total,
			 uint64_t interval_ns)
{
	uint64_t cpu_before = metrics->total[CPU_NS];

	for (int k = 0; k < COUNTERS; k++) {
		uint64_t sum = metrics->ended[k];

		for (size_t i = 0; i < metrics->nr; i++) {
			const struct member *member = &metrics->members[i];

			if (member->with_reaped[k] > member->with_reaped_base[k])
				sum += member->with_reaped[k] - member->with_reaped_base[k];
		}
		metrics->total[k] = max_u64(metrics->total[k], sum);
	}
	fill_counters(total, metrics->total);
	total->cpu_usage =
		100.0 * (double)(metrics->total[CPU_NS] - cpu_before) / (double)interval_ns;
}

static void add_row(struct proc_metrics_sample *sample, const struct proc_metrics_row *row,
		    const struct member *member)
{
	struct proc_metrics_row *total = &sample->total;

	total->mem_rss_kb += row->mem_rss_kb;
	total->mem_vms_kb += row->mem_vms_kb;
	total->has_io |= row->has_io;
	total->threads += row->threads;
	total->uptime_secs = max_u64(total->uptime_secs, row->uptime_secs);
	sample->processes++;
	sample->without_io += !row->has_io;
	sample->hung += member->io_pause > 0;
}

int proc_metrics__sample(struct proc_metrics *metrics, struct proc_metrics_sample *sample)
{
	uint64_t interval;
	void *rows;
	int err;

	*sample = (struct proc_metrics_sample){ 0 };
	err = update(metrics);
	rows = err ? NULL : realloc(metrics->rows, (metrics->nr + 1) * sizeof(*metrics->rows));
	if (!rows)
		return -ENOMEM;
	metrics->rows = sample->children = rows;
	read_net(metrics);
	interval = max_u64(metrics->look_ns - metrics->last_ns, 1);
	metrics->last_ns = metrics->look_ns;
	sample->ts_ms = clock__real_ms();
	for (size_t i = 0; i < metrics->nr; i++) {
		struct proc_metrics_row row = make_row(&metrics->members[i], interval);

		if (row.pid == metrics->first) {
			row.net_rx_bytes = metrics->rx - metrics->rx_base;
			row.net_tx_bytes = metrics->tx - metrics->tx_base;
			sample->parent = row;
			sample->has_parent = true;
		} else {
			sample->children[sample->nr_children++] = row;
		}
		add_row(sample, &row, &metrics->members[i]);
	}
	sum_counters(metrics, &sample->total, interval);
	metrics->had_io |= sample->total.has_io;
	sample->total.has_io = metrics->had_io;
	sample->total.net_rx_bytes = metrics->rx - metrics->rx_base;
	sample->total.net_tx_bytes = metrics->tx - metrics->tx_base;
	sample->pressure = memory_pressure__read(&metrics->pressure);
	return 0;
}

void proc_metrics__delete(struct proc_metrics *metrics)
{
	if (!metrics)
		return;
	io_reader__delete(metrics->reader);
	free(metrics->members);
	free(metrics->rows);
	free(metrics);
}
