/* SPDX-License-Identifier: GPL-2.0-only */
/* The cost of the programs between two readings. */
#include "capture/internal.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

void cost__init(struct cost *cost)
{
	*cost = (struct cost){ .stats_fd = -1 };
}

void cost__free(struct cost *cost)
{
	if (cost->stats_fd >= 0)
		close(cost->stats_fd);
	free(cost->seen);
	cost__init(cost);
}

int capture__measure(struct capture *capture, bool on)
{
	struct cost *cost = &capture->cost;

	if (on == (cost->stats_fd >= 0))
		return 0;
	if (!on) {
		close(cost->stats_fd);
		cost->stats_fd = -1;
		return 0;
	}
	cost->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	return cost->stats_fd < 0 ? -errno : 0;
}

static int make_room(struct cost *cost)
{
	int nr = libbpf_num_possible_cpus();

	if (cost->seen)
		return 0;
	cost->seen = nr > 0 ? calloc(2 * (size_t)nr, sizeof(*cost->seen)) : NULL;
	cost->nr_cpus = nr > 0 ? (size_t)nr : 0;
	return cost->seen ? 0 : -ENOMEM;
}

int capture__cost(struct capture *capture, struct capture_cost *out)
{
	struct cost *cost = &capture->cost;
	struct accounts_load load = { 0 };
	uint64_t *now, seen, runs = 0, run_ns = 0;
	int err;

	*out = (struct capture_cost){ 0 };
	err = make_room(cost);
	if (err)
		return err;
	now = cost->seen + cost->nr_cpus;
	memset(now, 0, cost->nr_cpus * sizeof(*now));
	err = accounts__seen(&capture->maps->accounts, now, cost->nr_cpus, &load);
	if (!err)
		err = offcpu__runs(capture->offcpu, &runs, &run_ns);
	if (err)
		return err;
	for (size_t i = 0; i < cost->nr_cpus && cost->known; i++) {
		seen = now[i] - cost->seen[i];
		out->seen += seen;
		if (seen > out->seen_busiest)
			out->seen_busiest = seen;
	}
	if (cost->known) {
		out->run_ns = run_ns - cost->run_ns;
		out->runs = runs - cost->runs;
		out->kept = load.kept - cost->load.kept;
		out->not_drawn = load.not_drawn - cost->load.not_drawn;
		out->short_ns = load.short_ns - cost->load.short_ns;
	}
	memcpy(cost->seen, now, cost->nr_cpus * sizeof(*now));
	cost->runs = runs;
	cost->run_ns = run_ns;
	cost->load = load;
	cost->known = true;
	return 0;
}
