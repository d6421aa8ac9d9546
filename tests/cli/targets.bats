#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What is recorded, which blocks count, and the other options.

load lib

setup() {
	need_root
	need_perf
	enter_tmp
}

teardown() {
	[ -z "$target" ] || kill "$target" 2>/dev/null || true
}

start_target() {
	"$@" >/dev/null 3>&- &
	target=$!
}

# find_thread NAME: $tid is the thread of the target that has the name.
find_thread() {
	local task

	for task in "/proc/$target/task"/*; do
		tid=${task##*/}
		if grep -qx "$1" "$task/comm"; then return 0; fi
	done
	return 1
}

comms() {
	perf script -i "${1:-perf.data}" -F comm | sed 's/^ *//; s/ *$//; /^$/d' | sort -u
}

@test "-p: one process and no other, and the recording ends when it does" {
	start_target "$naps" 2 40 20
	sleep 2 3>&- &
	other=$!
	run -0 denet-record -p "$target,$target" --off-cpu-thresh 0
	kill "$other"
	gone "$target"
	comms | grep -qx napper-0
	comms | refute grep -v '^naps\|^napper-'
}

@test "-p PID -- COMMAND: the command says how long, and is not recorded" {
	start_target "$naps" 1 1000 10
	run -0 denet-record -p "$target" -- sleep 0.4
	refute gone "$target"
	comms | grep -qx napper-0
	comms | refute grep -q sleep
}

@test "-p: a status of the command is not ours if the target ended first" {
	start_target "$naps" 1 20 10
	run -0 denet-record -p "$target" -- sleep 100
}

@test "-t: one thread of several" {
	start_target "$naps" 3 200 10
	until_true find_thread napper-1
	run -0 denet-record -t "$tid" -- sleep 0.4
	[ "$(comms)" = napper-1 ]
	perf script -F pid,tid | grep -q "^ *$target/$tid"
}

@test "-a: other processes and the command, which says how long" {
	start_target "$naps" 1 1000 10
	run -0 denet-record -a -- sleep 0.5
	comms | grep -qx napper-0
	comms | grep -qx sleep
	comms | refute grep -q denet
}

@test "no target and no command: everything, until Ctrl-C" {
	start_target "$naps" 1 1000 10
	start_recording --off-cpu-thresh 0 --window 50ms
	until_true bigger_than live.data 100000
	kill -INT "$recorder"
	finish_recording
	[ "$status" = 0 ]
	comms live.data | grep -qx napper-0
}

@test "children are recorded, and with -i they are not" {
	denet-record -- sh -c 'sleep 0.1; exit 0'
	comms | grep -qx sleep
	denet-record -i -- sh -c 'sleep 0.1; exit 0'
	comms | grep -qx sh
	comms | refute grep -qx sleep
}

@test "frames of children have names, whichever CPU they began on" {
	denet-record --off-cpu-thresh 0 -- sh -c "for i in 1 2 3 4 5 6 7 8; do '$naps' 2 1 10; done"
	perf script | fold >folded
	[ "$(grep -c '^napper' folded)" -ge 2 ]
	grep '^napper' folded | grep do_nanosleep >sleeps
	refute grep -v take_nap sleeps
}

@test "kernel threads only where they are asked for" {
	denet-record -a --state all -o without.data -- sleep 1
	comms without.data | refute grep -q '^kworker\|^rcu_\|^ksoftirqd'
	denet-record -a --state all --kernel-threads -o with.data -- sleep 1
	comms with.data | grep -q '^kworker\|^rcu_\|^ksoftirqd'
}

@test "--state: runnable time instead of sleeps" {
	denet-record --state R --off-cpu-thresh 0 -- taskset -c 0 sh -c \
		'for j in 1 2; do (i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done) & done; wait'
	[ "$(samples)" -gt 0 ]
	perf script | refute grep -q 'do_nanosleep\|do_wait$'
}

@test "--min-block and --max-block filter, and what they filter is counted" {
	denet-record --min-block 50ms -o min.data -v -- "$naps" 1 10 10 2>err
	comms min.data | refute grep -qx napper-0
	awk '/filtered, too short/ { exit !($(NF - 1) >= 10) }' err
	denet-record --max-block 5ms -o max.data -v -- "$naps" 1 10 10 2>err
	# A page that it waited for shortly may be there; its naps of 10 ms may not.
	perf script -i max.data | refute grep -q take_nap
	awk '/filtered, too long/ { exit !($(NF - 1) >= 10) }' err
}

@test "a shorter window gives more samples and the same time" {
	denet-record --window 50ms -o short.data -- "$naps" 1 60 10
	denet-record --window 10s -o long.data -- "$naps" 1 60 10
	n_short=$(perf script -i short.data -F comm,event | grep -c napper-0)
	n_long=$(perf script -i long.data -F comm,event | grep -c napper-0)
	[ "$n_short" -ge 8 ]
	[ "$n_long" -lt "$n_short" ]
	for file in short.data long.data; do
		perf script -i $file -F comm,period,event |
			awk '$1 == "napper-0" { ns += $2 } END { exit !(ns >= 600000000) }'
	done
}

@test "--kernel-callchains and --user-callchains leave the other side out" {
	denet-record --kernel-callchains -o kernel.data -- "$naps" 1 5 10
	perf script -i kernel.data | grep -q do_nanosleep
	perf script -i kernel.data | refute grep -q take_nap
	denet-record --user-callchains -o user.data -- "$naps" 1 5 10
	perf script -i user.data | grep -q take_nap
	perf script -i user.data | refute grep -q do_nanosleep
}

@test "--max-stack cuts both sides, and --raw-frames keeps the scheduler" {
	denet-record --max-stack 2 -o cut.data -- "$naps" 1 5 10
	perf script -i cut.data -F comm,ip,sym | awk '
		/^napper/ { seen = 1; frames = 0; next }
		/^$/ { if (frames > 4) bad = 1; frames = 0; next }
		{ frames++ }
		END { exit !(seen && !bad) }'
	denet-record --raw-frames -o raw.data -- "$naps" 1 5 10
	perf script -i raw.data | grep -q schedule
	denet-record -o plain.data -- "$naps" 1 5 10
	perf script -i plain.data | refute grep '__schedule'
}

@test "perf's options that change nothing, and a large and a small ring" {
	run -0 denet-record --off-cpu -g --call-graph fp -m 1 -- "$naps" 1 2 10
	run -0 denet-record -m 1M -- "$naps" 1 2 10
}
