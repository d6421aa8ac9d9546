/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/bcc/bcc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "base/units.h"
#include "base/utf8.h"

/* A stack as it is printed: the sum of all entries with the same text. */
struct row {
	const char *comm;
	uint32_t id;	/* of the thread or process; 0: none is shown */
	uint32_t nr;	/* labels */
	size_t first;	/* of them, leaf first, kernel before user */
	uint32_t stack; /* with addresses: that is all the labels tell */
	uint64_t ns;
};

struct table {
	const struct profile *profile;
	const struct bcc_form *form;
	struct buffer labels; /* uint32_t, of one row after the other */
	struct buffer rows;   /* struct row */
	struct idmap row_by_hash;
};

static const uint32_t *labels_of(const struct table *table, const struct row *row)
{
	return (const uint32_t *)table->labels.data + row->first;
}

static uint64_t hash_of(const struct table *table, const struct row *row)
{
	uint64_t hash = idmap__mix((uintptr_t)row->comm, (uint64_t)row->id << 32 | row->nr);

	hash = idmap__mix(hash, row->stack);
	for (uint32_t i = 0; i < row->nr; i++)
		hash = idmap__mix(hash, labels_of(table, row)[i]);
	return hash;
}

static bool is_same(const struct table *table, const struct row *a, const struct row *b)
{
	return a->comm == b->comm && a->id == b->id && a->nr == b->nr &&
	       a->stack == b->stack &&
	       (!a->nr || !memcmp(labels_of(table, a), labels_of(table, b),
				  a->nr * sizeof(uint32_t)));
}

/* Adds the row, whose labels are the last ones, or its time to the one that looks the same. */
static int add_row(struct table *table, const struct row *row)
{
	uint64_t hash = hash_of(table, row), *index;

	for (;; hash++) {
		struct row *other;

		index = idmap__get(&table->row_by_hash, hash == IDMAP_NONE ? hash = 0 : hash);
		if (!index)
			return -ENOMEM;
		if (!*index)
			break;
		other = (struct row *)table->rows.data + *index - 1;
		if (!is_same(table, row, other))
			continue;
		other->ns += row->ns;
		table->labels.len = row->first * sizeof(uint32_t);
		return 0;
	}
	*index = table->rows.len / sizeof(*row) + 1;
	return buffer__append(&table->rows, row, sizeof(*row));
}

/* Names are of the profile's strings: equal ones have one address. */
static void name_row(const struct table *table, const struct profile_entry *entry, struct row *row)
{
	row->comm = entry->comm;
	if (table->form->by == BCC_BY_PID) {
		row->comm = entry->process;
		row->id = entry->pid;
	} else if (table->form->by == BCC_BY_TID) {
		row->id = entry->tid;
	}
	if (table->form->folded)
		row->id = 0;
}

static int add_entry(struct table *table, const struct profile_entry *entry)
{
	struct row row = { .first = table->labels.len / sizeof(uint32_t), .ns = entry->ns };
	size_t nr = profile__labels(table->profile, entry->stack, NULL, 0);
	uint32_t *labels = buffer__reserve(&table->labels, nr * sizeof(*labels) + 1);

	if (!labels)
		return -ENOMEM;
	row.nr = (uint32_t)profile__labels(table->profile, entry->stack, labels, nr);
	table->labels.len += nr * sizeof(*labels);
	row.stack = table->form->addresses ? entry->stack + 1 : 0;
	name_row(table, entry, &row);
	return add_row(table, &row);
}

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Terminals take these bytes for commands, those of ISO 6429 in UTF-8 as well. */
static bool is_control(const char *at)
{
	const unsigned char *byte = (const unsigned char *)at;

	return *byte < ' ' || *byte == 0x7f || (*byte == 0xc2 && byte[1] < 0xa0);
}

/* How many bytes are printed as they are, of a text that is mostly such. */
static size_t plain_bytes(const char *name, const struct bcc_form *form)
{
	size_t nr = 0;

	while (name[nr] >= ' ' && name[nr] < 0x7f && !(form->folded && name[nr] == ';'))
		nr++;
	return nr;
}

static void print_name(const char *name, const struct bcc_form *form, FILE *out)
{
	for (;;) {
		size_t bytes = plain_bytes(name, form);

		fwrite(name, 1, bytes, out);
		name += bytes;
		if (!*name)
			return;
		bytes = utf8__bytes(name);
		if (!bytes)
			fputs("\xef\xbf\xbd", out);
		else if (is_control(name))
			fputc('?', out);
		else if (form->folded && *name == ';')
			fputc(':', out);
		else
			fwrite(name, 1, bytes, out);
		name += bytes ? bytes : 1;
	}
}

static const struct symbol_label *label_at(const struct table *table, const struct row *row,
					   uint32_t i)
{
	return profile__label(table->profile, labels_of(table, row)[i]);
}

/* Whether between that frame and the next one the kernel ends and the program begins. */
static bool is_border(const struct table *table, const struct row *row, uint32_t i)
{
	return i + 1 < row->nr && label_at(table, row, i)->kernel &&
	       !label_at(table, row, i + 1)->kernel;
}

static void print_folded(const struct table *table, const struct row *row, uint64_t time, FILE *out)
{
	print_name(*row->comm ? row->comm : "?", table->form, out);
	for (uint32_t i = row->nr; i-- > 0;) {
		if (table->form->delimited && is_border(table, row, i))
			fputs(";-", out);
		fputc(';', out);
		print_name(label_at(table, row, i)->name, table->form, out);
	}
	fprintf(out, " %" PRIu64 "\n", time);
}

/* "#0  0xADDRESS FUNCTION+0xOFFSET (FILE+0xOFFSET)", without the file in the kernel. */
static void print_as_libbpf(const struct table *table, size_t i, const struct profile_frame *frame,
			    FILE *out)
{
	const struct symbol_label *label = frame->place.label;

	fprintf(out, label->kernel ? "#%-2zu 0x%" PRIx64 : "#%-2zu 0x%016" PRIx64, i,
		frame->address);
	if (label->known || label->kernel)
		fputc(' ', out);
	if (label->known) {
		print_name(label->name, table->form, out);
		fprintf(out, "+0x%" PRIx64, frame->place.in_function);
	} else if (label->kernel) {
		fputs("[unknown]", out);
	}
	if (!label->kernel && *label->place) {
		fputs(" (", out);
		print_name(label->place, table->form, out);
		fprintf(out, "+0x%" PRIx64 ")", frame->place.in_file);
	}
}

static void print_with_addresses(const struct table *table, const struct row *row, FILE *out)
{
	size_t nr = profile__nr_frames(table->profile, row->stack - 1);
	bool in_kernel = false;

	for (size_t i = 0; i < nr; i++) {
		const struct profile_frame frame =
			profile__frame(table->profile, row->stack - 1, i);
		const struct symbol_label *label = frame.place.label;

		if (table->form->delimited && in_kernel && !label->kernel)
			fputs("    --\n", out);
		in_kernel = label->kernel;
		fputs("    ", out);
		if (table->form->libbpf) {
			print_as_libbpf(table, i, &frame, out);
		} else {
			fprintf(out, "%-16" PRIx64 " ", frame.address);
			print_name(label->name, table->form, out);
		}
		fputc('\n', out);
	}
}

static void print_names(const struct table *table, const struct row *row, FILE *out)
{
	for (uint32_t i = 0; i < row->nr; i++) {
		fputs("    ", out);
		print_name(label_at(table, row, i)->name, table->form, out);
		fputc('\n', out);
		if (table->form->delimited && is_border(table, row, i))
			fputs("    --\n", out);
	}
}

static void print_stack(const struct table *table, const struct row *row, uint64_t time, FILE *out)
{
	(table->form->addresses ? print_with_addresses : print_names)(table, row, out);
	fprintf(out, "    %-16s ", "-");
	print_name(*row->comm ? row->comm : "?", table->form, out);
	if (table->form->by != BCC_BY_COMM)
		fprintf(out, " (%" PRIu32 ")", row->id);
	fprintf(out, "\n        %" PRIu64 "\n\n", time);
}

static int make_rows(struct table *table)
{
	const struct profile_entry *entries;
	size_t nr;
	int err = 0;

	entries = profile__entries(table->profile, &nr);
	for (size_t i = 0; i < nr && !err; i++)
		err = add_entry(table, &entries[i]);
	nr = table->rows.len / sizeof(struct row);
	if (nr)
		qsort(table->rows.data, nr, sizeof(struct row), compare);
	return err;
}

int bcc__write(const struct profile *profile, const struct bcc_form *form, FILE *out)
{
	struct table table = { .profile = profile, .form = form };
	int err = make_rows(&table);

	for (size_t i = 0; i < table.rows.len / sizeof(struct row) && !err; i++) {
		const struct row *row = (const struct row *)table.rows.data + i;
		uint64_t time = form->ns ? row->ns : row->ns / NSEC_PER_USEC;

		if (!time)
			continue;
		(form->folded ? print_folded : print_stack)(&table, row, time, out);
		err = ferror(out) ? -EIO : 0;
	}
	buffer__free(&table.labels);
	buffer__free(&table.rows);
	idmap__free(&table.row_by_hash);
	return err;
}

void bcc__print_header(const struct bcc_form *form, const char *threads, uint64_t duration_ns,
		       FILE *out)
{
	const char *stacks = form->no_kernel ? "user" : form->no_user ? "kernel" : "user + kernel";

	if (form->folded || form->libbpf)
		return;
	fprintf(out, "Tracing off-CPU time (%s) of ", form->ns ? "ns" : "us");
	print_name(threads, form, out);
	fprintf(out, " by %s stack", stacks);
	if (!duration_ns)
		fputs("... Hit Ctrl-C to end.\n", out);
	else if (duration_ns % NSEC_PER_SEC)
		fprintf(out, " for %g secs.\n", (double)duration_ns / (double)NSEC_PER_SEC);
	else
		fprintf(out, " for %" PRIu64 " secs.\n", (uint64_t)(duration_ns / NSEC_PER_SEC));
}
