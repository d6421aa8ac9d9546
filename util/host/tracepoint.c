/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/tracepoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <traceevent/event-parse.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/log.h"
#include "host/similar.h"

/* Formats have some kilobytes, those with large enumerations some tens. */
#define MAX_FORMAT (1u << 20)

static const char *const usual[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

/* The mount point of tracefs; NULL (logged): there is none. */
static const char *find_tracefs(const char *names)
{
	char path[PATH_MAX];
	int err = 0;

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		snprintf(path, sizeof(path), "%s/events", usual[i]);
		if (!access(path, F_OK))
			return usual[i];
		if (errno == EACCES)
			err = EACCES;
	}
	if (err)
		pr_err("-e %s: no permission to read %s: run as root, or `mount -o "
		       "remount,mode=755 %s` as root",
		       names, usual[0], usual[0]);
	else
		pr_err("-e %s: tracefs is not mounted: `mount -t tracefs tracefs %s` as root",
		       names, usual[0]);
	return NULL;
}

bool tracepoint__is_there(const char *system, const char *event)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		snprintf(path, sizeof(path), "%s/events/%s/%s/id", usual[i], system, event);
		if (!access(path, R_OK))
			return true;
	}
	return false;
}

/* Appends a file and a NUL. 0 or a negative errno. */
static int read_file(const char *path, struct buffer *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	char chunk[4096];
	ssize_t len = 1;

	if (fd < 0)
		return -errno;
	while (!err && len > 0 && out->len < MAX_FORMAT) {
		len = read(fd, chunk, sizeof(chunk));
		err = len < 0 ? -errno : buffer__append(out, chunk, (size_t)len);
	}
	close(fd);
	return err ? err : buffer__append(out, "", 1);
}

/* Splits "SUBSYS:NAME". 0, or -EINVAL if that is no name of a directory of tracefs. */
static int split(struct tracepoint *tracepoint, const char **event)
{
	const char *colon = strchr(tracepoint->name, ':');

	if (!colon || colon == tracepoint->name || !colon[1] || strchr(colon + 1, ':') ||
	    strchr(tracepoint->name, '/') || *tracepoint->name == '.' || colon[1] == '.')
		return -EINVAL;
	*event = colon + 1;
	tracepoint->system = strndup(tracepoint->name, (size_t)(colon - tracepoint->name));
	return tracepoint->system ? 0 : -ENOMEM;
}

static void explain_missing(const struct tracepoint *tracepoint, const char *event,
			    const char *tracefs)
{
	char path[PATH_MAX], names[256];
	bool has_system;

	snprintf(path, sizeof(path), "%s/events/%s", tracefs, tracepoint->system);
	has_system = !access(path, F_OK);
	if (!has_system)
		snprintf(path, sizeof(path), "%s/events", tracefs);
	similar__names(path, has_system ? event : tracepoint->system, names, sizeof(names));
	pr_err("-e %s: the kernel has no %s %s%s%s; `ls %s` lists all", tracepoint->name,
	       has_system ? "such tracepoint in" : "subsystem", tracepoint->system,
	       *names ? "; similar: " : "", names, path);
}

/* Parses the format with libtraceevent, as perf will. */
static int parse(struct tracepoint *tracepoint)
{
	const char *name = strchr(tracepoint->name, ':') + 1;
	struct tep_event *event;
	struct tep_handle *tep;
	enum tep_errno err;

	tep_set_loglevel(TEP_LOG_NONE);
	tep = tep_alloc();
	if (!tep)
		return -ENOMEM;
	tep_set_long_size(tep, sizeof(long));
	err = tep_parse_event(tep, tracepoint->format, strlen(tracepoint->format),
			      tracepoint->system);
	event = tep_find_event_by_name(tep, tracepoint->system, name);
	/* How it prints may be beyond the parser: readers then show the fields. */
	if (event && event->id > 0 && event->id <= UINT16_MAX)
		tracepoint->id = (uint16_t)event->id;
	if (err && tracepoint->id)
		pr_verbose("%s: only the fields are printed, not the sentence that the kernel "
			   "makes of them",
			   tracepoint->name);
	tep_free(tep);
	return tracepoint->id ? 0 : -EINVAL;
}

static int read_format(struct tracepoint *tracepoint, const char *tracefs)
{
	struct buffer text = { 0 };
	const char *event = "";
	char path[PATH_MAX];
	int err = split(tracepoint, &event);

	if (!err) {
		snprintf(path, sizeof(path), "%s/events/%s/%s/format", tracefs, tracepoint->system,
			 event);
		err = read_file(path, &text);
	}
	if (err == -ENOENT || err == -ENOTDIR)
		explain_missing(tracepoint, event, tracefs);
	else if (err == -EACCES || err == -EPERM)
		pr_err("-e %s: no permission to read %s: run as root, or `mount -o "
		       "remount,mode=755 %s` as root",
		       tracepoint->name, path, tracefs);
	else if (err == -EINVAL)
		pr_err("-e %s: no tracepoint: its name is SUBSYS:NAME, such as sched:sched_switch",
		       tracepoint->name);
	else if (err)
		pr_err("-e %s: cannot read its format: %s", tracepoint->name, strerror(-err));
	if (err) {
		buffer__free(&text);
		return err;
	}
	tracepoint->format = text.data;
	err = parse(tracepoint);
	if (err)
		pr_err("-e %s: %s is no format that libtraceevent can parse", tracepoint->name,
		       path);
	return err;
}

static bool has(const struct tracepoint_list *list, const char *name, size_t len)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (!strncmp(list->all[i].name, name, len) && !list->all[i].name[len])
			return true;
	}
	return false;
}

static int add(struct tracepoint_list *list, const char *name, size_t len, const char *tracefs)
{
	struct tracepoint *more;

	if (list->nr == TRACEPOINTS_MAX) {
		pr_err("-e: more than %d tracepoints: leave some out", TRACEPOINTS_MAX);
		return -E2BIG;
	}
	more = reallocarray(list->all, list->nr + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	list->all = more;
	more += list->nr++;
	*more = (struct tracepoint){ .name = strndup(name, len) };
	return more->name ? read_format(more, tracefs) : -ENOMEM;
}

int tracepoint_list__read(struct tracepoint_list *list, const char *names, const char *tracefs)
{
	size_t len;
	int err = 0;

	*list = (struct tracepoint_list){ 0 };
	if (!tracefs)
		tracefs = find_tracefs(names);
	if (!tracefs)
		return -ENOENT;
	for (const char *name = names; !err; name += len + 1) {
		len = strcspn(name, ",");
		if (!has(list, name, len))
			err = add(list, name, len, tracefs);
		if (!name[len])
			break;
	}
	if (err)
		tracepoint_list__free(list);
	return err;
}

void tracepoint_list__free(struct tracepoint_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->all[i].name);
		free(list->all[i].system);
		free(list->all[i].format);
	}
	free(list->all);
	*list = (struct tracepoint_list){ 0 };
}
