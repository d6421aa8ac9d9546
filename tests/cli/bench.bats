#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The benchmark runs, and its tables come out with figures in them.

load lib

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

@test "a pair counts whichever of its sides came first" {
	cat >cells <<-'END'
		pipe exact latency side=none round=1 rate=1000 p50=6000 p99=9000 together=1.00
		pipe exact latency side=tool round=1 rate=900 p50=6600 p99=9000 together=1.00
		pipe exact latency side=tool round=2 rate=700 p50=7800 p99=9000 together=1.00
		pipe exact latency side=none round=2 rate=1000 p50=6000 p99=9000 together=1.00
		pipe exact latency side=tool round=3 rate=700 p50=7800 p99=9000 together=1.00
	END
	run -0 awk -f "$top/tests/bench/lib.awk" -f "$top/tests/bench/latency.awk" -v workload=pipe cells
	[[ "$(row exact)" == *' together '*' 2 '*' 0.80 [0.70-0.90]  1.20 [1.10-1.30] '* ]]
	[[ "$output" == *'exact        1 pairs left out, of which a side failed'* ]]
}

@test "the benchmark leaves nothing behind: no process, no statistics" {
	cat /proc/sys/kernel/bpf_stats_enabled >before
	run -0 "$top/scripts/bench.sh" --quick --only compare
	diff before /proc/sys/kernel/bpf_stats_enabled
	refute pgrep -f "$build/tests/(bench|workloads)/"
}

@test "what it is asked for and does not know is refused" {
	run -1 "$top/scripts/bench.sh" --quick strangeprof
	[[ "$output" == *'no peer strangeprof'* ]]
	run -2 "$top/scripts/bench.sh" --sideways
	[[ "$output" == *usage:* ]]
	run -1 "$top/scripts/bench.sh" --workloads 'idling'
	[[ "$output" == *'no workload idling'* ]]
	run -1 "$top/scripts/bench.sh" --modes exact,exactly
	[[ "$output" == *'no mode exactly:'* ]]
	run -1 "$top/scripts/bench.sh" --only home
	[[ "$output" == *'no part home'* ]]
}
