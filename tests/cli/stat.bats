#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-stat counts what threads do, and its figures are those of others.
# tests: parallel

load lib

needs=root

# rows PART [FILE]: the rows of a part of the table, without its head.
rows() {
	awk -v part="$1" 'index($0, part) == 1 && !on { on = 1; next } on && !NF { exit } on' "${2:-out}"
}

# ns TIME UNIT: as a number of ns.
to_ns='function to_ns(value, unit) {
	return value * (unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1)
}'

# shares_add_up: running, queued and blocked are the whole time, in each row of all parts.
shares_add_up() {
	awk '/%.*%.*%.* (ns|us|ms|s) / {
		n++
		sum = 0
		for (i = 1; i <= NF && seen < 3; i++)
			if ($i ~ /^[0-9.]+%$/) { sum += $i; seen++ }
		seen = 0
		if (sum < 99.7 || sum > 100.3) { print "not 100 %: " $0; bad = 1 }
	     }
	     END { exit bad || !n }' "${1:-out}"
}

# lines_are_right FILE: each fits the schema and denet's structures; prints the kinds.
lines_are_right() {
	python3 "$top/tests/common/stat_lines.py" "$top/Documentation/denet-stat.schema.json" <"$1" ||
		{ [ $? != 77 ] || skip "no python3-jsonschema"; return 1; }
}

@test "threads, processes and commands, with those that have ended" {
	denet-stat -- sh -c 'for i in 1 2 3; do sleep 0.1; done' >out 2>err
	cat out
	[ ! -s err ]
	head -1 out | grep -E '^denet-stat: [0-9.]+ m?s, 4 threads \(4 ended\) of 4 processes$'
	[ "$(rows PROCESS | wc -l)" = 4 ]
	[ "$(rows PROCESS | grep -c '^sleep ')" = 3 ]
	[ "$(rows COMMAND | wc -l)" = 2 ]
	rows COMMAND | grep -E '^sleep +x3 '
	shares_add_up
	# Each of them sleeps for at least the time that it was asked to.
	rows PROCESS | awk "$to_ns"' $1 == "sleep" && to_ns($7, $8) < 100e6 { print; exit 1 }'
}

@test "naps are as long and as many as their thread knows" {
	denet-stat -o out -- "$naps" 2 20 10 counts 2>said
	cat out
	shares_add_up
	for thread in napper-0 napper-1; do
		read -r times away bracket < <(told_by_nap "$thread" said)
		rows COMMAND | awk -v name="$thread" -v away="$away" -v bracket="$bracket" \
			-v times="$times" -v part="$(shared_part)" "$to_ns"'
			$1 == name { ns = to_ns($6, $7); print ns, "of", away, "to", bracket, $8, "of", times
				found = ns > part * away && $8 >= 20 && $8 >= times }
			END { exit !found }'
	done
}

@test "a target that is blocked all the time counts as long as the measurement" {
	start_target sleep 1000
	until_true runs "$target" sleep
	denet-stat -p "$target" -- sleep 0.5 >out 2>err
	cat out
	[ ! -s err ]
	head -1 out | grep -E ' 1 thread of 1 process$'
	rows ALL | grep -E ' 0.0% +0.0% +100.0% .* S 100%$'
	# Also in later intervals, in which no block began.
	denet-stat -I 100 -p "$target" -- sleep 0.5 >out
	[ "$(grep -c '^all threads .* S 100%$' out)" -ge 3 ]
}

@test "the exit status is that of the command, and of a signal" {
	run -3 denet-stat -- sh -c 'exit 3'
	run -143 denet-stat -- sh -c 'kill $$'
	run -1 denet-stat -- /nonexistent
	[[ "$output" == *"/nonexistent"* ]]
	[[ "$output" != *"ALL"* ]]
	gone=$(sh -c 'echo $$')
	run -1 denet-stat -p "$gone"
	[ "$output" = "denet-stat: error: -p $gone: there is no such process" ]
	run -2 denet-stat --top x
}

@test "the output goes to a file, and a full disk is an error" {
	denet-stat -o table -- true >out 2>err
	[ ! -s out ] && grep -q '^ALL ' table
	run -1 denet-stat -o /dev/full -- true
	[[ "$output" == *"/dev/full"* ]]
	run -1 denet-stat -o no/such/directory -- true
	denet-stat -- true | head -1 >first
	[ -s first ]
}

@test "lines of JSON for a reader that has gone are no error, and a full disk is named" {
	run -1 denet-stat --json -o /dev/full -- true
	[[ "$output" == *"cannot write /dev/full: No space left on device"* ]]
	# Lines longer than any buffer of standard output.
	denet-stat --json --all -I 50 -- sleep 0.5 2>err | head -1 >first
	cat err
	[ ! -s err ]
	grep -q '"kind":"metadata"' first
}

@test "more processes than the table has rows" {
	denet-stat --top 3 -- "$build/tests/workloads/forks" --count 200 --parallel 8 --us 100 \
		>out 2>err
	cat out
	head -1 out | grep -E ' 201 threads \(201 ended\) of 201 processes$'
	[ "$(rows PROCESS | wc -l)" = 4 ]
	rows PROCESS | tail -1 | grep -Fx '(198 more: --top)'
	rows COMMAND | grep -E '^child +x200 '
	refute grep -q '^note:' out
	shares_add_up
}

# calls_of FILE: "NAME CALLS ERRORS" of all system calls in the table, whatever their files.
calls_of() {
	rows 'SYSTEM CALL' "$1" | awk '
		{ name = $1; sub(/\(.*/, "", name); calls[name] += $2
		  if ($3 !~ /\./) errors[name] += $3 }
		END { for (name in calls) print name, calls[name], errors[name] + 0 }' | sort
}

# calls_by_strace FILE: the same of the table that strace -c writes.
calls_by_strace() {
	awk '$4 ~ /^[0-9]+$/ && $NF != "total" { print $NF, $4, (NF > 5 ? $5 : 0) }' "$1" | sort
}

# trace_calls: what strace counts of the workload calls, in wanted. It is run once for this file.
trace_calls() {
	local kept=$BATS_FILE_TMPDIR/strace.out

	command -v strace >/dev/null || skip "no strace"
	calls=$build/tests/workloads/calls
	if [ ! -e "$kept" ]; then
		strace -c -f -o strace.out "$calls"
		mv strace.out "$kept"
	fi
	calls_by_strace "$kept" >wanted
}

@test "system calls are as many as strace counts, with errors, signals and restarts" {
	trace_calls
	denet-stat --syscalls --top 1000 -- "$calls" >out
	calls_of out >found
	cat out
	[ "$(wc -l <found)" -gt 15 ]
	diff wanted found
	grep -qx 'gettid 4000 0' found
	grep -qx 'close 200 200' found || grep -E '^close 20[0-9] 200$' found
}

@test "counts without times are the same, and have no times" {
	trace_calls
	denet-stat --syscall-counts --top 1000 -o out -- "$calls"
	cat out
	calls_of out >found
	diff wanted found
	rows 'SYSTEM CALL' | grep -E '^gettid +4000 +[0-9.]+ +- +- +- +- +- +- +- +system|^gettid +4000 '
	rows 'SYSTEM CALL' | refute grep -E ' (ns|us|ms|s) '
	denet-stat --syscall-counts --json -o lines -- "$calls"
	[ "$(lines_are_right lines | sort -u | xargs)" = 'metadata tree' ]
}

# ranks_by_perf FILE: calls and errors in the tables that perf trace -s writes, one for each thread:
# "KIND NAME RANK NUMBER", the thread with the greatest number first.
ranks_by_perf() {
	awk 'NF == 8 && $2 ~ /^[0-9]+$/ && $3 ~ /^[0-9]+$/ {
		print "calls", $1, $2
		print "errors", $1, $3 }' "$1" | sort -k1,2 -k3,3nr |
		awk '{ print $1, $2, ++rank[$1, $2], $3 }'
}

# calls_by_ranks FILE: as calls_of, of the greatest number at each rank. perf may lose events and whole
# threads, which it does not always tell, but adds none; it counts a clone twice, at the return of the
# parent and at that of the child, and leaves out rt_sigreturn, since x86 takes the call's number away
# before the exit.
calls_by_ranks() {
	awk '{ if ($4 > most[$1, $2, $3]) { sum[$1, $2] += $4 - most[$1, $2, $3]; most[$1, $2, $3] = $4 }
	       names[$2] }
	     END { sum["calls", "clone"] /= 2
		   for (name in names) print name, sum["calls", name] + 0, sum["errors", name] + 0 }' "$1" | sort
}

# bats test_tags=whole
@test "system calls are as many as perf trace counts, with errors, signals and restarts" {
	need_perf
	calls=$build/tests/workloads/calls
	perf trace -s true >/dev/null 2>&1 || skip "no perf trace"
	denet-stat --syscalls --top 1000 -- "$calls" >out
	calls_of out | grep -v '^rt_sigreturn ' >found
	grep -qx 'gettid 4000 0' found
	for ((try = 1; try <= 20; try++)); do
		perf trace -s -m 32M -o perf.out "$calls"
		ranks_by_perf perf.out >>ranks
		calls_by_ranks ranks >wanted
		diff wanted found && break
	done
	[ "$try" -le 20 ]
}

# bats test_tags=whole
@test "system calls are as many as strace counts where PIDs are above 65535" {
	command -v strace >/dev/null || skip "no strace"
	unshare -pf --mount-proc sh -c 'echo 70000 >/proc/sys/kernel/ns_last_pid 2>/dev/null || exit 77
		strace -c -f -o strace.out "$1"
		exec denet-stat --syscalls --top 1000 -- "$1" >out' sh "$build/tests/workloads/calls" ||
		status=$?
	[ "${status-}" != 77 ] || skip "the next PID cannot be chosen"
	[ "${status-0}" = 0 ]
	calls_by_strace strace.out >wanted
	calls_of out >found
	diff wanted found
	[ "$(rows PROCESS | awk '$1 == "calls" && $2 > 65535' | wc -l)" = 5 ]
}

@test "calls by category, by the file, by thread, and those that have not returned" {
	denet-stat --syscalls --top 1000 -- "$build/tests/workloads/calls" >out
	cat out
	rows 'SYSTEM CALL' | grep -E '^write\(pipe\) +21 .* ipc$'
	rows 'SYSTEM CALL' | grep -E '^write\(socket\) +30 .* network$'
	rows 'SYSTEM CALL' | grep -E '^read\(socket\) +30 .* network$'
	rows 'SYSTEM CALL' | grep -E '^clock_nanosleep +2[0-9] .* time$'
	rows CATEGORY | grep -E '^network +6[01] '
	# Calls that sleep are off the CPU for nearly all of their time. Where a virtual machine hides a
	# thread, the block that ends behind it is added when its call has returned (stat_in_unseen): that
	# must not be so time after time.
	for try in 1 2 3; do
		[ "$try" = 1 ] || denet-stat --syscalls --top 1000 -- "$build/tests/workloads/calls" >out
		share=$(rows 'SYSTEM CALL' | awk '$1 == "clock_nanosleep" {
			for (i = 2; i <= NF; i++) if ($i ~ /%$/) share = $i } END { print share + 0 }')
		echo "try $try: $share %"
		[ "${share%.*}" -lt 80 ] || break
	done
	[ "${share%.*}" -ge 80 ]
	start_target sleep 1000
	until_true runs "$target" sleep
	denet-stat --syscalls -p "$target" -- sleep 0.2 >out
	rows 'HAS NOT RETURNED' | grep -E "^clock_nanosleep +2[0-9][0-9]\.[0-9]+ ms +sleep +$target$"
	# None has returned, so there are no sums.
	[ "$(rows 'SYSTEM CALL')" = '(none)' ]
	refute grep -E '^(CATEGORY|CALLS BY) ' out
}

@test "threads that sleep all the time hide no calls of others, and wait for no lock" {
	command -v python3 >/dev/null || skip "no python3"
	# Who waits for a CPU beside other load is starved.
	start_target nice -n -15 python3 -c '
import os, threading, time
event = threading.Event()
for i in range(5):
    threading.Thread(target=event.wait, daemon=True).start()
print("READY", flush=True)
while True:
    os.getppid()
    time.sleep(0.001)'
	until_true grep -q READY target.out
	# Without --locks nobody knows that these are no locks.
	denet-stat --syscalls -p "$target" -- sleep 0.2 >out
	rows BEHAVIOUR | grep -E '^all threads +mixed +active [0-9]+%: .*unknown [0-9]+%$'
	rows BEHAVIOUR | grep -Fx '(unknown: waits for locks, or for work; --locks tells them apart)'
	denet-stat --syscalls --locks --top 2 -p "$target" -- sleep 0.5 >out
	cat out
	rows 'CALLS BY THREAD' | grep -E "^python3 $target\$"
	rows 'CALLS BY THREAD' | grep -E '^  clock_nanosleep +[0-9]+ '
	rows BEHAVIOUR | grep -E '^all threads +idle '
}

@test "of many commands that sleep, the busy one is the first to have its behaviour told" {
	for i in 1 2 3 4; do cp "$(command -v sleep)" "idle$i"; done
	# Time off the CPU puts the sleepers before it in all other parts.
	denet-stat --top 2 -- sh -c 'for i in 1 2 3 4; do
			"./idle$i" 1000 & idle="$idle $!"
		done
		i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done
		kill $idle' >out 2>err
	cat out
	rows PROCESS | head -1 | grep '^idle'
	rows BEHAVIOUR | sed -n 2p | grep -E '^sh +(cpu-bound|starved|mixed) '
	rows BEHAVIOUR | grep -Fx '(3 more: --top)'
}

@test "calls of a 32-bit program have the names of its own table" {
	[ -x "$build/tests/unwind/pause32" ] || skip "no 32-bit program"
	# A shell would take the program for a script.
	python3 -c 'import subprocess, sys; subprocess.Popen(sys.argv[1:]).kill()' \
		"$build/tests/unwind/pause32" 2>/dev/null || skip "this kernel runs no 32-bit programs"
	start_target "$build/tests/unwind/pause32"
	until_true runs "$target" pause32
	denet-stat --syscalls -p "$target" -- sleep 0.2 >out
	cat out
	rows 'HAS NOT RETURNED' | grep -E "^pause\[32-bit\] .* pause32 +$target$"
}

@test "in a PID namespace of its own, with PIDs above 65535" {
	unshare -pf --mount-proc sh -c 'echo 70000 >/proc/sys/kernel/ns_last_pid 2>/dev/null || exit 77
		exec denet-stat --syscalls -- sh -c "sleep 0.1; sleep 0.1"' >out || status=$?
	[ "${status-}" != 77 ] || skip "the next PID cannot be chosen"
	cat out
	[ "$(rows PROCESS | awk '$1 == "sleep" && $2 > 70000 && $2 < 71000' | wc -l)" = 2 ]
	rows COMMAND | grep -E '^sleep +x2 '
	shares_add_up
}

@test "waits for mutexes have the owners and waiters that the threads know" {
	denet-stat --locks --top 1000 -o out -- "$build/tests/workloads/holders" --ms 100 >/dev/null 2>said
	cat said out
	[ "$(grep -c '^mutex ' said)" -ge 10 ]
	while read -r _ kind waiter owner _; do
		echo "$kind: $waiter waits for $owner"
		rows FUTEX | grep -E " +$owner +[^ ]+ $waiter\$"
	done < <(grep '^mutex ' said)
	# A futex that is no mutex has no owner.
	while read -r _ kind waiter _; do
		rows FUTEX | grep -E " - +[^ ]+ $waiter\$"
	done < <(grep -E '^other (semaphore|zeros|garbage) ' said)
	rows FUTEX | grep -E '^\[heap\]\+0x[0-9a-f]+ \(0x[0-9a-f]+\) '
}

# start_deadlock OPTION…: its standard input is open until the test ends, or descriptor 9 is closed.
start_deadlock() {
	mkfifo gate
	"$build/tests/workloads/deadlock" --limit 60 "$@" <gate >said 3>&- &
	target=$! targets+=("$!")
	exec 9>gate
	until_true grep -q READY said
}

@test "a deadlock has its threads, and how long they have waited" {
	start_deadlock --wait
	# COMMAND lets it begin, in the measurement.
	denet-stat --locks -o out -p "$target" -- \
		sh -c 'echo >gate; until grep -q BLOCKED said; do sleep 0.01; done; sleep 0.3'
	exec 9>&-
	wait "$target"
	cat said out
	for thread in lock-ab lock-ba; do
		# The wait had begun when the thread told so, and did not end.
		rows FUTEX | awk -v name="$thread" "$to_ns"'
			$(NF - 1) == name && $(NF - 8) ~ /^[0-9]+$/ {
				ns = to_ns($(NF - 7), $(NF - 6))
				print name, $(NF - 8), ns
				found = $(NF - 8) == 1 && ns >= 290e6 && $(NF - 2) ~ /^[0-9]+$/
			}
			END { exit !found }'
	done
	read -r a b < <(sed -n 's/^truth .*tid=\([0-9]*\) comm=lock-.*/\1/p' said | xargs)
	place='\[stack\]\+0x[0-9a-f]+'
	rows BEHAVIOUR | grep -E "^deadlock for [0-9.]+ ms: thread $a \(lock-ab\) waits for $place of \
thread $b, thread $b \(lock-ba\) waits for $place of thread $a\$"
	rows BEHAVIOUR | grep -E '^lock-ab +lock-bound '
	rows BEHAVIOUR | grep -E '^sleeper +(idle|mixed|cpu-bound|starved) '
}

@test "so has a deadlock from before the measurement" {
	start_deadlock
	denet-stat --locks -o out -p "$target" -- sleep 0.3
	cat out
	rows BEHAVIOUR | grep -E "^deadlock for [0-9.]+ ms: thread [0-9]+ \(lock-ab\) waits for "
	for thread in lock-ab lock-ba; do
		rows BEHAVIOUR | grep -E "^$thread +lock-bound "
		rows FUTEX | grep -E " 1 [0-9.]+ ms +1 +0 +0 +[0-9]+  $thread [0-9]+\$"
	done
	rows BEHAVIOUR | grep -E '^sleeper +idle '
}

@test "each command has the waits for locks of its own threads, also without system calls" {
	for parts in --locks "$(if_whole --locks --syscalls)"; do
		[ -n "$parts" ] || continue
		# shellcheck disable=SC2086
		denet-stat $parts --json -o lines -- sh -c '"$1" --ms 300 >said &
			sleep 0.3
			wait' sh "$build/tests/workloads/holders"
		python3 -c '
import json
last = [json.loads(line) for line in open("lines")][-1]
waits = {task["comm"]: (task["lock_ns"], task["owned_lock_ns"]) for task in last["stat"]["commands"]}
print(waits)
total = last["stat"]["total"]
assert total["lock_ns"] == sum(ns for ns, _ in waits.values())
assert waits["sleep"] == waits["sh"] == (0, 0)
for name in "normal", "heap", "recursive", "robust", "inherit":
    assert waits["h-" + name] == (0, 0), name # the holder
    assert waits["w-" + name][1] >= 300e6, name
assert waits["w-condvar"][0] >= 300e6 and waits["w-condvar"][1] == 0
kinds = {task["comm"]: task["behaviour"]["class"] for task in last["stat"]["commands"]}
assert kinds["w-normal"] == "lock-bound", kinds
assert "lock-bound" not in (kinds["sleep"], kinds["sh"]), kinds
names = {lock["longest_waiter_comm"]: lock["name"] for lock in last["stat"]["locks"]}
assert names["w-normal"].startswith("holders+0x") and names["w-heap"].startswith("[heap]+0x"), names'
	done
}

# bats test_tags=whole
@test "requests of a device are as many as the kernel counts" {
	truncate -s 16M disk
	loop=$(losetup -f --show "$PWD/disk" 2>/dev/null) || skip "no loop device"
	name=${loop##*/}
	read -r -a before <"/sys/block/$name/stat"
	denet-stat --block --top 1000 -- dd if=/dev/zero of="$loop" bs=4k count=100 oflag=direct >out 2>err
	read -r -a after <"/sys/block/$name/stat"
	losetup -d "$loop"
	cat out
	echo "the kernel: $((after[4] - before[4])) writes, $((after[6] - before[6])) sectors"
	[ "$(rows 'BLOCK DEVICE' | awk -v name="$name" '$1 == name && $2 == "write" { print $3 }')" = \
		$((after[4] - before[4])) ]
	rows 'BLOCK DEVICE' | grep -E "^$name +write +[0-9]+ .* [0-9.]+ MB .* 0  dd [0-9]+\$"
	# Each of them has a place among the latencies.
	rows 'BLOCK LATENCY' | awk -v name="$name" -v wanted=$((after[4] - before[4])) '
		$1 == name && $2 == "write" { for (i = 3; i <= NF; i++) sum += $i }
		END { print sum; exit sum != wanted }'
}

@test "times of requests add up to the device's own, and to the wait of their thread" {
	truncate -s 64M disk
	loop=$(losetup -f --show "$PWD/disk" 2>/dev/null) || skip "no loop device"
	name=${loop##*/}
	read -r -a before <"/sys/block/$name/stat"
	denet-stat --block --json -o lines -- dd if=/dev/zero of="$loop" bs=64k count=900 oflag=direct 2>err
	read -r -a after <"/sys/block/$name/stat"
	losetup -d "$loop"
	python3 -c '
import json, sys
name, ticks = sys.argv[1], int(sys.argv[2])
stat = [json.loads(line) for line in open("lines")][-1]["stat"]
device = next(io for io in stat["block_io"] if (io["device"], io["op"]) == (name, "write"))
ms, waited = device["requests"]["total_ns"] / 1e6, device["waited_ns"] / 1e6
asleep = stat["total"]["states"]["D"]["total_ns"] / 1e6
print(f"{ms} ms, of {ticks} by the device; waited {waited}, of {asleep} ms in state D")
# The device counts from when a request is made, a little before it is issued, in ms.
assert 0.7 * ticks - 1 <= ms <= ticks + 1
buckets = device["requests"]["histogram"]
assert sum(bucket["count"] for bucket in buckets) == device["requests"]["count"]
assert all(a["below_ns"] <= b["from_ns"] for a, b in zip(buckets, buckets[1:])), buckets
assert buckets[0]["from_ns"] <= device["requests"]["min_ns"] < buckets[0]["below_ns"]
assert buckets[-1]["from_ns"] <= device["requests"]["max_ns"] < buckets[-1]["below_ns"]
# dd waits for each of its requests, and for hardly anything else.
assert 0.9 * asleep - 5 <= waited <= asleep
assert 0.7 * ms <= waited
process = next(task for task in stat["processes"] if task["comm"] == "dd")
assert device["longest_waiter_comm"] == "dd" and device["longest_waiter"] == process["pid"], device
assert 0 < device["waits"] <= stat["total"]["states"]["D"]["count"]
assert 0 < device["longest_wait_ns"] <= device["waited_ns"]' "$name" $((after[7] - before[7]))
}

@test "waits for a connection, to receive and to send" {
	command -v python3 >/dev/null || skip "no python3"
	denet-stat --net -- python3 -c '
import os, socket, time
# Made first: while the client sleeps, the server is to wait, not to fill memory.
reply = b"y" * (64 << 20)
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
def server_waits():
    with open(f"/proc/{os.getppid()}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "S"
if not os.fork():
    client = socket.create_connection(listener.getsockname())
    for i in range(5):
        while not server_waits():
            time.sleep(0.001)
        time.sleep(0.03)
        client.send(b"x")
    time.sleep(0.2)
    while client.recv(1 << 20):
        pass
    os._exit(0)
server, _ = listener.accept()
print(server.getsockname()[1], server.getpeername()[1])
for i in range(5):
    server.recv(1)
server.sendall(reply)
server.close()
os.wait()' >out 2>said
	cat said out
	read -r local remote <said
	rows SOCKET | awk -v want="127.0.0.1:$local to 127.0.0.1:$remote" "$to_ns"'
		index($0, want) == 1 { print
			found = $4 >= 5 && to_ns($5, $6) > 100e6 && $9 >= 1 && to_ns($10, $11) > 50e6 }
		END { exit !found }'
}

@test "on a terminal a status line comes each second, elsewhere it does not" {
	script -qec "denet-stat -o out -- sleep 1.5" /dev/null >tty </dev/null 3>&- &
	first=$!
	script -qec "denet-stat -q -o quiet -- sleep 1.5" /dev/null >quiet.tty </dev/null 3>&- &
	second=$!
	denet-stat -o plain -- sleep 1.5 2>err
	wait $first
	wait $second
	grep -F '[ denet-stat: 1 s, 1 thread ]' tty
	[ ! -s err ]
	refute grep 'denet-stat: ' quiet.tty
}

# A shell that sleeps, with a child that naps, in which two threads do.
start_family() {
	mkfifo hold
	start_target sh -c "'$naps' 2 100000 10 <hold & read -r line <hold"
	exec 7>hold
	until_true grep -q READY target.out
	child=$(pgrep -P "$target")
	until_true has_two_nappers
	napper=$(grep -lx napper-0 /proc/"$child"/task/*/comm | cut -d/ -f5)
}

has_two_nappers() {
	[ "$(cat /proc/"$child"/task/*/comm | grep -c ^napper)" = 2 ]
}

# threads_of OPTION…: the threads that are counted in a fifth of a second, by name; $as is how to run.
threads_of() {
	${as-} denet-stat --json -o lines "$@" -- sleep 0.2 2>err
	python3 -c '
import json
stat = [json.loads(line) for line in open("lines")][-1]["stat"]
print(" ".join(sorted(t["comm"] for t in stat["threads"])))'
}

@test "threads, processes, their children, CPUs and kernel threads, as chosen" {
	start_family
	[ "$(threads_of -t "$napper")" = napper-0 ]
	[ "$(threads_of -p "$child" | tr -s ' ' '\n' | grep -c napper)" = 2 ]
	refute grep napper <(threads_of -p "$target")
	grep '1 living child .*--children' err
	[ "$(threads_of -p "$target" --children | tr -s ' ' '\n' | grep -c napper)" = 2 ]
	[ ! -s err ]
	# Children that are born later belong to it, unless -i says otherwise.
	denet-stat --json -o lines -- sh -c "'$naps' 1 5 10"
	tail -1 lines | grep -q '"comm":"napper-0"'
	denet-stat --json -i -o lines -- sh -c "'$naps' 1 5 10; :"
	tail -1 lines | refute grep '"comm":"napper-0"'
	refute grep -E 'kworker|rcu_|migration' <(threads_of -a)
	threads_of -a --kernel-threads | grep -E 'kworker|rcu_|migration'
}

@test "of CPUs that are not wanted, no block is counted" {
	start_target taskset -c 0 "$naps" 1 100000 10
	until_true grep -q READY target.out
	[ "$(nproc)" -ge 2 ] || skip "one CPU"
	for cpu in 0 1; do
		denet-stat --json -o "lines$cpu" -C $cpu -p "$target" -- sleep 0.3
	done
	python3 -c '
import json
def total(cpu): return [json.loads(line) for line in open("lines%d" % cpu)][-1]["stat"]["total"]
print(total(0), total(1))
assert total(0)["threads"] == 2 and total(0)["offcpu"]["count"] >= 5
assert total(1)["threads"] == 0 and total(1)["offcpu"]["count"] == 0'
}

@test "an interval has what came since the last one" {
	start_target "$naps" 1 1000 10
	until_true grep -q READY target.out
	denet-stat -I 300 --syscalls -p "$target" -- sleep 1 >out
	cat out
	[ "$(grep -c '^denet-stat: ' out)" -ge 3 ]
	shares_add_up
	# Each has about as many naps, and none those of the ones before.
	awk '$1 == "clock_nanosleep" && $2 ~ /^[0-9]+$/ && NF > 12 { print $2; n++; if ($2 > 60) bad = 1 }
	     END { exit bad || n < 3 }' out
	run -2 denet-stat -I 1 -- true
}

@test "lines of JSON are those of denet, and each thread's parts are its life" {
	denet-stat --json --all --write-env -I 200 -o lines -- "$naps" 3 40 15
	lines_are_right lines >kinds
	sort kinds | uniq -c
	[ "$(head -2 kinds | tr '\n' ' ')" = 'env metadata ' ]
	[ "$(sed 1,2d kinds | sort -u)" = tree ]
	[ "$(wc -l <kinds)" -ge 4 ]
	python3 -c '
import json, sys
lines = [json.loads(line) for line in open("lines")]
assert lines[1]["executable"].endswith("/naps") and lines[1]["cmd"][1:] == ["3", "40", "15"], lines[1]
tasks = 0
for line in lines[2:]:
    stat = line["stat"]
    for task in stat["threads"] + stat["processes"] + stat["commands"] + [stat["total"]]:
        parts = task["running_ns"] + task["runnable_ns"] + task["blocked_ns"]
        assert parts == task["wall_ns"] and task["filtered_ns"] == 0, task
        assert task["offcpu"]["total_ns"] == task["runnable_ns"] + task["blocked_ns"], task
        assert sum(s["total_ns"] for s in task["states"].values()) == task["offcpu"]["total_ns"], task
        tasks += 1
last = lines[-1]
total = last["stat"]["total"]
assert total["threads"] == 4, total
ebpf = last["aggregated"]["ebpf"]
assert ebpf["offcpu"]["total_time_ns"] == total["offcpu"]["total_ns"]
assert ebpf["syscalls"]["total"] == sum(c["count"] for c in total["syscalls"])
assert ebpf["syscalls"]["by_category"]["time"] >= 120
print(tasks, "tasks")'
	denet-stat --json --exclude-children -I 100 -- sleep 0.5 >lines
	[ "$(lines_are_right lines | sort -u | tr '\n' ' ')" = 'metadata sample ' ]
}

@test "off-CPU totals are those of denet-record on the same run" {
	need_perf
	denet-record --state S -o both.data -- \
		denet-stat --json -o lines -- "$naps" 2 60 10 2>/dev/null
	perf script -i both.data -F comm,period,event 2>/dev/null |
		awk '$1 ~ /^napper/ && /offcpu-time|offcpu-idle|queued-time/ { sum[$1] += $2 }
		     END { for (name in sum) printf "%s %.0f\n", name, sum[name] }' | sort >recorded
	cat recorded
	[ "$(wc -l <recorded)" = 2 ]
	python3 -c '
import json
last = [json.loads(line) for line in open("lines")][-1]
counted = {c["comm"]: c["states"]["S"]["total_ns"] for c in last["stat"]["commands"]}
for line in open("recorded"):
    name, ns = line.split()
    print(name, counted[name], ns, counted[name] / int(ns) - 1)
    assert abs(counted[name] - int(ns)) <= 0.001 * int(ns)'
}

@test "without rights it has what /proc tells, says so, and exits as ever" {
	setpriv --inh-caps=-all --bounding-set=-all denet-stat -- \
		sh -c 'sleep 0.5; i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; exit 5' \
		>out 2>err || status=$?
	cat out err
	[ "${status-}" = 5 ]
	[ "$(wc -l <err)" = 1 ]
	grep -E '/proc.*CAP_BPF.*denet-setcap' err
	head -1 out | grep ', by /proc$'
	rows PROCESS | awk "$to_ns"' $1 == "sleep" { ns = to_ns($7, $8); print ns; found = ns > 400e6 && ns < 2e9 }
		END { exit !found }'
	shares_add_up
	setpriv --inh-caps=-all --bounding-set=-all denet-stat --json -- sleep 0.3 >lines 2>err
	[ "$(lines_are_right lines | sort -u | tr '\n' ' ')" = 'metadata tree ' ]
	python3 -c '
import json
last = [json.loads(line) for line in open("lines")][-1]
assert "CAP_BPF" in last["aggregated"]["ebpf"]["error"], last["aggregated"]["ebpf"]'
}

# bats test_tags=whole
@test "without rights the threads are those that were chosen, too" {
	start_family
	as='setpriv --inh-caps=-all --bounding-set=-all'
	[ "$(threads_of -t "$napper")" = napper-0 ]
	[ "$(threads_of -p "$child" | tr -s ' ' '\n' | grep -c napper)" = 2 ]
	refute grep napper <(threads_of -p "$target")
	[ "$(threads_of -p "$target" --children | tr -s ' ' '\n' | grep -c napper)" = 2 ]
	grep /proc err
}

# stat_bottlenecks: the sentences of lines of JSON.
stat_bottlenecks() {
	python3 -c '
import json
offcpu = [json.loads(line) for line in open("lines")][-1]["aggregated"]["ebpf"]["offcpu"]
assert offcpu["stack_traces"] == []
print(*offcpu["bottlenecks"], sep="\n")'
}

@test "sentences name the file and the connection that threads were blocked on" {
	command -v python3 >/dev/null || skip "no python3"
	python=$(realpath "$(command -v python3)")
	# The writer waits for its lock, with another process, for a time that is known.
	denet-stat --syscalls --json -o lines -- "$python" -c '
import fcntl, os, sys, time
file = open("contested", "w")
fcntl.flock(file, fcntl.LOCK_EX)
if not os.fork():
    mine = open("contested", "w")
    fcntl.flock(mine, fcntl.LOCK_EX)
    os._exit(0)
time.sleep(0.5)
fcntl.flock(file, fcntl.LOCK_UN)
os.wait()'
	stat_bottlenecks >said
	cat said
	# Of a deep path, the names at its end: how many depends on where the tests run.
	named=$(sed -En -e "s|^process [0-9]+ \(python3?[.0-9]*\): [0-9]+ % of its blocked time in||" \
		-e 's|^ flock on (\.\.\.)?(/.*/contested) \([45][0-9]{2}\.[0-9]+ ms in 1 call\)$|\2|p' said)
	[ -n "$named" ]
	[[ $PWD/contested == *"$named" ]]
	# A thread that lives, in a call that does not return.
	start_target "$python" -c '
import os, socket, sys
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
client = socket.create_connection(listener.getsockname())
print(*client.getsockname(), *client.getpeername(), flush=True)
client.recv(1)'
	until_true grep -q 127.0.0.1 target.out
	read -r own own_port peer peer_port <target.out
	denet-stat --syscalls --json -o lines -p "$target" -- sleep 0.3
	stat_bottlenecks | grep -E "^thread $target \(python3?[.0-9]*\): 100 % of its blocked time in recvfrom \
on $own:$own_port to $peer:$peer_port \([0-9.]+ ms in 1 call, not returned\)\$"
}

@test "a call's wait for a CPU is not blocked time of the call" {
	command -v python3 >/dev/null || skip "no python3"
	# Both on one CPU: the sleeper waits for it after each of its sleeps.
	start_target taskset -c 0 sh -c 'while :; do :; done'
	denet-stat --syscalls --json -o lines -- taskset -c 0 python3 -c '
import time
end = time.monotonic() + 1
while time.monotonic() < end:
    time.sleep(0.001)'
	python3 -c '
import json
stat = [json.loads(line) for line in open("lines")][-1]["stat"]
total = stat["total"]
blocked = sum(call["blocked_ns"] for call in total["syscalls"])
print(blocked, total["blocked_ns"], total["runnable_ns"])
assert total["runnable_ns"] > total["wall_ns"] / 100
assert total["blocked_ns"] / 2 < blocked <= total["blocked_ns"]
assert all(call["blocked_ns"] <= call["total_ns"] for call in total["syscalls"])'
}

# bats test_tags=whole
@test "what holds commands up" {
	denet-stat --all -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done' >out
	cat out
	rows BEHAVIOUR | grep -E '^all threads +(cpu-bound|starved) +active [0-9]+%: '
	denet-stat --syscalls -- sleep 0.5 >out
	rows BEHAVIOUR | grep -E '^all threads +(idle|starved|mixed|cpu-bound|memory-bound|io-bound) '
	run -2 denet-stat --write-env -- true
}

@test "of users and cgroups that are not wanted, no thread is listed" {
	# One that runs; others of the machine sleep and wait for futexes. -u alone is of all processes.
	start_target sh -c 'echo READY; while :; do :; done'
	until_true grep -q READY target.out
	denet-stat --all -u 54321 -- sleep 0.2 >out
	cat out
	head -1 out | grep -E ' 0 threads of 0 processes$'
	grep -A 1 '^FUTEX ' out | grep -Fx '(none)'
	denet-stat --all -u root -p "$target" -- sleep 0.2 >out
	cat out
	head -1 out | grep -E ' 1 thread of 1 process$'
}

# base FILE: the figures of processes below each title, on one line each, with the columns that the
# longest of their lines has.
base() {
	awk '/^denet-stat: / { on = 1; next }
	     on { longest = length($0) > longest ? length($0) : longest
		  text = text (text ? " " : "") $0
		  if (!/,$/) { print longest, text; on = longest = 0; text = "" } }' "${1:-out}"
}

# in_base FIELD…: of each interval, the numbers behind these words, sizes in MB.
in_base() {
	base | awk -v words="$*" '{
		n = split(words, word, " ")
		for (i = 1; i <= n; i++) {
			found = "-"
			for (j = 1; j < NF; j++)
				if ($j == word[i] || $j == "(" word[i]) { found = $(j + 1); unit = $(j + 2) }
			found += 0
			if (unit ~ /^KB/) found /= 1024
			if (unit ~ /^B/) found /= 1048576
			printf "%s%s", found, i < n ? " " : "\n"
		} }'
}

# start_memory STEP…: each of its steps "line" waits for a line of descriptor 8.
start_memory() {
	mkfifo to
	exec 8<>to
	"$memory" "$@" <to >target.out 3>&- 8>&- &
	target=$! targets+=("$!")
}

# step STEP: lets the target do the next one, and waits for its end.
step() {
	echo >&8
	until grep -q "^$1" target.out; do sleep 0.01; done
}

memory=$build/tests/workloads/memory
pages=$(((64 << 20) / $(getconf PAGESIZE)))

@test "memory, page faults and CPU time are those that a process knows" {
	export -f step
	start_memory wait=0 line fill=64 line burn=300 line free line
	until_true grep -q wait target.out
	used=$(cut -d' ' -f1 "/proc/$target/schedstat")
	denet-stat -o out -p "$target" -- bash -c 'step fill; step burn'
	used=$(($(cut -d' ' -f1 "/proc/$target/schedstat") - used))
	cat out
	read -r longest _ < <(base)
	[ "$longest" -gt 0 ] && [ "$longest" -le 80 ]
	rss=$(awk '$1 == "VmRSS:" { print $2 / 1024 }' "/proc/$target/status")
	in_base RSS | awk -v rss="$rss" '{ print; exit $1 < 64 || $1 < rss - 1 || $1 > rss + 1 }'
	in_base faults | awk -v pages="$pages" '{ print; exit $1 < pages || $1 > pages + 100 }'
	base | grep -E 'CPU [0-9.]+% \([0-9.]+ m?s\), RSS .*, VMS [0-9.]+ MB, 1 thread, up [0-9]+ s, page faults'
	base | grep -oE 'CPU [0-9.]+% \([0-9.]+ m?s' | tr -d '(' |
		awk -v used="$used" "$to_ns"'{ ns = to_ns($3, $4); print ns, used
			exit ns < 300e6 || ns < used - 30e6 || ns > used + 1e6 }'
	# The memory goes, and the peak stays. The faults are those of each interval: none.
	denet-stat -o out -I 300 -p "$target" -- bash -c 'sleep 0.5; step free; sleep 0.5'
	exec 8>&-
	cat out
	in_base RSS peak faults | awk '
		NR == 1 && $1 < 64 || $3 >= 100 { bad = 1 }
		{ print; rss = $1; peak = $2 }
		END { exit bad || NR < 3 || rss >= 32 || peak < 64 || peak > 80 }'
}

# bats test_tags=whole
@test "a command that has ended has the memory that it had last, and its peak" {
	denet-stat -o out -- "$memory" fill=64 wait=1000 free wait=1500
	cat out
	in_base RSS peak | awk '{ exit $1 <= 0 || $1 >= 32 || $2 < 64 || $2 > 80 }'
	in_base faults | awk -v pages="$pages" '{ exit $1 < pages || $1 > pages + 1000 }'
	# So has one that ends between two looks: the kernel knows its peak.
	denet-stat -o out -- "$memory" fill=64
	cat out
	base | grep -E '(RSS|RSS up to|peak) (6[4-9]|7[0-9])\.[0-9] MB'
	# Memory of a process that was measured until a signal came is that of then.
	timeout --foreground -s INT 3 denet-stat -o out -- "$memory" fill=64 wait=100000 || true
	cat out
	in_base RSS | awk '{ exit $1 < 64 || $1 > 80 }'
	# In a tree, the sum.
	mkfifo go
	denet-stat -o out -- sh -c 'exec 7<>go
		"$1" fill=64 line <go >one 7>&- &
		"$1" fill=32 line <go >other 7>&- &
		until grep -q fill one && grep -q fill other; do sleep 0.05; done
		exec "$1" wait=1 wait=100000 >third' sh "$memory" 3>&- &
	tool=$!
	until_true grep -q wait third
	kill -INT "$tool"
	wait "$tool" || true
	cat out
	base | grep -E 'RSS (9[6-9]|1[01][0-9])\.[0-9] MB.*, VMS .*, 3 threads of 3 processes, up '
}

@test "figures of processes with filters, and of the machine" {
	start_memory uid=54321 fill=64 line
	until_true grep -q fill target.out
	denet-stat -o out -u 54321 -- sleep 0.2
	exec 8>&-
	cat out
	in_base RSS | awk '{ exit $1 < 64 || $1 > 80 }'
	base | grep -E ', 1 thread, up '
	denet-stat -o out -a -- sleep 0.2
	cat out
	base | grep -E ', [0-9]+ threads of [0-9]+ processes, up '
}

@test "what is before the delay is not in the counters" {
	denet-stat -o out -D 1000 -- "$memory" fill=64 wait=2000
	cat out
	in_base RSS faults | awk '{ exit $1 < 64 || $1 > 80 || $2 > 1000 }'
}

# bats test_tags=whole
@test "what finds no room is counted, threads as well as their calls" {
	# More processes than there is room for, and more names.
	denet-stat --syscalls --json -I 60000 -o lines -- "$build/tests/workloads/names" 9300
	python3 -c '
import json
stat = [json.loads(line) for line in open("lines")][-1]["stat"]
lost, total = stat["lost"], stat["total"]
calls = {call["name"]: call["count"] for call in total["syscalls"]}
print(lost, total["threads"], calls)
room = 8192 + 1024
assert total["threads"] == room + 1 and calls["prctl"] == room
assert lost["threads"] == 9300 - room
assert 0 < lost["syscalls"] <= 3 * (9300 - room)
# COMMAND, which ends last, has room of its own; what is known by name only is one row.
processes = {task["comm"]: task for task in stat["processes"]}
assert len(processes) == len(stat["processes"]) == 8192 + 2
parent, others = processes["names"], processes["(others)"]
assert parent["pid"] == json.loads(open("lines").readline())["pid"]
assert parent["ended"] and parent["threads"] == 1, parent
assert {call["name"]: call["count"] for call in parent["syscalls"]}["wait4"] == 9300
assert others["pid"] == 0 and others["threads"] == 1024, others
assert next(task for task in stat["commands"] if task["comm"] == "names")["threads"] == 1'
}

@test "lines of one process need one" {
	run -2 denet-stat --json --exclude-children
	[[ "$output" == *"--exclude-children needs -p, -t or a COMMAND"* ]]
	run -2 denet-stat --json --exclude-children -a -- true
	run -2 denet-stat --json --exclude-children -u root -- true
}
