/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_CPU_CLOCK_H
#define DENET_BPF_CPU_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_link;
struct bpf_program;

/* The event of the CPUs' clocks: fields of perf_event_attr. type 0 config 0 is cycles. */
struct cpu_clock_config {
	uint32_t type;
	uint64_t config;
	uint64_t freq;	/* a second; 0: use period */
	uint64_t period; /* of the event's units */
};

/* A perf event on each CPU that runs the program; zero-initialised is empty. */
struct cpu_clock {
	struct bpf_program *program; /* the programs' */
	struct cpu_clock_config config;
	struct bpf_link **links; /* by CPU */
	unsigned int nr;
};

/*
 * Starts the clock of a CPU, replacing one that was lost with the CPU going offline. 0 or -errno.
 */
int cpu_clock__start(struct cpu_clock *clock, unsigned int cpu);

/* Logs why a clock cannot be started, and the remedy. */
void cpu_clock__explain(const struct cpu_clock *clock, int err);

/* Stops all clocks. */
void cpu_clock__free(struct cpu_clock *clock);

#endif /* DENET_BPF_CPU_CLOCK_H */
