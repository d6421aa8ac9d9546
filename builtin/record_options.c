/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of denet-record's options: what -h prints, and the man page tells at length. */
#include "record_options.h"

const struct argp_option record_options[] = {
	{ NULL, 0, NULL, 0, "What is recorded (default: COMMAND, or else -a):", 1 },
	{ "all-cpus", 'a', NULL, 0, "Record every process", 1 },
	{ "pid", 'p', "PID,...", 0, "Record these processes", 1 },
	{ "tid", 't', "TID,...", 0, "Record these threads", 1 },
	{ "uid", 'u', "USER,...", 0, "Only threads of these users, by name or number", 1 },
	{ "cgroup", 'G', "PATH,...", 0,
	  "Only threads in these cgroups or below them; also the name or id of a container", 1 },
	{ "cpu", 'C', "LIST", 0, "Only blocks that end on these CPUs, as in 0-3,8", 1 },
	{ "delay", 'D', "MS", 0, "Let COMMAND run for so long before the recording begins", 1 },
	{ "no-inherit", 'i', NULL, 0, "Leave out what the targets start", 1 },
	{ "kernel-threads", KEY_KERNEL_THREADS, NULL, 0, "Record kernel threads as well", 1 },

	{ NULL, 0, NULL, 0, "Which blocks count:", 2 },
	{ "state", KEY_STATE, "LIST", 0,
	  "Off-CPU states, of R (preempted or yielded), S, D, T, t, I, P, or all "
	  "(default S,D)",
	  2 },
	{ "off-cpu-thresh", KEY_THRESHOLD, "TIME", 0,
	  "From this length on, a block is a sample of its own; shorter ones are summed up "
	  "(default 500ms; a bare number is ms; 0: each is a sample)",
	  2 },
	{ "off-cpu-period", KEY_PERIOD, "TIME", 0,
	  "Sample blocks below the threshold: one for each TIME off the CPU, on average, which "
	  "stands for that time (default: all count)",
	  2 },
	{ "off-cpu-max-rate", KEY_MAX_RATE, "HZ", 0,
	  "Sample so that about HZ samples come in a second, whatever the load", 2 },
	{ "min-block", KEY_MIN_BLOCK, "TIME", 0, "Leave out blocks that are shorter", 2 },
	{ "max-block", KEY_MAX_BLOCK, "TIME", 0, "Leave out blocks that are longer", 2 },
	{ "window", KEY_WINDOW, "TIME", 0,
	  "How long short blocks are summed up before they are written (default 1s)", 2 },
	{ "no-still-blocked", KEY_NO_STILL_BLOCKED, NULL, 0,
	  "Leave out threads that have not come back when the recording ends", 2 },
	{ "split-runqueue", KEY_SPLIT_RUNQUEUE, NULL, 0,
	  "Split blocks at their wake-up: what comes behind it, the wait for a CPU, goes to an "
	  "event queued-time",
	  2 },
	{ "wakers", KEY_WAKERS, NULL, 0,
	  "Record who woke the threads, and how much time that ended, as an event wakeup-time", 2 },
	{ "skip-idle", KEY_SKIP_IDLE, "FILE", OPTION_ARG_OPTIONAL,
	  "Leave out threads that wait for work, as in epoll_wait, accept or a condition "
	  "variable; FILE adds to the table of such calls",
	  2 },
	{ "off-cpu", KEY_OFF_CPU, NULL, 0, "Accepted: it is what this command does", 2 },

	{ NULL, 0, NULL, 0, "Callchains:", 3 },
	{ NULL, 'g', NULL, 0, "Accepted: callchains are always recorded", 3 },
	{ "call-graph", KEY_CALL_GRAPH, "MODE", 0,
	  "How to walk user stacks: fp (default), or dwarf[,BYTES], which needs no frame pointers "
	  "and copies BYTES of each stack (default 8192), or auto[,BYTES]: as the process needs it",
	  3 },
	{ "raw-stacks", KEY_RAW_STACKS, NULL, 0,
	  "With --call-graph dwarf: write the copies to the file, for perf to unwind", 3 },
	{ "max-stack", KEY_MAX_STACK, "N", 0,
	  "Most frames of each side, kernel and user (default and most: 127)", 3 },
	{ "kernel-callchains", KEY_KERNEL_CALLCHAINS, NULL, 0, "Kernel frames only", 3 },
	{ "user-callchains", KEY_USER_CALLCHAINS, NULL, 0, "User frames only", 3 },
	{ "raw-frames", KEY_RAW_FRAMES, NULL, 0,
	  "Keep the frames of the recorder itself and of the scheduler", 3 },

	{ "capture", KEY_CAPTURE, "WAY", 0,
	  "When stacks are walked: switch-in, switch-out or auto (default: at switch-in, for "
	  "blocks that are kept, where the kernel has a hook there)",
	  3 },

	{ NULL, 0, NULL, 0, "Output:", 4 },
	{ "output", 'o', "FILE", 0,
	  "Write FILE (default perf.data; one that exists becomes FILE.old; -: stdout)", 4 },
	{ "all-cgroups", KEY_ALL_CGROUPS, NULL, 0,
	  "Record the cgroup of each sample, for perf report --no-children --sort cgroup", 4 },
	{ "reason", KEY_REASON, NULL, 0,
	  "Record what each sample waited for, system call, file or socket, as the event "
	  "denet:waits",
	  4 },
	{ "no-buildid", 'B', NULL, 0, "Do not read the build-ids of files", 4 },
	{ "buildid-cache", KEY_BUILDID_CACHE, NULL, 0,
	  "Copy what was hit to ~/.debug, for perf archive", 4 },
	{ "no-buildid-cache", 'N', NULL, 0, "Do not: this is the default", 4 },
	{ "mmap-pages", 'm', "PAGES", 0, "Size of each CPU's ring, in pages or with B, K, M, G",
	  4 },
	{ "max-size", KEY_MAX_SIZE, "SIZE", 0,
	  "End the recording once the file has SIZE (with B, K, M, G)", 4 },
	{ "switch-output", KEY_SWITCH_OUTPUT, "SIZE|TIME", OPTION_ARG_OPTIONAL,
	  "Go on in another file after SIZE (B, K, M, G), TIME (s, m, h, d), or at SIGUSR2", 4 },
	{ "switch-max-files", KEY_SWITCH_MAX_FILES, "N", 0,
	  "Keep only the latest N files of --switch-output", 4 },
	{ "max-overhead", KEY_MAX_OVERHEAD, "PCT", 0,
	  "Go over to sampling if the recording costs more than this share of a CPU "
	  "(default 3; 0: never)",
	  4 },
	{ "quiet", 'q', NULL, 0, "Print warnings and errors only", 4 },
	{ "verbose", 'v', NULL, 0, "Print the accounts in the end; twice: for debugging", 4 },

	{ "freq", 'F', "FREQ", OPTION_HIDDEN, NULL, 4 },
	{ "count", 'c', "COUNT", OPTION_HIDDEN, NULL, 4 },
	{ "event", 'e', "EVENT", OPTION_HIDDEN, NULL, 4 },

	{ NULL, 0, NULL, 0, "Instead of a recording:", 5 },
	{ "off-cpu-hist", KEY_HIST, NULL, 0,
	  "Print how long blocks are, and what each --off-cpu-thresh would cost; write no file",
	  5 },
	{ "json", KEY_JSON, NULL, 0, "Print that as JSON", 5 },

	{ "help", 'h', NULL, 0, "Print this list", -1 },
	{ "usage", KEY_USAGE, NULL, 0, "Print a short usage message", -1 },
	{ "version", KEY_VERSION, NULL, 0, "Print the version", -1 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

const char *record_options__name(int key)
{
	const struct argp_option *option = record_options;

	while (option->key != key || !option->name)
		option++;
	return option->name;
}

bool record_options__is_of_recording(int key)
{
	static const int keys[] = {
		KEY_THRESHOLD, KEY_PERIOD, KEY_MAX_RATE, KEY_WINDOW, KEY_SPLIT_RUNQUEUE,
		KEY_WAKERS, KEY_SKIP_IDLE, KEY_CALL_GRAPH, KEY_RAW_STACKS, KEY_MAX_STACK,
		KEY_KERNEL_CALLCHAINS,
		KEY_USER_CALLCHAINS, KEY_RAW_FRAMES, 'o', KEY_ALL_CGROUPS, KEY_REASON, 'B',
		KEY_BUILDID_CACHE, 'm', KEY_MAX_SIZE, KEY_SWITCH_OUTPUT, KEY_SWITCH_MAX_FILES,
		KEY_MAX_OVERHEAD,
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i] == key)
			return true;
	}
	return false;
}
