#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# No process can be made (a limit of tasks is reached): what the recorder does in helpers is tried
# again or left out, which is said; the recording goes on, and so does the command.
# tests: parallel

load lib

prepare() {
	find_pids_group || skip "no pids controller here"
	mkdir "$group"
}

clean_up() {
	[ -z "${group:-}" ] || end_group
}

# find_pids_group: group is the name of a cgroup to be made, under either hierarchy.
find_pids_group() {
	local root

	root=$(awk '$3 == "cgroup" && $4 ~ /(^|,)pids(,|$)/ { print $2; exit }' /proc/mounts)
	if [ -z "$root" ]; then
		root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
		[ -n "$root" ] && grep -qw pids "$root/cgroup.controllers" || return 1
		echo +pids >"$root/cgroup.subtree_control" || return 1
	fi
	group=$root/denet-forks.$$
}

end_group() {
	local pid

	[ -d "$group" ] || return 0
	echo max >"$group/pids.max"
	for pid in $(cat "$group/cgroup.procs"); do
		kill -KILL "$pid" || true
	done 2>/dev/null
	until_true rmdir "$group"
}

is_empty() {
	[ -z "$(cat "$group/cgroup.procs")" ]
}

# limit: not one task more than there are; no_limit: as many as there may be.
limit() {
	cat "$group/pids.current" >"$group/pids.max"
}

no_limit() {
	echo max >"$group/pids.max"
}

start_naps() {
	"$naps" "$@" >naps.out 3>&- &
	target=$!
}

# record_in_group OPTION…: in the background, as $recorder; standard error to err. In builds with
# the address sanitizer, its search for leaks takes a process more.
record_in_group() {
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
		bash -c 'echo $BASHPID >"$0/cgroup.procs"; exec denet-record "$@"' "$group" \
		-o live.data "$@" >out 2>err 3>&- &
	recorder=$!
}

@test "at the start: without helpers there are no maps, which is said, and the rest is recorded" {
	start_naps 2 10000 10
	echo 1 >"$group/pids.max"
	record_in_group -p "$target" --off-cpu-thresh 0 --window 50ms
	until_true bigger_than live.data 20000
	# And at the end: no build-ids, and no user frames of who is still blocked.
	kill -INT "$recorder"
	finish_recording
	cat err
	[ "$status" = 0 ]
	grep -q 'memory maps of 1 processes were not read, since no process could be made' err
	grep -q 'no process can be made to read the user frames of threads that are still blocked' err
	grep -q 'off-CPU in' err
	[ "$(samples live.data)" -gt 50 ]
}

@test "at the end: files without a build-id are counted" {
	start_naps 2 10000 10
	record_in_group -p "$target" --off-cpu-thresh 0 --window 50ms
	until_true bigger_than live.data 20000
	limit
	kill -INT "$recorder"
	finish_recording
	cat err
	[ "$status" = 0 ]
	grep -q 'files have no build-id in the file, since no process could be made to read them' err
	perf script -i live.data | grep -q take_nap
}

# in_container NAME: the workload, in a mount namespace in which it has another name.
in_container() {
	unshare -m bash -c 'mount -t tmpfs none /mnt && cp "$0" "/mnt/$1" && exec "/mnt/$1" 1 30 10' \
		"$naps" "$1" >container.out
}

@test "in the middle: a container comes and goes, the command lives, and build-ids come later" {
	record_in_group -a --off-cpu-thresh 0 --window 50ms -- sleep 1000
	until_true bigger_than live.data 0
	until_true pgrep -P "$recorder" -x sleep
	# Helpers fail from here on, while there is a command that must not notice.
	until_true limit
	in_container first
	size=$(stat -c %s live.data)
	until_true bigger_than live.data $((size + 10000))
	refute gone "$recorder"
	pgrep -P "$recorder" -x sleep
	no_limit
	in_container second
	size=$(stat -c %s live.data)
	until_true bigger_than live.data $((size + 10000))
	kill "$(pgrep -P "$recorder" -x sleep)"
	finish_recording
	cat err
	# The command's own end, by a signal of ours.
	[ "$status" = 143 ]
	[ "$(samples live.data)" -gt 50 ]
	perf buildid-list -i live.data | grep -q '/mnt/second$'
}

@test "in the middle: samples are unwound by frame pointers meanwhile, and by tables later" {
	record_in_group --call-graph dwarf -v --off-cpu-thresh 0 --window 50ms -- \
		bash -c 'echo $BASHPID; "$0" 3 1000000 5 & echo $!; wait' "$naps"
	until_true bigger_than live.data 0
	need_copies
	# The limit would hold for its threads as well.
	until_true grep -q READY out
	worker() { pgrep -P "$recorder" -x denet-record; }
	until_true worker
	# Not one more: the next one that dies cannot be replaced.
	old=$(worker)
	limit
	echo $(($(cat "$group/pids.max") - 1)) >"$group/pids.max"
	kill -KILL "$old"
	until_true grep -q 'no process can be made to unwind user stacks' err
	size=$(stat -c %s live.data)
	until_true bigger_than live.data $((size + 10000))
	no_limit
	until_true worker
	size=$(stat -c %s live.data)
	until_true bigger_than live.data $((size + 10000))
	kill -INT "$recorder"
	finish_recording
	cat err
	grep -q 'unwound: [1-9][0-9]* whole' err
	perf script -i live.data | grep -q take_nap
}

@test "a command that cannot be made is waited for a while, and then that is said" {
	echo 1 >"$group/pids.max"
	record_in_group -- true
	until_true gone "$recorder"
	finish_recording
	[ "$status" = 1 ]
	grep -q 'error: true cannot be started: Resource temporarily unavailable; raise `ulimit -u`' err
	# A limit that is gone in time is no failure.
	mkfifo gate
	echo 1 >"$group/pids.max"
	record_in_group -- true
	until_true grep -q denet-record "/proc/$recorder/comm"
	no_limit
	finish_recording
	cat err
	[ "$status" = 0 ]
}
