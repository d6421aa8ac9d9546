#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The CPU time that denet-record takes itself, held against other work of the same minute: a load
# that slows the machine down slows both.

load ../cli/lib

rounds=5

needs=root
cell=$build/tests/bench/cell
short="$build/tests/workloads/short --wait --linger 1 --batch 1 --depth 17"
record="denet-record -v -B --max-overhead 0 --off-cpu-thresh 0 -o data"

# field NAME: of a line of name=value.
field() {
	sed -n "s/.*\b$1=\([0-9]*\).*/\1/p"
}

# least: of the numbers on standard input, one a line. Disturbances only add to a round.
least() {
	sort -n | head -n 1
}

# own ROUNDS TOOL: its CPU time in ns, from its start to its end, while the workload makes so many
# rounds.
own() {
	local i

	for ((i = 0; i < rounds; i++)); do
		"$cell" --gated --log log "$short --rounds $1" "$2" | field tool_all_cpu
	done | least
}

# of_kallsyms: the CPU time in ns in which the kernel lists its symbols.
of_kallsyms() {
	local i TIMEFORMAT='%U %S'

	for ((i = 0; i < rounds; i++)); do
		{ time cat /proc/kallsyms >/dev/null; } 2>&1 | awk '{ printf "%.0f\n", ($1 + $2) * 1e9 }'
	done | least
}

# at_most PART WHOLE SHARE
at_most() {
	echo "$1 of $2 ns, at most $3 of it"
	awk -v part="$1" -v whole="$2" -v share="$3" 'BEGIN { exit !(part > 0 && part <= share * whole) }'
}

# The least that a start can take: libbpf reads the kernel's types for two small programs, and the
# kernel lists its symbols. 3.6 to 6.0 times that on Linux 6.18, by machine and by run, and most of it
# is the verifier: the bound is to see half as much again.
@test "a start takes few times what it takes to list symbols and to load two programs" {
	# shellcheck disable=SC2016
	own=$(own 1000 "$record "'-p $BENCH_PID')
	floor=$(own 1000 "$build/tests/bench/floor $build/tests/bench/floor.bpf.o")
	at_most "$own" $((floor + $(of_kallsyms))) 9
}

# Each switch is a sample in the file. 9 to 28 % on Linux 6.18, by machine, and the more the less else
# runs: what a switch takes depends on that, too. A sample that takes three times its time is seen.
@test "a sample takes the recorder a small part of what the switch takes its thread" {
	local i

	# shellcheck disable=SC2016
	start=$(own 1000 "$record "'-p $BENCH_PID') all=$(own 300000 "$record "'-p $BENCH_PID')
	switches=$(for ((i = 0; i < rounds; i++)); do
		"$cell" --gated --log log "$short --rounds 300000" | field cpu
	done | least)
	at_most $((all - start)) "$switches" 0.4
}
