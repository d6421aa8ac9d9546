/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/options.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/minmax.h"
#include "base/units.h"
#include "capture/decode.h"

#define DEFAULT_DUMP 8192
#define TABLES_DUMP WIRE_MAX_ITER_COPY
#define MAX_RING_BYTES (1ULL << 30)

_Static_assert(CAPTURE_MAX_FRAMES == WIRE_MAX_FRAMES, "one limit with two names");
_Static_assert(CAPTURE_MAX_COPY == WIRE_MAX_COPY, "one limit with two names");
_Static_assert(CAPTURE_MAX_CPUS == WIRE_MAX_CPUS, "one limit with two names");
_Static_assert(CAPTURE_MAX_GROUPS == WIRE_MAX_CGROUPS, "one limit with two names");

static const struct capture_copies by_tables = { .bytes = TABLES_DUMP, .tables = true };

void capture_options__init(struct capture_options *options)
{
	*options = (struct capture_options){
		.threshold_ns = CAPTURE_DEFAULT_THRESHOLD_NS,
		.filter = {
			.max_ns = UINT64_MAX,
			.states = 1U << WIRE_STATE_S | 1U << WIRE_STATE_D,
		},
		.stacks = {
			.max_frames = CAPTURE_MAX_FRAMES,
			.kernel = true,
			.user = true,
			.copies = by_tables,
		},
	};
}

uint32_t capture__state_bit(char letter)
{
	for (uint32_t state = 0; state < WIRE_STATE_X; state++) {
		if (decode__state(state) == letter)
			return 1U << state;
	}
	return 0;
}

uint32_t capture__all_states(void)
{
	return ((1U << WIRE_STATE_MAX) - 1) & ~(1U << WIRE_STATE_X);
}

int capture_states__parse(uint32_t *states, const char *text)
{
	uint32_t mask = 0, bit;
	bool want_letter = true;

	if (!strcmp(text, "all")) {
		*states = capture__all_states();
		return 0;
	}
	for (const char *p = text; *p; p++) {
		if (*p == ',' && !want_letter) {
			want_letter = true;
			continue;
		}
		bit = capture__state_bit(*p);
		if (!bit)
			return -EINVAL;
		mask |= bit;
		want_letter = false;
	}
	if (want_letter)
		return -EINVAL;
	*states = mask;
	return 0;
}

int capture_states__of_mask(uint32_t *states, uint64_t mask)
{
	static const struct {
		uint64_t bits;
		char letter;
	} masks[] = {
		{ 0x1, 'S' },  { 0x9002, 'D' }, { 0x402, 'I' },
		{ 0x4, 'T' },  { 0x8, 't' },	{ 0x40, 'P' },
	};
	uint32_t found = mask ? 0 : capture__state_bit('R');

	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		if (mask & masks[i].bits)
			found |= capture__state_bit(masks[i].letter);
	}
	if (!found)
		return -EINVAL;
	*states = found;
	return 0;
}

int capture_copies__parse(struct capture_copies *copies, const char *text)
{
	size_t len = strcspn(text, ",");
	uint64_t bytes = DEFAULT_DUMP;
	bool chosen;

	if (!strcmp(text, "fp")) {
		*copies = (struct capture_copies){ 0 };
		return 0;
	}
	if (!strcmp(text, "auto") || !strcmp(text, "tables")) {
		*copies = by_tables;
		copies->asked_for = text[0] == 't';
		return 0;
	}
	if (len == 5 && !strncmp(text, "dwarf", len))
		chosen = false;
	else if (len == 4 && !strncmp(text, "auto", len))
		chosen = true;
	else
		return -EINVAL;
	if (text[len] && (units__parse_number(text + len + 1, CAPTURE_MAX_DUMP, &bytes) || !bytes))
		return -ERANGE;
	bytes = (bytes + 7) & ~7ULL;
	*copies = (struct capture_copies){
		.bytes = (uint32_t)min_u64(bytes, CAPTURE_MAX_COPY),
		.chosen = chosen,
	};
	return 0;
}

int capture_ring__parse(uint32_t *pages, const char *text, size_t page_size)
{
	uint64_t number, rounded = 1;
	size_t len = strlen(text);
	int err;

	if (len && isalpha((unsigned char)text[len - 1])) {
		err = units__parse_size(text, &number);
		if (!err)
			number = number / page_size + !!(number % page_size);
	} else {
		err = units__parse_number(text, UINT64_MAX, &number);
	}
	if (err)
		return err;
	if (!number || number > MAX_RING_BYTES / page_size)
		return -ERANGE;
	while (rounded < number)
		rounded *= 2;
	*pages = (uint32_t)rounded;
	return 0;
}
