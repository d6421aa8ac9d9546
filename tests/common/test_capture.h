/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_COMMON_TEST_CAPTURE_H
#define DENET_TESTS_COMMON_TEST_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "common/tolerance.h"
#include "common/symbols.h"
#include "common/workload.h"

/*
 * A capture that a test drives: every sample it delivers is kept, with its frames. The
 * capture itself is the one that the program uses.
 */
struct test_capture {
	struct machine *machine;
	struct capture *capture;
	struct capture_sink sink;
	struct capture_stats stats; /* filled in by test_capture__close() */
	struct sample *samples;	    /* frames are copies */
	size_t nr;
	size_t capacity;
	uint64_t sideband;	/* events delivered to the sink */
	uint64_t lost;		/* records lost, as reported to the sink */
	uint64_t drains;	/* by the session */
	uint64_t wanted_drains; /* of these, because the capture asked */
	uint64_t began[3]; /* CLOCK_MONOTONIC at which the last drains began, the latest first */
	uint64_t late;	/* samples that came after the drain of their window: take_sample() */
	uint64_t stale; /* and those that came later than that */
	struct init_switches init; /* as it was when this was opened */
	uint64_t init_stretches; /* of process 1 on a CPU meanwhile, at most */
	bool at_switch_out; /* stacks are walked there, and returns are seen only there */
};

/* NULL if BPF programs can be loaded here, else the reason why not, for a loud SKIP. */
const char *test_capture__refused(void);

/*
 * Makes and starts a capture. 0 or -errno, logged by the capture. DENET_TEST_HOOK in the
 * environment, a name as of --capture, chooses the hook if the options leave it open.
 */
int test_capture__open(struct test_capture *test_capture, const struct capture_options *options);

/* The same for one process, with no other option changed. */
int test_capture__open_process(struct test_capture *test_capture, struct capture_options *options,
			  const struct workload *workload);

/* Reads for one round: polls (timeout_ms at most) and drains if the capture wants it. */
int test_capture__poll(struct test_capture *test_capture, int timeout_ms, int wake_fd);

/* Ends the window now. */
int test_capture__drain(struct test_capture *test_capture);

/* Reads for that long, without drains. */
int test_capture__pass_time(struct test_capture *test_capture, int ms);

/*
 * Lets the workload go and reads until it has ended, with a drain every window_ms (0:
 * only when the capture asks). 0, or -errno, or its exit status.
 */
int test_capture__run(struct test_capture *test_capture, struct workload *workload, int window_ms);

/* The same until the workload says word; it has not ended then. 0 or -errno. */
int test_capture__run_until(struct test_capture *test_capture, struct workload *workload,
			    int window_ms, const char *word);

/* Stops, fills in the stats and deletes the capture; the samples stay. 0 or -errno. */
int test_capture__close(struct test_capture *test_capture);

/*
 * How many returns of threads to a CPU the capture cannot have seen on this machine: none
 * where it sees them in the threads' own context, see struct init_switches.
 */
uint64_t test_capture__hidden(const struct test_capture *test_capture);

/* Frees all; also an open session. */
void test_capture__free(struct test_capture *test_capture);

/* Selects samples; a field that is 0 or NULL matches any. */
struct session_filter {
	pid_t pid;
	pid_t tid;
	const char *states;	     /* one of these letters */
	const char *function;	     /* a user frame is in this function */
	const struct symbols *user; /* where function is looked up */
};

bool test_capture__matches(const struct sample *sample, const struct session_filter *filter);

/* Blocks and ns of all samples that match. */
struct capture_tally test_capture__sum(const struct test_capture *test_capture,
				  const struct session_filter *filter);

/* True if one of the frames is in the function. */
bool frames__call(const struct frames *frames, const struct symbols *symbols, const char *function);

/* The name of the leaf, "?" if it has none. */
const char *frames__leaf(const struct frames *frames, const struct symbols *symbols);

/* Prints a sample on stderr, for a test that fails. NULL symbols: addresses. */
void sample__print(const struct sample *sample, const struct symbols *kernel,
		   const struct symbols *user);

/* Blocks seen, less all of their outcomes: 0 means conservation. */
int64_t stats__unaccounted_count(const struct capture_stats *stats);
int64_t stats__unaccounted_ns(const struct capture_stats *stats);
void stats__print(const struct capture_stats *stats);

#endif /* DENET_TESTS_COMMON_TEST_CAPTURE_H */
