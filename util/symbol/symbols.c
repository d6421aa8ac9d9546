/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/log.h"
#include "base/units.h"
#include "machine/machine.h"
#include "symbol/debuginfod.h"
#include "symbol/kernel_symbols.h"
#include "symbol/labels.h"
#include "symbol/places.h"
#include "symbol/symbol_jobs.h"

/* In all, for all files: a single one has a sixteenth of it. */
#define RESOLVE_MS 60000
#define FETCH_MS 120000 /* from servers */
#define ADDRESS_BITS 48

struct frame {
	uint64_t address;
	uint64_t in_function;
	uint32_t place;
	uint32_t first; /* of its labels in the list */
	uint32_t nr_labels;
	bool caller; /* a return address: the call is before it */
};

struct known_id {
	const char *path;
	unsigned char id[BUILD_ID_MAX];
	size_t len;
};

struct symbols {
	struct symbols_options options;
	struct strings strings;
	struct places places;
	struct buffer frames; /* struct frame */
	struct idmap frame_by_key;
	struct labels labels;
	struct buffer list; /* uint32_t: the labels of frames */
	struct buffer ids; /* struct known_id */
};

static size_t count(const struct buffer *buffer, size_t size)
{
	return buffer->len / size;
}

static struct frame *frame_at(const struct symbols *symbols, size_t i)
{
	return (struct frame *)symbols->frames.data + i;
}

struct symbols *symbols__new(const struct symbols_options *options)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return NULL;
	symbols->options = *options;
	if (places__init(&symbols->places)) {
		symbols__delete(symbols);
		return NULL;
	}
	return symbols;
}

void symbols__delete(struct symbols *symbols)
{
	if (!symbols)
		return;
	places__free(&symbols->places);
	buffer__free(&symbols->frames);
	labels__free(&symbols->labels);
	buffer__free(&symbols->list);
	buffer__free(&symbols->ids);
	idmap__free(&symbols->frame_by_key);
	strings__free(&symbols->strings);
	free(symbols);
}

static int get_frame(struct symbols *symbols, uint32_t place, uint64_t address, bool caller,
		     uint32_t *number)
{
	const struct frame frame = { .address = address, .place = place, .caller = caller };
	const uint64_t key = (uint64_t)place << (ADDRESS_BITS + 1) |
			     (uint64_t)caller << ADDRESS_BITS |
			     (address & ((1ULL << ADDRESS_BITS) - 1));
	uint64_t *index = idmap__get(&symbols->frame_by_key, key);

	if (!index)
		return -ENOMEM;
	if (!*index) {
		if (buffer__append(&symbols->frames, &frame, sizeof(frame)))
			return -ENOMEM;
		*index = count(&symbols->frames, sizeof(frame));
		places__at(&symbols->places, place)->nr++;
	}
	*number = (uint32_t)(*index - 1);
	return 0;
}

/*
 * The number of the i-th user frame of a sample, whose process had that map there then. The first
 * one is where the thread was, the others are return addresses.
 */
static int add_user_frame(struct symbols *symbols, const struct machine *machine,
			  const struct process *process, const struct maps_entry *map,
			  const struct sample *sample, uint32_t i, uint32_t *number)
{
	uint64_t ip = sample->user.ips[i];
	const bool caller = i > 0;
	struct place *place;
	int index;

	if (!map)
		return get_frame(symbols, PLACE_UNKNOWN, ip, caller, number);
	index = places__find(&symbols->places, &symbols->strings, process, map);
	if (index < 0)
		return index;
	place = places__at(&symbols->places, (size_t)index);
	if (index != PLACE_UNKNOWN)
		place__note(place, machine, process, sample->time, map);
	if (place->kind == PLACE_FILE)
		ip = ip - map->start + map->pgoff;
	return get_frame(symbols, (uint32_t)index, ip, caller, number);
}

static int add_user(struct symbols *symbols, const struct machine *machine,
		    const struct sample *sample, uint32_t *frames)
{
	const struct process *process =
		machine__process_at(machine, (pid_t)sample->pid, sample->time);
	const struct maps *maps = process__maps_at(process, sample->time);
	int err = 0;

	for (uint32_t i = 0; i < sample->user.nr && !err; i++) {
		uint64_t ip = sample->user.ips[i];
		const struct maps_entry *map = maps ? maps__find(maps, sample->time, ip) : NULL;

		err = add_user_frame(symbols, machine, process, map, sample, i, &frames[i]);
	}
	return err;
}

int symbols__frames(struct symbols *symbols, const struct machine *machine,
		    const struct sample *sample, uint32_t *frames)
{
	uint32_t nr = sample->kernel.nr;
	int err = 0;

	/* Off the CPU, even the first one is where the scheduler was called from. */
	for (uint32_t i = 0; i < nr && !err; i++)
		err = get_frame(symbols, PLACE_KERNEL, sample->kernel.ips[i],
				i || sample->kind == SAMPLE_OFFCPU, &frames[i]);
	if (!err)
		err = add_user(symbols, machine, sample, frames + nr);
	return err ? err : (int)(nr + sample->user.nr);
}

int symbols__build_id(struct symbols *symbols, const char *path, const unsigned char *id,
		      size_t len)
{
	struct known_id known = { .path = strings__get(&symbols->strings, path), .len = len };

	if (!known.path || len > sizeof(known.id))
		return known.path ? 0 : -ENOMEM;
	memcpy(known.id, id, len);
	return buffer__append(&symbols->ids, &known, sizeof(known));
}

static int add_label(struct symbols *symbols, struct frame *frame, const struct symbol_label *label)
{
	uint32_t number = 0;
	int err = labels__get(&symbols->labels, label, &number);

	if (!frame->nr_labels)
		frame->first = (uint32_t)count(&symbols->list, sizeof(number));
	if (!err)
		err = buffer__append(&symbols->list, &number, sizeof(number));
	frame->nr_labels += !err;
	return err;
}

/* The label of a frame; name NULL: not known, the place and the offset in it replace it. */
static int label_frame(struct symbols *symbols, struct frame *frame, const char *name,
		       const char *place, uint64_t offset)
{
	struct symbol_label label = { .name = name,
				      .place = place,
				      .known = name != NULL,
				      .kernel = frame->place == PLACE_KERNEL };
	const char *slash = strrchr(place, '/');
	char text[320];

	if (!name) {
		snprintf(text, sizeof(text), "%.256s+0x%" PRIx64,
			 *place ? slash && slash[1] ? slash + 1 : place : "[unknown]", offset);
		label.name = strings__get(&symbols->strings, text);
	}
	return label.name ? add_label(symbols, frame, &label) : -ENOMEM;
}

/* An address that lies in the call, for a frame. */
static uint64_t call_address(const struct frame *frame)
{
	return frame->address - (frame->caller && frame->address);
}

static int resolve_kernel(struct symbols *symbols, const struct machine *machine, bool elsewhere)
{
	struct kernel_identity identity = { .elsewhere = elsewhere };
	const struct known_id *ids = (const void *)symbols->ids.data;
	struct kernel_symbols *kernel;
	int err = 0;

	identity.maps = machine__kernel_maps(machine, &identity.nr_maps);
	for (size_t i = 0; i < count(&symbols->ids, sizeof(*ids)) && !identity.id_len; i++) {
		if (strcmp(ids[i].path, "[kernel.kallsyms]"))
			continue;
		identity.id = ids[i].id;
		identity.id_len = ids[i].len;
	}
	if (!places__at(&symbols->places, PLACE_KERNEL)->nr)
		return 0;
	kernel = kernel_symbols__new(&identity);
	if (!kernel)
		return -ENOMEM;
	for (size_t i = 0; i < count(&symbols->frames, sizeof(struct frame)) && !err; i++) {
		struct frame *frame = frame_at(symbols, i);
		struct kernel_symbol found;
		const char *place, *name = NULL;

		if (frame->place != PLACE_KERNEL)
			continue;
		found = kernel_symbols__find(kernel, call_address(frame));
		place = strings__get_part(&symbols->strings, found.place, found.place_len);
		if (found.name)
			name = strings__get(&symbols->strings, found.name);
		if (found.name)
			frame->in_function = found.offset + frame->caller;
		err = !place || (found.name && !name) ? -ENOMEM
						      : label_frame(symbols, frame, name, place,
								    found.offset + frame->caller);
	}
	kernel_symbols__delete(kernel);
	return err;
}

/* The frames of places, in the order of place and address. */
struct sorted {
	uint64_t address;
	uint32_t place;
	uint32_t frame;
};

static int compare(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static struct sorted *sort_frames(const struct symbols *symbols, size_t nr)
{
	struct sorted *all = calloc(nr + 1, sizeof(*all));

	for (size_t i = 0; i < nr && all; i++) {
		const struct frame *frame = frame_at(symbols, i);

		all[i] = (struct sorted){ call_address(frame), frame->place, (uint32_t)i };
	}
	if (all)
		qsort(all, nr, sizeof(*all), compare);
	return all;
}

static bool has_id(const struct elf_wanted *wanted, const struct known_id *id)
{
	for (size_t i = 0; i < wanted->nr_ids; i++) {
		if (wanted->ids[i].len == id->len &&
		    !memcmp(wanted->ids[i].bytes, id->id, id->len))
			return true;
	}
	return false;
}

static size_t count_files(const struct symbols *symbols, const char *path)
{
	size_t nr = 0;

	for (size_t i = 0; i < places__nr(&symbols->places); i++)
		nr += places__at(&symbols->places, i)->path == path;
	return nr;
}

static void find_ids(const struct symbols *symbols, struct elf_wanted *wanted)
{
	const struct known_id *ids = (const void *)symbols->ids.data;

	for (size_t i = 0; i < count(&symbols->ids, sizeof(*ids)); i++) {
		if (ids[i].path != wanted->file->path || has_id(wanted, &ids[i]) ||
		    wanted->nr_ids == ELF_WANTED_IDS)
			continue;
		memcpy(wanted->ids[wanted->nr_ids].bytes, ids[i].id, ids[i].len);
		wanted->ids[wanted->nr_ids++].len = ids[i].len;
	}
	if (wanted->nr_ids > 1)
		wanted->nr_files = count_files(symbols, wanted->file->path);
}

static void make_query(const struct symbols *symbols, const struct place *place,
		       struct symbol_query *query)
{
	query->is_memory = place->kind == PLACE_MEMORY;
	query->born = place->born;
	query->wanted.file = &place->file;
	query->wanted.nr_mappings = place->nr_mappings;
	memcpy(query->wanted.mappings, place->mappings, sizeof(place->mappings));
	if (!query->is_memory)
		find_ids(symbols, &query->wanted);
}

/* All queries, and what they refer to. */
struct queries {
	struct sorted *sorted;
	uint64_t *addresses;
	struct symbol_answer *answers;
	struct symbol_query *all;
	uint32_t *places; /* of each query */
	size_t nr, nr_frames;
};

static int make_queries(const struct symbols *symbols, struct queries *queries)
{
	size_t nr = count(&symbols->frames, sizeof(struct frame)), at = 0, end;

	queries->nr_frames = nr;
	queries->sorted = sort_frames(symbols, nr);
	queries->addresses = calloc(nr + 1, sizeof(*queries->addresses));
	queries->answers = calloc(nr + 1, sizeof(*queries->answers));
	queries->all = calloc(places__nr(&symbols->places), sizeof(*queries->all));
	queries->places =
		calloc(places__nr(&symbols->places), sizeof(*queries->places));
	if (!queries->sorted || !queries->addresses || !queries->answers || !queries->all ||
	    !queries->places)
		return -ENOMEM;
	for (; at < nr; at = end) {
		uint32_t index = queries->sorted[at].place;
		const struct place *place = places__at(&symbols->places, index);
		struct symbol_query *query = &queries->all[queries->nr];

		for (end = at; end < nr && queries->sorted[end].place == index; end++)
			queries->addresses[end] = queries->sorted[end].address;
		if (place->kind != PLACE_FILE && place->kind != PLACE_MEMORY)
			continue;
		queries->places[queries->nr++] = index;
		make_query(symbols, place, query);
		query->addresses = queries->addresses + at;
		query->answers = queries->answers + at;
		query->nr = end - at;
	}
	return 0;
}

static void log_failures(const struct queries *queries)
{
	for (size_t i = 0; i < queries->nr; i++) {
		const struct symbol_query *query = &queries->all[i];

		if (query->err)
			pr_verbose("no names for %s: %s", query->wanted.file->path,
				   strerror(-query->err));
	}
}

/* "FUNCTION FILE:LINE", of the file the last part of its path. NULL: no memory. */
static const char *with_line(struct symbols *symbols, const char *name,
			     const struct symbol_inline *found)
{
	const char *slash = found->file ? strrchr(found->file, '/') : NULL;
	char text[2048];

	if (!found->file || !name)
		return name;
	snprintf(text, sizeof(text), "%s %s:%u", name, slash ? slash + 1 : found->file,
		 found->line);
	return strings__get(&symbols->strings, text);
}

/* The labels of the inlined functions at an address. */
static int label_inlines(struct symbols *symbols, const struct queries *queries,
			 const struct symbol_query *query)
{
	const struct symbol_inline *all = (const void *)query->inlines.data;
	const size_t first = (size_t)(query->addresses - queries->addresses);
	int err = 0;

	for (size_t i = 0; i < count(&query->inlines, sizeof(*all)) && !err; i++) {
		const size_t at = first + all[i].index;
		struct frame *frame = frame_at(symbols, queries->sorted[at].frame);
		const char *name = all[i].name ? all[i].name : queries->answers[at].name;
		const char *text = with_line(symbols, name, &all[i]);

		if (name && !text)
			return -ENOMEM;
		if (name)
			err = label_frame(symbols, frame, text,
					  places__at(&symbols->places, frame->place)->path, 0);
	}
	return err;
}

static int take_answers(struct symbols *symbols, const struct queries *queries)
{
	int err = 0;

	for (size_t i = 0; i < queries->nr && !err; i++)
		err = label_inlines(symbols, queries, &queries->all[i]);

	for (size_t i = 0; i < queries->nr_frames && !err; i++) {
		struct frame *frame = frame_at(symbols, queries->sorted[i].frame);
		const struct place *place = places__at(&symbols->places, frame->place);

		if (queries->answers[i].name)
			frame->in_function = frame->address - queries->answers[i].start;
		if (!frame->nr_labels)
			err = label_frame(symbols, frame, queries->answers[i].name, place->path,
					  frame->address);
	}
	return err;
}

int symbols__resolve(struct symbols *symbols, const struct machine *machine, bool elsewhere)
{
	const struct symbol_jobs_options options = {
		.world = { .symfs = symbols->options.symfs, .elsewhere = elsewhere },
		.no_demangle = symbols->options.no_demangle,
		.inlines = symbols->options.inlines,
		.lines = symbols->options.lines,
	};
	struct queries queries = { 0 };
	int err;

	/* There will be no further frames; this room is as large as that of the names. */
	idmap__free(&symbols->frame_by_key);
	err = resolve_kernel(symbols, machine, elsewhere);
	if (!err)
		err = make_queries(symbols, &queries);
	if (!err)
		err = symbol_jobs__run(queries.all, queries.nr, &options, &symbols->strings,
				       symbols->options.deadline_ms ? symbols->options.deadline_ms
								    : RESOLVE_MS);
	if (!err && !symbols->options.no_fetch)
		err = debuginfod__answer(queries.all, queries.nr, &options, &symbols->strings,
					 FETCH_MS);
	if (!err) {
		log_failures(&queries);
		err = take_answers(symbols, &queries);
	}
	for (size_t i = 0; i < queries.nr; i++)
		buffer__free(&queries.all[i].inlines);
	free(queries.sorted);
	free(queries.addresses);
	free(queries.answers);
	free(queries.all);
	free(queries.places);
	return err;
}

const uint32_t *symbols__labels_of(const struct symbols *symbols, uint32_t frame, size_t *nr)
{
	*nr = frame_at(symbols, frame)->nr_labels;
	return (const uint32_t *)symbols->list.data + frame_at(symbols, frame)->first;
}

size_t symbols__nr_labels(const struct symbols *symbols)
{
	return labels__nr(&symbols->labels);
}

const struct symbol_label *symbols__label(const struct symbols *symbols, uint32_t label)
{
	return labels__at(&symbols->labels, label);
}

struct symbol_place symbols__place(const struct symbols *symbols, uint32_t number)
{
	const struct frame *frame = frame_at(symbols, number);
	const uint32_t *labels = (const uint32_t *)symbols->list.data + frame->first;

	return (struct symbol_place){ symbols__label(symbols, *labels), frame->in_function,
				      frame->address };
}
