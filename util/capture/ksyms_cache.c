/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/ksyms_cache.h"

#include <errno.h>

const struct kallsyms *kernel__symbols(struct kernel *kernel)
{
	if (kernel->kallsyms || kernel->err)
		return kernel->kallsyms;
	kernel->read = true;
	kernel->kallsyms = kallsyms__new(NULL, &kernel->err);
	if (!kernel->kallsyms)
		return NULL;
	if (kallsyms__hidden(kernel->kallsyms)) {
		kernel->err = -EPERM;
		kernel__drop(kernel);
		return NULL;
	}
	kernel->bounds = *kallsyms__bounds(kernel->kallsyms);
	return kernel->kallsyms;
}

int kernel__bounds(struct kernel *kernel, struct kallsyms_bounds *bounds)
{
	if (!kernel->read) {
		kernel__symbols(kernel);
		kernel__drop(kernel);
	}
	*bounds = kernel->bounds;
	return kernel->err;
}

void kernel__drop(struct kernel *kernel)
{
	kallsyms__delete(kernel->kallsyms);
	kernel->kallsyms = NULL;
}
