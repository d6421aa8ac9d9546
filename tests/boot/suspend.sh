#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# suspend.sh BUILD: what the guest of suspend.bats does, which has busybox and little else:
# records threads on CPU 1 that sleep once, four when the system is suspended and four after it.
# The recording and what is to be known of it go to /w; a file /w/unable says why it cannot be.

cd /w || exit 1
build=$1
rtc=/sys/class/rtc/rtc0/wakealarm

# clocks WHEN: CLOCK_MONOTONIC in ns, CLOCK_BOOTTIME in s.
clocks() {
	read -r boot _ </proc/uptime
	echo "$1 $(sed -n 's/^now at \([0-9]*\) nsecs/\1/p' /proc/timer_list) $boot" >>clocks
}

sleepers() {
	cat /proc/[0-9]*/task/*/stat 2>/dev/null | grep -c '(brief) S'
}

if ! grep -qw deep /sys/power/mem_sleep 2>/dev/null; then
	echo 'this kernel cannot suspend to RAM' >unable
elif [ ! -w $rtc ]; then
	echo 'this guest has no clock that would wake it' >unable
fi
[ ! -e unable ] || exit 0

clocks start
"$build/denet" record -v --off-cpu-thresh 0 --window 100ms --max-overhead 0 \
	-o live.data -- taskset 2 "$build/tests/workloads/threads" --count 8 --parallel 4 --us 6000000 \
	>said 2>err &
recorder=$!
until [ "$(sleepers)" = 4 ]; do
	kill -0 $recorder || exit 1
	sleep 0.05
done
echo deep >/sys/power/mem_sleep
# Far enough off for a slow guest to be asleep by then: an alarm that is over wakes nobody. From
# the first nap to here a quarter of a second passes, and from here to the end of the resume
# another (measured): both the alarm and the naps of 6 s leave it ten times as long.
echo +12 >$rtc
clocks asleep
echo mem >/sys/power/state || exit 1
clocks awake
wait $recorder
status=$?
clocks end
exit $status
