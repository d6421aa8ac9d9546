/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/json/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/json_text.h"

static void print_events(const struct profile *profile, FILE *out)
{
	struct profile_sum left_out = profile__left_out(profile);
	const char *comma = "";

	fputs("\"events\":[", out);
	for (int i = 0; i < PROFILE_EVENTS; i++) {
		struct profile_sum sum = profile__sum(profile, (enum profile_event)i);

		if (!sum.samples)
			continue;
		fprintf(out, "%s{\"name\":\"%s\",\"ns\":%" PRIu64 ",\"samples\":%" PRIu64 "}",
			comma, profile_event__name((enum profile_event)i), sum.ns, sum.samples);
		comma = ",";
	}
	fprintf(out, "],\n\"left_out\":{\"ns\":%" PRIu64 ",\"samples\":%" PRIu64 "},\n",
		left_out.ns, left_out.samples);
}

static void print_functions(const struct profile *profile, FILE *out)
{
	size_t nr = profile__nr_labels(profile);

	fputs("\"functions\":[", out);
	for (size_t i = 0; i < nr; i++) {
		const struct symbol_label *label = profile__label(profile, (uint32_t)i);

		fprintf(out, "%s{\"name\":", i ? ",\n" : "\n");
		json_text__print(label->name, out);
		fputs(",\"file\":", out);
		json_text__print(label->place, out);
		fprintf(out, ",\"kernel\":%s,\"known\":%s}", label->kernel ? "true" : "false",
			label->known ? "true" : "false");
	}
	fputs("],\n", out);
}

static void print_entry(const struct profile *profile, const struct profile_entry *entry,
			uint32_t *labels, FILE *out)
{
	size_t nr = profile__labels(profile, entry->stack, labels, SIZE_MAX);

	fprintf(out, "{\"event\":\"%s\",\"pid\":%u,\"tid\":%u,\"process\":",
		profile_event__name(entry->event), entry->pid, entry->tid);
	json_text__print(entry->process, out);
	fputs(",\"thread\":", out);
	json_text__print(entry->comm, out);
	fprintf(out,
		",\"state\":\"%c\",\"ns\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"blocks\":%" PRIu64
		",\"longest_ns\":%" PRIu64 ",\"wait\":",
		entry->state, entry->ns, entry->samples, entry->blocks, entry->longest);
	if (entry->wait)
		json_text__print(entry->wait, out);
	else
		fputs("null", out);
	fputs(",\"frames\":[", out);
	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s%u", i ? "," : "", labels[i]);
	fputs("]}", out);
}

int json__write(const struct profile *profile, FILE *out)
{
	uint32_t *labels = calloc(profile__depth(profile) + 1, sizeof(*labels));
	const struct profile_entry *entries;
	size_t nr;

	if (!labels)
		return -ENOMEM;
	entries = profile__entries(profile, &nr);
	fputs("{", out);
	print_events(profile, out);
	print_functions(profile, out);
	fputs("\"stacks\":[", out);
	for (size_t i = 0; i < nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		print_entry(profile, &entries[i], labels, out);
	}
	fputs("]}\n", out);
	free(labels);
	return ferror(out) ? -EIO : 0;
}
