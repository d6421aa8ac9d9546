#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What is recorded, which blocks count, and the other options.
# tests: parallel

load lib

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

# start_gated COMMAND…: a target that becomes the command when open_gate lets it, by which time
# it is recorded: how long it takes until it is, nobody knows.
start_gated() {
	mkfifo gate
	# shellcheck disable=SC2016 # expanded by the inner shell
	start_target sh -c 'read -r line <gate; exec "$@"' sh "$@"
}

open_gate() {
	echo >gate
}

@test "-p: one process and no other, and the recording ends when it does" {
	start_gated "$naps" 2 20 20
	sleep 100 3>&- &
	other=$!
	start_recording -p "$target,$target" --off-cpu-thresh 0
	open_gate
	finish_recording
	kill "$other"
	[ "$status" = 0 ]
	until_true gone "$target"
	comms live.data | grep -qx napper-0
	# It was a shell before.
	comms live.data | refute grep -v '^sh$\|^naps\|^napper-'
}

@test "-p PID -- COMMAND: the command says how long, and is not recorded" {
	start_target "$naps" 1 100000 10
	run -0 denet-record -p "$target" -- sleep 0.4
	refute gone "$target"
	comms | grep -qx napper-0
	comms | refute grep -q sleep
}

@test "-p: a status of the command is not ours if the target ended first" {
	start_gated "$naps" 1 2 10
	start_recording -p "$target" -- sleep 100
	open_gate
	finish_recording
	[ "$status" = 0 ]
}

@test "-t: one thread of several" {
	start_target "$naps" 3 100000 10
	until_true find_thread napper-1
	run -0 denet-record -t "$tid" -- sleep 0.4
	[ "$(comms)" = napper-1 ]
	perf script -F pid,tid | grep -q "^ *$target/$tid"
}

# shows PID: whether the kernel shows the process to BPF programs, by a recording of all.
shows() {
	denet-record -a -o shown.data -- true
	perf script -i shown.data --show-task-events 2>/dev/null | grep -q "PERF_RECORD_COMM.*:$1/$1\$"
}

@test "a target that the kernel does not show is an error, and one of several a warning" {
	refute shows 1 || skip "this kernel shows process 1"
	start_target "$naps" 1 100000 10
	shows "$target"
	for options in "-p 1" "-t 1" "-p 1 -D 10"; do
		# shellcheck disable=SC2086 # options
		run -1 denet-record $options -- sleep 100
		[[ "$output" == *"${options:0:4}: the kernel does not show this "*"none of the targets"* ]]
	done
	[ ! -e perf.data ]
	run -1 denet-record --off-cpu-hist -p 1 -- sleep 100
	[[ "$output" == *"-p 1: the kernel does not show this process"* ]]
	run -0 denet-record -p "$target,1" -- sleep 0.4
	[[ "$output" == *"warning: -p 1: the kernel does not show this process"* ]]
	comms | grep -qx napper-0
}

@test "a target that is never recorded as it is named is an error that says so" {
	# shellcheck disable=SC2016 # expanded by the inner shell
	run -1 sh -c 'exec denet-record -p $$ -- sleep 100'
	[[ "$output" == *"that is this program, which does not observe itself"* ]]
	grep -qx kthreadd /proc/2/comm || skip "no kernel threads are to be seen here"
	run -1 denet-record -p 2 -- sleep 100
	[[ "$output" == *"-p 2: that is a kernel thread"*"--kernel-threads"* ]]
	run -0 denet-record --kernel-threads -p 2 -- sleep 0.1
	[[ "$output" != *"kernel thread"* ]]
}

@test "a target that has ended, though nobody has waited for it, is told as that" {
	# It ends once its parent is sleep, which never waits: the shell might.
	# shellcheck disable=SC2016 # expanded by the inner shell
	start_target sh -c '(until grep -qx sleep /proc/$$/comm; do :; done) &
		echo $! >ended; exec sleep 100'
	until_true test -s ended
	zombie=$(cat ended)
	until_true gone "$zombie"
	run -0 denet-record -p "$zombie"
	[[ "$output" == *"-p $zombie: this process ended before the recording began"* ]]
}

@test "-a: other processes and the command, which says how long" {
	start_target "$naps" 1 100000 10
	# shellcheck disable=SC2016 # expanded by the inner shell
	run -0 sh -c 'echo $$ >own; exec denet-record -a -- sleep 0.5'
	comms | grep -qx napper-0
	comms | grep -qx sleep
	# Not the recorder; another one may run on this machine.
	perf script -F pid | awk '{ print $1 }' >pids
	[ -s pids ]
	refute grep -qx "$(cat own)" pids
}

@test "no target and no command: everything, until Ctrl-C" {
	start_target "$naps" 1 100000 10
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
	denet-record -a --state all -o without.data -- sleep 0.5
	comms without.data | refute grep -q '^kworker\|^rcu_\|^ksoftirqd'
	denet-record -a --state all --kernel-threads -o with.data -- sleep 0.5
	comms with.data | grep -q '^kworker\|^rcu_\|^ksoftirqd'
}

@test "--state: runnable time instead of sleeps" {
	denet-record --state R --off-cpu-thresh 0 -- taskset -c 0 sh -c \
		'for j in 1 2; do (i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done) & done; wait'
	[ "$(samples)" -gt 0 ]
	perf script | refute grep -q 'do_nanosleep\|do_wait$'
}

# counted ROW: how many blocks that row of the accounts in err has.
counted() {
	awk -v row="$1" 'index($0, row) { print $(NF - 1) }' err
}

# kept FILE: how many naps of napper-0 are in it.
kept() {
	perf script -i "$1" -F comm,event,ip,sym | awk '/^napper-0/ && /take_nap/ { n++ } END { print n + 0 }' RS=
}

# waits_told: how often napper-0 waited, by the kernel's count.
waits_told() {
	sed -n 's/^napper-0 waited \([0-9]*\) times.*/\1/p' said
}

@test "--min-block and --max-block filter, and what they filter is counted" {
	# How long a nap is in the end is the machine's affair: each of them is there or counted.
	denet-record --min-block 50ms --off-cpu-thresh 0 -o min.data -v -- \
		sh -c '"$0" 1 10 10 counts; exec sleep 0.2' "$naps" >said 2>err
	perf script -i min.data -F period,event |
		awk '$1 < 50e6 { bad = 1 } END { exit bad || !NR }'
	[ "$(counted 'filtered, too short')" -ge $(($(waits_told) - $(kept min.data))) ]
	[ "$(counted 'filtered, too short')" -gt 0 ]
	denet-record --max-block 5ms --off-cpu-thresh 0 -o max.data -v -- \
		"$naps" 1 10 10 counts >said 2>err
	perf script -i max.data -F period,event | awk '$1 > 5e6 { exit 1 }'
	[ "$(counted 'filtered, too long')" -ge $(($(waits_told) - $(kept max.data))) ]
	[ "$(counted 'filtered, too long')" -gt 0 ]
}

@test "a shorter window gives more samples and the same time" {
	# Both recorders see each of the blocks.
	denet-record --window 50ms -o short.data -- \
		denet-record --window 100s -o long.data -- "$naps" 1 100 10
	for file in short.data long.data; do
		perf script -i $file -F comm,period,event |
			awk '$1 == "napper-0" { n++; ns += $2 } END { print n, ns }' >$file.sum
	done
	read -r n_short ns_short <short.data.sum
	read -r n_long ns_long <long.data.sum
	echo "$n_short samples of $ns_short ns, $n_long of $ns_long"
	[ "$n_short" -ge 8 ]
	[ "$n_long" -lt "$n_short" ]
	[ "$ns_long" -gt 0 ]
	equal_within "$ns_short" "$ns_long" $((ns_long / 100))
}

@test "--kernel-callchains and --user-callchains leave the other side out" {
	denet-record --kernel-callchains -o kernel.data -- "$naps" 1 5 10
	perf script -i kernel.data >script
	grep -q do_nanosleep script
	refute grep -q take_nap script
	denet-record --user-callchains -o user.data -- "$naps" 1 5 10
	perf script -i user.data >script
	grep -q take_nap script
	refute grep -q do_nanosleep script
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

# start_server: $target only waits, for a child that naps and one whose own child does.
start_server() {
	cat >server <<-END
		"$naps" 1 1000000 10 >/dev/null &
		sh -c 'trap "kill \$!" TERM; "$naps" 1 1000000 10 >/dev/null & echo \$! >pid; wait' &
		trap 'kill \$(jobs -p) \$(cat pid); wait' TERM
		wait
	END
	start_target bash server
	until_true test -s pid
	until_true pgrep -P "$target" naps
}

@test "-p --children: the living children and theirs; without it, how many are left out" {
	start_server
	run -0 denet-record -o alone.data -p "$target" -- sleep 0.2
	[[ "$output" == *"3 living children not included (--children)"* ]]
	refute grep -qx napper-0 <(comms alone.data)
	run -0 denet-record -o all.data -p "$target" --children -- sleep 0.2
	[[ "$output" != *"not included"* ]]
	pids=$(perf script -i all.data -F comm,pid | awk '$1 == "napper-0" { print $2 }' | sort -u)
	[ "$(wc -l <<<"$pids")" = 2 ]
	grep -qx "$(cat pid)" <<<"$pids"
}
