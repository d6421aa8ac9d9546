/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/folded/folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

struct line {
	const char *text;
	size_t at; /* of the text in the buffer */
	uint64_t ns;
};

struct folding {
	const struct profile *profile;
	struct buffer text;
	struct line *lines;
	uint32_t *labels;
	bool several; /* events */
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

/* With something instead of bad characters and of those that control. */
static int append(struct buffer *text, const char *name, const char *bad, char instead)
{
	size_t at = text->len;
	int err = buffer__append(text, name, strlen(name));

	for (; !err && at < text->len; at++) {
		if (strchr(bad, text->data[at]) || (unsigned char)text->data[at] < ' ')
			text->data[at] = instead;
	}
	return err;
}

static int append_frames(struct folding *folding, const struct profile_entry *entry)
{
	size_t nr = profile__labels(folding->profile, entry->stack, folding->labels, SIZE_MAX);
	int err = 0;

	while (nr && !err) {
		const struct symbol_label *label =
			profile__label(folding->profile, folding->labels[--nr]);

		err = append(&folding->text, ";", "", '?');
		if (!err)
			err = append(&folding->text, label->name, ";", ':');
		if (!err && label->kernel)
			err = append(&folding->text, "_[k]", "", '?');
	}
	return err;
}

static int fold(struct folding *folding, const struct profile_entry *entry, struct line *line)
{
	int err = 0;

	line->at = folding->text.len;
	line->ns = entry->ns;
	if (folding->several) {
		err = append(&folding->text, profile_event__name(entry->event), "", '?');
		if (!err)
			err = append(&folding->text, ";", "", '?');
	}
	if (!err)
		err = append(&folding->text, *entry->comm ? entry->comm : "?", "; ", '_');
	if (!err)
		err = append_frames(folding, entry);
	return err ? err : buffer__append(&folding->text, "", 1);
}

static bool has_several(const struct profile *profile)
{
	unsigned int nr = 0;

	for (int event = 0; event < PROFILE_EVENTS; event++)
		nr += profile__sum(profile, (enum profile_event)event).samples != 0;
	return nr > 1;
}

static void print(const struct line *lines, size_t nr, FILE *out)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < nr; i++) {
		ns += lines[i].ns;
		if (i + 1 < nr && !strcmp(lines[i].text, lines[i + 1].text))
			continue;
		fprintf(out, "%s %" PRIu64 "\n", lines[i].text, ns);
		ns = 0;
	}
}

int folded__write(const struct profile *profile, FILE *out)
{
	struct folding folding = { .profile = profile, .several = has_several(profile) };
	const struct profile_entry *entries;
	size_t nr;
	int err = 0;

	entries = profile__entries(profile, &nr);
	folding.lines = calloc(nr + 1, sizeof(*folding.lines));
	folding.labels = calloc(profile__depth(profile) + 1, sizeof(*folding.labels));
	if (!folding.lines || !folding.labels)
		err = -ENOMEM;
	for (size_t i = 0; i < nr && !err; i++)
		err = fold(&folding, &entries[i], &folding.lines[i]);
	/* The texts have moved while there came more. */
	for (size_t i = 0; i < nr && !err; i++)
		folding.lines[i].text = folding.text.data + folding.lines[i].at;
	if (!err) {
		if (nr)
			qsort(folding.lines, nr, sizeof(*folding.lines), compare);
		print(folding.lines, nr, out);
	}
	free(folding.lines);
	free(folding.labels);
	buffer__free(&folding.text);
	return err ? err : ferror(out) ? -EIO : 0;
}
