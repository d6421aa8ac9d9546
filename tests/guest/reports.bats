#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A recording of this kernel, read back under it: sums, names and words.

load ../cli/lib

@test "a recording has the sums of perf script, names on both sides, and its wait in words" {
	denet-record --off-cpu-thresh 0 --reason --wakers -- "$naps" 1 10 10 2>err || { cat err; false; }
	denet-report --folded >folded
	head -3 folded
	[ "$(perf script -F event,period 2>/dev/null | awk '$2 !~ /^denet:/ { ns += $1 }
		END { printf "%.0f", ns }')" = "$(awk '{ ns += $NF } END { printf "%.0f", ns }' folded)" ]
	grep -q ';napper-0;.*;take_nap;.*;do_nanosleep_\[k\] ' folded
	denet-report >screen
	cat screen
	grep -E ' napper-0 +a timer \(clock_nanosleep\) +(call_libc < )?take_nap < run_thread$' screen
}
