/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/out_stream.h"

#include <errno.h>

int out_stream__flush(FILE *out)
{
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
