/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/csv_completions.h"

#include <inttypes.h>
#include <stdio.h>

#include "stat/syscall_names.h"
#include "top/csv_text.h"
#include "top/wall_time.h"

/* Results in this range are numbers, others are addresses and the like. */
#define LEAST_RESULT (-4095)
#define MOST_RESULT (16 << 20)
#define FLAGS_LEN 64

static int add_call(struct buffer *lines, const struct track_wire_call *call, uint64_t lead)
{
	char name[SYSCALL_NAME_LEN], time[WALL_TIME_LEN], result[32];

	syscall_names__put(call->compat ? STAT_ABI_COMPAT : STAT_ABI_NATIVE, (uint32_t)call->nr,
			   name);
	if (call->ret >= LEAST_RESULT && call->ret <= MOST_RESULT)
		snprintf(result, sizeof(result), "%lld", call->ret);
	else
		snprintf(result, sizeof(result), "0x%llx", (unsigned long long)call->ret);
	return csv_text__add(lines, "SYSC_END,%u,%u,'%s',%llu,%s,%llu,%s\n", call->tid, call->pid,
			     name, call->ns, result, call->seq,
			     wall_time__put(call->entered + lead, time));
}

/*
 * Times of a request begin when it was made: its column of time is named after its issue, but has
 * that in xcapture's files, too.
 */
static int add_request(struct buffer *lines, const struct track_wire_done *done, uint64_t lead)
{
	const struct track_wire_request *request = &done->request;
	uint64_t start = request->start ? request->start : request->inserted;
	uint64_t issued = request->issued ? request->issued : start;
	uint64_t ns = done->time > start ? done->time - start : 0;
	uint64_t service_ns = done->time > issued ? done->time - issued : 0;
	char flags[FLAGS_LEN], time[WALL_TIME_LEN];

	if (service_ns > ns)
		service_ns = ns;
	return csv_text__add(lines,
			     "IORQ_END,%u,%u,%u,%u,%u,%u,%u,%u,%llu,%u,'%s',%llu,%" PRIu64
			     ",%" PRIu64 ",%" PRIu64 ",%s,%d\n",
			     request->insert_tid, request->insert_pid, request->issue_tid,
			     request->issue_pid, done->tid, done->pid, request->dev >> 20,
			     request->dev & 0xfffff, request->sector, request->bytes,
			     completion__put_flags(request->flags, flags, sizeof(flags)),
			     request->seq, ns, service_ns, ns - service_ns,
			     wall_time__put(start + lead, time), done->error);
}

int csv_completions__add(struct buffer *lines, const struct completion *completion, uint64_t lead)
{
	return completion->kind == TRACK_WIRE_CALL ? add_call(lines, &completion->call, lead)
						   : add_request(lines, &completion->request, lead);
}
