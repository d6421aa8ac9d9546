/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/users.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"

#ifdef DENET_STATIC
#define DATABASE "/etc/passwd, the only user database that this static program reads,"

/* getpwnam(3) would load libraries of the machine's own. A name of NULL: looks for the number. */
static const struct passwd *look_up(const char *name, uint32_t uid)
{
	struct passwd *entry = NULL;
	FILE *file = fopen("/etc/passwd", "re");

	if (!file)
		return NULL;
	do
		entry = fgetpwent(file);
	while (entry && (name ? strcmp(entry->pw_name, name) != 0 : entry->pw_uid != uid));
	fclose(file);
	return entry;
}
#else
#define DATABASE "`getent passwd`"

static const struct passwd *look_up(const char *name, uint32_t uid)
{
	return name ? getpwnam(name) : getpwuid(uid);
}
#endif

/* A name comes first, as in perf and chown(1): there are users whose name is a number. */
static int find_user(const char *name, uint64_t *uid)
{
	const struct passwd *entry;

	if (!*name) {
		pr_err("-u: the name of a user is empty");
		return -EINVAL;
	}
	entry = look_up(name, 0);
	if (entry) {
		*uid = entry->pw_uid;
		return 0;
	}
	/* The largest number means "no user" to the kernel. */
	if (!units__parse_number(name, UINT32_MAX - 1, uid))
		return 0;
	pr_err("-u %s: there is no such user; give a name that " DATABASE " knows, or a number",
	       name);
	return -ENOENT;
}

int users__resolve(struct id_list *uids, const char *text)
{
	char *copy = strdup(text), *rest = copy;
	uint64_t uid = 0;
	int err = 0;

	if (!copy)
		return -ENOMEM;
	for (char *name; !err && (name = strsep(&rest, ","));) {
		err = find_user(name, &uid);
		if (!err)
			err = id_list__add(uids, (pid_t)uid);
	}
	free(copy);
	return err;
}

char *users__name(uint32_t uid, char *buf, size_t size)
{
	const struct passwd *entry = look_up(NULL, uid);

	if (entry)
		snprintf(buf, size, "%s", entry->pw_name);
	else
		snprintf(buf, size, "%" PRIu32, uid);
	return buf;
}
