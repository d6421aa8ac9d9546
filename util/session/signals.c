/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/err_out.h"
#include "base/log.h"

/*
 * Dispositions that we change. SIGPIPE, SIGXFSZ: a reader that goes away, or a limit on
 * the size of files, is an error of write(2). SIGTTOU: when perf has died before us, a line
 * on its terminal would stop us. SIGCHLD: were it ignored by whoever started us, a child's
 * status could not be had. The others are read from a descriptor and get a handler in the
 * end.
 */
static const struct {
	int number;
	void (*handler)(int number);
} changed[] = {
	{ SIGPIPE, SIG_IGN }, { SIGXFSZ, SIG_IGN }, { SIGTTOU, SIG_IGN }, { SIGCHLD, SIG_DFL },
	{ SIGHUP, NULL },     { SIGINT, NULL },     { SIGTERM, NULL },    { SIGUSR2, NULL },
};

#define NR_CHANGED (sizeof(changed) / sizeof(changed[0]))

struct signals {
	int fd;
	bool hangup_ignored; /* SIGHUP is ignored, as by nohup(1): we go on */
	bool switch_wanted;  /* SIGUSR2 has come */
	sigset_t old_mask;
	struct sigaction old[NR_CHANGED];
};

/* Number of SIGINT that the handler ignores. */
static volatile sig_atomic_t patience_left;

/* Process that the handler of a second signal ends; handlers can only read globals. */
static volatile pid_t second_signal_workload;

static void set_handler(int number, void (*handler)(int number))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	sigaction(number, &action, NULL);
}

static void signals__take(struct signals *signals)
{
	for (size_t i = 0; i < NR_CHANGED; i++) {
		sigaction(changed[i].number, NULL, &signals->old[i]);
		if (changed[i].number == SIGHUP)
			signals->hangup_ignored = signals->old[i].sa_handler == SIG_IGN;
		if (changed[i].handler)
			set_handler(changed[i].number, changed[i].handler);
	}
}

struct signals *signals__new(int *err)
{
	struct signals *signals = calloc(1, sizeof(*signals));
	sigset_t set;

	if (!signals) {
		*err = -ENOMEM;
		return NULL;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGUSR2);
	signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals->fd < 0) {
		*err = -errno;
		pr_err("no descriptor for signals: %s", strerror(errno));
		free(signals);
		return NULL;
	}
	sigprocmask(SIG_BLOCK, &set, &signals->old_mask);
	signals__take(signals);
	*err = 0;
	return signals;
}

int signals__fd(const struct signals *signals)
{
	return signals->fd;
}

/*
 * Stops at the first signal that ends the recording: one that came right after it stays
 * pending, and strikes when signals__finish() unblocks it. SIGINT counts also where it
 * was ignored, as a shell's background jobs have it: `kill -INT` is how scripts end us.
 */
int signals__read(struct signals *signals)
{
	struct signalfd_siginfo info;
	int number;

	while (read(signals->fd, &info, sizeof(info)) == sizeof(info)) {
		number = (int)info.ssi_signo;
		if (number == SIGUSR2) {
			signals->switch_wanted = true;
			continue;
		}
		if (number == SIGCHLD || (number == SIGHUP && signals->hangup_ignored))
			continue;
		return number;
	}
	return 0;
}

bool signals__take_switch(struct signals *signals)
{
	bool wanted = signals->switch_wanted;

	signals->switch_wanted = false;
	return wanted;
}

static void end_at_once(int number)
{
	static const char text[] = ": ended by another signal; what was written so far can be "
				   "read\n";

	if (number == SIGINT && patience_left > 0) {
		patience_left--;
		return;
	}
	if (second_signal_workload > 0)
		kill(second_signal_workload, SIGTERM);
	err_out__in_handler(log__program(), strlen(log__program()));
	err_out__in_handler(text, sizeof(text) - 1);
	_exit(1);
}

void signals__finish(struct signals *signals, pid_t workload, unsigned int patience)
{
	sigset_t set;

	(void)signals;
	second_signal_workload = workload;
	patience_left = (sig_atomic_t)patience;
	set_handler(SIGHUP, SIG_IGN);
	set_handler(SIGUSR2, SIG_IGN);
	set_handler(SIGINT, end_at_once);
	set_handler(SIGTERM, end_at_once);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void signals__restore(const struct signals *signals)
{
	for (size_t i = 0; i < NR_CHANGED; i++)
		sigaction(changed[i].number, &signals->old[i], NULL);
	sigprocmask(SIG_SETMASK, &signals->old_mask, NULL);
}

void signals__delete(struct signals *signals)
{
	struct signalfd_siginfo info;

	if (!signals)
		return;
	second_signal_workload = 0;
	/*
	 * A signal that is still pending has had its effect; the exit status shows the cause of the
	 * end.
	 */
	while (read(signals->fd, &info, sizeof(info)) == sizeof(info))
		continue;
	signals__restore(signals);
	close(signals->fd);
	free(signals);
}
