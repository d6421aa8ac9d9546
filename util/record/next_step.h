/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_NEXT_STEP_H
#define DENET_RECORD_NEXT_STEP_H

#include <stdbool.h>
#include <stddef.h>

/* The facts of a recording that its next command depends on. */
struct next_step {
	const char *path; /* of the file, as the user would type it; NULL: no file to name */
	bool empty;	  /* it has no sample */
	bool cgroups;	  /* its samples have cgroups */
	bool sudo;	  /* the file's owner is not the user who asked for it */
};

/*
 * The line that ends a recording: the command that shows this very file, quoted for a shell, or an
 * empty string. Returns buf.
 */
char *next_step__format(const struct next_step *step, char *buf, size_t size);

#endif /* DENET_RECORD_NEXT_STEP_H */
