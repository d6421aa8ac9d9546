/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/example_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Beyond the greatest pid_max, so that /tmp/perf-PID.map is nobody's. */
#define PID 5000000
#define TID 5000001

static int write_names(struct example_profile *example)
{
	FILE *file;

	snprintf(example->path, sizeof(example->path), "/tmp/perf-%d.map", PID);
	unlink(example->path);
	file = fopen(example->path, "wxe");
	if (!file)
		return -errno;
	fputs("1000 100 main\n1100 100 run;it\n1200 100 read<\"char\">\n", file);
	return fclose(file) ? -errno : 0;
}

static int handle(struct machine *machine, const struct task_event *event)
{
	int err = machine__handle(machine, event);

	return err < 0 ? err : 0;
}

static int add_tasks(struct machine *machine)
{
	const struct task_event events[] = {
		{ .kind = TASK_EVENT_COMM, .pid = PID, .tid = PID, .comm = "app" },
		{ .kind = TASK_EVENT_FORK, .pid = PID, .tid = TID, .ppid = PID, .ptid = PID },
		{ .kind = TASK_EVENT_COMM, .pid = PID, .tid = TID, .comm = "wor ker" },
		{ .kind = TASK_EVENT_MMAP,
		  .pid = PID,
		  .tid = PID,
		  .map = { .start = 0x1000,
			   .len = 0x1000,
			   .path = "//anon",
			   .prot = PROT_READ | PROT_EXEC } },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && !err; i++)
		err = handle(machine, &events[i]);
	return err;
}

static const uint64_t kernel[] = { 0xffffffff80001001, 0xffffffff80002001 };
static const uint64_t user[] = { 0x1210, 0x1110, 0x1010 };
static const uint64_t other[] = { 0x1fff, 0x1010 };

static const struct sample samples[] = {
	{ .time = 1000,
	  .period = 100,
	  .count = 1,
	  .pid = PID,
	  .tid = PID,
	  .state = 'S',
	  .kernel = { .ips = kernel, .nr = 2 },
	  .user = { .ips = user, .nr = 3 } },
	{ .time = 2000,
	  .period = 50,
	  .runqueue = 20,
	  .count = 1,
	  .pid = PID,
	  .tid = PID,
	  .state = 'S',
	  .kernel = { .ips = kernel, .nr = 2 },
	  .user = { .ips = user, .nr = 3 } },
	{ .time = 3000,
	  .period = 9007199254740993,
	  .count = 7,
	  .pid = PID,
	  .tid = TID,
	  .state = 'D',
	  .user = { .ips = other, .nr = 2 } },
	{ .time = 4000,
	  .period = 5,
	  .count = 1,
	  .pid = PID,
	  .tid = TID,
	  .state = 'S',
	  .idle = "",
	  .kernel = { .ips = kernel, .nr = 1 } },
	{ .time = 5000,
	  .period = 6,
	  .count = 1,
	  .pid = PID,
	  .tid = TID,
	  .state = '?',
	  .kind = SAMPLE_WAKEUP,
	  .user = { .ips = user, .nr = 3 } },
	{ .time = 6000,
	  .period = 8,
	  .count = 1,
	  .pid = PID,
	  .tid = PID,
	  .state = '?',
	  .kind = SAMPLE_ONCPU,
	  .user = { .ips = user + 1, .nr = 2 } },
};

static int add_samples(struct example_profile *example)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]) && !err; i++)
		err = profile__add(example->profile, example->machine, &samples[i],
				   i == 2 ? "file /x (read)" : NULL);
	return err;
}

int example_profile__make(struct example_profile *example)
{
	static const struct symbols_options options;
	int err = write_names(example);

	example->machine = machine__new();
	example->symbols = symbols__new(&options);
	example->profile = profile__new(example->symbols, &example->filter);
	if (!err)
		err = add_tasks(example->machine);
	if (!err)
		err = add_samples(example);
	return err ? err : symbols__resolve(example->symbols, example->machine, false);
}

void example_profile__free(struct example_profile *example)
{
	unlink(example->path);
	profile__delete(example->profile);
	symbols__delete(example->symbols);
	machine__delete(example->machine);
	id_list__free(&example->filter.tids);
}

char *example_profile__print(const struct example_profile *example,
			     int (*write)(const struct profile *profile, FILE *out), size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);
	int err = out ? write(example->profile, out) : -ENOMEM;

	if (out)
		fclose(out);
	if (!err)
		return text;
	free(text);
	return NULL;
}
