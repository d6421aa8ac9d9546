/* SPDX-License-Identifier: GPL-2.0-only */
/* Whatever the tracker's records hold, they are refused, or become one line of CSV each. */
#include "top/completion.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "top/csv_completions.h"

#define CALL_FIELDS 8
#define REQUEST_FIELDS 18
#define ROOM 80

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No text of these lines has a comma or a quote in it. */
static void check_line(const char *line, size_t len, unsigned int expected)
{
	unsigned int fields = 1, quotes = 0;

	if (!len || memchr(line, '\n', len) != line + len - 1 || memchr(line, '\0', len))
		abort();
	for (size_t i = 0; i < len; i++) {
		fields += line[i] == ',';
		quotes += line[i] == '\'';
	}
	if (fields != expected || quotes != 2)
		abort();
}

/* Flags are cut where there is no room for them. */
static void check_flags(uint32_t flags)
{
	char whole[ROOM], text[ROOM];

	completion__put_flags(flags, whole, sizeof(whole));
	for (size_t room = 1; room < sizeof(text); room++) {
		memset(text, '#', sizeof(text));
		completion__put_flags(flags, text, room);
		if (strnlen(text, room) == room || text[room] != '#' ||
		    strncmp(text, whole, strlen(text)) != 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct completion completion;
	struct buffer lines = { 0 };
	uint64_t lead = 0;

	/* The first bytes are what the clock of the day is ahead. */
	if (size < sizeof(lead))
		return 0;
	memcpy(&lead, data, sizeof(lead));
	if (completion__decode(data + sizeof(lead), size - sizeof(lead), &completion))
		return 0;
	if (size - sizeof(lead) < sizeof(struct track_wire_call) ||
	    csv_completions__add(&lines, &completion, lead))
		abort();
	check_line(lines.data, lines.len,
		   completion.kind == TRACK_WIRE_CALL ? CALL_FIELDS : REQUEST_FIELDS);
	check_flags(completion.request.request.flags);
	buffer__free(&lines);
	return 0;
}
