#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# CPUs that come and go. It disturbs whatever else runs, so it is for a machine of its own:
# DENET_HOTPLUG=1, as in `scripts/vm/boot.sh 6.12 'cd …; DENET_HOTPLUG=1 bats tests/cli/hotplug.bats'`.

load lib

cpu=/sys/devices/system/cpu/cpu1/online

prepare() {
	[ "${DENET_HOTPLUG:-0}" = 1 ] || skip "takes CPUs away: only with DENET_HOTPLUG=1"
	[ -w $cpu ] || skip "CPU 1 cannot be taken away here"
}

clean_up() {
	[ ! -w $cpu ] || echo 1 >$cpu
}

# samples_on_1 FILE: of the program that sleeps on CPU 1 alone.
samples_on_1() {
	perf script -i "$1" -F comm,cpu 2>/dev/null | grep -c '^ *napper-.* \[001\]'
}

@test "a CPU that comes online during the recording has a ring" {
	echo 0 >$cpu
	start_recording -v -a --off-cpu-thresh 0
	echo 1 >$cpu
	until_true grep -q 'CPU 1 came online and has a ring' live.err
	taskset -c 1 "$naps" 1 20 20
	kill -INT "$recorder"
	finish_recording
	[ "$status" = 0 ]
	tail -3 live.err
	[ "$(samples_on_1 live.data)" -ge 15 ]
}

@test "a CPU that goes offline keeps what was captured, and one that comes back counts again" {
	start_recording -v -a --off-cpu-thresh 0
	taskset -c 1 "$naps" 1 20 20
	echo 0 >$cpu
	echo 1 >$cpu
	until_true grep -q 'CPU 1 came online and has a ring' live.err
	taskset -c 1 "$naps" 1 20 20
	kill -INT "$recorder"
	finish_recording
	[ "$status" = 0 ]
	tail -3 live.err
	[ "$(samples_on_1 live.data)" -ge 30 ]
	# Nor is what ended there between its coming and its ring.
	grep -q ' samples .*, 0 lost; ' live.err
}
