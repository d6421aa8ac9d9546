/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/flamegraph/flamegraph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/strings.h"
#include "output/flamegraph/stack_tree.h"

/* The page up to and from the place of the data, as the build makes it of page.html. */
static const char page_text[] =
#include "flamegraph_page.h"
	;
#define PLACE "@DATA@"

/* Kinds of time, in the order of page.html's colours. */
enum kind { KIND_RUNNING, KIND_RUNNABLE, KIND_BLOCKED, KIND_DISK, KIND_IDLE, KIND_WAKER };

static const char *const kind_names[] = {
	[KIND_RUNNING] = "running",
	[KIND_RUNNABLE] = "runnable",
	[KIND_BLOCKED] = "blocked",
	[KIND_DISK] = "blocked, uninterruptible",
	[KIND_IDLE] = "idle: waits for work",
	[KIND_WAKER] = "wakers: time of others that they ended",
};

struct drawing {
	const struct profile *profile; /* that is added now */
	struct stack_tree tree;
	struct strings strings;
	struct idmap indexes; /* of names by their pointers, + 1 */
	struct buffer names;  /* const char * */
	uint32_t *labels;
};

static int name_index(struct drawing *drawing, const char *name, uint32_t *number)
{
	const char *kept = strings__get(&drawing->strings, name);
	uint64_t *index = kept ? idmap__get(&drawing->indexes, (uintptr_t)kept) : NULL;

	if (!index)
		return -ENOMEM;
	if (!*index) {
		if (buffer__append(&drawing->names, &kept, sizeof(kept)))
			return -ENOMEM;
		*index = drawing->names.len / sizeof(kept);
	}
	*number = (uint32_t)(*index - 1);
	return 0;
}

static enum kind kind_of(enum profile_event event, char state)
{
	switch (event) {
	case PROFILE_ONCPU:
		return KIND_RUNNING;
	case PROFILE_QUEUED:
		return KIND_RUNNABLE;
	case PROFILE_IDLE:
		return KIND_IDLE;
	case PROFILE_WAKEUP:
		return KIND_WAKER;
	default:
		if (state == 'R')
			return KIND_RUNNABLE;
		return state == 'D' ? KIND_DISK : KIND_BLOCKED;
	}
}

static int step(struct drawing *drawing, const char *name, const char *suffix, uint64_t ns,
		uint32_t *at)
{
	char text[1200];
	uint32_t index;
	int err;

	snprintf(text, sizeof(text), "%s%s", name, suffix);
	err = name_index(drawing, text, &index);
	return err ? err : stack_tree__step(&drawing->tree, index, ns, at);
}

static int add_entry(struct drawing *drawing, const struct profile_entry *entry)
{
	size_t nr = profile__labels(drawing->profile, entry->stack, drawing->labels, SIZE_MAX);
	enum kind kind = kind_of(entry->event, entry->state);
	uint32_t at = 0;
	int err = stack_tree__begin(&drawing->tree, entry->ns);

	if (!err)
		err = step(drawing, kind_names[kind], "", entry->ns, &at);
	if (!err)
		err = step(drawing, *entry->comm ? entry->comm : "?", "", entry->ns, &at);
	while (nr && !err) {
		const struct symbol_label *label =
			profile__label(drawing->profile, drawing->labels[--nr]);

		err = step(drawing, label->name, label->kernel ? " [k]" : "", entry->ns, &at);
	}
	return err;
}

/* Kinds have the first names, for their colours. */
static int add_kinds(struct drawing *drawing)
{
	uint32_t number;
	int err = 0;

	for (size_t i = 0; i < sizeof(kind_names) / sizeof(kind_names[0]) && !err; i++)
		err = name_index(drawing, kind_names[i], &number);
	return err;
}

static int add_profile(struct drawing *drawing, const struct profile *profile, enum tree_side side)
{
	const struct profile_entry *entries;
	size_t nr;
	int err = 0;

	drawing->profile = profile;
	drawing->tree.side = side;
	drawing->labels = calloc(profile__depth(profile) + 1, sizeof(*drawing->labels));
	if (!drawing->labels)
		return -ENOMEM;
	entries = profile__entries(profile, &nr);
	for (size_t i = 0; i < nr && !err; i++)
		err = add_entry(drawing, &entries[i]);
	free(drawing->labels);
	return err;
}

/*
 * Names, and for each node its depth, the index of its name, and ns; where profiles are compared,
 * the ns of the other one as well, and the name of its file.
 */
static void print_data(const struct drawing *drawing, const char *other, FILE *out)
{
	const char *const *names = (const void *)drawing->names.data;
	unsigned int depth = 0;
	uint32_t node = 0;

	fputs("{\"other\":", out);
	if (other)
		json_text__print(other, out);
	else
		fputs("null", out);
	fputs(",\n\"names\":[", out);
	for (size_t i = 0; i < drawing->names.len / sizeof(*names); i++) {
		fputs(i ? ",\n" : "\n", out);
		json_text__print(names[i], out);
	}
	fputs("],\n\"nodes\":[", out);
	while (stack_tree__nr(&drawing->tree)) {
		const struct tree_node *at = stack_tree__node(&drawing->tree, node);

		fprintf(out, "%s%u,%u,%" PRIu64, node ? ",\n" : "", depth, at->name,
			at->ns[TREE_THIS]);
		if (other)
			fprintf(out, ",%" PRIu64, at->ns[TREE_OTHER]);
		node = stack_tree__following(&drawing->tree, node, &depth);
		if (!node)
			break;
	}
	fputs("]}", out);
}

static void print(const struct drawing *drawing, const char *other, FILE *out)
{
	const char *place = strstr(page_text, PLACE);

	fwrite(page_text, 1, (size_t)(place - page_text), out);
	print_data(drawing, other, out);
	fputs(place + strlen(PLACE), out);
}

static void free_drawing(struct drawing *drawing)
{
	stack_tree__free(&drawing->tree);
	strings__free(&drawing->strings);
	idmap__free(&drawing->indexes);
	buffer__free(&drawing->names);
}

static int finish(struct drawing *drawing, const char *other, FILE *out)
{
	int err = stack_tree__sort(&drawing->tree);

	if (!err)
		print(drawing, other, out);
	return err ? err : ferror(out) ? -EIO : 0;
}

int flamegraph__write(const struct profile *profile, const struct flamegraph_other *other,
		      FILE *out)
{
	struct drawing drawing = { 0 };
	int err = add_kinds(&drawing);

	if (!err)
		err = add_profile(&drawing, profile, TREE_THIS);
	if (!err && other)
		err = add_profile(&drawing, other->profile, TREE_OTHER);
	if (!err)
		err = finish(&drawing, other ? other->name : NULL, out);
	free_drawing(&drawing);
	return err;
}

struct flamegraph_page {
	struct drawing drawing;
};

struct flamegraph_page *flamegraph_page__new(void)
{
	struct flamegraph_page *page = calloc(1, sizeof(*page));

	if (page && (add_kinds(&page->drawing) || stack_tree__begin(&page->drawing.tree, 0))) {
		flamegraph_page__delete(page);
		return NULL;
	}
	return page;
}

void flamegraph_page__delete(struct flamegraph_page *page)
{
	if (!page)
		return;
	free_drawing(&page->drawing);
	free(page);
}

/* Texts begin with the leaf, the tree with the outermost frame. */
static int add_frames(struct drawing *drawing, const char *text, const char *suffix, uint64_t ns,
		      uint32_t *at)
{
	char *copy = strdup(text), *end;
	int err = copy ? 0 : -ENOMEM;

	while (!err && *copy) {
		end = strrchr(copy, ';');
		err = step(drawing, end ? end + 1 : copy, suffix, ns, at);
		*(end ? end : copy) = '\0';
	}
	free(copy);
	return err;
}

int flamegraph_page__add(struct flamegraph_page *page, const struct flamegraph_texts *texts)
{
	struct drawing *drawing = &page->drawing;
	const char *kind = kind_names[kind_of(texts->event, texts->state)];
	uint32_t at = 0;
	int err = stack_tree__begin(&drawing->tree, texts->ns);

	if (!err)
		err = step(drawing, kind, "", texts->ns, &at);
	if (!err)
		err = step(drawing, *texts->comm ? texts->comm : "?", "", texts->ns, &at);
	if (!err)
		err = add_frames(drawing, texts->user, "", texts->ns, &at);
	return err ? err : add_frames(drawing, texts->kernel, " [k]", texts->ns, &at);
}

int flamegraph_page__write(struct flamegraph_page *page, FILE *out)
{
	return finish(&page->drawing, NULL, out);
}
