/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/stack_cache.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "top/user_reader.h"

/* More than this is forgotten all at once. */
#define MAX_BYTES (16UL << 20)

struct stack_cache {
	struct user_reader *reader;
	struct buffer wanted; /* struct user_request */
	struct idmap offsets; /* by thread and switches -> offset in frames */
	struct buffer frames; /* uint64_t: a number, and as many addresses behind it */
};

struct stack_cache *stack_cache__new(void)
{
	struct stack_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->reader = user_reader__new("user stacks");
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
	free(cache);
}

/* A thread between two switches has one place in user space. */
static uint64_t key_of(uint64_t tid, uint64_t pc, uint64_t fp, uint64_t switches)
{
	uint64_t key = idmap__mix(idmap__mix(idmap__mix(tid, pc), fp), switches);

	return key == IDMAP_NONE ? 0 : key;
}

static uint64_t key_of_sample(const struct thread_sample *sample)
{
	return key_of(sample->tid, sample->user_pc, sample->user_fp, sample->switches);
}

void stack_cache__begin(struct stack_cache *cache)
{
	if (cache->frames.len < MAX_BYTES)
		return;
	idmap__clear(&cache->offsets);
	cache->frames.len = 0;
}

int stack_cache__want(struct stack_cache *cache, const struct thread_sample *sample)
{
	const struct user_request request = {
		.pid = (pid_t)sample->pid,
		.tid = (pid_t)sample->tid,
		.pc = sample->user_pc,
		.fp = sample->user_fp,
		.switches = sample->switches,
	};

	if (!sample->user_pc || idmap__find(&cache->offsets, key_of_sample(sample)))
		return 0;
	return buffer__append(&cache->wanted, &request, sizeof(request));
}

static int keep_frames(void *ctx, const struct user_request *request, const void *ips,
		       size_t size)
{
	struct stack_cache *cache = ctx;
	const uint64_t count = size / sizeof(uint64_t);
	uint64_t *offset = idmap__get(&cache->offsets, key_of((uint64_t)request->tid, request->pc,
							       request->fp, request->switches));

	if (!offset)
		return -ENOMEM;
	*offset = cache->frames.len;
	if (buffer__append(&cache->frames, &count, sizeof(count)) ||
	    buffer__append(&cache->frames, ips, size))
		return -ENOMEM;
	return 0;
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

	if (!sample->user_pc)
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
