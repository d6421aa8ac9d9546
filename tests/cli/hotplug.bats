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

# has_come TIMES: CPU 1, so often.
has_come() {
	[ "$(grep -c 'CPU 1 came online and has a ring' live.err)" = "$1" ]
}

# of_1 EVENT FILE: how many samples of it, of the program that spins on CPU 1 alone.
of_1() {
	perf script -i "$2" -F trace:comm,cpu,event 2>/dev/null | grep -c "^ *spinner.* \[001\].* $1:"
}

# spin_on_1: two threads and one that naps on CPU 1, and what they say of themselves.
spin_on_1() {
	taskset -c 1 "$build/tests/workloads/lives" --cpu 1 --ms 300 --brief 0 >said
}

@test "a CPU that comes during the recording has on-CPU samples and tracepoints, exact times, too" {
	[ -e /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing
	event=raw_syscalls:sys_enter
	echo 0 >$cpu
	start_recording -v -a -B --wall=199 --max-overhead 0 -e $event
	for times in 1 2; do
		echo 1 >$cpu
		until_true has_come "$times"
		spin_on_1
		# Nothing is lost of what was there before.
		echo 0 >$cpu
	done
	kill -INT "$recorder"
	finish_recording
	[ "$status" = 0 ]
	cat live.err
	perf script -i live.data -F tid,period,event 2>/dev/null >periods
	truths said tid requested voluntary involuntary | while read -r tid cpu sleeps preemptions; do
		awk -v tid="$tid" -v cpu="$(of_cpu_clock "$cpu" $((sleeps + preemptions + 1)))" '
			$1 == tid && $3 == "on-cpu-time:" { ns += $2 }
			END { print tid, ns, "by its clock", cpu; exit !(ns >= cpu) }' periods
	done
	[ "$(of_1 on-cpu-time live.data)" -ge 2 ]
	# Both times: each of the threads makes some system calls, and the napper many.
	perf script -i live.data -F trace:comm,tid,cpu,event 2>/dev/null | grep " $event:" |
		grep '^ *napper .*\[001\]' | awk '{ print $2 }' | sort | uniq -c | tee hits
	[ "$(wc -l <hits)" = 2 ]
	grep -q 'tracepoints: [0-9]* hits recorded, ' live.err
}
