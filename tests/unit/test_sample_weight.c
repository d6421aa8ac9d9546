/* SPDX-License-Identifier: GPL-2.0-only */
/* The draw: a million blocks, fixed seeds, compared with probability theory. */
#include "common/harness.h"

#include <math.h>

#include "bpf_skel/sample_weight.h"
#include "base/units.h"
#include "capture/capture.h"

_Static_assert(CAPTURE_MAX_PERIOD_NS == SAMPLE_WEIGHT_MAX_PERIOD_NS, "one limit with two names");

/* A stack whose blocks are all of one length. */
struct stack {
	uint64_t ns;
	unsigned int blocks;
};

/* The same time in each, in blocks of very unequal lengths and counts. */
static const struct stack stacks[] = {
	{ 500, 20000 }, { 5 * NSEC_PER_USEC, 2000 }, { 50 * NSEC_PER_USEC, 200 },
	{ 500 * NSEC_PER_USEC, 20 }, { 5 * NSEC_PER_MSEC, 2 },
};
#define NR_STACKS (sizeof(stacks) / sizeof(stacks[0]))

struct estimate {
	double sum;
	double variance; /* as the recorder estimates it */
	unsigned int drawn;
};

static struct estimate sample(const struct stack *stack, __u64 *state, uint64_t period)
{
	struct estimate estimate = { 0 };

	for (unsigned int i = 0; i < stack->blocks; i++) {
		uint64_t weight = sample_weight__of(state, stack->ns, period);

		estimate.sum += (double)weight;
		estimate.drawn += weight != 0;
		if (weight)
			estimate.variance += (double)weight * (double)(weight - stack->ns);
	}
	return estimate;
}

static double true_variance(const struct stack *stack, uint64_t period)
{
	if (stack->ns >= period)
		return 0;
	return (double)stack->blocks * (double)stack->ns * (double)(period - stack->ns);
}

struct trials {
	double mean;
	double variance; /* of the sums */
	double estimated; /* mean of the estimates of it */
};

#define TRIALS 400

static struct trials try(const struct stack *stack, uint64_t period, uint64_t seed)
{
	double truth = (double)stack->ns * stack->blocks;
	__u64 state = sample_weight__seed(seed, 0);
	struct trials trials = { 0 };

	for (int i = 0; i < TRIALS; i++) {
		struct estimate estimate = sample(stack, &state, period);

		trials.mean += estimate.sum / TRIALS;
		trials.variance += (estimate.sum - truth) * (estimate.sum - truth) / TRIALS;
		trials.estimated += estimate.variance / TRIALS;
	}
	return trials;
}

TEST(sums_are_unbiased_whatever_the_length_of_blocks)
{
	const uint64_t periods[] = { 100 * NSEC_PER_USEC, NSEC_PER_MSEC, 10 * NSEC_PER_MSEC };

	for (size_t p = 0; p < 3; p++) {
		for (size_t i = 0; i < NR_STACKS; i++) {
			double truth = (double)stacks[i].ns * stacks[i].blocks;
			double error = sqrt(true_variance(&stacks[i], periods[p]) / TRIALS);
			struct trials trials = try(&stacks[i], periods[p], 42 + i);

			EXPECT_GE(4 * error + 1, fabs(trials.mean - truth));
		}
	}
}

TEST(the_error_is_what_theory_says_and_its_estimate_too)
{
	for (size_t i = 0; i < NR_STACKS; i++) {
		double theory = true_variance(&stacks[i], NSEC_PER_MSEC);
		struct trials trials = try(&stacks[i], NSEC_PER_MSEC, 7 + i);

		/* A variance out of 400 trials is good to 7 %. */
		EXPECT_GE(theory * 1.35, trials.variance);
		EXPECT_LE(theory * 0.65, trials.variance);
		EXPECT_GE(theory * 1.1, trials.estimated);
		EXPECT_LE(theory * 0.9, trials.estimated);
	}
}

TEST(the_error_shrinks_with_the_root_of_the_period)
{
	struct trials coarse = try(&stacks[1], 10 * NSEC_PER_MSEC, 1);
	struct trials fine = try(&stacks[1], 10 * NSEC_PER_MSEC / 16, 1);

	EXPECT_LE(3.2, sqrt(coarse.variance / fine.variance));
	EXPECT_GE(4.8, sqrt(coarse.variance / fine.variance));
}

TEST(a_block_as_long_as_the_period_always_comes_with_its_own_length)
{
	__u64 state = sample_weight__seed(0, 0);

	for (int i = 0; i < 1000; i++) {
		EXPECT_EQ(1000, sample_weight__of(&state, 1000, 1000));
		EXPECT_EQ(999999, sample_weight__of(&state, 999999, 1000));
		EXPECT_EQ(SAMPLE_WEIGHT_MAX_PERIOD_NS,
			  sample_weight__of(&state, SAMPLE_WEIGHT_MAX_PERIOD_NS,
					    SAMPLE_WEIGHT_MAX_PERIOD_NS));
		EXPECT_EQ(0, sample_weight__of(&state, 0, 1000));
	}
}

TEST(the_greatest_period_does_not_overflow)
{
	const struct stack stack = { SAMPLE_WEIGHT_MAX_PERIOD_NS / 2, 10000 };
	__u64 state = sample_weight__seed(3, 1);
	struct estimate estimate = sample(&stack, &state, SAMPLE_WEIGHT_MAX_PERIOD_NS);

	EXPECT_LT(4800, estimate.drawn);
	EXPECT_GT(5200, estimate.drawn);
}

TEST(cpus_do_not_draw_the_same)
{
	__u64 a = sample_weight__seed(42, 0), b = sample_weight__seed(42, 1);
	int same = 0;

	EXPECT_NE(0, a);
	for (int i = 0; i < 1000; i++)
		same += sample_weight__random(&a) >> 31 == sample_weight__random(&b) >> 31;
	EXPECT_LT(420, same);
	EXPECT_GT(580, same);
}

TEST_HARNESS_MAIN
