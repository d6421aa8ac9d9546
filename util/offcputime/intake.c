/* SPDX-License-Identifier: GPL-2.0-only */
#include "offcputime/intake.h"

#include <errno.h>

#include "machine/machine.h"

/* Before its exec it runs code of ours. */
static bool is_held(const struct intake *intake, const struct sample *sample)
{
	return (pid_t)sample->pid == intake->held &&
	       sample->time - sample->measured < intake->held_until;
}

static int add(struct intake *intake, const struct sample *sample)
{
	if (is_held(intake, sample))
		return 0;
	if (sample->never_ran && intake->leave_out_never_ran) {
		intake->left_out.threads++;
		intake->left_out.ns += sample->period;
		return 0;
	}
	chain_stats__sample(&intake->chain_stats, intake->machine, sample);
	return profile__add(intake->profile, intake->machine, sample, NULL);
}

/* A name that its thread got before the sample may be in a ring that is read later. */
static int give(void *ctx, const struct sample *sample)
{
	struct intake *intake = ctx;

	if (sample->time >= intake->callchain.settled)
		return sample_queue__add(&intake->early, sample);
	return add(intake, sample);
}

static int take_sample(void *ctx, const struct sample *sample)
{
	struct intake *intake = ctx;

	return callchain__sample(&intake->callchain, sample);
}

static int take_event(void *ctx, const struct task_event *event)
{
	struct intake *intake = ctx;

	if (event->kind == TASK_EVENT_EXEC && event->pid == intake->held && !intake->has_execed) {
		intake->has_execed = true;
		intake->held_until = event->time;
	}
	callchain__task(&intake->callchain, event);
	return 0;
}

static int take_settled(void *ctx, uint64_t time)
{
	struct intake *intake = ctx;
	const struct sample *sample;
	int err = callchain__settled(&intake->callchain, time);

	while (!err && (sample = sample_queue__first(&intake->early)) && sample->time < time) {
		err = add(intake, sample);
		sample_queue__drop(&intake->early);
	}
	return err;
}

static int take_lost(void *ctx, uint64_t records, uint32_t cpu)
{
	struct intake *intake = ctx;

	(void)records;
	(void)cpu;
	callchain__lost(&intake->callchain);
	return 0;
}

static int take_round(void *ctx)
{
	struct intake *intake = ctx;

	callchain__round(&intake->callchain);
	return 0;
}

int intake__init(struct intake *intake, struct machine *machine, struct capture_sink *capture_sink,
		 enum callchain_mode mode)
{
	intake->machine = machine;
	*capture_sink = (struct capture_sink){
		.ctx = intake,
		.sample = take_sample,
		.task = take_event,
		.settled = take_settled,
		.lost = take_lost,
		.round = take_round,
	};
	return callchain__init(&intake->callchain, mode, machine, give, intake);
}

int intake__existing(struct intake *intake, const struct task_event *event)
{
	int err = machine__handle(intake->machine, event);

	return err < 0 ? err : take_event(intake, event);
}

int intake__finish(struct intake *intake, int deadline_ms)
{
	return callchain__finish(&intake->callchain, deadline_ms, NULL, NULL);
}

void intake__free(struct intake *intake)
{
	callchain__free(&intake->callchain);
	sample_queue__free(&intake->early);
}
