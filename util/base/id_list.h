/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_ID_LIST_H
#define DENET_ID_LIST_H

#include <stddef.h>
#include <sys/types.h>

/* Ids of processes, threads or users, each once, ascending. Free with id_list__free(). */
struct id_list {
	pid_t *ids;
	size_t nr;
};

/*
 * Adds the ids of a list such as "42,43" to list, each once. 0, -EINVAL if an item is no number
 * above 0 or the list is empty, -ERANGE if a number is no PID, -ENOMEM. On error it is unchanged.
 */
int id_list__parse(struct id_list *list, const char *text);

/* Adds one id. 0 or -ENOMEM. */
int id_list__add(struct id_list *list, pid_t id);

void id_list__free(struct id_list *list);

#endif /* DENET_ID_LIST_H */
