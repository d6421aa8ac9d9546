/* SPDX-License-Identifier: GPL-2.0-only */
/* The wire's decoders: each record at its greatest depth, one beyond, and cut short. */
#include "common/harness.h"

#include <errno.h>

#include "capture/decode.h"

struct room {
	union {
		struct wire_block block;
		struct wire_stack stack;
		struct wire_user user;
		struct wire_head head;
	};
	uint64_t ips[2 * WIRE_MAX_FRAMES];
};

/* A block with these frames: 1, 2, 3, … from the kernel's leaf on. */
static size_t make_block(struct room *room, uint16_t nr_kernel, uint16_t nr_user)
{
	uint64_t *ips = (uint64_t *)(&room->block + 1);

	memset(room, 0, sizeof(*room));
	room->block = (struct wire_block){
		.head = { WIRE_BLOCK, (uint32_t)(sizeof(room->block) +
						 (nr_kernel + nr_user) * sizeof(uint64_t)) },
		.time = 1000, .ns = 300, .weight = 900, .cgroup = 7, .pid = 11, .tid = 12, .cpu = 3,
		.state = WIRE_STATE_D, .nr_kernel = nr_kernel, .nr_user = nr_user,
		.incarnation = 99, .since = 700, .runqueue_ns = 40,
	};
	for (int i = 0; i < nr_kernel + nr_user; i++)
		ips[i] = (uint64_t)i + 1;
	return room->block.head.size;
}

TEST(a_block_of_any_depth_comes_out_whole)
{
	static const uint16_t depths[][2] = {
		{ 0, 0 }, { 1, 0 }, { 0, 1 }, { 5, 9 }, { WIRE_MAX_FRAMES, WIRE_MAX_FRAMES },
	};
	const struct wire_block *block;
	struct sample sample;
	struct room room;

	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		size_t size = make_block(&room, depths[i][0], depths[i][1]);

		ASSERT_EQ((int)size, decode__block(&room, size, &sample, &block));
		ASSERT_EQ(depths[i][0], sample.kernel.nr);
		ASSERT_EQ(depths[i][1], sample.user.nr);
		for (uint32_t k = 0; k < sample.kernel.nr; k++)
			ASSERT_EQ(k + 1, sample.kernel.ips[k]);
		for (uint32_t u = 0; u < sample.user.nr; u++)
			ASSERT_EQ(depths[i][0] + u + 1, sample.user.ips[u]);
	}
	EXPECT_EQ(1000, sample.time);
	EXPECT_EQ(900, sample.period);
	EXPECT_EQ(300, sample.measured);
	EXPECT_EQ(1, sample.count);
	EXPECT_EQ(7, sample.cgroup);
	EXPECT_EQ(11, sample.pid);
	EXPECT_EQ(12, sample.tid);
	EXPECT_EQ(3, sample.cpu);
	EXPECT_EQ('D', sample.state);
	/* As large a part of what the block stands for. */
	EXPECT_EQ(120, sample.runqueue);
	EXPECT_EQ(99, block->incarnation);
	EXPECT_EQ(700, block->since);
}

TEST(flags_of_a_block_become_what_they_mean)
{
	const struct wire_block *block;
	struct sample sample;
	struct room room;
	size_t size = make_block(&room, 1, 1);

	ASSERT_LT(0, decode__block(&room, size, &sample, &block));
	EXPECT_EQ(SAMPLE_OFFCPU, sample.kind);
	EXPECT_FALSE(sample.preempted || sample.kthread || sample.still_blocked ||
		     sample.never_ran || sample.kernel.truncated || sample.user.truncated);
	room.block.flags = WIRE_BLOCK_PREEMPTED | WIRE_BLOCK_TRUNC_USER;
	ASSERT_LT(0, decode__block(&room, size, &sample, &block));
	EXPECT_TRUE(sample.preempted && sample.user.truncated);
	EXPECT_FALSE(sample.kernel.truncated || sample.kthread);
	room.block.flags = WIRE_BLOCK_KTHREAD | WIRE_BLOCK_TRUNC_KERNEL | WIRE_BLOCK_IN_FLIGHT |
			   WIRE_BLOCK_NEVER_RAN;
	ASSERT_LT(0, decode__block(&room, size, &sample, &block));
	EXPECT_TRUE(sample.kthread && sample.kernel.truncated && sample.still_blocked &&
		    sample.never_ran);
	EXPECT_FALSE(sample.preempted || sample.user.truncated);
	EXPECT_FALSE(sample.by_tables);
}

/* In the flags of a block as in those of a sum. */
TEST(the_end_of_a_walk_by_tables_becomes_that_of_the_chain)
{
	static const struct {
		uint32_t walk;
		enum chain_end end;
	} pairs[] = {
		{ USER_WALK_WHOLE, CHAIN_WHOLE },
		{ USER_WALK_FRAMES, CHAIN_WHOLE },
		{ USER_WALK_NO_TABLE, CHAIN_NO_TABLE },
		{ USER_WALK_NO_CFI, CHAIN_NO_CFI },
		{ USER_WALK_UNREADABLE, CHAIN_UNREADABLE },
		{ USER_WALK_NO_RULE, CHAIN_NO_RULE },
		{ USER_WALK_BUSY, CHAIN_BUSY },
		{ USER_WALK_FORBIDDEN, CHAIN_FORBIDDEN },
		{ USER_WALK_ENDS, CHAIN_WHOLE },
		{ 0xffff, CHAIN_WHOLE },
	};
	const struct wire_entry entry = { .ns = 1, .count = 1 };
	struct wire_entry_key key = { .pid = 1 };
	const struct wire_block *block;
	struct sample sample;
	struct room room;
	size_t size = make_block(&room, 1, 1);

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		room.block.flags = pairs[i].walk << WIRE_BLOCK_WALK_SHIFT;
		ASSERT_LT(0, decode__block(&room, size, &sample, &block));
		EXPECT_EQ(CHAIN_WHOLE, sample.user_end);
		room.block.flags |= WIRE_BLOCK_BY_TABLES;
		ASSERT_LT(0, decode__block(&room, size, &sample, &block));
		EXPECT_TRUE(sample.by_tables);
		EXPECT_EQ(pairs[i].end, sample.user_end);
		key.flags = room.block.flags;
		decode__entry(&key, &entry, &sample);
		EXPECT_TRUE(sample.by_tables);
		EXPECT_EQ(pairs[i].end, sample.user_end);
	}
}

TEST(a_block_that_counts_a_frame_too_many_is_refused)
{
	const struct wire_block *block;
	struct sample sample;
	struct room room;
	size_t size = make_block(&room, WIRE_MAX_FRAMES, WIRE_MAX_FRAMES);

	room.block.nr_user++;
	EXPECT_EQ(-EINVAL, decode__block(&room, size, &sample, &block));
	size = make_block(&room, 0, 0);
	room.block.nr_kernel = 1;
	EXPECT_EQ(-EINVAL, decode__block(&room, size, &sample, &block));
	room.block.nr_kernel = room.block.nr_user = UINT16_MAX;
	EXPECT_EQ(-EINVAL, decode__block(&room, size, &sample, &block));
}

TEST(records_cut_anywhere_are_refused)
{
	const struct wire_block *block;
	struct decoded_stack stack;
	struct decoded_user user;
	struct sample sample;
	struct room room;
	size_t size = make_block(&room, 2, 3);

	for (size_t cut = 0; cut < size; cut++) {
		EXPECT_EQ(-EINVAL, decode__block(&room, cut, &sample, &block));
		EXPECT_EQ(-EINVAL, decode__stack(&room, cut, &stack));
		EXPECT_EQ(-EINVAL, decode__user(&room, cut, &user));
	}
	EXPECT_EQ(0, decode__kind(&room, sizeof(struct wire_head) - 1));
	EXPECT_EQ(WIRE_BLOCK, decode__kind(&room, sizeof(struct wire_head)));
}

TEST(a_size_that_lies_is_refused)
{
	const struct wire_block *block;
	struct sample sample;
	struct room room;
	size_t size = make_block(&room, 2, 3);

	room.head.size = (uint32_t)size + 8;
	EXPECT_EQ(-EINVAL, decode__block(&room, size, &sample, &block));
	room.head.size = sizeof(struct wire_block) - 1;
	EXPECT_EQ(-EINVAL, decode__block(&room, size, &sample, &block));
	room.head.size = 0;
	EXPECT_EQ(-EINVAL, decode__block(&room, size, &sample, &block));
	/* Bytes behind the record belong to the next one. */
	size = make_block(&room, 2, 3);
	EXPECT_EQ((int)size, decode__block(&room, sizeof(room), &sample, &block));
}

TEST(a_stack_comes_out_whole_and_not_one_frame_more)
{
	struct decoded_stack stack;
	struct room room = { .stack = { .head = { WIRE_STACK, 0 }, .id = 5, .generation = 1,
					.nr = WIRE_MAX_FRAMES, .user = 1 } };
	size_t size = sizeof(room.stack) + WIRE_MAX_FRAMES * sizeof(uint64_t);

	room.head.size = (uint32_t)size;
	ASSERT_EQ((int)size, decode__stack(&room, size, &stack));
	EXPECT_EQ(5, stack.id);
	EXPECT_EQ(1, stack.generation);
	EXPECT_TRUE(stack.user);
	EXPECT_EQ(WIRE_MAX_FRAMES, stack.frames.nr);
	EXPECT_EQ((const void *)(&room.stack + 1), (const void *)stack.frames.ips);
	room.stack.nr++;
	EXPECT_EQ(-EINVAL, decode__stack(&room, size, &stack));
}

TEST(user_frames_come_out_whole_and_not_one_more)
{
	struct decoded_user user;
	struct room room = { .user = { .head = { WIRE_USER, 0 }, .incarnation = 6, .since = 8,
				       .tid = 9, .nr = WIRE_MAX_FRAMES, .truncated = 1 } };
	size_t size = sizeof(room.user) + WIRE_MAX_FRAMES * sizeof(uint64_t);

	room.head.size = (uint32_t)size;
	ASSERT_EQ((int)size, decode__user(&room, size, &user));
	EXPECT_EQ(6, user.incarnation);
	EXPECT_EQ(8, user.since);
	EXPECT_EQ(9, user.tid);
	EXPECT_TRUE(user.frames.truncated);
	EXPECT_EQ(WIRE_MAX_FRAMES, user.frames.nr);
	room.user.nr++;
	EXPECT_EQ(-EINVAL, decode__user(&room, size, &user));
}

/* Bytes and registers whose values depend on their positions. */
static size_t make_copy(struct wire_copy *wire, uint32_t bytes)
{
	*wire = (struct wire_copy){
		.head = { WIRE_COPY, (uint32_t)sizeof(*wire) + bytes },
		.incarnation = 6, .time = 8,
	};
	for (uint64_t i = 0; i < WIRE_REGS; i++)
		wire->regs[i] = i + 100;
	for (uint32_t i = 0; i < bytes; i++)
		((unsigned char *)(wire + 1))[i] = (unsigned char)(i * 7);
	return wire->head.size;
}

TEST(a_copy_comes_out_whole_up_to_the_greatest_and_not_one_byte_more)
{
	static const uint32_t sizes[] = { 0, 8, WIRE_MAX_ITER_COPY, WIRE_MAX_COPY };
	struct wire_copy *wire = malloc(sizeof(*wire) + WIRE_MAX_COPY);
	struct decoded_copy copy;
	size_t size = 0;

	ASSERT_NE(NULL, wire);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size = make_copy(wire, sizes[i]);
		ASSERT_EQ((int)size, decode__copy(wire, size, &copy));
		EXPECT_EQ(6, copy.incarnation);
		EXPECT_EQ(8, copy.time);
		EXPECT_EQ(sizes[i], copy.copy.nr);
		EXPECT_EQ(0, memcmp(copy.copy.bytes, wire + 1, sizes[i]));
		for (uint64_t r = 0; r < USER_COPY_REGS; r++)
			EXPECT_EQ(r + 100, copy.copy.regs[r]);
	}
	wire->head.size++;
	EXPECT_EQ(-EINVAL, decode__copy(wire, size, &copy));
	wire->head.size = UINT32_MAX;
	EXPECT_EQ(-EINVAL, decode__copy(wire, size, &copy));
	size = make_copy(wire, 64);
	for (size_t cut = 0; cut < size; cut++)
		EXPECT_EQ(-EINVAL, decode__copy(wire, cut, &copy));
	wire->head.kind = WIRE_BLOCK;
	EXPECT_EQ(-EINVAL, decode__copy(wire, size, &copy));
	free(wire);
}

TEST(a_copy_of_the_greatest_size_fits_into_a_record_of_perf)
{
	/* header, id of the event, size of the raw data, and the record is a multiple of 8 */
	size_t size = 8 + 8 + 4 + sizeof(struct wire_copy) + WIRE_MAX_COPY;

	EXPECT_LE((size + 7) & ~7UL, 65528);
	EXPECT_LT(65528, ((size + 8 + 7) & ~7UL));
	EXPECT_EQ(0, WIRE_MAX_COPY % 8);
}

TEST(what_a_thread_waited_comes_out_with_a_name_that_ends)
{
	struct wire_thread wire = {
		.head = { WIRE_THREAD, sizeof(wire) }, .pid = 3, .tid = 4, .runnable_ns = 5,
		.throttled_ns = 6,
	};
	struct thread_waits thread;

	memset(wire.comm, 'x', sizeof(wire.comm));
	ASSERT_EQ((int)sizeof(wire), decode__thread(&wire, sizeof(wire), &thread));
	EXPECT_EQ(3, thread.pid);
	EXPECT_EQ(4, thread.tid);
	EXPECT_EQ(5, thread.runnable_ns);
	EXPECT_EQ(6, thread.throttled_ns);
	EXPECT_STREQ("xxxxxxxxxxxxxxx", thread.comm);
	for (size_t cut = 0; cut < sizeof(wire); cut++)
		EXPECT_EQ(-EINVAL, decode__thread(&wire, cut, &thread));
	wire.head.kind = WIRE_BLOCK;
	EXPECT_EQ(-EINVAL, decode__thread(&wire, sizeof(wire), &thread));
}

TEST(a_sum_becomes_a_sample_without_frames)
{
	struct wire_entry_key key = { .pid = 1, .tid = 2, .state = WIRE_STATE_R, .cgroup = 3,
				      .flags = WIRE_BLOCK_PREEMPTED | WIRE_BLOCK_TRUNC_KERNEL };
	struct wire_entry entry = { .ns = 50, .count = 4, .time = 60, .cpu = 5,
				    .runqueue_ns = 20 };
	struct sample sample;

	decode__entry(&key, &entry, &sample);
	EXPECT_EQ(50, sample.period);
	EXPECT_EQ(20, sample.runqueue);
	EXPECT_EQ(4, sample.count);
	EXPECT_EQ(60, sample.time);
	EXPECT_EQ(1, sample.pid);
	EXPECT_EQ(2, sample.tid);
	EXPECT_EQ(3, sample.cgroup);
	EXPECT_EQ(5, sample.cpu);
	EXPECT_EQ('R', sample.state);
	EXPECT_TRUE(sample.preempted && sample.kernel.truncated);
	EXPECT_EQ(SAMPLE_OFFCPU, sample.kind);
	EXPECT_FALSE(sample.user.truncated || sample.kthread);
	key.flags = WIRE_BLOCK_WAKEUP;
	decode__entry(&key, &entry, &sample);
	EXPECT_EQ(SAMPLE_WAKEUP, sample.kind);
	EXPECT_EQ(0, sample.kernel.nr + sample.user.nr);
}

TEST(a_cgroup_comes_out_with_its_path_and_only_with_a_whole_one)
{
	struct {
		struct wire_cgroup_born born;
		char path[16];
	} wire = {
		.born = { .head = { .kind = WIRE_CGROUP_BORN, .size = sizeof(wire.born) + 5 },
			  .id = 42 },
		.path = "/a/b",
	};
	struct decoded_cgroup cgroup;

	ASSERT_EQ((int)wire.born.head.size, decode__cgroup(&wire, sizeof(wire), &cgroup));
	EXPECT_EQ(42, cgroup.id);
	EXPECT_STREQ("/a/b", cgroup.path);
	/* Without its NUL, without a path, cut, or of another kind. */
	wire.born.head.size--;
	EXPECT_EQ(-EINVAL, decode__cgroup(&wire, sizeof(wire), &cgroup));
	wire.born.head.size = sizeof(wire.born);
	EXPECT_EQ(-EINVAL, decode__cgroup(&wire, sizeof(wire), &cgroup));
	wire.born.head.size = sizeof(wire);
	EXPECT_EQ(-EINVAL, decode__cgroup(&wire, sizeof(wire) - 1, &cgroup));
	wire.born.head.kind = WIRE_BLOCK;
	EXPECT_EQ(-EINVAL, decode__cgroup(&wire, sizeof(wire), &cgroup));
}

TEST(a_running_time_comes_out_whole)
{
	struct wire_run wire = { .head = { .kind = WIRE_RUN, .size = sizeof(wire) }, .time = 5,
				 .run_ns = 300, .rest_ns = 20, .pid = 11, .tid = 12, .cpu = 3,
				 .flags = WIRE_BLOCK_KTHREAD };
	struct sample sample;
	struct wire_run run;

	ASSERT_EQ((int)sizeof(wire), decode__run(&wire, sizeof(wire), &run));
	EXPECT_EQ(0, memcmp(&wire, &run, sizeof(run)));
	decode__not_sampled(&run, 280, &sample);
	EXPECT_EQ(SAMPLE_ONCPU, sample.kind);
	EXPECT_EQ(280, sample.period);
	EXPECT_EQ(5, sample.time);
	EXPECT_EQ(12, sample.tid);
	EXPECT_EQ('R', sample.state);
	EXPECT_TRUE(sample.not_sampled && sample.kthread);
	EXPECT_EQ(-EINVAL, decode__run(&wire, sizeof(wire) - 1, &run));
	wire.head.size--;
	EXPECT_EQ(-EINVAL, decode__run(&wire, sizeof(wire), &run));
	wire.head = (struct wire_head){ .kind = WIRE_BLOCK, .size = sizeof(wire) };
	EXPECT_EQ(-EINVAL, decode__run(&wire, sizeof(wire), &run));
}

TEST(states_have_the_letters_of_ps)
{
	static const char letters[] = "RSDTtIPX?";

	for (uint32_t state = 0; state < WIRE_STATE_MAX; state++)
		EXPECT_EQ(letters[state], decode__state(state));
	EXPECT_EQ('?', decode__state(WIRE_STATE_MAX));
	EXPECT_EQ('?', decode__state(UINT32_MAX));
}

TEST_HARNESS_MAIN
