/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/own_cost.h"

#include "base/cpu_time.h"
#include "base/minmax.h"
#include "base/units.h"

#define JUDGE_NS NSEC_PER_SEC
#define MIN_LOOKS 2
/* A period that is changed is one that would cost so much of the limit. */
#define AIM 0.9
/* It becomes shorter where so much is used, and not by more than half at once. */
#define LITTLE 0.75

void own_cost__init(struct own_cost *cost, uint32_t limit_ppm, uint64_t wanted_ns,
		    uint64_t most_ns, uint64_t now, uint64_t cpu_ns)
{
	*cost = (struct own_cost){
		.limit_ppm = limit_ppm,
		.wanted_ns = wanted_ns,
		.most_ns = most_ns,
		.period_ns = wanted_ns,
		.since = now,
		.cpu_ns = cpu_ns,
		.told = now,
		.told_cpu_ns = cpu_ns,
		.began = now,
		.first_cpu_ns = cpu_ns,
		.latest_cpu_ns = cpu_ns,
	};
}

static uint32_t share(uint64_t from_cpu, uint64_t to_cpu, uint64_t ns)
{
	return ns && to_cpu > from_cpu ? (uint32_t)((double)(to_cpu - from_cpu) / (double)ns * 1e6)
				       : 0;
}

/* Costs are in proportion to the looks in a second. */
static bool judge(struct own_cost *cost)
{
	double use = (double)cost->ppm / cost->limit_ppm, period;

	if (use <= 1 && (use >= LITTLE || cost->period_ns == cost->wanted_ns))
		return false;
	period = (double)cost->period_ns * (use < AIM / 2 ? 0.5 : use / AIM);
	if (period < (double)cost->wanted_ns)
		period = (double)cost->wanted_ns;
	if (period > (double)cost->most_ns)
		period = (double)cost->most_ns;
	if ((uint64_t)period == cost->period_ns)
		return false;
	cost->period_ns = (uint64_t)period;
	return true;
}

bool own_cost__look(struct own_cost *cost, uint64_t now, uint64_t cpu_ns)
{
	cost->looks++;
	cost->latest_cpu_ns = cpu_ns;
	if (now - cost->since < JUDGE_NS || cost->looks < MIN_LOOKS)
		return false;
	cost->ppm = share(cost->cpu_ns, cpu_ns, now - cost->since);
	cost->since = now;
	cost->cpu_ns = cpu_ns;
	cost->looks = 0;
	return cost->limit_ppm && judge(cost);
}

uint32_t own_cost__tell(struct own_cost *cost, uint64_t now)
{
	uint32_t ppm = share(cost->told_cpu_ns, cost->latest_cpu_ns, now - cost->told);

	cost->told = now;
	cost->told_cpu_ns = cost->latest_cpu_ns;
	return ppm;
}

uint32_t own_cost__mean(const struct own_cost *cost, uint64_t now)
{
	return share(cost->first_cpu_ns, cost->latest_cpu_ns, now - cost->began);
}

uint64_t own_cost__cpu_ns(void)
{
	return cpu_time__of(RUSAGE_SELF) + cpu_time__of(RUSAGE_CHILDREN);
}
