/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/uring_text.h"

#include "base/json_text.h"

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

static void print_request(const struct top_wire_uring *uring, FILE *out)
{
	if (!uring->registered && uring->fd >= 0)
		fprintf(out, ",\"uring_fd\":%d", uring->fd);
	fprintf(out, ",\"uring_opcode\":%u,\"uring_offset\":%llu,\"uring_len\":%u", uring->opcode,
		(unsigned long long)uring->offset, uring->len);
	if (uring->flags)
		fprintf(out, ",\"uring_flags\":\"0x%x\"", uring->flags);
	if (uring->rw_flags)
		fprintf(out, ",\"uring_rw_flags\":\"0x%x\"", uring->rw_flags);
	if (uring->registered)
		fprintf(out, ",\"uring_reg_idx\":%d", uring->fd);
	if (uring->opcode < NR_OPCODES)
		fprintf(out, ",\"uring_request\":\"%s\"", opcodes[uring->opcode]);
}

void uring_text__print_extra(const struct thread_sample *sample, FILE *out)
{
	const struct top_wire_uring *uring = &sample->uring;
	char file[sizeof(sample->request.path)] = "";

	if (!sample->has_uring)
		return;
	if (uring->unsubmitted)
		fprintf(out, ",\"uring_sq\":%u", uring->unsubmitted);
	if (uring->completed)
		fprintf(out, ",\"uring_cq\":%u", uring->completed);
	uring_text__put_file(sample, file, sizeof(file));
	if (*file) {
		fputs(",\"uring_sq_file\":", out);
		json_text__print(file, out);
	}
	if (uring->has_request)
		print_request(uring, out);
}
