/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/blocked_iter.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

int sleepers__report(const struct sleepers *sleepers, iterator_fn fn, void *ctx)
{
	return iterator__run(sleepers->report, fn, ctx);
}

int sleepers__open_user_frames(struct sleepers *sleepers)
{
	struct bpf_program *program = sleepers->read_user;
	int fd;

	if (!bpf_program__autoload(program))
		return -EOPNOTSUPP;
	if (!sleepers->user_link)
		sleepers->user_link = bpf_program__attach_iter(program, NULL);
	if (!sleepers->user_link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(sleepers->user_link));
	return fd < 0 ? -errno : fd;
}

pid_t sleepers__walking(const struct sleepers *sleepers)
{
	return (pid_t)*sleepers->walking_pid;
}

int sleepers__skip(const struct sleepers *sleepers, pid_t pid)
{
	__u32 key = (__u32)pid, one = 1;

	return bpf_map_update_elem(bpf_map__fd(sleepers->skip_pids), &key, &one, BPF_ANY) ? -errno
											  : 0;
}

void sleepers__free(struct sleepers *sleepers)
{
	bpf_link__destroy(sleepers->user_link);
	sleepers->user_link = NULL;
}
