/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types that the programs here touch, and of those only the members that they
 * touch. CO-RE relocates each access to the running kernel's layout, so building needs no
 * kernel's BTF. A ___suffix names a variant that some kernels have; libbpf ignores it.
 */
#ifndef DENET_VMLINUX_H
#define DENET_VMLINUX_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef int pid_t;
typedef _Bool bool;

enum {
	false = 0,
	true = 1,
};

#define NULL ((void *)0)

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_STACK = 23,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_F_USER_STACK = 256,
	BPF_F_MMAPABLE = 1024,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

#define BPF_F_CURRENT_CPU 0xffffffffULL

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#ifdef __TARGET_ARCH_arm64
struct pt_regs {
	unsigned long regs[31];
	unsigned long sp;
	unsigned long pc;
	unsigned long pstate;
	unsigned long orig_x0;
	int syscallno;
};
#else
struct pt_regs {
	unsigned long r15;
	unsigned long r14;
	unsigned long r13;
	unsigned long r12;
	unsigned long bp;
	unsigned long bx;
	unsigned long r11;
	unsigned long ip;
	unsigned long sp;
	unsigned long cs;
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long ax;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
};
#endif

struct trace_event_raw_sys_enter {
	long id;
};

struct trace_event_raw_sys_exit {
	long ret;
};

struct super_block {
	unsigned int s_dev;
};

typedef struct {
	unsigned int val;
} kuid_t;

struct inode {
	unsigned short i_mode;
	kuid_t i_uid;
	struct super_block *i_sb;
	unsigned long i_ino;
	unsigned int i_rdev;
	unsigned int i_generation;
	long long i_size;
	long long i_ctime_sec;
	unsigned int i_ctime_nsec;
};

struct timespec64 {
	long long tv_sec;
	long tv_nsec;
};

/* Before 6.6. */
struct inode___before_6_6 {
	struct timespec64 i_ctime;
};

/* From 6.6 to 6.10. */
struct inode___before_6_11 {
	struct timespec64 __i_ctime;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	void *private_data;
	struct inode *f_inode;
	struct path f_path;
};

struct mm_struct;

struct vm_area_struct {
	struct mm_struct *vm_mm;
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_pgoff;
	unsigned long vm_flags;
	struct file *vm_file;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct in6_addr {
	__u8 bytes___any[16];
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct pid;
struct socket;

struct sock {
	struct sock_common __sk_common;
	struct socket *sk_socket;
	struct pid *sk_peer_pid;
	__u16 sk_protocol;
	__u16 sk_type;
};

struct socket {
	struct file *file;
	struct sock *sk;
};

struct list_head {
	struct list_head *next, *prev;
};

struct wait_queue_entry {
	void *private;
	struct list_head entry;
};

struct poll_table_entry {
	struct file *filp;
	struct wait_queue_entry wait;
};

struct poll_wqueues {
	struct task_struct *polling_task;
	int inline_index; /* of the next entry */
	struct poll_table_entry inline_entries[2];
};

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108];
};

struct unix_address {
	int len; /* of the address */
	struct sockaddr_un name[];
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

struct inet_connection_sock {
	__u8 icsk_ca_state : 5;
	__u8 icsk_retransmits;
};

struct minmax_sample {
	__u32 v;
};

struct minmax {
	struct minmax_sample s[1];
};

struct tcp_sock {
	__u32 copied_seq;
	__u32 rcv_nxt;
	__u32 rcv_wnd;
	__u32 write_seq;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 snd_wnd;
	__u32 snd_cwnd;
	__u32 snd_ssthresh;
	__u32 srtt_us;
	__u32 mdev_us;
	__u32 packets_out;
	__u32 retrans_out;
	__u32 total_retrans;
	__u32 lost_out;
	__u32 sacked_out;
	__u32 reordering;
	__u32 reord_seen;
	__u32 delivered;
	__u32 delivered_ce;
	__u8 is_cwnd_limited : 1;
	__u64 bytes_sent;
	__u64 bytes_acked;
	__u64 bytes_received;
	struct minmax rtt_min;
};

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct kernfs_node {
	__u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup_root;

struct cgroup {
	struct cgroup_subsys_state self;
	struct cgroup_root *root;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

/* The numbers depend on the configuration. */
enum cgroup_subsys_id {
	perf_event_cgrp_id = 8,
};

struct cred {
	kuid_t euid;
};

struct thread_info {
	__u32 cpu;
	__u32 status;
};

struct mm_context {
	void *vdso;
};

struct maple_tree {
	void *ma_root;
};

typedef struct {
	__s64 counter;
} atomic64_t;

struct rw_semaphore {
	atomic64_t count; /* atomic_long_t */
};

struct mm_struct {
	struct maple_tree mm_mt; /* Linux 6.1 and later */
	struct rw_semaphore mmap_lock;
	unsigned long start_code;
	unsigned long start_brk;
	unsigned long brk;
	unsigned long start_stack;
	unsigned long arg_start;
	unsigned long exec_vm;
	struct file *exe_file;
	struct mm_context context;
};

struct eventpoll {
	struct list_head rdllist;
};

struct epoll_filefd {
	struct file *file;
	int fd;
};

struct epitem {
	struct list_head rdllink;
	struct epoll_filefd ffd;
};

struct io_uring {
	__u32 head;
	__u32 tail;
};

struct io_rings {
	struct io_uring sq;
	struct io_uring cq;
	__u32 sq_ring_mask;
};

struct io_rsrc_node {
	unsigned long file_ptr;
};

struct io_rsrc_data {
	unsigned int nr;
	struct io_rsrc_node **nodes;
};

struct io_file_table {
	struct io_rsrc_data data;
};

struct io_ring_ctx {
	__u32 flags;
	struct io_rings *rings;
	__u32 *sq_array;
	struct io_uring_sqe *sq_sqes;
	__u32 cached_sq_head;
	struct io_file_table file_table;
};

/* Since 5.18 */
struct io_uring_task {
	struct file *registered_rings[16];
};

struct io_fixed_file___before_6_13 {
	unsigned long file_ptr;
};

struct io_file_table___before_6_13 {
	struct io_fixed_file___before_6_13 *files;
};

struct io_ring_ctx___before_6_13 {
	struct io_file_table___before_6_13 file_table;
	unsigned int nr_user_files;
};

struct sched_info {
	unsigned long long run_delay;
	unsigned long long last_arrival;
	unsigned long long last_queued;
};

struct rq {
	__u64 clock;
	__u64 clock_task; /* less the time of interrupts and of a hypervisor */
};

struct cfs_rq {
	struct rq *rq;
	int throttle_count;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
	__u64 exec_start;
};

struct thread_struct {
	unsigned long sp;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	void *stack;
	unsigned int flags;
	unsigned int on_cpu; /* unsigned, so that libbpf may adjust it: a byte in 7.3 */
	int exit_state;
	unsigned int in_iowait : 1;
	bool throttled; /* since 6.18 */
	struct sched_entity se;
	struct sched_info sched_info;
	struct mm_struct *mm;
	pid_t pid;
	pid_t tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	const struct cred *real_cred;
	unsigned long nvcsw;
	unsigned long nivcsw;
	struct css_set *cgroups;
	struct files_struct *files;
	struct io_uring_task *io_uring;
	__u64 start_time;
	__u64 start_boottime;
	__u64 self_exec_id;
	char comm[16];
	struct thread_struct thread;
};

/* Before 5.14. */
struct task_struct___before_5_14 {
	volatile long state;
};

/* Before 5.16. */
struct task_struct___before_5_16 {
	unsigned int cpu;
};

/* A module's code, since 6.4. */
struct module_memory {
	void *base;
	unsigned int size;
};

/* A module's code, before 6.4. */
struct module_layout {
	void *base;
	unsigned int text_size;
};

struct mod_arch_specific {
	unsigned int num_orcs;
	int *orc_unwind_ip;
	void *orc_unwind;
};

enum module_state {
	MODULE_STATE_LIVE,
	MODULE_STATE_COMING,
	MODULE_STATE_GOING,
	MODULE_STATE_UNFORMED,
};

struct module {
	enum module_state state;
	struct module_memory mem[1];
	struct mod_arch_specific arch;
};

struct module___before_6_4 {
	struct module_layout core_layout;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
};

struct gendisk {
	int major;
	int first_minor;
};

struct request_queue {
	struct gendisk *disk; /* since 5.15 */
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	__u64 __sector;
	__u64 start_time_ns;
};

/* The numbers differ. */
enum req_flag_bits {
	__REQ_SYNC = 11,
	__REQ_META = 12,
	__REQ_PRIO = 13,
	__REQ_FUA = 17,
	__REQ_RAHEAD = 19,
};

/* Where the CPUs of x86 count their interrupts, from 6.2 to 6.14. */
struct pcpu_hot {
	int preempt_count;
};

/* Before 5.17. */
struct request___before_5_17 {
	struct gendisk *rq_disk;
};

#pragma clang attribute pop

#endif /* DENET_VMLINUX_H */
