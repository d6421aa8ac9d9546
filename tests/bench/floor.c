/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * floor OBJECT: attaches the empty programs of floor.bpf.c to the hooks of a recording until
 * SIGINT: both of them where the kernel has a hook at switch-in, else the one at switch-out. Of
 * another object, such as call_floor.bpf.o, all of them.
 */
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* With an event of ours, the scheduler calls the function that the fentry hook is on. */
static void open_dummy(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};

	/* Kept open until the end. Without it the hook is not called, which the count shows. */
	if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0)
		perror("floor: perf_event_open");
}

/* Attaches the hook at switch-out and one at switch-in; NULL: only the former. */
static bool attach(const char *path, const char *switch_in)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *program;
	bool has_switches;

	if (!object)
		return false;
	has_switches = bpf_object__find_program_by_name(object, "floor_out");
	bpf_object__for_each_program(program, object)
	{
		const char *name = bpf_program__name(program);

		bpf_program__set_autoload(program, !has_switches || !strcmp(name, "floor_out") ||
							   (switch_in && !strcmp(name, switch_in)));
	}
	if (!bpf_object__load(object)) {
		bool attached = true;

		bpf_object__for_each_program(program, object)
		{
			if (bpf_program__autoload(program) && !bpf_program__attach(program))
				attached = false;
		}
		if (attached)
			return true;
	}
	bpf_object__close(object);
	return false;
}

int main(int argc, char **argv)
{
	static const char *const switch_in[] = { "floor_exit_tp", "floor_fentry", NULL };
	sigset_t signals;
	int signal;

	if (argc != 2)
		return 2;
	libbpf_set_print(print_nothing);
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	open_dummy();
	for (int i = 0; i < 3; i++) {
		if (!attach(argv[1], switch_in[i]))
			continue;
		fprintf(stderr, "floor: attached, with %s\n",
			switch_in[i] ? switch_in[i] : "nothing else");
		sigwait(&signals, &signal);
		return 0;
	}
	fprintf(stderr, "floor: the kernel takes no such program\n");
	return 1;
}
