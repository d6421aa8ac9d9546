/* SPDX-License-Identifier: GPL-2.0-only */
/* CPU lists and names of cgroups: any bytes are what they say, or are refused. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/cgroup.h"
#include "host/cpus.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_cpus(const char *text)
{
	struct cpus cpus = { 0 }, again = { 0 }, none = { 0 };
	int err = cpus__parse(&cpus, text);

	/* A list names at least one CPU; what is refused names none. */
	if ((cpus__first_missing(&cpus, &none) < 0) != (err != 0))
		abort();
	if (!err && (cpus__parse(&again, text) || memcmp(&cpus, &again, sizeof(cpus))))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	char *name;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	try_cpus(text);
	/* Two names, apart by a slash, which neither can have. */
	name = strchr(text, '/');
	if (name)
		*name++ = '\0';
	if (name && cgroup_name__matches(text, name) && !*name)
		abort();
	if (*text && !cgroup_name__matches(text, text))
		abort();
	free(text);
	return 0;
}
