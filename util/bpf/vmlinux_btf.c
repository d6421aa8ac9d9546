/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/vmlinux_btf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH "/sys/kernel/btf/vmlinux"

/* Size of a type with the data behind it. 0: the kind is not known. */
static size_t type_size(const struct btf_type *type)
{
	size_t nr = BTF_INFO_VLEN(type->info), more;

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		more = 0;
		break;
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		more = sizeof(uint32_t);
		break;
	case BTF_KIND_ARRAY:
		more = sizeof(struct btf_array);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		more = nr * sizeof(struct btf_member);
		break;
	case BTF_KIND_ENUM:
		more = nr * sizeof(struct btf_enum);
		break;
	case BTF_KIND_ENUM64:
		more = nr * sizeof(struct btf_enum64);
		break;
	case BTF_KIND_FUNC_PROTO:
		more = nr * sizeof(struct btf_param);
		break;
	case BTF_KIND_DATASEC:
		more = nr * sizeof(struct btf_var_secinfo);
		break;
	default:
		return 0;
	}
	return sizeof(*type) + more;
}

static const struct btf_type *type_at(const struct vmlinux_btf *btf, uint32_t offset)
{
	return (const struct btf_type *)(const void *)(btf->types + offset);
}

/* Finds where each type begins. */
static int index_types(struct vmlinux_btf *btf, uint32_t len)
{
	uint32_t at = 0;

	/* No type is shorter. */
	btf->offsets = malloc((len / sizeof(struct btf_type) + 1) * sizeof(*btf->offsets));
	if (!btf->offsets)
		return -ENOMEM;
	for (btf->nr = 1; at < len; btf->nr++) {
		size_t size = len - at < sizeof(struct btf_type) ? 0 : type_size(type_at(btf, at));

		if (!size || size > len - at)
			return -EINVAL;
		btf->offsets[btf->nr] = at;
		at += (uint32_t)size;
	}
	return 0;
}

static int find_sections(struct vmlinux_btf *btf)
{
	const struct btf_header *header = btf->data;
	size_t rest;

	if (btf->size < sizeof(*header) || header->magic != BTF_MAGIC ||
	    header->hdr_len < sizeof(*header) || header->hdr_len > btf->size)
		return -EINVAL;
	rest = btf->size - header->hdr_len;
	if (header->type_off > rest || header->type_len > rest - header->type_off ||
	    header->str_off > rest || header->str_len > rest - header->str_off ||
	    (header->hdr_len | header->type_off) % sizeof(uint32_t))
		return -EINVAL;
	btf->types = (const char *)btf->data + header->hdr_len + header->type_off;
	btf->strings = (const char *)btf->data + header->hdr_len + header->str_off;
	btf->strings_len = header->str_len;
	if (!btf->strings_len || btf->strings[btf->strings_len - 1])
		return -EINVAL;
	return index_types(btf, header->type_len);
}

/* Before Linux 6.16 the file cannot be mapped. */
static int read_all(struct vmlinux_btf *btf, int fd)
{
	void *data = mmap(NULL, btf->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
	size_t got = 0;
	ssize_t nr = 1;

	if (data == MAP_FAILED)
		return -errno;
	btf->data = data;
	while (got < btf->size && nr > 0) {
		nr = read(fd, (char *)data + got, btf->size - got);
		got += nr > 0 ? (size_t)nr : 0;
	}
	if (nr < 0)
		return -errno;
	return got == btf->size ? 0 : -EINVAL;
}

static int get_data(struct vmlinux_btf *btf, int fd)
{
	struct stat stat;
	void *data;

	if (fstat(fd, &stat))
		return -errno;
	if (stat.st_size <= 0 || (uint64_t)stat.st_size > UINT32_MAX)
		return -EINVAL;
	btf->size = (size_t)stat.st_size;
	data = mmap(NULL, btf->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return read_all(btf, fd);
	btf->data = data;
	return 0;
}

int vmlinux_btf__open(struct vmlinux_btf *btf, const char *path)
{
	int fd = open(path ? path : PATH, O_RDONLY | O_CLOEXEC), err;

	*btf = (struct vmlinux_btf){ 0 };
	if (fd < 0)
		return -errno;
	err = get_data(btf, fd);
	close(fd);
	if (!err)
		err = find_sections(btf);
	if (err)
		vmlinux_btf__close(btf);
	return err;
}

void vmlinux_btf__close(struct vmlinux_btf *btf)
{
	free(btf->offsets);
	if (btf->data)
		munmap((void *)(uintptr_t)btf->data, btf->size);
	*btf = (struct vmlinux_btf){ 0 };
}

const struct btf_type *vmlinux_btf__type(const struct vmlinux_btf *btf, uint32_t id)
{
	return id && id < btf->nr ? type_at(btf, btf->offsets[id]) : NULL;
}

const char *vmlinux_btf__name(const struct vmlinux_btf *btf, uint32_t offset)
{
	return offset < btf->strings_len ? btf->strings + offset : "";
}

/* Sets wanted entries that match the type and have not been found before. */
static void match(const struct vmlinux_btf *btf, const struct btf_type *type,
		  struct btf_wanted *wanted, size_t nr)
{
	uint32_t kind = BTF_INFO_KIND(type->info);
	const char *name = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (wanted[i].kind != kind || wanted[i].type)
			continue;
		if (!name)
			name = vmlinux_btf__name(btf, type->name_off);
		if (*name == *wanted[i].name && !strcmp(name, wanted[i].name))
			wanted[i].type = type;
	}
}

void vmlinux_btf__find(const struct vmlinux_btf *btf, struct btf_wanted *wanted, size_t nr)
{
	uint64_t kinds = 0;

	for (size_t i = 0; i < nr; i++) {
		wanted[i].type = NULL;
		kinds |= 1ULL << wanted[i].kind;
	}
	for (uint32_t id = 1; id < btf->nr; id++) {
		const struct btf_type *type = type_at(btf, btf->offsets[id]);

		if (kinds >> BTF_INFO_KIND(type->info) & 1)
			match(btf, type, wanted, nr);
	}
}

const struct btf_member *vmlinux_btf__member(const struct vmlinux_btf *btf,
					     const struct btf_type *type, const char *name)
{
	const struct btf_member *members = (const struct btf_member *)(type + 1);

	for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info); i++) {
		if (!strcmp(vmlinux_btf__name(btf, members[i].name_off), name))
			return &members[i];
	}
	return NULL;
}
