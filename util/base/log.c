/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/log.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The only state here: who speaks, and how much. */
static struct {
	const char *program;
	enum log_level level;
	void (*before)(void);
	void (*after)(void);
} log_state = { .program = "denet", .level = LOG_INFO };

void log__init(const char *program, enum log_level level)
{
	log_state.program = program;
	log_state.level = level;
}

enum log_level log__level(void)
{
	return log_state.level;
}

void log__set_hooks(void (*before)(void), void (*after)(void))
{
	log_state.before = before;
	log_state.after = after;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c != 0x7f;
}

/* Copies text to out with control bytes escaped; returns the length, without NUL. */
static size_t escape(char *out, size_t size, const char *text)
{
	size_t n = 0;

	for (const unsigned char *p = (const unsigned char *)text; *p && n + 5 < size; p++) {
		if (is_plain(*p))
			out[n++] = (char)*p;
		else
			n += (size_t)snprintf(out + n, size - n, "\\x%02x", *p);
	}
	out[n] = '\0';
	return n;
}

void log__vprint(enum log_level level, const char *format, va_list args)
{
	char text[8192], safe[sizeof(text) * 2];
	int saved = errno;
	size_t len;

	if (level > log_state.level)
		return;
	vsnprintf(text, sizeof(text), format, args);
	len = strlen(text);
	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	escape(safe, sizeof(safe), text);
	if (log_state.before)
		log_state.before();
	/* One call, so that lines of several processes don't mix. */
	dprintf(STDERR_FILENO, "%s: %s%s\n", log_state.program,
		level == LOG_ERROR ? "error: " : level == LOG_WARNING ? "warning: " : "", safe);
	if (log_state.after)
		log_state.after();
	errno = saved;
}

void log__print(enum log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log__vprint(level, format, args);
	va_end(args);
}
