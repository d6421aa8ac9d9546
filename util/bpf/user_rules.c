/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/user_rules.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cfi/cfi_table.h"

/*
 * A table that lies in the slabs, for all files that have the same one. What is compared is the
 * table itself and not a build-id, which a crafted file could share with a library.
 */
struct placed_table {
	struct rules_file file; /* of any of the files */
	uint32_t nr_wides;
	uint32_t sum; /* of the table: few others have the same */
	uint32_t nr_files;
};

static struct rules_slab *map_memory(int fd)
{
	void *memory = mmap(NULL, sizeof(struct rules_slab), PROT_READ | PROT_WRITE, MAP_SHARED,
			    fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/*
 * A further slab. The map of maps holds it from here on. It takes maps with or without types, as
 * its first one is, but on Linux 6.1 not both.
 */
static int make_slab(struct user_rules *rules, uint32_t nr)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int err = 0, fd;

	if (rules->btf_fd >= 0 && bpf_map__btf_key_type_id(rules->slab0)) {
		opts.btf_fd = (uint32_t)rules->btf_fd;
		opts.btf_key_type_id = bpf_map__btf_key_type_id(rules->slab0);
		opts.btf_value_type_id = bpf_map__btf_value_type_id(rules->slab0);
	}
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "rules_slab", sizeof(uint32_t),
			    sizeof(struct rules_slab), 1, &opts);
	if (fd < 0)
		return -errno;
	rules->memory[nr] = map_memory(fd);
	if (!rules->memory[nr]) {
		err = -errno;
	} else if (bpf_map_update_elem(bpf_map__fd(rules->slabs), &nr, &fd, BPF_ANY)) {
		err = -errno;
		/* No program would find what is written there. */
		munmap(rules->memory[nr], sizeof(struct rules_slab));
		rules->memory[nr] = NULL;
	}
	close(fd);
	return err;
}

/* Without what a further slab takes, those that there are must do. */
static bool is_shortage(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE;
}

/* Where a word lies; NULL with a negative errno in *err. */
static uint32_t *word_at(struct user_rules *rules, uint64_t place, int *err)
{
	uint64_t nr = place >> RULES_SLAB_SHIFT;

	*err = nr < RULES_SLABS ? 0 : -ENOSPC;
	if (!*err && !rules->memory[nr] && nr)
		*err = make_slab(rules, (uint32_t)nr);
	else if (!*err && !rules->memory[nr])
		rules->memory[nr] = map_memory(bpf_map__fd(rules->slab0));
	if (is_shortage(*err) || (!*err && !rules->memory[nr]))
		*err = -ENOSPC;
	return *err ? NULL : &rules->memory[nr]->words[place & (RULES_SLAB_WORDS - 1)];
}

static int put_word(struct user_rules *rules, uint64_t place, uint32_t word)
{
	int err;
	uint32_t *at = word_at(rules, place, &err);

	if (at)
		*at = word;
	return err;
}

/* State of copying a table. */
struct copy {
	uint64_t index;	 /* its place */
	uint32_t shift;	 /* rows lie so much behind where the table has them, */
	uint32_t copied; /* and are copied up to this word of the table */
};

/* The rows of a page, and its word of the index. Pages follow each other and share rows. */
static int copy_page(struct user_rules *rules, struct copy *copy, const struct cfi_table *table,
		     uint32_t page)
{
	uint32_t first = table->words[page] & CFI_RULE_MASK, nr = table->words[page] >> 24;
	uint64_t place = copy->index + copy->shift + first;
	uint64_t left = RULES_SLAB_WORDS - place % RULES_SLAB_WORDS;
	uint32_t from, *to;
	int err;

	if (nr > left) {
		copy->shift += (uint32_t)left;
		copy->copied = first;
	}
	if ((uint64_t)first + copy->shift + nr > CFI_TABLE_WORDS)
		return -E2BIG;
	from = copy->copied > first ? copy->copied : first;
	if (from < first + nr) {
		to = word_at(rules, copy->index + copy->shift + from, &err);
		if (!to)
			return err;
		memcpy(to, &table->words[from], (first + nr - from) * sizeof(*to));
		copy->copied = first + nr;
	}
	return put_word(rules, copy->index + page, nr << 24 | (first + copy->shift));
}

/* What a table may take at most: at the border of each slab that it crosses, rows are moved on. */
static uint32_t most_words(const struct cfi_table *table)
{
	uint32_t borders = table->nr_words / (RULES_SLAB_WORDS - CFI_PAGE_ROWS) + 1;

	return table->nr_words + borders * CFI_PAGE_ROWS;
}

static int copy_table(struct user_rules *rules, const struct cfi_table *table,
		      struct rules_file *file)
{
	struct copy copy = { 0 };
	uint32_t start;
	int err;

	rules->places.nr_places = RULES_SLABS * RULES_SLAB_WORDS;
	err = extents__take(&rules->places, most_words(table), &start);
	if (err)
		return err;
	copy.index = start;
	for (uint32_t page = 0; page < table->nr_pages && !err; page++)
		err = copy_page(rules, &copy, table, page);
	extents__shrink(&rules->places, start, err ? 0 : copy.shift + table->nr_words);
	file->index = start;
	file->start = table->start;
	file->nr_pages = table->nr_pages;
	return err;
}

static int copy_wides(struct user_rules *rules, const struct cfi_table *table,
		      struct rules_file *file)
{
	uint32_t start;
	int err;

	if (!table->nr_wides)
		return 0;
	rules->wide_numbers.nr_places = RULES_WIDES;
	err = extents__take(&rules->wide_numbers, table->nr_wides, &start);
	/* The rest of the table is of use: walks say of these rows alone that they have no rule. */
	if (err == -ENOSPC)
		return 0;
	for (uint32_t i = 0; i < table->nr_wides && !err; i++) {
		uint32_t number = start + i;

		if (bpf_map_update_elem(bpf_map__fd(rules->wides), &number, &table->wides[i],
					BPF_ANY)) {
			err = -errno;
			extents__shrink(&rules->wide_numbers, start, 0);
		}
	}
	if (!err)
		file->wides = start;
	return err;
}

static uint32_t add_words(uint32_t sum, const uint32_t *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		sum = (sum ^ words[i]) * 16777619U;
	return sum;
}

/* Of what is searched, with its structure: words that no page refers to are no part of it. */
static uint32_t sum_of(const struct cfi_table *table)
{
	uint32_t sum = add_words(2166136261U, &table->nr_pages, 1);

	for (uint32_t page = 0; page < table->nr_pages; page++) {
		uint32_t first = table->words[page] & CFI_RULE_MASK, nr = table->words[page] >> 24;

		sum = add_words(add_words(sum, &nr, 1), &table->words[first], nr);
	}
	return sum;
}

/* A word that was placed. */
static uint32_t get_word(const struct user_rules *rules, uint64_t place)
{
	return rules->memory[place >> RULES_SLAB_SHIFT]->words[place & (RULES_SLAB_WORDS - 1)];
}

/* True if a page has the same rows as in the table. */
static bool has_page(const struct user_rules *rules, const struct rules_file *file,
		     const struct cfi_table *table, uint32_t page)
{
	uint32_t word = get_word(rules, (uint64_t)file->index + page), nr = word >> 24;
	uint64_t place = (uint64_t)file->index + (word & CFI_RULE_MASK);
	const uint32_t *rows = &table->words[table->words[page] & CFI_RULE_MASK];

	if (nr != table->words[page] >> 24)
		return false;
	for (uint32_t i = 0; i < nr; i++) {
		if (get_word(rules, place + i) != rows[i])
			return false;
	}
	return true;
}

static bool has_wides(const struct user_rules *rules, const struct placed_table *placed,
		      const struct cfi_table *table)
{
	struct cfi_wide wide;

	/* If there are some, they found no room: those of another table are of no use either. */
	if (placed->file.wides == RULES_WIDES)
		return true;
	for (uint32_t i = 0; i < table->nr_wides; i++) {
		uint32_t number = placed->file.wides + i;

		if (bpf_map_lookup_elem(bpf_map__fd(rules->wides), &number, &wide) ||
		    memcmp(&wide, &table->wides[i], sizeof(wide)))
			return false;
	}
	return true;
}

static bool is_placed(const struct user_rules *rules, const struct placed_table *placed,
		      const struct cfi_table *table, uint32_t sum)
{
	if (placed->sum != sum || placed->nr_wides != table->nr_wides ||
	    placed->file.nr_pages != table->nr_pages || placed->file.start != table->start)
		return false;
	for (uint32_t page = 0; page < table->nr_pages; page++) {
		if (!has_page(rules, &placed->file, table, page))
			return false;
	}
	return has_wides(rules, placed, table);
}

/* The table that has this place. */
static struct placed_table *placed_at(const struct user_rules *rules, uint32_t index)
{
	for (size_t i = 0; i < rules->nr_tables; i++) {
		if (rules->tables[i].file.index == index)
			return &rules->tables[i];
	}
	return NULL;
}

static void give_back(struct user_rules *rules, const struct rules_file *file)
{
	if (file->nr_pages)
		extents__shrink(&rules->places, file->index, 0);
	if (file->wides < RULES_WIDES)
		extents__shrink(&rules->wide_numbers, file->wides, 0);
}

/* No program looks for the file any more; its table goes with the last file that has it. */
static void take_back(struct user_rules *rules, const struct rules_file *file)
{
	struct placed_table *placed = file->nr_pages ? placed_at(rules, file->index) : NULL;

	if (!placed || --placed->nr_files)
		return;
	give_back(rules, file);
	*placed = rules->tables[--rules->nr_tables];
}

/* A table that is not there yet. */
static int place_table(struct user_rules *rules, const struct cfi_table *table, uint32_t sum,
		       struct rules_file *file)
{
	struct placed_table *tables;
	int err;

	tables = reallocarray(rules->tables, rules->nr_tables + 1, sizeof(*tables));
	if (!tables)
		return -ENOMEM;
	rules->tables = tables;
	err = copy_table(rules, table, file);
	if (err)
		return err;
	err = copy_wides(rules, table, file);
	if (err) {
		give_back(rules, file);
		return err;
	}
	tables[rules->nr_tables++] = (struct placed_table){
		.file = *file,
		.nr_wides = table->nr_wides,
		.sum = sum,
		.nr_files = 1,
	};
	return 0;
}

/* Where the table of a further file lies. */
static int find_place(struct user_rules *rules, const struct cfi_table *table,
		      struct rules_file *file)
{
	uint32_t sum;

	if (table->nr_words > CFI_FILE_WORDS)
		return -E2BIG;
	sum = sum_of(table);
	for (size_t i = 0; i < rules->nr_tables; i++) {
		if (!is_placed(rules, &rules->tables[i], table, sum))
			continue;
		*file = rules->tables[i].file;
		rules->tables[i].nr_files++;
		return 0;
	}
	return place_table(rules, table, sum, file);
}

/* Without the stamp. */
static uint64_t inode_of(const struct rules_key *key)
{
	uint64_t id = idmap__mix(idmap__mix(0, key->ino),
				 (uint64_t)key->dev << 32 | key->generation);

	return id == IDMAP_NONE ? 0 : id;
}

static int put_file(struct user_rules *rules, const struct rules_key *key,
		    const struct rules_file *file)
{
	uint64_t *nr = idmap__get(&rules->inodes, inode_of(key));
	int fd = bpf_map__fd(rules->files), err;

	if (!nr)
		return -ENOMEM;
	if (!bpf_map_update_elem(fd, key, file, BPF_NOEXIST)) {
		++*nr;
		return 0;
	}
	/* It was refused before. */
	if (errno == EEXIST && !bpf_map_update_elem(fd, key, file, BPF_EXIST))
		return 0;
	err = errno == E2BIG ? -ENOSPC : -errno;
	if (!*nr)
		idmap__remove(&rules->inodes, inode_of(key));
	return err;
}

/* Takes a file out of the map, not its table. False: it was not there. */
static bool remove_file(struct user_rules *rules, const struct rules_key *key)
{
	uint64_t *nr = idmap__find(&rules->inodes, inode_of(key));

	if (bpf_map_delete_elem(bpf_map__fd(rules->files), key))
		return false;
	if (nr && --*nr == 0)
		idmap__remove(&rules->inodes, inode_of(key));
	return true;
}

static bool is_refused(const struct rules_file *file)
{
	return !file->nr_pages && file->index >= RULES_FORBIDDEN;
}

bool user_rules__has(const struct user_rules *rules, const struct rules_key *key)
{
	struct rules_file file;

	return !bpf_map_lookup_elem(bpf_map__fd(rules->files), key, &file) &&
	       !(is_refused(&file) && file.start);
}

bool user_rules__knows(const struct user_rules *rules, const struct rules_key *key)
{
	const uint64_t *nr = idmap__find(&rules->inodes, inode_of(key));

	return nr && *nr;
}

int user_rules__add(struct user_rules *rules, const struct rules_key *key,
		    const struct cfi_table *table)
{
	struct rules_file file = { .wides = RULES_WIDES };
	int err = 0;

	if (user_rules__has(rules, key))
		return 0;
	if (table && table->nr_pages)
		err = find_place(rules, table, &file);
	if (err)
		return err;
	file.epoch = *rules->epoch;
	/* The words are written before a program can find them: a system call is a barrier. */
	err = put_file(rules, key, &file);
	if (err)
		take_back(rules, &file);
	return err;
}

int user_rules__refuse(struct user_rules *rules, const struct rules_key *key, bool forbidden)
{
	const struct rules_file file = {
		.index = forbidden ? RULES_FORBIDDEN : RULES_REFUSED,
		.wides = RULES_WIDES,
		.epoch = *rules->epoch,
	};

	return user_rules__has(rules, key) ? 0 : put_file(rules, key, &file);
}

void user_rules__ask_again(struct user_rules *rules, const struct rules_key *key)
{
	struct rules_file file;

	if (bpf_map_lookup_elem(bpf_map__fd(rules->files), key, &file) || !is_refused(&file))
		return;
	file.start = 1;
	bpf_map_update_elem(bpf_map__fd(rules->files), key, &file, BPF_EXIST);
}

void user_rules__begin_epoch(struct user_rules *rules)
{
	++*rules->epoch;
}

/* No program finds the files any more, or has found one of them and is still at it. */
static int wait_for_walks(struct user_rules *rules)
{
	int slab0 = bpf_map__fd(rules->slab0);
	uint32_t zero = 0;

	/* A walk may have met one of them in the meantime, and have kept where it lies. */
	user_rules__begin_epoch(rules);
	/* Any update of a map of maps returns only after an RCU grace period. */
	return bpf_map_update_elem(bpf_map__fd(rules->slabs), &zero, &slab0, BPF_ANY) ? -errno : 0;
}

static bool is_unused(const struct user_rules *rules, const struct rules_file *file)
{
	return file->epoch != *rules->epoch || is_refused(file);
}

/* Takes unused files out of the map; gone has room for all. Returns how many. */
static int remove_unused(struct user_rules *rules, struct rules_file *gone)
{
	int fd = bpf_map__fd(rules->files), nr = 0, end;
	struct rules_key key, next;
	struct rules_file file;

	end = bpf_map_get_next_key(fd, NULL, &next);
	while (!end && nr < RULES_FILES) {
		key = next;
		end = bpf_map_get_next_key(fd, &key, &next);
		if (!bpf_map_lookup_elem(fd, &key, &file) && is_unused(rules, &file) &&
		    remove_file(rules, &key))
			gone[nr++] = file;
	}
	return nr;
}

int user_rules__evict(struct user_rules *rules)
{
	struct rules_file *gone;
	int nr, err;

	gone = reallocarray(rules->gone, rules->nr_gone + RULES_FILES, sizeof(*gone));
	if (!gone)
		return -ENOMEM;
	rules->gone = gone;
	nr = remove_unused(rules, gone + rules->nr_gone);
	rules->nr_gone += (size_t)nr;
	err = wait_for_walks(rules);
	if (err)
		return err;
	for (size_t i = 0; i < rules->nr_gone; i++)
		take_back(rules, &gone[i]);
	free(gone);
	rules->gone = NULL;
	rules->nr_gone = 0;
	return nr;
}

int user_rules__each_wanted(struct user_rules *rules,
			    int (*want)(void *ctx, const struct rules_key *key,
					const struct rules_wanted *wanted),
			    void *ctx)
{
	int fd = bpf_map__fd(rules->wanted), ret = 0;
	struct rules_wanted wanted;
	struct rules_key key;

	/* Walks put a file back that they meet again: a turn for each that there may be now. */
	for (int i = 0; i < RULES_WANTED && !ret && !bpf_map_get_next_key(fd, NULL, &key); i++) {
		if (bpf_map_lookup_elem(fd, &key, &wanted) || bpf_map_delete_elem(fd, &key))
			return -errno;
		ret = want(ctx, &key, &wanted);
	}
	return ret;
}

void user_rules__silence(struct user_rules *rules, bool silent)
{
	*rules->silent = silent;
}

int user_rules__open_list(struct user_rules *rules)
{
	int fd;

	if (!rules->list_link)
		rules->list_link = bpf_program__attach_iter(rules->list_code, NULL);
	if (!rules->list_link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(rules->list_link));
	return fd < 0 ? -errno : fd;
}

int user_rules__open_process_list(int program, pid_t pid)
{
	/* Not by the field tid, which older kernels would take for something else. */
	union bpf_iter_link_info info = { .task = { .pid = (uint32_t)pid } };
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &info, .iter_info_len = sizeof(info));
	int link = bpf_link_create(program, 0, BPF_TRACE_ITER, &opts), fd, err;

	if (link < 0)
		return -errno;
	fd = bpf_iter_create(link);
	err = fd < 0 ? -errno : 0;
	close(link);
	return err ? err : fd;
}

uint64_t user_rules__map_bytes(const struct user_rules *rules)
{
	uint64_t bytes = 0;

	for (int i = 1; rules && i < RULES_SLABS; i++)
		bytes += rules->memory[i] ? sizeof(struct rules_slab) : 0;
	return bytes;
}

void user_rules__free(struct user_rules *rules)
{
	bpf_link__destroy(rules->list_link);
	for (int i = 0; i < RULES_SLABS; i++) {
		if (rules->memory[i])
			munmap(rules->memory[i], sizeof(struct rules_slab));
	}
	extents__free(&rules->places);
	extents__free(&rules->wide_numbers);
	idmap__free(&rules->inodes);
	free(rules->tables);
	free(rules->gone);
}
