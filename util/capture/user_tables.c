/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/user_tables.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "bpf/user_rules.h"
#include "cfi/cfi_files.h"

/* Files in one go: while the rings are not read, and before a recording begins. */
#define BATCH 8
#define FIRST_BATCH 32
/*
 * The time that they get, of which one gets a sixteenth (jobs__run()): at first, so that a file
 * that hangs costs little, and after some that did not answer, as on a slow machine.
 */
#define FIRST_MS 200
#define MAX_MS 6400
/* Before a recording begins. */
#define LIST_MS 400
#define PREPARE_MS 1600

/* A file that is wanted. */
struct wish {
	struct rules_key key;
	struct rules_wanted wanted;
};

static struct wish *wishes_of(const struct user_tables *tables)
{
	return (struct wish *)(void *)tables->wishes.data;
}

static size_t nr_wishes(const struct user_tables *tables)
{
	return tables->wishes.len / sizeof(struct wish);
}

/* Once each: what waits here may be asked for again. */
static int add_wish(void *ctx, const struct rules_key *key, const struct rules_wanted *wanted)
{
	const struct wish wish = { *key, *wanted };
	struct user_tables *tables = ctx;
	struct wish *wishes = wishes_of(tables);

	for (size_t i = 0; i < nr_wishes(tables); i++) {
		if (memcmp(&wishes[i].key, key, sizeof(*key)))
			continue;
		wishes[i] = wish;
		return 0;
	}
	return buffer__append(&tables->wishes, &wish, sizeof(wish));
}

static int by_uses(const void *a, const void *b)
{
	const struct wish *x = a, *y = b;

	return x->wanted.uses < y->wanted.uses ? -1 : x->wanted.uses > y->wanted.uses;
}

/* Takes in what is wanted by now; what is wanted most comes last. */
static int collect(struct user_tables *tables)
{
	int err = user_rules__each_wanted(tables->rules, add_wish, tables);

	if (nr_wishes(tables))
		qsort(wishes_of(tables), nr_wishes(tables), sizeof(struct wish), by_uses);
	return err;
}

/* The file goes without from here on. */
static int add_none(struct user_tables *tables, const struct rules_key *key)
{
	int err = user_rules__add(tables->rules, key, NULL);

	tables->without++;
	tables->closed |= err == -ENOSPC;
	return err == -ENOSPC ? 0 : err;
}

/* deadline_ms: of the batch that the file was in. */
static int add_file(struct user_tables *tables, const struct wish *wish,
		    const struct cfi_file *file, int deadline_ms)
{
	int err;

	/* No process can be made, or the process is gone: another one may ask. */
	if (file->err == -EAGAIN || file->err == -ESRCH)
		return 0;
	if (file->err == -ECANCELED || (file->err == -ETIMEDOUT && deadline_ms < MAX_MS))
		return add_wish(tables, &wish->key, &wish->wanted);
	if (file->err) {
		pr_verbose("no unwind table for a file that pid %d maps at %#llx: %s",
			   (int)wish->wanted.pid, (unsigned long long)wish->wanted.start,
			   strerror(-file->err));
		return add_none(tables, &wish->key);
	}
	err = user_rules__add(tables->rules, &wish->key, &file->table);
	tables->made += !err;
	if (err != -ENOSPC)
		return err;
	if (!tables->full)
		pr_warn("there is no room for more unwind tables: the rest of the files go by "
			"frame pointers");
	tables->full = true;
	return add_none(tables, &wish->key);
}

/* Takes a batch of what is wanted most. Returns how many. */
static size_t take_batch(struct user_tables *tables, struct wish *batch, struct cfi_file *files,
			 size_t most)
{
	size_t nr = 0;

	if (tables->closed)
		tables->wishes.len = 0;
	while (nr < most && nr_wishes(tables)) {
		const struct wish *wish = &wishes_of(tables)[nr_wishes(tables) - 1];

		tables->wishes.len -= sizeof(*wish);
		if (user_rules__has(tables->rules, &wish->key))
			continue;
		batch[nr] = *wish;
		/* The vDSO is that of any process. */
		files[nr++] = (struct cfi_file){
			.pid = wish->key.ino ? (pid_t)wish->wanted.pid : 0,
			.start = wish->wanted.start,
			.end = wish->wanted.end,
		};
	}
	return nr;
}

static int make_batch(struct user_tables *tables, size_t most, int deadline_ms)
{
	struct wish batch[FIRST_BATCH];
	struct cfi_file files[FIRST_BATCH];
	size_t nr = take_batch(tables, batch, files, most);
	bool late = false;
	int err;

	if (!nr)
		return 0;
	err = cfi_files__make(files, nr, deadline_ms);
	for (size_t i = 0; i < nr; i++) {
		late |= files[i].err == -ETIMEDOUT;
		if (!err)
			err = add_file(tables, &batch[i], &files[i], deadline_ms);
		cfi_table__free(&files[i].table);
	}
	/* Not where it was what was left of another time. */
	if (late && deadline_ms >= tables->deadline_ms && tables->deadline_ms < MAX_MS)
		tables->deadline_ms *= 2;
	if (err)
		pr_err("cannot give unwind tables to the BPF programs: %s", strerror(-err));
	return err;
}

static int hear_bell(void *ctx, void *data, size_t size)
{
	(void)ctx;
	(void)data;
	(void)size;
	return 0;
}

int user_tables__init(struct user_tables *tables, struct user_rules *rules)
{
	*tables = (struct user_tables){ .rules = rules, .deadline_ms = FIRST_MS };
	if (!rules)
		return 0;
	tables->bell = ring_buffer__new(bpf_map__fd(rules->bell), hear_bell, NULL, NULL);
	if (tables->bell)
		return 0;
	pr_err("cannot map the bell of unwind tables: %s", strerror(errno));
	return -errno;
}

/* In the child: what is read makes files wanted, and has no bytes. */
static int read_list(void *ctx, struct child_out *out)
{
	int fd = *(const int *)ctx;
	char data[64];
	ssize_t len;

	(void)out;
	do
		len = read(fd, data, sizeof(data));
	while (len > 0 || (len < 0 && (errno == EINTR || errno == EAGAIN)));
	return len < 0 ? -errno : 0;
}

/* Has the programs ask for what is mapped. That it cannot be told is no error. */
static void list_code(struct user_tables *tables, uint64_t deadline)
{
	int fd = user_rules__open_list(tables->rules), err = fd;
	struct child_message message;
	struct child *child = NULL;

	if (fd >= 0) {
		child = child__new_patiently(read_list, &fd, &fd, deadline, &err);
		close(fd);
	}
	if (child)
		err = child__receive(child, deadline, &message);
	if (err)
		pr_verbose("unwind tables are made when stacks are met that need them, since what "
			   "is mapped cannot be listed: %s",
			   strerror(err < 0 ? -err : EPROTO));
	child__delete(child);
}

int user_tables__prepare(struct user_tables *tables)
{
	static const struct rules_key vdso;
	static const struct rules_wanted most = { .uses = RULES_MET };
	uint64_t deadline = clock__now_ns() + PREPARE_MS * NSEC_PER_MSEC, now;
	int err;

	if (!tables->rules)
		return 0;
	list_code(tables, clock__now_ns() + LIST_MS * NSEC_PER_MSEC);
	err = add_wish(tables, &vdso, &most);
	if (!err)
		err = collect(tables);
	while (!err && nr_wishes(tables) && (now = clock__now_ns()) < deadline)
		err = make_batch(tables, FIRST_BATCH,
				 (int)((deadline - now) / NSEC_PER_MSEC) + 1);
	return err;
}

int user_tables__update(struct user_tables *tables)
{
	int err;

	if (!tables->rules)
		return 0;
	if (ring_buffer__consume(tables->bell) > 0) {
		err = collect(tables);
		if (err)
			return err;
	}
	return make_batch(tables, BATCH, tables->deadline_ms);
}

int user_tables__timeout(const struct user_tables *tables, int timeout_ms)
{
	return nr_wishes(tables) ? 0 : timeout_ms;
}

int user_tables__fd(const struct user_tables *tables)
{
	return tables->bell ? ring_buffer__epoll_fd(tables->bell) : -1;
}

void user_tables__free(struct user_tables *tables)
{
	ring_buffer__free(tables->bell);
	buffer__free(&tables->wishes);
}
