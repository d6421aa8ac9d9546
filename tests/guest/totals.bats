#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-stat under other kernels: naps and calls are as long and as many as a workload knows.

load ../cli/lib

needs=root

@test "denet-stat counts naps, their calls, and the bytes of a command" {
	denet-stat --syscalls --json -o lines -- "$naps" 1 20 10 2>said
	tail -1 lines >last
	grep -o '"behaviour":{"class":"[a-z-]*"' last | sort | uniq -c
	grep -q '"source":"bpf"' last
	# The thread's own entry: at least 200 ms in at least 20 blocks of state S, in as many calls.
	grep -o '"comm":"napper-0"[^]]*' last | head -1 >napper
	cat napper
	sed -n 's/.*"S":{"count":\([0-9]*\),"total_ns":\([0-9]*\),.*/\1 \2/p' napper |
		awk '{ found = $1 >= 20 && $2 >= 198e6 } END { exit !found }'
	grep -o '"name":"clock_nanosleep"[^}]*' napper | grep -o '"count":[0-9]*' |
		awk -F: '{ found = $2 >= 20 } END { exit !found }'
}

@test "denet-stat misses no call of threads that preempt one another" {
	denet-stat --syscalls --json -o lines -- "$build/tests/workloads/calls"
	tail -1 lines >last
	grep -o '"missed_syscalls":[0-9]*' last
	grep -q '"missed_syscalls":0[,}]' last
	grep -o '"name":"gettid","nr[^}]*' last | grep -q '"errors":0,.*"count":4000,'
}

@test "denet-stat tells a deadlock, and the file of a thread that is blocked" {
	mkfifo gate
	"$build/tests/workloads/deadlock" --limit 60 <gate >said 3>&- &
	target=$! targets+=("$!")
	exec 9>gate
	until_true grep -q READY said
	denet-stat --all -o out -p "$target" -- sleep 0.3
	cat out
	grep -E '^deadlock for [0-9.]+ m?s: thread [0-9]+ \(lock-ab\) waits for \[stack\]\+0x[0-9a-f]+ of ' out
	exec 9>&-
	# Nobody gets the lock of a file twice. A guest may take seconds to start the second flock.
	denet-stat --all --json -o lines -- bash -c 'exec 8>held; flock 8
		bash -c "exec 7>held; : >begun; exec flock 7" &
		until [ -e begun ]; do sleep 0.1; done
		sleep 2; flock -u 8; wait'
	tail -1 lines | grep -o '"bottlenecks":\[[^]]*\]' >said
	cat said
	grep -E 'blocked time in flock on [^ ]*/held ' said
}

@test "denet-stat has the wait for a socket, and the requests of a device" {
	denet-stat --net --json -o lines -- python3 -c '
import os, socket, time
waits, sends = socket.socketpair()
if not os.fork():
    time.sleep(0.3)
    sends.send(b"x")
    os._exit(0)
waits.recv(1)
os.wait()'
	tail -1 lines | grep -o '"sockets":\[{[^]]*\]' >sockets
	cat sockets
	sed -n 's/.*"receive":{"count":1,"total_ns":\([0-9]*\),.*/\1/p' sockets |
		awk '{ found = $1 >= 100e6 } END { exit !found }'
	truncate -s 4M disk
	loop=$(losetup -f --show "$PWD/disk" 2>/dev/null) || skip "no loop device"
	denet-stat --block --json -o lines -- dd if=/dev/zero of="$loop" bs=64k count=32 oflag=direct
	losetup -d "$loop"
	tail -1 lines | grep -o '"block_io":\[{[^]]*\]' >requests
	cat requests
	grep -E "\"device\":\"${loop##*/}\",\"bytes\":2097152,.*\"requests\":\{\"count\":(3[2-9]|[4-9][0-9])," requests
}
