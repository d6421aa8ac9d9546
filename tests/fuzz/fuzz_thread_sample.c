/* SPDX-License-Identifier: GPL-2.0-only */
/* Whatever the sampler's records hold, they are refused, or each column has a text. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "top/columns.h"
#include "top/thread_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct top_names names = { 0 };
	struct thread_sample sample;
	char text[TOP_COLUMN_LEN];
	int len = thread_sample__decode(data, size, &sample);

	if (len < 0)
		return 0;
	if ((size_t)len > size)
		abort();
	for (int i = 0; i < TOP_COLUMNS; i++) {
		/* Users are looked up in a database of the machine. */
		if (i != TOP_COLUMN_USERNAME &&
		    strlen(top_column__put((enum top_column)i, &sample, &names, text)) >=
			    sizeof(text))
			abort();
	}
	top_names__free(&names);
	return 0;
}
