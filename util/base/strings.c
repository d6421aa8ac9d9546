/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/strings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash(const char *text, size_t len)
{
	uint64_t sum = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ (unsigned char)text[i]) * 0x100000001b3ULL;
	return sum ^ sum >> 29;
}

static char *text_of(uint64_t value)
{
	return (char *)(uintptr_t)value;
}

const char *strings__get_part(struct strings *strings, const char *text, size_t len)
{
	uint64_t id = hash(text, len), *value;
	char *copy;

	/* Texts of one hash take consecutive ids. */
	for (;; id++) {
		if (id == IDMAP_NONE)
			id = 0;
		value = idmap__find(&strings->by_hash, id);
		if (!value)
			break;
		if (!strncmp(text_of(*value), text, len) && !text_of(*value)[len])
			return text_of(*value);
	}
	copy = strndup(text, len);
	value = copy ? idmap__get(&strings->by_hash, id) : NULL;
	if (!value) {
		free(copy);
		return NULL;
	}
	*value = (uint64_t)(uintptr_t)copy;
	strings->bytes += len + 1;
	return copy;
}

const char *strings__get(struct strings *strings, const char *text)
{
	return strings__get_part(strings, text, strlen(text));
}

void strings__free(struct strings *strings)
{
	for (size_t i = 0; i < strings->by_hash.capacity; i++) {
		const struct idmap_slot *slot = &strings->by_hash.slots[i];

		if (slot->id != IDMAP_NONE)
			free(text_of(slot->value));
	}
	idmap__free(&strings->by_hash);
	strings->bytes = 0;
}
