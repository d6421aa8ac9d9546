/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_BYTES_H
#define DENET_TESTS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Byte number i of a hex dump with blanks in it; -1 behind its end. */
static inline int bytes__of_hex(const char *hex, size_t i)
{
	unsigned int byte;

	for (;; hex += 2, i--) {
		hex += strspn(hex, " ");
		if (!*hex)
			return -1;
		if (i == 0)
			return sscanf(hex, "%2x", &byte) == 1 ? (int)byte : -1;
	}
}

/* True if data is exactly what the dump says; tells the first difference otherwise. */
static inline bool bytes__equal(const void *data, size_t size, const char *hex)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++) {
		int want = bytes__of_hex(hex, i);

		if (want != bytes[i]) {
			fprintf(stderr, "# byte %zu of %zu is %02x, not %02x\n", i, size, bytes[i],
				(unsigned int)want);
			return false;
		}
	}
	if (bytes__of_hex(hex, size) >= 0) {
		fprintf(stderr, "# ends after %zu bytes, too early\n", size);
		return false;
	}
	return true;
}

/* A number out of a record, wherever it lies. */
static inline uint64_t bytes__u64(const void *data, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const char *)data + offset, sizeof(value));
	return value;
}

#endif /* DENET_TESTS_BYTES_H */
