/* SPDX-License-Identifier: GPL-2.0-only */
/* The frames that are cut from both ends of a kernel chain, with a kallsyms of our own. */
#include "common/harness.h"

#include "capture/kernel_chain.h"
#include "common/listing.h"

static const char symbols[] = "0000000000001000 T bpf_trace_run2\n"
			      "0000000000002000 t __schedule\n"
			      "0000000000003000 T schedule\n"
			      "0000000000004000 T preempt_schedule_common\n"
			      "0000000000005000 t do_nanosleep\n"
			      "0000000000006000 T hrtimer_nanosleep\n"
			      "0000000000007000 T schedule_timeout\n"
			      "0000000000008000 T _end_of_it\n"
			      "0000000000009000 T try_to_wake_up\n"
			      "000000000000a000 T wake_up_q\n"
			      "000000000000b000 T __x64_sys_nanosleep\n"
			      "000000000000c000 T do_syscall_64\n"
			      "000000000000d000 T entry_SYSCALL_64_after_hwframe\n"
			      "000000000000e000 T asm_exc_page_fault\n"
			      "00000000000f0000 t bpf_prog_1234_switch_in\t[bpf]\n";

FIXTURE(kernel_chain)
{
	struct kernel_chain *kernel_chain;
};

FIXTURE_SETUP(kernel_chain)
{
	int err;
	struct kallsyms *kallsyms = listing__read(symbols, &err);

	ASSERT_TRUE(kallsyms != NULL);
	self->kernel_chain = kernel_chain__new(kallsyms);
	kallsyms__delete(kallsyms);
	ASSERT_TRUE(self->kernel_chain != NULL);
}

FIXTURE_TEARDOWN(kernel_chain)
{
	kernel_chain__delete(self->kernel_chain);
}

/* Cuts a chain and compares what is left; 0 ends both lists. */
static int left(const struct kernel_chain *kernel_chain, const uint64_t *in, const uint64_t *want)
{
	struct frames frames = { .ips = in };
	uint32_t nr = 0;

	while (in[frames.nr])
		frames.nr++;
	while (want[nr])
		nr++;
	kernel_chain__cut(kernel_chain, SAMPLE_OFFCPU, &frames);
	if (frames.nr != nr)
		return -1;
	return memcmp(frames.ips, want, nr * sizeof(*want));
}

#define CHAIN(...) ((const uint64_t[]){ __VA_ARGS__, 0 })

TEST_F(kernel_chain, the_leaf_says_where_it_waits_under_every_hook)
{
	EXPECT_TRUE(kernel_chain__works(self->kernel_chain));
	/* All frames before __schedule are cut: the program, its trampoline, the tracepoint. */
	EXPECT_EQ(0,
		  left(self->kernel_chain, CHAIN(0xf0010, 0x1020, 0x2030, 0x3040, 0x5050, 0x6060),
		       CHAIN(0x5050, 0x6060)));
	EXPECT_EQ(0, left(self->kernel_chain, CHAIN(0x2030, 0x3040, 0x5050), CHAIN(0x5050)));
	EXPECT_EQ(0,
		  left(self->kernel_chain, CHAIN(0xf0010, 0x2030, 0x4040, 0x6060), CHAIN(0x6060)));
	/* A chain that begins in schedule(), as the iterator gives it. */
	EXPECT_EQ(0,
		  left(self->kernel_chain, CHAIN(0x3040, 0x5050, 0x6060), CHAIN(0x5050, 0x6060)));
}

TEST_F(kernel_chain, the_leaf_of_a_waker_says_who_called_for_the_wakeup)
{
	const uint64_t *chain = CHAIN(0xf0010, 0x1020, 0x9010, 0xa010, 0x3040, 0x6060);
	struct frames frames = { .ips = chain, .nr = 6 };

	/* The frames behind it stay, the scheduler's as well: it may be the waker. */
	kernel_chain__cut(self->kernel_chain, SAMPLE_WAKEUP, &frames);
	ASSERT_EQ(3, frames.nr);
	EXPECT_EQ(0xa010, frames.ips[0]);
	EXPECT_EQ(0x3040, frames.ips[1]);
	/* A chain without a wake-up function, and a kernel_chain of NULL. */
	frames = (struct frames){ .ips = chain + 3, .nr = 3 };
	kernel_chain__cut(self->kernel_chain, SAMPLE_WAKEUP, &frames);
	EXPECT_EQ(3, frames.nr);
	kernel_chain__cut(NULL, SAMPLE_WAKEUP, &frames);
	EXPECT_EQ(3, frames.nr);
}

TEST_F(kernel_chain, the_scheduler_is_cut_at_the_leaf_only)
{
	EXPECT_EQ(0, left(self->kernel_chain, CHAIN(0x2030, 0x5050, 0x3040, 0x6060),
			  CHAIN(0x5050, 0x3040, 0x6060)));
	/* schedule_timeout says that it is a wait with a limit: it stays. */
	EXPECT_EQ(0, left(self->kernel_chain, CHAIN(0x2030, 0x3040, 0x7070, 0x6060),
			  CHAIN(0x7070, 0x6060)));
}

TEST_F(kernel_chain, a_chain_begins_with_the_system_call)
{
	const uint64_t *waker = CHAIN(0x9010, 0xa010, 0xb0b0, 0xc0c0, 0xd0d0);
	struct frames frames = { .ips = waker, .nr = 5 };

	EXPECT_EQ(0, left(self->kernel_chain, CHAIN(0x2030, 0x5050, 0xb0b0, 0xc0c0, 0xd0d0),
			  CHAIN(0x5050, 0xb0b0)));
	/* Also without the scheduler, and where a signal's return is walked through. */
	EXPECT_EQ(0, left(self->kernel_chain, CHAIN(0x5050, 0xb0b0, 0xc0c0, 0xd0d0),
			  CHAIN(0x5050, 0xb0b0)));
	EXPECT_EQ(0, left(self->kernel_chain, CHAIN(0x5050, 0xc0c0, 0xb0b0, 0xe0e0),
			  CHAIN(0x5050, 0xc0c0, 0xb0b0, 0xe0e0)));
	/* A thread that loses its CPU on its way out of a call has nothing else. */
	EXPECT_EQ(0, left(self->kernel_chain, CHAIN(0x2030, 0x3040, 0xc0c0, 0xd0d0),
			  CHAIN(0xc0c0)));
	kernel_chain__cut(self->kernel_chain, SAMPLE_WAKEUP, &frames);
	ASSERT_EQ(2, frames.nr);
	EXPECT_EQ(0xa010, frames.ips[0]);
	EXPECT_EQ(0xb0b0, frames.ips[1]);
}

TEST_F(kernel_chain, a_chain_without_the_scheduler_is_left_as_it_is)
{
	const uint64_t *deep = CHAIN(0x6001, 0x6002, 0x6003, 0x6004, 0x6005, 0x6006, 0x6007, 0x6008,
				     0x6009, 0x600a, 0x600b, 0x600c, 0x600d, 0x600e, 0x600f, 0x6010,
				     0x2030, 0x5050);
	struct frames none = { 0 };

	EXPECT_EQ(0, left(self->kernel_chain, CHAIN(0x5050, 0x6060), CHAIN(0x5050, 0x6060)));
	EXPECT_EQ(0, left(self->kernel_chain, deep, deep));
	kernel_chain__cut(self->kernel_chain, SAMPLE_OFFCPU, &none);
	EXPECT_EQ(0, none.nr);
}

TEST_F(kernel_chain, a_chain_of_nothing_else_keeps_its_root)
{
	EXPECT_EQ(0, left(self->kernel_chain, CHAIN(0x2030, 0x3040), CHAIN(0x3040)));
}

TEST(hidden_addresses_cut_nothing)
{
	int err;
	struct kallsyms *kallsyms = listing__read("0000000000000000 t __schedule\n"
						  "0000000000000000 T schedule\n",
						  &err);
	struct kernel_chain *kernel_chain = kernel_chain__new(kallsyms);

	ASSERT_TRUE(kallsyms && kernel_chain);
	EXPECT_FALSE(kernel_chain__works(kernel_chain));
	EXPECT_EQ(0, left(kernel_chain, CHAIN(0x10, 0x5050), CHAIN(0x10, 0x5050)));
	EXPECT_EQ(0, left(NULL, CHAIN(0x10, 0x5050), CHAIN(0x10, 0x5050)));
	kernel_chain__delete(kernel_chain);
	kallsyms__delete(kallsyms);
}

TEST(without_symbols_nothing_is_cut)
{
	struct kernel_chain *kernel_chain = kernel_chain__new(NULL);

	ASSERT_TRUE(kernel_chain != NULL);
	EXPECT_FALSE(kernel_chain__works(kernel_chain));
	EXPECT_EQ(0, left(kernel_chain, CHAIN(0x10, 0x5050), CHAIN(0x10, 0x5050)));
	kernel_chain__delete(kernel_chain);
}

TEST_HARNESS_MAIN
