/* SPDX-License-Identifier: GPL-2.0-only */
/* The owner of a mutex, from the memory at a futex's address: mutexes of this C library. */
#include "common/harness.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf_skel/mutex_owner.h"

/* The locked value that a thread waits with. */
#define CONTENDED 2U

static struct mutex_words words_of(const pthread_mutex_t *mutex)
{
	struct mutex_words words;

	memcpy(&words, mutex, sizeof(words));
	return words;
}

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static void make(pthread_mutex_t *mutex, int type, int robust, int protocol, int shared)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setrobust(&attr, robust);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutexattr_setpshared(&attr, shared);
	pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

TEST(this_c_library_lays_a_mutex_out_as_expected)
{
	const struct mutex_words *at = NULL;
	pthread_mutex_t mutex;

	EXPECT_EQ(offsetof(struct mutex_words, owner),
		  (size_t)((char *)&mutex.__data.__owner - (char *)&mutex));
	EXPECT_EQ(offsetof(struct mutex_words, nusers),
		  (size_t)((char *)&mutex.__data.__nusers - (char *)&mutex));
	EXPECT_EQ(offsetof(struct mutex_words, kind),
		  (size_t)((char *)&mutex.__data.__kind - (char *)&mutex));
	EXPECT_EQ(4, sizeof(at->kind));
}

TEST(each_type_of_mutex_names_its_owner_while_it_is_held)
{
	static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				     PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP };
	pthread_mutex_t mutex;
	struct mutex_words words;
	uint8_t shared;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		make(&mutex, types[i], PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE,
		     PTHREAD_PROCESS_PRIVATE);
		words = words_of(&mutex);
		EXPECT_EQ(0, mutex_owner__of(&words, FUTEX_WAIT_PRIVATE, CONTENDED, &shared));
		pthread_mutex_lock(&mutex);
		words = words_of(&mutex);
		EXPECT_EQ(own_tid(),
			  mutex_owner__of(&words, FUTEX_WAIT_PRIVATE, CONTENDED, &shared));
		EXPECT_EQ(own_tid(), mutex_owner__of(&words,
						     FUTEX_WAIT_BITSET_PRIVATE |
							     FUTEX_CLOCK_REALTIME,
						     CONTENDED, &shared));
		EXPECT_EQ(0, shared);
		/* Another call, and a wait for another value, is not a wait for the mutex. */
		EXPECT_EQ(0, mutex_owner__of(&words, FUTEX_WAIT_PRIVATE, 0, &shared));
		EXPECT_EQ(0, mutex_owner__of(&words, FUTEX_CMP_REQUEUE, CONTENDED, &shared));
		pthread_mutex_unlock(&mutex);
		words = words_of(&mutex);
		EXPECT_EQ(0, mutex_owner__of(&words, FUTEX_WAIT_PRIVATE, CONTENDED, &shared));
	}
}

TEST(a_recursive_mutex_that_is_locked_twice_names_its_owner)
{
	struct mutex_words words;
	pthread_mutex_t mutex;
	uint8_t shared;

	make(&mutex, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE,
	     PTHREAD_PROCESS_SHARED);
	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&mutex);
	words = words_of(&mutex);
	EXPECT_EQ(own_tid(), mutex_owner__of(&words, FUTEX_WAIT, CONTENDED, &shared));
	EXPECT_EQ(1, shared);
}

TEST(the_word_of_robust_and_priority_inheriting_mutexes_is_the_owner)
{
	struct mutex_words words;
	pthread_mutex_t mutex;
	uint8_t shared;

	make(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE,
	     PTHREAD_PROCESS_PRIVATE);
	pthread_mutex_lock(&mutex);
	words = words_of(&mutex);
	EXPECT_EQ(own_tid(), mutex_owner__of(&words, FUTEX_WAIT_PRIVATE,
					     own_tid() | FUTEX_WAITERS, &shared));
	EXPECT_EQ(0, mutex_owner__of(&words, FUTEX_WAIT_PRIVATE, CONTENDED, &shared));
	words.lock++;
	EXPECT_EQ(0, mutex_owner__of(&words, FUTEX_WAIT_PRIVATE, own_tid() | FUTEX_WAITERS,
				     &shared));
	/* The kernel's own lock, whose word says all, whatever is behind it. */
	memset(&words, 0xff, sizeof(words));
	words.lock = 4711 | FUTEX_WAITERS;
	EXPECT_EQ(4711, mutex_owner__of(&words, FUTEX_LOCK_PI_PRIVATE, 0, &shared));
	EXPECT_EQ(0, shared);
	EXPECT_EQ(4711, mutex_owner__of(&words, FUTEX_LOCK_PI, 0, &shared));
	EXPECT_EQ(1, shared);
}

TEST(what_is_no_mutex_has_no_owner)
{
	const struct mutex_words held = { CONTENDED, 0, 77, 1, 0 };
	struct mutex_words words = held;
	uint8_t shared;

	ASSERT_EQ(77, mutex_owner__of(&words, FUTEX_WAIT, CONTENDED, &shared));
	words.kind = 4;
	EXPECT_EQ(0, mutex_owner__of(&words, FUTEX_WAIT, CONTENDED, &shared));
	words.kind = 32; /* priority inheritance has a call of its own */
	EXPECT_EQ(0, mutex_owner__of(&words, FUTEX_WAIT, CONTENDED, &shared));
	words = held;
	words.nusers = 0;
	EXPECT_EQ(0, mutex_owner__of(&words, FUTEX_WAIT, CONTENDED, &shared));
	words = held;
	words.owner = -1;
	EXPECT_EQ(0, mutex_owner__of(&words, FUTEX_WAIT, CONTENDED, &shared));
	words = held;
	words.owner = INT32_MAX; /* glibc: a robust mutex that is inconsistent */
	EXPECT_EQ(0, mutex_owner__of(&words, FUTEX_WAIT, CONTENDED, &shared));
	words = held;
	words.count = 1; /* of a mutex that is not recursive */
	EXPECT_EQ(0, mutex_owner__of(&words, FUTEX_WAIT, CONTENDED, &shared));
	words = held;
	words.lock = 3;
	EXPECT_EQ(0, mutex_owner__of(&words, FUTEX_WAIT, CONTENDED, &shared));
}

TEST(waits_by_their_arguments)
{
	const struct { uint32_t op, value; int known; } waits[] = {
		{ FUTEX_WAIT_PRIVATE, CONTENDED, 1 },
		{ FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, CONTENDED, 1 },
		{ FUTEX_WAIT, 4711 | FUTEX_WAITERS, 1 },
		{ FUTEX_WAIT, 5 << 19 | 2, 1 }, /* with a priority ceiling */
		{ FUTEX_WAIT, 0, 0 },
		{ FUTEX_WAIT_PRIVATE, 3, 0 },
		{ FUTEX_LOCK_PI_PRIVATE, 0, 1 },
		{ FUTEX_CMP_REQUEUE, CONTENDED, 0 },
	};
	struct mutex_wait wait;

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		wait = mutex_owner__wait(0, waits[i].op, waits[i].value, 0);
		EXPECT_EQ(waits[i].op, wait.op);
		EXPECT_EQ(waits[i].value, wait.value);
		EXPECT_EQ(waits[i].known, mutex_owner__may_be_known(wait));
	}
	/* futex_wait(2) has the value, a mask and flags. */
	wait = mutex_owner__wait(1, CONTENDED, ~0ULL, FUTEX_PRIVATE_FLAG | 2);
	EXPECT_EQ(FUTEX_WAIT_PRIVATE, wait.op);
	EXPECT_EQ(CONTENDED, wait.value);
}

/* Ten million contents in which every bit is random: next to none may look like a mutex. */
TEST(random_memory_has_no_owner)
{
	uint64_t state = 1, found = 0;
	struct mutex_words words;
	uint8_t shared;

	for (int i = 0; i < 10000000; i++) {
		uint32_t *word = (uint32_t *)&words;

		for (size_t n = 0; n < sizeof(words) / sizeof(*word); n++) {
			state = state * 6364136223846793005ULL + 1442695040888963407ULL;
			word[n] = (uint32_t)(state >> 32);
		}
		found += !!mutex_owner__of(&words, FUTEX_WAIT, CONTENDED, &shared);
	}
	EXPECT_EQ(0, found);
}

TEST_HARNESS_MAIN
