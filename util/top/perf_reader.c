/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/perf_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "base/log.h"
#include "base/strings.h"
#include "input/elsewhere.h"
#include "input/input.h"
#include "machine/machine.h"
#include "symbol/symbols.h"
#include "top/wall_time.h"

#define NUMBER_LEN 24
#define PULSE_SAMPLES 256

/* Frames of one side, known by a hash over them. */
struct known_stack {
	size_t first; /* in the frames */
	uint32_t nr;
	const char *functions; /* their names, the leaf first; NULL: not put together yet */
	const char *leaf;
};

/* A sample whose names are not known yet. */
struct kept {
	uint64_t time;
	uint64_t period;
	uint64_t kernel_id; /* as in other outputs */
	uint64_t user_id;
	uint32_t kernel; /* number of its stack */
	uint32_t user;
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	enum top_wire_state state;
	bool idle;
	const char *comm;
};

struct perf_reader {
	const char *path;
	struct input *input;
	struct machine *machine;
	struct symbols *symbols;
	struct strings strings;
	struct buffer samples; /* struct kept */
	struct buffer stacks;  /* struct known_stack */
	struct idmap stack_by_hash;
	struct buffer frames;	 /* uint32_t, of one stack after the other */
	uint64_t lead;		 /* of the time since the epoch to that of samples */
	const struct csv_pulse *pulse; /* NULL: none */
	uint64_t *bad;
};

bool perf_reader__knows(const char *path)
{
	static const char magic[8] = "PERFILE2";
	char found[sizeof(magic)];
	struct stat stat_buf;
	bool is_it;
	int fd;

	/* To open a FIFO would let its writer go on, and to close it leave it without a reader. */
	if (stat(path, &stat_buf) || !S_ISREG(stat_buf.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return false;
	is_it = pread(fd, found, sizeof(found), 0) == (ssize_t)sizeof(found) &&
		!memcmp(found, magic, sizeof(magic));
	close(fd);
	return is_it;
}

static enum top_wire_state state_of(const struct sample *sample)
{
	if (sample->kind == SAMPLE_ONCPU)
		return TOP_WIRE_RUN;
	return sample->runqueue ? TOP_WIRE_RUNQ : top_state__of_letter(sample->state);
}

/* The number of a stack of these frames, which are the last ones. 0 or -ENOMEM. */
static int get_stack(struct perf_reader *reader, size_t first, uint32_t nr, uint32_t *number)
{
	const uint32_t *frames = (const uint32_t *)(const void *)reader->frames.data + first;
	struct known_stack stack = { .first = first, .nr = nr };
	uint64_t hash = nr, *index;

	for (uint32_t i = 0; i < nr; i++)
		hash = idmap__mix(hash, frames[i]);
	index = idmap__get(&reader->stack_by_hash, hash == IDMAP_NONE ? 0 : hash);
	if (!index)
		return -ENOMEM;
	if (*index)
		reader->frames.len = first * sizeof(*frames);
	else if (buffer__append(&reader->stacks, &stack, sizeof(stack)))
		return -ENOMEM;
	else
		*index = reader->stacks.len / sizeof(stack);
	*number = (uint32_t)(*index - 1);
	return 0;
}

/* The stack of a sample that has the frames of one side only. 0 or -ENOMEM. */
static int add_stack(struct perf_reader *reader, const struct sample *sample, uint32_t *number)
{
	size_t first = reader->frames.len / sizeof(uint32_t);
	size_t bytes = ((size_t)sample->kernel.nr + sample->user.nr) * sizeof(uint32_t);
	uint32_t *frames = buffer__reserve(&reader->frames, bytes);
	int nr;

	if (!frames)
		return -ENOMEM;
	nr = symbols__frames(reader->symbols, reader->machine, sample, frames);
	if (nr < 0)
		return nr;
	reader->frames.len = (first + (size_t)nr) * sizeof(*frames);
	return get_stack(reader, first, (uint32_t)nr, number);
}

static int add_stacks(struct perf_reader *reader, const struct sample *sample, struct kept *kept)
{
	struct sample kernel = *sample, user = *sample;
	int err;

	kernel.user.nr = user.kernel.nr = 0;
	kept->kernel_id = thread_sample__hash(&sample->kernel);
	kept->user_id = thread_sample__hash(&sample->user);
	err = add_stack(reader, &kernel, &kept->kernel);
	return err ? err : add_stack(reader, &user, &kept->user);
}

static int refuse(const struct perf_reader *reader)
{
	pr_err("%s is a recording of denet-record and not of denet-top: denet-report shows it",
	       reader->path);
	return -EINVAL;
}

static int take_sample(void *ctx, const struct sample *sample)
{
	struct perf_reader *reader = ctx;
	const struct thread *thread =
		machine__thread_at(reader->machine, (pid_t)sample->tid, sample->time);
	const char *comm = thread ? thread__comm_at(thread, sample->time) : NULL;
	struct kept kept = {
		.time = sample->time,
		.period = sample->period,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.state = state_of(sample),
		.idle = sample->idle != NULL,
		.comm = strings__get(&reader->strings, comm ? comm : ""),
	};
	int err;

	if (strcmp(input__event(reader->input), "thread-state") != 0)
		return refuse(reader);
	if (sample->period > CSV_ROW_MOST_NS || sample->time > WALL_TIME_MOST_NS) {
		++*reader->bad;
		return 0;
	}
	err = kept.comm ? add_stacks(reader, sample, &kept) : -ENOMEM;
	if (!err && reader->pulse && reader->samples.len / sizeof(kept) % PULSE_SAMPLES == 0)
		err = reader->pulse->fn(reader->pulse->ctx);
	return err ? err : buffer__append(&reader->samples, &kept, sizeof(kept));
}

static int take_build_id(void *ctx, const char *path, const unsigned char *id, size_t len)
{
	return symbols__build_id(ctx, path, id, len);
}

/* A file whose writer was killed tells no clock: it is taken for one of this boot. */
static int read_all(struct perf_reader *reader)
{
	const struct input_info *info = input__info(reader->input);
	int err = input__read(reader->input, reader->machine, take_sample, reader);

	if (!err && strcmp(input__event(reader->input), "thread-state") != 0)
		err = refuse(reader);
	if (!err)
		err = input_info__each_build_id(info, take_build_id, reader->symbols);
	if (!err)
		err = symbols__resolve(reader->symbols, reader->machine,
				       input_info__is_elsewhere(info));
	reader->lead = info->realtime_ns ? info->realtime_ns - info->clock_ns
					 : wall_time__steady_lead(&reader->lead);
	return err;
}

struct stack_names {
	const struct symbols *symbols;
	const uint32_t *frames;
};

static void name_frame(const void *ctx, uint32_t i, char frame[STACK_TEXT_FRAME])
{
	const struct stack_names *names = ctx;

	stack_text__put_name(symbols__place(names->symbols, names->frames[i]).label->name, frame);
}

/* Puts the names of a stack together. Files of others may have longer chains. 0 or -ENOMEM. */
static int name_stack(struct perf_reader *reader, struct known_stack *stack)
{
	const struct stack_names names = {
		.symbols = reader->symbols,
		.frames = (const uint32_t *)(const void *)reader->frames.data + stack->first,
	};
	char text[TOP_COLUMN_LEN];

	stack_text__join(stack->nr, name_frame, &names, text, sizeof(text));
	stack->leaf = stack->nr ? symbols__place(names.symbols, names.frames[0]).label->name : "";
	stack->functions = strings__get(&reader->strings, text);
	return stack->functions ? 0 : -ENOMEM;
}

static const struct known_stack *find_stack(struct perf_reader *reader, uint32_t number)
{
	struct known_stack *stack =
		(struct known_stack *)(void *)reader->stacks.data + number;

	return stack->functions || !name_stack(reader, stack) ? stack : NULL;
}

static char *put_number(uint64_t number, char buf[NUMBER_LEN])
{
	snprintf(buf, NUMBER_LEN, "%" PRIu64, number);
	return buf;
}

static char *put_hash(uint64_t hash, char buf[NUMBER_LEN])
{
	snprintf(buf, NUMBER_LEN, "%" PRIx64, hash);
	return buf;
}

static int give(struct perf_reader *reader, const struct kept *kept, csv_row_fn fn, void *ctx)
{
	char tid[NUMBER_LEN], pid[NUMBER_LEN], cpu[NUMBER_LEN];
	char kernel_hash[NUMBER_LEN], user_hash[NUMBER_LEN];
	const struct known_stack *kernel = find_stack(reader, kept->kernel);
	const struct known_stack *user = find_stack(reader, kept->user);
	struct csv_row row = { .wall_ns = kept->time + reader->lead, .weight_ns = kept->period,
			       .idle = kept->idle };

	if (!kernel || !user)
		return -ENOMEM;
	if (row.wall_ns > WALL_TIME_MOST_NS) {
		++*reader->bad;
		return 0;
	}
	for (int i = 0; i < TOP_COLUMNS; i++)
		row.texts[i] = "";
	row.texts[TOP_COLUMN_STATE] = top_state__name(kept->state);
	row.texts[TOP_COLUMN_COMM] = kept->comm;
	row.texts[TOP_COLUMN_TID] = put_number(kept->tid, tid);
	row.texts[TOP_COLUMN_TGID] = put_number(kept->pid, pid);
	row.texts[TOP_COLUMN_CPU] = put_number(kept->cpu, cpu);
	row.texts[TOP_COLUMN_KSTACK] = kernel->functions;
	row.texts[TOP_COLUMN_USTACK] = user->functions;
	if (kept->state != TOP_WIRE_RUNQ)
		row.texts[TOP_COLUMN_WCHAN] = kernel->leaf;
	if (kept->kernel_id)
		row.texts[TOP_COLUMN_KSTACK_HASH] = put_hash(kept->kernel_id, kernel_hash);
	if (kept->user_id)
		row.texts[TOP_COLUMN_USTACK_HASH] = put_hash(kept->user_id, user_hash);
	return csv_row__give(&row, fn, ctx);
}

static int give_all(struct perf_reader *reader, csv_row_fn fn, void *ctx)
{
	const struct kept *samples = (const void *)reader->samples.data;
	int err = 0;

	for (size_t i = 0; i < reader->samples.len / sizeof(*samples) && !err; i++)
		err = give(reader, &samples[i], fn, ctx);
	return err;
}

static void free_reader(struct perf_reader *reader)
{
	buffer__free(&reader->samples);
	buffer__free(&reader->stacks);
	buffer__free(&reader->frames);
	idmap__free(&reader->stack_by_hash);
	strings__free(&reader->strings);
	symbols__delete(reader->symbols);
	machine__delete(reader->machine);
	input__close(reader->input);
}

int perf_reader__read(const char *path, csv_row_fn fn, void *ctx, const struct csv_pulse *pulse,
		      uint64_t *bad)
{
	const struct symbols_options symbols = { 0 };
	struct perf_reader reader = { .path = path, .pulse = pulse, .bad = bad };
	int err;

	reader.input = input__open(path, &err);
	if (!reader.input)
		return err;
	reader.machine = machine__new();
	reader.symbols = symbols__new(&symbols);
	err = reader.machine && reader.symbols ? read_all(&reader) : -ENOMEM;
	if (!err)
		err = give_all(&reader, fn, ctx);
	free_reader(&reader);
	return err;
}
