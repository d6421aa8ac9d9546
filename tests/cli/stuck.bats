#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A process that hangs on a dead file system must not make us hang: DESIGN says why it would.
# tests: parallel

load lib

prepare() {
	[ -e /dev/fuse ] || skip "no /dev/fuse on this kernel"
	mkfifo hold
	"$build/tests/workloads/stuck" <hold >stuck 3>&- &
	server=$!
	exec 4>hold
	until_true grep -q READY stuck
	stuck=$(sed -n 's/^stuck pid=\([0-9]*\) .*/\1/p' stuck)
}

# The file system ends when its FIFO is closed, and lets the stuck process go.
teardown() {
	exec 4>&-
	[ -z "$server" ] || wait "$server" || true
	end_started
}

# Whether the process is stuck as meant: who reads its maps hangs.
maps_hang() {
	! timeout 0.5 cat "/proc/$stuck/maps" >/dev/null
}

# A recording of 1 s, which has 2 s at its start and 2 s at its end for what does not answer.
record_it() {
	local began=$SECONDS

	timeout -k 1 20 denet-record "$@" -o live.data -- sleep 1 2>live.err
	[ $((SECONDS - began)) -le 8 ]
}

# Each stuck thread is in the file, for at least half of the recording, with where it waits.
shows_the_stuck_threads() {
	perf script -i live.data -F comm,period,event,ip,sym >script
	for thread in faulter:fuse_page_mkwrite changer:munmap waiter:vm_mmap_pgoff; do
		awk -v comm="${thread%:*}" -v frame="${thread#*:}" '
			/offcpu-(time|idle)/ { mine = $1 == comm; if (mine) ns += $2; next }
			mine && $2 ~ frame { found = 1 }
			END { print comm, ns, found + 0; exit !(found && ns >= 500000000) }' script
	done
}

@test "a recording of the whole machine starts, stops and shows a stuck process" {
	maps_hang
	record_it -a
	shows_the_stuck_threads
	grep -q "maps of 1 processes could not be read in time (the first is $stuck" live.err
}

# bats test_tags=whole
@test "a recording of the stuck process starts, stops and shows it" {
	maps_hang
	record_it -p "$stuck"
	shows_the_stuck_threads
	grep -q "did not let their memory be read (first: pid $stuck)" live.err
}

@test "SIGKILL while the stuck process is asked leaves no process and nothing in the kernel" {
	start_recording -p "$stuck"
	bpf_objects "$recorder" >objects
	[ -s objects ]
	kill -INT "$recorder"
	# It runs for a quarter of a second: looked for without a pause or a process of ours.
	# Nor may it lack a CPU meanwhile.
	renice -n -20 -p $BASHPID >renice.out
	helper= end=$((SECONDS + $(wait_seconds)))
	while [ -z "$helper" ] && [ $SECONDS -lt $end ]; do
		read -r helper _ 2>/dev/null </proc/"$recorder"/task/"$recorder"/children || true
	done
	[ -n "$helper" ]
	kill -KILL "$recorder"
	finish_recording
	[ "$status" = 137 ]
	until_true gone "$helper"
	until_true none_exists objects
}

@test "denet-top shows the stuck threads, also where it wants their stacks" {
	local began=$SECONDS

	maps_hang
	# Each kind of line has its own warning: of a command line here, of stacks as well below.
	timeout -k 1 20 denet-top --max-overhead 0 --json -k -F 10 -n 10 -p "$stuck" >out 2>err
	cat err
	[ "$(wc -l <err)" -le 1 ]
	timeout -k 1 20 denet-top --max-overhead 0 --json -k -s -F 10 -n 10 -p "$stuck" >>out 2>err
	cat err
	[ $((SECONDS - began)) -le "$(stuck_seconds)" ]
	for what in 'user stacks' 'command lines'; do
		[ "$(grep -c "process $stuck does not let its memory be read.* $what" err)" -le 1 ]
	done
	# While a look waits for the stacks of such a process there is no other: that is told, too.
	[ "$(grep -vc ' were not looked at, ' err)" -le 2 ]
	[ "$(grep -c '"comm":"faulter".*fuse_page_mkwrite' out)" -ge 20 ]
	[ "$(grep -c '"comm":"changer".*munmap' out)" -ge 20 ]
}
