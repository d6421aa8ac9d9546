/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_INPUT_REST_H
#define DENET_INPUT_REST_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The bytes of a record or a section that have not been read yet; borrowed. */
struct rest {
	const char *at;
	size_t size;
};

/* The next size bytes, which need not be aligned; NULL if there are fewer. */
static inline const void *rest__take(struct rest *rest, uint64_t size)
{
	const char *at = rest->at;

	if (size > rest->size)
		return NULL;
	rest->at += size;
	rest->size -= size;
	return at;
}

/* Copies the next size bytes to value. 0, or -EINVAL if there are fewer. */
static inline int rest__copy(struct rest *rest, void *value, size_t size)
{
	const void *at = rest__take(rest, size);

	if (!at)
		return -EINVAL;
	memcpy(value, at, size);
	return 0;
}

#endif /* DENET_INPUT_REST_H */
