#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench-top.sh [OPTION…]: what a look of denet-top costs for each thread that waits, and its
# --track syscalls for each call, side by side with xcapture 3 at $PEER_XCAPTURE, in rounds that
# interleave all of them. Documentation/benchmarks.txt tells how to read the tables. Needs root, and
# `make bench`.
set -euo pipefail

tree=$(realpath "$(dirname "$0")/..")
# shellcheck source=scripts/lib.sh
. "$tree/scripts/lib.sh"

usage() {
	cat <<-END
		usage: bench-top.sh [OPTION…]
		  --rounds N       repeat everything N times (3)
		  --threads LIST   threads that wait, such as 100,10000 (100,1000,10000; none: no looks)
		  --us N           they sleep N us, again and again, in place of waiting for ever
		  --ms N           look at them for so long (2000, with many threads 4000)
		  --modes LIST     of: $(mode_names | tr '\n' ' ')(all)
		  --calls N        system calls to track (500000; 0: none)
		  --keep FILE      keep each single measurement in FILE
		Variables: O=DIR, where the program was built (build); PEER_XCAPTURE=PATH
	END
}

# name|options of denet-top|options of xcapture; "-": xcapture has no such mode. "active" looks at the
# threads that wait and leaves them out, as both do by default; the other modes keep all threads.
modes=(
	'active|-b|'
	'table|-b --all-states|-'
	'csv|-o CSV --all-states|-o CSV -a'
	'csv-k|-o CSV --all-states -k|-o CSV -a -k'
	'csv-k-s|-o CSV --all-states -k -s|-o CSV -a -k -u'
)

# Of xcapture itself, where it is not here to be measured: "per-sample overhead" in
# xcapture/XCAPTURE.md of github.com/tanelpoder/0xtools, version 3.0.3, "Performance Notes". There
# is none for a tracked call.
published='340 to 555 us a look, the number of threads is not told'

mode_names() {
	printf '%s\n' "${modes[@]%%|*}"
}

# mode_options MODE FIELD
mode_options() {
	local mode

	for mode in "${modes[@]}"; do
		[ "${mode%%|*}" != "$1" ] || cut -d'|' -f"$2" <<<"$mode" | sed "s|CSV|$work/csv|"
	done
}

# looker_command TOOL MODE HZ: looks at all threads of the machine until SIGINT.
looker_command() {
	case $1 in
	denet-top) echo "$O/denet-top -q --max-overhead 0 -F $3 $(mode_options "$2" 2)" ;;
	xcapture) echo "$PEER_XCAPTURE -F $3 $(mode_options "$2" 3)" ;;
	esac
}

# tracker_command TOOL: tracks all system calls of the machine until SIGINT, and hardly looks.
tracker_command() {
	case $1 in
	floor) echo "$O/tests/bench/floor $O/tests/bench/call_floor.bpf.o" ;;
	denet-top) echo "$O/denet-top -q --track syscalls -F 1 -o $work/csv" ;;
	denet-top-all) echo "$O/denet-top -q --track syscalls --min-time 0 -F 1 -o $work/csv" ;;
	xcapture) echo "$PEER_XCAPTURE -t syscall -F 1 -o $work/csv" ;;
	esac
}

# Samples that were written for each look. Of a look with many threads, xcapture loses those that its
# ring of 16 MB has no room for.
samples_per_look() {
	local files=("$work"/csv/xcapture_samples_*)

	[ -e "${files[0]}" ] || return 0
	awk -F, 'FNR > 1 { lines++; if (!($1 in looks)) { looks[$1] = 1; nr++ } }
		END { printf "samples=%.0f\n", nr ? lines / nr : 0 }' "${files[@]}"
}

# measure TOOL KIND WHAT OPTION… WORKLOAD [COMMAND]: a line of name=value in the results.
measure() {
	local tool=$1 kind=$2 what=$3 options=(--gated) figures

	shift 3
	rm -rf "$work/csv" "$work/log"
	[ "$kind" != stats ] || options+=(--stats)
	if ! figures=$("$O/tests/bench/cell" "${options[@]}" --log "$work/log" "$@" 2>"$work/err"); then
		echo "${0##*/}: $tool failed: $(cat "$work/err") $(tail -2 "$work/log")" >&2
		failures=$((failures + 1))
		return
	fi
	echo "$tool $kind $what round=$round $figures $(samples_per_look)" >>"$work/cells"
}

# A look takes much less than a period, so that none is left out.
measure_looks() {
	local workload hz=20 ms=${ms_option:-2000} others kind tool mode

	[ "$1" -lt 5000 ] || hz=5 ms=${ms_option:-4000}
	workload="$O/tests/workloads/waiting --wait --linger 1 --threads $1 --us $us --ms $ms"
	others=(/proc/[0-9]*/task/*)
	for mode in $chosen_modes; do
		for tool in "${lookers[@]}"; do
			[ "$tool" != xcapture ] || [ "$(mode_options "$mode" 3)" != - ] || continue
			for kind in time stats; do
				measure "$tool" "$kind" "threads=$1 mode=$mode all=$(($1 + ${#others[@]}))" \
					--warm 500 "$workload" "$(looker_command "$tool" "$mode" "$hz")"
			done
		done
	done
}

measure_calls() {
	local workload="$O/tests/workloads/many_calls --wait --linger 1 --rounds $calls" kind tool

	measure none time "read=0 calls=$calls" "$workload"
	for tool in "${trackers[@]}"; do
		for kind in time stats; do
			measure "$tool" "$kind" "read=0 calls=$calls" "$workload" \
				"$(tracker_command "$tool")"
		done
	done
}

# tables PART VARIABLE…
tables() {
	awk -f "$tree/tests/bench/lib.awk" -f "$tree/tests/bench/$1.awk" "${@:2}" "$work/cells"
}

print_results() {
	local nr

	echo "denet-top benchmark: kernel $(uname -r), $(nproc) CPUs, $rounds rounds"
	if [ -n "$PEER_XCAPTURE" ]; then
		echo "xcapture: $("$PEER_XCAPTURE" --version)"
	else
		echo "xcapture: not here (PEER_XCAPTURE); published: $published"
	fi
	for nr in $threads; do
		printf '\n%s threads that %s\n' "$nr" "$([ "$us" = 0 ] && echo wait || echo "sleep $us us")"
		tables looks -v threads="$nr" -v order="$chosen_modes"
	done
	[ "$calls" != 0 ] || return 0
	printf '\ngetppid(2)\n'
	tables calls -v read=0 -v order="none ${trackers[*]}" -v peer="${PEER_XCAPTURE:+xcapture}"
}

rounds=3 threads='100 1000 10000' us=0 ms_option='' calls=500000 keep=
chosen_modes=$(mode_names | tr '\n' ' ')
while [ $# != 0 ]; do
	[ $# -ge 2 ] || { usage >&2; exit 2; }
	case $1 in
	--rounds) rounds=$2 ;;
	--threads) threads=${2//,/ } ;;
	--us) us=$2 ;;
	--ms) ms_option=$2 ;;
	--modes) chosen_modes=${2//,/ } ;;
	--calls) calls=$2 ;;
	--keep) keep=$2 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift 2
done
[ "$threads" != none ] || threads=
for mode in $chosen_modes; do
	[ -n "$(mode_names | grep -x -- "$mode")" ] || die "no mode $mode: $(mode_names | paste -sd' ')"
done
O=$(realpath -m "${O:-$tree/build}")
PEER_XCAPTURE=${PEER_XCAPTURE:-}
[ "$(id -u)" = 0 ] || die 'BPF programs need root'
find_tools
for file in denet-top tests/bench/cell tests/bench/floor tests/bench/call_floor.bpf.o \
	tests/workloads/waiting tests/workloads/many_calls; do
	[ -e "$O/$file" ] || die "$O/$file is not built: make bench"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/cells"
failures=0
lookers=(denet-top) trackers=(floor denet-top denet-top-all)
if [ -n "$PEER_XCAPTURE" ]; then
	lookers+=(xcapture) trackers+=(xcapture)
fi
for ((round = 1; round <= rounds; round++)); do
	for nr in $threads; do
		measure_looks "$nr"
	done
	[ "$calls" = 0 ] || measure_calls
done
print_results
[ -z "$keep" ] || cp "$work/cells" "$keep"
[ "$failures" = 0 ]
