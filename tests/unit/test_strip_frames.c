/* SPDX-License-Identifier: GPL-2.0-only */
/* What is cut from both sides of a kernel chain, on a kallsyms of our own. */
#include "common/harness.h"

#include "capture/strip_frames.h"
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

FIXTURE(strip_frames)
{
	struct strip_frames *strip_frames;
};

FIXTURE_SETUP(strip_frames)
{
	int err;
	struct kallsyms *kallsyms = listing__read(symbols, &err);

	ASSERT_TRUE(kallsyms != NULL);
	self->strip_frames = strip_frames__new(kallsyms);
	kallsyms__delete(kallsyms);
	ASSERT_TRUE(self->strip_frames != NULL);
}

FIXTURE_TEARDOWN(strip_frames)
{
	strip_frames__delete(self->strip_frames);
}

/* Cuts a chain and compares what is left; 0 ends both lists. */
static int left(const struct strip_frames *strip_frames, const uint64_t *in, const uint64_t *want)
{
	struct frames frames = { .ips = in };
	uint32_t nr = 0;

	while (in[frames.nr])
		frames.nr++;
	while (want[nr])
		nr++;
	strip_frames__cut(strip_frames, SAMPLE_OFFCPU, &frames);
	if (frames.nr != nr)
		return -1;
	return memcmp(frames.ips, want, nr * sizeof(*want));
}

#define CHAIN(...) ((const uint64_t[]){ __VA_ARGS__, 0 })

TEST_F(strip_frames, the_leaf_says_where_it_waits_under_every_hook)
{
	EXPECT_TRUE(strip_frames__works(self->strip_frames));
	/* The program, its trampoline, the tracepoint: whatever lies before __schedule. */
	EXPECT_EQ(0,
		  left(self->strip_frames, CHAIN(0xf0010, 0x1020, 0x2030, 0x3040, 0x5050, 0x6060),
		       CHAIN(0x5050, 0x6060)));
	EXPECT_EQ(0, left(self->strip_frames, CHAIN(0x2030, 0x3040, 0x5050), CHAIN(0x5050)));
	EXPECT_EQ(0,
		  left(self->strip_frames, CHAIN(0xf0010, 0x2030, 0x4040, 0x6060), CHAIN(0x6060)));
	/* A chain that begins in schedule(), as the iterator gives it. */
	EXPECT_EQ(0,
		  left(self->strip_frames, CHAIN(0x3040, 0x5050, 0x6060), CHAIN(0x5050, 0x6060)));
}

TEST_F(strip_frames, the_leaf_of_a_waker_says_who_called_for_the_wakeup)
{
	const uint64_t *chain = CHAIN(0xf0010, 0x1020, 0x9010, 0xa010, 0x3040, 0x6060);
	struct frames frames = { .ips = chain, .nr = 6 };

	/* What is behind it stays, also the scheduler: it may be the one who wakes. */
	strip_frames__cut(self->strip_frames, SAMPLE_WAKEUP, &frames);
	ASSERT_EQ(3, frames.nr);
	EXPECT_EQ(0xa010, frames.ips[0]);
	EXPECT_EQ(0x3040, frames.ips[1]);
	/* A chain that never comes to it, and a trim that is none. */
	frames = (struct frames){ .ips = chain + 3, .nr = 3 };
	strip_frames__cut(self->strip_frames, SAMPLE_WAKEUP, &frames);
	EXPECT_EQ(3, frames.nr);
	strip_frames__cut(NULL, SAMPLE_WAKEUP, &frames);
	EXPECT_EQ(3, frames.nr);
}

TEST_F(strip_frames, the_scheduler_is_cut_at_the_leaf_only)
{
	EXPECT_EQ(0, left(self->strip_frames, CHAIN(0x2030, 0x5050, 0x3040, 0x6060),
			  CHAIN(0x5050, 0x3040, 0x6060)));
	/* schedule_timeout says that it is a wait with a limit: it stays. */
	EXPECT_EQ(0, left(self->strip_frames, CHAIN(0x2030, 0x3040, 0x7070, 0x6060),
			  CHAIN(0x7070, 0x6060)));
}

TEST_F(strip_frames, a_chain_begins_with_the_system_call)
{
	const uint64_t *waker = CHAIN(0x9010, 0xa010, 0xb0b0, 0xc0c0, 0xd0d0);
	struct frames frames = { .ips = waker, .nr = 5 };

	EXPECT_EQ(0, left(self->strip_frames, CHAIN(0x2030, 0x5050, 0xb0b0, 0xc0c0, 0xd0d0),
			  CHAIN(0x5050, 0xb0b0)));
	/* Also without the scheduler, and where a signal's return is walked through. */
	EXPECT_EQ(0, left(self->strip_frames, CHAIN(0x5050, 0xb0b0, 0xc0c0, 0xd0d0),
			  CHAIN(0x5050, 0xb0b0)));
	EXPECT_EQ(0, left(self->strip_frames, CHAIN(0x5050, 0xc0c0, 0xb0b0, 0xe0e0),
			  CHAIN(0x5050, 0xc0c0, 0xb0b0, 0xe0e0)));
	/* A thread that loses its CPU on its way out of a call has nothing else. */
	EXPECT_EQ(0, left(self->strip_frames, CHAIN(0x2030, 0x3040, 0xc0c0, 0xd0d0),
			  CHAIN(0xc0c0)));
	strip_frames__cut(self->strip_frames, SAMPLE_WAKEUP, &frames);
	ASSERT_EQ(2, frames.nr);
	EXPECT_EQ(0xa010, frames.ips[0]);
	EXPECT_EQ(0xb0b0, frames.ips[1]);
}

TEST_F(strip_frames, a_chain_without_the_scheduler_is_left_as_it_is)
{
	const uint64_t *deep = CHAIN(0x6001, 0x6002, 0x6003, 0x6004, 0x6005, 0x6006, 0x6007, 0x6008,
				     0x6009, 0x600a, 0x600b, 0x600c, 0x600d, 0x600e, 0x600f, 0x6010,
				     0x2030, 0x5050);
	struct frames none = { 0 };

	EXPECT_EQ(0, left(self->strip_frames, CHAIN(0x5050, 0x6060), CHAIN(0x5050, 0x6060)));
	EXPECT_EQ(0, left(self->strip_frames, deep, deep));
	strip_frames__cut(self->strip_frames, SAMPLE_OFFCPU, &none);
	EXPECT_EQ(0, none.nr);
}

TEST_F(strip_frames, a_chain_of_nothing_else_keeps_its_root)
{
	EXPECT_EQ(0, left(self->strip_frames, CHAIN(0x2030, 0x3040), CHAIN(0x3040)));
}

TEST(hidden_addresses_cut_nothing)
{
	int err;
	struct kallsyms *kallsyms = listing__read("0000000000000000 t __schedule\n"
						  "0000000000000000 T schedule\n",
						  &err);
	struct strip_frames *strip_frames = strip_frames__new(kallsyms);

	ASSERT_TRUE(kallsyms && strip_frames);
	EXPECT_FALSE(strip_frames__works(strip_frames));
	EXPECT_EQ(0, left(strip_frames, CHAIN(0x10, 0x5050), CHAIN(0x10, 0x5050)));
	EXPECT_EQ(0, left(NULL, CHAIN(0x10, 0x5050), CHAIN(0x10, 0x5050)));
	strip_frames__delete(strip_frames);
	kallsyms__delete(kallsyms);
}

TEST(without_symbols_nothing_is_cut)
{
	struct strip_frames *strip_frames = strip_frames__new(NULL);

	ASSERT_TRUE(strip_frames != NULL);
	EXPECT_FALSE(strip_frames__works(strip_frames));
	EXPECT_EQ(0, left(strip_frames, CHAIN(0x10, 0x5050), CHAIN(0x10, 0x5050)));
	strip_frames__delete(strip_frames);
}

TEST_HARNESS_MAIN
