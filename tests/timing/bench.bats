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
	grep -qE '^pingpong +exact +<= 0.2 x offcputime +- +not measured: offcputime' <<<"$output"
	grep -qE '^pingpong +exact +<= 700 ns +[0-9]+ <= 700 +(NOT )?met$' <<<"$output"
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
	# Pairs of nothing beside nothing.
	grep -qE '^none +together +1 ' <<<"$output"
}

# goal WORDS…: the row of the goals that begins with these words, and the one behind it.
goal() {
	printf '%s\n' "$output" | tr -s ' ' | grep -F -m1 -A1 -- "$*" || { echo "$output"; return 1; }
}

@test "of the goals alone, what they name is measured, and the rest is said to be missing" {
	[ -x /usr/bin/python3 ] || skip 'no /usr/bin/python3'
	run -0 "$top/scripts/bench.sh" --quick --only goals --workloads python3,convoy \
		--modes tables,exact-kernel,thresh-0 --keep cells
	# A goal names neither the workload convoy nor the mode thresh-0.
	[ "$(awk '{ print $1, $2, $3 }' cells | sort | paste -sd,)" = \
		'python3 exact-kernel stats,python3 exact-kernel time,python3 floor stats,python3 floor time,python3 none time,python3 tables stats,python3 tables time' ]
	goal "python3 tables <= 1200 ns + exact-kernel's" | grep -qE ', -?[0-9]+ more (NOT )?met$'
	[[ "$(goal 'pingpong exact <= 700 ns')" = *'- not measured: exact'* ]]
	[[ "$(goal 'redis-together exact loss')" = *'- not measured: exact'* ]]
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

# top_row MODE: of a table of bench-top.sh, whose columns of a peer are empty without one.
top_row() {
	printf '%s\n' "$output" | grep -m1 -E "^$1  +" || { echo "$output"; return 1; }
}

@test "a look of denet-top and a tracked call have their figures, without a peer and beside one" {
	run -0 "$top/scripts/bench-top.sh" --rounds 1 --threads 100 --ms 500 --calls 20000 --keep cells
	for mode in active table csv csv-k csv-k-s; do
		has_figures "$(top_row $mode)" 3
	done
	# Nobody looks at 100 threads in less than 0.1 us each, or more than 1 ms.
	awk '$1 == "csv" { exit !($2 > 100 && $5 > $2 && $5 < 1000000) }' <<<"$output"
	has_figures "$(top_row floor)" 4
	has_figures "$(top_row denet-top)" 4
	has_figures "$(top_row denet-top-all)" 4
	[[ "$output" == *'published: 340 to 555 us'* ]]
	# Each cell of looks has all threads of the workload in each of its looks, twenty a second.
	awk '$2 == "stats" && /threads=100/ { nr++; match($0, / runs=[0-9]+/)
		if (substr($0, RSTART + 6) + 0 < 500) bad = 1 } END { exit bad || nr != 5 }' cells
	# Another sampler in the place of the peer: its command lines are xcapture's.
	cat >peer <<-END
		#!/bin/sh
		[ "\$1" != --version ] || { echo peer 1; exit; }
		exec $build/denet-top -b -q --max-overhead 0 -F 20
	END
	chmod +x peer
	PEER_XCAPTURE=$PWD/peer run -0 "$top/scripts/bench-top.sh" --rounds 1 --threads 100 --ms 500 \
		--modes csv --calls 0
	has_figures "$(top_row csv)" 8
}
