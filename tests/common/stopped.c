/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/stopped.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "common/built.h"
#include "common/tolerance.h"
#include "machine/machine.h"
#include "machine/mapped_file.h"
#include "machine/maps.h"
#include "synth/synth.h"

/* Whether this machine's registers are known. */
#if defined(__x86_64__) || defined(__aarch64__)
#define STOPPED_HERE 1
#else
#define STOPPED_HERE 0
#endif

int stopped__path(const char *name, char *path, size_t size)
{
	return built__path("unwind", name, path, size);
}

static void __attribute__((noreturn)) exec_program(const char *const *argv, int in)
{
	char path[2 * PATH_MAX];
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* gdb is no ancestor of it, which some machines would ask for. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (dup2(in, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0) {
		if (!strchr(argv[0], '/') && !stopped__path(argv[0], path, sizeof(path)))
			execv(path, (char *const *)argv);
		execvp(argv[0], (char *const *)argv);
	}
	_exit(127);
}

static bool is_there(const char *name)
{
	char path[2 * PATH_MAX], *paths, *rest = NULL;
	bool found = false;

	if (strchr(name, '/'))
		return !access(name, X_OK);
	if (!stopped__path(name, path, sizeof(path)))
		return true;
	paths = strdup(getenv("PATH") ? getenv("PATH") : "");
	for (char *dir = strtok_r(paths, ":", &rest); dir && !found;
	     dir = strtok_r(NULL, ":", &rest)) {
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		found = !access(path, X_OK);
	}
	free(paths);
	return found;
}

int stopped__start(struct stopped *stopped, const char *const *argv)
{
	int in[2];

	memset(stopped, 0, sizeof(*stopped));
	if (!is_there(argv[0]) || !STOPPED_HERE)
		return -ENOENT;
	if (pipe2(in, O_CLOEXEC))
		return -errno;
	stopped->pid = fork();
	if (!stopped->pid)
		exec_program(argv, in[0]);
	close(in[0]);
	stopped->in = in[1];
	stopped->tid = stopped->pid;
	return stopped->pid < 0 ? -errno : 0;
}

/*
 * The number of the system call that a thread blocks in; -1: it runs, or is gone. To read from
 * another file than stdin is no block: it is on its way.
 */
static long blocked_in(pid_t pid, pid_t tid)
{
	char path[64], text[256], reads[32], reads_stdin[32];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0 || text[0] < '0' || text[0] > '9')
		return -1;
	text[len] = '\0';
	snprintf(reads, sizeof(reads), "%d ", SYS_read);
	snprintf(reads_stdin, sizeof(reads_stdin), "%d 0x0 ", SYS_read);
	if (!strncmp(text, reads, strlen(reads)) && strncmp(text, reads_stdin, strlen(reads_stdin)))
		return -1;
	return strtol(text, NULL, 10);
}

static pid_t find_blocked(pid_t pid, long nr, bool other)
{
	struct dirent *entry;
	char path[64];
	pid_t found = 0, tid;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid && (tid != pid) == other && blocked_in(pid, tid) == nr)
			found = tid;
	}
	if (dir)
		closedir(dir);
	return found;
}

bool stopped__has_ended(const struct stopped *stopped)
{
	siginfo_t info = { 0 };

	return !waitid(P_PID, (id_t)stopped->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid;
}

int stopped__await(struct stopped *stopped, long nr, bool other)
{
	const struct timespec pause = { .tv_nsec = 2 * 1000 * 1000 };
	uint64_t end = tolerance__deadline();
	pid_t tid;

	while (clock__now_ns() < end) {
		tid = find_blocked(stopped->pid, nr, other);
		if (tid) {
			stopped->tid = tid;
			return 0;
		}
		if (stopped__has_ended(stopped))
			return -ECHILD;
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

#if defined(__x86_64__)
static int get_regs(pid_t tid, struct unwind_regs *regs)
{
	struct user_regs_struct user;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &user))
		return -errno;
	*regs = (struct unwind_regs){ {
		user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi,
		user.rbp, user.rsp, user.r8,  user.r9,	user.r10, user.r11,
		user.r12, user.r13, user.r14, user.r15, user.rip,
	} };
	return 0;
}
#elif defined(__aarch64__)
static int get_regs(pid_t tid, struct unwind_regs *regs)
{
	struct user_regs_struct user;
	struct iovec iov = { &user, sizeof(user) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &iov))
		return -errno;
	memcpy(regs->r, user.regs, sizeof(user.regs));
	regs->r[UNWIND_SP] = user.sp;
	regs->r[UNWIND_PC] = user.pc;
	return 0;
}
#else
static int get_regs(pid_t tid, struct unwind_regs *regs)
{
	(void)tid;
	(void)regs;
	return -ENOTSUP;
}
#endif

/* Page by page from the end of each, so that one that is missing costs what is behind it. */
static int read_stack(struct stopped *stopped, size_t bytes)
{
	uint64_t at = stopped->regs.r[UNWIND_SP];

	stopped->stack_bytes = 0;
	free(stopped->stack);
	stopped->stack = malloc(bytes);
	if (!stopped->stack)
		return -ENOMEM;
	while (stopped->stack_bytes < bytes) {
		size_t size = 4096 - (at & 4095);
		struct iovec local, remote;

		if (size > bytes - stopped->stack_bytes)
			size = bytes - stopped->stack_bytes;
		local = (struct iovec){ stopped->stack + stopped->stack_bytes, size };
		remote = (struct iovec){ (void *)(uintptr_t)at, size };
		if (process_vm_readv(stopped->pid, &local, 1, &remote, 1, 0) != (ssize_t)size)
			break;
		stopped->stack_bytes += size;
		at += size;
	}
	return stopped->stack_bytes ? 0 : -EFAULT;
}

static int interrupt(pid_t tid)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) || waitpid(tid, &status, __WALL) != tid)
		return -errno;
	return 0;
}

int stopped__take(struct stopped *stopped, size_t bytes)
{
	int err;

	if (ptrace(PTRACE_SEIZE, stopped->tid, NULL, NULL))
		return -errno;
	err = interrupt(stopped->tid);
	if (!err)
		err = get_regs(stopped->tid, &stopped->regs);
	if (!err)
		err = read_stack(stopped, bytes);
	ptrace(PTRACE_DETACH, stopped->tid, NULL, NULL);
	return err;
}

/* The thread is traced and stopped. */
static int run_to_call(struct stopped *stopped, uint64_t start, uint64_t end)
{
	int status, err;

	for (int calls = 0; calls < 1000; calls++) {
		if (ptrace(PTRACE_SYSCALL, stopped->tid, NULL, NULL) ||
		    waitpid(stopped->tid, &status, __WALL) != stopped->tid)
			return -errno;
		err = get_regs(stopped->tid, &stopped->regs);
		if (err)
			return err;
		if (stopped->regs.r[UNWIND_PC] >= start && stopped->regs.r[UNWIND_PC] < end)
			return 0;
	}
	return -ETIMEDOUT;
}

int stopped__take_entering(struct stopped *stopped, size_t bytes, uint64_t start, uint64_t end)
{
	int err;

	if (ptrace(PTRACE_SEIZE, stopped->tid, NULL, NULL))
		return -errno;
	err = interrupt(stopped->tid);
	if (!err)
		err = run_to_call(stopped, start, end);
	if (!err)
		err = read_stack(stopped, bytes);
	ptrace(PTRACE_DETACH, stopped->tid, NULL, NULL);
	return err;
}

int stopped__each_map(const struct stopped *stopped, uint64_t time,
		      int (*fn)(void *ctx, const struct task_event *event), void *ctx)
{
	struct task_event event = { .kind = TASK_EVENT_MMAP, .pid = stopped->pid,
				    .tid = stopped->pid, .time = time };
	char path[PATH_MAX], *line = NULL;
	size_t capacity = 0;
	FILE *file;
	ssize_t len;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", stopped->pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (!err && (len = getline(&line, &capacity, file)) > 0) {
		if (synth__parse_maps_line(line, (size_t)len - 1, &event.map, path) == 1)
			err = fn(ctx, &event);
	}
	free(line);
	fclose(file);
	return err;
}

static int tell_machine(void *ctx, const struct task_event *event)
{
	int ret = machine__handle(ctx, event);

	return ret < 0 ? ret : 0;
}

int stopped__tell_maps(const struct stopped *stopped, struct machine *machine, uint64_t time)
{
	return stopped__each_map(stopped, time, tell_machine, machine);
}

bool stopped__in_linker(const struct stopped *stopped, const struct machine *machine,
			uint64_t address)
{
	const uint64_t now = clock__now_ns();
	const struct maps *maps = process__maps_at(machine__process(machine, stopped->pid), now);
	const struct maps_entry *map = maps ? maps__find(maps, now, address) : NULL;
	const char *name = map ? strrchr(map->file->path, '/') : NULL;

	return name && !strncmp(name, "/ld-linux", strlen("/ld-linux"));
}

/* The script is a file, for gdb takes no python of more than a line from its command line. */
static int write_script(pid_t tid, char *path, size_t size)
{
	const char *tmp = getenv("TMPDIR");
	FILE *file;

	snprintf(path, size, "%s/denet-gdb-%d", tmp ? tmp : "/tmp", getpid());
	file = fopen(path, "we");
	if (!file)
		return -errno;
	fprintf(file,
		"set backtrace past-main on\n"
		"set backtrace past-entry on\n"
		"python\n"
		"for thread in gdb.selected_inferior().threads():\n"
		"    if thread.ptid[1] == %d: thread.switch()\n"
		"frame = gdb.newest_frame()\n"
		"while frame is not None:\n"
		"    if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):\n"
		"        print('frame %%x %%s' %% (frame.pc(), frame.name()))\n"
		"    frame = frame.older()\n"
		"end\n",
		tid);
	return fclose(file) ? -errno : 0;
}

static int read_frames(FILE *file, uint64_t *ips, size_t max, bool verbose)
{
	char *line = NULL;
	size_t capacity = 0, nr = 0;

	while (getline(&line, &capacity, file) > 0) {
		if (verbose)
			fprintf(stderr, "# gdb: %s", line);
		if (!strncmp(line, "frame ", 6) && nr < max)
			ips[nr++] = strtoull(line + 6, NULL, 16);
	}
	free(line);
	return (int)nr;
}

int stopped__ask_gdb(const struct stopped *stopped, uint64_t *ips, size_t max, bool verbose)
{
	char script[PATH_MAX], command[2 * PATH_MAX];
	FILE *file;
	int nr;

	if (!is_there("gdb"))
		return -ENOENT;
	nr = write_script(stopped->tid, script, sizeof(script));
	if (nr)
		return nr;
	snprintf(command, sizeof(command),
		 "DEBUGINFOD_URLS= gdb -nx -batch -p %d -x '%s' 2>&1 </dev/null", stopped->pid,
		 script);
	file = popen(command, "re");
	nr = file ? read_frames(file, ips, max, verbose) : -errno;
	if (file)
		pclose(file);
	unlink(script);
	return nr ? nr : -EPERM;
}

void stopped__free(struct stopped *stopped)
{
	if (stopped->pid > 0) {
		kill(stopped->pid, SIGKILL);
		waitpid(stopped->pid, NULL, 0);
		close(stopped->in);
	}
	free(stopped->stack);
	memset(stopped, 0, sizeof(*stopped));
}
