/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CFI_CFI_FILES_H
#define DENET_CFI_CFI_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cfi/cfi_table.h"

/* A file whose table is to be made, by a mapping of it: its name need not lead to it. */
struct cfi_file {
	pid_t pid; /* 0: the vDSO, of any process */
	uint64_t start;
	uint64_t end;
	/*
	 * The inode that is mapped there, and its device, major << 20 | minor; 0: not known.
	 * Where stat(2) tells another device, as on overlays, the file is taken as it is.
	 */
	uint64_t ino;
	uint32_t dev;
	/*
	 * 0 and the table; else without one: -ENOENT if the file has no call frame information;
	 * -ESRCH if the mapping is gone, or now is one of another file; -ENOEXEC if it is no
	 * ELF file of this machine; -E2BIG if its table would be too large; -EPERM or -EACCES
	 * if we may not open it; -ETIMEDOUT if the file did not answer, -ECHILD if reading it
	 * killed the process that did, -ECANCELED if the time was over before; or another
	 * negative errno.
	 */
	int err;
	struct cfi_table table;
};

/*
 * Makes the tables in a confined process, which files that hang or are broken on purpose cannot
 * leave. err and table of each file are set; the tables are to be freed in each case. 0 or a
 * negative errno: our own error, files without an answer say -ECANCELED.
 */
int cfi_files__make(struct cfi_file *files, size_t nr, int deadline_ms);

/*
 * The same beside other work: see jobs__begin(), of which each of the others has its counterpart.
 * files are borrowed until cfi_files__end(). NULL: out of memory.
 */
struct cfi_making;
struct cfi_making *cfi_files__begin(struct cfi_file *files, size_t nr, int patience_ms);
int cfi_files__advance(struct cfi_making *making, uint64_t until_ns);
int cfi_files__fd(const struct cfi_making *making);
void cfi_files__end(struct cfi_making *making);

#endif /* DENET_CFI_CFI_FILES_H */
