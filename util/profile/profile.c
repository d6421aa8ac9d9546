/* SPDX-License-Identifier: GPL-2.0-only */
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "base/minmax.h"
#include "base/strings.h"
#include "machine/machine.h"

struct stack {
	size_t first; /* in the frames */
	uint32_t nr;
};

struct profile {
	struct symbols *symbols;
	const struct profile_filter *filter;
	struct strings strings;
	struct buffer frames; /* uint32_t, of one stack after the other */
	struct buffer addresses; /* uint64_t of each frame, if they are kept */
	bool keeps_addresses;
	struct buffer stacks; /* struct stack */
	struct idmap stack_by_hash;
	struct buffer entries; /* struct profile_entry */
	struct idmap entry_by_hash;
	struct buffer scratch; /* the frames of a sample */
	struct buffer ips;     /* their addresses, if they are kept */
	struct profile_sum sums[PROFILE_EVENTS];
	struct profile_sum left_out;
	uint64_t start, end; /* of all samples; start is 0 before the first */
};

const char *profile_event__name(enum profile_event event)
{
	static const char *const names[] = {
		[PROFILE_OFFCPU] = "offcpu-time", [PROFILE_IDLE] = "offcpu-idle",
		[PROFILE_QUEUED] = "queued-time", [PROFILE_WAKEUP] = "wakeup-time",
		[PROFILE_ONCPU] = "on-cpu-time",
	};

	return names[event];
}

struct profile *profile__new(struct symbols *symbols, const struct profile_filter *filter)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	profile->symbols = symbols;
	profile->filter = filter;
	return profile;
}

void profile__delete(struct profile *profile)
{
	if (!profile)
		return;
	strings__free(&profile->strings);
	buffer__free(&profile->frames);
	buffer__free(&profile->addresses);
	buffer__free(&profile->stacks);
	buffer__free(&profile->entries);
	buffer__free(&profile->scratch);
	buffer__free(&profile->ips);
	idmap__free(&profile->stack_by_hash);
	idmap__free(&profile->entry_by_hash);
	free(profile);
}

static struct stack *stack_at(const struct profile *profile, size_t i)
{
	return (struct stack *)profile->stacks.data + i;
}

static const uint32_t *frames_of(const struct profile *profile, const struct stack *stack)
{
	return (const uint32_t *)profile->frames.data + stack->first;
}

static const uint64_t *addresses_of(const struct profile *profile, const struct stack *stack)
{
	return (const uint64_t *)(const void *)profile->addresses.data + stack->first;
}

void profile__keep_addresses(struct profile *profile)
{
	profile->keeps_addresses = true;
}

static bool is_stack(const struct profile *profile, size_t i, const uint32_t *frames, uint32_t nr)
{
	const struct stack *stack = stack_at(profile, i);

	return stack->nr == nr &&
	       (!nr || !memcmp(frames_of(profile, stack), frames, nr * sizeof(*frames))) &&
	       (!nr || !profile->keeps_addresses ||
		!memcmp(addresses_of(profile, stack), profile->ips.data, nr * sizeof(uint64_t)));
}

static int get_stack(struct profile *profile, const uint32_t *frames, uint32_t nr, uint32_t *number)
{
	struct stack stack = { .first = profile->frames.len / sizeof(*frames), .nr = nr };
	uint64_t hash = nr, *index;

	for (uint32_t i = 0; i < nr; i++)
		hash = idmap__mix(hash, frames[i]);
	for (;; hash++) {
		index = idmap__get(&profile->stack_by_hash, hash == IDMAP_NONE ? hash = 0 : hash);
		if (!index)
			return -ENOMEM;
		if (!*index)
			break;
		*number = (uint32_t)(*index - 1);
		if (is_stack(profile, *number, frames, nr))
			return 0;
	}
	if (buffer__append(&profile->addresses, profile->ips.data, profile->ips.len) ||
	    buffer__append(&profile->frames, frames, nr * sizeof(*frames)) ||
	    buffer__append(&profile->stacks, &stack, sizeof(stack)))
		return -ENOMEM;
	*index = profile->stacks.len / sizeof(stack);
	*number = (uint32_t)(*index - 1);
	return 0;
}

static bool is_same(const struct profile_entry *a, const struct profile_entry *b)
{
	return a->event == b->event && a->state == b->state && a->preempted == b->preempted &&
	       a->pid == b->pid && a->tid == b->tid && a->comm == b->comm &&
	       a->process == b->process && a->wait == b->wait && a->stack == b->stack;
}

/* The entry that is like this one, added with nothing in it if there is none. NULL: no memory. */
static struct profile_entry *get_entry(struct profile *profile, const struct profile_entry *like)
{
	uint64_t hash = idmap__mix((uint64_t)like->event << 32 | like->tid,
				   (uint64_t)like->stack << 8 | (unsigned char)like->state);
	struct profile_entry *entry;
	uint64_t *index;

	hash = idmap__mix(idmap__mix(hash, (uintptr_t)like->comm), (uintptr_t)like->wait);
	for (;; hash++) {
		index = idmap__get(&profile->entry_by_hash, hash == IDMAP_NONE ? hash = 0 : hash);
		if (!index)
			return NULL;
		if (!*index)
			break;
		entry = (struct profile_entry *)profile->entries.data + *index - 1;
		if (is_same(entry, like))
			return entry;
	}
	if (buffer__append(&profile->entries, like, sizeof(*like)))
		return NULL;
	*index = profile->entries.len / sizeof(*like);
	return (struct profile_entry *)profile->entries.data + *index - 1;
}

static bool is_named(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; at; at = strchr(at, ','), at += at != NULL) {
		if (!strncmp(at, name, len) && (!at[len] || at[len] == ','))
			return true;
	}
	return false;
}

static bool has_id(const struct id_list *list, uint32_t id)
{
	for (size_t i = 0; i < list->nr; i++) {
		if ((uint32_t)list->ids[i] == id)
			return true;
	}
	return !list->nr;
}

static bool is_wanted(const struct profile_filter *filter, const struct sample *sample,
		      const struct profile_entry *like)
{
	return (!filter->events || filter->events >> like->event & 1) &&
	       sample->time >= filter->from && (!filter->to || sample->time < filter->to) &&
	       has_id(&filter->tids, like->tid) &&
	       (!filter->comms || is_named(filter->comms, like->comm));
}

static int add_time(struct profile *profile, const struct sample *sample,
		    struct profile_entry *like, enum profile_event event, uint64_t ns)
{
	struct profile_entry *entry;

	like->event = event;
	if (!is_wanted(profile->filter, sample, like)) {
		profile->left_out.ns += ns;
		profile->left_out.samples++;
		return 0;
	}
	entry = get_entry(profile, like);
	if (!entry)
		return -ENOMEM;
	entry->ns += ns;
	entry->samples++;
	entry->blocks += sample->count;
	if (event != PROFILE_ONCPU && sample->count == 1)
		entry->longest = max_u64(entry->longest, ns);
	else if (event != PROFILE_ONCPU && sample->count)
		entry->mean = max_u64(entry->mean, ns / sample->count);
	profile->sums[event].ns += ns;
	profile->sums[event].samples++;
	return 0;
}

static const char *comm_of(struct profile *profile, const struct machine *machine, uint32_t tid,
			   uint64_t time)
{
	const struct thread *thread = machine__thread_at(machine, (pid_t)tid, time);
	const char *comm = thread ? thread__comm_at(thread, time) : NULL;

	return strings__get(&profile->strings, comm ? comm : "");
}

static int name_thread(struct profile *profile, const struct machine *machine,
		       const struct sample *sample, const char *wait, struct profile_entry *like)
{
	like->comm = comm_of(profile, machine, sample->tid, sample->time);
	like->process = comm_of(profile, machine, sample->pid, sample->time);
	like->wait = wait ? strings__get(&profile->strings, wait) : NULL;
	return like->comm && like->process && (like->wait || !wait) ? 0 : -ENOMEM;
}

static int keep_addresses(struct profile *profile, const struct sample *sample)
{
	const struct frames *kernel = &sample->kernel, *user = &sample->user;

	profile->ips.len = 0;
	if (!profile->keeps_addresses)
		return 0;
	if (buffer__append(&profile->ips, kernel->ips, kernel->nr * sizeof(uint64_t)))
		return -ENOMEM;
	return buffer__append(&profile->ips, user->ips, user->nr * sizeof(uint64_t));
}

static int add_stack(struct profile *profile, const struct machine *machine,
		     const struct sample *sample, uint32_t *number)
{
	size_t bytes = ((size_t)sample->kernel.nr + sample->user.nr) * sizeof(uint32_t);
	uint32_t *frames;
	int nr;

	profile->scratch.len = 0;
	frames = buffer__reserve(&profile->scratch, bytes);
	if (!frames || keep_addresses(profile, sample))
		return -ENOMEM;
	nr = symbols__frames(profile->symbols, machine, sample, frames);
	return nr < 0 ? nr : get_stack(profile, frames, (uint32_t)nr, number);
}

static enum profile_event event_of(const struct sample *sample)
{
	switch (sample->kind) {
	case SAMPLE_WAKEUP:
		return PROFILE_WAKEUP;
	case SAMPLE_ONCPU:
		return PROFILE_ONCPU;
	default:
		return sample->idle ? PROFILE_IDLE : PROFILE_OFFCPU;
	}
}

static void note_time(struct profile *profile, const struct sample *sample)
{
	/* A sum has its time in pieces. */
	uint64_t start = sample->time - (sample->count > 1 ? 0 : sample->period);

	profile->start = profile->start ? min_u64(profile->start, start) : start;
	profile->end = max_u64(profile->end, sample->time);
}

uint64_t profile__span(const struct profile *profile)
{
	return profile->end - profile->start;
}

/* As in files: of a block that was queued at its end, that part is an event of its own. */
int profile__add(struct profile *profile, const struct machine *machine,
		 const struct sample *sample, const char *wait)
{
	struct profile_entry like = { .state = sample->state,
				      .preempted = sample->preempted,
				      .pid = sample->pid,
				      .tid = sample->tid };
	uint64_t rest = sample->period - sample->runqueue;
	int err = name_thread(profile, machine, sample, wait, &like);

	note_time(profile, sample);
	if (!err)
		err = add_stack(profile, machine, sample, &like.stack);
	if (!err && (rest || !sample->runqueue))
		err = add_time(profile, sample, &like, event_of(sample), rest);
	if (!err && sample->runqueue)
		err = add_time(profile, sample, &like, PROFILE_QUEUED, sample->runqueue);
	return err;
}

const struct profile_entry *profile__entries(const struct profile *profile, size_t *nr)
{
	*nr = profile->entries.len / sizeof(struct profile_entry);
	return (const struct profile_entry *)profile->entries.data;
}

size_t profile__labels(const struct profile *profile, uint32_t number, uint32_t *labels, size_t max)
{
	const struct stack *stack = stack_at(profile, number);
	size_t at = 0;

	for (uint32_t i = 0; i < stack->nr; i++) {
		size_t nr;
		const uint32_t *own =
			symbols__labels_of(profile->symbols, frames_of(profile, stack)[i], &nr);

		for (size_t j = 0; j < nr; j++, at++) {
			if (at < max)
				labels[at] = own[j];
		}
	}
	return at;
}

size_t profile__nr_frames(const struct profile *profile, uint32_t stack)
{
	return stack_at(profile, stack)->nr;
}

struct profile_frame profile__frame(const struct profile *profile, uint32_t stack, size_t i)
{
	const struct stack *own = stack_at(profile, stack);

	return (struct profile_frame){
		.address = addresses_of(profile, own)[i],
		.place = symbols__place(profile->symbols, frames_of(profile, own)[i]),
	};
}

size_t profile__depth(const struct profile *profile)
{
	size_t depth = 0;

	for (size_t i = 0; i < profile->stacks.len / sizeof(struct stack); i++)
		depth = max_u64(depth, profile__labels(profile, (uint32_t)i, NULL, 0));
	return depth;
}

const struct symbol_label *profile__label(const struct profile *profile, uint32_t label)
{
	return symbols__label(profile->symbols, label);
}

size_t profile__nr_labels(const struct profile *profile)
{
	return symbols__nr_labels(profile->symbols);
}

struct profile_sum profile__sum(const struct profile *profile, enum profile_event event)
{
	return profile->sums[event];
}

struct profile_sum profile__left_out(const struct profile *profile)
{
	return profile->left_out;
}
