/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The thread that holds the lock of a futex call, as far as the memory behind the futex shows.
 * Compiled by clang -target bpf and by gcc, so that it can be tested with any memory contents. The
 * layout is that of glibc's pthread_mutex_t on 64-bit machines; locks of other libraries and other
 * objects of glibc have other contents there, and no owner.
 */
#ifndef DENET_MUTEX_OWNER_H
#define DENET_MUTEX_OWNER_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* include/uapi/linux/futex.h, which is not for programs. */
#define MUTEX_OWNER_TID 0x3fffffffU
#define MUTEX_OWNER_WAITERS 0x80000000U
#define MUTEX_OWNER_PRIVATE 128U
#define MUTEX_OWNER_CLOCK 256U

/* The front of glibc's pthread_mutex_t; the first word is the futex. */
struct mutex_words {
	__u32 lock;
	__u32 count;
	__s32 owner;
	__u32 nusers;
	__u32 kind;
};

/* Bits of kind. */
#define MUTEX_KIND_TYPE 3U /* normal, recursive, error-checking, adaptive */
#define MUTEX_KIND_RECURSIVE 1U
#define MUTEX_KIND_ROBUST 16U
#define MUTEX_KIND_PRIO_PROTECT 64U
#define MUTEX_KIND_SHARED 128U
#define MUTEX_KIND_ELISION 768U
#define MUTEX_KIND_BITS                                                          \
	(MUTEX_KIND_TYPE | MUTEX_KIND_ROBUST | MUTEX_KIND_PRIO_PROTECT |         \
	 MUTEX_KIND_SHARED | MUTEX_KIND_ELISION)

/* The rest of the lock of a priority-protected mutex is its ceiling. */
#define MUTEX_LOCK_MASK 0x7ffffU
#define MUTEX_MOST_USERS (1U << 22)

enum mutex_call {
	MUTEX_CALL_OTHER,
	MUTEX_CALL_WAIT, /* while the futex has a value: the lock is the C library's */
	MUTEX_CALL_PI,	 /* the kernel's own lock, whose word is the owner */
};

static inline enum mutex_call mutex_owner__call(__u32 op)
{
	switch (op & ~(MUTEX_OWNER_PRIVATE | MUTEX_OWNER_CLOCK)) {
	case 0: /* FUTEX_WAIT */
	case 9: /* FUTEX_WAIT_BITSET */
		return MUTEX_CALL_WAIT;
	case 6: /* FUTEX_LOCK_PI */
	case 13: /* FUTEX_LOCK_PI2 */
		return MUTEX_CALL_PI;
	default:
		return MUTEX_CALL_OTHER;
	}
}

/* The operation of a futex call that waits, and the value that it expects in the futex. */
struct mutex_wait {
	__u32 op;
	__u32 value;
};

/* By the arguments of futex(2) or futex_wait(2) behind the address. */
static inline struct mutex_wait mutex_owner__wait(int is_futex_wait, __u64 second, __u64 third,
						  __u64 fourth)
{
	/* futex_wait() has no operation, but the same flag for private futexes. */
	struct mutex_wait wait = {
		.op = (__u32)(is_futex_wait ? fourth & MUTEX_OWNER_PRIVATE : second),
		.value = (__u32)(is_futex_wait ? second : third),
	};

	return wait;
}

/* False: whatever the memory holds, mutex_owner__of() knows no owner. */
static inline int mutex_owner__may_be_known(struct mutex_wait wait)
{
	enum mutex_call call = mutex_owner__call(wait.op);

	if (call == MUTEX_CALL_WAIT)
		return wait.value & MUTEX_OWNER_WAITERS || (wait.value & MUTEX_LOCK_MASK) == 2;
	return call == MUTEX_CALL_PI;
}

/* True if the lock is held, and the thread waits with glibc's value. */
static inline int mutex_owner__is_locked(const struct mutex_words *words, __u32 value)
{
	if (words->kind & MUTEX_KIND_ROBUST)
		return value & MUTEX_OWNER_WAITERS &&
		       (words->lock & MUTEX_OWNER_TID) == (__u32)words->owner;
	if (words->kind & MUTEX_KIND_PRIO_PROTECT)
		return (value & MUTEX_LOCK_MASK) == 2 && (words->lock & MUTEX_LOCK_MASK) - 1 < 2;
	if ((words->kind & MUTEX_KIND_TYPE) == MUTEX_KIND_RECURSIVE ? !words->count : words->count)
		return 0;
	return value == 2 && words->lock - 1 < 2;
}

/*
 * The thread that holds the mutex of a futex call with that op and value, by its id in the PID
 * namespace of the caller; 0: not known. The caller must check that the thread is alive: in the
 * process of the waiting thread, or, if *is_shared, in any.
 */
static inline __u32 mutex_owner__of(const struct mutex_words *words, __u32 op, __u32 value,
				    __u8 *is_shared)
{
	enum mutex_call call = mutex_owner__call(op);

	*is_shared = 0;
	if (call == MUTEX_CALL_PI) {
		*is_shared = !(op & MUTEX_OWNER_PRIVATE);
		return words->lock & MUTEX_OWNER_TID;
	}
	if (call != MUTEX_CALL_WAIT || words->kind & ~MUTEX_KIND_BITS)
		return 0;
	if (words->owner <= 0 || (__u32)words->owner > MUTEX_OWNER_TID)
		return 0;
	if (words->nusers - 1 >= MUTEX_MOST_USERS || !mutex_owner__is_locked(words, value))
		return 0;
	*is_shared = !!(words->kind & MUTEX_KIND_SHARED);
	return (__u32)words->owner;
}

#endif /* DENET_MUTEX_OWNER_H */
