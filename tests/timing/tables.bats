#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# How soon unwind tables are there, with nothing else on the machine.

load ../cli/lib

needs=root

@test "short-lived programs have next to no time in chains that lack a table" {
	# What it reads from the disk at first is not the matter. Tables are the recorder's: none is left of
	# this run.
	/usr/bin/python3 -c 'import time, json, ssl' || skip "no python3 that has ssl"
	# Of more than 12 s of blocked time a thousandth is a dozen milliseconds: what the first one may need
	# for its start, whose tables are made meanwhile.
	cat >many.sh <<-'END'
		for i in 1 2 3 4 5 6 7 8; do
			for j in 1 2 3 4; do
				/usr/bin/python3 -c 'import time, json, ssl; time.sleep(0.2)'
			done
		done
	END
	run -0 denet-record -v --call-graph tables --off-cpu-thresh 0 -- sh many.sh
	need_tables "$output"
	grep 'by unwind tables' <<<"$output"
	[ "$(by_tables 1)" -ge 32 ]
	DENET_TEST_TIMING=1 few_lack_tables
}
