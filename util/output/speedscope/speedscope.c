/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/speedscope/speedscope.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"

/* The entries of one profile of the file lie one after the other. */
struct item {
	const struct profile_entry *entry;
	uint64_t total; /* of its thread, event and name */
};

static int compare_threads(const struct profile_entry *a, const struct profile_entry *b)
{
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return strcmp(a->comm, b->comm);
}

static int by_thread(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = compare_threads(x->entry, y->entry);

	if (order)
		return order;
	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static int by_total(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return by_thread(a, b);
}

/* The end of the profile that begins at an item. */
static size_t end_of(const struct item *items, size_t nr, size_t first)
{
	size_t end = first + 1;

	while (end < nr && !compare_threads(items[first].entry, items[end].entry))
		end++;
	return end;
}

static void sort(struct item *items, size_t nr)
{
	uint64_t total;

	if (!nr)
		return;
	qsort(items, nr, sizeof(*items), by_thread);
	for (size_t first = 0, end; first < nr; first = end) {
		total = 0;
		end = end_of(items, nr, first);
		for (size_t i = first; i < end; i++)
			total += items[i].entry->ns;
		for (size_t i = first; i < end; i++)
			items[i].total = total;
	}
	qsort(items, nr, sizeof(*items), by_total);
}

static void print_frames(const struct profile *profile, FILE *out)
{
	size_t nr = profile__nr_labels(profile);

	fputs("\"shared\":{\"frames\":[", out);
	for (size_t i = 0; i < nr; i++) {
		const struct symbol_label *label = profile__label(profile, (uint32_t)i);

		fprintf(out, "%s{\"name\":", i ? ",\n" : "\n");
		json_text__print(label->name, out);
		if (*label->place) {
			fputs(",\"file\":", out);
			json_text__print(label->place, out);
		}
		fputc('}', out);
	}
	fputs("]},\n", out);
}

/* Speedscope wants the root first. */
static void print_stack(const struct profile *profile, uint32_t stack, uint32_t *labels, FILE *out)
{
	size_t nr = profile__labels(profile, stack, labels, SIZE_MAX);

	fputc('[', out);
	for (size_t i = nr; i > 0; i--)
		fprintf(out, "%u%s", labels[i - 1], i > 1 ? "," : "");
	fputc(']', out);
}

static void print_name(const struct profile_entry *entry, FILE *out)
{
	char name[128];

	snprintf(name, sizeof(name), "%s (%u) %s", *entry->comm ? entry->comm : "?", entry->tid,
		 profile_event__name(entry->event));
	json_text__print(name, out);
}

static void print_profile(const struct profile *profile, const struct item *items, size_t nr,
			  uint32_t *labels, FILE *out)
{
	fputs("{\"type\":\"sampled\",\"name\":", out);
	print_name(items->entry, out);
	fprintf(out,
		",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%" PRIu64
		",\n\"samples\":[",
		items->total);
	for (size_t i = 0; i < nr; i++) {
		fputs(i ? "," : "", out);
		print_stack(profile, items[i].entry->stack, labels, out);
	}
	fputs("],\n\"weights\":[", out);
	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", items[i].entry->ns);
	fputs("]}", out);
}

static void print(const struct profile *profile, const struct item *items, size_t nr,
		  uint32_t *labels, FILE *out)
{
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"denet-report " DENET_VERSION "\",\"activeProfileIndex\":0,\n",
	      out);
	print_frames(profile, out);
	fputs("\"profiles\":[", out);
	for (size_t first = 0, end; first < nr; first = end) {
		end = end_of(items, nr, first);
		fputs(first ? ",\n" : "\n", out);
		print_profile(profile, items + first, end - first, labels, out);
	}
	fputs("]}\n", out);
}

int speedscope__write(const struct profile *profile, FILE *out)
{
	uint32_t *labels = calloc(profile__depth(profile) + 1, sizeof(*labels));
	const struct profile_entry *entries;
	struct item *items;
	size_t nr;

	entries = profile__entries(profile, &nr);
	items = calloc(nr + 1, sizeof(*items));
	if (items && labels) {
		for (size_t i = 0; i < nr; i++)
			items[i].entry = &entries[i];
		sort(items, nr);
		print(profile, items, nr, labels, out);
	}
	free(labels);
	free(items);
	if (!items || !labels)
		return -ENOMEM;
	return ferror(out) ? -EIO : 0;
}
