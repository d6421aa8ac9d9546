/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/csv_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/strings.h"
#include "base/units.h"
#include "top/csv_lines.h"
#include "top/csv_text.h"

/* Further stacks have no names. */
#define MAX_BYTES (256ULL << 20)

struct csv_stacks {
	struct idmap by_hash; /* -> const char * of strings */
	struct strings strings;
};

/* As they are on the screen: functions of the kernel without offsets. */
static void take_offsets_off(char *text)
{
	char *to = text;

	while (*text) {
		if (!strncmp(text, "+0x", 3))
			text += strcspn(text, ";");
		else
			*to++ = *text++;
	}
	*to = '\0';
}

/* A file of one side's stacks. */
struct stacks_file {
	struct csv_stacks *stacks;
	bool kernel;
};

static int take_line(void *ctx, char *line)
{
	const struct stacks_file *file = ctx;
	struct csv_stacks *stacks = file->stacks;
	char *fields[2], *end;
	const char *kept;
	uint64_t hash, *value;

	if (csv_text__split(line, fields, 2) != 2)
		return 0;
	hash = strtoull(fields[0], &end, 16);
	if (*end || !hash || hash == IDMAP_NONE || stacks->strings.bytes > MAX_BYTES)
		return 0;
	if (file->kernel)
		take_offsets_off(fields[1]);
	kept = strings__get(&stacks->strings, fields[1]);
	value = kept ? idmap__get(&stacks->by_hash, hash) : NULL;
	if (!value)
		return -ENOMEM;
	*value = (uint64_t)(uintptr_t)kept;
	return 0;
}

/* Of a file that is broken, the stacks read so far are kept. */
static int read_file(void *ctx, int fd)
{
	int err = csv_lines__read(fd, take_line, ctx);

	return err == -ENOMEM ? err : 0;
}

static int read_side(struct csv_stacks *stacks, const char *path, bool kernel,
		     const struct csv_pulse *pulse)
{
	struct stacks_file file = { .stacks = stacks, .kernel = kernel };

	return csv_beside__each(path, kernel ? "kstacks" : "ustacks", read_file, &file,
				pulse);
}

struct csv_stacks *csv_stacks__read(const char *path, const struct csv_pulse *pulse, int *err)
{
	struct csv_stacks *stacks = calloc(1, sizeof(*stacks));

	*err = stacks ? read_side(stacks, path, true, pulse) : -ENOMEM;
	if (!*err)
		*err = read_side(stacks, path, false, pulse);
	if (!*err)
		return stacks;
	csv_stacks__delete(stacks);
	return NULL;
}

void csv_stacks__delete(struct csv_stacks *stacks)
{
	if (!stacks)
		return;
	idmap__free(&stacks->by_hash);
	strings__free(&stacks->strings);
	free(stacks);
}

static void put(const struct csv_stacks *stacks, const char *hash, const char **text)
{
	uint64_t id = strtoull(hash, NULL, 16);
	const uint64_t *value = id && id != IDMAP_NONE ? idmap__find(&stacks->by_hash, id) : NULL;

	if (value && !**text)
		*text = (const char *)(uintptr_t)*value;
}

void csv_stacks__put(const struct csv_stacks *stacks, const char *texts[TOP_COLUMNS])
{
	put(stacks, texts[TOP_COLUMN_KSTACK_HASH], &texts[TOP_COLUMN_KSTACK]);
	put(stacks, texts[TOP_COLUMN_USTACK_HASH], &texts[TOP_COLUMN_USTACK]);
}
