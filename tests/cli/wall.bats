#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Time on the CPU beside time off it: what perf shows of both, and what the last lines say.

load lib
load service
load wall

prepare() {
	lives=$build/tests/workloads/lives
	group=
}

clean_up() {
	[ -z "$group" ] || until_true rmdir "$group"
}

@test "--wall: the file has all of the threads' lives" {
	denet-record -v --wall --max-overhead 0 -- "$lives" --ms 300 2>err >said
	cat err
	nothing_was_hidden
	[ "$(sum_of on-cpu-time)" = "$(life '= running')" ]
	[ "$(sum_of queued-time)" = "$(life '+ runnable')" ]
	[ $(($(sum_of offcpu-time) + $(sum_of offcpu-idle))) = "$(life '+ blocked')" ]
	[ "$(life '+ filtered')" = 0 ]
	grep -qE '^\[ .* of 13 threads: [0-9.]* % running, [0-9.]* % runnable, [0-9.]* % blocked \]$' err
	# By the thread's own clocks: CPU time, and time from before its birth.
	while read -r tid cpu bracket; do
		running=$(sum_of on-cpu-time "$tid")
		echo "$tid: running $running, by its clock $cpu, in $bracket"
		[ "$running" -ge $((cpu - cpu / 100 - 2000000)) ]
		[ "$running" -le $((bracket + 100000000)) ]
	done < <(truths said tid requested bracket)
	perf script -F comm,event,ip,sym | awk '/^spinner-0.*on-cpu-time/ && /spin/' RS= | grep -q spin
}

@test "-F alone adds samples on the CPU, and blocks stay as they are" {
	denet-record -F 199 -- "$lives" --ms 200 2>err >said
	[ "$(cpu_time)" -gt 0 ]
	[ "$(sum_of on-cpu-time)" -ge "$(cpu_time)" ]
	[ "$(sum_of queued-time)" = 0 ]
	grep -q '% running' err
	denet-record -- "$lives" --ms 50 2>err >said
	refute grep -q '% running' err
	perf script -F event 2>/dev/null | refute grep -q on-cpu-time
}

@test "running time is exact at any rate, and told where no sample met a thread" {
	denet-record -v --wall=1 --max-overhead 0 -- "$lives" --ms 300 2>err >said
	cat err
	nothing_was_hidden
	[ "$(sum_of on-cpu-time)" = "$(life '= running')" ]
	[ "$(life '= running')" -ge "$(cpu_time)" ]
	perf script -F event,ip,sym 2>/dev/null | grep -A1 on-cpu-time | grep -F '[not sampled]'
	denet-record -v --wall=1 --one-event --max-overhead 0 -- "$lives" --ms 300 >said
	perf script -F ip,sym 2>/dev/null | grep -A1 -F '[not sampled]' | grep -F '[running]'
	denet-record -v --wall --max-overhead 0 -c 1000000 -- "$lives" --ms 300 2>err >said
	nothing_was_hidden
	[ "$(sum_of on-cpu-time)" = "$(life '= running')" ]
	[ "$(sed -n 's/.*on-CPU samples: \([0-9]*\);.*/\1/p' err)" -gt 20 ]
}

@test "time that a CPU quota takes away is none of the running" {
	make_quota
	# shellcheck disable=SC2016 # expanded by the inner shell
	denet-record -v --wall --max-overhead 0 -- sh -c \
		'echo $$ >"$0/cgroup.procs" && exec "$1" --ms 1000' "$group" "$lives" 2>err >said
	cat err
	nothing_was_hidden
	[ "$(sum_of on-cpu-time)" = "$(life '= running')" ]
	[ "$(sum_of queued-time)" = "$(life '+ runnable')" ]
	[ "$(life '+ runnable')" -gt "$(life '= running')" ]
}

@test "-C counts what runs on these CPUs alone" {
	[ "$(nproc)" -gt 1 ] || skip "one CPU"
	denet-record -v --wall --max-overhead 0 -C 0 -- "$lives" --ms 300 2>err >said
	cat err
	nothing_was_hidden
	[ "$(life '+ filtered')" -ge "$(cpu_time hog)" ]
	[ "$(sum_of on-cpu-time)" = "$(life '= running')" ]
	hog=$(truths said comm tid | awk '$1 == "hog" { print $2 }')
	# It begins wherever it is born.
	[ "$(sum_of on-cpu-time "$hog")" -lt "$(life '+ filtered')" ]
}

@test "a process that lives on is recorded from the start to the end of the recording" {
	"$lives" --ms 60000 >said 3>&- &
	until_true sh -c "grep -q spinner-1 /proc/$!/task/*/comm"
	denet-record -v --wall --window 100ms --max-overhead 0 -p $! -- sleep 1 2>err
	cat err
	nothing_was_hidden
	[ "$(life '= running')" -gt 100000000 ]
	awk -v a="$(sum_of on-cpu-time)" -v b="$(life '= running')" \
		'BEGIN { exit !(a >= b && a - b < 1e6) }'
}

@test "in a PID namespace threads have their own numbers" {
	unshare -pf --mount-proc true 2>/dev/null || skip "no PID namespaces here"
	unshare -pf --mount-proc denet-record -v --wall --max-overhead 0 -- "$lives" --ms 200 \
		2>err >said
	cat err
	nothing_was_hidden
	[ "$(sum_of on-cpu-time)" = "$(life '= running')" ]
	# Also of threads that no sample met: they lose their numbers before they leave their last CPU.
	while read -r tid cpu; do
		running=$(sum_of on-cpu-time "$tid")
		echo "$tid: running $running, by its clock $cpu"
		[ "$running" -ge $((cpu - cpu / 100 - 2000000)) ]
		[ "$running" -gt 0 ]
	done < <(truths said tid requested)
	[ "$(sum_of on-cpu-time -1)" = 0 ]
}

@test "cycles needs a counter, and the kernel has a highest rate" {
	if ! perf stat -e cycles true 2>&1 | grep -q 'not supported'; then
		skip "there is a counter here"
	fi
	run -1 denet-record -e cycles -- true
	[[ "$output" == *"-e cycles: this machine has no hardware counters"*"use -e cpu-clock"* ]]
	[ ! -e perf.data ]
	highest=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	[ "$highest" -lt 100000 ] || skip "any rate is allowed here"
	run -1 denet-record -F 100000 -- true
	[[ "$output" == *"no more than $highest on-CPU samples a second"* ]]
}
