/* SPDX-License-Identifier: GPL-2.0-only */
/* The statistics of a capture: the counters of the programs and of user space in one table. */
#include "capture/internal.h"

#include "bpf/user_rules.h"
#include "capture/hist.h"

/*
 * Kernel memory for a task's state, calculated: one slab object of 192 bytes for the storage
 * element with struct task_state, and one of 192 for the task's bpf_local_storage, which other
 * users of task storage share.
 */
#define TASK_BYTES 384ULL

static struct capture_tally from_wire(const struct wire_tally *tally)
{
	return (struct capture_tally){ tally->count, tally->ns };
}

static struct capture_tally add(struct capture_tally a, struct capture_tally b)
{
	return (struct capture_tally){ a.count + b.count, a.ns + b.ns };
}

static struct capture_wakeups wakeups_from_wire(const struct wire_accounts *sum)
{
	const struct wire_tally *outcome = sum->outcome;

	return (struct capture_wakeups){
		.seen = from_wire(&sum->seen),
		.direct = from_wire(&outcome[WIRE_OUTCOME_DIRECT]),
		.accumulated = from_wire(&outcome[WIRE_OUTCOME_ACCUMULATED]),
		.filtered = add(add(from_wire(&outcome[WIRE_OUTCOME_FILTERED_STATE]),
				    from_wire(&outcome[WIRE_OUTCOME_FILTERED_MIN])),
				add(from_wire(&outcome[WIRE_OUTCOME_FILTERED_MAX]),
				    from_wire(&outcome[WIRE_OUTCOME_FILTERED_IDLE]))),
		.not_drawn = from_wire(&outcome[WIRE_OUTCOME_NOT_DRAWN]),
		.lost = add(from_wire(&outcome[WIRE_OUTCOME_LOST_RING]),
			    from_wire(&outcome[WIRE_OUTCOME_LOST_INTERNAL])),
	};
}

/* Time that is neither running nor in a block that passes the filters was filtered out. */
static struct capture_lives lives_of(const struct capture *capture,
				     const struct accounts_sums *sums)
{
	const struct running *running = &capture->running;
	struct capture_lives lives = {
		.count = running->lives,
		.ns = running->life_ns,
		.running_ns = running->run_ns,
		.queued_ns = sums->blocks.queued_ns + capture->in_flight_queued_ns,
		.blocked_ns = sums->blocks.blocked_ns + capture->blocked.ns -
			      capture->in_flight_queued_ns,
		.uneven = running->uneven,
		.unaccounted_ns = running->unaccounted_ns,
		.looks = sums->looks.seen.count,
		.lost = sums->blocks.lost_runs,
	};
	uint64_t off = lives.queued_ns + lives.blocked_ns;

	lives.filtered_ns = running->rest_ns > off ? running->rest_ns - off : 0;
	return lives;
}

static void move(struct capture_tally *from, struct capture_tally *to,
		 const struct capture_tally *part)
{
	from->count -= part->count;
	from->ns -= part->ns;
	*to = add(*to, *part);
}

/*
 * Idle blocks are recognized by their chain, after the programs have counted them as kept: they are
 * subtracted from the counter of their delivery.
 */
static void move_idle(const struct capture *capture, struct capture_stats *stats)
{
	move(&stats->direct, &stats->filtered_idle, &capture->idle[DELIVERY_DIRECT]);
	move(&stats->accumulated, &stats->filtered_idle, &capture->idle[DELIVERY_SUM]);
	move(&stats->in_flight, &stats->filtered_idle, &capture->idle[DELIVERY_IN_FLIGHT]);
}

/* Adds the histogram's buckets, which have no separate counter of their blocks, to the sum. */
static int add_histogram(const struct capture *capture, struct capture_tally *sum)
{
	struct capture_hist hist;
	int err = capture__hist(capture, &hist);

	for (size_t state = 0; state < CAPTURE_HIST_STATES && !err; state++) {
		for (size_t i = 0; i < CAPTURE_HIST_BUCKETS; i++)
			*sum = add(*sum, hist.rows[state].buckets[i]);
	}
	return err;
}

/* Adds the walks of one kind of sample to the sum over all kinds. */
static void add_walks(struct capture_stats *stats, const struct wire_accounts *sum)
{
	stats->orc_walks += sum->orc_walks;
	stats->orc_fallbacks += sum->orc_fallbacks;
	for (int i = 0; i < USER_WALK_ENDS; i++)
		stats->user_walks[i] = add(stats->user_walks[i], from_wire(&sum->user_walks[i]));
}

/* Counts of all blocks, by outcome. Threads that are still blocked at the end are included. */
static void add_outcomes(const struct capture *capture, struct capture_stats *stats,
			 const struct wire_accounts *sum)
{
	const struct capture_stats *own = &capture->stats;
	const struct wire_tally *outcome = sum->outcome;

	/* Only user space counts blocks in flight: the programs never saw their ends. */
	stats->seen = add(from_wire(&sum->seen), capture->blocked);
	stats->direct = from_wire(&outcome[WIRE_OUTCOME_DIRECT]);
	stats->accumulated = from_wire(&outcome[WIRE_OUTCOME_ACCUMULATED]);
	stats->not_drawn = from_wire(&outcome[WIRE_OUTCOME_NOT_DRAWN]);
	stats->filtered_state =
		add(own->filtered_state, from_wire(&outcome[WIRE_OUTCOME_FILTERED_STATE]));
	stats->filtered_min =
		add(own->filtered_min, from_wire(&outcome[WIRE_OUTCOME_FILTERED_MIN]));
	stats->filtered_max =
		add(own->filtered_max, from_wire(&outcome[WIRE_OUTCOME_FILTERED_MAX]));
	stats->lost_ring = from_wire(&outcome[WIRE_OUTCOME_LOST_RING]);
	stats->lost_internal = from_wire(&outcome[WIRE_OUTCOME_LOST_INTERNAL]);
	move_idle(capture, stats);
}

/* Runnable time, and switches that no hook has shown. */
static void add_runnable(const struct capture *capture, struct capture_stats *stats,
			 const struct wire_accounts *sum)
{
	const struct capture_stats *own = &capture->stats;

	stats->runnable_ns = own->runnable_ns + sum->runnable_ns;
	stats->preempted_ns = own->preempted_ns + sum->preempted_ns;
	stats->throttled_ns = own->throttled_ns + sum->throttled_ns;
	stats->throttling_unknown = !offcpu__knows_throttling(capture->offcpu);
	stats->unseen_switches = sum->unseen;
}

/* Stacks that were copied or walked, and those for which there was no room. */
static void add_stacks(const struct capture_stats *own, struct capture_stats *stats,
		       const struct accounts_sums *sums)
{
	const struct wire_accounts *blocks = &sums->blocks, *wakeups = &sums->wakeups;

	stats->copies = own->copies + blocks->copies + wakeups->copies;
	stats->lost_copies = blocks->lost_copies + wakeups->lost_copies;
	stats->ringless_copies = blocks->ringless_copies + wakeups->ringless_copies;
	stats->compat_copies = own->compat_copies + blocks->compat_copies + wakeups->compat_copies;
	stats->unread_copies = blocks->unread_copies + wakeups->unread_copies;
	stats->lost_stack = add(own->lost_stack, from_wire(&blocks->no_stack));
	stats->full_entries = blocks->full_entries + wakeups->full_entries;
	stats->full_stacks = blocks->full_stacks + wakeups->full_stacks;
	add_walks(stats, blocks);
	add_walks(stats, wakeups);
	add_walks(stats, &sums->looks);
}

/* The kernel's statistics of the programs and their maps. 0 or a negative errno. */
static int add_bpf(struct capture *capture, struct capture_stats *stats)
{
	struct bpf_stats bpf_stats;
	int64_t alive;
	int err = offcpu__bpf_stats(capture->offcpu, &bpf_stats);

	if (err)
		return err;
	stats->unseen_switches += bpf_stats.recursion_misses;
	stats->unseen_births = bpf_stats.missed_births;
	stats->unseen_deaths = bpf_stats.missed_deaths;
	stats->wakeups.missed = bpf_stats.missed_wakeups;
	stats->bpf_run_ns = bpf_stats.run_ns;
	stats->bpf_run_count = bpf_stats.run_count;
	stats->bpf_map_bytes = bpf_stats.map_bytes +
			       user_rules__map_bytes(offcpu__user_rules(capture->offcpu));
	alive = target_maps__alive(&capture->maps->targets);
	if (alive > 0)
		stats->task_bytes = TASK_BYTES * (uint64_t)alive;
	return 0;
}

int capture__stats(struct capture *capture, struct capture_stats *stats)
{
	const struct capture_stats *own = &capture->stats;
	struct accounts_sums sums;
	uint64_t lost;
	int err = accounts__read(&capture->maps->accounts, &sums);

	*stats = *own;
	if (err)
		return err;
	if (capture->options.on_cpu.clock)
		stats->lives = lives_of(capture, &sums);
	add_outcomes(capture, stats, &sums.blocks);
	if (capture->options.histogram)
		err = add_histogram(capture, &stats->in_histogram);
	if (err)
		return err;
	add_runnable(capture, stats, &sums.blocks);
	add_stacks(own, stats, &sums);
	stats->wakeups = wakeups_from_wire(&sums.wakeups);
	stats->lost_reasons = sums.blocks.lost_reasons;
	/* All other records that the rings lost were side band. */
	lost = accounts__lost_records(&sums);
	stats->lost_sideband = own->lost_records > lost ? own->lost_records - lost : 0;
	stats->lost_hits = tracepoint_rings__lost(capture->tracepoints);
	stats->flooded = capture->sideband_filter.nr_flooded;
	return add_bpf(capture, stats);
}
