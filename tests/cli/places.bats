#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Hard places: closed descriptors, planted links, hostile names, files that go away, many threads.
# tests: parallel

load lib

readable() {
	perf script -i "$1" >script 2>err
	refute grep -qiE 'corrupt|invalid|fail|unknown' err
	[ -s script ]
}

@test "standard descriptors that are closed do not become the file or a ring" {
	denet-record -o in.data -- "$naps" 1 3 10 <&-
	readable in.data
	denet-record -o out.data -- sleep 0.05 >&-
	readable out.data
	denet-record -o err.data -- sleep 0.05 2>&-
	readable err.data
	denet-record -o all.data -- sleep 0.05 <&- >&- 2>&-
	readable all.data
	status=0
	denet-record -o - -- true >&- 2>err || status=$?
	[ "$status" = 1 ]
	grep -q 'standard output: Bad file descriptor' err
	status=0
	denet-check >&- 2>err || status=$?
	[ "$status" = 1 ]
	grep -q 'cannot print the table' err
}

@test "a stderr that is full costs the words, not the file" {
	denet-record -v -o full.data -- sleep 0.05 2>/dev/full
	readable full.data
}

@test "a full or absent device as the file is an error with a remedy" {
	run -1 denet-record -o /dev/full -- true
	[[ "$output" == *"/dev/full: No space left on device; "* ]]
	[ -c /dev/full ]
	mkdir readonly
	mount -t tmpfs -o ro none readonly
	run -1 denet-record -o readonly/x.data -- true
	umount readonly
	[[ "$output" == *"Read-only file system; "*"-o"* ]]
}

@test "a planted link is not followed, and the file is its owner's only" {
	echo precious >victim
	ln -s victim perf.data
	(umask 0; denet-record -- true)
	[ "$(cat victim)" = precious ]
	[ ! -L perf.data ]
	[ "$(stat -c %a perf.data)" = 600 ]
	ln -sf victim perf.data.old
	denet-record -- true
	[ "$(cat victim)" = precious ]
	[ ! -L perf.data.old ]
}

@test "a FIFO, a device or a socket that another user put there gets no recording" {
	mkfifo planted
	chown nobody planted
	# A process that waits for it.
	cat planted >got 3>&- &
	reader=$!
	run -1 denet-record -o planted -- true
	[[ "$output" == *'refusing to write to planted: it belongs to user '* ]]
	[ -p planted ]
	kill $reader
	[ ! -s got ]
	# The same, of root's, is written.
	chown root planted
	timeout 20 cat planted >got 3>&- &
	reader=$!
	denet-record -o planted -- true
	wait $reader
	[ "$(head -c 8 got)" = PERFILE2 ]
	if mknod device c 1 3 2>err; then
		chown nobody device
		run -1 denet-record -o device -- true
		[[ "$output" == *'refusing to write to device: it belongs to user '* ]]
	fi
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
	run -1 denet-record -o socket -- true
	echo "$output"
	[ -S socket ]
}

@test "escapes in names reach neither the terminal nor the table" {
	name=$'red\033[31m\a'
	cp "$naps" "$name"
	run -0 denet-record -vv -o $'esc\033[2J.data' -- "./$name" 1 3 10
	refute grep -q $'\033' <<<"$output"
	refute grep -q $'\a' <<<"$output"
	run -1 denet-record -- $'./no\033[31m'
	refute grep -q $'\033' <<<"$output"
	# Bytes that terminals of eight bits take for the same.
	run -1 denet-record -- $'./no\x9b31m'
	refute grep -aq $'\x9b' <<<"$output"
}

# bats test_tags=whole
@test "names with spaces, newlines and bytes that are no UTF-8 leave the file readable" {
	for name in 'two words' $'two\nlines' $'no utf8 \xff\xfe' $'tab\there' '(deleted)' '//'; do
		dir=$PWD/"d $name"
		mkdir -p "$dir"
		cp "$naps" "$dir/naps $name" 2>/dev/null || cp "$naps" "$dir/naps"
		program=$(ls -d "$dir"/naps*)
		denet-record -o n.data -- "$dir/${program##*/}" 1 5 10 2>err || { cat err; return 1; }
		[ "$(perf script -i n.data -F comm,event 2>/dev/null | grep -ac offcpu-time)" -ge 1 ]
	done
}

@test "a path of nearly 4,096 bytes is in the file, and its functions have names" {
	long=$(printf 'x%.0s' {1..250})
	(
		for _ in {1..15}; do
			mkdir "$long"
			cd "$long"
		done
		cp "$naps" prog
		exec denet-record -o "$BATS_TEST_TMPDIR/long.data" -- ./prog 1 5 10
	)
	readable long.data
	[ "$(perf script -i long.data --show-mmap-events | awk '{ print length }' | sort -n |
		tail -1)" -gt 3700 ]
	grep -q take_nap script
}

@test "a program that was deleted or replaced meanwhile keeps no wrong build-id" {
	cp "$naps" first
	./first 1 3000 20 >out 3>&- &
	pid=$!
	until_true grep -q READY out
	start_recording -p "$pid"
	sleep 0.3
	cp "$(command -v sleep)" second
	mv second first
	wrong=$(readelf -n first | sed -n 's/.*Build ID: //p')
	sleep 0.3
	kill -INT "$recorder"
	finish_recording
	[ "$status" = 0 ]
	kill "$pid"
	readable live.data
	perf buildid-list -i live.data >ids
	refute grep -q "$wrong .*/first" ids
	grep -q libc ids

	cp "$naps" gone
	./gone 1 3000 20 >out2 3>&- &
	pid=$!
	until_true grep -q READY out2
	rm gone
	denet-record -o gone.data -p "$pid" -- sleep 0.3
	kill "$pid"
	readable gone.data
	perf script -i gone.data --show-mmap-events | grep -q 'gone (deleted)'
}

@test "ten thousand threads are recorded, each in its place" {
	denet-record --max-overhead 0 -o many.data -- "$build/tests/workloads/threads" --count 10000 \
		--parallel 200 --us 2000 >truth 2>err || { cat err; return 1; }
	cat err
	grep -q ' 0 lost; wrote' err
	perf script -i many.data -F comm,tid,event 2>/dev/null >script
	all_who_waited truth script
}
