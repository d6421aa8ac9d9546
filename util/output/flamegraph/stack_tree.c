/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/flamegraph/stack_tree.h"

#include <errno.h>
#include <stdlib.h>

static struct tree_node *nodes_of(const struct stack_tree *tree)
{
	return (struct tree_node *)tree->nodes.data;
}

size_t stack_tree__nr(const struct stack_tree *tree)
{
	return tree->nodes.len / sizeof(struct tree_node);
}

const struct tree_node *stack_tree__node(const struct stack_tree *tree, uint32_t node)
{
	return nodes_of(tree) + node;
}

int stack_tree__begin(struct stack_tree *tree, uint64_t ns)
{
	const struct tree_node root = { 0 };

	if (!tree->nodes.len && buffer__append(&tree->nodes, &root, sizeof(root)))
		return -ENOMEM;
	nodes_of(tree)->ns[tree->side] += ns;
	return 0;
}

int stack_tree__step(struct stack_tree *tree, uint32_t name, uint64_t ns, uint32_t *at)
{
	const struct tree_node node = { .name = name, .parent = *at };
	uint64_t *index = idmap__get(&tree->by_step, (uint64_t)*at << 32 | name);

	if (!index)
		return -ENOMEM;
	if (!*index) {
		*index = stack_tree__nr(tree);
		if (buffer__append(&tree->nodes, &node, sizeof(node)))
			return -ENOMEM;
	}
	*at = (uint32_t)*index;
	nodes_of(tree)[*at].ns[tree->side] += ns;
	return 0;
}

struct rank {
	uint64_t ns;
	uint32_t name;
	uint32_t node;
};

/* The least time first: each one is linked in front of those before it. */
static int compare(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->name < y->name ? 1 : -(x->name > y->name);
}

int stack_tree__sort(struct stack_tree *tree)
{
	size_t nr = stack_tree__nr(tree);
	struct tree_node *nodes = nodes_of(tree);
	struct rank *ranks = calloc(nr + 1, sizeof(*ranks));

	if (!ranks)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		ranks[i] = (struct rank){ nodes[i].parent ? nodes[i].ns[TREE_THIS] +
							    nodes[i].ns[TREE_OTHER] : 0,
					  nodes[i].name, (uint32_t)i };
	qsort(ranks, nr, sizeof(*ranks), compare);
	for (size_t i = 0; i < nr; i++) {
		struct tree_node *node = &nodes[ranks[i].node];

		if (!ranks[i].node)
			continue;
		node->next = nodes[node->parent].child;
		nodes[node->parent].child = ranks[i].node;
	}
	free(ranks);
	return 0;
}

uint32_t stack_tree__following(const struct stack_tree *tree, uint32_t node, unsigned int *depth)
{
	const struct tree_node *nodes = nodes_of(tree);

	if (nodes[node].child) {
		++*depth;
		return nodes[node].child;
	}
	for (; node; node = nodes[node].parent, --*depth) {
		if (nodes[node].next)
			return nodes[node].next;
	}
	return 0;
}

void stack_tree__free(struct stack_tree *tree)
{
	buffer__free(&tree->nodes);
	idmap__free(&tree->by_step);
}
