/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user side of samples: invalid frames are dropped, and none is judged by maps that are still
 * to come.
 */
#include "common/harness.h"
#include "common/machine_events.h"
#include "common/tolerance.h"

#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/clock.h"
#include "callchain/callchain.h"
#include "callchain/fp_quality.h"
#include "synth/synth.h"

#define MOST 16

struct given {
	struct sample samples[MOST];
	uint64_t leaf[MOST];
	size_t nr;
};

FIXTURE(callchain)
{
	struct machine *machine;
	struct callchain callchain;
	struct given given;
};

static int give(void *ctx, const struct sample *sample)
{
	struct given *given = ctx;

	if (given->nr == MOST)
		return -1;
	given->leaf[given->nr] = sample->user.nr ? sample->user.ips[0] : 0;
	given->samples[given->nr++] = *sample;
	return 0;
}

FIXTURE_SETUP(callchain)
{
	self->given = (struct given){ 0 };
	self->machine = machine__new();
	ASSERT_NE(NULL, self->machine);
	ASSERT_EQ(0, callchain__init(&self->callchain, CALLCHAIN_FP, self->machine, give,
				     &self->given));
	ASSERT_EQ(0, maps_code(self->machine, 42, 0x1000, 0x1000, "/bin/a", 0));
}

FIXTURE_TEARDOWN(callchain)
{
	callchain__free(&self->callchain);
	machine__delete(self->machine);
}

static struct sample make_sample(uint64_t time, const uint64_t *ips, uint32_t nr)
{
	return (struct sample){ .time = time, .pid = 42, .tid = 42, .user = { ips, nr, false } };
}

TEST_F(callchain, a_chain_in_code_comes_at_once_and_whole)
{
	static const uint64_t ips[] = { 0x1100, 0x1200, 0x2000 };
	struct sample sample = make_sample(100, ips, 3);

	ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	ASSERT_EQ(1, self->given.nr);
	/* The last one is the address behind a call at the very end. */
	EXPECT_EQ(3, self->given.samples[0].user.nr);
	EXPECT_FALSE(self->given.samples[0].user.truncated);
	EXPECT_EQ(0, self->callchain.stats.cut);
	EXPECT_EQ(UINT64_MAX, callchain__oldest(&self->callchain));
}

TEST_F(callchain, garbage_is_cut_once_the_maps_of_its_time_are_known)
{
	static const uint64_t ips[] = { 0x1100, 0x1200, 0x7, 0x1300 };
	struct sample sample = make_sample(100, ips, 4);

	ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	ASSERT_EQ(0, callchain__settled(&self->callchain, 100));
	EXPECT_EQ(0, self->given.nr);
	EXPECT_EQ(100, callchain__oldest(&self->callchain));
	ASSERT_EQ(0, callchain__settled(&self->callchain, 101));
	ASSERT_EQ(1, self->given.nr);
	EXPECT_EQ(2, self->given.samples[0].user.nr);
	EXPECT_TRUE(self->given.samples[0].user.truncated);
	EXPECT_EQ(1, self->callchain.stats.cut);
	/* Sums come when all of their time is known. */
	sample.time = 50;
	ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	ASSERT_EQ(2, self->given.nr);
	EXPECT_EQ(2, self->given.samples[1].user.nr);
}

TEST_F(callchain, code_that_was_mapped_before_the_block_ended_is_no_garbage)
{
	static const uint64_t ips[] = { 0x1100, 0x5100 };
	struct sample sample = make_sample(100, ips, 2);

	ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	EXPECT_EQ(0, self->given.nr);
	/* The record was on another CPU, whose ring is read later. */
	ASSERT_EQ(0, maps_code(self->machine, 42, 0x5000, 0x1000, "/lib/b", 90));
	ASSERT_EQ(0, callchain__settled(&self->callchain, 200));
	ASSERT_EQ(1, self->given.nr);
	EXPECT_EQ(2, self->given.samples[0].user.nr);
	EXPECT_EQ(0, self->callchain.stats.cut);
}

TEST_F(callchain, garbage_of_a_process_whose_maps_come_later_is_cut)
{
	static const uint64_t ips[] = { 0x5100, 0x989680 };
	struct sample sample = make_sample(100, ips, 2);

	sample.pid = sample.tid = 43;
	/* Nothing is known of the process yet: its records are in another ring. */
	ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	EXPECT_EQ(0, self->given.nr);
	ASSERT_EQ(0, maps_code(self->machine, 43, 0x5000, 0x1000, "/bin/c", 90));
	ASSERT_EQ(0, callchain__settled(&self->callchain, 200));
	ASSERT_EQ(1, self->given.nr);
	EXPECT_EQ(1, self->given.samples[0].user.nr);
	EXPECT_TRUE(self->given.samples[0].user.truncated);
	EXPECT_EQ(1, self->callchain.stats.cut);
}

TEST_F(callchain, code_that_was_mapped_afterwards_is_garbage)
{
	static const uint64_t ips[] = { 0x1100, 0x5100 };
	struct sample sample = make_sample(100, ips, 2);

	ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	ASSERT_EQ(0, maps_code(self->machine, 42, 0x5000, 0x1000, "/lib/b", 110));
	ASSERT_EQ(0, callchain__settled(&self->callchain, 200));
	ASSERT_EQ(1, self->given.nr);
	EXPECT_EQ(1, self->given.samples[0].user.nr);
	EXPECT_EQ(1, self->callchain.stats.cut);
}

TEST_F(callchain, nothing_that_may_be_code_is_cut_where_maps_may_be_missing)
{
	static const uint64_t ips[] = { 0x1100, 0x7000 };
	struct sample sample = make_sample(100, ips, 2);

	/* Nothing is known of this one. */
	sample.pid = 43;
	ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	ASSERT_EQ(0, callchain__settled(&self->callchain, 101));
	ASSERT_EQ(1, self->given.nr);
	EXPECT_EQ(2, self->given.samples[0].user.nr);
	/* And here records were lost. */
	sample.pid = 42;
	callchain__lost(&self->callchain);
	ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	ASSERT_EQ(2, self->given.nr);
	EXPECT_EQ(2, self->given.samples[1].user.nr);
	EXPECT_EQ(0, self->callchain.stats.cut);
}

TEST_F(callchain, what_can_never_be_code_is_cut_also_where_maps_may_be_missing)
{
	static const uint64_t low[] = { 0x1100, 0x7000, 0xfff, 0x7000 };
	static const uint64_t text[] = { 0x1100, 0x7f0000001000, 0x656d6f682f6e6962 };
	struct sample sample = make_sample(100, low, 4);

	callchain__lost(&self->callchain);
	ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	sample = make_sample(100, text, 3);
	ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	/* They may be held until maps come that they could lie in. */
	ASSERT_EQ(0, callchain__settled(&self->callchain, 200));
	ASSERT_EQ(2, self->given.nr);
	EXPECT_EQ(2, self->given.samples[0].user.nr);
	EXPECT_EQ(2, self->given.samples[1].user.nr);
	EXPECT_EQ(2, self->callchain.stats.cut);
}

TEST_F(callchain, who_has_ended_is_known_until_the_samples_of_its_window_are_in)
{
	static const uint64_t ips[] = { 0x1100, 0x7000 };
	struct sample sample = make_sample(100, ips, 2);

	ASSERT_EQ(0, ends(self->machine, 42, 42, 110));
	ASSERT_EQ(0, callchain__settled(&self->callchain, 200));
	callchain__round(&self->callchain);
	ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	ASSERT_EQ(1, self->given.nr);
	EXPECT_EQ(1, self->given.samples[0].user.nr);
	/* Another round later the process is forgotten: its frames are no longer judged. */
	callchain__round(&self->callchain);
	ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	EXPECT_EQ(2, self->given.samples[1].user.nr);
}

struct chosen {
	char text[64];
};

static void note_choice(void *ctx, pid_t pid, bool chosen)
{
	struct chosen *choices = ctx;
	size_t len = strlen(choices->text);

	snprintf(choices->text + len, sizeof(choices->text) - len, "%c%d ", chosen ? '+' : '-',
		 pid);
}

/* An event as the sink has it follow: the machine first. */
static void tell(FIXTURE_DATA(callchain) *self, enum task_event_kind kind, pid_t pid, pid_t parent,
		 uint64_t time)
{
	struct task_event event = { .kind = kind, .pid = pid, .tid = pid, .time = time };

	if (kind == TASK_EVENT_EXEC) {
		event.comm = "program";
	} else {
		event.ppid = event.ptid = parent;
	}
	machine__handle(self->machine, &event);
	callchain__task(&self->callchain, &event);
}

TEST_F(callchain, a_process_without_frame_pointers_is_chosen_until_it_is_another_program_or_none)
{
	static const uint64_t ips[] = { 0x1100 };
	struct sample sample = make_sample(100, ips, 1);
	struct chosen choices = { "" };

	self->callchain.choose = note_choice;
	self->callchain.choose_ctx = &choices;
	for (int i = 0; i < 16; i++) {
		sample.count = 1;
		EXPECT_STREQ("", choices.text);
		self->given.nr = 0;
		ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	}
	EXPECT_STREQ("+42 ", choices.text);
	tell(self, TASK_EVENT_FORK, 43, 42, 110);
	tell(self, TASK_EVENT_FORK, 44, 42, 110);
	EXPECT_STREQ("+42 +43 +44 ", choices.text);
	tell(self, TASK_EVENT_EXEC, 43, 0, 120);
	tell(self, TASK_EVENT_EXIT, 44, 42, 120);
	EXPECT_STREQ("+42 +43 +44 -43 -44 ", choices.text);
	/* The pid is another's, and the end of the one before was missed. */
	tell(self, TASK_EVENT_FORK, 42, 1, 130);
	EXPECT_STREQ("+42 +43 +44 -43 -44 -42 ", choices.text);
	tell(self, TASK_EVENT_EXIT, 43, 42, 140);
	EXPECT_STREQ("+42 +43 +44 -43 -44 -42 ", choices.text);
}

TEST_F(callchain, a_chain_by_tables_says_itself_whether_it_ended_early)
{
	static const uint64_t ips[] = { 0x1100, 0x1200, 0x1300, 0x1400 };
	struct sample sample = make_sample(100, ips, 1);
	struct chosen choices = { "" };

	self->callchain.choose = note_choice;
	self->callchain.choose_ctx = &choices;
	sample.by_tables = true;
	sample.count = FP_QUALITY_ENOUGH;
	/* A single frame may be all that there is, and is no reason to copy stacks. */
	ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	EXPECT_EQ(CHAIN_WHOLE, self->given.samples[0].user_end);
	EXPECT_STREQ("", choices.text);
	sample.user.nr = 4;
	sample.user_end = CHAIN_NO_RULE;
	ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	EXPECT_EQ(CHAIN_NO_RULE, self->given.samples[1].user_end);
}

TEST_F(callchain, a_chain_along_frame_pointers_is_whole_unless_it_has_one_frame_or_ends_in_garbage)
{
	static const uint64_t ips[] = { 0x1100, 0x1200, 0x7 };
	struct sample sample = make_sample(100, ips, 0);

	for (; sample.user.nr <= 3; sample.user.nr++)
		ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	ASSERT_EQ(0, callchain__settled(&self->callchain, 200));
	ASSERT_EQ(4, self->given.nr);
	/* Of none, nothing can be said. */
	EXPECT_EQ(CHAIN_WHOLE, self->given.samples[0].user_end);
	EXPECT_EQ(CHAIN_NO_POINTERS, self->given.samples[1].user_end);
	EXPECT_EQ(CHAIN_WHOLE, self->given.samples[2].user_end);
	EXPECT_EQ(CHAIN_NO_POINTERS, self->given.samples[3].user_end);
	EXPECT_EQ(2, self->given.samples[3].user.nr);
}

/* With a process that unwinds, and the maps of this one. */
FIXTURE(unwinding)
{
	struct machine *machine;
	struct callchain callchain;
	struct given given;
	uint64_t regs[USER_COPY_REGS];
	ssize_t stack_bytes;
};

/* Not in the fixture, which lies on the stack that is copied. */
static unsigned char stack[32768];

static int add_own_map(void *ctx, const struct task_event *event)
{
	int ret = machine__handle(ctx, event);

	return ret < 0 ? ret : 0;
}

FIXTURE_SETUP(unwinding)
{
	struct synth_result result;
	pid_t pid = getpid();

	self->given = (struct given){ 0 };
	self->machine = machine__new();
	ASSERT_NE(NULL, self->machine);
	ASSERT_EQ(0, callchain__init(&self->callchain, CALLCHAIN_UNWIND, self->machine, give,
				     &self->given));
	ASSERT_EQ(0, synth__maps(&pid, 1, 5000, add_own_map, self->machine, &result));
	ASSERT_EQ(0, callchain__start(&self->callchain, 127));
}

FIXTURE_TEARDOWN(unwinding)
{
	callchain__free(&self->callchain);
	machine__delete(self->machine);
}

/* Registers as getcontext(3) has them, in DWARF's order. */
static void take_regs(uint64_t *regs, const ucontext_t *context)
{
#ifdef __aarch64__
	memcpy(regs, context->uc_mcontext.regs, 31 * sizeof(*regs));
	regs[USER_REG_SP] = context->uc_mcontext.sp;
	/* It is the place behind the call that it keeps, as a return address. */
	regs[USER_REG_PC] = context->uc_mcontext.pc;
#else
	static const int order[USER_COPY_REGS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
						   REG_RDI, REG_RBP, REG_RSP, REG_R8,  REG_R9,
						   REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
						   REG_R15, REG_RIP };

	for (int i = 0; i < USER_COPY_REGS; i++)
		regs[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
#endif
}

/* Registers and stack of the caller, which must stay until they have been unwound. */
static __attribute__((noinline)) void copy_self(FIXTURE_DATA(unwinding) *self)
{
	struct iovec local = { stack, sizeof(stack) }, remote = { NULL, sizeof(stack) };
	ucontext_t context;

	getcontext(&context);
	take_regs(self->regs, &context);
	/* By the kernel, since a sanitizer minds what lies between variables. */
	remote.iov_base = (void *)self->regs[USER_REG_SP];
	self->stack_bytes = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	if (self->stack_bytes <= 0)
		abort();
}

/* Waits until nothing is pending, some seconds at most. */
static int finish(struct callchain *callchain)
{
	uint64_t left = tolerance__deadline() - clock__now_ns();

	return callchain__finish(callchain, (int)(left / NSEC_PER_MSEC), NULL, NULL);
}

TEST_F(unwinding, a_copy_becomes_frames_and_the_sample_comes_once)
{
	static const uint64_t fp[] = { 0x7 };
	struct user_copy copy = { self->regs, stack, 0 };
	struct sample sample = { .time = 100, .period = 5, .pid = (uint32_t)getpid(),
				 .user = { fp, 1, false }, .copy = &copy };

	copy_self(self);
	copy.nr = (uint32_t)self->stack_bytes;
	ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	EXPECT_EQ(0, self->given.nr);
	ASSERT_EQ(0, callchain__settled(&self->callchain, 200));
	ASSERT_EQ(0, finish(&self->callchain));
	ASSERT_EQ(1, self->given.nr);
	EXPECT_EQ(5, self->given.samples[0].period);
	EXPECT_EQ(self->regs[USER_REG_PC], self->given.leaf[0]);
	EXPECT_LE(3, self->given.samples[0].user.nr);
	EXPECT_EQ(NULL, self->given.samples[0].copy);
	EXPECT_EQ(1, self->callchain.stats.unwound + self->callchain.stats.truncated);
	EXPECT_EQ(self->callchain.stats.unwound == 1,
		  self->given.samples[0].user_end == CHAIN_WHOLE);
	EXPECT_EQ(0, self->callchain.stats.fell_back);
	EXPECT_EQ(UINT64_MAX, callchain__oldest(&self->callchain));
}

TEST_F(unwinding, what_cannot_be_unwound_keeps_its_frame_pointers)
{
	static const uint64_t fp[] = { 0x1111, 0x2222 };
	struct user_copy copy = { self->regs, stack, 0 };
	/* Of a process of which nothing is known. */
	struct sample sample = { .time = 100, .pid = 0x7ffffff0, .user = { fp, 2, false },
				 .copy = &copy };

	copy_self(self);
	copy.nr = (uint32_t)self->stack_bytes;
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	ASSERT_EQ(0, callchain__settled(&self->callchain, 200));
	ASSERT_EQ(0, finish(&self->callchain));
	ASSERT_EQ(3, self->given.nr);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(2, self->given.samples[i].user.nr);
		EXPECT_EQ(0x1111, self->given.leaf[i]);
	}
	EXPECT_EQ(3, self->callchain.stats.fell_back);
	EXPECT_EQ(0, self->callchain.stats.unwound);
}

TEST_F(unwinding, who_is_not_waited_for_comes_with_frame_pointers)
{
	static const uint64_t fp[] = { 0x7 };
	struct user_copy copy = { self->regs, stack, 0 };
	struct sample sample = { .time = 100, .pid = (uint32_t)getpid(), .user = { fp, 1, false },
				 .copy = &copy };

	copy_self(self);
	copy.nr = (uint32_t)self->stack_bytes;
	for (int i = 0; i < 10; i++)
		ASSERT_EQ(0, callchain__sample(&self->callchain, &sample));
	ASSERT_EQ(0, callchain__settled(&self->callchain, 200));
	ASSERT_EQ(0, callchain__finish(&self->callchain, 0, NULL, NULL));
	EXPECT_EQ(10, self->given.nr);
	EXPECT_EQ(0, self->callchain.pending.nr);
	EXPECT_EQ(10, self->callchain.stats.fell_back + self->callchain.stats.unwound +
			      self->callchain.stats.truncated);
}

TEST_HARNESS_MAIN
