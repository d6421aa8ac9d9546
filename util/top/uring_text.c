/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/uring_text.h"

#include <stdio.h>

/* By their numbers, IORING_OP_*. */
static const char *const opcodes[] = {
	"NOP",		   "READV",	     "WRITEV",	      "FSYNC",	      "READ_FIXED",
	"WRITE_FIXED",	   "POLL_ADD",	     "POLL_REMOVE",   "SYNC_FILE_RANGE", "SENDMSG",
	"RECVMSG",	   "TIMEOUT",	     "TIMEOUT_REMOVE", "ACCEPT",      "ASYNC_CANCEL",
	"LINK_TIMEOUT",	   "CONNECT",	     "FALLOCATE",     "OPENAT",	      "CLOSE",
	"FILES_UPDATE",	   "STATX",	     "READ",	      "WRITE",	      "FADVISE",
	"MADVISE",	   "SEND",	     "RECV",	      "OPENAT2",      "EPOLL_CTL",
	"SPLICE",	   "PROVIDE_BUFFERS", "REMOVE_BUFFERS", "TEE",	      "SHUTDOWN",
	"RENAMEAT",	   "UNLINKAT",	     "MKDIRAT",	      "SYMLINKAT",    "LINKAT",
	"MSG_RING",	   "FSETXATTR",	     "SETXATTR",      "FGETXATTR",    "GETXATTR",
	"SOCKET",	   "URING_CMD",	     "SEND_ZC",	      "SENDMSG_ZC",
};

#define NR_OPCODES (sizeof(opcodes) / sizeof(opcodes[0]))

void uring_text__put_file(const struct thread_sample *sample, char *buf, size_t size)
{
	if (sample->has_request)
		snprintf(buf, size, "%s", sample->request.path);
	else if (sample->has_uring && sample->uring.has_request && sample->uring.registered)
		snprintf(buf, size, "[registered %d]", sample->uring.fd);
}

void uring_text__put_extra(const struct thread_sample *sample, char *buf, size_t size)
{
	const struct top_wire_uring *uring = &sample->uring;
	char request[64] = "";

	if (!sample->has_uring)
		return;
	if (uring->has_request && uring->opcode < NR_OPCODES)
		snprintf(request, sizeof(request), "\"request\":\"%s\",\"fd\":%d,",
			 opcodes[uring->opcode], uring->fd);
	else if (uring->has_request)
		snprintf(request, sizeof(request), "\"request\":\"%u\",\"fd\":%d,", uring->opcode,
			 uring->fd);
	snprintf(buf, size, "{\"io_uring\":{%s\"unsubmitted\":%u,\"completed\":%u}}", request,
		 uring->unsubmitted, uring->completed);
}
