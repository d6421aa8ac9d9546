/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/rotation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"

/* Names to try when files follow each other faster than the resolution of their names. */
#define TRIES 100
#define STAMPS_PER_SEC 100

/* The units h and d are this option's alone; 'm' is minutes, as in perf. */
static int parse_time(const char *text, size_t len, uint64_t *ns)
{
	static const struct {
		char letter;
		uint64_t ns;
	} units[] = {
		{ 's', NSEC_PER_SEC },
		{ 'm', 60 * NSEC_PER_SEC },
		{ 'h', 3600 * NSEC_PER_SEC },
		{ 'd', 86400 * NSEC_PER_SEC },
	};
	char number[32];

	if (len > 2 && !strcmp(text + len - 2, "ms"))
		return units__parse_time(text, 1, ns);
	if (len - 1 >= sizeof(number) || strspn(text, "0123456789.") != len - 1)
		return -EINVAL;
	memcpy(number, text, len - 1);
	number[len - 1] = '\0';
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (text[len - 1] == units[i].letter)
			return units__parse_time(number, units[i].ns, ns);
	}
	return -EINVAL;
}

int rotation__parse(struct rotation_options *options, const char *text)
{
	struct rotation_options parsed = { .enabled = true, .max_files = options->max_files };
	size_t len = strlen(text);
	int err = 0;

	if (!len)
		return -EINVAL;
	if (strchr("BKMG", text[len - 1]))
		err = units__parse_size(text, &parsed.size);
	else if (strcmp(text, "signal"))
		err = parse_time(text, len, &parsed.time_ns);
	if (err)
		return err;
	if (strcmp(text, "signal") && !parsed.size && !parsed.time_ns)
		return -EINVAL;
	*options = parsed;
	return 0;
}

int rotation__init(struct rotation *rotation, const struct rotation_options *options,
		   const char *path)
{
	*rotation = (struct rotation){ .options = *options, .path = path };
	if (!options->max_files)
		return 0;
	rotation->names = calloc(options->max_files, sizeof(*rotation->names));
	return rotation->names ? 0 : -ENOMEM;
}

void rotation__free(struct rotation *rotation)
{
	for (size_t i = 0; rotation->names && i < rotation->options.max_files; i++)
		free(rotation->names[i]);
	free(rotation->names);
	rotation->names = NULL;
	free(rotation->last);
	rotation->last = NULL;
}

void rotation__begin(struct rotation *rotation, uint64_t now, uint64_t preface)
{
	rotation->began = now;
	rotation->preface = preface;
}

uint64_t rotation__due(const struct rotation *rotation)
{
	if (!rotation->options.time_ns)
		return UINT64_MAX;
	return rotation->began + rotation->options.time_ns;
}

bool rotation__is_full(const struct rotation *rotation, uint64_t now, uint64_t bytes)
{
	if (rotation->options.size && bytes >= rotation->preface + rotation->options.size)
		return true;
	return now >= rotation__due(rotation);
}

/*
 * The time for the name of a file that ends now. Names sort by age: where files end faster than the
 * resolution of names, the next one is the last plus one, even if the last name is free again. (If
 * the clock was set back further than that, its time is used.)
 */
static uint64_t next_stamp(const struct rotation *rotation)
{
	struct timespec now;
	uint64_t stamp;

	clock_gettime(CLOCK_REALTIME, &now);
	stamp = (uint64_t)now.tv_sec * STAMPS_PER_SEC +
		(uint64_t)now.tv_nsec / (1000000000 / STAMPS_PER_SEC);
	if (stamp <= rotation->stamp && rotation->stamp - stamp < TRIES)
		stamp = rotation->stamp + 1;
	return stamp;
}

/* Returns NULL if there is no memory. */
static char *make_name(const struct rotation *rotation, uint64_t stamp)
{
	time_t seconds = (time_t)(stamp / STAMPS_PER_SEC);
	char text[32] = "";
	struct tm local;
	char *name;

	localtime_r(&seconds, &local);
	strftime(text, sizeof(text), "%Y%m%d%H%M%S", &local);
	if (asprintf(&name, "%s.%s%02u", rotation->path, text,
		     (unsigned int)(stamp % STAMPS_PER_SEC)) < 0)
		return NULL;
	return name;
}

/* Never replaces another file; where the file system cannot guarantee that, checks first. */
static int rename_once(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL)
		return -errno;
	if (!access(to, F_OK))
		return -EEXIST;
	return rename(from, to) ? -errno : 0;
}

static int rename_file(struct rotation *rotation, char **name)
{
	uint64_t stamp = next_stamp(rotation);
	int err = -EEXIST;

	*name = NULL;
	for (unsigned int try = 0; try < TRIES && err == -EEXIST; try++) {
		free(*name);
		rotation->stamp = stamp + try;
		*name = make_name(rotation, rotation->stamp);
		if (!*name)
			return -ENOMEM;
		err = rename_once(rotation->path, *name);
	}
	return err;
}

static void remove_oldest(struct rotation *rotation, char *name)
{
	char **slot = &rotation->names[rotation->next];

	if (*slot && unlink(*slot) && errno != ENOENT)
		pr_warn("cannot remove %s: %s", *slot, strerror(errno));
	free(*slot);
	*slot = name;
	rotation->next = (rotation->next + 1) % rotation->options.max_files;
}

void rotation__end(struct rotation *rotation)
{
	char *name;
	int err;

	free(rotation->last);
	rotation->last = NULL;
	err = rename_file(rotation, &name);
	if (err) {
		pr_warn("cannot rename %s to %s: %s; the next file takes its name, and it becomes "
			"%s.old",
			rotation->path, name ? name : "another name", strerror(-err),
			rotation->path);
		free(name);
		return;
	}
	pr_info("wrote %s", name);
	rotation->last = strdup(name);
	if (rotation->names)
		remove_oldest(rotation, name);
	else
		free(name);
}
