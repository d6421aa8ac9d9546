/* SPDX-License-Identifier: GPL-2.0-only */
/* This process's permissions, the kernel's features, and a test recording. */
#include "check/check.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "capture/capture.h"
#include "bpf/probe.h"
#include "bpf/load_error.h"
#include "host/capabilities.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"
/* Length of the test recording, and the limit for its end, in ms. */
#define RECORDING_MS 50
#define RECORDING_END_MS 500

static void suggest_setcap(const struct check *check, struct check_row *row)
{
	snprintf(row->remedy, sizeof(row->remedy),
		 "setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog,cap_dac_read_search,"
		 "cap_checkpoint_restore,cap_ipc_lock+ep %.200s",
		 check->program);
}

static void check_right(struct check *check, enum capability right, bool has)
{
	bool needed = right == CAPABILITY_BPF || right == CAPABILITY_PERFMON;
	struct check_row *row = check__add(check, "rights",
					   has	    ? CHECK_OK
					   : needed ? CHECK_BAD
						    : CHECK_WARNING,
					   capability__name(right));

	if (!row)
		return;
	snprintf(row->value, sizeof(row->value), "%s (%s)", has ? "there" : "missing",
		 capability__buys(right));
	if (!has)
		suggest_setcap(check, row);
}

void check__rights(struct check *check)
{
	struct check_row *row;
	struct capabilities rights;

	capabilities__read(&rights);
	for (int i = 0; i < CAPABILITY_MAX; i++)
		check_right(check, (enum capability)i, rights.has[i]);
	row = check__add(check, "rights", rights.user_namespace ? CHECK_WARNING : CHECK_OK,
			 "user namespace");
	if (row) {
		snprintf(row->value, sizeof(row->value), "%s",
			 rights.user_namespace ? "one of a container: rights end there"
					       : "the machine's own");
		if (rights.user_namespace)
			snprintf(row->remedy, sizeof(row->remedy),
				 "run it outside of the rootless container");
	}
	row = check__add(check, "rights", CHECK_INFO, "seccomp");
	if (row)
		snprintf(row->value, sizeof(row->value), "%s",
			 rights.seccomp ? "a filter is there" : "no filter");
}

/* "cause; remedy" */
static void set_words(struct check_row *row, const char *text)
{
	const char *remedy = strstr(text, "; ");
	int len = remedy ? (int)(remedy - text) : (int)strlen(text);

	snprintf(row->value, sizeof(row->value), "%.*s", len, text);
	if (remedy)
		snprintf(row->remedy, sizeof(row->remedy), "%s", remedy + 2);
}

/* Fills in the reason of a refusal, and the remedy. */
static void suggest(const struct check *check, struct check_row *row, int err)
{
	struct load_error_facts facts = { .err = err, .has_btf = !access(BTF_PATH, R_OK) };
	char text[512], *remedy;

	load_error_facts__read(&facts);
	facts.has_scheduler = facts.has_task_storage = facts.has_hook = true;
	/* libbpf's error for a hook that does not exist. */
	if (facts.has_btf && (err == -ESRCH || err == -ENOENT)) {
		snprintf(row->remedy, sizeof(row->remedy), "boot Linux 5.11 or later");
		return;
	}
	if (load_error__judge(&facts) == LOAD_ERROR_NO_RIGHTS) {
		suggest_setcap(check, row);
		return;
	}
	remedy = strstr(load_error__explain(&facts, text, sizeof(text)), "; ");
	snprintf(row->remedy, sizeof(row->remedy), "%.300s", remedy ? remedy + 2 : text);
}

static void add_probe(void *ctx, const struct probe *probe)
{
	struct check *check = ctx;
	enum check_status status = CHECK_OK;
	struct check_row *row;

	/* For alternatives, of which one is enough, the test recording below decides. */
	if (probe->err)
		status = probe->need == PROBE_REQUIRED ? CHECK_BAD
			 : probe->need == PROBE_USEFUL ? CHECK_WARNING
						       : CHECK_INFO;
	row = check__add(check, "hooks and helpers", status, probe->name);
	if (!row)
		return;
	if (probe->err)
		snprintf(row->value, sizeof(row->value), "%s: %s (%s)",
			 probe->err == -ESRCH ? "absent" : "refused", strerror(-probe->err),
			 probe->what);
	else
		snprintf(row->value, sizeof(row->value), "works (%s)", probe->what);
	if (status > CHECK_INFO)
		suggest(check, row, probe->err);
}

void check__hooks(struct check *check)
{
	struct check_row *row;
	int err = probe__run(add_probe, check);

	if (!err)
		return;
	row = check__add(check, "hooks and helpers", CHECK_BAD, "BPF");
	if (!row)
		return;
	snprintf(row->value, sizeof(row->value), "cannot be tried: %s", strerror(-err));
	suggest(check, row, err);
}

/* Messages of the test recording for the table: the last error is the cause. */
struct words {
	struct check *check;
	char error[512];
};

static void hear(void *ctx, enum log_level level, const char *text)
{
	struct words *words = ctx;
	struct check_row *row;

	if (level == LOG_ERROR)
		snprintf(words->error, sizeof(words->error), "%s", text);
	if (level != LOG_WARNING)
		return;
	row = check__add(words->check, "recording", CHECK_WARNING, "warning");
	if (row)
		set_words(row, text);
}

/* Records everything for a moment, and discards it. */
static int record_a_moment(struct check *check, struct capture_stats *stats)
{
	struct capture_sink sink = { 0 };
	struct capture_options options;
	struct capture *capture;
	int err;

	capture_options__init(&options);
	options.targets.all = true;
	capture = capture__new(&options, &sink, &err);
	if (!capture)
		return err;
	err = capture__start(capture);
	if (!err)
		err = capture__poll(capture, RECORDING_MS, -1);
	if (err >= 0)
		err = capture__stop(capture, RECORDING_END_MS);
	if (!err)
		err = capture__stats(capture, stats);
	if (!err)
		snprintf(check->hook, sizeof(check->hook), "%s",
			 attach_hook__name(capture__attach_hook(capture)));
	capture__delete(capture);
	return err;
}

void check__recording(struct check *check)
{
	struct words words = { .check = check };
	struct capture_stats stats = { 0 };
	struct check_row *row;
	char size[32];
	int err;

	log__set_sink(hear, &words);
	err = record_a_moment(check, &stats);
	log__set_sink(NULL, NULL);
	check->works = !err;
	row = check__add(check, "recording", err ? CHECK_BAD : CHECK_OK, "denet-record");
	if (!row)
		return;
	if (err) {
		set_words(row, words.error[0] ? words.error : strerror(-err));
		return;
	}
	snprintf(row->value, sizeof(row->value), "works: %s; %" PRIu64 " blocks seen, BPF maps %s",
		 check->hook, stats.seen.count,
		 units__format_size(stats.bpf_map_bytes, size, sizeof(size)));
}
