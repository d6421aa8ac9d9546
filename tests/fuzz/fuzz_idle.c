/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of waits for work: any bytes are rules with whole names, or are refused. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/idle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Enough for the lines behind a call to be reached. */
static bool is_call(const char *name)
{
	return strlen(name) < 12;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reason reason = { .call = "read" };
	struct sample sample = { .state = 'S', .reason = &reason };
	struct idle_table table;
	const struct idle_rule *rules;
	const char *why = NULL;
	size_t line;

	if (idle_table__init(&table))
		return 0;
	if (idle_table__parse(&table, (const char *)data, size, is_call, &line, &why) && !why)
		abort();
	rules = (const struct idle_rule *)(const void *)table.rules.data;
	for (size_t i = 0; i < table.rules.len / sizeof(*rules); i++) {
		if (!*rules[i].call || !memchr(rules[i].call, 0, IDLE_NAME_LEN) ||
		    !memchr(rules[i].leaf, 0, IDLE_NAME_LEN))
			abort();
	}
	idle_table__match(&table, &sample, &reason, "pipe_read");
	idle_table__free(&table);
	return 0;
}
