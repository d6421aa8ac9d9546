/* SPDX-License-Identifier: GPL-2.0-only */
/* Recognizes the container that a cgroup belongs to. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "host/cgroup.h"

#define ID_DIGITS 64
#define ID_SHORT 12 /* as many as `docker ps` shows */

/* A name to compare, without its manager's additions. */
struct name {
	char text[NAME_MAX + 1];
};

/* systemd writes a dash in a name as \x2d, since its own dashes tell slices apart. */
static void unescape(struct name *name, const char *text)
{
	size_t n = 0;

	for (; *text && n < sizeof(name->text) - 1; n++) {
		if (text[0] == '\\' && text[1] == 'x' && units__hex_digit(text[2]) >= 0 &&
		    units__hex_digit(text[3]) >= 0) {
			name->text[n] = (char)(units__hex_digit(text[2]) << 4 |
					       units__hex_digit(text[3]));
			text += 4;
		} else {
			name->text[n] = *text++;
		}
	}
	name->text[n] = '\0';
}

static void cut_suffix(struct name *name)
{
	static const char *const suffixes[] = { ".scope", ".service", ".slice" };
	size_t len = strlen(name->text), suffix;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		suffix = strlen(suffixes[i]);
		if (len > suffix && !strcmp(name->text + len - suffix, suffixes[i])) {
			name->text[len - suffix] = '\0';
			return;
		}
	}
}

static const char *without_prefix(const char *text)
{
	static const char *const prefixes[] = {
		"docker-",  "libpod-",  "cri-containerd-", "crio-",
		"nerdctl-", "machine-", "systemd-nspawn@", "lxc.payload.",
	};
	size_t len;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		len = strlen(prefixes[i]);
		if (!strncmp(text, prefixes[i], len))
			return text + len;
	}
	return text;
}

static bool is_hex(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (units__hex_digit(text[i]) < 0)
			return false;
	}
	return text[len] == '\0';
}

/* The full id, or as much of it as is shown to users. */
static bool is_id(const char *text, const char *name)
{
	size_t len = strlen(name);

	return strlen(text) == ID_DIGITS && is_hex(text, ID_DIGITS) && len >= ID_SHORT &&
	       len <= ID_DIGITS && !strncmp(text, name, len);
}

/* libvirt's "qemu-3-NAME", "lxc-12-NAME": driver, number of the run, name. */
static bool is_domain(const char *text, const char *name)
{
	const char *number = strchr(text, '-');
	const char *rest = number ? strchr(number + 1, '-') : NULL;

	if (!rest || rest == number + 1 ||
	    strspn(number + 1, "0123456789") != (size_t)(rest - number - 1))
		return false;
	return !strcmp(rest + 1, name);
}

/* "pod<uid>", or systemd's "kubepods-burstable-pod<uid>" with its dashes written as _. */
static bool is_pod(const char *text, const char *name)
{
	const char *uid = text;
	size_t i;

	if (!strncmp(text, "kubepods", 8)) {
		uid = strstr(text, "-pod");
		uid = uid ? uid + 1 : text;
	}
	if (strncmp(uid, "pod", 3))
		return false;
	uid += 3;
	for (i = 0; uid[i] && name[i]; i++) {
		if (uid[i] != name[i] && !(uid[i] == '_' && name[i] == '-'))
			return false;
	}
	return i && uid[i] == name[i];
}

bool cgroup_name__matches(const char *leaf, const char *name)
{
	struct name body;
	const char *inner;

	if (!*name)
		return false;
	if (!strcmp(leaf, name))
		return true;
	unescape(&body, leaf);
	if (!strcmp(body.text, name))
		return true;
	cut_suffix(&body);
	inner = without_prefix(body.text);
	return !strcmp(body.text, name) || !strcmp(inner, name) || is_id(inner, name) ||
	       is_domain(inner, name) || is_pod(body.text, name);
}

/* Whether the managers of machines, not those of ids, have given a cgroup its name. */
static bool is_machine(const char *text)
{
	static const char *const prefixes[] = { "machine-", "systemd-nspawn@", "lxc.payload." };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (!strncmp(text, prefixes[i], strlen(prefixes[i])))
			return true;
	}
	return false;
}

/*
 * The container of one name of a path, whose parent has so many bytes at parent. Names of slices
 * begin like those of machines.
 */
static void put_container(const char *leaf, const char *parent, size_t parent_len, char *buf,
			  size_t size)
{
	struct name body;
	size_t len = strlen(leaf);
	const char *inner;

	*buf = '\0';
	if (len > 6 && !strcmp(leaf + len - 6, ".slice"))
		return;
	unescape(&body, leaf);
	cut_suffix(&body);
	inner = without_prefix(body.text);
	if (strlen(inner) == ID_DIGITS && is_hex(inner, ID_DIGITS))
		snprintf(buf, size, "%.*s", ID_SHORT, inner);
	else if (is_machine(body.text) ||
		 (parent_len == strlen("lxc") && !strncmp(parent, "lxc", parent_len)))
		snprintf(buf, size, "%s", inner);
}

void cgroup_name__container(const char *path, char *buf, size_t size)
{
	char leaf[NAME_MAX + 1], found[NAME_MAX + 1];
	const char *parent = "";
	size_t parent_len = 0, len;

	*buf = '\0';
	for (const char *at = path; *at; at += len) {
		at += strspn(at, "/");
		len = strcspn(at, "/");
		snprintf(leaf, sizeof(leaf), "%.*s", (int)len, at);
		put_container(leaf, parent, parent_len, found, sizeof(found));
		if (*found)
			snprintf(buf, size, "%s", found);
		parent = at;
		parent_len = len;
	}
}
