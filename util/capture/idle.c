/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/idle.h"

#include <ctype.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/minmax.h"
#include "base/syscalls.h"
#include "base/units.h"

/* A larger file is no table of idle waits. */
#define FILE_MAX (1024 * 1024)

/* Shorter waits for a signal are handovers within a process. */
#define SIGNAL_NS (100 * NSEC_PER_MSEC)

/*
 * Waits that are waits for work in any program: for a new connection, a signal, a terminal's user.
 * Waits that may be for a lock or for an answer are left out, whatever their usual use: PostgreSQL
 * waits for locks in epoll_wait, Java for monitors in futex, a proxy for its backend in either; and
 * a sleep may be the pause of a polling loop. So are waits in epoll that end by their timeout:
 * pg_sleep() and a proxy whose backend is slow wait in the same way. A wait for a signal may be
 * that of a thread which a garbage collector has stopped: those are short, and another thread of
 * the process ends them, as it may end any other wait to hand something over. That is known where
 * wake-ups are seen.
 */
static const struct idle_rule built_in[] = {
	{ "accept", "", 0, false },
	{ "accept4", "", 0, false },
	{ "pause", "", SIGNAL_NS, false },
	{ "rt_sigsuspend", "", SIGNAL_NS, false },
	{ "rt_sigtimedwait", "", SIGNAL_NS, false },
	{ "read", "n_tty_read", 0, false },
	{ "read", "inotify_read", 0, false },
	{ "read", "fanotify_read", 0, false },
	{ "read", "signalfd_read", 0, false },
	{ "read", "signalfd_read_iter", 0, false },
	{ "read", "evdev_read", 0, false },
	{ "read", "devkmsg_read", 0, false },
	{ "syslog", "", 0, false },
	{ IDLE_KTHREAD, "", 0, false },
	{ IDLE_KTHREAD, "kthreadd", 0, false },
	{ IDLE_KTHREAD, "smpboot_thread_fn", 0, false },
	{ IDLE_KTHREAD, "worker_thread", 0, false },
	{ IDLE_KTHREAD, "rescuer_thread", 0, false },
	{ IDLE_KTHREAD, "kthread_worker_fn", 0, false },
	{ IDLE_KTHREAD, "kswapd", 0, false },
	{ IDLE_KTHREAD, "kcompactd", 0, false },
	{ IDLE_KTHREAD, "kauditd_thread", 0, false },
	{ IDLE_KTHREAD, "oom_reaper", 0, false },
	{ IDLE_KTHREAD, "kjournald2", 0, false },
	{ IDLE_KTHREAD, "irq_thread", 0, false },
};

/* Functions that wait for a lock, whatever the call. */
static const char *const locks[] = {
	"mutex_", "__mutex_", "rwsem_", "down_", "__down_", "rt_mutex_", "__rt_mutex_",
};

bool idle__is_lock(const char *function)
{
	for (size_t i = 0; function && i < sizeof(locks) / sizeof(locks[0]); i++) {
		if (*function == *locks[i] && !strncmp(function, locks[i], strlen(locks[i])))
			return true;
	}
	return false;
}

const struct idle_rule *idle_table__built_in(size_t *nr)
{
	*nr = sizeof(built_in) / sizeof(built_in[0]);
	return built_in;
}

static int add_rule(struct idle_table *table, const char *call, size_t call_len, const char *leaf,
		    size_t leaf_len)
{
	struct idle_rule rule = { .given = true };

	memcpy(rule.call, call, call_len);
	memcpy(rule.leaf, leaf, leaf_len);
	return buffer__append(&table->rules, &rule, sizeof(rule));
}

int idle_table__init(struct idle_table *table)
{
	int err = 0;

	*table = (struct idle_table){ 0 };
	for (size_t i = 0; !err && i < sizeof(built_in) / sizeof(built_in[0]); i++)
		err = buffer__append(&table->rules, &built_in[i], sizeof(built_in[i]));
	return err;
}

void idle_table__free(struct idle_table *table)
{
	buffer__free(&table->rules);
}

static struct idle_rule *rules_of(const struct idle_table *table, size_t *nr)
{
	*nr = table->rules.len / sizeof(struct idle_rule);
	return (struct idle_rule *)(void *)table->rules.data;
}

static void remove_rules(struct idle_table *table, const char *call)
{
	size_t nr, kept = 0;
	struct idle_rule *rules = rules_of(table, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (strcmp(rules[i].call, call))
			rules[kept++] = rules[i];
	}
	table->rules.len = kept * sizeof(*rules);
}

/* Finds the next word of a line and moves *at behind it. Its length; 0: none. */
static size_t next_word(const char *line, size_t len, size_t *at, const char **word)
{
	size_t start;

	while (*at < len && isspace((unsigned char)line[*at]))
		++*at;
	start = *at;
	while (*at < len && !isspace((unsigned char)line[*at]))
		++*at;
	*word = line + start;
	return *at - start;
}

static bool is_name(const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)word[i]) && word[i] != '_' && word[i] != '.')
			return false;
	}
	return len && len < IDLE_NAME_LEN;
}

/* Parses one line without its comment. */
static int parse_line(struct idle_table *table, const char *line, size_t len,
		      bool (*is_call)(const char *name), const char **why)
{
	const char *word, *leaf, *more;
	size_t at = 0, word_len = next_word(line, len, &at, &word);
	size_t leaf_len = next_word(line, len, &at, &leaf);
	char call[IDLE_NAME_LEN] = "";
	bool removes = word_len && *word == '-';

	if (!word_len)
		return 0;
	word += removes;
	word_len -= removes;
	*why = "a system call is named by letters, digits and _";
	if (!is_name(word, word_len))
		return -EINVAL;
	memcpy(call, word, word_len);
	*why = "there is no such system call";
	if (strcmp(call, IDLE_CONDVAR) && !is_call(call))
		return -EINVAL;
	*why = removes ? "nothing may stand behind a call that is taken out"
		       : "not the name of a kernel function";
	if (leaf_len && (removes || !is_name(leaf, leaf_len)))
		return -EINVAL;
	*why = "more than a system call and a kernel function";
	if (next_word(line, len, &at, &more))
		return -EINVAL;
	if (removes) {
		remove_rules(table, call);
		return 0;
	}
	return add_rule(table, word, word_len, leaf, leaf_len);
}

int idle_table__parse(struct idle_table *table, const char *text, size_t len,
		      bool (*is_call)(const char *name), size_t *line, const char **why)
{
	int err = 0;

	*line = 0;
	for (size_t at = 0, next; !err && at < len; at = next + 1) {
		const char *newline = memchr(text + at, '\n', len - at), *comment;

		next = newline ? (size_t)(newline - text) : len;
		comment = memchr(text + at, '#', next - at);
		++*line;
		err = parse_line(table, text + at,
				 comment ? (size_t)(comment - text) - at : next - at, is_call, why);
	}
	return err;
}

static bool is_syscall(const char *name)
{
	for (int nr = 0; nr < syscalls__count(); nr++) {
		if (!strcmp(name, syscalls__name(nr)))
			return true;
	}
	return false;
}

int idle_table__read(struct idle_table *table, const char *path)
{
	FILE *file = fopen(path, "re");
	struct buffer text = { 0 };
	const char *why = "";
	size_t line = 0, got;
	char room[4096];
	int err = 0;

	if (!file) {
		err = -errno;
		pr_err("cannot read the table of idle waits %s: %s", path, strerror(-err));
		return err;
	}
	while (!err && (got = fread(room, 1, sizeof(room), file)) > 0)
		err = text.len > FILE_MAX ? -EFBIG : buffer__append(&text, room, got);
	if (!err && ferror(file))
		err = -EIO;
	fclose(file);
	if (err) {
		pr_err("cannot read the table of idle waits %s: %s", path, strerror(-err));
	} else {
		err = idle_table__parse(table, text.data, text.len, is_syscall, &line, &why);
		if (err == -EINVAL)
			pr_err("%s:%zu: %s; a line is `SYSCALL [KERNEL-FUNCTION]` or `-SYSCALL`",
			       path, line, why);
	}
	buffer__free(&text);
	return err;
}

/* Fast: each start compares each function of the kernel with each name of the table. */
static bool is_same(const char *a, const char *b)
{
	return *a == *b && !strcmp(a, b);
}

static bool is_condvar(const struct reason *reason)
{
	return !strcmp(reason->call, "futex") && (uint32_t)reason->args[1] ==
		(FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
}

/* Compilers cut parts off functions, as in do_poll.constprop.0. */
static bool is_function(const char *leaf, const char *wanted)
{
	size_t len = strlen(wanted);

	return leaf && !strncmp(leaf, wanted, len) && (!leaf[len] || leaf[len] == '.');
}

bool idle_table__names_call(const struct idle_table *table, const char *call)
{
	size_t nr;
	const struct idle_rule *rules = rules_of(table, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (is_same(rules[i].call, call))
			return true;
	}
	return false;
}

bool idle_table__has_whole_call(const struct idle_table *table, const char *call, bool given)
{
	size_t nr;
	const struct idle_rule *rules = rules_of(table, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (!*rules[i].leaf && (rules[i].given || !given) && is_same(rules[i].call, call))
			return true;
	}
	return false;
}

bool idle_table__names_leaf(const struct idle_table *table, const char *leaf)
{
	size_t nr;
	const struct idle_rule *rules = rules_of(table, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (*rules[i].leaf && is_same(rules[i].leaf, leaf))
			return true;
	}
	return false;
}

static bool is_of_rule(const struct idle_rule *rule, const struct sample *sample,
		       const struct reason *reason)
{
	if (sample->kthread)
		return !strcmp(rule->call, IDLE_KTHREAD) && (*rule->leaf || sample->state == 'I');
	if (sample->state != 'S' || (sample->handed_over && !rule->given))
		return false;
	return is_same(rule->call, reason->call) ||
	       (is_same(rule->call, IDLE_CONDVAR) && is_condvar(reason));
}

const char *idle_table__match(const struct idle_table *table, const struct sample *sample,
			      const struct reason *reason, const char *leaf)
{
	size_t nr;
	const struct idle_rule *rules = rules_of(table, &nr);

	if ((sample->state != 'S' && sample->state != 'I') || reason->fault)
		return NULL;
	for (size_t i = 0; i < nr; i++) {
		if (!is_of_rule(&rules[i], sample, reason) ||
		    sample->measured / max_u64(sample->count, 1) < rules[i].min_ns)
			continue;
		if (*rules[i].leaf ? is_function(leaf, rules[i].leaf) : !idle__is_lock(leaf))
			return rules[i].call;
	}
	return NULL;
}
