/* SPDX-License-Identifier: GPL-2.0-only */
/* The values of options: any text is parsed as documented or refused. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_list.h"
#include "base/units.h"
#include "capture/options.h"
#include "host/cpu_watch.h"
#include "host/capabilities.h"
#include "host/sysctl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool truth)
{
	if (!truth)
		abort();
}

static void fuzz_ids(const char *text)
{
	struct id_list list = { 0 };
	int err = id_list__parse(&list, text);

	/* A list is refused as a whole, or ascending and without what cannot be an id. */
	check(!err || !list.nr);
	for (size_t i = 0; i < list.nr; i++)
		check(list.ids[i] > 0 && (!i || list.ids[i - 1] < list.ids[i]));
	id_list__free(&list);
}

static void fuzz_numbers(const char *text)
{
	uint64_t number;
	uint32_t pages = 0, states = 0;
	char buf[64];

	if (!units__parse_number(text, 1000, &number))
		check(number <= 1000);
	if (!units__parse_time(text, NSEC_PER_MSEC, &number))
		check(strlen(units__format_time(number, buf, sizeof(buf))) > 0);
	if (!units__parse_size(text, &number))
		check(strlen(units__format_size(number, buf, sizeof(buf))) > 0);
	if (!capture_ring__parse(&pages, text, 4096))
		check(pages && !(pages & (pages - 1)) && pages <= 1u << 18);
	if (!capture_states__parse(&states, text))
		check(states != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	unsigned int cpu;
	bool online;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	fuzz_ids(text);
	fuzz_numbers(text);
	lockdown__parse(text);
	capabilities__status_value(text, "Seccomp");
	cpu_watch__parse((const char *)data, size, &cpu, &online);
	free(text);
	return 0;
}
