/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/outputs.h"

#include <errno.h>
#include <stdio.h>

#include "base/units.h"
#include "top/json_samples.h"
#include "top/user_maps.h"

/* For so long what is to be written into files may wait. */
#define FLUSH_NS NSEC_PER_SEC

/* Files of perf have addresses. */
static bool shows_stacks(const struct outputs *outputs)
{
	const struct outputs_options *options = outputs->options;

	return options->tables || options->json || options->screen || outputs->csv;
}

int outputs__open(struct outputs *outputs, const struct outputs_options *options)
{
	int err = 0;

	*outputs = (struct outputs){ .options = options };
	top_names__init(&outputs->names);
	if (options->tables) {
		outputs->batch = batch__new(&options->batch);
		err = outputs->batch ? 0 : -ENOMEM;
	}
	if (!err && options->csv.path)
		outputs->csv = csv_samples__open(&options->csv, &err);
	if (!err && options->perf.path)
		outputs->perf = perf_file__open(&options->perf, &outputs->names, &err);
	if (err)
		return err;
	outputs->user_maps = user_maps__new(outputs->perf ? perf_file__map : NULL, outputs->perf,
					    shows_stacks(outputs));
	outputs->names.user_maps = outputs->user_maps;
	if (!outputs->user_maps)
		return -ENOMEM;
	if (options->screen)
		outputs->screen = screen__open(&options->on_screen, &err);
	return err;
}

/* The pass as tables see it. False: they leave it out. */
static bool pass_of_tables(const struct outputs *outputs, const struct top_pass *pass,
			   struct top_pass *seen)
{
	*seen = *pass;
	if (outputs->options->by_stack)
		seen->weight_ns = pass->stacks_ns;
	return outputs->batch && seen->weight_ns;
}

bool outputs__is_in_tables(const struct outputs *outputs, const struct top_pass *pass)
{
	struct top_pass seen;

	return pass_of_tables(outputs, pass, &seen);
}

int outputs__begin(struct outputs *outputs, const struct top_pass *pass)
{
	struct top_pass seen;
	int err = 0;

	outputs->lead = pass->wall_ns - pass->time;
	if (pass_of_tables(outputs, pass, &seen))
		err = batch__begin(outputs->batch, &seen);
	if (outputs->perf)
		perf_file__begin(outputs->perf, pass);
	if (!err && outputs->screen)
		err = screen__begin(outputs->screen, pass);
	return err || !outputs->csv ? err : csv_samples__begin(outputs->csv, pass);
}

int outputs__learn(struct outputs *outputs, const struct thread_sample *sample)
{
	return user_maps__learn(outputs->user_maps, sample);
}

int outputs__learned(struct outputs *outputs)
{
	return user_maps__read_names(outputs->user_maps);
}

int outputs__add(struct outputs *outputs, const struct top_pass *pass,
		 const struct thread_sample *sample)
{
	struct top_names *names = &outputs->names;
	struct top_pass seen;
	int err = 0;

	if (pass_of_tables(outputs, pass, &seen))
		err = batch__add(outputs->batch, sample, names);
	if (!err && outputs->screen)
		err = screen__add(outputs->screen, sample, names);
	if (!err && outputs->options->json)
		err = json_samples__print(pass, sample, names, stdout);
	if (!err && outputs->csv)
		err = csv_samples__add(outputs->csv, pass, sample, names);
	return err || !outputs->perf ? err : perf_file__add(outputs->perf, pass, sample);
}

int outputs__end(struct outputs *outputs, const struct top_pass *pass)
{
	struct top_pass seen;

	if (pass_of_tables(outputs, pass, &seen))
		batch__end(outputs->batch, pass);
	if (outputs->screen)
		screen__end(outputs->screen, pass);
	if (outputs->options->json && fflush(stdout))
		return -errno;
	if (!outputs->oldest)
		outputs->oldest = pass->time;
	outputs->waits = true;
	return outputs->csv ? csv_samples__end(outputs->csv, pass) : 0;
}

int outputs__complete(struct outputs *outputs, const void *data, size_t size)
{
	struct completion completion;
	int err = completion__decode(data, size, &completion);

	outputs->waits = true;
	return err || !outputs->csv
		       ? err
		       : csv_samples__complete(outputs->csv, &completion, outputs->lead);
}

int outputs__tick(struct outputs *outputs, uint64_t now, uint64_t next)
{
	int err = 0;

	if (!outputs->waits)
		return 0;
	if (!outputs->oldest)
		outputs->oldest = now;
	if (next < outputs->oldest + FLUSH_NS)
		return 0;
	outputs->waits = false;
	outputs->oldest = 0;
	if (outputs->csv)
		err = csv_samples__flush(outputs->csv);
	return err || !outputs->perf ? err : perf_file__flush(outputs->perf);
}

int outputs__print(struct outputs *outputs, uint32_t own_ppm)
{
	return outputs->batch ? batch__print(outputs->batch, own_ppm, stdout) : 0;
}

void outputs__leave_screen(struct outputs *outputs)
{
	screen__close(outputs->screen);
	outputs->screen = NULL;
}

int outputs__close(struct outputs *outputs, int err)
{
	int of_csv = csv_samples__close(outputs->csv), of_perf = perf_file__close(outputs->perf);

	outputs__leave_screen(outputs);
	batch__delete(outputs->batch);
	user_maps__delete(outputs->user_maps);
	top_names__free(&outputs->names);
	if (!err)
		err = of_csv;
	return err ? err : of_perf;
}
