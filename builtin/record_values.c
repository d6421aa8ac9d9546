/* SPDX-License-Identifier: GPL-2.0-only */
/* The values of denet-record's options: read by util/, refused here in the user's words. */
#include "record_values.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "builtin.h"

#define RECORD_MIN_WINDOW (10 * NSEC_PER_MSEC)
#define RECORD_MAX_FILES 100000
#define RECORD_MAX_RATE 100000000
#define RECORD_MAX_WINDOW (3600 * NSEC_PER_SEC)

void record_value__time(struct argp_state *state, const char *option, const char *text,
			uint64_t *ns)
{
	int err = units__parse_time(text, NSEC_PER_MSEC, ns);

	if (err == -ERANGE)
		usage_error(state, "%s %s: too long", option, text);
	else if (err)
		usage_error(state, "%s %s: not a time, such as 20, 20ms, 1.5s, 100us or 800ns",
			    option, text);
}

void record_value__period(struct argp_state *state, const char *text, uint64_t *ns)
{
	record_value__time(state, "--off-cpu-period", text, ns);
	if (*ns < NSEC_PER_USEC || *ns > CAPTURE_MAX_PERIOD_NS)
		usage_error(state, "--off-cpu-period %s: must be from 1us to 4s", text);
}

void record_value__rate(struct argp_state *state, const char *text, uint32_t *rate)
{
	uint64_t number;

	if (units__parse_number(text, RECORD_MAX_RATE, &number) || !number)
		usage_error(state, "--off-cpu-max-rate %s: must be a number from 1 to %d", text,
			    RECORD_MAX_RATE);
	*rate = (uint32_t)number;
}

void record_value__ids(struct argp_state *state, const char *option, const char *text,
		       struct id_list *list)
{
	int err = id_list__parse(list, text);

	if (err == -ENOMEM)
		argp_failure(state, EXIT_STATUS_ERROR, ENOMEM, "%s", option);
	else if (err == -ERANGE)
		usage_error(state, "%s %s: a number is too large", option, text);
	else if (err)
		usage_error(state, "%s %s: not a list of numbers, such as 42 or 42,43", option,
			    text);
}

void record_value__window(struct argp_state *state, const char *text, uint64_t *ns)
{
	record_value__time(state, "--window", text, ns);
	if (*ns < RECORD_MIN_WINDOW || *ns > RECORD_MAX_WINDOW)
		usage_error(state, "--window %s: must be from 10ms to 3600s", text);
}

void record_value__max_stack(struct argp_state *state, const char *text, uint32_t *frames)
{
	uint64_t number;

	if (units__parse_number(text, CAPTURE_MAX_FRAMES, &number) || !number)
		usage_error(state, "--max-stack %s: must be a number from 1 to %d", text,
			    CAPTURE_MAX_FRAMES);
	*frames = (uint32_t)number;
}

void record_value__call_graph(struct argp_state *state, const char *text, enum call_graph *mode,
			      uint32_t *bytes)
{
	int err;

	*bytes = 0;
	err = parse__call_graph(text, mode, bytes);
	if (err == -ERANGE)
		usage_error(state, "--call-graph %s: incorrect stack dump size (max %d)", text,
			    PARSE_MAX_DUMP);
	else if (err)
		usage_error(state, "--call-graph %s: must be fp, dwarf[,BYTES] or auto[,BYTES]",
			    text);
}

void record_value__pages(struct argp_state *state, const char *text, uint32_t *pages)
{
	int err = parse__ring_pages(text, (size_t)sysconf(_SC_PAGESIZE), pages);

	if (err == -ERANGE)
		usage_error(state, "-m %s: must be from 1 page to 1G", text);
	else if (err)
		usage_error(state, "-m %s: not a number of pages, nor a size such as 512K", text);
}

void record_value__cpus(struct argp_state *state, const char *text, struct cpus *cpus)
{
	int err = cpus__parse(cpus, text);

	if (err == -ERANGE)
		usage_error(state, "-C %s: a CPU is at most %d, and a range runs upwards", text,
			    CPUS_MAX - 1);
	else if (err)
		usage_error(state, "-C %s: not a list of CPUs, such as 2 or 0-3,8", text);
}

void record_value__delay(struct argp_state *state, const char *text, uint64_t *ns)
{
	if (!strcmp(text, "-1"))
		usage_error(state, "-D -1: to begin only when told so is not there yet; give the "
				   "delay in ms");
	record_value__time(state, "-D", text, ns);
}

void record_value__names(struct argp_state *state, const char *option, const char *text,
			 char **names)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", *names ? *names : "", *names ? "," : "", text) < 0)
		argp_failure(state, EXIT_STATUS_ERROR, ENOMEM, "%s", option);
	free(*names);
	*names = joined;
}

void record_value__max_size(struct argp_state *state, const char *text, uint64_t *bytes)
{
	if (units__parse_size(text, bytes) || !*bytes)
		usage_error(state, "--max-size %s: not a size, such as 500K, 100M or 2G", text);
}

void record_value__switch_output(struct argp_state *state, const char *text,
				 struct rotation_options *rotation)
{
	if (rotation__parse(rotation, text ? text : "signal"))
		usage_error(state,
			    "--switch-output=%s: not a size such as 100M, nor a time such "
			    "as 30s, 10m, 1h or 1d",
			    text);
}

void record_value__max_files(struct argp_state *state, const char *text, uint64_t *files)
{
	if (units__parse_number(text, RECORD_MAX_FILES, files) || !*files)
		usage_error(state, "--switch-max-files %s: must be a number from 1 to %d", text,
			    RECORD_MAX_FILES);
}
