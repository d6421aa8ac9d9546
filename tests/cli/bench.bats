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

# table NAME ARGUMENT…: a table of the benchmark, from files of measurements.
table() {
	awk -f "$top/tests/bench/lib.awk" -f "$top/tests/bench/pairs.awk" \
		-f "$top/tests/bench/$1.awk" "${@:2}"
}

@test "a pair counts whichever of its sides came first" {
	cat >cells <<-'END'
		pipe exact latency side=none round=1 rate=1000 p50=6000 p99=9000 together=1.00
		pipe exact latency side=tool round=1 rate=900 p50=6600 p99=9000 together=1.00
		pipe exact latency side=tool round=2 rate=700 p50=7800 p99=9000 together=1.00
		pipe exact latency side=none round=2 rate=1000 p50=6000 p99=9000 together=1.00
		pipe exact latency side=tool round=3 rate=700 p50=7800 p99=9000 together=1.00
	END
	run -0 table latency -v workload=pipe cells
	[[ "$(row exact)" == *' together '*' 2 '*' 0.80 [0.70-0.90]  1.20 [1.10-1.30] '* ]]
	[[ "$output" == *'exact        1 pairs left out, of which a side failed'* ]]
}

@test "CPU time of a pass without statistics is divided by the thread looks of one with them" {
	cat >cells <<-'END'
		denet-top stats threads=100 mode=csv all=200 round=1 wall=1000 tool_cpu=9 runs=10 run_ns=4000
		denet-top time threads=100 mode=csv all=200 round=1 wall=2000 tool_cpu=10000 helpers_cpu=2000
		xcapture stats threads=100 mode=csv all=200 round=1 wall=1000 tool_cpu=9 runs=20 run_ns=4000
		xcapture time threads=100 mode=csv all=200 round=1 wall=1000 tool_cpu=4000 helpers_cpu=0 samples=50
		xcapture time threads=1000 mode=csv all=1100 round=1 wall=1000 tool_cpu=1 helpers_cpu=0
	END
	run -0 table looks -v threads=100 -v order='csv csv-k' cells
	echo "$output"
	[[ "$(row csv | tr -s ' ')" == 'csv 400 200 2.00 600 800 0.75 120 40 75 % lost' ]]
	[[ "$(row csv-k | tr -s ' ')" == 'csv-k - - - - - - - -' ]]
}

@test "the price of a stack is the difference of two modes in each round" {
	cat >cells <<-'END'
		pingpong exact stats round=1 switches=10 run_ns=7000
		pingpong exact-user stats round=1 switches=10 run_ns=4000
		pingpong exact stats round=2 switches=10 run_ns=8000
		pingpong exact-user stats round=2 switches=10 run_ns=6000
		pingpong exact time round=2 switches=10 wall=1
		python3 exact stats round=1 switches=10 run_ns=9000
		price|the kernel stack|exact|exact-user
		price|the user stack|tables|exact-kernel
	END
	run -0 table prices -v order='pingpong python3' cells
	echo "$output"
	[[ "$(row 'the kernel stack' | tr -s ' ')" == 'the kernel stack 250 [200-300] - ' ]]
	[[ "$(row 'the user stack' | tr -s ' ')" == 'the user stack - - ' ]]
}

@test "the ping-pong of python3 waits for its start, and each of its rounds is two switches" {
	run -0 /usr/bin/python3 "$top/tests/bench/pingpong.py" 50 15
	[ "$output" = $'READY\nDONE' ]
	run -0 "$build/tests/bench/cell" --gated --log "$PWD/log" \
		"/usr/bin/python3 $top/tests/bench/pingpong.py --wait 2000 15"
	[[ "$output" =~ ' switches='([0-9]+) ]]
	[ "${BASH_REMATCH[1]}" -ge 4000 ]
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
	run -2 "$top/scripts/bench-top.sh" --sideways 1
	[[ "$output" == *usage:* ]]
	run -1 "$top/scripts/bench-top.sh" --modes active,csv-x
	[[ "$output" == *'no mode csv-x:'* ]]
}
