/* SPDX-License-Identifier: GPL-2.0-only */
/* ELF notes: any bytes hold an id of a length that fits, or none. */
#include <stdint.h>
#include <stdlib.h>

#include "symbol/build_id.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *id = malloc(BUILD_ID_MAX);
	int ret;

	if (!id)
		return 0;
	ret = build_id__of_notes(data, size, id);
	if (ret > BUILD_ID_MAX || ret == 0)
		abort();
	free(id);
	return 0;
}
