/* SPDX-License-Identifier: GPL-2.0-only */
/* A file of its own: the header has names such as "lines" as macros. */
#include "screen/term_type.h"

#include <curses.h>
#include <term.h>
#include <unistd.h>

/* Without the last argument, setupterm(3) would end the process where there is no such terminal. */
bool term_type__is_usable(void)
{
	const char *move;
	int why;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
	    setupterm(NULL, STDOUT_FILENO, &why) != OK)
		return false;
	move = tigetstr("cup");
	del_curterm(cur_term);
	return move && move != (const char *)-1;
}
