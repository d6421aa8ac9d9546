/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYSCALLS_H
#define DENET_SYSCALLS_H

/* The name of a system call of this architecture, "" if there is none of that number. */
const char *syscalls__name(int nr);

/* One more than the greatest number that has a name. */
int syscalls__count(void);

#endif /* DENET_SYSCALLS_H */
