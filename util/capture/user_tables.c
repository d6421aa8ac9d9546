/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/user_tables.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "bpf/user_rules.h"
#include "cfi/cfi_files.h"

#define BATCH 32 /* files in one go */
/*
 * The time that they get, of which one gets a sixteenth (jobs__run()): at first, so that a file
 * that hangs costs little, and after some that did not answer, as on a slow machine.
 */
#define FIRST_MS 200
#define MAX_MS 6400
/* So long after a file was asked for, others are likely to be, and are looked for so often. */
#define BUSY_MS 1000
#define LOOK_MS 10
#define IDLE_LOOK_MS 100

struct batch {
	struct rules_key keys[BATCH];
	struct cfi_file files[BATCH];
	size_t nr;
};

static int collect(void *ctx, const struct rules_key *key, const struct rules_wanted *wanted)
{
	struct batch *batch = ctx;

	batch->keys[batch->nr] = *key;
	/* The vDSO is that of any process. */
	batch->files[batch->nr++] = (struct cfi_file){
		.pid = key->ino ? (pid_t)wanted->pid : 0,
		.start = wanted->start,
		.end = wanted->end,
	};
	return batch->nr == BATCH;
}

/* The file goes without from here on. */
static int add_none(struct user_tables *tables, const struct rules_key *key)
{
	tables->without++;
	return user_rules__add(tables->rules, key, NULL);
}

static int add_file(struct user_tables *tables, const struct rules_key *key,
		    const struct cfi_file *file)
{
	int err;

	/* Not begun, or the process is gone: another one may ask. */
	if (file->err == -ECANCELED || file->err == -EAGAIN || file->err == -ESRCH)
		return 0;
	if (file->err == -ETIMEDOUT && tables->deadline_ms < MAX_MS)
		return 0;
	if (file->err)
		return add_none(tables, key);
	err = user_rules__add(tables->rules, key, &file->table);
	tables->made += !err;
	if (err != -ENOSPC)
		return err;
	if (!tables->full)
		pr_warn("there is no room for more unwind tables: the rest of the files go by "
			"frame pointers");
	tables->full = true;
	return add_none(tables, key);
}

void user_tables__init(struct user_tables *tables, struct user_rules *rules)
{
	*tables = (struct user_tables){
		.rules = rules,
		.deadline_ms = FIRST_MS,
		.busy_until = clock__now_ns() + BUSY_MS * NSEC_PER_MSEC,
	};
}

int user_tables__update(struct user_tables *tables)
{
	struct batch batch = { .nr = 0 };
	bool late = false;
	int err = tables->rules ? user_rules__each_wanted(tables->rules, collect, &batch) : 0;

	if (err < 0 || !batch.nr)
		return err < 0 ? err : 0;
	tables->busy_until = clock__now_ns() + BUSY_MS * NSEC_PER_MSEC;
	err = cfi_files__make(batch.files, batch.nr, tables->deadline_ms);
	for (size_t i = 0; i < batch.nr; i++) {
		late |= batch.files[i].err == -ETIMEDOUT;
		if (!err)
			err = add_file(tables, &batch.keys[i], &batch.files[i]);
		cfi_table__free(&batch.files[i].table);
	}
	if (late && tables->deadline_ms < MAX_MS)
		tables->deadline_ms *= 2;
	if (err)
		pr_err("cannot give unwind tables to the BPF programs: %s", strerror(-err));
	return err;
}

int user_tables__timeout(const struct user_tables *tables, int timeout_ms)
{
	int look_ms = clock__now_ns() < tables->busy_until ? LOOK_MS : IDLE_LOOK_MS;

	if (!tables->rules || (timeout_ms >= 0 && timeout_ms <= look_ms))
		return timeout_ms;
	return look_ms;
}
