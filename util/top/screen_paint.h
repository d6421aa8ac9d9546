/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SCREEN_PAINT_H
#define DENET_TOP_SCREEN_PAINT_H

#include "screen/canvas.h"
#include "top/screen_state.h"

/* What the screen tells beside the samples. */
struct screen_facts {
	const char *source; /* of a recording, whose path it is; NULL: this machine */
	bool reading;	    /* of the recording there is more */
	double looks;	    /* a second; the others are for the time of a look */
	double threads;
	double idle;	 /* of them left out as idle, */
	double futex;	 /* of which these wait for a futex, */
	double filtered; /* and by options */
	double cpu;	 /* of one CPU that this process takes, 0 to 1 */
	uint64_t wall_lead; /* what time of day is ahead of the samples' clock, ns */
	const char *message; /* the latest one; NULL: none */
	bool alarm;	     /* it is an error or a warning */
};

/* Terminals that are smaller show only that they are. */
#define SCREEN_LEAST_LINES 8
#define SCREEN_LEAST_COLUMNS 40

/* Paints the whole screen. 0 or -ENOMEM. */
int screen_paint(struct screen_state *state, const struct screen_facts *facts,
		 struct canvas *canvas);

#endif /* DENET_TOP_SCREEN_PAINT_H */
