/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PPM_PER_PERCENT 10000ULL

int units__parse_number(const char *text, uint64_t max, uint64_t *number)
{
	uint64_t value = 0;

	if (!*text)
		return -EINVAL;
	for (const char *p = text; *p; p++) {
		if (!isdigit((unsigned char)*p))
			return -EINVAL;
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -ERANGE;
	}
	if (value > max)
		return -ERANGE;
	*number = value;
	return 0;
}

/* Splits "12.5ms" into whole = 12, billionths = 500,000,000 and the rest "ms". */
static int split_decimal(const char *text, uint64_t *whole, uint64_t *billionths, const char **rest)
{
	uint64_t scale = 1000000000;
	const char *p = text;
	bool digits = false;

	*whole = *billionths = 0;
	for (; isdigit((unsigned char)*p); p++, digits = true) {
		if (__builtin_mul_overflow(*whole, 10, whole) ||
		    __builtin_add_overflow(*whole, (uint64_t)(*p - '0'), whole))
			return -ERANGE;
	}
	if (*p == '.') {
		for (p++; isdigit((unsigned char)*p); p++, digits = true) {
			scale /= 10;
			*billionths += scale * (uint64_t)(*p - '0');
		}
	}
	*rest = p;
	return digits ? 0 : -EINVAL;
}

static int scale_decimal(uint64_t whole, uint64_t billionths, uint64_t unit, uint64_t *out)
{
	unsigned __int128 value = (unsigned __int128)whole * unit +
				  (unsigned __int128)billionths * unit / 1000000000;

	if (value > UINT64_MAX)
		return -ERANGE;
	*out = (uint64_t)value;
	return 0;
}

int units__parse_time(const char *text, uint64_t bare_ns, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", NSEC_PER_USEC },
		{ "ms", NSEC_PER_MSEC },
		{ "s", NSEC_PER_SEC },
	};
	uint64_t whole, billionths;
	const char *rest;
	int err;

	err = split_decimal(text, &whole, &billionths, &rest);
	if (err)
		return err;
	if (!*rest)
		return scale_decimal(whole, billionths, bare_ns, ns);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(rest, units[i].name))
			return scale_decimal(whole, billionths, units[i].ns, ns);
	}
	return -EINVAL;
}

int units__parse_size(const char *text, uint64_t *bytes)
{
	static const char letters[] = "BKMG";
	uint64_t whole, billionths, unit = 1;
	const char *rest, *letter;
	int err;

	err = split_decimal(text, &whole, &billionths, &rest);
	if (err)
		return err;
	if (*rest) {
		letter = strchr(letters, toupper((unsigned char)*rest));
		if (!letter || rest[1])
			return -EINVAL;
		unit = 1ULL << (10 * (letter - letters));
	}
	return scale_decimal(whole, billionths, unit, bytes);
}

int units__parse_percent(const char *text, uint32_t *ppm)
{
	size_t digits = strspn(text, "0123456789.");
	char number[16];
	uint64_t value;

	if (digits >= sizeof(number) || (strcmp(text + digits, "%") && text[digits]))
		return -EINVAL;
	memcpy(number, text, digits);
	number[digits] = '\0';
	if (units__parse_time(number, PPM_PER_PERCENT, &value) || value > 100 * PPM_PER_PERCENT)
		return -EINVAL;
	*ppm = (uint32_t)value;
	return 0;
}

char *units__format_time(uint64_t ns, char *buf, size_t size)
{
	if (ns >= NSEC_PER_SEC)
		snprintf(buf, size, "%.3f s", (double)ns / (double)NSEC_PER_SEC);
	else if (ns >= NSEC_PER_MSEC)
		snprintf(buf, size, "%.3f ms", (double)ns / (double)NSEC_PER_MSEC);
	else if (ns >= NSEC_PER_USEC)
		snprintf(buf, size, "%.3f us", (double)ns / (double)NSEC_PER_USEC);
	else
		snprintf(buf, size, "%" PRIu64 " ns", ns);
	return buf;
}

char *units__format_size(uint64_t bytes, char *buf, size_t size)
{
	snprintf(buf, size, "%.3f MB", (double)bytes / (1024.0 * 1024.0));
	return buf;
}

char *units__format_count(uint64_t count, char *buf, size_t size)
{
	char digits[24];
	size_t len, n = 0;

	if (!size)
		return buf;
	len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count);
	for (size_t i = 0; i < len && n + 2 < size; i++) {
		if (i && (len - i) % 3 == 0)
			buf[n++] = ',';
		buf[n++] = digits[i];
	}
	buf[n] = '\0';
	return buf;
}
