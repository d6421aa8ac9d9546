/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/recording.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "input/elsewhere.h"
#include "machine/machine.h"
#include "report/wait_words.h"

static const char *comm_of(const struct recording *recording, uint32_t tid, uint64_t time)
{
	const struct thread *thread = machine__thread_at(recording->machine, (pid_t)tid, time);
	const char *comm = thread ? thread__comm_at(thread, time) : NULL;

	return comm ? comm : "?";
}

static int take_sample(void *ctx, const struct sample *sample)
{
	struct recording *recording = ctx;
	char words[WAIT_WORDS_MAX];
	const char *wait = NULL;
	uint64_t left_out;
	int err;

	if (sample->reason)
		wait = wait_words__of_reason(sample->reason, words);
	recording->has_reasons |= sample->reason != NULL;
	/* Filtered ones, too: they may end waits of threads that the filter lets through. */
	if (sample->kind == SAMPLE_WAKEUP) {
		err = locks__add_wakeup(&recording->locks, sample,
					comm_of(recording, sample->tid, sample->time));
		if (err)
			return err;
	}
	left_out = profile__left_out(recording->profile).samples;
	err = profile__add(recording->profile, recording->machine, sample, wait);
	if (err || profile__left_out(recording->profile).samples != left_out)
		return err;
	if (sample->not_sampled)
		recording->unmet_ns += sample->period;
	return locks__add(&recording->locks, sample,
			  comm_of(recording, sample->pid, sample->time));
}

static int take_build_id(void *ctx, const char *path, const unsigned char *id, size_t len)
{
	return symbols__build_id(ctx, path, id, len);
}

static int read_all(struct recording *recording)
{
	const struct input_info *info = input__info(recording->input);
	int err = input__read(recording->input, recording->machine, take_sample, recording);

	if (!err)
		err = input_info__each_build_id(info, take_build_id, recording->symbols);
	if (!err)
		err = symbols__resolve(recording->symbols, recording->machine,
				       input_info__is_elsewhere(info));
	return err;
}

int recording__read(struct recording *recording, const char *path,
		    const struct symbols_options *symbols, const struct profile_filter *filter)
{
	unsigned long errors = log__nr_errors();
	int err;

	*recording = (struct recording){ .path = path };
	recording->input = input__open(path, &err);
	if (!recording->input)
		return err;
	recording->machine = machine__new();
	recording->symbols = symbols__new(symbols);
	if (recording->symbols)
		recording->profile = profile__new(recording->symbols, filter);
	err = recording->machine && recording->profile ? read_all(recording) : -ENOMEM;
	locks__sort(&recording->locks);
	if (err && log__nr_errors() == errors)
		pr_err("cannot read %s: %s", path, strerror(-err));
	return err;
}

void recording__close(struct recording *recording)
{
	locks__free(&recording->locks);
	profile__delete(recording->profile);
	symbols__delete(recording->symbols);
	machine__delete(recording->machine);
	input__close(recording->input);
}
