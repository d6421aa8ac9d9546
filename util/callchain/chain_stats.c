/* SPDX-License-Identifier: GPL-2.0-only */
#include "callchain/chain_stats.h"

#include <stdio.h>
#include <string.h>

#include "machine/machine.h"

static struct chain_program *get_program(struct chain_stats *stats, const char *comm)
{
	struct chain_program *program;

	for (size_t i = 0; i < stats->nr; i++) {
		if (!strcmp(stats->programs[i].comm, comm))
			return &stats->programs[i];
	}
	if (stats->nr == CHAIN_STATS_NAMES)
		return &stats->rest;
	program = &stats->programs[stats->nr++];
	snprintf(program->comm, sizeof(program->comm), "%s", comm);
	return program;
}

static void note_process(struct chain_program *program, pid_t pid)
{
	unsigned int nr = program->nr_pids;

	for (unsigned int i = 0; i < nr && i < CHAIN_STATS_PIDS; i++) {
		if (program->pids[i] == pid)
			return;
	}
	if (nr < CHAIN_STATS_PIDS)
		program->pids[nr] = pid;
	if (nr <= CHAIN_STATS_PIDS)
		program->nr_pids++;
}

void chain_stats__add(struct chain_stats *stats, const char *comm, pid_t pid, enum chain_end end,
		      uint64_t ns)
{
	struct chain_program *program = get_program(stats, comm);

	stats->ns += ns;
	program->ns += ns;
	if (end == CHAIN_WHOLE)
		return;
	program->broken_ns += ns;
	program->by_end[end] += ns;
	note_process(program, pid);
}

void chain_stats__sample(struct chain_stats *stats, const struct machine *machine,
			 const struct sample *sample)
{
	const struct thread *leader;
	const char *comm;

	/* The chains of wakers are those of others; a thread without user side has none. */
	if (sample->kind != SAMPLE_OFFCPU || sample->idle ||
	    (!sample->user.nr && sample->user_end == CHAIN_WHOLE))
		return;
	leader = machine__thread_at(machine, (pid_t)sample->pid, sample->time);
	comm = leader ? thread__comm_at(leader, sample->time) : NULL;
	if (comm)
		chain_stats__add(stats, comm, (pid_t)sample->pid, sample->user_end,
				 sample->period);
}

const struct chain_program *chain_stats__worst(const struct chain_stats *stats)
{
	const struct chain_program *worst = NULL;

	for (size_t i = 0; i < stats->nr; i++) {
		const struct chain_program *program = &stats->programs[i];

		if (program->broken_ns && program->broken_ns >= program->ns / 2 &&
		    program->broken_ns >= stats->ns / 10 &&
		    (!worst || program->broken_ns > worst->broken_ns))
			worst = program;
	}
	return worst;
}

size_t chain_stats__list(const struct chain_stats *stats,
			 const struct chain_program *list[CHAIN_STATS_NAMES])
{
	size_t nr = 0;

	for (size_t i = 0; i < stats->nr; i++) {
		const struct chain_program *program = &stats->programs[i];
		size_t at = nr;

		if (!program->broken_ns)
			continue;
		for (; at && list[at - 1]->broken_ns < program->broken_ns; at--)
			list[at] = list[at - 1];
		list[at] = program;
		nr++;
	}
	return nr;
}

enum chain_end chain_program__main_end(const struct chain_program *program)
{
	int most = CHAIN_WHOLE;

	for (int end = CHAIN_WHOLE + 1; end < CHAIN_ENDS; end++) {
		if (program->by_end[end] > program->by_end[most])
			most = end;
	}
	return (enum chain_end)most;
}
