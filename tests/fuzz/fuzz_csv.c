/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any bytes as a file of samples in CSV: rows have texts in all columns, and times and weights
 * within their limits, or are counted as none; and they can be printed as tables, one of all or one
 * of each second. Or as a file of calls that have ended, whose times are texts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "top/csv_ends.h"
#include "top/csv_reader.h"
#include "top/replay.h"
#include "top/wall_time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int see(void *ctx, const struct csv_row *row)
{
	(void)ctx;
	for (int i = 0; i < TOP_COLUMNS; i++) {
		if (!row->texts[i] || strchr(row->texts[i], '\n'))
			abort();
	}
	if (row->weight_ns > CSV_ROW_MOST_NS || row->wall_ns > WALL_TIME_MOST_NS)
		abort();
	return 0;
}

static void ignore(void *ctx, enum log_level level, const char *text)
{
	(void)ctx;
	(void)level;
	(void)text;
}

static char dir[] = "/tmp/denet-fuzz-XXXXXX";
static char ends_path[64];

static void remove_dir(void)
{
	unlink(ends_path);
	rmdir(dir);
}

static void make_dir(void)
{
	if (*ends_path)
		return;
	if (!mkdtemp(dir) || atexit(remove_dir))
		abort();
	snprintf(ends_path, sizeof(ends_path), "%s/xcapture_syscend_1.csv", dir);
}

static void print_samples(const char *path, uint64_t interval_ns)
{
	const struct batch_options batch = { .columns = { TOP_COLUMN_STATE, TOP_COLUMN_COMM },
					     .nr_columns = 2, .top = 10 };
	char *text = NULL;
	size_t size = 0;
	struct replay_options options = { .path = path, .batch = &batch,
					  .interval_ns = interval_ns,
					  .out = open_memstream(&text, &size) };

	if (!options.out)
		abort();
	replay__run(&options);
	fclose(options.out);
	free(text);
}

static void read_samples(const uint8_t *data, size_t size)
{
	int fd = memfd_create("samples", MFD_CLOEXEC);
	uint64_t bad = 0;
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	csv_reader__read(path, see, NULL, &bad);
	print_samples(path, size & 1 ? NSEC_PER_SEC : 0);
	close(fd);
}

static void read_ends(const uint8_t *data, size_t size)
{
	const char *texts[TOP_COLUMNS];
	FILE *file = fopen(ends_path, "w");
	struct activity_times times = { 0 };
	struct csv_ends *ends;
	int err;

	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		abort();
	ends = csv_ends__read(dir, NULL, &err);
	if (!ends)
		abort();
	for (int i = 0; i < TOP_COLUMNS; i++)
		texts[i] = "1";
	csv_ends__put(ends, 0, texts, &times);
	csv_ends__delete(ends);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	log__set_sink(ignore, NULL);
	/* As the files of ends begin: those need a folder, which takes ten times as long. */
	if (size > 4 && !memcmp(data, "TYPE", 4)) {
		make_dir();
		read_ends(data, size);
	} else {
		read_samples(data, size);
	}
	return 0;
}
