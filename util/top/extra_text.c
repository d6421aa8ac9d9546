/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/extra_text.h"

#include <stdio.h>

#include "base/json_text.h"
#include "top/socket_text.h"
#include "top/uring_text.h"

static void print_aio(const struct aio_request *aio, FILE *out)
{
	if (aio->fd >= 0)
		fprintf(out, ",\"aio_fd\":%d", aio->fd);
	if (aio->has_context)
		fprintf(out, ",\"aio_completed\":%u", aio->completed);
	if (*aio->file) {
		fputs(",\"aio_file\":", out);
		json_text__print(aio->file, out);
	}
}

/* Members begin with a comma; in place of the first one, the object does. */
void extra_text__put(const struct thread_sample *sample, char *buf, size_t size)
{
	FILE *out;

	*buf = '\0';
	if (!sample->has_socket && !sample->has_uring && !sample->aio)
		return;
	out = fmemopen(buf, size, "w");
	if (!out)
		return;
	uring_text__print_extra(sample, out);
	socket_text__print_extra(sample, out);
	if (sample->aio)
		print_aio(sample->aio, out);
	if (ftell(out) > 0)
		fputc('}', out);
	fclose(out);
	if (*buf)
		*buf = '{';
}
