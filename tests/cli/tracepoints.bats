#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# -e SUBSYS:NAME: tracepoints of the kernel beside the blocks.
# tests: parallel

load lib

prepare() {
	[ -e /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing ||
		skip "no tracefs here"
	group=
}

clean_up() {
	[ -z "$group" ] || until_true rmdir "$group/below" "$group"
}

# hits FILE EVENT: "COMM PID TEXT" of each hit. grep -a: other tests give threads names of any bytes.
hits() {
	perf script -i "$1" -F trace:comm,pid,tid,event,trace 2>/dev/null | grep -a " $2: " || true
}

@test "every perf prints their fields, and knows them by name" {
	denet-record -v -e sched:sched_process_exec,raw_syscalls:sys_exit -e sched:sched_process_exit \
		-o all.data -- sh -c "'$naps' 1 2 5; true; exec '$naps' 1 2 5" 2>err
	cat err
	recorded=$(sed -n 's/.*tracepoints: \([0-9]*\) hits recorded, 0 lost$/\1/p' err)
	for version in $(versions); do
		echo "perf $version"
		reader "$version" version >/dev/null 2>&1 || continue
		reader "$version" script -i all.data -F trace:comm,tid,time,event,trace >lines 2>words
		cat words
		[ ! -s words ]
		sed -i '/^[[:space:]]*$/d; s/[[:space:]]\{1,\}/ /g; s/^ //' lines
		grep ' sched:\| raw_syscalls:' lines >theirs
		[ "$(wc -l <theirs)" = "$recorded" ]
		[ "$(grep -c "^naps .* sched:sched_process_exec: filename=$naps pid=" theirs)" = 2 ]
		[ "$(grep -c "^naps .* sched:sched_process_exit: comm=naps " theirs)" = 2 ]
		grep -q ' raw_syscalls:sys_exit: NR [0-9]* = ' theirs
		[ -e first ] || cp theirs first
		diff first theirs
	done
	perf evlist -i all.data | grep -qx 'sched:sched_process_exec'
	# By a field of theirs, beside the time off the CPU.
	perf report -i all.data --stdio --no-children -g none -s sched:sched_process_exec.filename \
		2>/dev/null | grep -q "$naps"
	[ "$(samples all.data)" -ge 1 ]
}

@test "they are those of the targets: of a process, its children, a thread, a CPU" {
	event=raw_syscalls:sys_enter
	"$naps" 1 100000 5 >/dev/null 3>&- &
	other=$!
	start_target "$naps" 2 100000 5
	until_true grep -q READY target.out
	denet-record -e $event -p "$target" -o process.data -- sleep 0.3
	hits process.data $event | awk '{ print $2 }' | sort -u | tee pids
	[ "$(sed 's,/.*,,' pids | sort -u)" = "$target" ]
	thread=$(ls "/proc/$target/task" | tail -1)
	[ "$thread" != "$target" ]
	denet-record -e $event -t "$thread" -o thread.data -- sleep 0.3
	[ "$(hits thread.data $event | awk '{ print $2 }' | sort -u)" = "$target/$thread" ]
	denet-record -a -e $event -C 0 -o cpu.data -- sleep 0.3
	perf script -i cpu.data -F trace:cpu,event | grep -a $event | refute grep -av '\[000\]'
	# shellcheck disable=SC2016 # expanded by the inner shell
	sh -c 'echo $$ >own; exec "$@"' sh denet-record -a -e $event -o all.data -- sleep 0.3
	hits all.data $event >all
	grep -aq " $target/" all
	grep -aq " $other/" all
	# Not the recorder; another one may run on this machine.
	refute grep -a " $(cat own)/" all
	kill "$other"
	# Threads and processes that a target starts, and without them.
	denet-record -e $event -o tree.data -- sh -c "'$naps' 2 3 5; true"
	hits tree.data $event | grep -q '^ *napper-1 '
	denet-record -i -e $event -o flat.data -- sh -c "'$naps' 2 3 5; true"
	hits flat.data $event | grep -q '^ *sh '
	hits flat.data $event | refute grep napper
}

# bats test_tags=whole
@test "of a cgroup: they are its tasks' alone, those of cgroups below included" {
	v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$v2" ] || skip "cgroup v2 is not mounted"
	refute grep -q '^[^ ]* [^ ]* cgroup [^ ]*perf_event' /proc/mounts ||
		skip "the perf_event controller has a hierarchy of its own here"
	event=raw_syscalls:sys_enter
	group=$v2/denet-test-$$
	mkdir "$group" "$group/below"
	"$naps" 1 100000 5 >/dev/null 3>&- &
	other=$!
	start_target "$naps" 1 100000 5
	echo "$target" >"$group/below/cgroup.procs"
	until_true grep -q READY target.out
	for groups in "$group" "$group,$group/below" "$group/below"; do
		denet-record -a -G "$groups" -e $event -o group.data -- sleep 0.3
		hits group.data $event | awk '{ print $2 }' | sed 's,/.*,,' | sort -u >pids
		cat pids
		[ "$(cat pids)" = "$target" ]
		# Each once, whichever of the cgroups it belongs to.
		perf script -i group.data -F tid,time,event | grep "$event" | sort | uniq -d >twice
		[ ! -s twice ]
	done
	denet-record -p "$other" -G "$group" -e $event -o none.data -- sleep 0.2
	[ -z "$(hits none.data $event)" ]
	kill -KILL "$other" "$target"
}

@test "in a PID namespace they have its numbers, and those outside are left out" {
	unshare -pf --mount-proc true 2>/dev/null || skip "no PID namespaces here"
	event=sched:sched_process_exit
	"$naps" 1 100000 5 >/dev/null 3>&- &
	other=$!
	# The first process of a namespace is 1, the recorder, and that of the command comes after it.
	unshare -pf --mount-proc sh -c "denet-record -a -e $event -e raw_syscalls:sys_enter \
		-o ns.data -- '$naps' 2 20 5 && true" >said
	perf script -i ns.data -F trace:comm,pid,tid,event | grep -E "$event|sys_enter" >theirs
	sort theirs | uniq -c
	truths said pid tid 2>/dev/null || true
	grep -q "^ *napper-0 .* $event:" theirs
	# Small numbers, of the namespace, and of its threads alone.
	awk '{ split($(NF - 1), id, "/"); if (id[1] < 1 || id[1] > 300 || id[2] < id[1] || id[2] > 300) exit 1 }' \
		theirs
	refute grep -q "[^0-9]$other/" theirs
	# napper-0's blocks have the same.
	perf script -i ns.data -F comm,tid,event | awk '$1 == "napper-0" && /offcpu-time/ { print $2 }' |
		sort -u >ours
	awk '$1 == "napper-0" { split($2, id, "/"); print id[2] }' theirs | sort -u | diff ours -
	kill "$other"
}

# bats test_tags=whole
@test "each file, a pipe, and a file of a killed recorder have them" {
	event=raw_syscalls:sys_enter
	denet-record -v -e $event --off-cpu-thresh 0 --window 50ms --switch-output=20K -- "$naps" 2 100 3 2>err
	cat err
	files=(perf.data.*)
	[ "${#files[@]}" -ge 2 ]
	for file in "${files[@]}"; do hits "$file" $event; done >all
	[ "$(wc -l <all)" = "$(sed -n 's/.*tracepoints: \([0-9]*\) hits recorded, 0 lost$/\1/p' err)" ]
	# The last one may begin right before the end.
	for file in "${files[@]::${#files[@]} - 1}"; do
		hits "$file" $event | grep -q 'napper-[01] .*: NR [0-9]* ('
	done
	denet-record -o - -e $event -- "$naps" 1 5 5 2>/dev/null | perf script -i - 2>words |
		grep -q 'napper-0 .* raw_syscalls:sys_enter: NR [0-9]* ('
	cat words
	[ ! -s words ]
	start_target "$naps" 1 100000 5
	start_recording -e $event -p "$target" --off-cpu-thresh 0 --window 50ms
	until_true bigger_than live.data 20000
	kill -KILL "$recorder"
	finish_recording
	for version in $(versions); do
		echo "perf $version"
		reader "$version" version >/dev/null 2>&1 || continue
		reader "$version" script -i live.data >lines 2>words
		cat words
		[ ! -s words ]
		grep -q "napper-0 .* $event: NR [0-9]* (" lines
		grep -q 'napper-0 .* offcpu-time:' lines
	done
}

@test "hits that find no room are counted and told" {
	start_target "$naps" 2 1000000 1
	until_true grep -q READY target.out
	start_recording -v -m 8 -e raw_syscalls:sys_enter -p "$target"
	kill -STOP "$recorder"
	# A system call makes a record of more than 100 bytes, the rings of all CPUs have 32 kB each.
	dd if=/dev/zero of=/dev/null bs=1 count=$(($(nproc) * 20000)) 2>/dev/null
	kill -CONT "$recorder"
	kill -INT "$recorder"
	finish_recording
	cat live.err
	grep -q 'warning: [0-9,]* hits of tracepoints were lost, a ring was full' live.err
	grep -q 'tracepoints: [0-9]* hits recorded, [1-9][0-9]* lost$' live.err
}

@test "what is no tracepoint is told, with the remedy, and no file is made" {
	run -1 denet-record -e sched:sched_wakup -- true
	[[ "$output" == *"-e sched:sched_wakup: the kernel has no such tracepoint in sched; similar: sched_wakeup"* ]]
	run -1 denet-record -e shed:sched_wakeup -- true
	[[ "$output" == *"the kernel has no subsystem shed; similar: sched"* ]]
	# A mount namespace in which tracefs is nowhere.
	run -1 unshare -m sh -c 'umount -l /sys/kernel/tracing; umount -l /sys/kernel/debug 2>/dev/null
		denet-record -e sched:sched_switch -- true'
	echo "$output"
	[[ "$output" == *"tracefs is not mounted: \`mount -t tracefs tracefs /sys/kernel/tracing\`"* ]]
	run -2 denet-record -e sched:sched_switch -u root -- true
	[[ "$output" == *"-u"* ]]
	run -2 denet-record -e sched:sched_switch -F 99 -- true
	[[ "$output" == *"-F is for on-CPU samples"* ]]
	run -2 denet-record -e sched:sched_switch --one-event -- true
	[[ "$output" == *"exclude each other"* ]]
	[ ! -e perf.data ]
}

@test "without the right to read tracefs the message names it" {
	setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null || skip "no setpriv"
	run -1 setpriv --reuid=65534 --regid=65534 --clear-groups "$build/denet-record" \
		-o /dev/null -e sched:sched_switch -- true
	echo "$output"
	[[ "$output" == *"-e sched:sched_switch: no permission to read /sys/kernel/tracing"* ]]
}
