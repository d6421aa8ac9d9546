/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/user_address.h"

#include <sys/auxv.h>

uint64_t user_address__mask_below(uint64_t highest)
{
	return highest ? ~0ULL >> __builtin_clzll(highest) : ~0ULL;
}

/*
 * How many bits an address has is a choice of the kernel's configuration: 39, 42, 47 or 48. The
 * stack begins at their end, less an offset that is far smaller than half of them. With 52, a
 * program has to ask for what is above 48.
 */
uint64_t user_address__mask(void)
{
#ifdef __aarch64__
	return user_address__mask_below(getauxval(AT_EXECFN));
#else
	return ~0ULL;
#endif
}
