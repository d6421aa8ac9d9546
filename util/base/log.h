/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_LOG_H
#define DENET_LOG_H

#include <stdarg.h>
#include <stddef.h>

/*
 * Messages for the user, on stderr, one line each, with the program's name in front. Control bytes
 * are shown as \xNN, so that a hostile comm or path cannot reach the terminal. Writing never blocks
 * (base/err_out.h). An error is logged once, where its cause is known, with what the user can do.
 */
enum log_level {
	LOG_ERROR = 0,
	LOG_LOSS, /* a warning that captured data is missing */
	LOG_WARNING,
	LOG_INFO,    /* left out with -q */
	LOG_VERBOSE, /* -v */
	LOG_DEBUG,   /* -vv */
};

/* Sets the name in front of the lines (borrowed) and the highest level shown. */
void log__init(const char *program, enum log_level level);

/* The program's name, for lines outside of the log. */
const char *log__program(void);
/* The highest level that is shown. */
enum log_level log__level(void);

/* Errors logged so far, to see whether a failure has been reported already. */
unsigned long log__nr_errors(void);

/* Hooks before and after a line is written, to make room for it beside a status line. */
void log__set_hooks(void (*before)(void), void (*after)(void));

/* Passes messages to fn instead of stderr, one escaped line each; NULL: to stderr. */
typedef void (*log_fn)(void *ctx, enum log_level level, const char *text);
void log__set_sink(log_fn fn, void *ctx);

/* For sinks: prints an escaped line of the log on stderr. */
void log__write(enum log_level level, const char *text);

/* Copies text to out, as much as fits, with control bytes escaped. */
void log__escape(char *out, size_t size, const char *text);

/* Logs a line, if the level is shown, and counts an error in any case. errno stays. */
void log__print(enum log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void log__vprint(enum log_level level, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

#define pr_err(...) log__print(LOG_ERROR, __VA_ARGS__)
#define pr_loss(...) log__print(LOG_LOSS, __VA_ARGS__)
#define pr_warn(...) log__print(LOG_WARNING, __VA_ARGS__)
#define pr_info(...) log__print(LOG_INFO, __VA_ARGS__)
#define pr_verbose(...) log__print(LOG_VERBOSE, __VA_ARGS__)
#define pr_debug(...) log__print(LOG_DEBUG, __VA_ARGS__)

#endif /* DENET_LOG_H */
