#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What clocks do to a recording. Only in a guest: the machine's clock is set, its tasks frozen.

load ../cli/lib
load waits

prepare() {
	[ "${DENET_TEST_GUEST:-}" = 1 ] || skip "only in a guest: it sets the machine's clock"
}

# record_while COMMAND…: four threads sleep for four seconds, once each, while it runs.
record_while() {
	denet-record -v --off-cpu-thresh 0 --window 100ms -o live.data -- \
		"$build/tests/workloads/threads" --count 4 --parallel 4 --us 4000000 >said 2>err 3>&- &
	recorder=$!
	until_true sleepers_sleep
	"$@"
	finish_recording
	[ "$status" = 0 ]
	read_script
}

sleepers_sleep() {
	[ "$(cat /proc/"$(pgrep -x threads)"/task/*/stat 2>/dev/null |
		grep -c '(brief) S')" = 4 ]
}

step_clock() {
	local before

	before=$(date +%s)
	date -s "@$((before + $1))" >/dev/null
	sleep 0.3
	date -s "@$((before - $1))" >/dev/null
	sleep 0.3
	date -s "@$before" >/dev/null
}

@test "the wall clock is set by a day, forth and back: no time is forged or lost" {
	record_while step_clock 86400
	each_wait_is_right 4
	nothing_forged
	# It looks like a suspend, but took no CPU away.
	refute grep 'came online' err
}

freeze_all() {
	echo 1 >/sys/module/suspend/parameters/pm_test_delay
	echo freezer >/sys/power/pm_test
	echo freeze >/sys/power/state
	echo none >/sys/power/pm_test
}

# The first step of a suspend; for the others see tests/boot/suspend.bats.
@test "all tasks are frozen and thawed, the recorder too: no time is forged or lost" {
	[ -w /sys/power/pm_test ] || skip "this kernel cannot test its suspend"
	[ -w /sys/module/suspend/parameters/pm_test_delay ] || skip "the time of a freeze is fixed"
	record_while freeze_all
	dmesg | grep -q 'suspend debug: Waiting for 1 second'
	each_wait_is_right 4
	nothing_forged
}
