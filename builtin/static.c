/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The static program loads no library: one of this machine's would bring another C library along.
 * libdw works without libdebuginfod; the linker redirects its calls to it here (--wrap), and needs
 * them in an object, not in a library in front of libdw.
 */
#ifdef DENET_STATIC
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlsym(void *handle, const char *name);
int __wrap_dlclose(void *handle);

void *__wrap_dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}

void *__wrap_dlsym(void *handle, const char *name)
{
	(void)handle;
	(void)name;
	return NULL;
}

int __wrap_dlclose(void *handle)
{
	(void)handle;
	return -1;
}
#endif
