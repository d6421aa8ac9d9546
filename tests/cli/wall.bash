# SPDX-License-Identifier: GPL-2.0-only
# What tests of time on the CPU share.
# shellcheck shell=bash

lives=$build/tests/workloads/lives

prepare() {
	group= # a control group that the test made
}

clean_up() {
	[ -z "$group" ] || until_true rmdir "$group"
}

# sum_of EVENT [TID [FILE]]: ns, by perf, which reads a file once.
sum_of() {
	local file=${3:-perf.data} periods

	periods=${file//\//_}.periods
	[ "$periods" -nt "$file" ] || perf script -i "$file" -F tid,period,event >"$periods" 2>/dev/null
	awk -v event="$1:" -v tid="${2:-0}" '(!tid || $1 == tid) && $3 == event { sum += $2 }
		END { printf "%.0f\n", sum }' "$periods"
}

# life NAME: that line of the accounts of -v, in ns.
life() {
	awk -v name="$1" 'index($0, "denet-record: " name "  ") == 1 { print $NF }' err
}

# cpu_time [NAME]: of all threads, or of that one, by their own clocks, in ns, less what these may be charged
# without having a CPU: see of_cpu_clock().
cpu_time() {
	truths said comm requested voluntary involuntary | awk -v name="${1:-}" '!name || $1 == name {
		sum += $2 * 0.99 - ($3 + $4 + 1) * 2e4 - 1e6 }
		END { printf "%.0f\n", (sum > 0 ? sum : 0) }'
}

# The machine hides what follows a thread of process 1: a thread is then not accounted for.
nothing_was_hidden() {
	[ "$(life '+ unaccounted')" = 0 ] || skip "a switch was not shown here"
}
