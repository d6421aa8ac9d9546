/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/sideband.h"

#include <errno.h>
#include <string.h>

#include "output/perfdata/layout.h"

/* What a record of a type has between its header and its sample_id. */
struct shape {
	uint32_t type;
	size_t fixed;    /* bytes before the name, header included */
	size_t name_max; /* room of the name with NUL and padding; 0: no name */
};

/* Other kinds are refused: an old reader dies of a record that it does not know. */
static const struct shape shapes[] = {
	{ PERF_RECORD_MMAP, sizeof(struct layout_mmap), PATH_MAX },
	{ PERF_RECORD_MMAP2, sizeof(struct layout_mmap2), PATH_MAX },
	{ PERF_RECORD_COMM, sizeof(struct layout_comm), 16 },
	{ PERF_RECORD_FORK, sizeof(struct layout_task), 0 },
	{ PERF_RECORD_EXIT, sizeof(struct layout_task), 0 },
	{ PERF_RECORD_CGROUP, sizeof(struct layout_cgroup), PATH_MAX },
};

static const struct shape *shape_of(uint32_t type)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (shapes[i].type == type)
			return &shapes[i];
	}
	return NULL;
}

/* An mmap2 may carry a build-id in place of the inode; readers copy as much as it says. */
static int check_build_id(const void *event, const struct perf_event_header *header)
{
	struct layout_mmap2 mmap2;

	if (header->type != PERF_RECORD_MMAP2 || !(header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID))
		return 0;
	memcpy(&mmap2, event, sizeof(mmap2));
	return mmap2.build_id_size <= sizeof(mmap2.build_id) ? 0 : -EINVAL;
}

int sideband__check(const void *event, size_t size)
{
	struct perf_event_header header;
	const struct shape *shape;
	size_t name;

	if (size < sizeof(header))
		return -EINVAL;
	memcpy(&header, event, sizeof(header));
	shape = shape_of(header.type);
	if (!shape || header.size != size || size % LAYOUT_ALIGN ||
	    size < shape->fixed + sizeof(struct layout_sample_id))
		return -EINVAL;
	name = size - shape->fixed - sizeof(struct layout_sample_id);
	if (name > shape->name_max)
		return -EINVAL;
	if (shape->name_max && !memchr((const char *)event + shape->fixed, '\0', name))
		return -EINVAL;
	return check_build_id(event, &header);
}

int sideband__encode(struct buffer *out, uint64_t id, const void *event, size_t size)
{
	int err = sideband__check(event, size);

	if (err)
		return err;
	err = buffer__append(out, event, size);
	if (err)
		return err;
	/* The id is the last field of the trailer, whatever else the event asks for. */
	memcpy(out->data + out->len - sizeof(id), &id, sizeof(id));
	return 0;
}
