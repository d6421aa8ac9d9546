/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One thread that sleeps --count times for each of some lengths. Each sleep has a truth line of its
 * own, so that counts of lengths can be compared one by one.
 */
#include "workload.h"

static const unsigned int lengths_us[] = { 350, 700, 1400, 2800, 5600, 11000, 23000, 45000 };

#define NR_LENGTHS (sizeof(lengths_us) / sizeof(lengths_us[0]))

KNOWN static void nap_once(struct waits *truth, unsigned int us)
{
	uint64_t start;

	waits__begin(truth, "nap", "nap_once");
	start = workload__now();
	waits__sleep(truth, us * 1000ULL);
	truth->bracket_ns = workload__now() - start;
	waits__end(truth);
	truth->comm = "lengths";
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { "count", 5 }, { 0 } };
	bool wait = workload__parse(argc, argv, options);
	size_t nr = options[0].value * NR_LENGTHS;
	struct waits *truths = calloc(nr ? nr : 1, sizeof(*truths));

	if (!truths)
		workload__fail("calloc", ENOMEM);
	/* Timers as exact as they can be, so that few sleeps outgrow their length. */
	prctl(PR_SET_TIMERSLACK, 1);
	workload__ready(wait);
	for (size_t i = 0; i < nr; i++)
		nap_once(&truths[i], lengths_us[i % NR_LENGTHS]);
	for (size_t i = 0; i < nr; i++)
		waits__print(&truths[i]);
	free(truths);
	return 0;
}
