#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# --one-event: all time in one event, its kind as the outermost frame of each chain.
# tests: parallel

load lib
load wall

# kinds_of FOLDED: the sum of each kind, as a folding program's lines have it below the name.
kinds_of() {
	awk -F'[; ]' 'NR > 1 { ns[$2] += $NF } END { for (kind in ns) printf "%s %.0f\n", kind, ns[kind] }' \
		"$1" | sort
}

# total FILE: the periods of wall-time.
total() {
	perf script -i "$1" -F period,event | awk '/wall-time/ { ns += $1 } END { printf "%.0f", ns }'
}

@test "every perf prints the kind as the outermost frame, and folding puts it below the name" {
	denet-record --one-event --state S,D,R --split-runqueue --off-cpu-thresh 0 --max-overhead 0 \
		-o one.data -- sh -c "'$naps' 2 20 5; '$build/tests/workloads/pool' --ms 200" 2>err
	cat err
	[ "$(perf evlist -i one.data)" = wall-time ]
	sum=$(total one.data)
	# Idle time is told apart in the last lines, as it is elsewhere.
	grep -q '^\[ idle apart (frame \[idle\]): ' err
	for version in $(versions); do
		echo "perf $version"
		reader "$version" version >/dev/null 2>&1 || continue
		reader "$version" script -i one.data --no-inline 2>words | stackcollapse >folded
		cat words
		[ ! -s words ]
		[ "$(head -1 folded)" = 'event wall-time 0' ]
		kinds_of folded >kinds
		cat kinds
		[ "$(cut -d' ' -f1 kinds | tr '\n' ' ')" = '[blocked] [idle] [runnable] ' ]
		[ "$(awk '{ ns += $2 } END { printf "%.0f", ns }' kinds)" = "$sum" ]
		grep -q '^napper-0;\[blocked\];.*;take_nap;.*;do_nanosleep [0-9]*$' folded
		[ -e first ] || cp kinds first
		diff first kinds
	done
	# The same by denet-fold, which marks no kind as a function of the kernel.
	"$top/scripts/fold.sh" one.data >folded
	{ echo; cat folded; } | kinds_of /dev/stdin | diff first -
	# Each block counts once, also where it is two samples: napper-0 takes twenty naps. A thread that is
	# preempted as it begins a nap has a block of that alone.
	perf script -i one.data -F comm,weight,ip,sym | awk 'BEGIN { RS = "" }
		!/^napper-0/ || !/do_nanosleep/ || /schedule_timeout/ { next }
		/\[blocked\]/ { naps += $2; next }
		{ waits++; preempted += $2 }
		END { print naps, waits, preempted; exit naps != 20 || !waits || preempted > waits / 2 }'
}

@test "running, runnable and blocked time are towers that add up to the threads' lives" {
	denet-record -v --one-event --wall --max-overhead 0 -- "$lives" --ms 150 2>err >said
	cat err
	nothing_was_hidden
	perf script 2>/dev/null | stackcollapse >folded
	# The event of the first sample, and names of one length.
	[ "$(head -1 folded)" = 'event wall-time 0' ]
	kinds_of folded >kinds
	cat kinds
	[ "$(awk '{ ns += $2 } END { printf "%.0f", ns }' kinds)" = "$(total perf.data)" ]
	of_kind() { awk -v kind="[$1]" '$1 == kind { ns = $2 } END { printf "%.0f", ns }' kinds; }
	[ "$(of_kind running)" = "$(life '= running')" ]
	[ "$(of_kind runnable)" = "$(life '+ runnable')" ]
	[ $(($(of_kind blocked) + $(of_kind idle))) = "$(life '+ blocked')" ]
	grep -q '^spinner-0;\[running\];.*spin' folded
}

@test "the deepest chain keeps its kind, and one without frames has no other frame" {
	denet-record --one-event --off-cpu-thresh 0 -o deep.data -- "$build/tests/workloads/oddframes"
	perf script -i deep.data | stackcollapse | grep -v '^event' >folded
	refute grep -v '^[^;]*;\[blocked\][; ]' folded
	[ "$(awk -F';' 'NF > most { most = NF } END { print most }' folded)" = 128 ]
	denet-record --one-event --off-cpu-thresh 0 --user-callchains --max-stack 1 -o flat.data -- \
		"$naps" 1 5 5
	perf script -i flat.data | stackcollapse >folded
	grep -v '^event' folded | refute grep -v '^[^;]*;\[blocked\]\(;[^;]*\)\{0,1\} [0-9]*$'
}

@test "each file, a pipe, and a file of a killed recorder have the kinds" {
	denet-record --one-event --off-cpu-thresh 0 --max-overhead 0 --window 50ms \
		--switch-output=20K -- "$naps" 2 300 3
	files=(perf.data.*)
	[ "${#files[@]}" -ge 2 ]
	# The last file may have the end of a main thread's wait and nothing else.
	for file in "${files[@]}"; do
		perf script -i "$file" | stackcollapse | awk '!/^event/' >folded
		refute grep -v '^[^;]*;\[[a-z]*\];' folded
	done
	perf script -i "${files[0]}" | stackcollapse | grep -q '^napper-[01];\[blocked\];.*take_nap'
	denet-record --one-event --off-cpu-thresh 0 -o - -- "$naps" 1 20 5 2>/dev/null |
		perf script -i - | stackcollapse | grep -q '^napper-0;\[blocked\];.*take_nap'
	start_target "$naps" 1 10000 5
	start_recording --one-event -p "$target" --off-cpu-thresh 0 --window 50ms
	until_true bigger_than live.data 10000
	kill -KILL "$recorder"
	finish_recording
	kill "$target"
	perf script -i live.data 2>/dev/null | stackcollapse | grep -q '^napper-0;\[blocked\];.*take_nap'
}

@test "options that make other events are refused" {
	for option in --wakers --reason; do
		run -2 denet-record --one-event $option -- true
		echo "$output"
		[[ "$output" == *"exclude each other"* ]]
	done
}
