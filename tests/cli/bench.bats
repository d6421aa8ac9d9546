#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# tests: parallel
# The options of the benchmark, and its arithmetic. Its runs are in tests/timing.

load lib

needs=root
export O=$build

# row WORDS…: the first line of the output that begins with these words.
row() {
	printf '%s\n' "$output" | grep -m1 -E "^ *$*( |:)" || { echo "$output"; return 1; }
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
