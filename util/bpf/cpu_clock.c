/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/cpu_clock.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "host/sysctl.h"

static int open_event(const struct cpu_clock_config *config, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = config->type,
		.size = sizeof(attr),
		.config = config->config,
		.freq = config->freq != 0,
		.exclude_idle = 1,
	};
	int fd;

	if (config->freq)
		attr.sample_freq = config->freq;
	else
		attr.sample_period = config->period;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int make_room(struct cpu_clock *clock, unsigned int cpu)
{
	unsigned int nr = cpu + 1;
	struct bpf_link **links;

	if (nr <= clock->nr)
		return 0;
	links = realloc(clock->links, nr * sizeof(*links));
	if (!links)
		return -ENOMEM;
	memset(links + clock->nr, 0, (nr - clock->nr) * sizeof(*links));
	clock->links = links;
	clock->nr = nr;
	return 0;
}

int cpu_clock__start(struct cpu_clock *clock, unsigned int cpu)
{
	struct bpf_link *link;
	int err = make_room(clock, cpu), fd;

	if (err)
		return err;
	bpf_link__destroy(clock->links[cpu]);
	clock->links[cpu] = NULL;
	fd = open_event(&clock->config, cpu);
	if (fd < 0)
		return fd;
	/* The descriptor is the link's from then on. */
	link = bpf_program__attach_perf_event(clock->program, fd);
	if (!link) {
		err = -errno;
		close(fd);
		return err;
	}
	clock->links[cpu] = link;
	return 0;
}

void cpu_clock__explain(const struct cpu_clock *clock, int err)
{
	const struct cpu_clock_config *config = &clock->config;
	int64_t limit;

	if (config->type == PERF_TYPE_HARDWARE &&
	    (err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV || err == -ENXIO))
		pr_err("-e cycles: this machine has no hardware counters, as many virtual machines "
		       "have none; use -e cpu-clock");
	else if (err == -EINVAL && config->freq &&
		 !sysctl__read("kernel/perf_event_max_sample_rate", &limit) &&
		 config->freq > (uint64_t)limit)
		pr_err("the kernel allows no more than %lld on-CPU samples a second: choose a "
		       "lower rate, or raise kernel.perf_event_max_sample_rate",
		       (long long)limit);
	else
		pr_err("cannot take on-CPU samples: %s", strerror(-err));
}

void cpu_clock__free(struct cpu_clock *clock)
{
	for (unsigned int i = 0; i < clock->nr; i++)
		bpf_link__destroy(clock->links[i]);
	free(clock->links);
	clock->links = NULL;
	clock->nr = 0;
}
