/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/ksyms_cache.h"

#include <errno.h>

const struct kallsyms *ksyms_cache__symbols(struct ksyms_cache *kernel)
{
	if (kernel->kallsyms || kernel->err)
		return kernel->kallsyms;
	kernel->read = true;
	kernel->kallsyms = kallsyms__new(NULL, &kernel->err);
	if (!kernel->kallsyms)
		return NULL;
	if (kallsyms__hidden(kernel->kallsyms)) {
		kernel->err = -EPERM;
		ksyms_cache__drop(kernel);
		return NULL;
	}
	kernel->bounds = *kallsyms__bounds(kernel->kallsyms);
	return kernel->kallsyms;
}

int ksyms_cache__bounds(struct ksyms_cache *kernel, struct kallsyms_bounds *bounds)
{
	if (!kernel->read) {
		ksyms_cache__symbols(kernel);
		ksyms_cache__drop(kernel);
	}
	*bounds = kernel->bounds;
	return kernel->err;
}

void ksyms_cache__drop(struct ksyms_cache *kernel)
{
	kallsyms__delete(kernel->kallsyms);
	kernel->kallsyms = NULL;
}
