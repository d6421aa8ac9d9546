/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts that are kept are those that would be made. */
#include "top/column_cache.h"

#include <stdio.h>
#include <string.h>

#include "common/harness.h"

static bool has_texts(struct column_cache *cache, const struct thread_sample *sample,
		      struct top_names *names)
{
	const char *const *texts = column_cache__texts(cache, sample, names);
	char made[TOP_COLUMN_LEN];
	bool same = texts != NULL;

	for (int i = 0; i < TOP_COLUMNS && same; i++)
		same = !strcmp(texts[i],
			       top_column__put((enum top_column)i, sample, names, made));
	return same;
}

TEST(texts_follow_what_a_thread_does)
{
	struct column_cache *cache = column_cache__new();
	struct top_names names = { 0 };
	struct thread_sample sample = { .tid = 7, .pid = 7, .nr = 0, .state = TOP_WIRE_SLEEP,
					.comm = "a", .switches = 1 };
	struct aio_request aio = { .file = "/file", .fd = 3, .has_context = true };
	const char *const *texts;

	ASSERT_NE(NULL, cache);
	ASSERT_TRUE(has_texts(cache, &sample, &names));
	texts = column_cache__texts(cache, &sample, &names);
	EXPECT_EQ(texts, column_cache__texts(cache, &sample, &names));
	/* As long as it has not run, its call is the same one. */
	sample.nr = 1;
	sample.switches = 2;
	EXPECT_TRUE(has_texts(cache, &sample, &names));
	sample.state = TOP_WIRE_DISK;
	EXPECT_TRUE(has_texts(cache, &sample, &names));
	snprintf(sample.comm, sizeof(sample.comm), "b");
	EXPECT_TRUE(has_texts(cache, &sample, &names));
	sample.user_id = 5;
	EXPECT_TRUE(has_texts(cache, &sample, &names));
	sample.cmdline = "a b";
	EXPECT_TRUE(has_texts(cache, &sample, &names));
	/* So do requests of Linux AIO. */
	sample.aio = &aio;
	for (; aio.completed < 3; aio.completed++)
		EXPECT_TRUE(has_texts(cache, &sample, &names));
	sample.aio = NULL;
	EXPECT_TRUE(has_texts(cache, &sample, &names));
	/* Requests come and go while it sleeps. */
	for (sample.track.requests = 3; sample.track.requests; sample.track.requests--) {
		sample.track.request_seq = 10 + sample.track.requests;
		EXPECT_TRUE(has_texts(cache, &sample, &names));
	}
	sample.track.request_seq = 0;
	EXPECT_TRUE(has_texts(cache, &sample, &names));
	/* A call gets longer. */
	sample.time = 1000;
	sample.track.entered = 900;
	for (; sample.time < 100000000000; sample.time *= 3)
		EXPECT_TRUE(has_texts(cache, &sample, &names));
	sample.track.entered = 0;
	EXPECT_TRUE(has_texts(cache, &sample, &names));
	/* Another thread of that tid. */
	sample.start = 99;
	sample.pid = 8;
	EXPECT_TRUE(has_texts(cache, &sample, &names));
	/* What runs is looked at each time. */
	sample.state = TOP_WIRE_RUN;
	sample.cpu = 3;
	EXPECT_TRUE(has_texts(cache, &sample, &names));
	sample.cpu = 4;
	EXPECT_TRUE(has_texts(cache, &sample, &names));
	column_cache__delete(cache);
	top_names__free(&names);
}

TEST(many_threads_are_forgotten)
{
	struct column_cache *cache = column_cache__new();
	struct top_names names = { 0 };
	struct thread_sample sample = { .nr = -1, .state = TOP_WIRE_SLEEP };

	ASSERT_NE(NULL, cache);
	for (sample.tid = 1; sample.tid < 200000; sample.tid++)
		ASSERT_NE(NULL, column_cache__texts(cache, &sample, &names));
	ASSERT_TRUE(has_texts(cache, &sample, &names));
	column_cache__delete(cache);
	top_names__free(&names);
}

TEST_HARNESS_MAIN
