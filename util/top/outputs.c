/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/outputs.h"

#include <errno.h>
#include <stdio.h>

#include "top/json_samples.h"
#include "top/user_maps.h"

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
	outputs->user_maps = user_maps__new(outputs->perf ? perf_file__map : NULL, outputs->perf);
	outputs->names.user_maps = outputs->user_maps;
	return outputs->user_maps ? 0 : -ENOMEM;
}

int outputs__begin(struct outputs *outputs, const struct top_pass *pass)
{
	int err = outputs->batch ? batch__begin(outputs->batch, pass) : 0;

	outputs->lead = pass->wall_ns - pass->time;
	return err || !outputs->csv ? err : csv_samples__begin(outputs->csv, pass);
}

int outputs__add(struct outputs *outputs, const struct top_pass *pass,
		 const struct thread_sample *sample)
{
	struct top_names *names = &outputs->names;
	int err = user_maps__learn(outputs->user_maps, sample);

	if (!err && outputs->batch)
		err = batch__add(outputs->batch, sample, names);
	if (!err && outputs->options->json)
		err = json_samples__print(pass, sample, names, stdout);
	if (!err && outputs->csv)
		err = csv_samples__add(outputs->csv, pass, sample, names);
	return err || !outputs->perf ? err : perf_file__add(outputs->perf, pass, sample);
}

int outputs__end(struct outputs *outputs, const struct top_pass *pass)
{
	int err = 0;

	if (outputs->batch)
		batch__end(outputs->batch, pass);
	if (outputs->options->json && fflush(stdout))
		return -errno;
	if (outputs->csv)
		err = csv_samples__end(outputs->csv, pass);
	return err || !outputs->perf ? err : perf_file__end(outputs->perf, pass);
}

int outputs__complete(struct outputs *outputs, const void *data, size_t size)
{
	struct completion completion;
	int err = completion__decode(data, size, &completion);

	return err || !outputs->csv
		       ? err
		       : csv_samples__complete(outputs->csv, &completion, outputs->lead);
}

int outputs__tick(struct outputs *outputs, uint64_t now)
{
	return outputs->csv ? csv_samples__tick(outputs->csv, now) : 0;
}

int outputs__print(struct outputs *outputs)
{
	return outputs->batch ? batch__print(outputs->batch, stdout) : 0;
}

int outputs__close(struct outputs *outputs, int err)
{
	int of_csv = csv_samples__close(outputs->csv), of_perf = perf_file__close(outputs->perf);

	batch__delete(outputs->batch);
	user_maps__delete(outputs->user_maps);
	top_names__free(&outputs->names);
	if (!err)
		err = of_csv;
	return err ? err : of_perf;
}
