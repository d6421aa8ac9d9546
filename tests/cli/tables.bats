#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# --call-graph tables: user chains of what was built without frame pointers, with few copies.
# tests: parallel
# tests: limit 600

load lib

# record OPTION…: denet-record -v --call-graph tables; skips the test where there are none.
record() {
	run -0 denet-record -v --call-graph tables "$@"
	need_tables "$output"
}

write_naps() {
	cat >naps.py <<-'END'
		import time
		for i in range(300): time.sleep(0.001)
		time.sleep(0.3)
	END
}

@test "chains are whole without copies once their tables are there" {
	write_naps
	record --off-cpu-thresh 0 -- /usr/bin/python3 naps.py
	file_chain perf.data >ours
	[ "$(wc -l <ours)" -ge 8 ]
	[ "$(copied)" -le "$(by_tables 3)" ]
	[ "$(by_tables 1)" -ge 100 ]
	# As they are unwound from copies.
	denet-record --call-graph dwarf --off-cpu-thresh 0 -- /usr/bin/python3 naps.py
	file_chain perf.data >theirs
	[ "$(wc -l <ours)" -eq "$(wc -l <theirs)" ]
}

# What comes before a command that is to see the mounts of a test.
within=()

# start_nofp MODE LIBRARY…: records nofp in the background until finish_nofp. It reads what is written
# to descriptor 9.
start_nofp() {
	mkfifo gate
	exec 9<>gate
	"${within[@]}" denet-record -vv --call-graph tables --off-cpu-thresh 0 -- \
		"$build/tests/unwind/nofp" "$@" <gate 2>err 3>&- &
	recorder=$!
}

finish_nofp() {
	wait "$recorder"
	output=$(<err)
	need_tables "$output"
	grep 'user stacks' err
}

# nofp_waits LIBRARY: it has mapped that, and waits for a byte. $nofp is its PID.
nofp_waits() {
	nofp=$(pgrep -P "$recorder" -x nofp) && grep -q "/$1\$" "/proc/$nofp/maps" &&
		is_at "$nofp" pipe_read
}

stopped() {
	grep -q 'State:.T' "/proc/$1/status"
}

# whole_chains LEAST: there are so many blocks in libraries at least, with whole chains all of them.
whole_chains() {
	"${within[@]}" perf script -F ip,sym 2>/dev/null | awk -v RS= -v least="$1" '
		/ wait_for_byte\n/ {
			n++
			whole += / wait_inside\n/ && / main\n/ && / _start/
			chains = chains "\n\n" $0
		} END {
			print whole + 0, "of", n + 0, "are whole:" chains
			exit !(n >= least && whole == n)
		}'
}

@test "a block in a library that has no table yet is unwound from a copy" {
	cp "$build/tests/unwind/small.so" fresh.so
	start_nofp libraries "$build/tests/unwind/small.so" "$PWD/fresh.so"
	until_true nofp_waits small.so
	# No table is made before the next block has ended.
	kill -STOP "$recorder"
	until_true stopped "$recorder"
	printf x >&9
	until_true nofp_waits fresh.so
	printf x >&9
	until_true gone "$nofp"
	kill -CONT "$recorder"
	finish_nofp
	[ "$(by_tables 3)" -ge 1 ]
	[ "$(copied)" -ge 1 ]
	whole_chains 2
}

has_table() {
	grep -q "pid $nofp maps at 0x$1 has its unwind table" err
}

# slept_since SWITCHES: nofp has gone to sleep since it had slept so often, and waits for a byte.
slept_since() {
	[ "$(slept)" -gt "$1" ] && is_at "$nofp" pipe_read
}

slept() {
	awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$nofp/status"
}

# wait_in_loaded PATH: nofp loads that library, which is called fresh.so, waits until its table is
# there, and then in the library. No block lacks a table.
wait_in_loaded() {
	local start before

	start_nofp loaded "$1"
	until_true nofp_waits fresh.so
	need_tables "$(<err)"
	start=$(sed -n 's@^\([0-9a-f]*\)-[0-9a-f]* r-xp .*/fresh.so$@\1@p' "/proc/$nofp/maps")
	until_true has_table "$start"
	before=$(slept)
	printf x >&9
	until_true slept_since "$before"
	printf x >&9
	finish_nofp
	whole_chains 1
	[[ "$output" != *'begins before all unwind tables are made'* ]] || skip "too slow a machine"
	[ "$(by_tables 3)" = 0 ]
	[ "$(copied)" = 0 ]
}

@test "a library that a target loads has its table before a block needs it" {
	cp "$build/tests/unwind/small.so" fresh.so
	wait_in_loaded "$PWD/fresh.so"
}

# Where records and programs know a file by different inodes.
@test "a library on an overlay has its table before a block needs it" {
	mkdir lower layer merged
	cp "$build/tests/unwind/small.so" lower/fresh.so
	start_target unshare -m sh -c 'mount -t tmpfs none layer && mkdir layer/upper layer/work &&
		mount -t overlay -o lowerdir=lower,upperdir=layer/upper,workdir=layer/work none merged &&
		echo READY && exec sleep 600'
	mounted() { grep -q READY target.out || gone "$target"; }
	until_true mounted
	grep -q READY target.out || skip "no overlay file system here"
	# shellcheck disable=SC2016
	within=(nsenter --mount="/proc/$target/ns/mnt" sh -c 'cd "$0" && exec "$@"' "$PWD")
	wait_in_loaded "$PWD/merged/fresh.so"
}

# The same inode, whose table would lead nowhere with the frames of the new library.
@test "a library that is rewritten in place has its new table from then on" {
	cp "$build/tests/unwind/small.so" fresh.so
	cp "$build/tests/unwind/nofp" first
	cp "$build/tests/unwind/nofp" second
	# shellcheck disable=SC2016 # expanded by the inner shell
	record --off-cpu-thresh 0 -- sh -c '(sleep 0.3; echo) | ./first libraries ./fresh.so
		cat "$1" >fresh.so
		for i in 1 2 3; do (sleep 0.3; echo) | ./second libraries ./fresh.so; done' - \
		"$build/tests/unwind/large.so"
	perf script -F comm,ip,sym 2>/dev/null | awk -v RS= '
		$1 == "second" && / wait_for_byte(\n|$)/ {
			n++
			whole += / wait_inside\n/ && / main\n/ && / _start/
			chains = chains "\n\n" $0
		} END {
			print whole + 0, "of", n + 0, "are whole:" chains
			exit !(n >= 3 && whole == n)
		}'
	refute grep -E 'not whole: .*second|of second .* end early' <<<"$output"
}

@test "programs that are new each time have little time in chains that lack a table" {
	! is_sanitized || skip "built with sanitizers, with which tables are made too slowly"
	for i in {1..10}; do cp "$(command -v sleep)" "nap-$i"; done
	# shellcheck disable=SC2016 # expanded by the inner shell
	record --off-cpu-thresh 0 -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do "./nap-$i" 0.2; done'
	[ "$(by_tables 1)" -ge 10 ]
	few_lack_tables
}

@test "tables of what a process has mapped are there before its first block" {
	cat >for_ever.py <<-'END'
		import time
		while True: time.sleep(0.001)
	END
	/usr/bin/python3 for_ever.py 3>&- &
	target=$!
	disown_target
	until_true is_at "$target" nanosleep
	record --off-cpu-thresh 0 -p "$target" -- sleep 0.3
	# On a slow machine the recording does not wait for all of them.
	[[ "$output" != *'begins before all unwind tables are made'* ]] || skip "too slow a machine"
	[ "$(by_tables 1)" -ge 10 ]
	# 3: for want of a table.
	[ "$(by_tables 3)" = 0 ]
}

# bats test_tags=whole
@test "tables of what the process of a thread has mapped are there before its first block" {
	[[ $(uname -r) != 5.* ]] || skip "before Linux 6.1 no single process can be listed"
	cat >thread.py <<-'END'
		import threading, time
		def nap():
		    while True: time.sleep(0.001)
		threading.Thread(target=nap).start()
		threading.Event().wait()
	END
	start_target /usr/bin/python3 thread.py
	second_thread() { tid=$(cd "/proc/$target/task" && printf '%s\n' * | grep -vx "$target"); }
	until_true second_thread
	until_true is_at "$tid" nanosleep
	record --off-cpu-thresh 0 -t "$tid" -- sleep 0.3
	# On a slow machine the recording does not wait for all of them.
	[[ "$output" != *'begins before all unwind tables are made'* ]] || skip "too slow a machine"
	[ "$(by_tables 1)" -ge 10 ]
	# 3: for want of a table.
	[ "$(by_tables 3)" = 0 ]
}

@test "tables of what COMMAND begins with are there before its first block" {
	record --off-cpu-thresh 0 -- /usr/bin/python3 -S -E -c \
		'import time; [time.sleep(0.001) for i in range(5)]'
	[[ "$output" != *'begins before all unwind tables are made'* ]] || skip "too slow a machine"
	[ "$(by_tables 1)" -ge 5 ]
	[ "$(by_tables 3)" = 0 ]
}

@test "a thread that is still blocked has the chain of its block when it ends" {
	cat >sleeps.py <<-'END'
		import sys, time
		def nap(s): time.sleep(s)
		nap(float(sys.argv[1]))
	END
	/usr/bin/python3 sleeps.py 600 3>&- &
	target=$!
	disown_target
	until_true is_at "$target" nanosleep
	record -p "$target" -- sleep 0.2
	# By the same tables, so that no process has to unwind: but before Linux 6.1.
	[ "$(copied)" = 0 ] || [[ $(uname -r) = 5.* ]]
	file_chain perf.data >blocked
	kill -KILL "$target"
	record -- /usr/bin/python3 sleeps.py 0.5
	file_chain perf.data >ended
	[ "$(wc -l <blocked)" -ge 8 ]
	[ "$(wc -l <blocked)" -eq "$(wc -l <ended)" ]
}

@test "a waker has its whole chain" {
	cat >wakes.py <<-'END'
		import threading, time
		go = threading.Lock()
		go.acquire()
		def wait():
		    for _ in range(20): go.acquire()
		thread = threading.Thread(target=wait)
		thread.start()
		def wake(): time.sleep(0.02); go.release()
		for _ in range(20): wake()
		thread.join()
	END
	record --wakers --off-cpu-thresh 0 -- /usr/bin/python3 wakes.py
	# Main releases the lock, from as deep as it sleeps.
	perf script -F event,ip,sym 2>/dev/null | awk '
		/wakeup-time/ && /futex_wake/ {
			n = 0
			for (i = 1; i <= NF; i++) n += $i ~ /^[0-9a-f]+$/ && $i !~ /^ffff/
			if (n > most) most = n
		} END { print most " frames"; exit most < 8 }' RS=
}

# start PROGRAM ARG…: in the background, until it waits in WHERE; its PID is $target.
start() {
	"$@" <&0 >/dev/null 3>&- &
	target=$!
	disown_target
	until_true is_at "$target" "$where"
}

# interrupt: records a block of it that a stop ends, and ends it. Its user functions are in the file
# functions, leaf first, a line each.
interrupt() {
	record --off-cpu-thresh 0 -p "$target" -- sh -c "
		kill -STOP $target
		until grep -q 'State:.T' /proc/$target/status; do :; done
		kill -CONT $target
		while grep -q 'State:.T' /proc/$target/status; do :; done"
	kill -KILL "$target"
	[[ "$output" != *'begins before all unwind tables are made'* ]] || skip "too slow a machine"
	[ "$(by_tables 1)" -ge 1 ] || return
	# Without those of the kernel, which are below the system call.
	perf script -i perf.data -F ip,sym 2>/dev/null | awk -v RS= 'NR == 1 {
		for (i = 1; i < NF; i += 2) if ($i !~ /^ffff/) print $(i + 1) }' | tee functions
}

# interrupted PROGRAM ARG…: both.
interrupted() {
	start "$@"
	interrupt
}

# has_functions NAME…: what was interrupted went through each of these.
has_functions() {
	local name

	for name; do
		grep -qxF -e "$name" functions || { echo "no $name"; return 1; }
	done
}

@test "signal handlers, on a stack of their own as well, and code made at run time" {
	where=pause
	interrupted "$build/tests/unwind/nofp" handler
	has_functions handle be_interrupted _start
	interrupted "$build/tests/unwind/nofp" altstack
	has_functions handle be_interrupted _start
	interrupted "$build/tests/unwind/nofp" made
	has_functions '[unknown]' main _start
}

# page_offsets: where in their pages the frames of the longest sample lie, which is the same for
# each process of a program.
page_offsets() {
	file_chain perf.data | sed 's/.*\(...\)$/\1/'
}

# is_whole_as HERE: what was interrupted has the frames in that file, and nothing was copied.
is_whole_as() {
	# But for its last block, which has not ended, before Linux 6.1.
	[ "$(copied)" = 0 ] || [[ $(uname -r) = 5.* ]]
	[ "$(by_tables 3)" = 0 ]
	page_offsets >there
	diff "$1" there
}

@test "a program that exists only in its container" {
	unshare -m true 2>/dev/null || skip "no namespaces for mounts here"
	nofp=$build/tests/unwind/nofp
	where=pause
	interrupted "$nofp" nested
	page_offsets >here
	[ "$(wc -l <here)" -ge 22 ]
	interrupted unshare -m sh -c \
		'mount -t tmpfs none /mnt && cp "$1" /mnt/nofp && exec /mnt/nofp nested' - "$nofp"
	[ ! -e /mnt/nofp ]
	is_whole_as here
	# Its layers are in a file system of its own.
	overlay='mount -t tmpfs none /mnt && cd /mnt && mkdir lower upper work root &&
		cp "$1" lower/nofp &&
		mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay root'
	unshare -m sh -c "$overlay" - "$nofp" 2>/dev/null || skip "no overlay here; tmpfs is right"
	interrupted unshare -m sh -c "$overlay && exec root/nofp nested" - "$nofp"
	is_whole_as here
}

@test "a program and a library whose files were deleted while it runs" {
	mkfifo gate
	exec 9<>gate
	where=pipe_read
	cp "$build/tests/unwind/nofp" program
	cp "$build/tests/unwind/small.so" library.so
	interrupted ./program libraries "$PWD/library.so" <gate
	page_offsets >here
	has_functions wait_inside _start
	start ./program libraries "$PWD/library.so" <gate
	rm program library.so
	grep -q 'library.so (deleted)' "/proc/$target/maps"
	interrupt
	is_whole_as here
}

@test "a Rust program" {
	[ -x "$build/tests/unwind/nofp_rs" ] || skip "no rustc"
	where=futex
	interrupted "$build/tests/unwind/nofp_rs"
	grep -qx _start functions
}

@test "a program whose tables lead no further is named with its share of time" {
	"$build/tests/unwind/nofp_bare" threads >/dev/null 3>&- &
	target=$!
	disown_target
	until_true is_at "$target" futex
	# Five threads: a second in all takes less than half of one.
	record --off-cpu-thresh 0 -p "$target" -- sh -c "
		sleep 0.5
		kill -STOP $target
		until grep -q 'State:.T' /proc/$target/status; do :; done
		kill -CONT $target"
	kill -KILL "$target"
	# A slow machine has no tables by then, and unwinds copies.
	[ "$(by_tables 3)" = 0 ] || skip "tables came late"
	why='(no call frame information; build it with -fno-omit-frame-pointer|unreadable stack)$'
	grep -E "user stacks of nofp_bare .* end early in [0-9]+ % .* tables lead no further: $why" \
		<<<"$output"
	refute grep -q '^\[ user stacks not whole: nofp_bare ' <<<"$output"
}

@test "a program with a rule that tables do not have is named, with the reason and what helps" {
	norule=$build/tests/unwind/norule
	[ -x "$norule" ] || skip "frames are described for x86-64"
	record -- "$norule"
	names_norule <<<"$output"
	grep -E ' norule \(pid [0-9]+\): .* m?s of .* m?s: .*a rule that is not supported [0-9.]+ m?s' \
		<<<"$output"
	file_chain perf.data | wc -l | grep -qx 2
	denet-record -q -- "$norule" 2>err
	[ ! -s err ] || names_norule <err
	refute grep "not whole: " err
	# As it says.
	denet-record --call-graph dwarf --off-cpu-thresh 0 -- "$norule" 2>err
	need_copies
	file_chain perf.data | wc -l | grep -qx 3
	refute grep -E 'not whole: |end early' err
}

@test "programs whose chains are whole are not named" {
	record -- "$naps" 2 20 10
	refute grep -E 'not whole: |end early' <<<"$output"
	[ "$(by_tables 1)" -ge 20 ]
	[ -x "$build/tests/unwind/pointers" ] || skip "frames are described for x86-64"
	# The frame pointer of its first function is 0.
	record -- "$build/tests/unwind/pointers"
	refute grep -E 'not whole: |end early' <<<"$output"
	file_chain perf.data | wc -l | grep -qx 3
	[ "$(by_tables 1)" -ge 1 ]
}
