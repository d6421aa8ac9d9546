#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What clocks do to a recording. Only in a guest: the machine's clock is set, its tasks frozen.

load ../cli/lib

setup() {
	[ "${DENET_TEST_GUEST:-}" = 1 ] || skip "only in a guest: it sets the machine's clock"
	need_root
	need_perf
	enter_tmp
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
	perf script -i live.data --ns -F comm,tid,time,period,event,ip,sym >script
}

sleepers_sleep() {
	[ "$(cat /proc/"$(pgrep -x threads)"/task/*/stat 2>/dev/null |
		grep -c '(brief) S')" = 4 ]
}

# Each thread's wait lies between its own bounds, by a clock that nobody sets.
each_wait_is_right() {
	awk '
		FNR == NR && /^truth / {
			for (i = 2; i <= NF; i++) { split($i, a, "="); f[a[1]] = a[2] }
			least[f["tid"]] = f["requested"] * 0.99; most[f["tid"]] = f["bracket"]; n++
			next
		}
		FNR == NR { next }
		/^[^\t]/ && NF { tid = $2; time = $3 + 0; ns = $4 }
		/^\t/ && $2 ~ /^wait_once$/ { sum[tid] += ns; if (time < last) back++; last = time }
		END {
			for (tid in least) {
				print tid, least[tid], sum[tid], most[tid]
				bad += sum[tid] < least[tid] || sum[tid] > most[tid]
			}
			exit n != 4 || bad || back
		}' said script
}

# No block is longer than the recording was, and the accounts are even.
nothing_forged() {
	sed -n 's/.*recorded for \([0-9.]*\) \(ms\|s\);.*/\1 \2/p' err >took
	perf script -i live.data -F comm,period,event | awk '$2 > max { max = $2 } END { print max }' |
		awk 'NR == FNR { max = $1; next }
			{ exit !(max <= ($2 == "s" ? $1 * 1e9 : $1 * 1e6) * 1.01) }' - took
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
	each_wait_is_right
	nothing_forged
}

freeze_all() {
	echo 1 >/sys/module/suspend/parameters/pm_test_delay
	echo freezer >/sys/power/pm_test
	echo freeze >/sys/power/state
	echo none >/sys/power/pm_test
}

# The first step of a suspend. The devices of these guests do not outlive the others.
@test "all tasks are frozen and thawed, the recorder too: no time is forged or lost" {
	[ -w /sys/power/pm_test ] || skip "this kernel cannot test its suspend"
	[ -w /sys/module/suspend/parameters/pm_test_delay ] || skip "the time of a freeze is fixed"
	record_while freeze_all
	dmesg | grep -q 'suspend debug: Waiting for 1 second'
	each_wait_is_right
	nothing_forged
}
