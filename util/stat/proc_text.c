/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/proc_text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The fields behind the name, counted from 0; see proc_pid_stat(5), whose numbers are 3 higher. */
enum stat_field {
	FIELD_STATE = 0,
	FIELD_PPID = 1,
	FIELD_MINFLT = 7,
	FIELD_CMINFLT = 8,
	FIELD_MAJFLT = 9,
	FIELD_CMAJFLT = 10,
	FIELD_UTIME = 11,
	FIELD_STIME = 12,
	FIELD_CUTIME = 13,
	FIELD_CSTIME = 14,
	FIELD_THREADS = 17,
	FIELD_START = 19,
	FIELD_VSIZE = 20,
	FIELD_RSS = 21,
	FIELD_PROCESSOR = 36,
	FIELD_DELAY = 39,
	NR_FIELDS = 40,
};

/* Numbers that are negative in the kernel's eyes (a time that shrank) count as 0. */
static int read_fields(const char *at, char *state, uint64_t numbers[NR_FIELDS])
{
	char *end;

	for (int i = 0; i < NR_FIELDS; i++) {
		if (*at != ' ')
			return -EPROTO;
		at++;
		if (i == FIELD_STATE) {
			if (!*at || at[1] != ' ')
				return -EPROTO;
			*state = *at++;
			continue;
		}
		numbers[i] = *at == '-' ? 0 : strtoull(at, &end, 10);
		if (*at == '-')
			strtoll(at, &end, 10);
		if (end == at)
			return -EPROTO;
		at = end;
	}
	return 0;
}

int proc_text__stat(const char *text, struct proc_text_stat *stat)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	uint64_t numbers[NR_FIELDS] = { 0 };
	size_t len;

	*stat = (struct proc_text_stat){ .pid = (pid_t)strtol(text, NULL, 10) };
	if (!open || !close || close < open || read_fields(close + 1, &stat->state, numbers))
		return -EPROTO;
	len = (size_t)(close - open - 1);
	if (len >= sizeof(stat->comm))
		len = sizeof(stat->comm) - 1;
	memcpy(stat->comm, open + 1, len);
	stat->ppid = (pid_t)numbers[FIELD_PPID];
	stat->minor_faults = numbers[FIELD_MINFLT];
	stat->reaped_minor_faults = numbers[FIELD_CMINFLT];
	stat->major_faults = numbers[FIELD_MAJFLT];
	stat->reaped_major_faults = numbers[FIELD_CMAJFLT];
	stat->user_ticks = numbers[FIELD_UTIME];
	stat->system_ticks = numbers[FIELD_STIME];
	stat->reaped_ticks = numbers[FIELD_CUTIME] + numbers[FIELD_CSTIME];
	stat->threads = (uint32_t)numbers[FIELD_THREADS];
	stat->start_ticks = numbers[FIELD_START];
	stat->vms_bytes = numbers[FIELD_VSIZE];
	stat->rss_pages = numbers[FIELD_RSS];
	stat->cpu = (uint32_t)numbers[FIELD_PROCESSOR];
	stat->delay_ticks = numbers[FIELD_DELAY];
	return 0;
}

int proc_text__number(const char *text, const char *name, uint64_t *number)
{
	size_t len = strlen(name);
	char *end;

	while (text) {
		if (!strncmp(text, name, len)) {
			*number = strtoull(text + len, &end, 10);
			return end == text + len ? -ENOENT : 0;
		}
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return -ENOENT;
}

int proc_text__io(const char *text, struct proc_text_io *io)
{
	const struct {
		const char *name;
		uint64_t *number;
	} lines[] = {
		{ "rchar: ", &io->rchar },           { "wchar: ", &io->wchar },
		{ "syscr: ", &io->syscr },           { "syscw: ", &io->syscw },
		{ "read_bytes: ", &io->read_bytes }, { "write_bytes: ", &io->write_bytes },
	};

	*io = (struct proc_text_io){ 0 };
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (proc_text__number(text, lines[i].name, lines[i].number))
			return -EPROTO;
	}
	return 0;
}

int proc_text__pressure(const char *text, struct proc_text_pressure *pressure)
{
	const char *full;

	*pressure = (struct proc_text_pressure){ 0 };
	if (sscanf(text, "some avg10=%lf avg60=%*f avg300=%*f total=%" SCNu64,
		   &pressure->some_avg10, &pressure->some_total_us) != 2)
		return -EPROTO;
	full = strstr(text, "\nfull ");
	if (full && sscanf(full, " full avg10=%lf avg60=%*f avg300=%*f total=%" SCNu64,
			   &pressure->full_avg10, &pressure->full_total_us) != 2)
		return -EPROTO;
	return 0;
}

static const char *next_line(const char *text)
{
	const char *end = strchr(text, '\n');

	return end ? end + 1 : "";
}

int proc_text__net_dev(const char *text, uint64_t *rx_bytes, uint64_t *tx_bytes)
{
	uint64_t rx, tx;

	*rx_bytes = *tx_bytes = 0;
	text = next_line(next_line(text));
	for (; *text; text = next_line(text)) {
		const char *name = text + strspn(text, " ");
		const char *colon = strchr(name, ':');

		if (!colon || colon > next_line(text) ||
		    sscanf(colon + 1, "%" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &rx,
			   &tx) != 2)
			return -EPROTO;
		if (!strncmp(name, "lo:", 3))
			continue;
		*rx_bytes += rx;
		*tx_bytes += tx;
	}
	return 0;
}

int proc_text__schedstat(const char *text, uint64_t *run_ns, uint64_t *wait_ns, uint64_t *times)
{
	return sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, run_ns, wait_ns, times) == 3
		       ? 0
		       : -EPROTO;
}

int proc_text__read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t at = 0;
	ssize_t len = 0;

	if (fd < 0)
		return -errno;
	while (at + 1 < size && (len = read(fd, text + at, size - 1 - at)) > 0)
		at += (size_t)len;
	if (len < 0)
		len = -errno;
	close(fd);
	text[at] = '\0';
	return len < 0 ? (int)len : (int)at;
}
