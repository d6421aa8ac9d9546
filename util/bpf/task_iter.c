/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/task_iter.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Reads an iterator's descriptor to its end, and passes on the data of each read. */
static int read_all(int fd, task_iter_fn fn, void *ctx)
{
	static const size_t room = 256 * 1024;
	char *data = malloc(room);
	ssize_t len;
	int err = 0;

	if (!data)
		return -ENOMEM;
	while (!err) {
		len = read(fd, data, room);
		if (len < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (len <= 0) {
			err = len < 0 ? -errno : 0;
			break;
		}
		err = fn ? fn(ctx, data, (size_t)len) : 0;
	}
	free(data);
	return err;
}

int task_iter__pass(const struct bpf_link *link, task_iter_fn fn, void *ctx)
{
	int fd = bpf_iter_create(bpf_link__fd(link)), err;

	if (fd < 0)
		return -errno;
	err = read_all(fd, fn, ctx);
	close(fd);
	return err;
}

int task_iter__run(struct bpf_program *program, task_iter_fn fn, void *ctx)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	int err;

	if (!link)
		return -errno;
	err = task_iter__pass(link, fn, ctx);
	bpf_link__destroy(link);
	return err;
}
