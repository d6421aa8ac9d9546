/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/json_text.h"

#include <stddef.h>

#include "base/utf8.h"

void json_text__print(const char *text, FILE *out)
{
	const unsigned char *at = (const unsigned char *)text;

	fputc('"', out);
	while (*at) {
		size_t bytes = utf8__bytes((const char *)at);

		if (!bytes)
			fputs("\\ufffd", out);
		else if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < 0x20 || *at == '<' || *at == 0x7f)
			fprintf(out, "\\u%04x", *at);
		else
			fwrite(at, 1, bytes, out);
		at += bytes ? bytes : 1;
	}
	fputc('"', out);
}
