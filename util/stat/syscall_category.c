/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/syscall_category.h"

#include <stdlib.h>
#include <string.h>

/*
 * All names that libseccomp has for x86 and ARM, both sizes each, and those up to Linux 7. Each
 * list is sorted. tests/unit/test_syscall_category.c holds it complete.
 */
static const char *const file_io_calls[] = {
	"_llseek", "_newselect", "access", "arm_fadvise64_64", "arm_sync_file_range",
	"bdflush", "cachestat", "chdir", "close", "close_range", "copy_file_range", "creat",
	"dup", "dup2", "dup3", "epoll_create", "epoll_create1", "epoll_ctl",
	"epoll_ctl_old", "epoll_pwait", "epoll_pwait2", "epoll_wait", "epoll_wait_old",
	"faccessat", "faccessat2", "fadvise64", "fadvise64_64", "fallocate",
	"fanotify_init", "fanotify_mark", "fchdir", "fcntl", "fcntl64", "fdatasync",
	"fgetxattr", "file_getattr", "file_setattr", "flistxattr", "flock", "fremovexattr",
	"fsetxattr", "fstat", "fstat64", "fstatat64", "fstatfs", "fstatfs64", "fsync",
	"ftruncate", "ftruncate64", "futimesat", "getcwd", "getdents", "getdents64",
	"getxattr", "getxattrat", "inotify_add_watch", "inotify_init", "inotify_init1",
	"inotify_rm_watch", "io_cancel", "io_destroy", "io_getevents", "io_pgetevents",
	"io_pgetevents_time64", "io_setup", "io_submit", "io_uring_enter",
	"io_uring_register", "io_uring_setup", "ioctl", "lgetxattr", "link", "linkat",
	"listxattr", "listxattrat", "llistxattr", "lremovexattr", "lseek", "lsetxattr",
	"lstat", "lstat64", "mkdir", "mkdirat", "mknod", "mknodat", "name_to_handle_at",
	"newfstatat", "oldfstat", "oldlstat", "oldstat", "open", "open_by_handle_at",
	"openat", "openat2", "poll", "ppoll", "ppoll_time64", "pread64", "preadv",
	"preadv2", "pselect6", "pselect6_time64", "pwrite64", "pwritev", "pwritev2",
	"quotactl", "quotactl_fd", "read", "readahead", "readdir", "readlink", "readlinkat",
	"readv", "removexattr", "removexattrat", "rename", "renameat", "renameat2", "rmdir",
	"select", "sendfile", "sendfile64", "setxattr", "setxattrat", "splice", "stat",
	"stat64", "statfs", "statfs64", "statx", "symlink", "symlinkat", "sync",
	"sync_file_range", "syncfs", "tee", "truncate", "truncate64", "unlink", "unlinkat",
	"ustat", "utime", "utimensat", "utimensat_time64", "utimes", "vmsplice", "write",
	"writev",
};

static const char *const memory_calls[] = {
	"brk", "cacheflush", "get_mempolicy", "madvise", "map_shadow_stack", "mbind",
	"memfd_create", "memfd_secret", "migrate_pages", "mincore", "mlock", "mlock2",
	"mlockall", "mmap", "mmap2", "move_pages", "mprotect", "mremap", "mseal", "msync",
	"munlock", "munlockall", "munmap", "pkey_alloc", "pkey_free", "pkey_mprotect",
	"process_madvise", "process_mrelease", "remap_file_pages", "set_mempolicy",
	"set_mempolicy_home_node", "userfaultfd",
};

static const char *const process_calls[] = {
	"arch_prctl", "breakpoint", "clone", "clone3", "execve", "execveat", "exit",
	"exit_group", "fork", "get_robust_list", "get_thread_area", "get_tls", "getcpu",
	"getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getrlimit", "getrusage",
	"getsid", "gettid", "idle", "ioprio_get", "ioprio_set", "kcmp", "membarrier",
	"modify_ldt", "nice", "personality", "pidfd_getfd", "pidfd_open", "prctl",
	"prlimit64", "process_vm_readv", "process_vm_writev", "ptrace", "rseq",
	"rseq_slice_yield", "sched_get_priority_max", "sched_get_priority_min",
	"sched_getaffinity", "sched_getattr", "sched_getparam", "sched_getscheduler",
	"sched_rr_get_interval", "sched_rr_get_interval_time64", "sched_setaffinity",
	"sched_setattr", "sched_setparam", "sched_setscheduler", "sched_yield",
	"set_robust_list", "set_thread_area", "set_tid_address", "set_tls", "setns",
	"setpgid", "setpriority", "setrlimit", "setsid", "ugetrlimit", "ulimit", "unshare",
	"uselib", "vfork", "wait4", "waitid", "waitpid",
};

static const char *const network_calls[] = {
	"accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt",
	"listen", "recv", "recvfrom", "recvmmsg", "recvmmsg_time64", "recvmsg", "send",
	"sendmmsg", "sendmsg", "sendto", "setsockopt", "shutdown", "socket", "socketcall",
	"socketpair",
};

static const char *const time_calls[] = {
	"adjtimex", "alarm", "clock_adjtime", "clock_adjtime64", "clock_getres",
	"clock_getres_time64", "clock_gettime", "clock_gettime64", "clock_nanosleep",
	"clock_nanosleep_time64", "clock_settime", "clock_settime64", "ftime", "getitimer",
	"gettimeofday", "nanosleep", "setitimer", "settimeofday", "stime", "time",
	"timer_create", "timer_delete", "timer_getoverrun", "timer_gettime",
	"timer_gettime64", "timer_settime", "timer_settime64", "timerfd_create",
	"timerfd_gettime", "timerfd_gettime64", "timerfd_settime", "timerfd_settime64",
	"times",
};

static const char *const ipc_calls[] = {
	"eventfd", "eventfd2", "futex", "futex_requeue", "futex_time64", "futex_wait",
	"futex_waitv", "futex_wake", "ipc", "mq_getsetattr", "mq_notify", "mq_open",
	"mq_timedreceive", "mq_timedreceive_time64", "mq_timedsend", "mq_timedsend_time64",
	"mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd", "pipe", "pipe2", "semctl",
	"semget", "semop", "semtimedop", "semtimedop_time64", "shmat", "shmctl", "shmdt",
	"shmget",
};

static const char *const security_calls[] = {
	"add_key", "capget", "capset", "chmod", "chown", "chown32", "fchmod", "fchmodat",
	"fchmodat2", "fchown", "fchown32", "fchownat", "getegid", "getegid32", "geteuid",
	"geteuid32", "getgid", "getgid32", "getgroups", "getgroups32", "getrandom",
	"getresgid", "getresgid32", "getresuid", "getresuid32", "getuid", "getuid32",
	"keyctl", "landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self",
	"lchown", "lchown32", "lsm_get_self_attr", "lsm_list_modules", "lsm_set_self_attr",
	"request_key", "seccomp", "setfsgid", "setfsgid32", "setfsuid", "setfsuid32",
	"setgid", "setgid32", "setgroups", "setgroups32", "setregid", "setregid32",
	"setresgid", "setresgid32", "setresuid", "setresuid32", "setreuid", "setreuid32",
	"setuid", "setuid32", "umask",
};

static const char *const signal_calls[] = {
	"kill", "pause", "pidfd_send_signal", "restart_syscall", "rt_sigaction",
	"rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo", "rt_sigreturn",
	"rt_sigsuspend", "rt_sigtimedwait", "rt_sigtimedwait_time64", "rt_tgsigqueueinfo",
	"sgetmask", "sigaction", "sigaltstack", "signal", "signalfd", "signalfd4",
	"sigpending", "sigprocmask", "sigreturn", "sigsuspend", "ssetmask", "tgkill",
	"tkill",
};

static const char *const system_calls[] = {
	"_sysctl", "acct", "bpf", "chroot", "create_module", "delete_module",
	"finit_module", "fsconfig", "fsmount", "fsopen", "fspick", "get_kernel_syms",
	"init_module", "ioperm", "iopl", "kexec_file_load", "kexec_load", "listmount",
	"listns", "lookup_dcookie", "mount", "mount_setattr", "move_mount", "nfsservctl",
	"oldolduname", "olduname", "open_tree", "open_tree_attr", "pciconfig_iobase",
	"pciconfig_read", "pciconfig_write", "perf_event_open", "pivot_root",
	"query_module", "reboot", "setdomainname", "sethostname", "statmount", "swapoff",
	"swapon", "sysfs", "sysinfo", "syslog", "umount", "umount2", "uname", "uprobe",
	"uretprobe", "usr26", "usr32", "vhangup", "vm86", "vm86old",
};

static const char *const other_calls[] = {
	"afs_syscall", "break", "getpmsg", "gtty", "lock", "mpx", "prof", "profil",
	"putpmsg", "security", "stty", "tuxcall", "vserver",
};

/* Calls that move bytes through a descriptor; they are in file_io, too. */
static const char *const moving_calls[] = {
	"pread64",  "preadv",     "preadv2", "pwrite64", "pwritev",  "pwritev2", "read",   "readv",
	"sendfile", "sendfile64", "splice",  "tee",      "vmsplice", "write",    "writev",
};

#define NAMES(list) { list, sizeof(list) / sizeof((list)[0]) }

struct names {
	const char *const *list;
	size_t nr;
};

static const struct {
	const char *name;
	struct names names;
} categories[SYSCALL_CATEGORIES] = {
	[SYSCALL_FILE_IO] = { "file_io", NAMES(file_io_calls) },
	[SYSCALL_MEMORY] = { "memory", NAMES(memory_calls) },
	[SYSCALL_PROCESS] = { "process", NAMES(process_calls) },
	[SYSCALL_NETWORK] = { "network", NAMES(network_calls) },
	[SYSCALL_TIME] = { "time", NAMES(time_calls) },
	[SYSCALL_IPC] = { "ipc", NAMES(ipc_calls) },
	[SYSCALL_SECURITY] = { "security", NAMES(security_calls) },
	[SYSCALL_SIGNAL] = { "signal", NAMES(signal_calls) },
	[SYSCALL_SYSTEM] = { "system", NAMES(system_calls) },
	[SYSCALL_OTHER] = { "other", NAMES(other_calls) },
};

static int compare(const void *name, const void *entry)
{
	return strcmp(name, *(const char *const *)entry);
}

static bool has(const struct names *names, const char *name)
{
	return bsearch(name, names->list, names->nr, sizeof(*names->list), compare) != NULL;
}

enum syscall_category syscall_category__of(const char *name, enum stat_file file)
{
	static const struct names moving = NAMES(moving_calls);

	if (file == STAT_FILE_SOCKET && has(&moving, name))
		return SYSCALL_NETWORK;
	if (file == STAT_FILE_PIPE && has(&moving, name))
		return SYSCALL_IPC;
	for (int i = 0; i < SYSCALL_CATEGORIES; i++) {
		if (has(&categories[i].names, name))
			return (enum syscall_category)i;
	}
	return SYSCALL_OTHER;
}

bool syscall_category__has(const char *name)
{
	return syscall_category__of(name, STAT_FILE_NONE) != SYSCALL_OTHER ||
	       has(&categories[SYSCALL_OTHER].names, name);
}

const char *syscall_category__name(enum syscall_category category)
{
	return categories[category].name;
}
