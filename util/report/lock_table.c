/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/lock_table.h"

#include <inttypes.h>

#include "base/log.h"
#include "base/units.h"
#include "report/shown_time.h"

#define MOST_LOCKS 20
#define MAX_TEXT 200

static void print_lock(const struct lock *lock, bool exact, FILE *out)
{
	int width = exact ? SHOWN_TIME_EXACT_WIDTH : SHOWN_TIME_WIDTH;
	char time[SHOWN_TIME_MAX], longest[SHOWN_TIME_MAX], count[32], text[MAX_TEXT];
	const char *names[] = { lock__most_of(&lock->owners), lock__most_of(&lock->releasers) };

	fprintf(out, "  %*s %*s %9s %8zu", width, shown_time__format(exact, lock->ns, time), width,
		shown_time__format_longest(exact, lock->longest, lock->mean, longest),
		units__format_count(lock->blocks, count, sizeof(count)),
		lock->waiters.used);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		log__escape(text, sizeof(text), names[i] ? names[i] : "-");
		fprintf(out, "  %-15s", text);
	}
	log__escape(text, sizeof(text), lock->process);
	fprintf(out, "  %u %s", lock->pid, text);
	log__escape(text, sizeof(text), lock->object);
	fprintf(out, " 0x%" PRIx64 "%s%s\n", lock->address, *text ? " " : "", text);
}

void lock_table__print(const struct locks *locks, bool colours, bool exact, FILE *out)
{
	int width = exact ? SHOWN_TIME_EXACT_WIDTH : SHOWN_TIME_WIDTH;
	size_t nr = locks__nr(locks);

	fprintf(out, "\n%s  %*s %*s %9s %8s  %-15s  %-15s  %s%s\n", colours ? "\033[1m" : "",
		width, "TIME", width, "LONGEST", "BLOCKS", "WAITERS", "HELD BY", "RELEASED BY",
		"PROCESS AND LOCK", colours ? "\033[0m" : "");
	for (size_t i = 0; i < nr && i < MOST_LOCKS; i++)
		print_lock(locks__at(locks, i), exact, out);
	if (nr > MOST_LOCKS)
		fprintf(out, "  and %zu more\n", nr - MOST_LOCKS);
}
