/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/user_tables.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"
#include "bpf/target_maps.h"
#include "bpf/user_rules.h"
#include "cfi/cfi_files.h"
#include "machine/task_event.h"

/* Files in one go: of what is met most, and before a recording begins. */
#define BATCH 8
#define FIRST_BATCH 32
/* Files that wait for a batch: a program may map new ones faster than tables are made. */
#define MAX_WISHES (4 * RULES_WANTED)
/*
 * How long a file may take to answer: at first, so that one that hangs holds up the others for
 * little, and twice as long each time that it did not, up to the last.
 */
#define FIRST_MS 25
#define MOST_DOUBLED 7
/* How long the recorder waits for more of a table, while the rings are not read. */
#define WAIT_NS (2 * NSEC_PER_MSEC)
/*
 * The list of what targets have mapped, or some of them since; and before a recording of some
 * begins, their tables.
 */
#define LIST_MS 400
#define LIST_ALL_MS 10000
#define PREPARE_MS 1600

/* If there is no more room, tables go that no walk looks for in so long; this often at most. */
#define EVICT_NS NSEC_PER_SEC
#define EVICT_PAUSE_NS (10 * NSEC_PER_SEC)

/* A file that is wanted. */
struct wish {
	struct rules_key key;
	struct rules_wanted wanted;
};

/* Files whose tables are being made beside the recording. */
struct user_tables_batch {
	struct wish wishes[BATCH];
	struct cfi_file files[BATCH];
	size_t nr;
	size_t given; /* so many of them were taken in */
	int patience_ms;
	struct cfi_making *making;
};

static struct wish *wishes_of(const struct user_tables *tables)
{
	return (struct wish *)(void *)tables->wishes.data;
}

static size_t nr_wishes(const struct user_tables *tables)
{
	return tables->wishes.len / sizeof(struct wish);
}

/*
 * Once each: what waits here may be asked for again, by a process that has only mapped it or by
 * a walk that has met it.
 */
static int add_wish(void *ctx, const struct rules_key *key, const struct rules_wanted *wanted)
{
	struct wish wish = { *key, *wanted };
	struct user_tables *tables = ctx;
	struct wish *wishes = wishes_of(tables);

	for (size_t i = 0; i < nr_wishes(tables); i++) {
		if (memcmp(&wishes[i].key, key, sizeof(*key)))
			continue;
		if (wish.wanted.uses < wishes[i].wanted.uses)
			wish.wanted.uses = wishes[i].wanted.uses;
		wishes[i] = wish;
		return 0;
	}
	/* Of what finds no place here a walk asks again. */
	if (nr_wishes(tables) >= MAX_WISHES)
		return 0;
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
	size_t before = nr_wishes(tables);
	int err = user_rules__each_wanted(tables->rules, add_wish, tables);

	if (err)
		pr_err("cannot read which unwind tables are wanted: %s", strerror(-err));
	tables->found |= nr_wishes(tables) > before;
	if (nr_wishes(tables))
		qsort(wishes_of(tables), nr_wishes(tables), sizeof(struct wish), by_uses);
	return err;
}

/* There is no room. True if some will be made soon. */
static bool make_room(struct user_tables *tables)
{
	uint64_t now = clock__now_ns();

	if (!tables->evict_at && now >= tables->next_epoch) {
		user_rules__begin_epoch(tables->rules);
		tables->evict_at = now + EVICT_NS;
		tables->next_epoch = now + EVICT_PAUSE_NS;
	}
	return tables->evict_at;
}

/* Why a file goes without a table. */
enum lack {
	LACKS_CFI,    /* it is none of those that have one */
	LACKS_RIGHTS, /* it may not be opened */
	LACKS_TABLE,  /* there is no room, or the table could not be made */
};

static enum lack lack_of(int err)
{
	if (err == -EPERM || err == -EACCES)
		return LACKS_RIGHTS;
	return err == -ENOENT || err == -ENOEXEC ? LACKS_CFI : LACKS_TABLE;
}

/* The file goes without from here on; but for LACKS_CFI, until it is tried again, or evicted. */
static int add_none(struct user_tables *tables, const struct rules_key *key, enum lack lack)
{
	int err = lack == LACKS_CFI
			  ? user_rules__add(tables->rules, key, NULL)
			  : user_rules__refuse(tables->rules, key, lack == LACKS_RIGHTS);

	if (err != -ENOSPC)
		return err;
	tables->closed = true;
	make_room(tables);
	return 0;
}

/* There is no room for the table of a file. */
static int postpone(struct user_tables *tables, const struct wish *wish)
{
	if (make_room(tables))
		return add_wish(tables, &wish->key, &wish->wanted);
	if (!tables->full)
		pr_warn("there is no room for more unwind tables: for the time being, other files "
			"are unwound by frame pointers");
	tables->full = tables->refused = true;
	return add_none(tables, &wish->key, LACKS_TABLE);
}

/*
 * When the time has come, takes back the tables that are not used. Refused files are then asked for
 * again by the walks that meet them. True if programs may want files without having rung.
 */
static bool evict(struct user_tables *tables)
{
	int nr;

	if (tables->closed || tables->refused)
		make_room(tables);
	if (!tables->evict_at || clock__now_ns() < tables->evict_at)
		return false;
	user_rules__silence(tables->rules, false);
	nr = user_rules__evict(tables->rules);
	tables->evict_at = 0;
	if (nr < 0) {
		pr_verbose("cannot take back unwind tables: %s", strerror(-nr));
		return true;
	}
	tables->closed = tables->refused = false;
	pr_verbose("the tables of %d files were evicted: no stack has needed them of late", nr);
	return true;
}

static int refuse_large(struct user_tables *tables, const struct wish *wish)
{
	pr_verbose("the unwind table of a file that pid %d maps at %#llx would take more than a "
		   "quarter of the room: it goes by frame pointers",
		   (int)wish->wanted.pid, (unsigned long long)wish->wanted.start);
	return add_none(tables, &wish->key, LACKS_TABLE);
}

static int give_table(struct user_tables *tables, const struct wish *wish,
		      const struct cfi_table *table)
{
	int err = user_rules__add(tables->rules, &wish->key, table);

	if (!err)
		pr_debug("the file that pid %d maps at %#llx has its unwind table, of %u words",
			 (int)wish->wanted.pid, (unsigned long long)wish->wanted.start,
			 table->nr_words);
	if (err == -E2BIG)
		return refuse_large(tables, wish);
	return err == -ENOSPC ? postpone(tables, wish) : err;
}

/* Names the capability that a refused open lacks, for the end of a message; "" for other errors. */
static const char *what_helps(int err)
{
	if (err == -EPERM)
		return " (CAP_CHECKPOINT_RESTORE opens it)";
	return err == -EACCES ? " (CAP_SYS_PTRACE or CAP_DAC_READ_SEARCH opens it)" : "";
}

/* The table of a file could not be made: it may be at the next try, perhaps of another process. */
static int give_up(struct user_tables *tables, const struct wish *wish, int err)
{
	bool is_first = !table_tries__has(&tables->tries, &wish->key);
	enum lack lack = lack_of(err);

	if (lack != LACKS_CFI &&
	    !table_tries__fail(&tables->tries, &wish->key, err, clock__now_ns()))
		return 0;
	if (is_first)
		pr_verbose("no unwind table for a file that pid %d maps at %#llx: %s%s",
			   (int)wish->wanted.pid, (unsigned long long)wish->wanted.start,
			   strerror(-err), what_helps(err));
	return add_none(tables, &wish->key, lack);
}

/* Files that have been without for long enough are asked for again by the walks that meet them. */
static void try_again(struct user_tables *tables)
{
	uint64_t now = clock__now_ns();
	const struct rules_key *key;

	while ((key = table_tries__next(&tables->tries, now)))
		user_rules__ask_again(tables->rules, key);
}

/* again: a file that did not answer gets another try. */
static int add_file(struct user_tables *tables, const struct wish *wish,
		    const struct cfi_file *file, bool again)
{
	if (file->err == -ECANCELED || (file->err == -ETIMEDOUT && again))
		return add_wish(tables, &wish->key, &wish->wanted);
	if (file->err == -E2BIG)
		return refuse_large(tables, wish);
	if (file->err)
		return give_up(tables, wish, file->err);
	table_tries__forget(&tables->tries, &wish->key);
	return give_table(tables, wish, &file->table);
}

static int patience_with(const struct user_tables *tables, const struct wish *wish)
{
	unsigned int hung = table_tries__hung(&tables->tries, &wish->key);

	return FIRST_MS << (hung < MOST_DOUBLED ? hung : MOST_DOUBLED);
}

/*
 * Takes a batch of what is wanted most; a file that has not answered is one of its own. Returns how
 * many.
 */
static size_t take_batch(struct user_tables *tables, struct wish *batch, struct cfi_file *files,
			 size_t most)
{
	size_t nr = 0;

	if (tables->closed)
		tables->wishes.len = 0;
	while (nr < most && nr_wishes(tables)) {
		const struct wish *wish = &wishes_of(tables)[nr_wishes(tables) - 1];
		bool has_hung = patience_with(tables, wish) > FIRST_MS;

		if (has_hung && nr)
			break;
		tables->wishes.len -= sizeof(*wish);
		if (user_rules__has(tables->rules, &wish->key))
			continue;
		batch[nr] = *wish;
		/* The vDSO is that of any process. */
		files[nr++] = (struct cfi_file){
			.pid = wish->key.ino ? (pid_t)wish->wanted.pid : 0,
			.start = wish->wanted.start,
			.end = wish->wanted.end,
			.ino = wish->key.ino,
			.dev = wish->key.dev,
		};
		if (has_hung)
			break;
	}
	return nr;
}

/*
 * err: why the children that make tables could not answer. Without memory for itself the recording
 * ends; else it goes without the tables that were not made, which are tried again later.
 */
static int go_without(struct cfi_file *files, size_t nr, int err)
{
	if (!err || err == -ENOMEM)
		return err;
	pr_verbose("unwind tables cannot be made for now: %s", strerror(-err));
	for (size_t i = 0; i < nr; i++) {
		if (files[i].err == -ECANCELED)
			files[i].err = -EAGAIN;
	}
	return 0;
}

/* Takes in what was made of files. err: another one came before; again: see add_file(). */
static int add_files(struct user_tables *tables, const struct wish *wishes, struct cfi_file *files,
		     size_t nr, bool again, int err)
{
	err = go_without(files, nr, err);
	for (size_t i = 0; i < nr; i++) {
		if (!err)
			err = add_file(tables, &wishes[i], &files[i], again);
		cfi_table__free(&files[i].table);
	}
	if (err)
		pr_err("cannot give unwind tables to the BPF programs: %s", strerror(-err));
	return err;
}

/* Makes the tables of some files at once. */
static int make_batch(struct user_tables *tables, int deadline_ms)
{
	struct wish batch[FIRST_BATCH];
	struct cfi_file files[FIRST_BATCH];
	size_t nr = take_batch(tables, batch, files, FIRST_BATCH);

	if (!nr)
		return 0;
	/* They share the time: that one does not answer in its part is no reason to give it up. */
	return add_files(tables, batch, files, nr, true,
			 cfi_files__make(files, nr, deadline_ms));
}

static int no_memory(void)
{
	pr_err("no memory to make unwind tables");
	return -ENOMEM;
}

/* Has the tables of some files made beside the recording. */
static int begin_batch(struct user_tables *tables)
{
	struct user_tables_batch *batch;

	if (!nr_wishes(tables) || tables->evict_at)
		return 0;
	batch = calloc(1, sizeof(*batch));
	if (!batch)
		return no_memory();
	batch->nr = take_batch(tables, batch->wishes, batch->files, BATCH);
	batch->patience_ms = patience_with(tables, &batch->wishes[0]);
	if (batch->nr)
		batch->making = cfi_files__begin(batch->files, batch->nr, batch->patience_ms);
	if (!batch->making) {
		int err = batch->nr ? no_memory() : 0;

		free(batch);
		return err;
	}
	tables->batch = batch;
	return 0;
}

/* Also one that is not complete: tables that came in part are freed. */
static void drop_batch(struct user_tables *tables)
{
	if (tables->batch)
		cfi_files__end(tables->batch->making);
	for (size_t i = 0; tables->batch && i < tables->batch->nr; i++)
		cfi_table__free(&tables->batch->files[i].table);
	free(tables->batch);
	tables->batch = NULL;
}

static void watch(struct user_tables *tables, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (fd >= 0 && epoll_ctl(tables->epoll_fd, EPOLL_CTL_ADD, fd, &event) && errno != EEXIST)
		pr_verbose("a descriptor cannot be watched: %s", strerror(errno));
}

/* Takes in the files of a batch that are done. made: the result of cfi_files__advance(). */
static int give_made(struct user_tables *tables, struct user_tables_batch *batch, int made)
{
	size_t from = batch->given;

	while (batch->given < batch->nr &&
	       (made != 1 || batch->files[batch->given].err != -ECANCELED))
		batch->given++;
	return add_files(tables, batch->wishes + from, batch->files + from, batch->given - from,
			 false, made < 0 ? made : 0);
}

/* Goes on with the tables that are being made, and begins with the next ones. */
static int advance_batch(struct user_tables *tables)
{
	uint64_t until = clock__now_ns() + WAIT_NS;
	struct user_tables_batch *batch;
	int ret = 0, made;

	do {
		if (!tables->batch)
			ret = begin_batch(tables);
		batch = tables->batch;
		if (ret || !batch)
			return ret;
		made = cfi_files__advance(batch->making, until);
		ret = give_made(tables, batch, made);
		if (made == 1) {
			watch(tables, cfi_files__fd(batch->making));
			return ret;
		}
		drop_batch(tables);
	} while (!ret && clock__now_ns() < until);
	return ret;
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
	int err;

	*tables = (struct user_tables){ .rules = rules, .epoll_fd = -1 };
	if (!rules)
		return 0;
	tables->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (tables->epoll_fd >= 0)
		tables->bell = ring_buffer__new(bpf_map__fd(rules->bell), hear_bell, NULL, NULL);
	if (tables->bell) {
		watch(tables, ring_buffer__epoll_fd(tables->bell));
		return 0;
	}
	err = -errno;
	pr_err("cannot map the bell of unwind tables: %s", strerror(-err));
	return err;
}

/* What a child lists: some processes, or none, which stands for all targets. */
struct listing {
	int fd; /* of the program; for all targets, of the iterator */
	const pid_t *pids;
	size_t nr;
};

/* True if another list would fail as well. */
static bool is_for_good(int err)
{
	return err == -E2BIG || err == -EINVAL || err == -EPERM || err == -EACCES ||
	       err == -EOPNOTSUPP;
}

/* What is read makes files wanted, and has no bytes. */
static int read_iterator(int fd)
{
	char data[64];
	ssize_t len;

	do
		len = read(fd, data, sizeof(data));
	while (len > 0 || (len < 0 && (errno == EINTR || errno == EAGAIN)));
	return len < 0 ? -errno : 0;
}

static int read_process(int program, pid_t pid)
{
	int fd = user_rules__open_process_list(program, pid), err;

	if (fd < 0)
		return fd;
	err = read_iterator(fd);
	close(fd);
	return err;
}

/* A process that cannot be listed for now does not keep the others from it. */
static int read_list(void *ctx, struct child_out *out)
{
	const struct listing *listing = ctx;
	int ret = listing->nr ? 0 : read_iterator(listing->fd);

	(void)out;
	for (size_t i = 0; i < listing->nr && !is_for_good(ret); i++) {
		int err = read_process(listing->fd, listing->pids[i]);

		if (!ret || is_for_good(err))
			ret = err;
	}
	return ret;
}

/*
 * That it cannot be told what is mapped is no error. What may pass, as a process that holds up its
 * list, or that there is no memory for one, is told once.
 */
static void explain_list(struct user_tables *tables, int err)
{
	if (is_for_good(err)) {
		tables->lists_processes = false;
		pr_verbose("from here on, unwind tables are made when stacks are met that need "
			   "them, since what processes have mapped cannot be listed: %s",
			   err == -E2BIG ? "that takes Linux 6.1" : strerror(-err));
	} else if (err && !tables->list_failed) {
		tables->list_failed = true;
		pr_verbose("some of what is mapped could not be listed (%s): its unwind tables "
			   "may be made only when stacks are met that need them; this is told once",
			   strerror(-err));
	}
}

/* err: why it is not complete, or could not begin. */
static void end_list(struct user_tables *tables, int err)
{
	explain_list(tables, err);
	child__delete(tables->list);
	tables->list = NULL;
	target_maps__list_named(tables->targets, false);
}

/* Has the programs ask for what is mapped, by a process that may hang with others. */
static void begin_list(struct user_tables *tables, uint64_t deadline)
{
	int fd = user_rules__open_list(tables->rules), err = fd;
	struct listing listing = { .fd = fd };

	tables->list_deadline = deadline;
	if (fd >= 0) {
		tables->list = child__new_patiently(read_list, &listing, &listing.fd, deadline,
						    &err);
		close(fd);
	}
	if (err < 0)
		end_list(tables, err);
}

/*
 * The same of some processes, which user space knows for those of targets. patiently: waits for a
 * moment if no process can be made for it. False: that has failed.
 */
static bool begin_named_list(struct user_tables *tables, const pid_t *pids, size_t nr,
			     bool patiently)
{
	struct listing listing = {
		.fd = bpf_program__fd(tables->rules->list_code),
		.pids = pids,
		.nr = nr,
	};
	int err;

	tables->list_deadline = clock__now_ns() + LIST_MS * NSEC_PER_MSEC;
	target_maps__list_named(tables->targets, true);
	tables->list = child__new_patiently(read_list, &listing, &listing.fd,
					    patiently ? tables->list_deadline : 0, &err);
	if (!tables->list)
		end_list(tables, err);
	return tables->list;
}

/* Whether code that targets map is listed. Without room, tables are for what walks meet. */
static bool follows(const struct user_tables *tables)
{
	return tables->lists_processes && !tables->next_epoch;
}

/* Lists processes that have mapped code since. One list at a time. */
static void list_new_code(struct user_tables *tables)
{
	struct new_code *new_code = &tables->new_code;
	uint64_t now = clock__now_ns();

	if (tables->list || !new_code__wants_list(new_code, now))
		return;
	tables->found = false;
	if (begin_named_list(tables, new_code->pids, new_code->nr_pids, false)) {
		watch(tables, child__fd(tables->list));
		new_code__take(new_code, now);
	} else {
		new_code__listed(new_code, false, now);
	}
}

/* Goes on with that. ended: a list has; asked: the programs ask for tables. */
static void follow_code(struct user_tables *tables, bool ended, bool asked)
{
	if (!follows(tables))
		return;
	if (ended)
		new_code__listed(&tables->new_code, tables->found, clock__now_ns());
	/* Who runs a new program is going to map its libraries, and the side band wakes nobody. */
	if (asked)
		new_code__expect(&tables->new_code);
	list_new_code(tables);
	new_code__look(&tables->new_code, clock__now_ns());
}

/* until: as long as it may take now. True if a list has ended with that. */
static bool advance_list(struct user_tables *tables, uint64_t until)
{
	struct child_message message;
	int err;

	if (!tables->list)
		return false;
	err = child__receive(tables->list, until, &message);
	if (err == -ETIMEDOUT && clock__now_ns() < tables->list_deadline)
		return false;
	end_list(tables, err > 0 ? -EPROTO : err);
	return true;
}

/* Before the first block, since some targets have few files. */
static int prepare_targets(struct user_tables *tables, const pid_t *pids, size_t nr)
{
	uint64_t deadline = clock__now_ns() + PREPARE_MS * NSEC_PER_MSEC, now;
	int err;

	begin_list(tables, clock__now_ns() + LIST_MS * NSEC_PER_MSEC);
	advance_list(tables, tables->list_deadline);
	if (nr && follows(tables) && begin_named_list(tables, pids, nr, true))
		advance_list(tables, tables->list_deadline);
	err = collect(tables);
	while (!err && nr_wishes(tables) && !tables->evict_at && (now = clock__now_ns()) < deadline)
		err = make_batch(tables, (int)((deadline - now) / NSEC_PER_MSEC) + 1);
	if (!err && nr_wishes(tables))
		pr_verbose("the recording begins before all unwind tables are made: %zu files are "
			   "left",
			   nr_wishes(tables));
	return err;
}

int user_tables__prepare(struct user_tables *tables, const struct user_tables_targets *targets)
{
	static const struct rules_key vdso;
	static const struct rules_wanted most = { .uses = RULES_MET };
	int err;

	if (!tables->rules)
		return 0;
	tables->targets = targets->maps;
	tables->lists_processes = tables->rules->list_code;
	err = add_wish(tables, &vdso, &most);
	if (err)
		return no_memory();
	if (!targets->all)
		return prepare_targets(tables, targets->pids, targets->nr_pids);
	begin_list(tables, clock__now_ns() + LIST_ALL_MS * NSEC_PER_MSEC);
	return 0;
}

/* Of records, which have no stamps, and of programs. */
static bool is_same_inode(const struct rules_key *a, const struct rules_key *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->generation == b->generation;
}

/* True if the table of a file is on its way, as far as records and programs agree on its key. */
static bool is_asked_for(const struct user_tables *tables, const struct rules_key *key)
{
	const struct user_tables_batch *batch = tables->batch;
	const struct wish *wishes = wishes_of(tables);

	for (size_t i = 0; i < nr_wishes(tables); i++) {
		if (is_same_inode(&wishes[i].key, key))
			return true;
	}
	for (size_t i = 0; batch && i < batch->nr; i++) {
		if (is_same_inode(&batch->wishes[i].key, key))
			return true;
	}
	return false;
}

void user_tables__follow(struct user_tables *tables, const struct task_event *event)
{
	struct rules_key file;

	if (!follows(tables) || !new_code__file(event, &file) ||
	    new_code__is_settled(&tables->new_code, &file))
		return;
	if (user_rules__knows(tables->rules, &file))
		new_code__settle(&tables->new_code, &file);
	else if (!is_asked_for(tables, &file))
		new_code__add(&tables->new_code, &file, event->pid);
}

int user_tables__update(struct user_tables *tables)
{
	bool ended, asked, unheard;
	int err;

	if (!tables->rules)
		return 0;
	/* In this order, so that what a list has brought is known when it ends. */
	ended = advance_list(tables, clock__now_ns());
	unheard = evict(tables);
	try_again(tables);
	asked = ring_buffer__consume(tables->bell) > 0;
	err = asked || unheard ? collect(tables) : 0;
	follow_code(tables, ended, asked);
	if (!err)
		err = advance_batch(tables);
	/* Each walk would ring again for a file that finds no room, until there is some. */
	user_rules__silence(tables->rules, tables->closed || tables->evict_at);
	return err;
}

/* How long what waits for room has to wait until an eviction may begin, or -1: nothing does. */
static int room_timeout(const struct user_tables *tables)
{
	uint64_t now = clock__now_ns(), left;

	if (!tables->closed && !tables->refused)
		return -1;
	left = now < tables->next_epoch ? (tables->next_epoch - now) / NSEC_PER_MSEC + 1 : 0;
	return (int)min_u64(left, EVICT_PAUSE_NS / NSEC_PER_MSEC);
}

/* The lesser of two timeouts; negative: none. */
static int sooner(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

int user_tables__timeout(const struct user_tables *tables, int timeout_ms)
{
	int most = tables->batch ? tables->batch->patience_ms : tables->list ? FIRST_MS : -1;

	if (tables->evict_at)
		most = (int)(EVICT_NS / NSEC_PER_MSEC) / 4;
	else if (nr_wishes(tables) && !tables->batch)
		return 0;
	else
		most = sooner(most, room_timeout(tables));
	/* Under the same condition as follow_code(), which sees to it that nothing stays due. */
	if (follows(tables))
		most = sooner(most, new_code__timeout(&tables->new_code, !tables->list,
						      clock__now_ns()));
	return sooner(most, timeout_ms);
}

int user_tables__fd(const struct user_tables *tables)
{
	return tables->rules ? tables->epoll_fd : -1;
}

void user_tables__free(struct user_tables *tables)
{
	drop_batch(tables);
	child__delete(tables->list);
	ring_buffer__free(tables->bell);
	if (tables->rules && tables->epoll_fd >= 0)
		close(tables->epoll_fd);
	buffer__free(&tables->wishes);
}
