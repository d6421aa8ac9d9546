#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The benchmark runs, and its tables come out with figures in them, among them those that a machine
# under load may spoil.

load ../cli/lib

needs=root
export O=$build

# row WORDS…: the first line of the output that begins with these words.
row() {
	printf '%s\n' "$output" | grep -m1 -E "^ *$*( |:)" || { echo "$output"; return 1; }
}

# has_figures LINE NR: at least NR of its fields are numbers above 0.
has_figures() {
	echo "$1"
	awk -v least="$2" '{ for (i = 1; i <= NF; i++) nr += $i + 0 > 0; exit nr < least }' <<<"$1"
}

@test "a quick run without peers measures each row, and loses nothing" {
	run -0 "$top/scripts/bench.sh" --quick --keep cells
	has_figures "$(row none)" 3
	has_figures "$(row floor)" 5
	has_figures "$(row exact)" 8
	has_figures "$(row min-50us)" 8
	[[ "$(row 'start with -a')" == *' ms'* ]]
	[[ "$(row 'stop with')" == *' ms'* ]]
	[[ "$(row 'denet-offcputime: 2')" == *' ms'* ]]
	has_figures "$(row wake-ups)" 1
	[[ "$(row 'thresh-0: ')" == *' MB'* ]]
	# A goal needs a peer: it is said that there was none.
	[[ "$(row 'exact-user')" == *'not measured'* ]]
	# Each cell of ours tells that nothing was lost.
	[ "$(grep -c ' lost=0 ' cells)" = 8 ]
	# Both sides of the pair of each mode and placement, and a row with their ratios.
	for mode in exact min-50us; do
		for place in together apart; do
			for side in none tool; do
				grep -q "^pipe-$place $mode latency side=$side .*rate=[1-9].* p50=[1-9].* p99=[1-9]" cells
			done
			grep -qE "^$mode +$place +1 " <<<"$output"
		done
	done
}

@test "the benchmark leaves nothing behind: no process, no statistics" {
	cat /proc/sys/kernel/bpf_stats_enabled >before
	run -0 "$top/scripts/bench.sh" --quick --only compare
	diff before /proc/sys/kernel/bpf_stats_enabled
	refute pgrep -f "$build/tests/(bench|workloads)/"
}

@test "programs that record take longer at a switch than those that do nothing" {
	run -0 "$top/scripts/bench.sh" --quick
	echo "$output"
	awk '$1 == "floor" { floor = $3 } $1 == "exact" && $3 + 0 > 0 && !exact { exact = $3 }
	     END { exit !(floor > 0 && exact > floor) }' <<<"$output"
}
