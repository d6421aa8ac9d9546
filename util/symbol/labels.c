/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/labels.h"

#include <errno.h>

const struct symbol_label *labels__at(const struct labels *labels, uint32_t number)
{
	return (const struct symbol_label *)labels->all.data + number;
}

size_t labels__nr(const struct labels *labels)
{
	return labels->all.len / sizeof(struct symbol_label);
}

static bool is_same(const struct symbol_label *a, const struct symbol_label *b)
{
	return a->name == b->name && a->place == b->place && a->kernel == b->kernel &&
	       a->known == b->known;
}

int labels__get(struct labels *labels, const struct symbol_label *label, uint32_t *number)
{
	uint64_t key = idmap__mix(label->kernel, (uintptr_t)label->name), *index;

	key = idmap__mix(idmap__mix(key, (uintptr_t)label->place), label->known);
	for (;; key++) {
		index = idmap__get(&labels->by_key, key == IDMAP_NONE ? key = 0 : key);
		if (!index)
			return -ENOMEM;
		if (!*index)
			break;
		*number = (uint32_t)(*index - 1);
		if (is_same(labels__at(labels, *number), label))
			return 0;
	}
	if (buffer__append(&labels->all, label, sizeof(*label)))
		return -ENOMEM;
	*index = labels__nr(labels);
	*number = (uint32_t)(*index - 1);
	return 0;
}

void labels__free(struct labels *labels)
{
	buffer__free(&labels->all);
	idmap__free(&labels->by_key);
}
