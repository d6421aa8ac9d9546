/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a thread waits for: its system call, and the file, socket or address that the call
 * is about. Read from the task itself, without locks: a descriptor that another thread
 * closed meanwhile is told as what it is now. All of it is pruned unless asked for.
 */
#ifndef DENET_REASON_BPF_H
#define DENET_REASON_BPF_H

#include "maps.bpf.h"
#include "regs.bpf.h"

#define MODE_TYPE 0170000U
#define MODE_SOCKET 0140000U
#define FAMILY_INET 2
#define FAMILY_INET6 10

static __always_inline void read_call(struct task_struct *task, struct wire_reason *reason)
{
	bool compat = false;

	reason->nr = user_call(task, reason->args, &compat);
	if (reason->nr < 0) {
		reason->nr = -1;
		__builtin_memset(reason->args, 0, sizeof(reason->args));
		return;
	}
	if (compat)
		reason->flags |= WIRE_REASON_COMPAT;
}

static __always_inline struct file *file_of(struct task_struct *task, __s32 fd)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd), *file = NULL;

	if (fd < 0 || (__u32)fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	bpf_probe_read_kernel(&file, sizeof(file), &files[fd]);
	return file;
}

static __always_inline void read_socket(struct file *file, struct wire_reason *reason)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sk = BPF_CORE_READ(socket, sk);
	struct sock_common *common = &sk->__sk_common;

	reason->object = WIRE_OBJECT_SOCKET;
	reason->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	reason->protocol = BPF_CORE_READ(sk, sk_protocol);
	if (reason->family != FAMILY_INET && reason->family != FAMILY_INET6)
		return;
	reason->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	reason->remote_port = BPF_CORE_READ(sk, __sk_common.skc_dport);
	if (reason->family == FAMILY_INET) {
		bpf_core_read(reason->local, 4, &common->skc_rcv_saddr);
		bpf_core_read(reason->remote, 4, &common->skc_daddr);
	} else if (bpf_core_field_exists(common->skc_v6_daddr)) {
		bpf_core_read(reason->local, 16, &common->skc_v6_rcv_saddr);
		bpf_core_read(reason->remote, 16, &common->skc_v6_daddr);
	}
}

/* Which file or socket a descriptor is. */
static __always_inline void read_object(struct file *file, struct wire_reason *reason)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);

	reason->object = WIRE_OBJECT_FILE;
	reason->mode = BPF_CORE_READ(inode, i_mode);
	reason->ino = BPF_CORE_READ(inode, i_ino);
	reason->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	reason->rdev = BPF_CORE_READ(inode, i_rdev);
	if ((reason->mode & MODE_TYPE) == MODE_SOCKET)
		read_socket(file, reason);
}

/* The names from the file up to the root, over mounts. */
static __always_inline void read_names(struct file *file, struct wire_reason *reason)
{
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry), *parent;
	struct vfsmount *vfsmount = BPF_CORE_READ(file, f_path.mnt);
	struct mount *mount, *above;
	__u32 nr = 0;

	mount = (void *)vfsmount - bpf_core_field_offset(struct mount, mnt);
	/* Each mount point takes a turn, too. */
	for (int i = 0; i < WIRE_PATH_NAMES + 4; i++) {
		parent = BPF_CORE_READ(dentry, d_parent);
		if (dentry == BPF_CORE_READ(mount, mnt.mnt_root)) {
			above = BPF_CORE_READ(mount, mnt_parent);
			if (above != mount) {
				dentry = BPF_CORE_READ(mount, mnt_mountpoint);
				mount = above;
				continue;
			}
		}
		if (parent == dentry && nr)
			break;
		if (nr >= WIRE_PATH_NAMES) {
			reason->flags |= WIRE_REASON_CUT;
			break;
		}
		bpf_probe_read_kernel_str(reason->names[nr & (WIRE_PATH_NAMES - 1)], WIRE_NAME_LEN,
					  BPF_CORE_READ(dentry, d_name.name));
		nr++;
		if (parent == dentry)
			break;
		dentry = parent;
	}
	reason->nr_names = nr;
}

static __always_inline void mix(__u64 *hash, __u64 value)
{
	*hash = (*hash ^ value) * 0x9e3779b97f4a7c15ULL;
	*hash ^= *hash >> 29;
}

/*
 * What tells reasons apart: the thread, the call, its object, and the first two arguments of
 * a futex. Other arguments, such as where a buffer is, would make a sum of each block.
 */
static __always_inline __u64 hash_reason(const struct wire_reason *reason, __u64 incarnation,
					 __u32 class)
{
	__u64 hash = 1;

	mix(&hash, incarnation);
	mix(&hash, (__u32)reason->nr | (__u64)reason->flags << 32);
	if (class == WIRE_CALL_FUTEX) {
		mix(&hash, reason->args[0]);
		mix(&hash, reason->args[1]);
	}
	mix(&hash, reason->ino);
	mix(&hash, reason->dev | (__u64)(__u32)reason->fd << 32);
	mix(&hash, reason->local_port | (__u64)reason->remote_port << 16);
	mix(&hash, *(const __u64 *)&reason->remote[0]);
	mix(&hash, *(const __u64 *)&reason->remote[8]);
	return hash ? hash : 1;
}

/*
 * Fills in the reason of a block. Memory of user space is read of current only. Returns the
 * file whose names are still to be read; NULL: there is none.
 */
static __always_inline struct file *describe_reason(struct task_struct *task,
						    struct wire_reason *reason, __u64 incarnation,
						    bool current)
{
	struct file *file = NULL;
	__u32 class = WIRE_CALL_OTHER;

	__builtin_memset(reason, 0, __builtin_offsetof(struct wire_reason, names));
	reason->head.kind = WIRE_REASON;
	reason->head.size = sizeof(*reason);
	reason->fd = -1;
	read_call(task, reason);
	if (reason->nr >= 0 && !(reason->flags & WIRE_REASON_COMPAT))
		class = calls[reason->nr & (WIRE_MAX_CALLS - 1)] & ~WIRE_CALL_IDLE;
	if (class == WIRE_CALL_FD)
		reason->fd = (__s32)reason->args[0];
	if (class == WIRE_CALL_POLL && current && reason->args[1])
		bpf_probe_read_user(&reason->fd, sizeof(reason->fd), (void *)reason->args[0]);
	if (reason->fd >= 0)
		file = file_of(task, reason->fd);
	if (file)
		read_object(file, reason);
	reason->id = hash_reason(reason, incarnation, class);
	if (current && (class == WIRE_CALL_PATH || class == WIRE_CALL_PATHAT)) {
		__u64 at = class == WIRE_CALL_PATH ? reason->args[0] : reason->args[1];

		if (bpf_probe_read_user_str(reason->names, sizeof(reason->names),
					    (void *)at) > 0)
			reason->object = WIRE_OBJECT_PATH;
		mix(&reason->id, at);
	}
	return file;
}

/* Sees to it that user space has the reason before a sum refers to it. */
static __always_inline bool publish_reason(void *ctx, struct cpu *cpu, __u32 gen,
					   struct wire_reason *reason, struct file *file)
{
	__u64 id = reason->id;

	if (find_id(&reasons0, &reasons1, gen, &id))
		return true;
	if (nr_reasons[gen & 1] >= REASONS_MAX)
		return false;
	if (file)
		read_names(file, reason);
	reason->generation = gen;
	/* The sum then goes without its reason, which is counted. */
	if (send_record(ctx, reason, sizeof(*reason))) {
		cpu->own.accounts.lost_reasons++;
		return true;
	}
	if (add_id(&reasons0, &reasons1, gen, &id) == 0)
		__sync_fetch_and_add(&nr_reasons[gen & 1], 1);
	return true;
}

#endif /* DENET_REASON_BPF_H */
