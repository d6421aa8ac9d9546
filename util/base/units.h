/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNITS_H
#define DENET_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define NSEC_PER_USEC 1000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_SEC 1000000000ULL

/*
 * Reads a time: a decimal number, a fraction allowed, and a unit of ns, us, ms, s or
 * none, which means bare_ns (NSEC_PER_MSEC for perf's options). Writes nanoseconds to
 * *ns. 0, -EINVAL if it is no time, -ERANGE if it does not fit.
 */
int units__parse_time(const char *text, uint64_t bare_ns, uint64_t *ns);

/*
 * Reads a size in perf's manner: a decimal number and B, K, M or G (powers of 1024,
 * either case; none: bytes). 0, -EINVAL or -ERANGE.
 */
int units__parse_size(const char *text, uint64_t *bytes);

/* Reads an unsigned decimal number of at most max. 0, -EINVAL or -ERANGE. */
int units__parse_number(const char *text, uint64_t max, uint64_t *number);

/* The value of a hexadecimal digit in lower case; -1: it is none. */
static inline int units__hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads a share of 0 to 100 %, as in "3", "0.5" or "3%", in millionths. 0 or -EINVAL. */
int units__parse_percent(const char *text, uint32_t *ppm);

/* How much of all the part is, in percent; 0 if all is 0. */
static inline double units__percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* "12.345 s", "1.2 ms", "830 ns": three significant places or more. Returns buf. */
char *units__format_time(uint64_t ns, char *buf, size_t size);

/* "1.234 MB" in perf's manner (1024 * 1024). Returns buf. */
char *units__format_size(uint64_t bytes, char *buf, size_t size);

/* "1,234,567". Returns buf. */
char *units__format_count(uint64_t count, char *buf, size_t size);

#endif /* DENET_UNITS_H */
