/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/text_cache.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/strings.h"
#include "base/units.h"
#include "top/aio_reader.h"
#include "top/user_reader.h"

/* More than this is forgotten all at once. */
#define MAX_BYTES (8UL << 20)
#define MAX_TEXTS 65536
/* Programs write what they do there, as PostgreSQL does. */
#define AGAIN_NS NSEC_PER_SEC

struct cmdline {
	const char *text;
	uint64_t read; /* when, CLOCK_MONOTONIC */
};

struct text_cache {
	struct text_cache_options options;
	struct user_reader *reader;
	struct buffer wanted;	 /* struct user_request */
	struct idmap asked;	 /* processes whose command line is wanted in this pass */
	struct idmap by_process; /* -> number in cmdlines, from 1 on */
	struct buffer cmdlines;	 /* struct cmdline */
	struct idmap owners;	 /* by thread and switches, of this pass -> tid */
	struct idmap aio;	 /* the same -> number in aio_requests, from 1 on */
	struct buffer aio_requests; /* struct aio_request */
	struct strings strings;
};

struct text_cache *text_cache__new(const struct text_cache_options *options)
{
	const struct user_reader_options reader = {
		.what = "command lines, requests of AIO and owners of locks",
	};
	struct text_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->options = *options;
	cache->reader = user_reader__new(&reader);
	if (cache->reader)
		return cache;
	free(cache);
	return NULL;
}

static void forget_all(struct text_cache *cache)
{
	idmap__clear(&cache->by_process);
	cache->cmdlines.len = 0;
	strings__free(&cache->strings);
}

void text_cache__delete(struct text_cache *cache)
{
	if (!cache)
		return;
	user_reader__delete(cache->reader);
	idmap__free(&cache->asked);
	idmap__free(&cache->by_process);
	idmap__free(&cache->owners);
	idmap__free(&cache->aio);
	buffer__free(&cache->wanted);
	buffer__free(&cache->cmdlines);
	buffer__free(&cache->aio_requests);
	strings__free(&cache->strings);
	free(cache);
}

void text_cache__begin(struct text_cache *cache)
{
	idmap__clear(&cache->asked);
	idmap__clear(&cache->owners);
	idmap__clear(&cache->aio);
	cache->aio_requests.len = 0;
	if (cache->strings.bytes > MAX_BYTES || cache->by_process.used > MAX_TEXTS)
		forget_all(cache);
}

static struct cmdline *cmdline_of(const struct text_cache *cache, uint32_t pid)
{
	const uint64_t *number = idmap__find(&cache->by_process, pid);

	if (!number || !*number)
		return NULL;
	return (struct cmdline *)(void *)cache->cmdlines.data + *number - 1;
}

static bool has_memory(const struct thread_sample *sample)
{
	return !sample->kthread && sample->state != TOP_WIRE_ZOMBIE &&
	       sample->state != TOP_WIRE_DEAD;
}

static int want_cmdline(struct text_cache *cache, const struct thread_sample *sample)
{
	const struct user_request request = { .kind = USER_REQUEST_CMDLINE,
					      .pid = (pid_t)sample->pid };
	const struct cmdline *known = cmdline_of(cache, sample->pid);
	uint64_t *asked;

	if (known && sample->time - known->read < AGAIN_NS)
		return 0;
	asked = idmap__get(&cache->asked, sample->pid);
	if (!asked)
		return -ENOMEM;
	return (*asked)++ ? 0 : buffer__append(&cache->wanted, &request, sizeof(request));
}

/* Between two switches a thread is in one call. */
static uint64_t wait_key(uint64_t tid, uint64_t switches)
{
	uint64_t key = idmap__mix(idmap__mix(1, tid), switches);

	return key == IDMAP_NONE ? 0 : key;
}

static bool is_aio(const struct thread_sample *sample)
{
	return !sample->compat &&
	       (sample->nr == SYS_io_submit || sample->nr == SYS_io_getevents ||
		sample->nr == SYS_io_pgetevents);
}

static int want_aio(struct text_cache *cache, const struct thread_sample *sample)
{
	const struct user_request request = {
		.kind = sample->nr == SYS_io_submit ? USER_REQUEST_AIO_SUBMIT
						    : USER_REQUEST_AIO_WAIT,
		.pid = (pid_t)sample->pid,
		.tid = (pid_t)sample->tid,
		.context = sample->args[0],
		.address = sample->args[2],
		.switches = sample->switches,
	};

	return is_aio(sample) ? buffer__append(&cache->wanted, &request, sizeof(request)) : 0;
}

/* A thread that sleeps until a lock is free, which some thread holds. */
static bool is_lock_wait(const struct thread_sample *sample, struct mutex_wait *wait)
{
	if (!sample->has_object || !sample->reason.futex || sample->compat ||
	    (sample->state != TOP_WIRE_SLEEP && sample->state != TOP_WIRE_DISK))
		return false;
	*wait = mutex_owner__wait(!strcmp(sample->reason.call, "futex_wait"), sample->args[1],
				  sample->args[2], sample->args[3]);
	return mutex_owner__may_be_known(*wait);
}

static int want_owner(struct text_cache *cache, const struct thread_sample *sample)
{
	struct user_request request = { .kind = USER_REQUEST_LOCK_OWNER,
					.pid = (pid_t)sample->pid,
					.tid = (pid_t)sample->tid,
					.address = sample->args[0],
					.switches = sample->switches,
					.tracked = sample->track.owner,
					.tracked_shared = sample->track.owner_shared,
					.inner_pids = sample->reason.inner_pids };

	return is_lock_wait(sample, &request.wait)
		       ? buffer__append(&cache->wanted, &request, sizeof(request)) : 0;
}

int text_cache__want(struct text_cache *cache, const struct thread_sample *sample)
{
	int err = 0;

	if (!has_memory(sample))
		return 0;
	if (cache->options.cmdlines)
		err = want_cmdline(cache, sample);
	if (!err && cache->options.lock_owners)
		err = want_owner(cache, sample);
	return err || !cache->options.aio ? err : want_aio(cache, sample);
}

static int keep_cmdline(struct text_cache *cache, uint32_t pid, const char *text)
{
	struct cmdline made = { .text = text, .read = clock__now_ns() };
	struct cmdline *known = cmdline_of(cache, pid);
	uint64_t *number;

	if (known) {
		*known = made;
		return 0;
	}
	number = idmap__get(&cache->by_process, pid);
	if (!number || buffer__append(&cache->cmdlines, &made, sizeof(made)))
		return -ENOMEM;
	*number = cache->cmdlines.len / sizeof(made);
	return 0;
}

static int keep_owner(struct text_cache *cache, const struct user_request *request,
		      const void *data, size_t size)
{
	uint32_t owner;
	uint64_t *kept;

	if (size != sizeof(owner))
		return -EINVAL;
	memcpy(&owner, data, sizeof(owner));
	if (!owner)
		return 0;
	kept = idmap__get(&cache->owners, wait_key((uint64_t)request->tid, request->switches));
	if (!kept)
		return -ENOMEM;
	*kept = owner;
	return 0;
}

static int keep_aio(struct text_cache *cache, const struct user_request *request, const char *data,
		    size_t size)
{
	const size_t path = offsetof(struct aio_answer, path);
	struct aio_answer answer;
	struct aio_request made;
	uint64_t *number;

	if (!size)
		return 0;
	if (size < path)
		return -EINVAL;
	memcpy(&answer, data, path);
	made = (struct aio_request){ .fd = answer.fd,
				     .completed = answer.completed,
				     .has_context = answer.has_context,
				     .file = strings__get_part(&cache->strings, data + path,
							       size - path) };
	number = idmap__get(&cache->aio, wait_key((uint64_t)request->tid, request->switches));
	if (!made.file || !number || buffer__append(&cache->aio_requests, &made, sizeof(made)))
		return -ENOMEM;
	*number = cache->aio_requests.len / sizeof(made);
	return 0;
}

static int keep(void *ctx, const struct user_request *request, const void *data, size_t size)
{
	struct text_cache *cache = ctx;
	const char *text;

	if (request->kind == USER_REQUEST_LOCK_OWNER)
		return keep_owner(cache, request, data, size);
	if (request->kind != USER_REQUEST_CMDLINE)
		return keep_aio(cache, request, data, size);
	text = strings__get_part(&cache->strings, size ? data : "", size);
	return text ? keep_cmdline(cache, (uint32_t)request->pid, text) : -ENOMEM;
}

int text_cache__read(struct text_cache *cache)
{
	const struct user_request *requests = (const void *)cache->wanted.data;
	size_t nr = cache->wanted.len / sizeof(*requests);

	cache->wanted.len = 0;
	return user_reader__read(cache->reader, requests, nr, keep, cache);
}

void text_cache__find(const struct text_cache *cache, struct thread_sample *sample)
{
	const uint64_t key = wait_key(sample->tid, sample->switches);
	const struct aio_request *aio = (const void *)cache->aio_requests.data;
	const struct cmdline *cmdline;
	const uint64_t *number, *owner;

	if (!has_memory(sample))
		return;
	cmdline = cmdline_of(cache, sample->pid);
	if (cmdline)
		sample->cmdline = cmdline->text;
	number = idmap__find(&cache->aio, key);
	if (number && *number)
		sample->aio = &aio[*number - 1];
	owner = idmap__find(&cache->owners, key);
	if (owner)
		sample->lock_owner = (uint32_t)*owner;
}

uint64_t text_cache__cpu_ns(const struct text_cache *cache)
{
	return user_reader__cpu_ns(cache->reader);
}
