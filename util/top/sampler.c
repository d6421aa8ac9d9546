/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/sampler.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/syscalls.h"
#include "bpf/top.h"
#include "capture/idle.h"
#include "capture/settings.h"
#include "host/sysctl.h"
#include "top/kernel_lacks.h"
#include "top/kernel_stacks.h"
#include "top/realtime.h"
#include "top/stack_cache.h"
#include "top/text_cache.h"

/* Looks have priority if they take one in so many of the time at most. */
#define MOST_SHARE 20

/* Where the kernel does not tell from which port on it gives ports to clients. */
#define CLIENT_PORTS 32768

/*
 * Calls in which event loops wait, and those that wait for a time or for children: they are added
 * to the waits for work that all commands know. Of an event loop nobody can tell what it waits for.
 */
static const char idle_calls[] = "epoll_wait\nepoll_pwait\nepoll_pwait2\npoll\nppoll\n"
				 "select\npselect6\nnanosleep\nclock_nanosleep\nwait4\nwaitid\n"
				 "restart_syscall\n";

struct sampler {
	struct track *track; /* NULL: nothing is tracked */
	struct top_programs *programs;
	struct stack_cache *stack_cache; /* NULL: they are not wanted */
	struct text_cache *text_cache;	 /* the same */
	struct kernel_stacks kernel_stacks;
	struct buffer records;		 /* of a pass */
	struct realtime realtime;
	uint64_t pass_ns; /* how long the last look took */
};

/* The parts of a list, apart by commas, at most max. */
struct names {
	char *copy;
	const char *names[TOP_WIRE_MAX_COMMS];
	size_t nr;
};

static int split_names(struct names *names, const char *text)
{
	char *rest;

	names->copy = rest = strdup(text);
	if (!rest)
		return -ENOMEM;
	for (char *name; (name = strsep(&rest, ","));) {
		if (names->nr == sizeof(names->names) / sizeof(names->names[0]))
			return -E2BIG;
		names->names[names->nr++] = name;
	}
	return 0;
}

static bool is_any_call(const char *name)
{
	(void)name;
	return true;
}

/* Not each architecture has all of these calls. */
static int make_idle_table(struct idle_table *table, const char *path)
{
	const char *why;
	size_t line;
	struct idle_rule *rules;
	int err = idle_table__init(table);

	if (!err)
		err = idle_table__parse(table, idle_calls, sizeof(idle_calls) - 1, is_any_call,
					&line, &why);
	/* These are not the user's. */
	rules = (void *)table->rules.data;
	for (size_t i = 0; i < table->rules.len / sizeof(*rules); i++)
		rules[i].given = false;
	return err || !path ? err : idle_table__read(table, path);
}

static int mark_calls(__u8 calls[WIRE_MAX_CALLS], const char *text)
{
	struct names names = { 0 };
	int err = split_names(&names, text);

	for (size_t i = 0; i < names.nr && !err; i++) {
		bool found = false;

		for (int nr = 0; nr < syscalls__count() && nr < WIRE_MAX_CALLS; nr++) {
			if (*syscalls__name(nr) && !strcmp(names.names[i], syscalls__name(nr)))
				calls[nr] = found = true;
		}
		if (found)
			continue;
		pr_err("--syscall %s: there is no such system call", names.names[i]);
		err = -EINVAL;
	}
	if (err == -E2BIG)
		pr_err("--syscall: more than %d names", TOP_WIRE_MAX_COMMS);
	free(names.copy);
	return err;
}

static struct top_wire_settings make_settings(const struct sampler_options *options)
{
	int64_t port;

	if (sysctl__read("net.ipv4.ip_local_port_range", &port))
		port = CLIENT_PORTS;
	return (struct top_wire_settings){
		.states = options->states,
		.client_ports = (__u16)port,
		.idle = options->all_states || options->states || options->calls,
		.by_call = options->calls != NULL,
		.by_comm = options->comms != NULL,
		.tracked = (__u8)options->track.what,
		.marks = options->track.records,
	};
}

static int track(struct sampler *sampler, const struct track_options *options,
		 const struct offcpu_config *settings)
{
	const struct track_config config = {
		.settings = &settings->settings,
		.classes = settings->calls,
		.what = options->what,
		.pin = options->pin,
		.records = options->records,
		.min_ns = options->min_ns,
		.inherits = settings->settings.all || settings->settings.children,
	};
	int err = 0;

	if (options->what)
		sampler->track = track__new(&config, &err);
	return err;
}

/* Gives the programs their targets, and the tracker those that live already. */
static int add_targets(struct sampler *sampler, const struct capture_targets *targets)
{
	int err = settings__add_targets(targets, top_programs__targets(sampler->programs));

	if (err || !sampler->track)
		return err;
	err = top_programs__rehearse(sampler->programs);
	return err ? err : track__start(sampler->track);
}

static int load(struct sampler *sampler, const struct capture_options *capture,
		const struct track_options *tracked, struct top_programs_config *config)
{
	struct ksyms_cache symbols = { 0 };
	struct offcpu_config settings;
	int err = settings__make(&settings, capture, &symbols);

	ksyms_cache__drop(&symbols);
	if (!err)
		err = track(sampler, tracked, &settings);
	if (err)
		return err;
	config->track = sampler->track;
	config->settings = &settings.settings;
	config->classes = settings.calls;
	config->nr_targets = settings.nr_targets;
	sampler->programs = top_programs__new(config, &err);
	return err ? err : add_targets(sampler, &capture->targets);
}

static int make(struct sampler *sampler, const struct sampler_options *options,
		const struct idle_table *idle)
{
	struct top_programs_config config = { .top = make_settings(options) };
	__u8 calls[WIRE_MAX_CALLS] = { 0 };
	struct capture_options capture;
	struct names comms = { 0 };
	int err = 0;

	capture_options__init(&capture);
	capture.targets = options->targets;
	capture.filter.idle = idle;
	capture.reasons = true;
	capture.cgroups = true;
	capture.wakers = options->track.what & TRACK_WIRE_OFFCPU;
	capture.stacks.kernel = options->kernel_stacks;
	capture.stacks.user = options->user_stacks;
	config.calls = calls;
	if (options->calls)
		err = mark_calls(calls, options->calls);
	if (!err && options->comms)
		err = split_names(&comms, options->comms);
	if (err == -E2BIG)
		pr_err("--comm: more than %d names", TOP_WIRE_MAX_COMMS);
	config.comms = comms.names;
	config.nr_comms = comms.nr;
	if (!err)
		err = load(sampler, &capture, &options->track, &config);
	free(comms.copy);
	return err;
}

/* What samples have beyond that which the iterator tells. */
static int make_caches(struct sampler *sampler, const struct sampler_options *options)
{
	const struct text_cache_options texts = { .cmdlines = options->cmdlines,
						  .aio = options->aio,
						  .lock_owners = options->lock_owners };
	bool has_texts = texts.cmdlines || texts.aio || texts.lock_owners;

	if (options->user_stacks) {
		sampler->stack_cache = stack_cache__new(!options->frame_pointers);
		if (!sampler->stack_cache)
			return -ENOMEM;
	}
	if (has_texts)
		sampler->text_cache = text_cache__new(&texts);
	return sampler->text_cache || !has_texts ? 0 : -ENOMEM;
}

struct sampler *sampler__new(const struct sampler_options *options, int *err)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));
	struct idle_table idle = { 0 };

	*err = sampler ? make_idle_table(&idle, options->idle) : -ENOMEM;
	if (!*err)
		*err = make_caches(sampler, options);
	if (!*err)
		*err = make(sampler, options, &idle);
	idle_table__free(&idle);
	if (!*err) {
		kernel_lacks__warn();
		return sampler;
	}
	sampler__delete(sampler);
	return NULL;
}

void sampler__delete(struct sampler *sampler)
{
	if (!sampler)
		return;
	realtime__leave(&sampler->realtime);
	top_programs__delete(sampler->programs);
	track__delete(sampler->track);
	stack_cache__delete(sampler->stack_cache);
	text_cache__delete(sampler->text_cache);
	kernel_stacks__free(&sampler->kernel_stacks);
	buffer__free(&sampler->records);
	free(sampler);
}

struct reading {
	struct sampler *sampler;
	const struct top_pass *pass;
	sampler_fn fn;
	void *ctx;
};

static int give(void *ctx, struct thread_sample *sample)
{
	const struct reading *reading = ctx;
	int err = kernel_stacks__take(&reading->sampler->kernel_stacks, sample);

	if (err)
		return err;
	if (reading->sampler->stack_cache)
		stack_cache__find(reading->sampler->stack_cache, sample);
	if (reading->sampler->text_cache)
		text_cache__find(reading->sampler->text_cache, sample);
	return reading->fn(reading->ctx, reading->pass, sample);
}

static int want(void *ctx, struct thread_sample *sample)
{
	const struct reading *reading = ctx;
	const struct sampler *sampler = reading->sampler;
	int err = 0;

	if (sampler->stack_cache)
		err = stack_cache__want(sampler->stack_cache, sample);
	return err || !sampler->text_cache ? err : text_cache__want(sampler->text_cache, sample);
}

static int give_user_stack(void *ctx, struct thread_sample *sample)
{
	const struct reading *reading = ctx;

	stack_cache__find(reading->sampler->stack_cache, sample);
	return sample->user.nr ? reading->fn(reading->ctx, reading->pass, sample) : 0;
}

static int keep_records(void *ctx, const void *data, size_t size)
{
	const struct reading *reading = ctx;

	return buffer__append(&reading->sampler->records, data, size);
}

/* Calls fn for the thread of each record. */
static int each_record(struct reading *reading, const void *data, size_t size,
		       int (*fn)(void *ctx, struct thread_sample *sample))
{
	struct thread_sample sample;
	int len, err = 0;

	for (size_t at = 0; at < size && !err; at += (size_t)len) {
		len = thread_sample__decode((const char *)data + at, size - at, &sample);
		if (len < 0)
			return len;
		err = fn(reading, &sample);
	}
	return err;
}

/* What the memory of processes holds. */
static int read_memory(struct reading *reading)
{
	struct sampler *sampler = reading->sampler;
	int err;

	if (!sampler->stack_cache && !sampler->text_cache)
		return 0;
	if (sampler->stack_cache)
		stack_cache__begin(sampler->stack_cache);
	if (sampler->text_cache)
		text_cache__begin(sampler->text_cache);
	err = each_record(reading, sampler->records.data, sampler->records.len, want);
	if (!err && sampler->stack_cache)
		err = stack_cache__read(sampler->stack_cache);
	if (!err && sampler->text_cache)
		err = text_cache__read(sampler->text_cache);
	return err;
}

/* What takes long comes once the look is over, without its priority. */
int sampler__pass(struct sampler *sampler, struct top_pass *pass)
{
	struct reading reading = { .sampler = sampler, .pass = pass };
	uint64_t begin = clock__now_ns();
	int err;

	sampler->records.len = 0;
	top_programs__set_stacks(sampler->programs, pass->has_stacks,
				 kernel_stacks__begin(&sampler->kernel_stacks));
	err = top_programs__pass(sampler->programs, keep_records, &reading, &pass->counts);
	realtime__leave(&sampler->realtime);
	sampler->pass_ns = clock__now_ns() - begin;
	return err ? err : read_memory(&reading);
}

int sampler__user_stacks(struct sampler *sampler, const struct top_pass *pass, sampler_fn fn,
			 void *ctx)
{
	struct reading reading = { .sampler = sampler, .pass = pass, .fn = fn, .ctx = ctx };

	if (!sampler->stack_cache)
		return 0;
	return each_record(&reading, sampler->records.data, sampler->records.len,
			   give_user_stack);
}

int sampler__threads(struct sampler *sampler, const struct top_pass *pass, sampler_fn fn,
		     void *ctx)
{
	struct reading reading = { .sampler = sampler, .pass = pass, .fn = fn, .ctx = ctx };

	return each_record(&reading, sampler->records.data, sampler->records.len, give);
}

void sampler__expect(struct sampler *sampler, uint64_t period_ns)
{
	/* One that takes long would keep others from that CPU. */
	if (sampler->pass_ns * MOST_SHARE <= period_ns)
		realtime__enter(&sampler->realtime);
}

void sampler__relax(struct sampler *sampler)
{
	realtime__leave(&sampler->realtime);
}

uint64_t sampler__helpers_cpu_ns(const struct sampler *sampler)
{
	uint64_t ns = 0;

	if (sampler->stack_cache)
		ns += stack_cache__cpu_ns(sampler->stack_cache);
	if (sampler->text_cache)
		ns += text_cache__cpu_ns(sampler->text_cache);
	return ns;
}

int sampler__read_ended(struct sampler *sampler, uint64_t until, track_record_fn fn, void *ctx)
{
	return sampler->track ? track__read(sampler->track, until, fn, ctx) : 0;
}

int sampler__read_last(struct sampler *sampler, uint64_t until, track_record_fn fn, void *ctx)
{
	return sampler->track ? track__read_last(sampler->track, until, fn, ctx) : 0;
}

void sampler__warn_of_losses(const struct sampler *sampler, bool limited)
{
	struct track_losses losses = { 0 };

	if (sampler->track)
		losses = track__losses(sampler->track);
	if (losses.records)
		pr_warn("%" PRIu64 " calls and requests that ended are missing: they came faster "
			"than %s; a longer --min-time leaves out more",
			losses.records, limited ? "--max-overhead lets them be read"
						: "they were read");
	if (losses.tracked)
		pr_warn("%" PRIu64 " threads or requests were not tracked: there was no room",
			losses.tracked);
}
