/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The object that a thread waits for: its system call, and the call's file, socket or address. Read
 * from the task itself, without locks: a descriptor that another thread has closed meanwhile shows
 * its present file. All of it is pruned unless requested.
 */
#ifndef DENET_REASON_BPF_H
#define DENET_REASON_BPF_H

#include "maps.bpf.h"
#include "mutex_owner.h"
#include "namespace.bpf.h"
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

/* enum wire_call of a call, by its number. */
static __always_inline __u32 class_of(__s32 nr)
{
	return nr < 0 ? WIRE_CALL_OTHER :
			calls[nr & (WIRE_MAX_CALLS - 1)] &
				~(WIRE_CALL_JUDGED | WIRE_CALL_IDLE | WIRE_CALL_IDLE_GIVEN);
}

static __always_inline bool is_futex(__u32 class)
{
	return class == WIRE_CALL_FUTEX || class == WIRE_CALL_FUTEX_WAIT;
}

/* The owner, by the arguments of a futex call and the memory at its address. */
static __always_inline __u32 owner_of(__u32 class, const __u64 args[6],
				      const struct mutex_words *words, __u8 *is_shared)
{
	struct mutex_wait wait =
		mutex_owner__wait(class == WIRE_CALL_FUTEX_WAIT, args[1], args[2], args[3]);

	return mutex_owner__of(words, wait.op, wait.value, is_shared);
}

/*
 * Notes the holder of the mutex that current is about to wait for. When current has got the mutex,
 * it is too late: the holder has removed its id.
 */
static __always_inline void note_owner(struct task_struct *task, struct task_state *ts)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct mutex_words words = {};
	__u32 class = class_of(user_call_nr(regs));
	bool compat = false;
	__u64 args[6];

	ts->owner = 0;
	ts->owner_shared = 0;
	if (ts->state != WIRE_STATE_S || ts->flags & TASK_STATE_KTHREAD || !is_futex(class))
		return;
	user_call(task, args, &compat);
	/* A mutex that would cross the page's end may be the word of a bare futex. */
	if (compat || (bpf_probe_read_user(&words, sizeof(words), (void *)args[0]) &&
		       bpf_probe_read_user(&words.lock, sizeof(words.lock), (void *)args[0])))
		return;
	ts->owner = owner_of(class, args, &words, &ts->owner_shared);
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

static __always_inline struct sock *sock_of(struct file *file)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);

	return BPF_CORE_READ(socket, sk);
}

static __always_inline void read_socket(struct file *file, struct wire_reason *reason)
{
	struct sock *sk = sock_of(file);
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

/* Identifies the file or socket of a descriptor. */
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

static __always_inline void read_ready_remote(struct sock *sk, struct wire_reason *reason)
{
	struct sock_common *common = &sk->__sk_common;

	reason->ready_family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (reason->ready_family != FAMILY_INET && reason->ready_family != FAMILY_INET6)
		return;
	reason->ready_port = BPF_CORE_READ(sk, __sk_common.skc_dport);
	if (reason->ready_family == FAMILY_INET)
		bpf_core_read(reason->ready_remote, 4, &common->skc_daddr);
	else if (bpf_core_field_exists(common->skc_v6_daddr))
		bpf_core_read(reason->ready_remote, 16, &common->skc_v6_daddr);
}

/*
 * The descriptor that ended an epoll wait: the first one on the list of ready ones. The list is
 * empty when the wait begins, and unchanged since the wake-up when the thread is on its CPU again,
 * unless another thread waits there, too. A descriptor that is not the thread's own, or was closed,
 * is ignored.
 */
static __always_inline void read_ready(struct task_struct *task, struct file *epoll,
				       struct wire_reason *reason)
{
	struct eventpoll *ep = BPF_CORE_READ(epoll, private_data);
	struct list_head *first;
	struct epitem *item;
	struct file *file;
	void *list;
	__s32 fd;

	if (!bpf_core_field_exists(struct eventpoll, rdllist) ||
	    !bpf_core_field_exists(struct epitem, rdllink) ||
	    !bpf_core_field_exists(struct epitem, ffd))
		return;
	list = (void *)ep + bpf_core_field_offset(struct eventpoll, rdllist);
	first = BPF_CORE_READ(ep, rdllist.next);
	if (!first || first == list)
		return;
	item = (void *)first - bpf_core_field_offset(struct epitem, rdllink);
	file = BPF_CORE_READ(item, ffd.file);
	fd = BPF_CORE_READ(item, ffd.fd);
	if (!file || file_of(task, fd) != file)
		return;
	reason->ready_fd = fd;
	if ((BPF_CORE_READ(file, f_inode, i_mode) & MODE_TYPE) == MODE_SOCKET)
		read_ready_remote(sock_of(file), reason);
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
 * Reasons differ by thread, call, object, and the first two arguments of a futex. Other arguments,
 * such as a buffer's address, would make a sum of each block.
 */
static __always_inline __u64 hash_reason(const struct wire_reason *reason, __u64 incarnation,
					 __u32 class)
{
	__u64 hash = 1;

	mix(&hash, incarnation);
	mix(&hash, (__u32)reason->nr | (__u64)reason->flags << 32);
	if (is_futex(class)) {
		mix(&hash, reason->args[0]);
		mix(&hash, reason->args[1]);
		mix(&hash, reason->owner);
	}
	mix(&hash, reason->ino);
	mix(&hash, reason->dev | (__u64)(__u32)reason->fd << 32);
	mix(&hash, reason->local_port | (__u64)reason->remote_port << 16);
	mix(&hash, *(const __u64 *)&reason->remote[0]);
	mix(&hash, *(const __u64 *)&reason->remote[8]);
	if (class == WIRE_CALL_EPOLL) {
		mix(&hash, (__u32)reason->ready_fd | (__u64)reason->ready_port << 32);
		mix(&hash, *(const __u64 *)&reason->ready_remote[0]);
		mix(&hash, *(const __u64 *)&reason->ready_remote[8]);
	}
	return hash ? hash : 1;
}

/* The mutex's holder, and the heap's start if the futex lies in the heap. */
static __always_inline void describe_futex(struct task_struct *task, struct wire_reason *reason,
					   const struct task_state *ts)
{
	__u64 start = BPF_CORE_READ(task, mm, start_brk), at = reason->args[0];

	if (at >= start && at < BPF_CORE_READ(task, mm, brk))
		reason->heap_start = start;
	reason->owner = ts->owner;
	if (ts->owner_shared)
		reason->flags |= WIRE_REASON_SHARED;
}

/* The object of a call on a descriptor. Returns its file; NULL: none. */
static __always_inline struct file *describe_fd(struct task_struct *task,
						struct wire_reason *reason)
{
	struct file *file = reason->fd >= 0 ? file_of(task, reason->fd) : NULL;

	if (file)
		read_object(file, reason);
	return file;
}

/* The process title: PostgreSQL backends write their database and command there. */
static __always_inline void read_title(struct task_struct *task, struct wire_reason *reason)
{
	__u64 at = BPF_CORE_READ(task, mm, arg_start);

	if (!at || bpf_probe_read_user_str(reason->title, sizeof(reason->title), (void *)at) <= 0) {
		reason->title[0] = 0;
		return;
	}
	for (int i = 0; i < WIRE_TITLE_LEN; i += 8)
		mix(&reason->id, *(const __u64 *)&reason->title[i]);
}

/*
 * Fills in the reason of a block that ends now, or has not ended. Memory of user space is read of
 * current only. Returns the file whose names are still to be read; NULL: there is none.
 */
static __always_inline struct file *describe_reason(struct task_struct *task,
						    struct wire_reason *reason,
						    const struct task_state *ts, bool current,
						    bool ended)
{
	struct file *file;
	__u32 class = WIRE_CALL_OTHER;

	__builtin_memset(reason, 0, __builtin_offsetof(struct wire_reason, names));
	reason->head.kind = WIRE_REASON;
	reason->head.size = sizeof(*reason);
	reason->fd = reason->ready_fd = -1;
	read_call(task, reason);
	if (BPF_CORE_READ(task, thread_pid, level) > pid_level)
		reason->flags |= WIRE_REASON_INNER_PIDS;
	if (!(reason->flags & WIRE_REASON_COMPAT))
		class = class_of(reason->nr);
	if (class == WIRE_CALL_FD || class == WIRE_CALL_EPOLL)
		reason->fd = (__s32)reason->args[0];
	if (class == WIRE_CALL_POLL && current && reason->args[1])
		bpf_probe_read_user(&reason->fd, sizeof(reason->fd), (void *)reason->args[0]);
	file = describe_fd(task, reason);
	if (class == WIRE_CALL_EPOLL && file && ended && ts->state == WIRE_STATE_S)
		read_ready(task, file, reason);
	if (is_futex(class))
		describe_futex(task, reason, ts);
	reason->id = hash_reason(reason, ts->incarnation, class);
	if (current && (class == WIRE_CALL_PATH || class == WIRE_CALL_PATHAT)) {
		__u64 at = class == WIRE_CALL_PATH ? reason->args[0] : reason->args[1];

		if (bpf_probe_read_user_str(reason->names, sizeof(reason->names),
					    (void *)at) > 0)
			reason->object = WIRE_OBJECT_PATH;
		mix(&reason->id, at);
	}
	if (current)
		read_title(task, reason);
	return file;
}

/* Sends the reason to user space before a sum refers to it. */
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
