/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_KALLSYMS_H
#define DENET_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The kernel's functions, from /proc/kallsyms as it was when it was read: BPF programs
 * and modules that came later are not in it.
 */
struct kallsyms;

/* One line of the file; name points into the line and has no NUL behind it. */
struct kallsyms_line {
	uint64_t address;
	char type; /* as nm(1): 't' and 'T' are functions */
	const char *name;
	size_t name_len;
	bool in_module; /* of a module or a BPF program */
};

/*
 * Parses a line (no newline, len bytes, NUL not needed). 0, or -EINVAL if it is not
 * "address type name" with at most "[module]" behind it.
 */
int kallsyms__parse_line(const char *line, size_t len, struct kallsyms_line *out);

/*
 * Reads the functions (types t, T, w, W) of a file, without the padding in front of them (__pfx_,
 * __cfi_); path NULL: /proc/kallsyms. NULL and a negative errno in *err if it cannot be read or
 * holds no line of that kind (-ENODATA).
 */
struct kallsyms *kallsyms__new(const char *path, int *err);

/* Accepts NULL. */
void kallsyms__delete(struct kallsyms *kallsyms);

/* True if all addresses are zero, as kernel.kptr_restrict makes them: no look-up finds. */
bool kallsyms__hidden(const struct kallsyms *kallsyms);

/* The number of functions with an address, and the bytes that they take. */
size_t kallsyms__nr(const struct kallsyms *kallsyms);
size_t kallsyms__memory(const struct kallsyms *kallsyms);

/*
 * The function that address lies in (of several with one address a global one), and in
 * *offset (may be NULL) the bytes from its start. The file tells no sizes, so what lies
 * behind the last function of a region seems to be in it: up to KALLSYMS_OFFSET_MAX.
 * NULL: none. The name lives as long as kallsyms does.
 */
#define KALLSYMS_OFFSET_MAX (1u << 20)
const char *kallsyms__lookup(const struct kallsyms *kallsyms, uint64_t address, uint64_t *offset);

/* The same, but of several with one address the last one of the file, as perf shows it. */
const char *kallsyms__lookup_as_perf(const struct kallsyms *kallsyms, uint64_t address,
				     uint64_t *offset);

/* kallsyms__lookup() for those who need the name only. Accepts a NULL kallsyms. */
const char *kallsyms__name(const struct kallsyms *kallsyms, uint64_t address);

/* Symbols that bound the kernel's own mapping and tables; 0: not found. */
struct kallsyms_bounds {
	uint64_t text, stext, etext, edata;
	uint64_t orc_ips, orc_ips_end; /* __start_orc_unwind_ip, __stop_orc_unwind_ip */
	uint64_t orc_entries;	       /* __start_orc_unwind */
};

/* Lives as long as kallsyms does. */
const struct kallsyms_bounds *kallsyms__bounds(const struct kallsyms *kallsyms);

/*
 * Where the function of this name begins, and where the next one does (the end of the
 * address space behind the last). Of several with one name the lowest. 0 or -ENOENT.
 */
int kallsyms__range(const struct kallsyms *kallsyms, const char *name, uint64_t *start,
		    uint64_t *end);

/*
 * Calls fn for each function in the order of their addresses, with where it begins and where the
 * next one does; of several with one address for each. Ends early with what fn returns if not 0.
 */
typedef int (*kallsyms_fn)(void *ctx, const char *name, uint64_t start, uint64_t end);
int kallsyms__each(const struct kallsyms *kallsyms, kallsyms_fn fn, void *ctx);

#endif /* DENET_KALLSYMS_H */
