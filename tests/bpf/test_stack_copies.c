/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies of registers and stacks, compared with the kernel's own walk along frame pointers: the
 * workload keeps them, so the chain can be read from the copy.
 * tests: parallel
 */
#include "common/harness.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include "base/units.h"
#include "common/test_capture.h"
#include "host/user_address.h"

FIXTURE(copies)
{
	struct workload workload;
	struct test_capture test_capture;
	struct capture_options options;
	uint64_t stack_end; /* of the workload's first thread */
};

FIXTURE_VARIANT(copies)
{
	uint32_t bytes;
};

FIXTURE_VARIANT_ADD(copies, of_8_bytes) { .bytes = 8 };
FIXTURE_VARIANT_ADD(copies, of_a_page) { .bytes = 4096 };
FIXTURE_VARIANT_ADD(copies, of_the_default_size) { .bytes = 8192 };
FIXTURE_VARIANT_ADD(copies, of_the_greatest_size) { .bytes = CAPTURE_MAX_COPY };

static uint64_t end_of_stack(pid_t pid)
{
	unsigned long long start, end = 0;
	char path[64], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (strstr(line, "[stack]") && sscanf(line, "%llx-%llx", &start, &end) == 2)
			break;
	}
	if (file)
		fclose(file);
	return end;
}

/* Two threads that sleep in 32 stacks each, of which so many bytes lie above. */
static int start_stacks(struct workload *workload, const char *above, const char *us)
{
	const char *const argv[] = { "stacks", "--wait", "--threads", "2",     "--bits", "5",
				     "--us",   us,	 "--above",   above, NULL };
	int err = workload__start(workload, argv);

	return err ? err : workload__await(workload, "READY");
}

static int start_workload(struct workload *workload)
{
	return start_stacks(workload, "0", "1000");
}

/* The waits of its threads between their first sleep and their last, as the kernel counted. */
static uint64_t blocks_counted(const struct workload *workload)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < workload->nr_truths; i++)
		sum += workload->truths[i].voluntary;
	return sum;
}

FIXTURE_SETUP(copies)
{
	SKIP_FOR(test_capture__refused());
	capture_options__init(&self->options);
	self->options.threshold_ns = 0;
	self->options.stacks.copies = (struct capture_copies){ .bytes = variant->bytes };
	ASSERT_EQ(0, start_workload(&self->workload));
	self->stack_end = end_of_stack(self->workload.pid);
	ASSERT_LT(0, self->stack_end);
}

FIXTURE_TEARDOWN(copies)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
}

/* Two words of the copy at an address of the thread's; false: it does not reach there. */
static bool read_pair(const struct user_copy *copy, uint64_t address, uint64_t pair[2])
{
	uint64_t at = address - copy->regs[USER_REG_SP];

	if (address < copy->regs[USER_REG_SP] || copy->nr < 16 || at > copy->nr - 16)
		return false;
	memcpy(pair, (const char *)copy->bytes + at, 16);
	return true;
}

/* How many of the frames that the kernel found are in the copy as well; -1: one differs. */
static int count_frames(const struct sample *sample)
{
	uint64_t pair[2] = { sample->copy->regs[USER_REG_FP],
			     sample->copy->regs[USER_REG_PC] };
	/* A return address may be signed in the copy. */
	uint64_t mask = user_address__mask();
	int nr = 0;

	for (uint32_t i = 0; i < sample->user.nr; i++) {
		if ((pair[1] & mask) != sample->user.ips[i])
			return -1;
		nr++;
		if (!read_pair(sample->copy, pair[0], pair))
			break;
	}
	return nr;
}

TEST_F(copies, frames_can_be_read_from_them_and_are_those_of_the_kernel)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	uint64_t taken = 0, whole = 0, first = 0, missing = 0, end;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	if (!capture__copies(self->test_capture.capture))
		SKIP(return, "this kernel or way of capture has no copies");
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 1000));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];
		int nr;

		/* A thread that waits in its exit has no user registers any more. */
		if (!sample->user.nr)
			continue;
		ASSERT_TRUE(sample->copy != NULL);
		taken++;
		nr = count_frames(sample);
		ASSERT_LT(0, nr);
		whole += (uint32_t)nr == sample->user.nr;
		ASSERT_LE(sample->copy->nr, variant->bytes);
		/*
		 * It ends with a page: behind a stack there may be nothing, and in the first
		 * thread's the kernel leaves a random gap that may never have been touched.
		 */
		end = sample->copy->regs[USER_REG_SP] + sample->copy->nr;
		if (sample->copy->nr < variant->bytes)
			EXPECT_EQ(0, end % 4096);
		if (sample->pid != sample->tid)
			continue;
		first++;
		EXPECT_LE(end, self->stack_end);
		missing += self->stack_end - sample->copy->regs[USER_REG_SP] < variant->bytes;
	}
	/* Each thread sleeps in 32 stacks; a timer may be over before it has gone. */
	EXPECT_LT(32, blocks_counted(&self->workload));
	EXPECT_LE(blocks_counted(&self->workload), taken);
	EXPECT_LE(1, first);
	if (variant->bytes == CAPTURE_MAX_COPY)
		EXPECT_LE(1, missing);
	EXPECT_EQ(taken, stats->copies);
	EXPECT_EQ(0, stats->lost_copies + stats->compat_copies + stats->unread_copies);
	if (variant->bytes >= 4096)
		EXPECT_EQ(taken, whole);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
	EXPECT_EQ(0, stats__unaccounted_ns(stats));
}

FIXTURE(full_ring)
{
	struct workload workload;
	struct test_capture test_capture;
	struct capture_options options;
};

/* Room for one of the greatest copies on each CPU, and then for blocks. */
FIXTURE_SETUP(full_ring)
{
	SKIP_FOR(test_capture__refused());
	capture_options__init(&self->options);
	self->options.threshold_ns = 0;
	self->options.stacks.copies = (struct capture_copies){ .bytes = CAPTURE_MAX_COPY };
	self->options.ring_pages = 32;
	ASSERT_EQ(0, start_stacks(&self->workload, "65536", "5000"));
}

FIXTURE_TEARDOWN(full_ring)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
}

TEST_F(full_ring, a_copy_without_room_is_counted_and_its_block_comes_without)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	uint64_t with = 0, without = 0;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	if (!capture__copies(self->test_capture.capture))
		SKIP(return, "this kernel or way of capture has no copies");
	/* Nothing is read until it has ended. */
	ASSERT_EQ(0, workload__go(&self->workload));
	ASSERT_EQ(0, workload__finish(&self->workload));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];

		with += sample->copy != NULL;
		/* A thread that waits in its exit may have neither memory nor a user stack. */
		without += !sample->copy && sample->user.nr;
	}
	EXPECT_LT(0, without);
	/*
	 * A sample whose copy was lost is delivered without it, unless the sample is lost as well.
	 */
	EXPECT_LT(0, stats->without_copy);
	EXPECT_LE(stats->without_copy, without);
	EXPECT_LE(without, stats->without_copy + stats->unread_copies);
	EXPECT_LE(stats->without_copy, stats->lost_copies);
	EXPECT_LE(stats->lost_copies, without + stats->lost_ring.count);
	EXPECT_LE(with, stats->copies);
	EXPECT_EQ(self->test_capture.lost,
		  stats->lost_copies + stats->lost_ring.count + stats->lost_sideband);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
}

TEST_F(full_ring, sums_have_none_and_all_else_is_as_without)
{
	const struct capture_stats *stats = &self->test_capture.stats;

	SKIP_FOR(test_capture__refused());
	self->options.ring_pages = 0;
	self->options.threshold_ns = 3600 * NSEC_PER_SEC;
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 1000));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	EXPECT_LT(0, self->test_capture.nr);
	for (size_t i = 0; i < self->test_capture.nr; i++)
		EXPECT_EQ(NULL, self->test_capture.samples[i].copy);
	EXPECT_EQ(0, stats->copies);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
}

/* The map of the rings that this process holds; -1: there is none. */
static int find_rings(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		struct bpf_map_info info = { 0 };
		__u32 size = sizeof(info);

		if (!bpf_obj_get_info_by_fd(fd, &info, &size) &&
		    info.type == BPF_MAP_TYPE_PERF_EVENT_ARRAY && !strcmp(info.name, "rings"))
			return fd;
	}
	return -1;
}

TEST_F(full_ring, a_copy_on_a_cpu_without_a_ring_is_counted_as_that_and_its_block_comes_without)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	uint64_t without = 0;
	int rings;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	if (!capture__copies(self->test_capture.capture))
		SKIP(return, "this kernel or way of capture has no copies");
	rings = find_rings();
	ASSERT_LE(0, rings);
	for (__u32 cpu = 0; cpu < (__u32)sysconf(_SC_NPROCESSORS_CONF); cpu++)
		bpf_map_delete_elem(rings, &cpu);
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 20));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	for (size_t i = 0; i < self->test_capture.nr; i++) {
		EXPECT_EQ(NULL, self->test_capture.samples[i].copy);
		without += self->test_capture.samples[i].user.nr > 0;
	}
	EXPECT_LT(0, without);
	EXPECT_LT(0, stats->without_copy);
	EXPECT_LE(stats->without_copy, stats->ringless_copies);
	EXPECT_EQ(0, stats->lost_copies);
	EXPECT_EQ(0, stats->copies);
	/* No ring was full. */
	EXPECT_EQ(0, self->test_capture.lost);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
}

TEST_F(full_ring, those_that_nobody_chose_have_room_for_many_copies)
{
	const struct capture_stats *stats = &self->test_capture.stats;

	SKIP_FOR(test_capture__refused());
	self->options.ring_pages = 0;
	/* With a lower one the rings are larger for that. */
	self->options.threshold_ns = NSEC_PER_MSEC;
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	if (!capture__copies(self->test_capture.capture))
		SKIP(return, "this kernel or way of capture has no copies");
	/* Nothing is read until it has ended. */
	ASSERT_EQ(0, workload__go(&self->workload));
	ASSERT_EQ(0, workload__finish(&self->workload));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	/* More than the rings of recordings without copies hold. */
	EXPECT_LT(1 << 20, (int64_t)stats->copies * CAPTURE_MAX_COPY / 2);
	EXPECT_EQ(0, stats->lost_copies);
	EXPECT_EQ(0, stats->lost_ring.count);
}

FIXTURE(chosen)
{
	struct workload workload;
	struct test_capture test_capture;
	struct capture_options options;
};

FIXTURE_VARIANT(chosen)
{
	bool chosen;
};

FIXTURE_VARIANT_ADD(chosen, it_is) { .chosen = true };
FIXTURE_VARIANT_ADD(chosen, it_is_not) { .chosen = false };

FIXTURE_SETUP(chosen)
{
	SKIP_FOR(test_capture__refused());
	capture_options__init(&self->options);
	self->options.threshold_ns = 0;
	self->options.stacks.copies = (struct capture_copies){ .bytes = 64, .chosen = true };
	ASSERT_EQ(0, start_workload(&self->workload));
}

FIXTURE_TEARDOWN(chosen)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
}

TEST_F(chosen, only_who_is_chosen_has_copies)
{
	uint64_t with = 0;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	if (!capture__copies(self->test_capture.capture))
		SKIP(return, "this kernel or way of capture has no copies");
	ASSERT_EQ(0, capture__choose(self->test_capture.capture, getpid(), true));
	ASSERT_EQ(0, capture__choose(self->test_capture.capture, self->workload.pid, true));
	if (!variant->chosen)
		ASSERT_EQ(0,
			  capture__choose(self->test_capture.capture, self->workload.pid, false));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 1000));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	for (size_t i = 0; i < self->test_capture.nr; i++)
		with += self->test_capture.samples[i].copy != NULL;
	EXPECT_LT(32, blocks_counted(&self->workload));
	EXPECT_LE(blocks_counted(&self->workload), self->test_capture.nr);
	EXPECT_LE(variant->chosen ? blocks_counted(&self->workload) : 0, with);
	EXPECT_LE(with, variant->chosen ? self->test_capture.nr : 0);
}

TEST_HARNESS_MAIN
