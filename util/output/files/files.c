/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/files/files.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/whole_file.h"
#include "output/pprof/pprof.h"
#include "output/speedscope/speedscope.h"

typedef int (*write_fn)(const struct profile *profile, const struct flamegraph_other *other,
			FILE *out);

static int write_pprof(const struct profile *profile, const struct flamegraph_other *other,
		       FILE *out)
{
	(void)other;
	return pprof__write(profile, out);
}

static int write_speedscope(const struct profile *profile, const struct flamegraph_other *other,
			    FILE *out)
{
	(void)other;
	return speedscope__write(profile, out);
}

bool output_files__any(const struct output_files *files)
{
	return files->flamegraph || files->pprof || files->speedscope;
}

static int write_file(const char *path, write_fn write, const struct profile *profile,
		      const struct flamegraph_other *other)
{
	struct whole_file file;
	int err = whole_file__open(&file, path);

	if (!err)
		err = whole_file__close(
			&file, whole_file__write_error(write(profile, other, file.out)));
	if (err)
		pr_err("cannot write %s: %s", strcmp(path, "-") ? path : "to standard output",
		       strerror(-err));
	return err;
}

int output_files__write(const struct output_files *files, const struct profile *profile,
			const struct flamegraph_other *other)
{
	const struct {
		const char *path;
		write_fn write;
	} all[] = {
		{ files->flamegraph, flamegraph__write },
		{ files->pprof, write_pprof },
		{ files->speedscope, write_speedscope },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && !err; i++) {
		if (all[i].path)
			err = write_file(all[i].path, all[i].write, profile, other);
	}
	return err;
}
