#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Time on the CPU beside time off it: what perf shows of both, and what the last lines say.

load lib
load service
load wall

@test "--wall: the file has all of the threads' lives" {
	denet-record -v --wall --max-overhead 0 -- "$lives" --ms 300 2>err >said
	cat err
	nothing_was_hidden
	[ "$(sum_of on-cpu-time)" = "$(life '= running')" ]
	[ "$(sum_of on-cpu-time)" -ge "$(cpu_time)" ]
	[ "$(sum_of queued-time)" = "$(life '+ runnable')" ]
	[ $(($(sum_of offcpu-time) + $(sum_of offcpu-idle))) = "$(life '+ blocked')" ]
	[ "$(life '+ filtered')" = 0 ]
	grep -qE '^\[ .* of 13 threads: [0-9.]* % running, [0-9.]* % runnable, [0-9.]* % blocked \]$' err
	# By the thread's own clocks: CPU time, and time from before its birth.
	while read -r tid cpu bracket sleeps preemptions; do
		running=$(sum_of on-cpu-time "$tid")
		echo "$tid: running $running, by its clock $cpu, in $bracket"
		[ "$running" -ge "$(of_cpu_clock "$cpu" $((sleeps + preemptions + 1)))" ]
		[ "$running" -le $((bracket + 100000000)) ]
	done < <(truths said tid requested bracket voluntary involuntary)
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
	# schedstat counts a thread without quota as runnable, also on its way to its end.
	while read -r tid cpu delay bracket sleeps preemptions; do
		running=$(sum_of on-cpu-time "$tid")
		echo "$tid: running $running, by its clock $cpu, in $bracket less $delay"
		[ "$running" -ge "$(of_cpu_clock "$cpu" $((sleeps + preemptions + 1)))" ]
		[ "$running" -le $((bracket - delay + delay / 100 + 100000000)) ]
	done < <(truths said tid requested count bracket voluntary involuntary)
}

@test "a thread that wakes when its quota is used up waits for a CPU, and sleeps no longer" {
	make_quota
	# shellcheck disable=SC2016 # expanded by the inner shell
	denet-record -v --wall --max-overhead 0 -- sh -c \
		'echo $$ >"$0/cgroup.procs" && exec "$1" --threads 1 --ms 1500' "$group" \
		"$build/tests/workloads/queued" 2>err >said
	cat err
	nothing_was_hidden
	read -r tid delay bracket sleeps < <(truths said comm tid requested bracket voluntary |
		sed -n 's/^sleeper //p')
	queued=$(sum_of queued-time "$tid")
	blocked=$(($(sum_of offcpu-time "$tid") + $(sum_of offcpu-idle "$tid")))
	echo "$tid: queued $queued, by schedstat $delay to $bracket, blocked $blocked in $sleeps sleeps"
	# The kernel has let it wait for most of the time; its sleeps take a millisecond each.
	[ "$delay" -gt 700000000 ]
	[ "$queued" -ge $((delay - delay / 100)) ]
	[ "$blocked" -le $((sleeps * 2000000 + 100000000)) ]
}

# as_stat_has_it COMMAND…: runs it in a recording from before its birth to its end, and compares its running
# time with the CPU time that /proc/PID/stat and wait4(2) have, which leave out stolen time.
as_stat_has_it() {
	local stolen running cpu switches

	stolen=$(stolen)
	# shellcheck disable=SC2016 # expanded by the inner shell
	denet-record -v --wall --max-overhead 0 -- bash -c 'TIMEFORMAT="cpu %3U %3S"; time "$@"' - "$@" \
		2>err >said
	stolen=$(stolen_since "$stolen")
	cat err
	nothing_was_hidden
	cpu=$(awk '$1 == "cpu" && NF == 3 { printf "%.0f", ($2 + $3) * 1e9 }' err)
	running=$(perf script -F pid,period,event 2>/dev/null | awk -v pid="$(truths said pid | head -1)" \
		'$1 == pid && $3 == "on-cpu-time:" { ns += $2 } END { printf "%.0f", ns }')
	switches=$(awk '/^denet-record: seen / { print $3 }' err)
	echo "running $running, by stat $cpu, stolen $stolen, $switches switches"
	[ "$running" -ge "$(of_cpu_clock "$cpu" "$switches")" ]
	[ "$running" -le $((cpu + cpu / 100 + 3000000 + stolen)) ]
}

@test "running time is the CPU time of stat and the stolen time, whatever the threads do" {
	# They spin, nap, preempt each other, and two hundred are born and end.
	as_stat_has_it "$lives" --ms 300 --brief 200
	make_quota
	# shellcheck disable=SC2016 # expanded by the inner shell
	as_stat_has_it sh -c 'echo $$ >"$0/cgroup.procs" && exec "$1" --ms 500 --brief 50' "$group" "$lives"
}

# schedstats PID: "TID RUN DELAY" of each of its threads, in ns, and the time of day before or after.
schedstats() {
	[ "$2" = after ] || date +'now %s%N'
	awk '{ n = split(FILENAME, part, "/"); print part[n - 1], $1, $2 }' "/proc/$1"/task/*/schedstat
	[ "$2" = before ] || date +'now %s%N'
}

# as_schedstat_has_it PID [WAITED]: records that process for a while, and compares its threads' times
# with the kernel's own. What lies between the two readings and outside of the recording may be
# either's. The kernel adds a wait for a CPU when it is over: the second reading has all of one that
# had begun WAITED ns before the first.
as_schedstat_has_it() {
	local stolen

	stolen=$(stolen)
	schedstats "$1" before >before
	denet-record -v --wall --max-overhead 0 -p "$1" -- sleep 0.5 2>err
	schedstats "$1" after >after
	stolen=$(stolen_since "$stolen")
	nothing_was_hidden
	perf script -F tid,period,event 2>/dev/null | awk -v stolen="$stolen" \
		-v lacking="$(lacking_percent)" -v beside="$(beside_mean_ns)" -v waited="${2:-0}" \
		-v lives="$(life 'lives of threads')" '
		FILENAME == "before" { run[$1] = $2; delay[$1] = $3; next }
		FILENAME == "after" { run[$1] = $2 - run[$1]; delay[$1] = $3 - delay[$1]; next }
		$3 == "on-cpu-time:" { running[$1] += $2 }
		$3 == "queued-time:" { queued[$1] += $2 }
		END {
			all = run["now"]
			delete run["now"]
			for (tid in run) threads++
			outside = all - lives / threads + beside
			for (tid in run) {
				# What a guest may lack covers the time outside as well.
				slack = run[tid] * lacking / 100 + (lacking < 100 ? outside : 0)
				print tid, "running", running[tid], "by schedstat", run[tid], "queued",
					queued[tid], "by schedstat", delay[tid], "outside", outside
				bad += running[tid] < run[tid] - slack
				bad += running[tid] > run[tid] + stolen + slack
				bad += queued[tid] < delay[tid] - outside - waited - delay[tid] / 100
				ours += running[tid]; theirs += run[tid]
			}
			bad += ours < theirs - threads * (outside + theirs / 100)
			exit bad || threads < 5
		}' before after -
}

@test "threads that spin, nap and are preempted have the times of schedstat, with and without a quota" {
	start_target "$lives" --ms 600000 --brief 0
	until_true sh -c "grep -q hog /proc/$target/task/*/comm"
	as_schedstat_has_it "$target"
	make_quota
	echo "$target" >"$group/cgroup.procs"
	as_schedstat_has_it "$target" "$quota_wait_ns"
	kill -KILL "$target"
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
	while read -r tid cpu sleeps preemptions; do
		running=$(sum_of on-cpu-time "$tid")
		echo "$tid: running $running, by its clock $cpu"
		[ "$running" -ge "$(of_cpu_clock "$cpu" $((sleeps + preemptions + 1)))" ]
		[ "$running" -gt 0 ]
	done < <(truths said tid requested voluntary involuntary)
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
