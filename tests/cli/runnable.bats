#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Threads that wait for a CPU or for a CPU quota, in what a recording says at its end.

load lib
load service

prepare() {
	queued=$build/tests/workloads/queued
	group=
}

clean_up() {
	[ -z "$group" ] || until_true rmdir "$group"
}

# seconds_of WORDS: what the last line tells before these words; 0: nothing.
seconds_of() {
	sed -n "s/.*\[ denet-record: .*[^0-9.]\([0-9.]*\) s $1.*/\1/p" err | grep . || echo 0
}

at_least() {
	echo "$1 is to be at least $2"
	awk -v a="$1" -v b="$2" 'BEGIN { exit a < b }'
}

# said KEY: the sum of these figures of all threads of the workload, in seconds.
said() {
	awk -v key="$1=" '{ for (i = 1; i <= NF; i++) if (index($i, key) == 1)
		sum += substr($i, length(key) + 1) } END { printf "%.3f", sum / 1e9 }' truths
}

@test "a recording beside a CPU hog says how long its threads were runnable" {
	denet-record -- "$queued" --ms 300 2>err >truths
	cat err
	# All that the three waited: within blocks, where less than 10 ms is not said, or outside.
	sum=$(awk -v a="$(seconds_of 'of it runnable')" -v b="$(seconds_of runnable,)" \
		'BEGIN { print a + b + 0.011 }')
	at_least "$sum" "$(said requested)"
	at_least "$(seconds_of runnable,)" 0.1
	grep -q 'runnable, not recorded: --split-runqueue' err
	refute grep -q throttled err
}

@test "--split-runqueue records it, and there is nothing to be said any more" {
	denet-record --split-runqueue -- "$queued" --ms 300 2>err >truths
	cat err
	refute grep -q 'not recorded' err
	at_least "$(seconds_of 'waiting for a CPU')" \
		"$(of_clocks "$(said requested)")"
	denet-record --split-runqueue --state S -- "$queued" --ms 100 2>err >truths
	grep -q 'runnable, not recorded' err
}

@test "-v names the threads that waited longest" {
	denet-record -v -- "$queued" --ms 200 2>err >truths
	grep -q 'waits for a CPU: ' err
	tid=$(sed -n 's/.* tid=\([0-9]*\) comm=spinner-1 .*/\1/p' truths)
	grep -q "  spinner-1 (pid [0-9]*, tid $tid): [0-9.]* [mu]*s runnable, 0.* throttled" err
}

# throttled_seconds: as the kernel counts it, for the queue of each CPU.
throttled_seconds() {
	awk '$1 == "throttled_time" { print $2 / 1e9 } $1 == "throttled_usec" { print $2 / 1e6 }' \
		"$group/cpu.stat"
}

@test "a wait for a cgroup's CPU quota is told from one for a CPU" {
	make_quota
	# shellcheck disable=SC2016 # expanded by the inner shell
	denet-record -v -- sh -c 'echo $$ >"$0/cgroup.procs" && exec "$1" --threads 1 --ms 1000' \
		"$group" "$queued" 2>err >truths
	cat err truths "$group/cpu.stat"
	! grep -q 'not shown by this kernel' err || skip "this kernel does not show it"
	kernel=$(throttled_seconds)
	ours=$(seconds_of 'throttled by a CPU quota')
	at_least "$kernel" 0.2
	# A thread that its queue is taken from under while it waits counts as runnable, and the
	# sleeper's timer may end its sleep when the queue is throttled already: so there are two
	# bounds. Two threads wait at most.
	at_least "$(awk -v k="$kernel" 'BEGIN { print 2.1 * k + 0.1 }')" "$ours"
	at_least "$ours" "$(awk -v k="$kernel" 'BEGIN { print 0.5 * k - 0.1 }')"
	# The last line leaves out what is less than 10 ms, of both kinds.
	at_least "$(awk -v a="$ours" -v b="$(seconds_of runnable,)" \
		-v c="$(seconds_of 'of it runnable')" 'BEGIN { print a + b + c + 0.021 }')" \
		"$(said requested)"
}
