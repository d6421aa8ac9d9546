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
/* It becomes so many times as long at once, or more if the second before was as expensive. */
#define STEP 2
/* CPU time beyond the limit delays a shorter period: at most so many seconds of the limit count. */
#define MOST_DEBT 30
/* Reading waits until it may take so much. */
#define LEAST_ALLOWANCE_NS (200 * NSEC_PER_USEC)

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
		.allowance_ns = NSEC_PER_SEC,
		.allowed_at = now,
	};
}

static uint32_t share(uint64_t from_cpu, uint64_t to_cpu, uint64_t ns)
{
	return ns && to_cpu > from_cpu ? (uint32_t)((double)(to_cpu - from_cpu) / (double)ns * 1e6)
				       : 0;
}

/* The limit of looks: that of both less what reading takes, half of it at least. */
static uint32_t limit_of_looks(const struct own_cost *cost)
{
	uint32_t half = cost->limit_ppm / 2;

	return cost->read_ppm < half ? cost->limit_ppm - cost->read_ppm : cost->limit_ppm - half;
}

/* The limit of reading: that of both less what looks take, half of it at least. */
static uint32_t limit_of_reading(const struct own_cost *cost)
{
	uint32_t half = cost->limit_ppm / 2, looks = cost->ppm - cost->read_ppm;

	return looks < half ? cost->limit_ppm - looks : half;
}

static void count_debt(struct own_cost *cost, double use, uint64_t ns)
{
	cost->debt += (use - 1) * (double)ns / NSEC_PER_SEC;
	if (cost->debt < 0)
		cost->debt = 0;
	if (cost->debt > MOST_DEBT)
		cost->debt = MOST_DEBT;
}

/*
 * Costs of looks are in proportion to their number in a second, but for those that come once: what
 * the period has to be is the less of what two seconds tell.
 */
static bool judge(struct own_cost *cost, uint64_t ns)
{
	double use = (double)(cost->ppm - cost->read_ppm) / limit_of_looks(cost);
	double now = (double)cost->period_ns, fit = now * use / AIM, period = fit;
	double most = cost->fit_ns > STEP * now ? cost->fit_ns : STEP * now;

	count_debt(cost, use, ns);
	cost->fit_ns = fit;
	if (use <= 1 && (use >= LITTLE || cost->debt > 0 || cost->period_ns == cost->wanted_ns))
		return false;
	if (period > most)
		period = most;
	if (period < now / 2)
		period = now / 2;
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
	uint64_t ns;

	cost->looks++;
	cost->latest_cpu_ns = cpu_ns;
	if (now - cost->since < JUDGE_NS || cost->looks < MIN_LOOKS)
		return false;
	ns = now - cost->since;
	cost->ppm = share(cost->cpu_ns, cpu_ns, ns);
	cost->read_ppm = (uint32_t)min_u64(share(0, cost->read_ns, ns), cost->ppm);
	cost->read_ns = 0;
	cost->since = now;
	cost->cpu_ns = cpu_ns;
	cost->looks = 0;
	/* The first second has costs that do not come again, as the names of all that is there. */
	if (!cost->is_judged) {
		cost->is_judged = true;
		return false;
	}
	return cost->limit_ppm && judge(cost, ns);
}

uint64_t own_cost__allowance(struct own_cost *cost, uint64_t now)
{
	double limit = (double)limit_of_reading(cost) / 1e6;
	/* The first look may be due later. */
	uint64_t ns = now > cost->allowed_at ? now - cost->allowed_at : 0;

	if (!cost->limit_ppm)
		return UINT64_MAX;
	cost->allowance_ns += (uint64_t)((double)ns * limit);
	cost->allowance_ns = min_u64(cost->allowance_ns, (uint64_t)(limit * NSEC_PER_SEC));
	cost->allowed_at = now;
	return cost->allowance_ns < LEAST_ALLOWANCE_NS ? 0 : cost->allowance_ns;
}

void own_cost__spend(struct own_cost *cost, uint64_t ns)
{
	cost->read_ns += ns;
	cost->allowance_ns -= min_u64(ns, cost->allowance_ns);
	cost->used_up |= cost->limit_ppm && cost->allowance_ns < LEAST_ALLOWANCE_NS;
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
