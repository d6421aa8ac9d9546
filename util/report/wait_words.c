/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/wait_words.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The objects that system calls wait for; calls on descriptors depend on the file, see below. */
static const struct {
	const char *call, *words;
} calls[] = {
	{ "accept", "a connection" },
	{ "accept4", "a connection" },
	{ "clock_nanosleep", "a timer" },
	{ "connect", "a connection" },
	{ "epoll_pwait", "events" },
	{ "epoll_pwait2", "events" },
	{ "epoll_wait", "events" },
	{ "fdatasync", "the disk" },
	{ "flock", "a file lock" },
	{ "fsync", "the disk" },
	{ "futex", "a lock or condition" },
	{ "futex_wait", "a lock or condition" },
	{ "futex_waitv", "a lock or condition" },
	{ "io_getevents", "I/O" },
	{ "io_uring_enter", "I/O" },
	{ "msync", "the disk" },
	{ "nanosleep", "a timer" },
	{ "pause", "a signal" },
	{ "poll", "events" },
	{ "ppoll", "events" },
	{ "pselect6", "events" },
	{ "recvfrom", "a socket" },
	{ "recvmsg", "a socket" },
	{ "rt_sigsuspend", "a signal" },
	{ "rt_sigtimedwait", "a signal" },
	{ "select", "events" },
	{ "sendmsg", "a socket" },
	{ "sendto", "a socket" },
	{ "sync", "the disk" },
	{ "vfork", "a child process" },
	{ "wait4", "a child process" },
	{ "waitid", "a child process" },
};

/* Beginnings of kernel functions that tell what is waited for, near the leaf. */
static const struct words_of_function {
	const char *function, *words;
} leaves[] = {
	{ "pipe_", "a pipe" },
	{ "anon_pipe_", "a pipe" },
	{ "n_tty_", "a terminal" },
	{ "unix_", "a socket" },
	{ "tcp_", "a socket" },
	{ "inet_", "a socket" },
	{ "sk_wait", "a socket" },
	{ "__skb_wait", "a socket" },
	{ "eventfd_", "an eventfd" },
	{ "inotify_", "events of files" },
	{ "io_schedule", "the disk" },
	{ "folio_wait", "the disk" },
	{ "blk_", "the disk" },
	{ "submit_bio_wait", "the disk" },
	{ "jbd2_", "the disk" },
	{ "do_wait", "a child process" },
	{ "do_signal_stop", "a signal to continue" },
	{ "ptrace_stop", "its tracer" },
	{ "do_nanosleep", "a timer" },
	{ "do_epoll_wait", "events" },
	{ "do_sys_poll", "events" },
	{ "do_select", "events" },
	{ "do_futex", "a lock or condition" },
	{ "rwsem_", "a lock of the kernel" },
	{ "down_", "a lock of the kernel" },
	{ "__mutex_lock", "a lock of the kernel" },
	{ "mutex_lock", "a lock of the kernel" },
	{ "asm_exc_page_fault", "a page of memory" },
	{ "do_user_addr_fault", "a page of memory" },
	{ "do_page_fault", "a page of memory" },
};

/* Of functions that call the above; they tell more, wherever they stand. */
static const struct words_of_function callers[] = {
	{ "do_swap_page", "swap" },
	{ "shmem_swapin", "swap" },
	{ "swap_", "swap" },
	{ "swapin_", "swap" },
};

static const char *words_of_call(const char *call)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!strcmp(calls[i].call, call))
			return calls[i].words;
	}
	return NULL;
}

static void put_with_call(char *out, const char *words, const char *call)
{
	if (*call)
		snprintf(out, WAIT_WORDS_MAX, "%.110s (%.40s)", words, call);
	else
		snprintf(out, WAIT_WORDS_MAX, "%.150s", words);
}

static const char *put_lock(const struct reason *reason, char *out)
{
	int len;

	if (!*reason->futex_at && !*reason->owner_comm)
		return NULL;
	/* Only a lock has a holder that can be known. */
	len = snprintf(out, WAIT_WORDS_MAX, "%s%s%s", *reason->futex_at ? "" : "a ",
		       *reason->owner_comm ? "lock" : "lock or condition",
		       *reason->futex_at ? " at " : "");
	if (len > 0)
		len += snprintf(out + len, WAIT_WORDS_MAX - (size_t)len, "%s", reason->futex_at);
	if (*reason->owner_comm)
		snprintf(out + len, WAIT_WORDS_MAX - (size_t)len, ", held by %s",
			 reason->owner_comm);
	return out;
}

/* Inode numbers of pipes and sockets tell nothing to people. */
static const char *put_file(const struct reason *reason, char *out)
{
	char words[128];

	if (*reason->remote)
		snprintf(words, sizeof(words), "socket to %s", reason->remote);
	else if (*reason->local)
		snprintf(words, sizeof(words), "socket at %s", reason->local);
	else if (!strncmp(reason->path, "pipe:", 5))
		snprintf(words, sizeof(words), "a pipe");
	else if (!strncmp(reason->path, "socket:", 7))
		snprintf(words, sizeof(words), "a socket");
	else if (*reason->path == '/')
		snprintf(words, sizeof(words), "%s %.110s", reason->fault ? "page of" : "file",
			 reason->path);
	else
		return NULL;
	put_with_call(out, words, reason->call);
	return out;
}

const char *wait_words__of_reason(const struct reason *reason, char out[WAIT_WORDS_MAX])
{
	if (reason->futex)
		return put_lock(reason, out);
	return put_file(reason, out);
}

/* The system call that a function is the entry of; NULL: none. */
static const char *call_of(const char *function)
{
	static const char *const prefixes[] = { "__x64_sys_", "__arm64_sys_", "__ia32_sys_",
						"__se_sys_", "__do_sys_" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t len = strlen(prefixes[i]);

		if (!strncmp(function, prefixes[i], len))
			return function + len;
	}
	return NULL;
}

static const char *words_in(const struct words_of_function *table, size_t nr, const char *function)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strncmp(function, table[i].function, strlen(table[i].function)))
			return table[i].words;
	}
	return NULL;
}

#define WORDS_IN(table, function) words_in(table, sizeof(table) / sizeof(table[0]), function)

const char *wait_words__of_functions(const char *const *functions, size_t nr,
				     char out[WAIT_WORDS_MAX])
{
	const char *words = NULL, *more = NULL, *call = NULL;

	for (size_t i = 0; i < nr && !call; i++) {
		call = call_of(functions[i]);
		words = words ? words : WORDS_IN(leaves, functions[i]);
		more = more ? more : WORDS_IN(callers, functions[i]);
	}
	words = more ? more : words;
	if (!words && call)
		words = words_of_call(call);
	if (words)
		put_with_call(out, words, call ? call : "");
	else if (call)
		snprintf(out, WAIT_WORDS_MAX, "%.100s", call);
	else if (nr)
		snprintf(out, WAIT_WORDS_MAX, "the kernel (%.100s)", functions[0]);
	else
		snprintf(out, WAIT_WORDS_MAX, "unknown");
	return out;
}

static const char *words_of_kernel(const struct profile *profile, const uint32_t *labels, size_t nr,
				   char out[WAIT_WORDS_MAX])
{
	const char *functions[128];
	size_t nr_functions = 0;

	for (size_t i = 0; i < nr && nr_functions < 128; i++) {
		const struct symbol_label *label = profile__label(profile, labels[i]);

		if (label->kernel && label->known)
			functions[nr_functions++] = label->name;
	}
	return wait_words__of_functions(functions, nr_functions, out);
}

const char *wait_words__of_entry(const struct profile *profile, const struct profile_entry *entry,
				 const uint32_t *labels, size_t nr, char out[WAIT_WORDS_MAX])
{
	if (entry->event == PROFILE_ONCPU)
		return "(running)";
	if (entry->event == PROFILE_QUEUED || entry->state == 'R')
		return "a CPU";
	if (entry->wait)
		return entry->wait;
	return words_of_kernel(profile, labels, nr, out);
}
