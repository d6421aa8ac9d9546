#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# How a recording ends, and that what was captured can be read then.
# tests: parallel

load lib

# complete FILE: its features are there, which are written last.
complete() {
	perf report --header-only -i "$1" 2>/dev/null | grep -q '# hostname'
}

end_with() {
	start_target "$naps" 2 10000 10
	start_recording -p "$target" --off-cpu-thresh 0 --window 50ms
	until_true bigger_than live.data 20000
	kill -"$1" "$recorder"
	finish_recording
}

@test "Ctrl-C, SIGTERM and SIGHUP end well" {
	for signal in TERM HUP $(if_whole INT); do
		end_with $signal
		[ "$status" = 0 ]
		complete live.data
		[ "$(samples live.data)" -gt 50 ]
		grep -q 'off-CPU in' live.err
		kill "$target"
	done
}

@test "Ctrl-C ends a command that is recorded" {
	denet-record -o live.data -- "$naps" 1 10000 10 >out 2>live.err 3>&- &
	recorder=$!
	until_true grep -q READY out
	kill -INT "$recorder"
	finish_recording
	[ "$status" = 143 ]
	complete live.data
}

@test "a second signal ends at once with a file that opens" {
	denet-record -o live.data --off-cpu-thresh 0 --window 50ms -- \
		sh -c 'trap "" TERM; "$0" 1 300 10; sleep 3' "$naps" >out 2>live.err 3>&- &
	recorder=$!
	until_true bigger_than live.data 10000
	kill -INT "$recorder"
	# It now waits for the command, which does not heed SIGTERM.
	until_true grep -q 'off-CPU in' live.err
	refute gone "$recorder"
	kill -INT "$recorder"
	finish_recording
	[ "$status" = 1 ]
	grep -q 'another signal' live.err
	[ "$(samples live.data)" -gt 10 ]
}

@test "two signals at the same moment leave a file that opens" {
	start_target "$naps" 2 10000 10
	start_recording -p "$target" --off-cpu-thresh 0 --window 50ms
	until_true bigger_than live.data 20000
	kill -INT "$recorder"
	kill -TERM "$recorder"
	finish_recording
	[ "$status" -le 1 ]
	[ "$(samples live.data)" -gt 20 ]
}

@test "after SIGKILL, what was captured can be read" {
	end_with KILL
	[ "$status" = 137 ]
	refute complete live.data
	count=$(samples live.data)
	echo "samples after SIGKILL: $count"
	[ "$count" -gt 50 ]
	perf script -i live.data | grep -q take_nap
	perf report --stdio -i live.data 2>/dev/null | grep -q do_nanosleep
}

@test "a thread that is still blocked at the end is in the file" {
	start_target sleep 100
	start_recording -p "$target"
	began=${EPOCHREALTIME/[.,]/}
	long_enough() { [ $((${EPOCHREALTIME/[.,]/} - began)) -gt 500000 ]; }
	until_true long_enough
	kill -INT "$recorder"
	finish_recording
	grep -q '1 still blocked' live.err
	perf script -i live.data -F comm,period,event |
		awk '$1 == "sleep" && $2 >= 500000000 { ok = 1 } END { exit !ok }'
	# The kernel leaves the scheduler's part out of the stack of another task.
	perf script -i live.data | grep -q 'do_nanosleep\|hrtimer_nanosleep'
}

@test "Ctrl-C as a command of perf: perf goes, the file gets complete" {
	start_target "$naps" 2 10000 10
	setsid perf denet record -o live.data -p "$target" --off-cpu-thresh 0 2>live.err 3>&- &
	leader=$!
	until_true bigger_than live.data 0
	until_true pgrep -g "$leader" -f perf-denet
	kill -INT -- "-$leader"
	until_true complete live.data
	[ "$(samples live.data)" -gt 0 ]
	wait "$leader" || true
	# It is complete before the recorder has put everything away.
	until_true refute pgrep -g "$leader"
}

@test "the reader of a pipe that goes away is an error" {
	start_target "$naps" 2 10000 10
	denet-record -o - -p "$target" --off-cpu-thresh 0 --window 20ms 2>err | head -c 5000 >/dev/null
	[ "${PIPESTATUS[0]}" = 1 ]
	grep -q 'Broken pipe' err
}

# bats test_tags=whole
@test "a FIFO without a reader is waited for, and one that does not read, until Ctrl-C" {
	mkfifo fifo
	denet-record -o fifo -- sleep 600 3>&- 2>err &
	recorder=$!
	# It waits in poll(2) for a reader, with a COMMAND that has not begun.
	until_true grep -q poll "/proc/$recorder/wchan"
	kill -INT $recorder
	wait $recorder || status=$?
	[ "$status" = 1 ]
	grep -q 'fifo: .*nobody reads the pipe' err
	# A reader that comes later gets it all.
	perf script -i - <fifo >script 3>&- &
	reader=$!
	denet-record -o fifo -- "$naps" 1 5 20
	wait $reader
	grep -q take_nap script
	# A reader that stops reading, in the midst of a storm.
	sleep 600 <fifo 3>&- &
	reader=$!
	denet-record -o fifo --off-cpu-thresh 0 --max-overhead 0 --window 20ms -- \
		"$build/tests/workloads/short" --rounds 10000000 3>&- >said 2>err &
	recorder=$!
	# The pipe is full: nothing more can be written.
	until_true is_full fifo
	kill -TERM $recorder
	status=0
	wait $recorder || status=$?
	kill $reader
	[ "$status" = 1 ]
	grep -q 'nobody reads the pipe' err
}

# record_without_reader COMMAND…: into a FIFO without a reader, until it waits for one.
record_without_reader() {
	mkfifo fifo
	"$@" denet-record -o fifo -- "$naps" 1 5 20 3>&- 2>err &
	recorder=$!
	until_true grep -q poll "/proc/$recorder/wchan"
}

@test "a closed terminal ends the wait for the reader of a FIFO, but not under nohup" {
	record_without_reader env
	kill -HUP $recorder
	status=0
	wait $recorder || status=$?
	[ "$status" = 1 ]
	grep -q 'fifo: .*nobody reads the pipe' err
	rm fifo
	record_without_reader env --ignore-signal=HUP
	kill -HUP $recorder
	perf script -i - <fifo >script 3>&-
	wait $recorder
	grep -q take_nap script
}

# holds_bytes FIFO: its reader has not taken them yet.
holds_bytes() {
	python3 -c '
import fcntl, os, struct, sys, termios
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)
held = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0]
sys.exit(not held)' "$1"
}

# fill FIFO: with zeros, until it has no room left.
fill() {
	python3 -c '
import os, sys
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_NONBLOCK)
try:
    while True:
        os.write(fd, bytes(4096))
except BlockingIOError:
    pass' "$1"
}

@test "a reader that takes nothing does not hold up an end by a signal" {
	mkfifo fifo
	sleep 600 <fifo 3>&- &
	reader=$!
	start_target "$naps" 2 10000 10
	denet-record -o fifo -p "$target" 3>&- >said 2>err &
	recorder=$!
	# It has begun, and comes to its signals.
	until_true holds_bytes fifo
	fill fifo
	kill -TERM $recorder
	status=0
	wait $recorder || status=$?
	kill $reader
	[ "$status" = 1 ]
	grep -q 'fifo: .*nobody reads the pipe' err
}

# bats test_tags=whole
@test "a socket whose peer does not read does not hold up an end by a signal" {
	cat >peer.py <<-'END'
	import socket, subprocess, sys
	ours, theirs = socket.socketpair()
	# So little that nothing of the end fits.
	theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
	recorder = subprocess.Popen(sys.argv[1:], stdout=theirs)
	theirs.close()
	print(recorder.pid, flush=True)
	sys.exit(recorder.wait())
	END
	python3 peer.py denet-record -o - --off-cpu-thresh 0 --max-overhead 0 --window 20ms -- \
		"$build/tests/workloads/short" --rounds 10000000 3>&- >pid 2>err &
	peer=$!
	until_true test -s pid
	recorder=$(cat pid)
	until_true grep -q poll "/proc/$recorder/wchan"
	kill -TERM "$recorder"
	status=0
	wait $peer || status=$?
	[ "$status" = 1 ]
	grep -q 'nobody reads the pipe' err
}

# is_full FIFO: it has no room left.
is_full() {
	python3 -c '
import fcntl, os, select, sys
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_NONBLOCK)
sys.exit(bool(select.select([], [fd], [], 0)[1]))' "$1"
}

@test "a full disk is an error, and what was written before can be read" {
	mkdir small
	mount -t tmpfs -o size=64k tmpfs small
	start_target "$naps" 4 10000 2
	# The command is but a clock, and goes on: it is not its fault.
	run denet-record -o small/live.data -p "$target" --off-cpu-thresh 0 --window 20ms -- \
		sh -c 'sleep 1.2; touch small.over'
	count=$(samples small/live.data)
	again=0
	denet-record -o small/live.data -- true 2>again.err || again=$?
	kept=$(samples small/live.data)
	left=$(ls small)
	umount small
	[ "$status" = 1 ]
	[[ "$output" == *"No space left"* ]]
	[[ "$output" == *"sh is no longer recorded; denet-record waits for it to end"* ]]
	[ -e small.over ]
	[ "$count" -gt 50 ]
	# A recording that cannot even begin leaves the older file as it was.
	[ "$again" = 1 ]
	grep -q 'No space left' again.err
	[ "$kept" = "$count" ]
	[ "$left" = live.data ]
}

@test "a recording whose name another one has taken says where it is, or that it is lost" {
	start_target "$naps" 2 10000 10
	start_recording -p "$target"
	denet-record -o live.data -- true
	kill -INT "$recorder"
	finish_recording
	[ "$status" = 0 ]
	grep -q 'another recording has taken the name live.data: this one is live.data.old' live.err
	complete live.data.old
	[ "$(samples live.data.old)" -gt 0 ]
	start_recording -p "$target"
	denet-record -o live.data -- true
	denet-record -o live.data -- true
	kill -INT "$recorder"
	finish_recording
	grep -q 'live.data was removed meanwhile: this recording is lost' live.err
}

@test "on a terminal a status line comes each second, elsewhere it does not" {
	script -qec "denet-record -o a.data -- sleep 1.5" /dev/null >tty </dev/null 3>&- &
	denet-record -o b.data -- sleep 1.5 2>err
	wait $!
	grep -q '\[ denet-record: 1 s, [0-9,]* samples, [0-9.]* MB, 0 lost \]' tty
	[ "$(grep -c '\[ denet-record: ' err)" = 1 ]
	grep -q '\[ denet-record: [0-9.]* s off-CPU ' err
}

# with_a_deaf_stderr stopped|full|pipe: runs denet-record with a standard error that takes nothing more, waits until
# the file shows that it goes on recording, ends it by SIGTERM and prints its exit status.
with_a_deaf_stderr() {
	python3 - "$1" "$target" <<'END'
import fcntl, os, pty, signal, subprocess, sys, termios, time

def fill(fd):
    "Until nothing more is taken; the flags are those of this open file only."
    own = os.open("/proc/self/fd/%d" % fd, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        while True:
            os.write(own, b"x" * 256)
    except BlockingIOError:
        os.close(own)

def become_leader():
    os.setsid()
    fcntl.ioctl(2, termios.TIOCSCTTY, 0)

kind, target = sys.argv[1:]
if kind == "pipe":
    master, fd = os.pipe()
    fill(fd)
else:
    master, fd = pty.openpty()
    if kind == "stopped":
        termios.tcflow(fd, termios.TCOOFF)
    else:
        fill(fd)
recorder = subprocess.Popen(["denet-record", "-vv", "-o", "live.data", "-p", target,
                             "--off-cpu-thresh", "0", "--window", "50ms"], stderr=fd,
                            preexec_fn=become_leader if kind != "pipe" else None)
end = time.time() + 100
grown, size = 0, 0
# Each window writes; status lines come once a second.
began = time.time()
while (grown < 30 or time.time() < began + 2.5) and time.time() < end:
    now = os.path.getsize("live.data") if os.path.exists("live.data") else 0
    grown += now > size
    size = now
    time.sleep(0.05)
    if recorder.poll() is not None:
        sys.exit("it ended by itself")
if grown < 30:
    recorder.kill()
    sys.exit("it does not go on: %d times" % grown)
recorder.send_signal(signal.SIGTERM)
try:
    print(recorder.wait(60))
except subprocess.TimeoutExpired:
    recorder.kill()
    sys.exit("it does not end")
END
}

# bats test_tags=whole
@test "a stopped terminal, one that is full, and a pipe that nobody reads hold nothing up" {
	start_target "$naps" 2 100000 10
	for kind in stopped full pipe; do
		echo "$kind"
		rm -f live.data
		[ "$(with_a_deaf_stderr $kind)" = 0 ]
		complete live.data
		[ "$(samples live.data)" -gt 50 ]
	done
}
