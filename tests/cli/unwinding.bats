#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# --call-graph dwarf from end to end, where memory is not what it was; and what its samples cost:
# they are drawn, and unwound while it can be seen how many are left.
# tests: parallel

load lib

prepare() {
	unwind=$build/tests/unwind
}

# waits_in LIBRARY: nofp has it mapped, and waits for a byte.
waits_in() {
	local pid

	pid=$(pgrep -P "$recorder" -x nofp) && grep -q "/$1.so\$" "/proc/$pid/maps" &&
		grep -q pipe_read "/proc/$pid/wchan"
}

@test "libraries that follow each other at one place are unwound as they were at the time" {
	mkfifo gate
	exec 9<>gate
	denet-record --call-graph dwarf --off-cpu-thresh 0 -- setarch -R "$unwind/nofp" libraries \
		"$unwind/small.so" "$unwind/large.so" "$unwind/small.so" <gate 2>err 3>&- &
	recorder=$!
	for library in small large small; do
		until_true waits_in $library
		printf x >&9
	done
	wait "$recorder"
	need_copies
	# At one place, or it proves nothing.
	perf script --show-mmap-events 2>/dev/null |
		sed -n 's/.*MMAP2.*\[\(0x[0-9a-f]*\)(.* r-xp .*\/\(small\|large\).so$/\1/p' >places
	[ "$(wc -l <places)" = 3 ]
	[ "$(sort -u places | wc -l)" = 1 ]
	# It may wait for a page of the code there, too.
	chains nofp 0 | grep ';wait_inside;.*wait_for_byte;' >ours
	cat ours
	# The C library's frames behind and in front of ours differ, and may have no names.
	begin='main;\(run_library;\)\?wait_inside'
	[ "$(wc -l <ours)" = 3 ]
	sed -n 1p ours | grep -q "$begin;wait_for_byte;"
	sed -n 2p ours | grep -q "$begin;go_between;wait_for_byte;"
	sed -n 3p ours | grep -q "$begin;wait_for_byte;"
}

# reads PID: it is bash by now, and waits for a line.
reads() {
	grep -qx bash "/proc/$1/comm" && grep -q pipe_read "/proc/$1/wchan"
}

@test "who has come and gone in a container is unwound by the files of who started it" {
	mkfifo gate
	exec 9<>gate
	unshare -m bash -c 'mount -t tmpfs none /mnt && cp "$1" /mnt/nofp && read -r
		/mnt/nofp guard; touch over; read -r' - "$unwind/nofp" <gate 3>&- &
	target=$!
	disown_target
	until_true reads "$target"
	denet-record -v --call-graph dwarf --off-cpu-thresh 20ms -p "$target" -- \
		bash -c 'echo >gate; until [ -e over ]; do sleep 0.05; done' 2>err
	need_copies
	cat err
	grep -q 'unwound: [1-9][0-9]* whole, 0 \[truncated\], 0 by frame pointers' err
	# The files in the container cannot be read for names here.
	chains nofp 200000000 >ours
	cat ours
	awk -F ';' 'NF >= 8' ours | grep -q .
}

@test "the process that unwinds is confined, and the recorder is not" {
	need_confinement
	start_recording --call-graph dwarf --off-cpu-thresh 0 --window 50ms -- "$naps" 2 10000 10
	cp live.err err
	need_copies
	until_true has_confined_child "$recorder"
	refute is_confined "$recorder"
	kill -INT "$recorder"
	finish_recording
	[ "$(samples live.data)" -gt 0 ]
}

@test "--call-graph dwarf draws one block for each 10 ms, keeps long ones, and says so" {
	denet-record -v --call-graph dwarf --off-cpu-thresh 100ms -- "$naps" 2 300 2 2>err
	need_copies
	grep -q '; sampled one for each 10.000 ms below 100.000 ms, standard error ' err
	# 1.2 s and more in naps of 2 ms: some 120 stand for 10 ms each, and the rest is not drawn.
	perf script -F comm,period,event 2>/dev/null | grep '^ *napper' >nappers
	[ "$(awk '$2 == 10000000' nappers | wc -l)" -ge 60 ]
	# Only who was kept from its CPU for so long stands for more, for itself.
	[ "$(awk '$2 < 10000000' nappers | wc -l)" = 0 ]
	[ "$(sed -n 's/.*+ not drawn  *\([0-9]*\)  *[0-9]*$/\1/p' err)" -ge 100 ]
	# The first thread waits for the others, longer than the threshold.
	[ "$(perf script -F comm,period,event 2>/dev/null | awk '$1 == "naps" && $2 > 400000000' | wc -l)" -ge 1 ]
}

# stop_unwinding: the child of the recorder that unwinds does nothing from here on.
stop_unwinding() {
	local child

	for child in $(cat "/proc/$recorder/task/$recorder/children"); do
		! is_confined "$child" 2>/dev/null || kill -STOP "$child"
	done
}

@test "on a terminal it counts the samples that are left to unwind" {
	need_confinement
	script -qec "echo \$\$ >pid; exec denet-record -v --call-graph dwarf --off-cpu-thresh 0 \
		--window 50ms -- '$naps' 2 10000 10" /dev/null >tty </dev/null 3>&- &
	terminal=$!
	until_true bigger_than pid 0
	recorder=$(cat pid)
	if ! until_true has_confined_child "$recorder"; then
		kill -INT "$recorder"
		cp tty err
		need_copies
		return 1
	fi
	stop_unwinding
	target=$(pgrep -P "$recorder" -x naps)
	until_true has_blocked "$target" $(($(switches "$target") + 20))
	kill -INT "$recorder"
	# The status of naps, which the recorder ends.
	wait "$terminal" || [ $? = 143 ]
	tr '\r' '\n' <tty | sed 's/\x1b\[K//g' >lines
	cat lines
	grep -q '^\[ denet-record: unwinding the stacks of [1-9][0-9,]* samples \]$' lines
	# And erases it.
	grep '^\[ denet-record: ' lines | tail -1 | grep -q 's off-CPU in'
}
