#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Threads that have not come back when the recording ends, above all a deadlock.
# tests: parallel

load lib

# The deadlock is there before anything is recorded.
start_deadlock() {
	mkfifo gate
	"$build/tests/workloads/deadlock" --limit 60 <gate >said 3>&- &
	target=$!
	exec 9>gate
	until_true grep -q READY said
}

# deadlock_shows FOLDED MS: both threads of it are there with kernel and user frames (libc has no
# frame pointers, so the caller of its leaf is missing), for at
# least that many milliseconds.
deadlock_shows() {
	local thread

	for thread in lock-ab lock-ba; do
		grep "^$thread;.*;start_locking;lock_both;.*;futex_[a-z_]*_\[k\] " "$1" |
			awk -v ms="$2" '{ ns += $NF } END { exit !(ns >= ms * 1000000) }'
	done
	grep -q '^sleeper;.*;start_sleeping;wait_forever;.*nanosleep_\[k\] ' "$1"
}

@test "-p: a deadlock from before the start is in the first event, with both stacks" {
	start_deadlock
	run -0 denet-record -v -p "$target" -- sleep 0.5
	[[ "$output" == *'4 still blocked'* ]]
	"$top/scripts/fold.sh" >folded
	deadlock_shows folded 500
	perf script -F comm,period,event >samples
	refute grep -q offcpu-idle samples
	# No thread is blocked for longer than the recording took.
	awk '$2 > max { max = $2 } END { print max }' samples >max
	sed -n 's/.*recorded for \([0-9.]*\) \(ms\|s\);.*/\1 \2/p' <<<"$output" >took
	awk -v part="$(shared_part)" 'NR == FNR { max = $1; next }
		{ exit !(max >= 5e8 && max * part <= ($2 == "s" ? $1 * 1e9 : $1 * 1e6)) }' max took
	# Stock folding programs read perf script as it is.
	perf script | fold | grep -q '^lock-ab;.*lock_both;.*futex'
}

@test "-a: a deadlock is in the first event, whether or not its threads ran meanwhile" {
	start_deadlock
	mkfifo second
	"$build/tests/workloads/deadlock" --wait --limit 60 <second >said.second 3>&- &
	ran=$!
	exec 8>second
	until_true grep -q READY said.second
	start_recording
	until_true bigger_than live.data 4096
	echo go >&8
	until_true grep -q BLOCKED said.second
	kill -INT "$recorder"
	finish_recording
	kill "$ran"
	[ "$status" = 0 ]
	perf script -i live.data -F comm,pid,event >events
	for pid in "$target" "$ran"; do
		[ "$(grep "lock-ab\|lock-ba\|sleeper" events | grep -c " $pid offcpu-time:")" -ge 3 ]
		refute grep " $pid offcpu-idle:" events
	done
	perf script -i live.data 2>&1 | awk '/offcpu-time/' RS= | grep -q lock_both
}

@test "--no-still-blocked leaves them out, counted as filtered" {
	start_deadlock
	run -0 denet-record -v --no-still-blocked -p "$target" -- sleep 0.3
	echo "$output" | awk '/filtered, still blocked/ { exit !($(NF - 1) == 4 && $NF >= 1.2e9) }'
	[ "$(samples)" = 0 ]
	run -0 denet-record --no-still-blocked -a -- sleep 0.3
	perf script -F comm,event | refute grep -q lock-ab
}

@test "a COMMAND's threads that deadlock are in the first event" {
	mkfifo gate
	denet-record -- "$build/tests/workloads/deadlock" --limit 60 <gate >said 2>err 3>&- &
	recorder=$!
	exec 9>gate
	until_true grep -q READY said
	sleep 0.4
	kill -INT "$recorder"
	finish_recording
	grep -q 'still blocked' err
	"$top/scripts/fold.sh" >folded
	deadlock_shows folded 300
}
