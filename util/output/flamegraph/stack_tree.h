/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_FLAMEGRAPH_STACK_TREE_H
#define DENET_OUTPUT_FLAMEGRAPH_STACK_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/idmap.h"

/* The profiles that a tree is made of: one, or two that are compared. */
enum tree_side { TREE_THIS, TREE_OTHER, TREE_SIDES };

/* A function below its callers, with the time of all stacks that begin like that. */
struct tree_node {
	uint64_t ns[TREE_SIDES];
	uint32_t name;
	uint32_t parent;
	uint32_t child; /* the first one; 0: none, as the root is no child */
	uint32_t next;  /* of the same parent; 0: none */
};

/* Node 0 is the root. Zero-initialised is empty. */
struct stack_tree {
	enum tree_side side;  /* whose time is added */
	struct buffer nodes;  /* struct tree_node */
	struct idmap by_step; /* parent and name -> node */
};

/* Adds time to the root, and makes it if it is not there. 0 or -ENOMEM. */
int stack_tree__begin(struct stack_tree *tree, uint64_t ns);

/* One step outwards in: the node of that name below *at, which gets the time. 0 or -ENOMEM. */
int stack_tree__step(struct stack_tree *tree, uint32_t name, uint64_t ns, uint32_t *at);

/*
 * Links children, those with the most time first, but those of the root by their names' numbers.
 * Once, at the end. 0 or -ENOMEM.
 */
int stack_tree__sort(struct stack_tree *tree);

size_t stack_tree__nr(const struct stack_tree *tree);
const struct tree_node *stack_tree__node(const struct stack_tree *tree, uint32_t node);

/*
 * The node behind this one, where children come before what is next to their parent; *depth, which
 * is 0 at the root, follows. 0: it was the last one.
 */
uint32_t stack_tree__following(const struct stack_tree *tree, uint32_t node, unsigned int *depth);

void stack_tree__free(struct stack_tree *tree);

#endif /* DENET_OUTPUT_FLAMEGRAPH_STACK_TREE_H */
