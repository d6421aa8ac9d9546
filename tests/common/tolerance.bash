# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What tests in bats allow for on a noisy machine; those in C have theirs in tolerance.h.

# wait_seconds: for how long to wait for a condition before the test fails. A guest without KVM is
# ten times as slow, and slower on a busy host.
wait_seconds() {
	if [ "${DENET_TEST_GUEST:-0}" = 1 ]; then echo 150; else echo 30; fi
}

# until_true COMMAND…: waits until it succeeds.
until_true() {
	local end

	end=$((SECONDS + $(wait_seconds)))
	until "$@"; do
		[ $SECONDS -lt $end ] || { echo "never true: $*" >&2; return 1; }
		sleep 0.05
	done
}

# of_cpu_clock NS SWITCHES: how much of a thread's CPU clock its running time has at least. The clock is
# charged from a wake-up on, before the thread has its CPU; in a guest without KVM that may be all of it.
# See tolerance__account_ns().
of_cpu_clock() {
	if [ "${DENET_TEST_GUEST:-0}" = 1 ]; then
		echo 1
	else
		echo $(($1 - $1 / 100 - $2 * 20000 - 1000000))
	fi
}

# shared_part: how much of a time two clocks that are read at different places agree on at least.
shared_part() {
	echo 0.99
}

# two_clocks_ns: how far two readings of one moment may be apart, from different clocks and by
# different programs, on a machine whose CPUs may be taken away in between.
two_clocks_ns() {
	echo 100000
}

# one_look_us: how far two times of a thread in one look may be apart.
one_look_us() {
	echo 60000
}

# usual_wait_us ASKED: what half of the waits of so many us do not exceed on a busy machine.
usual_wait_us() {
	echo $(($1 * 2))
}

# looks_of WANTED: how many of so many looks a busy machine takes at least.
looks_of() {
	echo $(($1 * 2 / 3))
}

# missed_naps: how many of 20 naps of 50 ms a look each 10 ms may miss, if it does not get a CPU for
# as long.
missed_naps() {
	echo 2
}

# flood_looks_percent: how much of a CPU looks may take beside a flood of system calls.
flood_looks_percent() {
	echo 8
}

# stuck_seconds: how long two recordings of a second each may take, one after the other, where a
# target does not let its memory be read.
stuck_seconds() {
	echo 10
}

# of_clocks SECONDS: how much of a thread's time for which it is ready to run is found at least.
of_clocks() {
	awk -v s="$1" -v part="$(shared_part)" 'BEGIN { print s * part - 0.001 }'
}

# lacking_percent: how much of its CPU clock a thread's running time may lack, see of_cpu_clock.
lacking_percent() {
	if [ "${DENET_TEST_GUEST:-0}" = 1 ]; then echo 100; else echo 1; fi
}

# beside_mean_ns: of the time between two readings of /proc that a recording does not cover, how much
# more a single thread may have than the mean of all, in ns.
beside_mean_ns() {
	echo 3000000
}

# sched_clock_us: how far the scheduler's clock, which times in a state are taken from, may be behind
# the clock of a test, in us.
sched_clock_us() {
	echo 10000
}

# lacking_tables_percent: how much of the blocked time of short-lived programs may have a chain that
# met a file without an unwind table. Where nobody asks for tables before a block needs them, that is
# half of the time of programs that are new each time. The level timing, with nothing beside it, sets
# DENET_TEST_TIMING.
lacking_tables_percent() {
	if [ "${DENET_TEST_TIMING:-0}" = 1 ]; then echo 0.1; else echo 5; fi
}

# stolen: time for which the machine's CPUs were ready to run and got no real one, in ns of all
# CPUs since boot.
stolen() {
	awk -v tick="$(getconf CLK_TCK)" '$1 == "cpu" { printf "%.0f\n", $9 * 1e9 / tick }' /proc/stat
}

# stolen_since BEFORE: the same since an earlier reading, rounded up to a tick.
stolen_since() {
	echo $(($(stolen) - $1 + 1000000000 / $(getconf CLK_TCK)))
}

# switches_of_init: how often each thread of process 1 has been switched, and which of them run.
# There are virtual machines whose kernel shows no tracer what happens while one of them runs, such
# as a timer that wakes another thread.
switches_of_init() {
	grep -Hs 'ctxt_switches\|^running' /proc/1/task/*/status /proc/1/task/*/syscall || true
}

# runs_of_init BEFORE AFTER: how many times its threads ran at most between two such readings, one
# that still ran at the second with them. Where one has ended, its count is lost: a million.
runs_of_init() {
	awk -F '[:[:space:]]+' '/syscall:running/ { running += NR != FNR; next }
		NR == FNR { before[$1, $2] = $3; next }
		{ runs += $3 - before[$1, $2]; delete before[$1, $2] }
		END { for (i in before) runs += 1000000; print runs + running }' "$1" "$2"
}

# equal_within A B SLACK
equal_within() {
	awk -v a="$1" -v b="$2" -v slack="$3" \
		'BEGIN { d = a - b; exit !(d <= slack && -d <= slack) }' ||
		{ echo "$1 and $2 differ by more than $3" >&2; return 1; }
}
