/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/accounts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

static void add_accounts(struct wire_accounts *sum, const struct wire_accounts *cpu)
{
	sum->seen.count += cpu->seen.count;
	sum->seen.ns += cpu->seen.ns;
	for (int i = 0; i < WIRE_OUTCOME_MAX; i++) {
		sum->outcome[i].count += cpu->outcome[i].count;
		sum->outcome[i].ns += cpu->outcome[i].ns;
	}
	sum->unseen += cpu->unseen;
	sum->lost_stacks += cpu->lost_stacks;
	sum->full_entries += cpu->full_entries;
	sum->full_stacks += cpu->full_stacks;
	sum->lost_reasons += cpu->lost_reasons;
	sum->copies += cpu->copies;
	sum->lost_copies += cpu->lost_copies;
	sum->ringless_copies += cpu->ringless_copies;
	sum->compat_copies += cpu->compat_copies;
	sum->unread_copies += cpu->unread_copies;
	sum->orc_walks += cpu->orc_walks;
	sum->orc_fallbacks += cpu->orc_fallbacks;
	for (int i = 0; i < USER_WALK_ENDS; i++) {
		sum->user_walks[i].count += cpu->user_walks[i].count;
		sum->user_walks[i].ns += cpu->user_walks[i].ns;
	}
	sum->no_stack.count += cpu->no_stack.count;
	sum->no_stack.ns += cpu->no_stack.ns;
	sum->runnable_ns += cpu->runnable_ns;
	sum->preempted_ns += cpu->preempted_ns;
	sum->throttled_ns += cpu->throttled_ns;
	sum->queued_ns += cpu->queued_ns;
	sum->blocked_ns += cpu->blocked_ns;
	sum->lost_runs += cpu->lost_runs;
}

static int read_accounts(const struct bpf_map *map, struct wire_accounts *sum)
{
	size_t stride = (bpf_map__value_size(map) + 7) & ~7UL;
	int nr = libbpf_num_possible_cpus();
	__u32 zero = 0;
	char *values;
	int err = 0;

	*sum = (struct wire_accounts){ 0 };
	values = nr > 0 ? calloc((size_t)nr, stride) : NULL;
	if (!values)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(map), &zero, values))
		err = -errno;
	for (int i = 0; i < nr && !err; i++)
		add_accounts(sum,
			     &((const struct wire_cpu *)(const void *)(values + (size_t)i * stride))
				      ->accounts);
	free(values);
	return err;
}

static uint64_t lost_records(const struct wire_accounts *accounts)
{
	return accounts->outcome[WIRE_OUTCOME_LOST_RING].count + accounts->lost_stacks +
	       accounts->lost_reasons + accounts->lost_copies + accounts->lost_runs;
}

uint64_t accounts__lost_records(const struct accounts_sums *sums)
{
	return lost_records(&sums->blocks) + lost_records(&sums->wakeups) +
	       lost_records(&sums->looks);
}

int accounts__read(const struct accounts *accounts, struct accounts_sums *sums)
{
	int err = read_accounts(accounts->cpus, &sums->blocks);

	if (!err)
		err = read_accounts(accounts->waker_cpus, &sums->wakeups);
	sums->looks = (struct wire_accounts){ 0 };
	if (!err && accounts->clock_cpus)
		err = read_accounts(accounts->clock_cpus, &sums->looks);
	return err;
}

static void add_hist(struct wire_hist *sum, const struct wire_hist *cpu)
{
	for (int i = 0; i < WIRE_HIST_BUCKETS; i++) {
		sum->buckets[i].count += cpu->buckets[i].count;
		sum->buckets[i].ns += cpu->buckets[i].ns;
	}
}

int accounts__hist(const struct accounts *accounts, struct wire_hist *rows)
{
	int nr = libbpf_num_possible_cpus(), err = 0;
	struct wire_hist *cpus;

	cpus = nr > 0 ? calloc((size_t)nr, sizeof(*cpus)) : NULL;
	if (!cpus)
		return -ENOMEM;
	for (__u32 state = 0; state < WIRE_STATE_MAX && !err; state++) {
		rows[state] = (struct wire_hist){ 0 };
		if (bpf_map_lookup_elem(bpf_map__fd(accounts->hist), &state, cpus))
			err = -errno;
		for (int i = 0; i < nr && !err; i++)
			add_hist(&rows[state], &cpus[i]);
	}
	free(cpus);
	return err;
}

static void add_load(struct accounts_load *load, const struct wire_tally *outcome)
{
	load->kept += outcome[WIRE_OUTCOME_DIRECT].count + outcome[WIRE_OUTCOME_ACCUMULATED].count;
	load->not_drawn += outcome[WIRE_OUTCOME_NOT_DRAWN].count;
	load->short_ns += outcome[WIRE_OUTCOME_ACCUMULATED].ns + outcome[WIRE_OUTCOME_NOT_DRAWN].ns;
}

int accounts__seen(const struct accounts *accounts, uint64_t *counts, size_t nr,
		   struct accounts_load *load)
{
	size_t stride = (bpf_map__value_size(accounts->cpus) + 7) & ~7UL;
	int possible = libbpf_num_possible_cpus();
	const struct wire_cpu *cpu;
	__u32 zero = 0;
	char *values;
	int err = 0;

	values = possible > 0 ? calloc((size_t)possible, stride) : NULL;
	if (!values)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(accounts->cpus), &zero, values))
		err = -errno;
	for (size_t i = 0; i < nr && i < (size_t)possible && !err; i++) {
		cpu = (const struct wire_cpu *)(const void *)(values + i * stride);
		counts[i] += cpu->accounts.seen.count;
		add_load(load, cpu->accounts.outcome);
	}
	free(values);
	return err;
}
