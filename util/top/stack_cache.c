/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/stack_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/units.h"
#include "top/stack_walker.h"
#include "top/user_reader.h"

/* More than this is forgotten all at once. */
#define MAX_BYTES (16UL << 20)
/* After so long, stacks are read again that are USER_STACK_LATER. */
#define LATER_NS (60 * NSEC_PER_SEC)

struct stack_cache {
	struct user_reader *reader;
	struct buffer wanted; /* struct user_request */
	struct idmap offsets; /* by thread and switches -> offset in frames */
	struct buffer frames; /* uint64_t: a number, and as many addresses behind it */
	/* uint64_t: keys of stacks that are to be read again, at the next look and later */
	struct buffer soon;
	struct buffer later;
	uint64_t later_due; /* CLOCK_MONOTONIC */
};

struct stack_cache *stack_cache__new(bool tables)
{
	const struct user_reader_options options = { .what = "user stacks", .tables = tables };
	struct stack_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->reader = user_reader__new(&options);
	if (cache->reader)
		return cache;
	free(cache);
	return NULL;
}

void stack_cache__delete(struct stack_cache *cache)
{
	if (!cache)
		return;
	user_reader__delete(cache->reader);
	buffer__free(&cache->wanted);
	idmap__free(&cache->offsets);
	buffer__free(&cache->frames);
	buffer__free(&cache->soon);
	buffer__free(&cache->later);
	free(cache);
}

/* A thread between two switches has one place in user space. */
static uint64_t key_of(uint64_t tid, const uint64_t *regs, uint64_t switches)
{
	uint64_t key = idmap__mix(idmap__mix(tid, regs[USER_REG_PC]), regs[USER_REG_SP]);

	key = idmap__mix(idmap__mix(key, regs[USER_REG_FP]), switches);
	return key == IDMAP_NONE ? 0 : key;
}

static uint64_t key_of_sample(const struct thread_sample *sample)
{
	return key_of(sample->tid, sample->user_regs, sample->switches);
}

/* Their frames stay until all are forgotten. */
static void forget(struct stack_cache *cache, struct buffer *keys)
{
	const uint64_t *key = (const void *)keys->data;

	for (size_t i = 0; i < keys->len / sizeof(*key); i++)
		idmap__remove(&cache->offsets, key[i]);
	keys->len = 0;
}

void stack_cache__begin(struct stack_cache *cache)
{
	uint64_t now = clock__now_ns();

	forget(cache, &cache->soon);
	if (now >= cache->later_due) {
		forget(cache, &cache->later);
		cache->later_due = now + LATER_NS;
	}
	if (cache->frames.len < MAX_BYTES)
		return;
	idmap__clear(&cache->offsets);
	cache->frames.len = cache->later.len = 0;
}

int stack_cache__want(struct stack_cache *cache, const struct thread_sample *sample)
{
	struct user_request request = {
		.pid = (pid_t)sample->pid,
		.tid = (pid_t)sample->tid,
		.switches = sample->switches,
		.time = sample->time,
	};

	if (!sample->user_regs || idmap__find(&cache->offsets, key_of_sample(sample)))
		return 0;
	memcpy(request.regs, sample->user_regs, sizeof(request.regs));
	for (const char *at = sample->exe; *at; at++)
		request.program = idmap__mix(request.program, (unsigned char)*at);
	return buffer__append(&cache->wanted, &request, sizeof(request));
}

static int keep_frames(void *ctx, const struct user_request *request, const void *data,
		       size_t size)
{
	const uint64_t key = key_of((uint64_t)request->tid, request->regs, request->switches);
	const struct user_stack *stack = data;
	struct stack_cache *cache = ctx;
	struct buffer *again;
	uint64_t count, *offset = idmap__get(&cache->offsets, key);

	if (!offset)
		return -ENOMEM;
	if (size < offsetof(struct user_stack, ips))
		return -EPROTO;
	*offset = cache->frames.len;
	size -= offsetof(struct user_stack, ips);
	count = size / sizeof(stack->ips[0]);
	if (buffer__append(&cache->frames, &count, sizeof(count)) ||
	    buffer__append(&cache->frames, stack->ips, size))
		return -ENOMEM;
	if (stack->again == USER_STACK_WHOLE)
		return 0;
	again = stack->again == USER_STACK_SOON ? &cache->soon : &cache->later;
	return buffer__append(again, &key, sizeof(key));
}

int stack_cache__read(struct stack_cache *cache)
{
	const struct user_request *requests = (const void *)cache->wanted.data;
	size_t nr = cache->wanted.len / sizeof(*requests);

	cache->wanted.len = 0;
	return user_reader__read(cache->reader, requests, nr, keep_frames, cache);
}

void stack_cache__find(const struct stack_cache *cache, struct thread_sample *sample)
{
	const uint64_t *offset, *frames;

	if (!sample->user_regs)
		return;
	offset = idmap__find(&cache->offsets, key_of_sample(sample));
	if (!offset)
		return;
	frames = (const uint64_t *)(const void *)(cache->frames.data + *offset);
	sample->user = (struct frames){ .ips = frames + 1, .nr = (uint32_t)frames[0] };
	sample->user_id = thread_sample__hash(&sample->user);
}

uint64_t stack_cache__cpu_ns(const struct stack_cache *cache)
{
	return user_reader__cpu_ns(cache->reader);
}
