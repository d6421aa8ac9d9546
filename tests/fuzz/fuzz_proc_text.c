/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts of /proc about processes: a name in them may hold any bytes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stat/proc_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proc_text_pressure pressure;
	struct proc_text_stat stat;
	struct proc_text_io io;
	uint64_t a, b, c;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	/* Decoded names are terminated, whatever the input. */
	if (!proc_text__stat(text, &stat) && !memchr(stat.comm, '\0', sizeof(stat.comm)))
		abort();
	proc_text__io(text, &io);
	proc_text__pressure(text, &pressure);
	proc_text__net_dev(text, &a, &b);
	proc_text__schedstat(text, &a, &b, &c);
	proc_text__number(text, "SigIgn:", &a);
	free(text);
	return 0;
}
