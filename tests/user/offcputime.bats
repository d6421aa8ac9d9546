#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-offcputime refuses options that contradict each other, and what is no value. No root needed.

load ../cli/lib

needs=

# refuse 'WORDS OF THE MESSAGE' OPTION…
refuse() {
	local words=$1

	shift
	run -2 denet-offcputime "$@"
	[[ "$output" == *"$words"* ]] || { echo "$output"; return 1; }
	[[ "$output" == *"denet-offcputime --help"* ]]
}

@test "threads that contradict each other" {
	refuse "-p and -t exclude each other" -p 1 -t 1
	refuse "-p and -u exclude each other" -u -p 1
	refuse "-p and -k exclude each other" -p 1 -k
	refuse "-t and -u exclude each other" -t 1 --useronly
	refuse "-t and -k exclude each other" -t 1 -k
	refuse "-u and -k exclude each other" -k -u
	refuse "-a and -p exclude each other" -a -p 1
	refuse "--children needs -p" --children
}

@test "stacks, blocks and outputs that contradict each other" {
	refuse "-U and -K exclude each other" -K -U
	refuse "-k and -U exclude each other" -U -k
	refuse "--call-graph and -K exclude each other" -K --call-graph tables
	refuse "-m is greater than -M" -m 11 -M 10
	refuse "--libbpf and -f exclude each other" -f --libbpf
	refuse "--json and -f exclude each other" -f --json
	refuse "--json and --libbpf exclude each other" --json --libbpf
	refuse "--interval prints text" --interval 1 --pprof file
	refuse "-q and -v exclude each other" -q -v
	refuse "--libbpf and -d exclude each other" -d --libbpf
	refuse "--flamegraph and --pprof both write x" --pprof x --flamegraph x
	refuse "--output and --speedscope both write x" --speedscope x -o x
	refuse "--folded and --pprof both write to standard output" -f --pprof -
	refuse "--libbpf and --flamegraph both write to standard output" --libbpf --flamegraph -
}

@test "values that are none" {
	refuse "-m 0: must be a number from 1" -m 0
	refuse "-M 1ms: must be a number" -M 1ms
	refuse "-m 99999999999999999999: must be a number" -m 99999999999999999999
	refuse "--state 128: neither a mask" --state 128
	refuse "--state Q: neither a mask" --state Q
	refuse "--state : neither a mask" --state ""
	refuse "--interval 0: not a time" --interval 0
	refuse "--interval x: not a time" --interval x
	refuse "--call-graph dwarf: copies of stacks cannot" --call-graph dwarf
	refuse "--call-graph lbr: must be fp, auto or tables" --call-graph lbr
	refuse "-o : the value is empty" -o ""
	refuse "--by wait: not comm, pid or tid" --by wait
	refuse "--perf-max-stack-depth 0: must be" --perf-max-stack-depth 0
	refuse "--stack-storage-size 0: must be" --stack-storage-size 0
	refuse "--stack-storage-size x: must be" --stack-storage-size=x
	refuse "-p x: not a list" -p x
}

@test "durations that are none, and commands without --" {
	refuse "argument 0: neither a DURATION" 0
	refuse "argument 5x: neither a DURATION" 5x
	refuse "argument sleep: neither a DURATION in seconds, nor behind --" sleep 5
	refuse "argument 6: there is a DURATION already" 5 6
	refuse "argument sleep: there is a DURATION already; COMMAND stands behind --" 5 sleep 5
}
