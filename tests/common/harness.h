/* SPDX-License-Identifier: GPL-2.0-only */
/* The kselftest harness, and what its versions differ in. */
#ifndef DENET_TESTS_HARNESS_H
#define DENET_TESTS_HARNESS_H

/* Older ones define the set-up of a fixture as a function of external linkage. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include <kselftest_harness.h>

/*
 * Each test's own limit, in seconds; tests expand it, not the include. The 30 of the harness are
 * too few for a slow guest. run-tests.sh limits the whole program, to no more than this.
 */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 300

/*
 * Skips if there is a reason (a string, NULL: none). It stands in the set-up and in each
 * test: with the older ones, a set-up that skips does not keep the test from running.
 */
#define SKIP_FOR(reason)                                                                           \
	do {                                                                                       \
		const char *skip_reason = (reason);                                                \
                                                                                                   \
		if (skip_reason)                                                                   \
			SKIP(return, "%s", skip_reason);                                           \
	} while (0)

/*
 * A part of a test of that fixture, which calls it as name(_metadata, self, variant): for checks of
 * one recording, where TEST_F would make another one for each.
 */
#define CHECK_F(fixture, name)                                                                     \
	static void name(struct __test_metadata *_metadata, FIXTURE_DATA(fixture) *self,           \
			 const FIXTURE_VARIANT(fixture) *variant __attribute__((unused)))

#endif /* DENET_TESTS_HARNESS_H */
