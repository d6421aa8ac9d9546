/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/cgroups.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "host/cgroup.h"
#include "output/perfdata/writer.h"

struct cgroups {
	struct writer *writer;
	int err; /* of the writer; other errors do not stop the walk */
};

static int write_one(void *ctx, uint64_t id, const char *path)
{
	const struct task_event event = { .kind = TASK_EVENT_CGROUP,
					  .cgroup = { .id = id, .path = path } };
	struct cgroups *cgroups = ctx;

	cgroups->err = writer__task_event(cgroups->writer, &event);
	return cgroups->err;
}

int cgroups__write(struct writer *writer)
{
	struct cgroups cgroups = { .writer = writer };
	struct cgroup_mounts mounts;
	const char *root = NULL;
	int err = cgroup_mounts__read(&mounts, NULL);

	if (!err)
		root = mounts.path[cgroup_mounts__of_samples(&mounts)];
	if (!err)
		err = root ? cgroup__walk(root, write_one, &cgroups) : -ENOENT;
	if (err && !cgroups.err)
		pr_warn("cannot read the existing cgroups (%s): they have no names in the file; is "
			"/sys/fs/cgroup mounted?",
			strerror(-err));
	cgroup_mounts__free(&mounts);
	return cgroups.err;
}
