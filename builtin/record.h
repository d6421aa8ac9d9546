/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_RECORD_H
#define DENET_BUILTIN_RECORD_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/idle.h"
#include "host/cgroup.h"
#include "host/cpus.h"
#include "record/parse.h"
#include "record/recorder.h"

/* What is being parsed; owns the lists. */
struct record {
	struct recorder_options options;
	struct id_list pids;
	struct id_list tids;
	struct id_list uids;
	struct cpus cpus;
	struct cgroup_list groups;
	char *users; /* names, apart by commas, until they are looked up */
	char *group_names;
	struct idle_table idle;
	const char *idle_file;
	enum call_graph call_graph;
	uint32_t dump_bytes; /* of CALL_GRAPH_DWARF */
	bool has_states; /* --state was given */
	bool skip_idle;
	bool has_cpus;
	bool only_kernel;
	bool only_user;
	bool hist; /* no recording: how long blocks are */
	bool json;
	int of_recording; /* the key of an option that only a recording has, 0: none */
	int verbose;
};

/*
 * Fills in what the options of a command line say, and checks them; a usage error ends the
 * process, and so does what is printed instead of a recording. What argv holds is borrowed.
 * 0 or an errno.
 */
int record__parse(struct record *record, int argc, char **argv);

/* Usage errors that no single option can see: options that need or exclude each other. */
void record__check(const struct record *record, struct argp_state *state);

#endif /* DENET_BUILTIN_RECORD_H */
