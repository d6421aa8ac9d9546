#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Readers of perf.data that are not perf, and what they need of a file.

load lib

setup() {
	need_root
	need_perf
	enter_tmp
}

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
