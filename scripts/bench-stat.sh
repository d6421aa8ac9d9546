#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench-stat.sh [--rounds N] [--calls N] [--keep FILE]: what counting system calls costs, denet-stat
# and others, side by side on one thread that does nothing else, in rounds that interleave all of
# them. Peers that are not installed are left out: strace, syscount (package libbpf-tools), perf
# trace -s; and perf trace -s --bpf-summary of a perf at $PEER_PERF. Needs root, and `make bench`.
set -euo pipefail

tree=$(realpath "$(dirname "$0")/..")
# shellcheck source=scripts/lib.sh
. "$tree/scripts/lib.sh"

# The goals: ns of BPF programs per call, of those of an empty pair of programs: of counts alone, and
# with times.
goal_counts=2.3 goal_times=3.5

# tool_command TOOL: the command that watches the process $BENCH_PID until SIGINT.
tool_command() {
	# The workload's process gets its number when it runs.
	# shellcheck disable=SC2016
	case $1 in
	floor) echo "$O/tests/bench/floor $O/tests/bench/call_floor.bpf.o" ;;
	denet-stat-counts) echo "$O/denet-stat -q --syscall-counts -o $work/data "'-p $BENCH_PID' ;;
	denet-stat) echo "$O/denet-stat -q --syscalls -o $work/data "'-p $BENCH_PID' ;;
	denet-stat-all) echo "$O/denet-stat -q --all -o $work/data "'-p $BENCH_PID' ;;
	syscount) echo 'syscount -p $BENCH_PID' ">$work/data" ;;
	syscount-times) echo 'syscount -L -p $BENCH_PID' ">$work/data" ;;
	perf-summary) echo "$PEER_PERF trace -s --bpf-summary -a -o $work/data" ;;
	perf-trace) echo 'perf trace -s -p $BENCH_PID' "-o $work/data" ;;
	strace) echo 'strace -c -f -p $BENCH_PID' "-o $work/data" ;;
	esac
}

# has TOOL: whether it can be measured here.
has() {
	case $1 in
	syscount*) command -v syscount >/dev/null ;;
	perf-summary) [ -n "${PEER_PERF:-}" ] ;;
	perf-trace) perf trace -s true >/dev/null 2>&1 ;;
	strace) command -v strace >/dev/null ;;
	esac
}


# measure TOOL KIND READ: a line of name=value in the results.
measure() {
	local options=(--gated) command=() workload figures

	workload="$O/tests/workloads/many_calls --wait --linger 1 --rounds $calls --read $3"
	[ "$2" != stats ] || options+=(--stats)
	[ "$1" = none ] || command=("$(tool_command "$1")")
	if ! figures=$("$O/tests/bench/cell" "${options[@]}" --log "$work/log" "$workload" \
		"${command[@]}" 2>"$work/err"); then
		echo "${0##*/}: $1 failed: $(cat "$work/err") $(tail -2 "$work/log")" >&2
		failures=$((failures + 1))
		return
	fi
	echo "$1 $2 read=$3 round=$round calls=$calls $figures" >>"$work/cells"
}

# measure_traced TOOL READ: a tool without BPF programs starts the workload itself.
measure_traced() {
	local begin end workload="$O/tests/workloads/many_calls --rounds $calls --read $2"
	local command

	case $1 in
	strace) command="strace -c -f -o $work/data $workload" ;;
	perf-trace) command="perf trace -s -o $work/data $workload" ;;
	esac
	begin=$(date +%s%N)
	$command >/dev/null 2>"$work/err" || { failures=$((failures + 1)); return; }
	end=$(date +%s%N)
	echo "$1 time read=$2 round=$round calls=$calls wall=$((end - begin))" >>"$work/cells"
}

run_round() {
	local tool kind

	for tool in "${tools[@]}"; do
		case $tool in
		none) measure none time "$1" ;;
		strace | perf-trace) measure_traced "$tool" "$1" ;;
		*)
			for kind in time stats; do
				measure "$tool" "$kind" "$1"
			done
			;;
		esac
	done
}

# print_table READ
print_table() {
	printf '\n%s\n' "$([ "$1" = 0 ] && echo 'getppid(2)' || echo 'read(2) of /dev/zero')"
	awk -v read="$1" -v order="${tools[*]}" -f "$tree/tests/bench/lib.awk" \
		-f "$tree/tests/bench/calls.awk" "$work/cells"
}

rounds=5 calls=2000000 keep=
while [ $# != 0 ]; do
	case $1 in
	--rounds) rounds=$2 ;;
	--calls) calls=$2 ;;
	--keep) keep=$2 ;;
	*)
		echo 'usage: bench-stat.sh [--rounds N] [--calls N] [--keep FILE]' >&2
		exit 2
		;;
	esac
	shift 2
done
O=$(realpath -m "${O:-$tree/build}")
[ "$(id -u)" = 0 ] || die 'BPF programs need root'
find_tools
for file in denet-stat tests/bench/cell tests/bench/floor tests/bench/call_floor.bpf.o \
	tests/workloads/many_calls; do
	[ -e "$O/$file" ] || die "$O/$file is not built: make bench"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/cells"
failures=0
tools=(none floor denet-stat-counts denet-stat denet-stat-all)
for tool in syscount syscount-times perf-summary perf-trace strace; do
	if has "$tool"; then tools+=("$tool"); else echo "${0##*/}: no $tool here" >&2; fi
done
for ((round = 1; round <= rounds; round++)); do
	run_round 0
	run_round 1
done
echo "denet-stat benchmark: kernel $(uname -r), $(nproc) CPUs, $rounds rounds of $calls calls," \
	"goals $goal_counts x floor for counts, $goal_times x with times"
print_table 0
print_table 1
[ -z "$keep" ] || cp "$work/cells" "$keep"
[ "$failures" = 0 ]
