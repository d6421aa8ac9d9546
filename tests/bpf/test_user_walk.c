/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs' own walk of user stacks finds what libdw finds in a copy of the same stack, taken
 * in the same moment, frame for frame. The programs are as distributions build them.
 * tests: parallel
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "bpf/attach_hook.h"
#include "bpf/kernel_features.h"
#include "bpf/user_rules.h"
#include "capture/user_tables.h"
#include "common/harness.h"
#include "common/stopped.h"
#include "common/test_capture.h"
#include "tests/bpf/user_walk.h"
#include "tests/bpf/user_walk.skel.h"
#include "cfi/cfi_rows.h"
#include "cfi/cfi_table.h"
#include "unwind/unwinder.h"

#define PATIENCE_NS (60 * UINT64_C(1000000000))
#define VDSO_BYTES 8192
#define SHOWN 3

FIXTURE(user_walk)
{
	struct user_walk_bpf *skel;
	struct user_rules rules;
	struct user_tables *tables; /* that sees to what is wanted; NULL: make_table() does */
	bool refuses; /* make_table() refuses each file */
	struct ring_buffer *ring;
	ring_buffer_sample_fn on_walk; /* NULL: compare() */
	int event; /* that keeps the hook of fentry called; -1: not needed */
	struct stopped stopped;
	struct machine *machine;
	struct unwinder *unwinder;
	size_t nr_maps; /* that the machine knows */
	size_t same;
	size_t same_before; /* of these, before the last table was made */
	size_t cut;	    /* of those since then, ending neither at the root nor in the linker */
	size_t differ;
	size_t early; /* met a file that had no table yet, */
	size_t late;  /* and of these, after the last table was made */
	size_t lacking; /* since then: not whole, where libdw's were, */
	size_t other; /* or not whole for other reasons, or libdw's were not */
	size_t frames;
	size_t shown;
	const char *through; /* a function of the program, or NULL */
	struct symbols *symbols;
	size_t nr_through; /* of those that are the same, whole walks through it */
	uint64_t made; /* when the last table was */
	size_t wanted; /* as many as are to be the same */
	uint64_t deadline;
	int err;
};

typedef FIXTURE_DATA(user_walk) data;

static int hook(data *self)
{
	struct kernel_features features;
	int err = kernel_features__read(&features);

	if (err)
		return err;
	self->event = features.has_exit_tp ? -1 : attach_hook__open_event();
	if (!features.has_exit_tp && self->event < 0)
		return self->event;
	bpf_program__set_autoload(self->skel->progs.walk_at_exit_tp, features.has_exit_tp);
	bpf_program__set_autoload(self->skel->progs.walk_at_fentry, !features.has_exit_tp);
	bpf_program__set_autoload(self->skel->progs.room_found, features.has_unmapped_area);
	self->skel->rodata->has_user_walk = 1;
	self->skel->rodata->known_mask = KNOWN_STACKS_MOST - 1;
	if (bpf_map__set_max_entries(self->skel->maps.known_stacks, KNOWN_STACKS_MOST) ||
	    user_walk_bpf__load(self->skel))
		return -EINVAL;
	return user_walk_bpf__attach(self->skel);
}

static void forget_maps(data *self)
{
	unwinder__delete(self->unwinder);
	machine__delete(self->machine);
	self->unwinder = NULL;
	self->machine = NULL;
}

FIXTURE_SETUP(user_walk)
{
	SKIP_FOR(test_capture__refused());
#ifndef __x86_64__
	SKIP(return, "only x86-64 has tables");
#endif
	elf_version(EV_CURRENT);
	self->skel = user_walk_bpf__open();
	ASSERT_NE(NULL, self->skel);
	ASSERT_EQ(0, hook(self));
	self->rules = (struct user_rules){
		.slab0 = self->skel->maps.rules_slab0,
		.slabs = self->skel->maps.rules_slabs,
		.files = self->skel->maps.rules_files,
		.wides = self->skel->maps.rules_wides,
		.wanted = self->skel->maps.rules_wanted,
		.bell = self->skel->maps.rules_bell,
		.epoch = &self->skel->bss->rules_epoch,
		.silent = &self->skel->bss->rules_silent,
		.btf_fd = bpf_object__btf_fd(self->skel->obj),
	};
}

FIXTURE_TEARDOWN(user_walk)
{
	stopped__free(&self->stopped);
	symbols__free(self->symbols);
	forget_maps(self);
	ring_buffer__free(self->ring);
	if (self->event > 0)
		close(self->event);
	user_rules__free(&self->rules);
	user_walk_bpf__destroy(self->skel);
}

static int add_table(data *self, const struct rules_key *key, Elf *elf)
{
	struct cfi_table table = { 0 };
	int err = elf ? cfi_table__make(&table, elf) : -ENOENT;

	err = user_rules__add(&self->rules, key, err ? NULL : &table);
	cfi_table__free(&table);
	elf_end(elf);
	/* Walks before this moment are of a program that starts, or lacked this table. */
	self->late = self->lacking = self->other = self->cut = 0;
	self->same_before = self->same;
	self->made = clock__now_ns();
	return err;
}

/* A file of a mapping, through the mapping itself. */
static int make_table(void *ctx, const struct rules_key *key, const struct rules_wanted *wanted)
{
	data *self = ctx;
	struct stat st;
	char path[80];
	int fd, err;

	if (self->refuses)
		return user_rules__refuse(&self->rules, key, false);
	if (!key->ino)
		return add_table(self, key,
				 elf_memory((char *)getauxval(AT_SYSINFO_EHDR), VDSO_BYTES));
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", wanted->pid, wanted->start,
		 wanted->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	/* Another file may have been mapped there meanwhile. */
	if (fstat(fd, &st) || st.st_ino != key->ino) {
		close(fd);
		return 0;
	}
	err = add_table(self, key, elf_begin(fd, ELF_C_READ_MMAP, NULL));
	close(fd);
	return err;
}

/* Gives the machine the process's mappings of this moment. */
static int tell_maps(data *self)
{
	int err = 0;

	forget_maps(self);
	self->machine = machine__new();
	if (self->machine)
		self->unwinder = unwinder__new(self->machine, &err);
	if (!self->unwinder)
		return err ? err : -ENOMEM;
	return stopped__tell_maps(&self->stopped, self->machine, 0);
}

/*
 * 1 in rt_sigreturn(2), else 0. There a thread stands behind the last byte of the function that
 * calls it, of which libdw finds no frame information, so that it is told of the byte before.
 */
static uint64_t told_before(const struct walked *walked)
{
	return walked->call == SYS_rt_sigreturn;
}

static int unwind(data *self, const struct walked *walked, struct unwind_result *result)
{
	struct unwind_sample sample = {
		.pid = (pid_t)walked->pid,
		.time = walked->time,
		.stack = walked->stack, .stack_bytes = walked->bytes,
		.max_frames = WIRE_MAX_FRAMES,
	};

	memcpy(sample.regs.r, walked->regs, sizeof(sample.regs.r));
	sample.regs.r[UNWIND_PC] -= told_before(walked);
	return unwinder__unwind(self->unwinder, &sample, result);
}

static bool is_same(const struct walked *walked, const struct unwind_result *result)
{
	return walked->nr && walked->nr == result->nr &&
	       walked->ips[0] == result->ips[0] + told_before(walked) &&
	       !memcmp(walked->ips + 1, result->ips + 1,
		       (walked->nr - 1) * sizeof(walked->ips[0]));
}

/* Both led to the root, or to the greatest number of frames. */
static bool are_whole(const struct walked *walked, const struct unwind_result *result)
{
	return (walked->end == USER_WALK_WHOLE && result->status == UNWIND_COMPLETE) ||
	       (walked->end == USER_WALK_FRAMES && result->status == UNWIND_CUT_LIMIT);
}

static void show(const struct walked *walked, const struct unwind_result *result)
{
	fprintf(stderr, "# ours %u, end %d; libdw's %u, %s\n", walked->nr, walked->end, result->nr,
		unwind__status_name(result->status));
	for (uint32_t i = 0; i < walked->nr || i < result->nr; i++)
		fprintf(stderr, "#   %3u %16llx %16llx\n", i,
			i < walked->nr ? (unsigned long long)walked->ips[i] : 0,
			i < result->nr ? (unsigned long long)result->ips[i] : 0);
}

/* Walks may come as fast as they are compared. */
static bool is_over(const data *self)
{
	return self->same >= self->wanted || clock__now_ns() >= self->deadline;
}

/* Counts a walk that is not compared. False: it is to be. */
static bool leave_out(data *self, const struct walked *walked)
{
	/* In the middle of an exec there are no registers. */
	if (!walked->nr || walked->end == USER_WALK_BUSY) {
		self->other++;
		return true;
	}
	if (walked->end != USER_WALK_NO_TABLE)
		return false;
	self->early++;
	self->late += walked->time > self->made;
	return true;
}

/* The program's symbols are read once it runs, which its walks show. */
static bool goes_through(data *self, const struct walked *walked, const char *function)
{
	const char *name;

	if (!self->symbols)
		self->symbols = symbols__of_process((pid_t)walked->pid);
	for (uint32_t i = 0; i < walked->nr && self->symbols; i++) {
		name = symbols__name(self->symbols, walked->ips[i]);
		if (name && !strcmp(name, function))
			return true;
	}
	return false;
}

/* Counts a walk that was compared. */
static void count(data *self, const struct walked *walked, const struct unwind_result *result)
{
	bool whole = are_whole(walked, result);

	self->frames += walked->nr;
	if (is_same(walked, result)) {
		self->same++;
		self->cut += !whole && !stopped__in_linker(&self->stopped, self->machine,
							   walked->ips[walked->nr - 1]);
		self->nr_through +=
			whole && self->through && goes_through(self, walked, self->through);
		return;
	}
	if (whole)
		self->differ++;
	else if (result->status == UNWIND_COMPLETE)
		self->lacking++;
	else
		self->other++;
	if (self->shown++ < SHOWN)
		show(walked, result);
}

static int compare(void *ctx, void *record, size_t size)
{
	const struct walked *walked = record;
	struct unwind_result result;
	data *self = ctx;

	(void)size;
	if (leave_out(self, walked))
		return 0;
	self->err = self->machine ? 0 : tell_maps(self);
	if (!self->err)
		self->err = unwind(self, walked, &result);
	/* A mismatch may come from mappings made since they were last read. */
	if (!self->err && !is_same(walked, &result))
		self->err = tell_maps(self);
	if (!self->err)
		self->err = unwind(self, walked, &result);
	if (self->err)
		return self->err;
	count(self, walked, &result);
	return is_over(self) ? -ECANCELED : 0;
}

/* Compares walks of the next millisecond: the programs wake nobody. As ring_buffer__consume(). */
static int compare_some(data *self)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };

	nanosleep(&pause, NULL);
	return ring_buffer__consume(self->ring);
}

/*
 * Compares until as many walks are the same as are wanted, or the deadline. 0, -ECHILD if the
 * program has ended before, or another negative errno.
 */
static int compare_walks(data *self)
{
	int ret = 0;

	while (ret >= 0 && !self->err && !is_over(self)) {
		ret = compare_some(self);
		if (ret < 0 && ret != -ECANCELED)
			break;
		ret = self->tables ? user_tables__update(self->tables)
				   : user_rules__each_wanted(&self->rules, make_table, self);
		if (!ret && !is_over(self) && stopped__has_ended(&self->stopped))
			ret = -ECHILD;
	}
	return ret < 0 ? ret : self->err;
}

/* How many walks are wanted where usual ones are enough: more in the soak, fewer in a guest. */
static size_t wanted_walks(size_t usual)
{
	const char *wanted = getenv("DENET_TEST_WALKS");

	return wanted ? strtoul(wanted, NULL, 10) : usual;
}

/*
 * Waits until the process is another program than this one. 0 or a negative errno, -ECHILD if it
 * has ended.
 */
static int await_exec(const struct stopped *stopped)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };
	uint64_t end = tolerance__deadline();
	struct stat own, its;
	char path[32];

	if (stat("/proc/self/exe", &own))
		return -errno;
	snprintf(path, sizeof(path), "/proc/%d/exe", stopped->pid);
	while (clock__now_ns() < end) {
		if (!stat(path, &its) && (its.st_ino != own.st_ino || its.st_dev != own.st_dev))
			return 0;
		if (stopped__has_ended(stopped))
			return -ECHILD;
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

static void print_counts(const data *self, const char *name)
{
	fprintf(stderr,
		"# %s: %zu same (%zu before the last table; %zu of the others cut), %zu differ, "
		"%zu early (%zu late), %zu lacking, %zu other, %zu frames, %llu known\n",
		name, self->same, self->same_before, self->cut, self->differ, self->early,
		self->late, self->lacking, self->other, self->frames, self->skel->bss->walks_known);
}

/* Compares until there are nr walks that are the same, or nothing comes of it. */
static int walk_program(data *self, const char *const *argv, size_t nr)
{
	int ret = stopped__start(&self->stopped, argv);

	if (!ret)
		ret = await_exec(&self->stopped);
	if (ret)
		return ret;
	self->wanted = wanted_walks(nr);
	self->deadline = clock__now_ns() + (getenv("DENET_TEST_WALKS") ? 4 : 1) * PATIENCE_NS;
	self->ring = ring_buffer__new(bpf_map__fd(self->skel->maps.walks),
				      self->on_walk ? self->on_walk : compare, self, NULL);
	if (!self->ring)
		return -errno;
	self->skel->bss->walked_pids[0] = (uint32_t)self->stopped.pid;
	ret = compare_walks(self);
	print_counts(self, argv[0]);
	return ret;
}

TEST_F(user_walk, files_beyond_those_that_there_is_room_for_are_refused_and_the_others_kept)
{
	struct rules_key key = { .dev = UINT32_MAX };

	for (key.ino = 1; key.ino <= RULES_FILES; key.ino++)
		ASSERT_EQ(0, user_rules__add(&self->rules, &key, NULL));
	EXPECT_EQ(-ENOSPC, user_rules__add(&self->rules, &key, NULL));
	EXPECT_FALSE(user_rules__has(&self->rules, &key));
	key.ino = 1;
	EXPECT_TRUE(user_rules__has(&self->rules, &key));
}

/* More than a slab holds, which only the largest programs have. */
TEST_F(user_walk, tables_take_further_slabs)
{
	const struct cfi_table table = { .words = calloc(CFI_TABLE_WORDS, sizeof(uint32_t)),
					 .nr_words = RULES_SLAB_WORDS, .nr_pages = 1 };
	struct rules_key key = { .dev = UINT32_MAX };
	int err = 0;

	ASSERT_NE(NULL, table.words);
	table.words[0] = 1U << 24 | 1;
	for (key.ino = 1; key.ino <= 3 && !err; key.ino++) {
		table.words[1] = (uint32_t)key.ino;
		err = user_rules__add(&self->rules, &key, &table);
	}
	free(table.words);
	EXPECT_EQ(0, err);
	EXPECT_LT(0, user_rules__map_bytes(&self->rules));
}

/* Gives a file a table of one rule. Where it lies. */
static uint32_t add_rule(data *self, const struct rules_key *key, uint32_t rule)
{
	uint32_t words[] = { 1U << 24 | 1, rule };
	const struct cfi_table table = { .words = words, .nr_words = 2, .nr_pages = 1 };
	struct rules_file file = { .index = UINT32_MAX };

	if (!user_rules__add(&self->rules, key, &table))
		bpf_map_lookup_elem(bpf_map__fd(self->rules.files), key, &file);
	return file.index;
}

TEST_F(user_walk, files_with_the_same_table_share_its_room_until_the_last_one_goes)
{
	const struct rules_key one = { .ino = 1, .dev = UINT32_MAX };
	const struct rules_key same = { .ino = 2, .dev = UINT32_MAX };
	const struct rules_key other = { .ino = 3, .dev = UINT32_MAX };
	const struct rules_key late = { .ino = 4, .dev = UINT32_MAX };
	int files = bpf_map__fd(self->rules.files);
	uint32_t place = add_rule(self, &one, 7);
	struct rules_file file;

	EXPECT_NE(UINT32_MAX, place);
	EXPECT_EQ(place, add_rule(self, &same, 7));
	EXPECT_NE(place, add_rule(self, &other, 8));
	/* One of the two is looked for, and so the room is not free for another table. */
	user_rules__begin_epoch(&self->rules);
	ASSERT_EQ(0, bpf_map_lookup_elem(files, &same, &file));
	file.epoch = *self->rules.epoch;
	ASSERT_EQ(0, bpf_map_update_elem(files, &same, &file, BPF_EXIST));
	EXPECT_EQ(2, user_rules__evict(&self->rules));
	EXPECT_TRUE(user_rules__has(&self->rules, &same));
	EXPECT_NE(place, add_rule(self, &other, 9));
	EXPECT_EQ(place, add_rule(self, &one, 7));
	user_rules__begin_epoch(&self->rules);
	EXPECT_EQ(3, user_rules__evict(&self->rules));
	EXPECT_EQ(place, add_rule(self, &late, 10));
}

/* Tables of files that nobody runs, until there is no room. Their number, or -errno. */
static int fill(data *self)
{
	struct cfi_table table = { .words = calloc(RULES_SLAB_WORDS, sizeof(uint32_t)),
				   .nr_words = RULES_SLAB_WORDS / 2, .nr_pages = 1 };
	struct rules_key key = { .dev = UINT32_MAX };
	int err = table.words ? 0 : -ENOMEM;

	if (table.words)
		table.words[0] = 1U << 24 | 1;
	while (!err) {
		key.ino++;
		if (table.words)
			table.words[1] = (uint32_t)key.ino;
		err = user_rules__add(&self->rules, &key, &table);
		/* The smallest table that there is has to be refused as well. */
		if (err == -ENOSPC && table.nr_words > 2) {
			table.nr_words = 2;
			err = 0;
		}
	}
	free(table.words);
	return err == -ENOSPC ? (int)key.ino - 1 : err;
}

TEST_F(user_walk, a_file_that_was_refused_is_forgotten_at_the_next_eviction)
{
	const struct cfi_table most = { .nr_words = RULES_SLABS * RULES_SLAB_WORDS / 2,
					.nr_pages = 1 };
	const struct rules_key key = { .ino = 1, .dev = UINT32_MAX };

	EXPECT_EQ(-E2BIG, user_rules__add(&self->rules, &key, &most));
	EXPECT_EQ(0, user_rules__refuse(&self->rules, &key, false));
	EXPECT_TRUE(user_rules__has(&self->rules, &key));
	EXPECT_EQ(1, user_rules__evict(&self->rules));
	EXPECT_FALSE(user_rules__has(&self->rules, &key));
}

TEST_F(user_walk, a_file_with_another_stamp_is_another_file_with_the_same_inode)
{
	const struct rules_key before = { .ino = 1, .dev = UINT32_MAX, .stamp = 1 };
	const struct rules_key after = { .ino = 1, .dev = UINT32_MAX, .stamp = 2 };
	const struct rules_key other = { .ino = 2, .dev = UINT32_MAX, .stamp = 1 };

	EXPECT_FALSE(user_rules__knows(&self->rules, &before));
	EXPECT_EQ(0, user_rules__add(&self->rules, &before, NULL));
	EXPECT_FALSE(user_rules__has(&self->rules, &after));
	EXPECT_TRUE(user_rules__knows(&self->rules, &after));
	EXPECT_FALSE(user_rules__knows(&self->rules, &other));
	EXPECT_EQ(0, user_rules__refuse(&self->rules, &after, false));
	/* The one that was refused goes, then the other. */
	EXPECT_EQ(1, user_rules__evict(&self->rules));
	EXPECT_TRUE(user_rules__knows(&self->rules, &after));
	user_rules__begin_epoch(&self->rules);
	EXPECT_EQ(1, user_rules__evict(&self->rules));
	EXPECT_FALSE(user_rules__knows(&self->rules, &after));
}

TEST_F(user_walk, a_file_that_was_refused_can_be_asked_for_again)
{
	const struct rules_key one = { .ino = 1, .dev = UINT32_MAX };
	const struct rules_key two = { .ino = 2, .dev = UINT32_MAX };
	const struct rules_key none = { .ino = 3, .dev = UINT32_MAX };

	EXPECT_EQ(0, user_rules__refuse(&self->rules, &one, false));
	EXPECT_EQ(0, user_rules__refuse(&self->rules, &two, true));
	EXPECT_EQ(0, user_rules__add(&self->rules, &none, NULL));
	EXPECT_TRUE(user_rules__has(&self->rules, &one));
	user_rules__ask_again(&self->rules, &one);
	user_rules__ask_again(&self->rules, &two);
	user_rules__ask_again(&self->rules, &none);
	EXPECT_FALSE(user_rules__has(&self->rules, &one));
	EXPECT_FALSE(user_rules__has(&self->rules, &two));
	EXPECT_TRUE(user_rules__has(&self->rules, &none));
	/* Once more, and with a table. */
	EXPECT_EQ(0, user_rules__refuse(&self->rules, &two, true));
	EXPECT_NE(UINT32_MAX, add_rule(self, &one, 7));
	EXPECT_TRUE(user_rules__has(&self->rules, &one));
	EXPECT_TRUE(user_rules__has(&self->rules, &two));
	EXPECT_EQ(1, user_rules__evict(&self->rules));
	EXPECT_FALSE(user_rules__knows(&self->rules, &two));
	user_rules__begin_epoch(&self->rules);
	EXPECT_EQ(2, user_rules__evict(&self->rules));
	EXPECT_FALSE(user_rules__knows(&self->rules, &one));
}

TEST_F(user_walk, room_that_could_not_be_given_back_is_given_back_by_the_next_eviction)
{
	const struct rules_key gone = { .ino = 1, .dev = UINT32_MAX };
	const struct rules_key late = { .ino = 2, .dev = UINT32_MAX };
	const struct bpf_map *slabs = self->rules.slabs;
	uint32_t place = add_rule(self, &gone, 7);

	EXPECT_NE(UINT32_MAX, place);
	user_rules__begin_epoch(&self->rules);
	/* A ring has no elements to update. */
	self->rules.slabs = self->skel->maps.rules_bell;
	EXPECT_GT(0, user_rules__evict(&self->rules));
	EXPECT_FALSE(user_rules__has(&self->rules, &gone));
	self->rules.slabs = slabs;
	EXPECT_EQ(0, user_rules__evict(&self->rules));
	EXPECT_EQ(place, add_rule(self, &late, 8));
}

TEST_F(user_walk, a_slab_that_no_program_could_find_is_made_again)
{
	struct cfi_table table = { .words = calloc(RULES_SLAB_WORDS, sizeof(uint32_t)),
				   .nr_words = RULES_SLAB_WORDS, .nr_pages = 1 };
	const struct rules_key first = { .ino = 1, .dev = UINT32_MAX };
	const struct rules_key second = { .ino = 2, .dev = UINT32_MAX };
	const struct bpf_map *slabs = self->rules.slabs;
	uint32_t one = 1, id;

	ASSERT_NE(NULL, table.words);
	table.words[0] = 1U << 24 | 1;
	ASSERT_EQ(0, user_rules__add(&self->rules, &first, &table));
	table.words[1] = 1;
	/* A ring has no elements to update. */
	self->rules.slabs = self->skel->maps.rules_bell;
	EXPECT_GT(0, user_rules__add(&self->rules, &second, &table));
	self->rules.slabs = slabs;
	EXPECT_EQ(0, user_rules__add(&self->rules, &second, &table));
	EXPECT_EQ(0, bpf_map_lookup_elem(bpf_map__fd(slabs), &one, &id));
	free(table.words);
}

TEST_F(user_walk, a_file_whose_wide_rules_find_no_room_has_its_other_rules)
{
	uint32_t words[] = { 1U << 24 | 1, 0 };
	struct cfi_table table = { .words = words, .nr_words = 2, .nr_pages = 1,
				   .wides = calloc(CFI_WIDES_MAX, sizeof(struct cfi_wide)),
				   .nr_wides = CFI_WIDES_MAX };
	struct rules_key key = { .dev = UINT32_MAX };
	int files = bpf_map__fd(self->rules.files);
	struct rules_file file;

	ASSERT_NE(NULL, table.wides);
	for (key.ino = 1; key.ino <= RULES_WIDES / CFI_WIDES_MAX; key.ino++) {
		words[1] = (uint32_t)key.ino;
		ASSERT_EQ(0, user_rules__add(&self->rules, &key, &table));
	}
	table.nr_wides = 1;
	EXPECT_EQ(0, user_rules__add(&self->rules, &key, &table));
	ASSERT_EQ(0, bpf_map_lookup_elem(files, &key, &file));
	EXPECT_EQ(1, file.nr_pages);
	EXPECT_EQ(RULES_WIDES, file.wides);
	user_rules__begin_epoch(&self->rules);
	EXPECT_EQ((int)key.ino, user_rules__evict(&self->rules));
	EXPECT_EQ(0, user_rules__add(&self->rules, &key, &table));
	ASSERT_EQ(0, bpf_map_lookup_elem(files, &key, &file));
	EXPECT_EQ(0, file.wides);
	free(table.wides);
}

TEST_F(user_walk, walks_say_that_they_met_a_file_that_was_refused)
{
	static const char *const argv[] = { "bash", "-c", "exec 3<> <(:)\n"
					    "while :; do read -rt 0.0003 <&3; done\n", NULL };
	uint64_t deadline;

	self->refuses = true;
	ASSERT_EQ(0, stopped__start(&self->stopped, argv));
	self->wanted = 1;
	self->ring = ring_buffer__new(bpf_map__fd(self->skel->maps.walks), compare, self, NULL);
	ASSERT_NE(NULL, self->ring);
	self->skel->bss->walked_pids[0] = (uint32_t)self->stopped.pid;
	self->deadline = deadline = clock__now_ns() + PATIENCE_NS;
	while (self->early < 200 && !self->same && !self->err && clock__now_ns() < deadline) {
		compare_some(self);
		ASSERT_EQ(0, user_rules__each_wanted(&self->rules, make_table, self));
	}
	/* None is taken for a whole one. */
	EXPECT_LE(200, self->early);
	EXPECT_EQ(0, self->same + self->differ);
}

/* Puts the file back, as a walk that meets it again. */
static int want_again(void *ctx, const struct rules_key *key, const struct rules_wanted *wanted)
{
	data *self = ctx;

	self->early++;
	return bpf_map_update_elem(bpf_map__fd(self->rules.wanted), key, wanted, BPF_ANY);
}

TEST_F(user_walk, what_is_wanted_again_at_once_is_left_for_the_next_time)
{
	const struct rules_wanted wanted = { .uses = 1 };
	struct rules_key key = { .dev = UINT32_MAX };

	for (key.ino = 1; key.ino <= 3; key.ino++)
		ASSERT_EQ(0, bpf_map_update_elem(bpf_map__fd(self->rules.wanted), &key, &wanted,
						 BPF_NOEXIST));
	EXPECT_EQ(0, user_rules__each_wanted(&self->rules, want_again, self));
	EXPECT_EQ(RULES_WANTED, self->early);
}

TEST_F(user_walk, where_there_is_no_room_for_names_walks_wake_nobody_until_there_is)
{
	static const char *const argv[] = { "bash", "-c", "exec 3<> <(:)\n"
					    "while :; do read -rt 0.0003 <&3; done\n", NULL };
	struct rules_key key = { .dev = UINT32_MAX };
	struct user_tables tables;
	size_t early;
	int rung = 0;

	for (key.ino = 1; key.ino <= RULES_FILES; key.ino++)
		ASSERT_EQ(0, user_rules__add(&self->rules, &key, NULL));
	ASSERT_EQ(0, user_tables__init(&tables, &self->rules));
	/* Nothing is evicted for now. */
	tables.next_epoch = UINT64_MAX;
	ASSERT_EQ(0, stopped__start(&self->stopped, argv));
	ASSERT_EQ(0, await_exec(&self->stopped));
	self->ring = ring_buffer__new(bpf_map__fd(self->skel->maps.walks), compare, self, NULL);
	ASSERT_NE(NULL, self->ring);
	self->skel->bss->walked_pids[0] = (uint32_t)self->stopped.pid;
	self->wanted = 200;
	self->deadline = clock__now_ns() + PATIENCE_NS;
	while (!tables.closed && compare_some(self) >= 0 && clock__now_ns() < self->deadline)
		ASSERT_EQ(0, user_tables__update(&tables));
	EXPECT_TRUE(tables.closed);
	early = self->early;
	while (self->early < early + 200 && clock__now_ns() < self->deadline) {
		struct pollfd bell = { .fd = user_tables__fd(&tables), .events = POLLIN };

		ASSERT_LE(0, compare_some(self));
		rung += poll(&bell, 1, 0);
		ASSERT_EQ(0, user_tables__update(&tables));
	}
	/* Programs that were running when they were silenced may still have rung. */
	EXPECT_GE(2, rung);
	EXPECT_LT(0, user_tables__timeout(&tables, -1));
	tables.next_epoch = 0;
	self->tables = &tables;
	EXPECT_EQ(0, user_tables__timeout(&tables, -1));
	EXPECT_EQ(0, compare_walks(self));
	EXPECT_LE(200, self->same);
	user_tables__free(&tables);
}

TEST_F(user_walk, tables_that_no_walk_needs_make_room_for_those_that_are_needed)
{
	static const char *const argv[] = { "python3", "-c",
					    "import time\nwhile True: time.sleep(0.0003)", NULL };
	const struct rules_key filler = { .ino = 1, .dev = UINT32_MAX };
	struct user_tables tables;
	size_t early, more;
	int ret;

	ASSERT_LT(RULES_SLABS, fill(self));
	ASSERT_EQ(0, user_tables__init(&tables, &self->rules));
	self->tables = &tables;
	ret = walk_program(self, argv, 1000);
	if (ret == -ENOENT) {
		user_tables__free(&tables);
		SKIP(return, "no python3");
	}
	EXPECT_EQ(0, ret);
	more = self->wanted < 1000 ? self->wanted : 1000;
	EXPECT_LE(self->wanted, self->same);
	EXPECT_EQ(0, self->differ);
	/* Until there was room, walks went on along the frame pointer. */
	EXPECT_LT(0, self->early);
	EXPECT_FALSE(user_rules__has(&self->rules, &filler));
	/* An eviction keeps tables in use. One that was seldom needed, the vDSO's, may go. */
	user_rules__begin_epoch(&self->rules);
	early = self->early;
	self->wanted = self->same + more;
	EXPECT_EQ(0, compare_walks(self));
	EXPECT_LE(0, user_rules__evict(&self->rules));
	self->wanted += more;
	EXPECT_EQ(0, compare_walks(self));
	EXPECT_LE(self->wanted, self->same);
	EXPECT_GE(early + more / 100, self->early);
	user_tables__free(&tables);
}

/*
 * nr walks of a program are libdw's, none is another, and once its last table was made, few could
 * not be compared or ended before the root. False: the program is not there.
 */
static bool walks_are_the_same(struct __test_metadata *_metadata, data *self,
			       const char *const *argv, size_t nr)
{
	const size_t slowness = (size_t)tolerance__slowness();
	int ret = walk_program(self, argv, nr);

	if (ret == -ENOENT)
		return false;
	EXPECT_EQ(0, ret);
	EXPECT_EQ(0, self->differ);
	EXPECT_LE(self->wanted, self->same);
	/* On a slow machine more of them come in what lasts: an exec, the binding of a function. */
	EXPECT_GE(slowness * (self->same / 100 + 10), self->late + self->other);
	/* Code that binds a function keeps its CFA in rbx, for which no rule is made. */
	EXPECT_GE(slowness * (self->same / 500 + 8), self->lacking);
	/* Until tables are made, there may be some hundred walks: few of many thousands. */
	if (self->wanted > nr)
		EXPECT_GE(self->same / 10, self->early);
	/* No frame information tells that the dynamic linker's first function is a root. */
	EXPECT_GE(slowness * ((self->same - self->same_before) / 10 + 20), self->cut);
	return true;
}

TEST_F(user_walk, python3)
{
	static const char script[] =
		"import re, time\n"
		"def nap(x): time.sleep(0.0003); return ''\n"
		"def down(n): return down(n - 1) if n else re.sub('a', nap, 'aaa')\n"
		"while True:\n"
		"  for depth in range(8): sorted([depth], key=lambda d: len(down(d)))\n";
	static const char *const argv[] = { "python3", "-c", script, NULL };

	if (!walks_are_the_same(_metadata, self, argv, 3000))
		SKIP(return, "no python3");
}

TEST_F(user_walk, bash)
{
	static const char script[] =
		"exec 3<> <(:)\n"
		"down() { if (($1)); then down $(($1 - 1)); else read -rt 0.0003 <&3; fi; }\n"
		"while :; do down 3; done\n";
	static const char *const argv[] = { "bash", "-c", script, NULL };

	ASSERT_TRUE(walks_are_the_same(_metadata, self, argv, 1000));
}

TEST_F(user_walk, perl)
{
	static const char script[] =
		"use Time::HiRes qw(ualarm);"
		"sub nap { select(undef, undef, undef, 0.0003); }"
		"sub down { my $n = shift; return $n ? down($n - 1) : nap(); }"
		"$SIG{ALRM} = sub { nap(); };"
		"while (1) { ualarm(200); @x = sort { down(3); $a <=> $b } (3, 2, 1); }";
	static const char *const argv[] = { "perl", "-e", script, NULL };

	if (!walks_are_the_same(_metadata, self, argv, 1000))
		SKIP(return, "no perl");
}

TEST_F(user_walk, cpp_with_exceptions_signals_and_a_thread_in_the_vdso)
{
	static const char *const argv[] = { "naps", NULL };

	if (!walks_are_the_same(_metadata, self, argv, 3000))
		SKIP(return, "no C++ compiler");
}

TEST_F(user_walk, a_static_pie)
{
	static const char *const argv[] = { "naps_static", NULL };

	if (!walks_are_the_same(_metadata, self, argv, 3000))
		SKIP(return, "no C++ compiler");
}

TEST_F(user_walk, rust_with_panics_callbacks_and_a_thread)
{
	static const char *const argv[] = { "nofp_rs", "naps", NULL };

	if (!walks_are_the_same(_metadata, self, argv, 3000))
		SKIP(return, "no Rust compiler");
	EXPECT_LT(0, self->skel->bss->walks_known);
}

/* What is copied of a stack of handlers goes on with that of the thread, which is right above. */
TEST_F(user_walk, signal_handlers_on_a_stack_of_their_own)
{
	static const char *const argv[] = { "nofp", "altnaps", NULL };

	self->through = "nap_in_handler";
	ASSERT_TRUE(walks_are_the_same(_metadata, self, argv, 3000));
	EXPECT_LE(self->wanted / 10, self->nr_through);
}

/* Its frames are described in what .gnu_debugdata packs, where libdw's walk reads them, too. */
TEST_F(user_walk, a_stripped_program_with_packed_debug_information)
{
	static const char *const argv[] = { "nofp_mini", "altnaps", NULL };

	if (!walks_are_the_same(_metadata, self, argv, 1000))
		SKIP(return, "no xz");
}

TEST_F(user_walk, a_return_address_in_a_register)
{
	static const char *const argv[] = { "nofp", "vfork", NULL };

	ASSERT_TRUE(walks_are_the_same(_metadata, self, argv, 1000));
}

/*
 * Walks from an entry of a PLT: those before its push are counted as the same, those behind it as
 * walks through it. By the rule of the other half they would end at a 0, as if they were whole.
 */
static int count_plt(void *ctx, void *record, size_t size)
{
	const struct walked *walked = record;
	data *self = ctx;

	(void)size;
	if (leave_out(self, walked) || !goes_through(self, walked, "plt_entry"))
		return 0;
	if (walked->end != USER_WALK_WHOLE || walked->nr != 3)
		self->differ++;
	else if ((walked->ips[0] & 15) >= 11)
		self->nr_through++;
	else
		self->same++;
	return is_over(self) ? -ECANCELED : 0;
}

TEST_F(user_walk, an_entry_of_a_plt)
{
	static const char *const argv[] = { "plt", NULL };

	self->on_walk = count_plt;
	ASSERT_EQ(0, walk_program(self, argv, 1000));
	EXPECT_EQ(0, self->differ);
	EXPECT_LE(self->wanted, self->same);
	EXPECT_LE(self->wanted / 2, self->nr_through);
}

/* Counts whole walks, and those through main(): what is mapped now need not be what was then. */
static int count_whole(void *ctx, void *record, size_t size)
{
	const struct walked *walked = record;
	data *self = ctx;

	(void)size;
	if (leave_out(self, walked))
		return 0;
	if (walked->end != USER_WALK_WHOLE) {
		self->cut++;
		return 0;
	}
	self->same++;
	self->nr_through += goes_through(self, walked, "main");
	return is_over(self) ? -ECANCELED : 0;
}

TEST_F(user_walk, libraries_that_follow_each_other_in_the_same_place)
{
	char small[PATH_MAX], medium[PATH_MAX];
	const char *const argv[] = { "nofp", "swaps", small, medium, NULL };

	ASSERT_EQ(0, stopped__path("small.so", small, sizeof(small)));
	ASSERT_EQ(0, stopped__path("medium.so", medium, sizeof(medium)));
	self->on_walk = count_whole;
	ASSERT_EQ(0, walk_program(self, argv, 2000));
	EXPECT_LE(self->wanted, self->same);
	/* The others are of the thread that writes the bytes: 3 of 4 in a guest at times. */
	EXPECT_LE(self->wanted / (4 * (size_t)tolerance__slowness()), self->nr_through);
	/*
	 * By rules of the other library a third of the walks are cut; few are in the dynamic
	 * linker, whose first function is not told to be the root.
	 */
	EXPECT_GE((20 + self->same / 20) * (size_t)tolerance__slowness(), self->cut);
}

TEST_F(user_walk, redis)
{
	char path[64];
	const char *const argv[] = { "redis-server", "--port", "0",  "--unixsocket", path,
				     "--hz",	     "500",    NULL };
	bool is_there;

	snprintf(path, sizeof(path), "/tmp/denet-test-%d.sock", (int)getpid());
	is_there = walks_are_the_same(_metadata, self, argv, 1000);
	unlink(path);
	if (!is_there)
		SKIP(return, "no redis-server");
}

/* One process that sorts, groups and sleeps; PostgreSQL does not run as root. */
TEST_F(user_walk, postgres)
{
	static const char script[] =
		"bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)\n"
		"as=(setpriv --reuid=postgres --regid=postgres --clear-groups env HOME=/tmp)\n"
		"install -d -o postgres $1 && cd $1 || exit\n"
		"${as[@]} $bin/initdb -D $1/data -A trust --no-sync >/dev/null\n"
		"exec ${as[@]} $bin/postgres --single -D $1/data postgres < <(yes"
		" \"select relkind, pg_sleep(0.0003), string_agg(relname, ',' order by relname)"
		" from pg_class group by relkind\")\n";
	char dir[64], command[96];
	const char *const argv[] = { "bash", "-c", script, "-", dir, NULL };

	SKIP_FOR(system("test -x /usr/lib/postgresql/*/bin/initdb") ? "no PostgreSQL" : NULL);
	snprintf(dir, sizeof(dir), "/tmp/denet-test-%d.postgres", (int)getpid());
	EXPECT_TRUE(walks_are_the_same(_metadata, self, argv, 2000));
	stopped__free(&self->stopped);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	EXPECT_EQ(0, system(command));
}

TEST_F(user_walk, node)
{
	static const char script[] =
		"const fs = require('fs');"
		"function down(n) { return n ? down(n - 1) : fs.readFileSync('/proc/self/stat'); }"
		"setInterval(() => { for (let i = 0; i < 8; i++) down(i);"
		" Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); }, 1);";
	static const char *const argv[] = { "node", "-e", script, NULL };

	if (!walks_are_the_same(_metadata, self, argv, 1000))
		SKIP(return, "no node");
}

TEST_HARNESS_MAIN
