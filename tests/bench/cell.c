/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One cell of the benchmark's table: a workload, alone or under a tool that watches it.
 *
 *	cell [--gated] [--stats] [--no-programs] [--warm MS] [--log FILE] WORKLOAD [TOOL]
 *
 * Both are shell commands. A gated WORKLOAD says READY, works once it was told to, says DONE
 * and lives on until its input ends; in TOOL's command $BENCH_PID is its process. --no-programs:
 * TOOL has no BPF programs, and is ready when it rests. --warm: it is ready so long after the first
 * run of its programs, since it never rests. Prints one line of name=value. Times are nanoseconds.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "bench/objects.h"
#include "bench/process.h"

#define MSEC 1000000ULL
/* Interval between two looks at a tool that is attaching; each look costs some 100 us. */
#define LOOK_NS (2 * MSEC)
/* A tool is ready, its start completed, when it takes less than this in so many looks. */
#define REST_NS (10 * MSEC)
#define REST_CPU_NS (MSEC / 5)
#define REST_LOOKS 10
/* A tool that takes longer is broken. */
#define PATIENCE_NS (60000 * MSEC)

struct cell {
	const char *workload_command;
	const char *tool_command; /* NULL: none */
	const char *log;
	bool gated;
	bool no_programs;
	uint64_t warm_ns; /* 0: the tool is ready when it rests */
	bool stats; /* the programs' run time is measured, which takes time itself */
	struct process workload;
	struct process tool;
	uint64_t attach_ns;
	uint64_t released; /* when the workload began to work */
	uint64_t wall_ns;
	uint64_t exit_ns;
	uint64_t tool_cpu_ns;	/* while the workload ran */
	uint64_t helpers_cpu_ns; /* the same of its children */
	uint64_t tool_sleeps;	/* the same */
	struct objects objects; /* the same, where it makes sense */
};

static void nap(uint64_t ns)
{
	struct timespec time = { .tv_sec = (time_t)(ns / NSEC_PER_SEC),
				 .tv_nsec = (long)(ns % NSEC_PER_SEC) };

	nanosleep(&time, NULL);
}

static int complain(const char *what, int err)
{
	fprintf(stderr, "cell: %s: %s\n", what, strerror(-err));
	return err;
}

/* Any switch runs the tool's programs, if it were only ours between two looks. */
static int await_programs(struct cell *cell)
{
	struct objects objects;
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME), err;

	if (stats < 0)
		return -errno;
	do {
		nap(LOOK_NS);
		err = objects__read(&objects, cell->tool.pid);
		cell->attach_ns = clock__now_ns() - cell->tool.started;
	} while (!err && !objects.run_count && cell->attach_ns < PATIENCE_NS);
	close(stats);
	return err || objects.run_count ? err : -ETIME;
}

/* Until it rests: some tools walk over all processes after they have attached. */
static int await_rest(struct cell *cell)
{
	uint64_t before = process__cpu_ns(&cell->tool), now;

	for (int looks = 0; looks < REST_LOOKS; looks++) {
		nap(REST_NS);
		now = process__cpu_ns(&cell->tool);
		if (!now)
			return -ESRCH;
		if (now - before > REST_CPU_NS)
			looks = 0;
		before = now;
		if (clock__now_ns() - cell->tool.started > PATIENCE_NS)
			return -ETIME;
	}
	return 0;
}

static int start_tool(struct cell *cell)
{
	char pid[16];
	int err;

	if (!cell->tool_command)
		return 0;
	snprintf(pid, sizeof(pid), "%d", cell->workload.pid);
	setenv("BENCH_PID", pid, 1);
	err = process__start(&cell->tool, cell->tool_command, cell->log, 0);
	if (!err && !cell->no_programs)
		err = await_programs(cell);
	if (!err && cell->warm_ns)
		nap(cell->warm_ns);
	else if (!err)
		err = await_rest(cell);
	return err ? complain("the tool did not get ready", err) : 0;
}

static int start_workload(struct cell *cell)
{
	int err = process__start(&cell->workload, cell->workload_command, cell->log,
				 cell->gated ? PROCESS_GATED : 0);

	if (!err && cell->gated)
		err = process__await_word(&cell->workload, "READY");
	return err ? complain("the workload did not start", err) : 0;
}

/* From here on the tool watches at work. A gated workload lives on until it is waited for. */
static int do_work(struct cell *cell)
{
	int err;

	cell->released = clock__now_ns();
	if (!cell->gated) {
		err = start_workload(cell);
		return err ? err : process__wait(&cell->workload);
	}
	err = process__release(&cell->workload);
	return err ? err : process__await_word(&cell->workload, "DONE");
}

/* 0 where a child has ended. */
static uint64_t grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

static int run_workload(struct cell *cell)
{
	struct objects before = { 0 };
	int stats = cell->stats ? bpf_enable_stats(BPF_STATS_RUN_TIME) : -1, err = 0;

	if (cell->stats && stats < 0)
		return -errno;
	if (cell->tool_command) {
		cell->tool_cpu_ns = process__cpu_ns(&cell->tool);
		cell->helpers_cpu_ns = process__helpers_cpu_ns(&cell->tool);
		cell->tool_sleeps = process__sleeps(&cell->tool);
		err = objects__read(&before, cell->tool.pid);
	}
	if (!err)
		err = do_work(cell);
	cell->wall_ns = clock__now_ns() - cell->released;
	if (!err && cell->tool_command) {
		err = objects__read(&cell->objects, cell->tool.pid);
		cell->tool_cpu_ns = process__cpu_ns(&cell->tool) - cell->tool_cpu_ns;
		cell->helpers_cpu_ns =
			grown(cell->helpers_cpu_ns, process__helpers_cpu_ns(&cell->tool));
		cell->tool_sleeps = process__sleeps(&cell->tool) - cell->tool_sleeps;
		cell->objects.run_ns -= before.run_ns;
		cell->objects.run_count -= before.run_count;
	}
	if (stats >= 0)
		close(stats);
	return err ? complain("the workload failed", err) : 0;
}

static int end_workload(struct cell *cell)
{
	int err = cell->workload.pid ? process__wait(&cell->workload) : 0;

	if (!err && cell->workload.status)
		err = -ECHILD;
	return err ? complain("the workload failed", err) : 0;
}

/* As Ctrl-C does. */
static int stop_tool(struct cell *cell)
{
	uint64_t asked = clock__now_ns();
	int err;

	if (!cell->tool_command)
		return 0;
	kill(cell->tool.pid, SIGINT);
	err = process__wait(&cell->tool);
	cell->exit_ns = cell->tool.ended - asked;
	return err ? complain("the tool did not end", err) : 0;
}

static void print_cell(const struct cell *cell)
{
	const struct rusage *work = &cell->workload.usage, *tool = &cell->tool.usage;

	printf("wall=%" PRIu64 " cpu=%" PRIu64 " switches=%ld", cell->wall_ns,
	       rusage__cpu_ns(work), work->ru_nvcsw + work->ru_nivcsw);
	if (cell->tool_command)
		printf(" started=%" PRIu64 " attach=%" PRIu64 " exit=%" PRIu64 " status=%d"
		       " tool_cpu=%" PRIu64 " helpers_cpu=%" PRIu64 " tool_all_cpu=%" PRIu64
		       " tool_rss=%ld tool_sleeps=%" PRIu64 " programs=%u maps=%u"
		       " map_bytes=%" PRIu64 " runs=%" PRIu64 " run_ns=%" PRIu64,
		       cell->tool.started, cell->attach_ns, cell->exit_ns, cell->tool.status,
		       cell->tool_cpu_ns, cell->helpers_cpu_ns, rusage__cpu_ns(tool),
		       tool->ru_maxrss * 1024, cell->tool_sleeps, cell->objects.programs,
		       cell->objects.maps, cell->objects.map_bytes, cell->objects.run_count,
		       cell->objects.run_ns);
	putchar('\n');
}

static void usage(void)
{
	fprintf(stderr, "usage: cell [--gated] [--stats] [--no-programs] [--warm MS] [--log FILE] "
			"WORKLOAD [TOOL]\n");
	exit(2);
}

static void parse(struct cell *cell, int argc, char **argv)
{
	static const struct option options[] = {
		{ "gated", no_argument, NULL, 'g' },
		{ "stats", no_argument, NULL, 's' },
		{ "no-programs", no_argument, NULL, 'n' },
		{ "warm", required_argument, NULL, 'w' },
		{ "log", required_argument, NULL, 'l' },
		{ 0 },
	};
	int option;

	*cell = (struct cell){ .log = "/dev/null" };
	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == '?')
			usage();
		cell->gated |= option == 'g';
		cell->stats |= option == 's';
		cell->no_programs |= option == 'n';
		if (option == 'w')
			cell->warm_ns = strtoull(optarg, NULL, 10) * MSEC;
		if (option == 'l')
			cell->log = optarg;
	}
	if (optind == argc || argc - optind > 2)
		usage();
	cell->workload_command = argv[optind];
	cell->tool_command = argv[optind + 1];
}

int main(int argc, char **argv)
{
	struct cell cell;
	int err = 0;

	parse(&cell, argc, argv);
	if (cell.gated)
		err = start_workload(&cell);
	if (!err)
		err = start_tool(&cell);
	if (!err)
		err = run_workload(&cell);
	if (!err)
		err = stop_tool(&cell);
	if (!err)
		err = end_workload(&cell);
	if (!err)
		print_cell(&cell);
	process__kill(&cell.workload);
	process__kill(&cell.tool);
	return err ? 1 : 0;
}
