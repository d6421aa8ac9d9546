/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/observer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "common/tolerance.h"

#define SWITCH "sched:sched_switch:"

const char *observer__refused(void)
{
	if (system("perf version >/dev/null 2>&1"))
		return "no perf on this machine to compare with";
	if (access("/sys/kernel/tracing/events/sched/sched_switch/id", R_OK) &&
	    access("/sys/kernel/debug/tracing/events/sched/sched_switch/id", R_OK))
		return "no sched_switch tracepoint to be read: is tracefs mounted?";
	return NULL;
}

/*
 * -B leaves the build-ids out: some perfs abort while they collect them. perf starts
 * disabled and answers "ack" once it was enabled, so nothing has to be waited for by guess.
 */
static void exec_perf(const char *path, int control, int ack)
{
	char fds[64];
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(fds, sizeof(fds), "--control=fd:%d,%d", control, ack);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execlp("perf", "perf", "record", "-B", "-N", "-q", "-e", "sched:sched_switch", "-k",
	       "CLOCK_MONOTONIC", "-a", "-m", "2048", "-D", "-1", fds, "-o", path, NULL);
	_exit(1);
}

static void spin(int cpu, int ready)
{
	struct sched_param param = { 0 };
	cpu_set_t cpus;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0 ||
	    sched_setscheduler(0, SCHED_IDLE, &param) < 0 || write(ready, "x", 1) != 1)
		_exit(1);
	for (;;)
		__asm__ volatile("" ::: "memory");
}

/* Starts a spinner on each CPU; on return they run. 0 or -errno. */
static int observer__spin(struct observer *observer)
{
	int ready[2], running = 0, err = 0;
	cpu_set_t allowed;
	char c;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0 || pipe(ready) < 0)
		return -errno;
	for (int cpu = 0; cpu < OBSERVER_MAX_CPUS; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		observer->spinners[cpu] = fork();
		if (!observer->spinners[cpu])
			spin(cpu, ready[1]);
		running++;
	}
	close(ready[1]);
	while (running-- && !err)
		err = read(ready[0], &c, 1) == 1 ? 0 : -ECHILD;
	close(ready[0]);
	return err;
}

static void observer__end_spin(struct observer *observer)
{
	for (int cpu = 0; cpu < OBSERVER_MAX_CPUS; cpu++) {
		if (observer->spinners[cpu] <= 0)
			continue;
		kill(observer->spinners[cpu], SIGKILL);
		waitpid(observer->spinners[cpu], NULL, 0);
		observer->spinners[cpu] = 0;
	}
}

/* Sends a command and waits for its answer, some seconds at most. */
static int observer__command(struct observer *observer, const char *command)
{
	struct pollfd fd = { .fd = observer->ack, .events = POLLIN };
	char answer[16];

	if (write(observer->control, command, strlen(command)) < 0)
		return -errno;
	if (poll(&fd, 1, (int)tolerance__wait_seconds() * 1000) != 1)
		return -ETIMEDOUT;
	return read(observer->ack, answer, sizeof(answer)) > 0 ? 0 : -EPIPE;
}

int observer__start(struct observer *observer)
{
	int control[2], ack[2], fd, err;

	memset(observer, 0, sizeof(*observer));
	snprintf(observer->path, sizeof(observer->path), "/tmp/denet-observer-XXXXXX");
	fd = mkstemp(observer->path);
	if (fd < 0)
		return -errno;
	close(fd);
	if (pipe(control) < 0)
		return -errno;
	if (pipe(ack) < 0) {
		close(control[0]);
		close(control[1]);
		return -errno;
	}
	fcntl(control[1], F_SETFD, FD_CLOEXEC);
	fcntl(ack[0], F_SETFD, FD_CLOEXEC);
	observer->perf = fork();
	if (!observer->perf)
		exec_perf(observer->path, control[0], ack[1]);
	close(control[0]);
	close(ack[1]);
	observer->control = control[1];
	observer->ack = ack[0];
	if (observer->perf < 0)
		return -EAGAIN;
	err = observer__spin(observer);
	return err ? err : observer__command(observer, "enable\n");
}

/* The value that follows the last key in text: a hostile comm may hold one, too. */
static const char *value_of(const char *text, const char *key)
{
	const char *found = NULL, *at = text;

	while ((at = strstr(at, key))) {
		at += strlen(key);
		found = at;
	}
	return found;
}

/* The text behind the last arrow of a switch, NULL: none; a hostile comm may hold an arrow. */
static char *behind_arrow(char *text)
{
	char *found = NULL, *at = text;

	while ((at = strstr(at, " ==> "))) {
		at++;
		found = at;
	}
	return found;
}

/* True if text is a switch whose end is still to be read. */
static bool is_cut(char *text)
{
	char *next = behind_arrow(text);

	return strstr(text, SWITCH) && (!next || !strstr(next, " next_prio="));
}

bool observer__read_event(FILE *script, char *text, size_t size)
{
	size_t len;

	if (!fgets(text, (int)size, script))
		return false;
	while (is_cut(text) && (len = strlen(text)) + 1 < size) {
		if (!fgets(text + len, (int)(size - len), script))
			break;
	}
	return true;
}

int observer__parse_event(const char *text, struct observed_switch *out)
{
	const char *prev, *next, *state, *begin;
	char copy[1024], *at;
	uint64_t seconds, fraction;
	int n = snprintf(copy, sizeof(copy), "%s", text);

	begin = strstr(text, SWITCH);
	if (!begin)
		return 0;
	/* Two in one are a cut one and another; SWITCH is longer than a comm may be. */
	if (n < 0 || (size_t)n >= sizeof(copy) || strstr(begin + 1, SWITCH))
		return -EINVAL;
	at = behind_arrow(copy);
	if (!at)
		return -EINVAL;
	at[-1] = '\0';
	prev = value_of(copy, " prev_pid=");
	state = value_of(copy, " prev_state=");
	next = value_of(at, " next_pid=");
	if (!prev || !state || !next ||
	    sscanf(copy, " %*d %" SCNu64 ".%9" SCNu64 ":", &seconds, &fraction) != 2)
		return -EINVAL;
	out->time = seconds * NSEC_PER_SEC + fraction;
	out->prev = (pid_t)strtol(prev, NULL, 10);
	out->next = (pid_t)strtol(next, NULL, 10);
	snprintf(out->state, sizeof(out->state), "%.3s", state);
	return 1;
}

static int observer__take(struct observer *observer, const char *text)
{
	struct observed_switch one;
	int kind = observer__parse_event(text, &one);

	if (strstr(text, "PERF_RECORD_LOST"))
		observer->lost++;
	if (kind < 0)
		fprintf(stderr, "# malformed, of perf script: %s", text);
	if (kind <= 0)
		return kind;
	if (observer->nr == observer->capacity) {
		size_t capacity = observer->capacity ? 2 * observer->capacity : 4096;
		struct observed_switch *grown =
			realloc(observer->switches, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		observer->switches = grown;
		observer->capacity = capacity;
	}
	observer->switches[observer->nr++] = one;
	return 0;
}

int observer__stop(struct observer *observer)
{
	char command[256], text[2048];
	int err = observer__command(observer, "disable\n"), status;
	FILE *script;

	observer__end_spin(observer);
	kill(observer->perf, SIGINT);
	if (waitpid(observer->perf, &status, 0) < 0)
		return -errno;
	observer->perf = 0;
	if (err)
		return err;
	snprintf(command, sizeof(command),
		 "perf script -i %s --ns -F tid,time,event,trace --show-lost-events 2>/dev/null",
		 observer->path);
	script = popen(command, "re");
	if (!script)
		return -errno;
	while (!err && observer__read_event(script, text, sizeof(text)))
		err = observer__take(observer, text);
	status = pclose(script);
	if (!err && status) {
		fprintf(stderr, "# perf script ended with status %#x\n", (unsigned int)status);
		err = -EPIPE;
	}
	return !err && !observer->nr ? -ENODATA : err;
}

static bool state_wanted(const char *state, const char *states)
{
	char word[8];

	if (state[0] == 'X' || state[0] == 'Z')
		return false;
	snprintf(word, sizeof(word), " %s ", state);
	return !states || strstr(states, word);
}

struct observed observer__list(const struct observer *observer, pid_t tid, uint64_t start_ns,
			       uint64_t end_ns, const char *states, uint64_t *ns, size_t size)
{
	/* A thread that comes before it was seen to go has slept since before the start. */
	const struct observed_switch before = { .state = "S" }, *out = &before;
	struct observed sum = { 0 };

	for (size_t i = 0; i < observer->nr; i++) {
		const struct observed_switch *one = &observer->switches[i];

		if (one->next == tid && out) {
			uint64_t begin = out->time > start_ns ? out->time : start_ns;

			if (one->time >= begin && one->time <= end_ns &&
			    state_wanted(out->state, states)) {
				if (sum.count < size)
					ns[sum.count] = one->time - begin;
				sum.count++;
				sum.ns += one->time - begin;
			}
			out = NULL;
		}
		if (one->prev == tid) {
			sum.torn |= out && out != &before;
			out = one;
		}
	}
	return sum;
}

struct observed observer__blocks(const struct observer *observer, pid_t tid, uint64_t start_ns,
				 uint64_t end_ns, const char *states)
{
	return observer__list(observer, tid, start_ns, end_ns, states, NULL, 0);
}

struct observed observer__running(const struct observer *observer, pid_t tid)
{
	const struct observed_switch *in = NULL;
	struct observed sum = { 0 };

	for (size_t i = 0; i < observer->nr; i++) {
		const struct observed_switch *one = &observer->switches[i];

		if (one->prev == tid) {
			sum.torn |= !in;
			sum.count++;
			sum.ns += in ? one->time - in->time : 0;
			in = NULL;
		}
		if (one->next == tid) {
			sum.torn |= in != NULL;
			in = one;
		}
	}
	sum.torn |= in != NULL;
	return sum;
}

void observer__free(struct observer *observer)
{
	observer__end_spin(observer);
	if (observer->perf > 0) {
		kill(observer->perf, SIGKILL);
		waitpid(observer->perf, NULL, 0);
	}
	if (observer->path[0]) {
		unlink(observer->path);
		close(observer->control);
		close(observer->ack);
	}
	free(observer->switches);
	memset(observer, 0, sizeof(*observer));
}
