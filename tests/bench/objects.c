/* SPDX-License-Identifier: GPL-2.0-only */
#include "bench/objects.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_IDS 512

/* Ids counted already: a process may hold an object by several descriptors. */
struct ids {
	uint64_t id[MOST_IDS];
	size_t nr;
};

struct look {
	struct objects *objects;
	struct ids programs;
	struct ids maps;
};

static bool ids__add(struct ids *ids, uint64_t id)
{
	for (size_t i = 0; i < ids->nr; i++) {
		if (ids->id[i] == id)
			return false;
	}
	if (ids->nr == MOST_IDS)
		return false;
	ids->id[ids->nr++] = id;
	return true;
}

/* The number behind a key at the beginning of a line; 0: there is none. */
static uint64_t value_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, len) && line[len] == ':')
			return strtoull(line + len + 1, NULL, 10);
	}
	return 0;
}

/* A link tells its program's id, but not how long that ran: its own descriptor does. */
static void look__add(struct look *look, const char *text)
{
	uint64_t program = value_of(text, "prog_id"), map = value_of(text, "map_id");

	if (map && ids__add(&look->maps, map)) {
		look->objects->maps++;
		look->objects->map_bytes += value_of(text, "memlock");
	}
	if (program && !value_of(text, "link_id") && ids__add(&look->programs, program)) {
		look->objects->programs++;
		look->objects->run_ns += value_of(text, "run_time_ns");
		look->objects->run_count += value_of(text, "run_cnt");
	}
}

static void look__read_file(struct look *look, const char *path)
{
	FILE *file = fopen(path, "re");
	char text[4096];
	size_t len;

	/* A descriptor may be gone by now. */
	if (!file)
		return;
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	look__add(look, text);
}

int objects__read(struct objects *objects, pid_t pid)
{
	struct look look = { .objects = objects };
	char path[320], dirname[64];
	struct dirent *entry;
	DIR *dir;

	*objects = (struct objects){ 0 };
	snprintf(dirname, sizeof(dirname), "/proc/%d/fdinfo", pid);
	dir = opendir(dirname);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dirname, entry->d_name);
		look__read_file(&look, path);
	}
	closedir(dir);
	return 0;
}
