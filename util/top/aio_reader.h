/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_AIO_READER_H
#define DENET_TOP_AIO_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "top/user_request.h"

#define AIO_PATH_LEN 512 /* bytes of a path at most */

/* The file of the request that a call of Linux AIO refers to, and the state of its context. */
struct aio_answer {
	int32_t fd;		 /* of the request's file; -1: not known */
	uint32_t completed;	 /* requests of the context that ended and were not fetched yet; */
	bool has_context;	 /* their number is known */
	char path[AIO_PATH_LEN]; /* of the file, without a byte behind it */
};

/*
 * Reads what a request of the kind USER_REQUEST_AIO_SUBMIT or USER_REQUEST_AIO_WAIT asks for. Used
 * by the child of the user reader alone. Returns the bytes of the answer up to the end of the path,
 * or 0: nothing is known.
 */
size_t aio_reader__read(const struct user_request *request, struct aio_answer *to);

#endif /* DENET_TOP_AIO_READER_H */
