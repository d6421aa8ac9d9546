/* SPDX-License-Identifier: GPL-2.0-only */
/* This program, the kernel, and the administrator's settings. */
#include "check/check.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/capabilities.h"
#include "host/sysctl.h"

/* A little more than descriptors__reserve() requests at the start of a recording. */
#define DESCRIPTORS_WANTED 128

#if defined(__x86_64__)
#define BUILT_FOR "x86_64"
#elif defined(__aarch64__)
#define BUILT_FOR "aarch64"
#else
#define BUILT_FOR "another architecture"
#endif

#ifdef DENET_STATIC
#define LINKED "static: users by number or /etc/passwd"
#else
#define LINKED "dynamic"
#endif

/* The path of this program: a machine may have several. */
static void check_program(struct check *check)
{
	struct check_row *row = check__add(check, "machine", CHECK_INFO, "denet");

	if (row)
		snprintf(row->value, sizeof(row->value), "%s %s (%s)", DENET_VERSION, BUILT_FOR,
			 LINKED);
}

static void check_kernel(struct check *check)
{
	struct check_row *row = check__add(check, "machine", CHECK_INFO, "kernel");
	struct utsname name;

	if (row && !uname(&name))
		snprintf(row->value, sizeof(row->value), "%s %s", name.release, name.machine);
}

static void check_btf(struct check *check)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	bool there = !access(path, R_OK);
	struct check_row *row = check__add(check, "machine", there ? CHECK_OK : CHECK_BAD, "BTF");

	if (!row)
		return;
	if (there) {
		snprintf(row->value, sizeof(row->value), "%s", path);
		return;
	}
	snprintf(row->value, sizeof(row->value), "%s: %s", path, strerror(errno));
	/* Without sysfs the kernel may still have it. */
	snprintf(row->remedy, sizeof(row->remedy), "%s",
		 access("/sys/kernel", F_OK) ? "mount -t sysfs sysfs /sys"
					     : "boot a kernel with CONFIG_DEBUG_INFO_BTF");
}

static void check_lockdown(struct check *check)
{
	enum lockdown lockdown = lockdown__read();
	bool bad = lockdown == LOCKDOWN_CONFIDENTIALITY;
	struct check_row *row = check__add(check, "machine", bad ? CHECK_BAD : CHECK_OK,
					   "kernel lockdown");

	if (!row)
		return;
	snprintf(row->value, sizeof(row->value), "%s",
		 lockdown == LOCKDOWN_UNKNOWN ? "not in use" : lockdown__name(lockdown));
	if (bad)
		snprintf(row->remedy, sizeof(row->remedy), "boot with lockdown=integrity");
}

void check__machine(struct check *check)
{
	check_program(check);
	check_kernel(check);
	check_btf(check);
	check_lockdown(check);
}

/* A sysctl that matters: bad values are those for which wrong() is true. */
struct setting {
	const char *name;
	const char *good;  /* a value that repairs it; NULL: no value is wrong */
	enum check_status status; /* if it is wrong */
	const char *what;
	bool (*wrong)(int64_t value, const struct capabilities *rights);
};

/*
 * With CAP_SYSLOG kernel addresses are visible unless it is 2; without, only if it is 0 and
 * perf_event_paranoid is 1 or less.
 */
static bool kptr_is_wrong(int64_t value, const struct capabilities *rights)
{
	return value >= 2 || (value == 1 && !rights->has[CAPABILITY_SYSLOG]);
}

static bool paranoid_is_wrong(int64_t value, const struct capabilities *rights)
{
	return value > 1 && !rights->has[CAPABILITY_SYSLOG];
}

static bool jit_is_wrong(int64_t value, const struct capabilities *rights)
{
	(void)rights;
	return !value;
}

static bool stack_is_wrong(int64_t value, const struct capabilities *rights)
{
	(void)rights;
	return value < 127;
}

static bool mlock_is_wrong(int64_t value, const struct capabilities *rights)
{
	return value < 516 && !rights->has[CAPABILITY_IPC_LOCK];
}

static const struct setting settings[] = {
	{ "kernel.kptr_restrict", "0", CHECK_WARNING, "0 shows the names of kernel functions",
	  kptr_is_wrong },
	{ "kernel.perf_event_paranoid", "1", CHECK_WARNING,
	  "above 1 it hides kernel addresses from who has no CAP_SYSLOG", paranoid_is_wrong },
	{ "kernel.perf_event_max_stack", "127", CHECK_WARNING, "frames of each side, at most",
	  stack_is_wrong },
	{ "kernel.perf_event_mlock_kb", "516", CHECK_WARNING,
	  "of rings for each CPU without CAP_IPC_LOCK", mlock_is_wrong },
	{ "kernel.unprivileged_bpf_disabled", NULL, CHECK_INFO, "of no effect with CAP_BPF", NULL },
	{ "net.core.bpf_jit_enable", "1", CHECK_WARNING,
	  "0: programs are interpreted, slow, or refused", jit_is_wrong },
};

static void check_setting(struct check *check, const struct setting *setting,
			  const struct capabilities *rights)
{
	struct check_row *row = check__add(check, "settings", CHECK_OK, setting->name);
	int64_t value = 0;
	int err;

	if (!row)
		return;
	err = sysctl__read(setting->name, &value);
	if (err) {
		row->status = CHECK_INFO;
		snprintf(row->value, sizeof(row->value), "cannot be read: %s", strerror(-err));
		return;
	}
	snprintf(row->value, sizeof(row->value), "%" PRId64 " (%s)", value, setting->what);
	if (!setting->wrong)
		row->status = CHECK_INFO;
	if (!setting->wrong || !setting->wrong(value, rights))
		return;
	row->status = setting->status;
	snprintf(row->remedy, sizeof(row->remedy), "sysctl %s=%s", setting->name, setting->good);
}

static void format_limit(char *out, size_t size, rlim_t value, const char *unit)
{
	if (value == RLIM_INFINITY)
		snprintf(out, size, "unlimited");
	else
		snprintf(out, size, "%" PRIu64 "%s", (uint64_t)value, unit);
}

static void check_descriptors(struct check *check)
{
	struct rlimit limit = { 0 };
	rlim_t wanted = DESCRIPTORS_WANTED + 2 * (rlim_t)sysconf(_SC_NPROCESSORS_CONF);
	struct check_row *row = check__add(check, "limits", CHECK_OK, "descriptors (ulimit -n)");

	if (!row || getrlimit(RLIMIT_NOFILE, &limit))
		return;
	/* A recording raises the soft limit by itself. */
	format_limit(row->value, sizeof(row->value), limit.rlim_max, "");
	if (limit.rlim_max >= wanted)
		return;
	row->status = CHECK_BAD;
	snprintf(row->remedy, sizeof(row->remedy), "prlimit --nofile=%" PRIu64 " --pid $$",
		 (uint64_t)wanted);
}

static void check_memlock(struct check *check)
{
	struct rlimit limit = { 0 };
	struct check_row *row = check__add(check, "limits", CHECK_INFO,
					   "locked memory (ulimit -l)");

	if (!row || getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	format_limit(row->value, sizeof(row->value), limit.rlim_cur, " bytes");
}

void check__limits(struct check *check)
{
	struct capabilities rights;

	capabilities__read(&rights);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		check_setting(check, &settings[i], &rights);
	check_descriptors(check);
	check_memlock(check);
}
