/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_WALKS_H
#define DENET_SESSION_WALKS_H

#include <stdbool.h>
#include <stddef.h>

struct capture_stats;
struct chain_stats;
struct findings;

/* How the stacks of a session were walked, for its last lines. Everything is borrowed. */
struct walks {
	const struct capture_stats *stats;
	const struct chain_stats *chains; /* NULL: they come from copies, and are not judged */
	bool by_tables;	   /* user stacks were walked by unwind tables */
	bool fp_asked_for; /* frame pointers were asked for, and are not just what is left */
	char missing_rights[96];   /* capabilities that open more files of code; empty: none */
};

/*
 * Adds what is to be said of user chains that are not whole: a warning of the program that has half
 * of its time in them, and a tenth of all, and with tables walks__format()'s line of others.
 */
void walks__find(const struct walks *walks, struct findings *findings);

/*
 * The line on programs with a noticeable part of their time in chains that are not whole, the three
 * with most of it, but for the one that walks__find() warns of: how much of their time, and why.
 * Empty if there are none. Returns buf.
 */
char *walks__format(const struct walks *walks, char *buf, size_t size);

/* With -v: by what stacks were walked, and the programs whose user chains are not whole. */
void walks__print(const struct walks *walks);

#endif /* DENET_SESSION_WALKS_H */
