/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits for futexes and sockets. What a thread waits for is noted when it leaves its CPU, since
 * its mutex has another owner when it is back; the wait is counted when it has got the CPU again.
 */
#ifndef DENET_STAT_WAITS_BPF_H
#define DENET_STAT_WAITS_BPF_H

#include "stat_sums.bpf.h"
#include "vma_tree.bpf.h"

#define FUTEX_COMMAND 0x7fU
#define FUTEX_WAKE 1
#define FUTEX_WAKE_OP 5
#define FUTEX_UNLOCK_PI 7
#define FUTEX_WAKE_BITSET 10

#define STAT_EBUSY 16
#define STAT_PLACE_TRIES 16
/* Zeroed memory of a program or library follows its file's mapping, and is taken to be no more. */
#define STAT_ZEROS_MAX (1 << 20)

const volatile __u8 stat_counts_sockets = 0;
/* enum stat_wire_wait of calls that wait for a socket, if their descriptor is one, by number. */
const volatile __u8 stat_socket_calls[WIRE_MAX_CALLS] = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STAT_WIRE_MAX_OBJECTS);
	__type(key, struct stat_wire_object);
	__type(value, struct stat_wire_lock);
} stat_locks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STAT_WIRE_MAX_OBJECTS);
	__type(key, struct stat_wire_object);
	__type(value, struct stat_wire_socket);
} stat_sockets SEC(".maps");

/*
 * The holders of mutexes that threads wait for since before the measurement, by the incarnation of
 * the waiting thread. Filled in by user space, which can read the memory of other processes.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, STAT_WIRE_MAX_HOLDERS);
	__type(key, __u64);
	__type(value, __u32);
} stat_holders SEC(".maps");

/* First values of the two, and of the sums of block devices: all of them are zeros. */
struct stat_zeros {
	struct stat_wire_lock lock;
	struct stat_wire_socket socket;
	struct stat_wire_io io;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stat_zeros);
} stat_zero SEC(".maps");

static __always_inline const struct stat_zeros *stat_zeros(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&stat_zero, &zero);
}

/* The inode of the socket that a descriptor of a thread is; 0: it is none. */
static __always_inline __u64 stat_socket_of(struct task_struct *task, __s32 fd, struct sock **sk)
{
	struct file *file = file_of(task, fd);
	struct inode *inode;

	if (!file)
		return 0;
	inode = BPF_CORE_READ(file, f_inode);
	if ((BPF_CORE_READ(inode, i_mode) & MODE_TYPE) != MODE_SOCKET)
		return 0;
	*sk = sock_of(file);
	return BPF_CORE_READ(inode, i_ino);
}

/* Notes what a thread that sleeps waits for; of current, also the holder of a mutex. */
static __always_inline void stat_note_wait_of(struct task_struct *task, struct task_state *ts,
					      struct stat_thread *thread, bool is_current)
{
	struct sock *sk = NULL;
	bool compat = false;
	__u64 args[6];
	__u32 class;
	__s32 nr;

	if (!stat_counts_locks && !stat_counts_sockets)
		return;
	thread->wait = STAT_WIRE_WAIT_NONE;
	if (ts->state != WIRE_STATE_S || ts->flags & TASK_STATE_KTHREAD)
		return;
	nr = user_call_nr((struct pt_regs *)bpf_task_pt_regs(task));
	class = class_of(nr);
	if (stat_counts_locks && is_futex(class)) {
		user_call(task, args, &compat);
		if (compat)
			return;
		thread->wait = STAT_WIRE_WAIT_FUTEX;
		thread->wait_id = args[0];
		if (is_current)
			note_owner(task, ts);
		return;
	}
	if (!stat_counts_sockets || nr < 0 || !stat_socket_calls[nr & (WIRE_MAX_CALLS - 1)])
		return;
	user_call(task, args, &compat);
	if (compat)
		return;
	thread->wait_id = stat_socket_of(task, (__s32)args[0], &sk);
	if (thread->wait_id)
		thread->wait = stat_socket_calls[nr & (WIRE_MAX_CALLS - 1)];
}

/* Prev, which is current, leaves its CPU. */
static __always_inline void stat_note_wait(struct task_struct *prev, struct task_state *ts,
					   struct stat_thread *thread)
{
	stat_note_wait_of(prev, ts, thread, true);
}

/* A thread that has slept since before the measurement. */
static __always_inline void stat_note_sleeper(struct task_struct *task)
{
	struct task_state *ts = bpf_task_storage_get(&task_states, task, NULL, 0);
	struct stat_thread *thread = ts ? stat_thread_of(task) : NULL;

	if (thread && ts->since && !ts->ran)
		stat_note_wait_of(task, ts, thread, false);
}

/* The first wait in the measurement may have begun before it: takes the holder from user space. */
static __always_inline void stat_learn_holder(struct task_state *ts,
					      const struct stat_thread *thread)
{
	__u32 *holder;

	if (!stat_counts_locks || ts->ran || ts->owner || thread->wait != STAT_WIRE_WAIT_FUTEX)
		return;
	holder = bpf_map_lookup_elem(&stat_holders, &ts->incarnation);
	if (holder)
		ts->owner = *holder;
}

static __always_inline struct stat_wire_lock *stat_lock_of(const struct stat_wire_object *key)
{
	struct stat_wire_lock *lock = bpf_map_lookup_elem(&stat_locks, key);
	const struct stat_zeros *zeros = stat_zeros();

	if (lock || !zeros)
		return lock;
	bpf_map_update_elem(&stat_locks, key, &zeros->lock, BPF_NOEXIST);
	return bpf_map_lookup_elem(&stat_locks, key);
}

struct stat_vma {
	__u64 start;
	__u64 end;
	__u64 offset;
	char file[STAT_WIRE_FILE_NAME];
};

static long stat_see_vma(struct task_struct *task, struct vm_area_struct *vma,
			 struct stat_vma *seen)
{
	struct file *file = vma->vm_file;

	seen->start = vma->vm_start;
	seen->end = vma->vm_end;
	seen->offset = vma->vm_pgoff << 12;
	if (file)
		bpf_probe_read_kernel_str(seen->file, sizeof(seen->file),
					  BPF_CORE_READ(file, f_path.dentry, d_name.name));
	return 0;
}

/* The same of a mapping that find_vma_in_tree() has found. */
static __always_inline void stat_see_unlocked_vma(const struct vm_area_struct *vma,
						  struct stat_vma *seen)
{
	struct file *file = BPF_CORE_READ(vma, vm_file);

	seen->start = BPF_CORE_READ(vma, vm_start);
	seen->end = BPF_CORE_READ(vma, vm_end);
	seen->offset = BPF_CORE_READ(vma, vm_pgoff) << 12;
	if (file)
		bpf_probe_read_kernel_str(seen->file, sizeof(seen->file),
					  BPF_CORE_READ(file, f_path.dentry, d_name.name));
}

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct vma_node);
} stat_vma_nodes SEC(".maps");

/*
 * The mapping of an address of current. bpf_find_vma() gives the lock back later where interrupts
 * are off, and can do so for one call at a time: beyond that, the tree is read without the lock.
 */
static __always_inline long stat_find_vma(struct task_struct *task, __u64 address,
					  struct stat_vma *seen)
{
	long err = bpf_find_vma(task, address, stat_see_vma, seen, 0);
	const struct vm_area_struct *vma;
	struct vma_node *node;
	__u32 zero = 0;

	node = err == -STAT_EBUSY ? bpf_map_lookup_elem(&stat_vma_nodes, &zero) : NULL;
	vma = node ? find_vma_in_tree(node, task->mm, address) : NULL;
	if (!vma)
		return err;
	stat_see_unlocked_vma(vma, seen);
	return is_vma_of(vma, task->mm, address) ? 0 : err;
}

/*
 * The mapping of a futex, or, after one that is no file's, the mapping in front of that. Global for
 * the verifier, as stat_add_shared().
 */
__noinline int stat_use_vma(struct stat_wire_place *place, const struct stat_vma *seen, __u64 id,
			    __u64 stack)
{
	bool is_first;

	if (!place || !seen)
		return 0;
	is_first = place->look == id;
	place->look = 0;
	if (seen->file[0]) {
		if (!is_first && (seen->end != place->base || id - seen->end > STAT_ZEROS_MAX))
			return 0;
		__builtin_memcpy(place->file, seen->file, sizeof(place->file));
		place->base = seen->start - seen->offset;
		place->kind = STAT_WIRE_PLACE_FILE;
	} else if (is_first) {
		place->base = seen->start;
		place->kind = stack >= seen->start && stack < seen->end ? STAT_WIRE_PLACE_STACK :
									  STAT_WIRE_PLACE_ANON;
		if (place->kind == STAT_WIRE_PLACE_ANON)
			place->look = seen->start - 1;
	}
	return 1;
}

/* Finds out where a futex lies, as far as that is possible now: a mapping's lock may be taken. */
static __always_inline void stat_find_place(struct stat_wire_place *place,
					    struct task_struct *task, __u64 id)
{
	struct stat_vma seen = {};
	__u64 start;
	long err;

	if (place->kind && !place->look)
		return;
	if (!place->kind) {
		start = BPF_CORE_READ(task, mm, start_brk);
		place->base = start;
		place->kind = STAT_WIRE_PLACE_HEAP;
		if (id >= start && id < BPF_CORE_READ(task, mm, brk))
			return;
		place->base = 0;
		place->kind = STAT_WIRE_PLACE_ANON;
		place->look = id;
	}
	err = stat_find_vma(task, place->look, &seen);
	if (!err)
		stat_use_vma(place, &seen, id, BPF_CORE_READ(task, mm, start_stack));
	else if (err != -STAT_EBUSY || ++place->tries == STAT_PLACE_TRIES)
		place->look = 0;
}

static __always_inline void stat_add_lock(struct task_struct *task, struct task_state *ts,
					  const struct stat_wire_object *key, __u64 ns)
{
	struct stat_wire_lock *lock = stat_lock_of(key);
	__u64 bit = ts->incarnation & 255;

	if (!lock) {
		__sync_fetch_and_add(&stat_losses.locks, 1);
		return;
	}
	if (ns > lock->waits.max_ns) {
		lock->waiter = target_tid(task, ts);
		bpf_probe_read_kernel_str(lock->comm, sizeof(lock->comm), task->comm);
	}
	/* Zeroed memory takes two looks. */
	stat_find_place(&lock->place, task, key->id);
	stat_find_place(&lock->place, task, key->id);
	stat_add_shared(&lock->waits, ns);
	__sync_fetch_and_or(&lock->waiters[bit >> 6 & 3], 1ULL << (bit & 63));
	if (!ts->owner)
		return;
	lock->owner = ts->owner;
	__sync_fetch_and_add(&lock->owner_met, 1);
}

/* The ends of a connection, once: it has them as long as it has that inode. */
static __always_inline void stat_describe_socket(struct stat_wire_socket *socket, struct sock *sk)
{
	struct sock_common *common = &sk->__sk_common;

	socket->protocol = BPF_CORE_READ(sk, sk_protocol);
	socket->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (socket->family != FAMILY_INET && socket->family != FAMILY_INET6)
		return;
	socket->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	socket->remote_port = BPF_CORE_READ(sk, __sk_common.skc_dport);
	if (socket->family == FAMILY_INET) {
		bpf_core_read(socket->local, 4, &common->skc_rcv_saddr);
		bpf_core_read(socket->remote, 4, &common->skc_daddr);
	} else if (bpf_core_field_exists(common->skc_v6_daddr)) {
		bpf_core_read(socket->local, 16, &common->skc_v6_rcv_saddr);
		bpf_core_read(socket->remote, 16, &common->skc_v6_daddr);
	}
}

static __always_inline struct stat_wire_socket *
stat_socket_entry(const struct stat_wire_object *key)
{
	struct stat_wire_socket *socket = bpf_map_lookup_elem(&stat_sockets, key);
	const struct stat_zeros *zeros = stat_zeros();

	if (socket || !zeros)
		return socket;
	bpf_map_update_elem(&stat_sockets, key, &zeros->socket, BPF_NOEXIST);
	return bpf_map_lookup_elem(&stat_sockets, key);
}

static __always_inline void stat_add_socket(struct task_struct *task, struct task_state *ts,
					    const struct stat_wire_object *key, __u32 wait,
					    __u64 ns)
{
	struct stat_wire_socket *socket = stat_socket_entry(key);
	struct sock *sk = NULL;
	bool compat;
	__u64 args[6];

	if (!socket) {
		__sync_fetch_and_add(&stat_losses.sockets, 1);
		return;
	}
	user_call(task, args, &compat);
	if (!socket->family && stat_socket_of(task, (__s32)args[0], &sk) == key->id)
		stat_describe_socket(socket, sk);
	socket->tid = target_tid(task, ts);
	bpf_probe_read_kernel_str(socket->comm, sizeof(socket->comm), task->comm);
	stat_add_shared(wait == STAT_WIRE_WAIT_SEND ? &socket->send : &socket->receive, ns);
}

/* A wait for a futex has ended: keeps the longest one that met a holder. */
static __always_inline void stat_keep_longest(struct stat_thread *thread,
					      const struct task_state *ts, __u64 ns)
{
	if (!ts->owner || ns <= thread->lock_max_ns)
		return;
	thread->lock_max_ns = ns;
	thread->lock = thread->wait_id;
}

/* A thread has got a CPU again: counts what it waited for. */
static __always_inline void stat_end_wait(struct task_struct *task, struct task_state *ts,
					  struct stat_thread *thread, __u64 ns)
{
	struct stat_wire_object key = { .id = thread->wait_id };
	__u32 wait = thread->wait;

	if ((!stat_counts_locks && !stat_counts_sockets) || !wait)
		return;
	stat_learn_holder(ts, thread);
	stat_add_futex(&thread->sums, thread, ts, ns);
	thread->wait = STAT_WIRE_WAIT_NONE;
	key.pid = target_pid(task, ts);
	if (stat_counts_locks && wait == STAT_WIRE_WAIT_FUTEX) {
		stat_keep_longest(thread, ts, ns);
		stat_add_lock(task, ts, &key, ns);
	} else if (stat_counts_sockets) {
		stat_add_socket(task, ts, &key, wait, ns);
	}
}

/* A wait that has not ended has no entry of its own yet, if it is the first for its futex. */
static __always_inline void stat_name_open_wait(struct task_struct *task, struct task_state *ts,
						const struct stat_thread *thread)
{
	struct stat_wire_object key = { .id = thread->wait_id };
	struct stat_wire_lock *lock;

	if (!stat_counts_locks || thread->wait != STAT_WIRE_WAIT_FUTEX)
		return;
	key.pid = target_pid(task, ts);
	lock = stat_lock_of(&key);
	if (lock)
		stat_find_place(&lock->place, task, key.id);
}

/* A thread wakes up those that wait for a futex. Only futexes that somebody waited for count. */
static __always_inline void stat_note_wake(struct pt_regs *regs, __u32 nr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct stat_wire_object key = {};
	struct stat_wire_lock *lock;
	bool compat = false;
	__u64 args[6];
	__u32 op, tid;

	if (class_of((__s32)nr) != WIRE_CALL_FUTEX)
		return;
	user_call(task, args, &compat);
	op = (__u32)args[1] & FUTEX_COMMAND;
	if (compat || (op != FUTEX_WAKE && op != FUTEX_WAKE_OP && op != FUTEX_UNLOCK_PI &&
		       op != FUTEX_WAKE_BITSET))
		return;
	key.id = args[0];
	key.pid = pid_of(task);
	lock = bpf_map_lookup_elem(&stat_locks, &key);
	if (!lock)
		return;
	__sync_fetch_and_add(&lock->wakes, 1);
	tid = tid_of(task);
	lock->last_waker = tid;
	__sync_fetch_and_or(&lock->wakers[tid >> 6 & 3], 1ULL << (tid & 63));
}

#endif /* DENET_STAT_WAITS_BPF_H */
