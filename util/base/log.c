/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err_out.h"
#include "base/utf8.h"

/* Escaped, and without the name in front. */
#define LINE_MAX_BYTES 16384

/* The log's only state: the program's name and the level. */
static struct {
	const char *program;
	enum log_level level;
	void (*before)(void);
	void (*after)(void);
	log_fn sink;
	void *sink_ctx;
	unsigned long nr_errors;
} log_state = { .program = "denet", .level = LOG_INFO };

void log__init(const char *program, enum log_level level)
{
	log_state.program = program;
	log_state.level = level;
}

const char *log__program(void)
{
	return log_state.program;
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

void log__set_sink(log_fn fn, void *ctx)
{
	log_state.sink = fn;
	log_state.sink_ctx = ctx;
}

unsigned long log__nr_errors(void)
{
	return log_state.nr_errors;
}

/*
 * The length of the printable character at p, 0 if its first byte is none. UTF-8 has
 * control characters, too (U+0080 to U+009F): some terminals obey them. A NUL ends p.
 */
static size_t printable_length(const unsigned char *p)
{
	if (*p < 0x80)
		return *p >= 0x20 && *p != 0x7f;
	return *p == 0xc2 && p[1] < 0xa0 ? 0 : utf8__bytes((const char *)p);
}

void log__escape(char *out, size_t size, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n = 0, length;

	while (*p) {
		length = printable_length(p);
		if (n + (length ? length : strlen("\\x00")) >= size)
			break;
		if (length) {
			memcpy(out + n, p, length);
			n += length;
			p += length;
		} else {
			n += (size_t)snprintf(out + n, size - n, "\\x%02x", *p++);
		}
	}
	out[n] = '\0';
}

/* In one piece, so that lines of several processes don't mix. */
static void write_line(enum log_level level, const char *text)
{
	const char *word = level == LOG_ERROR ? "error: " : level <= LOG_WARNING ? "warning: " : "";
	char line[LINE_MAX_BYTES + 128];
	int len = snprintf(line, sizeof(line), "%.64s: %s%s\n", log_state.program, word, text);

	err_out__write(line, (size_t)len);
}

void log__write(enum log_level level, const char *text)
{
	if (log_state.before)
		log_state.before();
	write_line(level, text);
	if (log_state.after)
		log_state.after();
}

void log__vprint(enum log_level level, const char *format, va_list args)
{
	char text[LINE_MAX_BYTES / 2], safe[LINE_MAX_BYTES];
	int saved = errno;
	size_t len;

	if (level == LOG_ERROR)
		log_state.nr_errors++;
	if (level > log_state.level)
		return;
	vsnprintf(text, sizeof(text), format, args);
	len = strlen(text);
	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	log__escape(safe, sizeof(safe), text);
	if (log_state.sink)
		log_state.sink(log_state.sink_ctx, level, safe);
	else
		log__write(level, safe);
	errno = saved;
}

void log__print(enum log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log__vprint(level, format, args);
	va_end(args);
}
