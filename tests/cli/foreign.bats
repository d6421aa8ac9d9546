#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Readers of perf.data that are not perf, and what they need of a file.
# tests: parallel

load lib

# hotspot FILE: what hotspot's reader makes of it, in the file FILE.b2qt.
hotspot() {
	local parser

	parser=$(ls /usr/lib/*/libexec/hotspot-perfparser /usr/libexec/hotspot-perfparser 2>/dev/null |
		head -1)
	[ -n "$parser" ] || skip "no hotspot-perfparser here (package hotspot)"
	"$parser" --input "$1" --output "$1.b2qt" 2>hotspot.err
}

# record_older: live.data, of a process with two threads that is older than the recording.
record_older() {
	"$naps" 2 10000 5 >/dev/null 3>&- &
	target=$!
	until_true is_at $target .
	start_recording -p $target --off-cpu-thresh 0 --window 50ms "$@"
	until_true bigger_than live.data 20000
	kill -INT "$recorder"
	finish_recording
	kill $target
	[ "$status" = 0 ]
}

# hotspot copies the mappings of the parent to the child at a FORK, after it has read all mappings
# of the same time.
@test "no process that is older than the recording is forked in the file, its threads are" {
	record_older
	perf report -D -i live.data 2>/dev/null |
		sed -n 's/^0 .*PERF_RECORD_FORK(\([0-9]*\):\([0-9]*\)):(\([0-9]*\):.*/\1 \2 \3/p' >forks
	cat forks
	[ -s forks ]
	awk '$1 == $2 || $1 != $3 { exit 1 }' forks
	perf script -i live.data -F comm,ip,sym >script
	grep -q take_nap script
}

@test "hotspot names the functions of a process that is older than the recording" {
	record_older
	hotspot live.data
	cat hotspot.err
	for name in take_nap do_nanosleep offcpu-time; do
		grep -aqF "$name" live.data.b2qt
	done
}

@test "programs that fold the output of perf script draw the time off the CPU, whatever else is in the file" {
	denet-record -o all.data -a --state S,D,R --split-runqueue --wakers --reason \
		--off-cpu-thresh 0 --max-overhead 0 -- "$naps" 2 20 5
	perf script -i all.data 2>/dev/null | stackcollapse >folded
	head -3 folded
	[ "$(head -1 folded)" = 'event offcpu-time 0' ]
	sum=$(awk 'NR > 1 { ns += $NF } END { printf "%.0f", ns }' folded)
	[ "$sum" = "$(sum_of_periods all.data)" ]
	grep -q 'take_nap' folded
}

@test "denet-fold prints one event, or several apart, and tells what it leaves out" {
	denet-record -o all.data --state S,D,R --split-runqueue --wakers --off-cpu-thresh 0 \
		--max-overhead 0 -- "$naps" 2 20 5
	"$top/scripts/fold.sh" all.data >folded 2>err
	cat err
	[ "$(awk '{ ns += $NF } END { printf "%.0f", ns }' folded)" = "$(sum_of_periods all.data)" ]
	refute grep -q 'wakeup-time\|queued-time' folded
	grep -q 'take_nap' folded
	grep -q 'left out: [0-9]* samples of wakeup-time, [0-9.]* s (-e wakeup-time)' err
	grep -q 'left out: [0-9]* samples of queued-time' err
	"$top/scripts/fold.sh" -e all all.data >folded 2>err
	[ ! -s err ]
	for event in offcpu-time queued-time wakeup-time; do
		[ "$(awk -v event="^$event;" '$0 ~ event { ns += $NF } END { printf "%.0f", ns }' \
			folded)" = "$(perf script -i all.data -F period,event |
			awk -v event="$event" 'index($0, event) { ns += $1 } END { printf "%.0f", ns }')" ]
	done
	"$top/scripts/fold.sh" -e no-such-time all.data >folded 2>err
	grep -q 'no samples of no-such-time' err
	[ ! -s folded ]
}
