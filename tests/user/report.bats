#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-report refuses what it cannot read in a clear sentence, and contradictions.

load ../cli/lib

needs=

@test "a file that is not there, or is none of ours" {
	run -1 denet-report
	[[ "$output" == "denet-report: error: cannot open perf.data: No such file or directory" ]]
	echo nonsense >text
	run -1 denet-report -i text
	[[ "$output" == *"text is no perf.data file" ]]
	: >empty
	run -1 denet-report -i empty
	[[ "$output" == *"empty is no perf.data file" ]]
	run -1 denet-report -i - <text
	[[ "$output" == *"standard input is no perf.data file" ]]
}

@test "usage errors" {
	run -2 denet-report --sort comm,nonsense
	[[ "$output" == *"not a list of group, comm, pid, tid"* ]]
	run -2 denet-report --sort comm,comm
	run -2 denet-report --by wait
	run -2 denet-report --by pid --sort wait
	[[ "$output" == *"--by and --sort do not go together"* ]]
	run -2 denet-report --sort wait --by pid
	[[ "$output" == *"--by and --sort do not go together"* ]]
	run -2 denet-report --time 5
	run -2 denet-report --time 6,5
	[[ "$output" == *"STOP is not behind START"* ]]
	run -2 denet-report --event cycles
	run -2 denet-report --min-percent 101
	run -2 denet-report --folded --json
	run -2 denet-report --diff other.data
	[[ "$output" == *"--diff needs --flamegraph"* ]]
	run -2 denet-report --symfs nowhere
	[[ "$output" == *"--symfs nowhere: No such file or directory"* ]]
	: >file
	run -2 denet-report --symfs file
	run -2 denet-report --flamegraph - --pprof -
	[[ "$output" == *"--flamegraph and --pprof both write to standard output"* ]]
	run -2 denet-report --pprof file --speedscope file
	[[ "$output" == *"--pprof and --speedscope both write file"* ]]
	run -2 denet-report --json --speedscope -
	[[ "$output" == *"--json and --speedscope both write to standard output"* ]]
	run -2 denet-report file
}
