/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A library to be loaded, left and followed by another one at the same place. ROOM makes the
 * frames of the two differ, so that the one's frame information is wrong for the other.
 */
#include <unistd.h>

#include "../workloads/known.h"

void wait_inside(void);

static KNOWN int wait_for_byte(void)
{
	volatile char room[ROOM];

	return (int)read(STDIN_FILENO, (char *)&room[ROOM / 2], 1);
}

#if ROOM > 512
static KNOWN int go_between(int more)
{
	volatile char room[ROOM / 2];

	room[0] = (char)more;
	return wait_for_byte() + room[0];
}
#else
#define go_between(more) (wait_for_byte() + (more))
#endif

static volatile int sink;

void wait_inside(void)
{
	sink = go_between(1);
}
