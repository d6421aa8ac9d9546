/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/blocked_iter.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

int blocked_iter__report(const struct blocked_iter *blocked_iter, task_iter_fn fn, void *ctx)
{
	return task_iter__run(blocked_iter->report, fn, ctx);
}

int blocked_iter__report_threads(const struct blocked_iter *blocked_iter, task_iter_fn fn,
				 void *ctx)
{
	return task_iter__run(blocked_iter->report_threads, fn, ctx);
}

int blocked_iter__open_user_frames(struct blocked_iter *blocked_iter)
{
	struct bpf_program *program = blocked_iter->read_user;
	int fd;

	if (!bpf_program__autoload(program))
		return -EOPNOTSUPP;
	if (!blocked_iter->user_link)
		blocked_iter->user_link = bpf_program__attach_iter(program, NULL);
	if (!blocked_iter->user_link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(blocked_iter->user_link));
	return fd < 0 ? -errno : fd;
}

pid_t blocked_iter__walking(const struct blocked_iter *blocked_iter)
{
	return (pid_t)*blocked_iter->walking_pid;
}

int blocked_iter__skip(const struct blocked_iter *blocked_iter, pid_t pid)
{
	__u32 key = (__u32)pid, one = 1;

	return bpf_map_update_elem(bpf_map__fd(blocked_iter->skip_pids), &key, &one, BPF_ANY)
		       ? -errno
		       : 0;
}

void blocked_iter__free(struct blocked_iter *blocked_iter)
{
	bpf_link__destroy(blocked_iter->user_link);
	blocked_iter->user_link = NULL;
}
