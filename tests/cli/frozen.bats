#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Processes that the kernel's freezer stops, as `docker pause` and a suspend do.

load lib

prepare() {
	freezer=$(awk '$3 == "cgroup" && $4 ~ /freezer/ { print $2; exit }' /proc/mounts)
	[ -n "$freezer" ] || skip "cgroup v1 with its freezer is not mounted"
	freezer=$freezer/denet-test-$$-$BATS_TEST_NUMBER
	mkdir "$freezer"
	# A process that never waits: it is off the CPU for long only while frozen.
	sh -c 'while :; do :; done' 3>&- &
	busy=$!
	echo "$busy" >"$freezer/cgroup.procs"
}

# A frozen process does not end before it is thawed.
teardown() {
	[ ! -d "$freezer" ] || echo THAWED >"$freezer/freezer.state"
	end_started
	[ ! -d "$freezer" ] || until_true rmdir "$freezer"
}

becomes() {
	echo "$1" >"$freezer/freezer.state"
	until_true grep -qx "$1" "$freezer/freezer.state"
}

@test "who is frozen during the recording is uninterruptible, and not waiting for a CPU" {
	start_recording --state D -p "$busy"
	becomes FROZEN
	sleep 0.3
	becomes THAWED
	kill -INT "$recorder"
	finish_recording
	[ "$status" = 0 ]
	[ "$(sum_of_periods live.data)" -ge 300000000 ]
	perf script -i live.data | grep -q refrigerator
}

@test "who is frozen when it begins is still blocked at the end" {
	becomes FROZEN
	run -0 denet-record -v -p "$busy" -- sleep 0.3
	[[ "$output" == *'1 still blocked'* ]]
	[ "$(sum_of_periods)" -ge 300000000 ]
}
