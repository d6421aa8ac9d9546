/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_PATIENCE_H
#define DENET_TESTS_PATIENCE_H

#include <stdlib.h>

/*
 * For how long to wait for what must come, in seconds: that many on a machine of its own. What
 * takes less in a guest without KVM takes three times as long in one whose host is busy, so
 * there it is five times as many. Who waits in vain is ended by run-tests.sh in any case.
 */
static inline unsigned int patience__seconds(unsigned int here)
{
	return getenv("DENET_TEST_GUEST") ? 5 * here : here;
}

#endif /* DENET_TESTS_PATIENCE_H */
