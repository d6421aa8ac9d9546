/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "capture/capture.h"

/* The kernel's PID_MAX_LIMIT, which no machine can raise. */
#define PARSE_MAX_PID (4U << 20)
#define PARSE_PPM_PER_PERCENT 10000ULL
#define PARSE_MAX_RING_BYTES (1ULL << 30)

int id_list__add(struct id_list *list, pid_t id)
{
	size_t at = list->nr;
	pid_t *ids;

	/* From the end, since ids mostly come in their order. */
	while (at && list->ids[at - 1] > id)
		at--;
	if (at && list->ids[at - 1] == id)
		return 0;
	ids = reallocarray(list->ids, list->nr + 1, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	memmove(ids + at + 1, ids + at, (list->nr - at) * sizeof(*ids));
	ids[at] = id;
	list->ids = ids;
	list->nr++;
	return 0;
}

void id_list__free(struct id_list *list)
{
	free(list->ids);
	*list = (struct id_list){ 0 };
}

static int parse_id(const char *item, pid_t *id)
{
	uint64_t number;
	int err;

	err = units__parse_number(item, PARSE_MAX_PID, &number);
	if (err)
		return err;
	if (!number)
		return -EINVAL;
	*id = (pid_t)number;
	return 0;
}

static int parse_items(struct id_list *list, char *text)
{
	pid_t id;
	int err;

	/* Not strtok_r(), which would pass over the empty item of "1,,2". */
	for (char *item; (item = strsep(&text, ","));) {
		err = parse_id(item, &id);
		if (!err)
			err = id_list__add(list, id);
		if (err)
			return err;
	}
	return 0;
}

int id_list__parse(struct id_list *list, const char *text)
{
	struct id_list parsed = { 0 };
	char *copy = strdup(text);
	int err = -ENOMEM;

	if (!copy)
		return err;
	err = parse_items(&parsed, copy);
	for (size_t i = 0; !err && i < parsed.nr; i++)
		err = id_list__add(list, parsed.ids[i]);
	id_list__free(&parsed);
	free(copy);
	return err;
}

int parse__states(const char *text, uint32_t *states)
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

int parse__ring_pages(const char *text, size_t page_size, uint32_t *pages)
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
	if (!number || number > PARSE_MAX_RING_BYTES / page_size)
		return -ERANGE;
	while (rounded < number)
		rounded *= 2;
	*pages = (uint32_t)rounded;
	return 0;
}

int parse__attach_hook(const char *text, enum attach_hook *hook)
{
	static const struct {
		const char *name;
		enum attach_hook hook;
	} hooks[] = {
		{ "auto", ATTACH_HOOK_AUTO },
		{ "switch-in", ATTACH_HOOK_SWITCH_IN },
		{ "switch-out", ATTACH_HOOK_SWITCH_OUT },
		{ "sched_exit_tp", ATTACH_HOOK_EXIT_TP },
		{ "fentry", ATTACH_HOOK_FENTRY },
	};

	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		if (!strcmp(text, hooks[i].name)) {
			*hook = hooks[i].hook;
			return 0;
		}
	}
	return -EINVAL;
}

int parse__call_graph(const char *text, enum call_graph *mode, uint32_t *dump_bytes)
{
	size_t len = strcspn(text, ",");
	uint64_t bytes = PARSE_DEFAULT_DUMP;
	enum call_graph parsed;

	if (!strcmp(text, "fp")) {
		*mode = CALL_GRAPH_FP;
		return 0;
	}
	if (len == 5 && !strncmp(text, "dwarf", len))
		parsed = CALL_GRAPH_DWARF;
	else if (len == 4 && !strncmp(text, "auto", len))
		parsed = CALL_GRAPH_AUTO;
	else
		return -EINVAL;
	if (text[len] && (units__parse_number(text + len + 1, PARSE_MAX_DUMP, &bytes) || !bytes))
		return -ERANGE;
	*mode = parsed;
	*dump_bytes = (uint32_t)(bytes + 7) & ~7U;
	return 0;
}

int parse__percent(const char *text, uint32_t *ppm)
{
	size_t digits = strspn(text, "0123456789.");
	char number[16];
	uint64_t value;

	if (digits >= sizeof(number) || (strcmp(text + digits, "%") && text[digits]))
		return -EINVAL;
	memcpy(number, text, digits);
	number[digits] = '\0';
	if (units__parse_time(number, PARSE_PPM_PER_PERCENT, &value) ||
	    value > 100 * PARSE_PPM_PER_PERCENT)
		return -EINVAL;
	*ppm = (uint32_t)value;
	return 0;
}
