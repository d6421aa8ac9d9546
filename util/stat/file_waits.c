/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/file_waits.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "bpf/stat.h"
#include "capture/reason.h"
#include "stat/order.h"

/* The ends of a connection, or the path, which is socket:[INODE] for sockets without addresses. */
static void put_name(const struct reason *reason, char *name, size_t size)
{
	if (*reason->local && *reason->remote)
		snprintf(name, size, "%s to %s", reason->local, reason->remote);
	else if (*reason->local)
		snprintf(name, size, "%s", reason->local);
	else
		snprintf(name, size, "%s", reason->path);
}

static int take_file(void *ctx, const struct stat_wire_file_key *key,
		     const struct stat_wire_file_wait *wire)
{
	struct stat_file_wait file = {
		.pid = (pid_t)key->pid,
		.tid = (pid_t)key->tid,
		.nr = key->nr,
		.count = wire->count,
		.ns = wire->ns,
	};
	struct reason reason;

	/* An entry that is being made has no description yet. */
	if (reason__decode(&wire->reason, sizeof(wire->reason), &reason) < 0)
		return 0;
	put_name(&reason, file.name, sizeof(file.name));
	return buffer__append(ctx, &file, sizeof(file));
}

int file_waits__read(const struct stat_programs *programs, struct stat_data *data)
{
	struct buffer files = { 0 };
	int err = stat_programs__read_files(programs, take_file, &files);

	data->files = (void *)files.data;
	data->nr_files = files.len / sizeof(*data->files);
	order__files(data->files, data->nr_files);
	return err;
}
