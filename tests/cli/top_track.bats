#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-top --track: exact times of calls, states and requests, and who woke a thread up. As many looks
# as were asked for are taken, whatever they cost.
# tests: parallel

load lib
load top

needs=root
bpffs=

clean_up() {
	[ -z "$bpffs" ] || { umount "$bpffs" && rmdir "$bpffs"; }
	[ -z "${loop:-}" ] || losetup -d "$loop"
}

make_bpffs() {
	bpffs=$(mktemp -d /tmp/bpffs-XXXXXX)
	mount -t bpf bpf "$bpffs"
	mkdir "$bpffs/dir"
	pin=$bpffs/dir
}

# has_samples DIR LINES: its files have so many lines at least.
has_samples() {
	[ "$(cat "$1"/xcapture_samples* 2>/dev/null | wc -l)" -ge "$2" ]
}

@test "a call has its time so far and its number, and its end is told if it was sampled" {
	cat >nap.py <<-'END'
		import os, time
		for i in range(20):
		    time.sleep(0.05)
		    for j in range(50):
		        os.getppid()
	END
	denet-top --max-overhead 0 --track syscalls -o dir -F 100 --all-states -- python3 nap.py 2>err
	cat err
	says_nothing err
	csv_of dir '
naps = [s for s in samples if s["SYSCALL"] == s["SYSCALL_ACTIVE"] == "clock_nanosleep"]
ends = {(e["TID"], e["SYSC_SEQ_NUM"]): e for e in syscend if e["SYSCALL_NAME"] == "clock_nanosleep"}
assert len(naps) > 50 and 20 - '"$(missed_naps)"' <= len(ends) <= 20, (len(naps), len(ends))
assert all(e["TYPE"] == "SYSC_END" and e["SYSC_RET_VAL"] == "0" for e in ends.values())
# They sleep until a time that is chosen before the call: on a busy machine some calls are shorter,
# and some threads sleep longer.
ns = sorted(int(e["DURATION_NS"]) for e in ends.values())
assert ns[len(ns) // 4] >= 50e6 and ns[len(ns) // 2] < 80e6, ns
for s in naps:
    e = ends[s["TID"], s["SYSC_SEQ_NUM"]]
    assert s["SYSC_ENTRY_TIME"] == e["SYSC_ENTER_TIME"] and s["TGID"] == e["TGID"], (s, e)
    # A call may begin between the time of a look and its look at that thread.
    assert int(s["SYSC_NS_SO_FAR"]) <= int(e["DURATION_NS"]), (s, e)
    assert int(s["SYSC_NS_SO_FAR"]) > 0 or s["TIMESTAMP"] <= s["SYSC_ENTRY_TIME"], (s, e)
# Between two naps there were at least these calls.
seqs = sorted(int(e["SYSC_SEQ_NUM"]) for e in ends.values())
assert all(b - a >= 51 for a, b in zip(seqs, seqs[1:])), seqs
# Nothing that no look has met.
met = {(s["TID"], s["SYSC_SEQ_NUM"]) for s in samples}
assert all((e["TID"], e["SYSC_SEQ_NUM"]) in met for e in syscend)'
	# Looks of the first 10 ms of a nap count as such of 50 ms as well, since it has ended.
	denet-top -b -i dir --top 99 -g syscall,sysc_time >ended
	cat ended
	awk '/clock_nanosleep +1?10+ms\+ / { long += $1 } /clock_nanosleep/ { all += $1 }
		END { exit !(all > 0 && long == all) }' ended
	denet-top -b -i dir --times call -g syscall >took
	cat took
	grep -q ' CALL P50 .* CALL P99' took
	# "ACTIVE SHARE BAR CALL P50 UNIT P99 UNIT"
	awk '/clock_nanosleep/ { ms = $(NF - 3); ok = $(NF - 2) == "ms" && ms >= 50 && ms < 500 } END { exit !ok }' took
	rm dir/xcapture_syscend*
	denet-top -b -i dir --top 99 -g syscall,sysc_time >so_far
	cat so_far
	grep -qE 'clock_nanosleep +([0-9]+us|1ms)\+ ' so_far
}

# In some looks the call was known.
has_known_calls() {
	[ "$(grep -c sysc_seq_num out)" -ge 10 ]
}

@test "a call that had begun before is not known, and the next one is" {
	start_target python3 -c '
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
while True: signal.sigtimedwait({signal.SIGUSR1}, 1000)'
	until_true grep -q sigtimedwait "/proc/$target/wchan"
	denet-top --max-overhead 0 --json -F 50 --track syscalls --all-states -p "$target" >out 3>&- &
	until_true grep -q . out
	kill -USR1 "$target"
	until_true has_known_calls
	kill -INT $!
	wait $!
	python3 - "$(one_look_us)" <<-'END'
		import json, sys
		lines = [json.loads(line) for line in open("out")]
		first, last = lines[0], lines[-1]
		assert first["syscall"] == last["syscall"] == last["syscall_active"] == "rt_sigtimedwait"
		assert first["syscall_active"] == "?" and "sysc_us_so_far" not in first, first
		assert last["sysc_us_so_far"] <= last["state_us"] + int(sys.argv[1]), last
		assert last["sysc_seq_num"] >= 1 and last["sysc_entry_time"] < last["timestamp"], last
	END
}

@test "with --min-time all calls are told, as many as strace counts" {
	command -v strace >/dev/null || skip "no strace"
	calls=$build/tests/workloads/calls
	strace -c -f -o strace.out "$calls"
	denet-top --max-overhead 0 --track syscalls --min-time 0 -o dir -F 10 -- "$calls" 2>err
	cat err
	says_nothing err
	for name in gettid close clock_nanosleep kill; do
		wanted=$(awk -v name="$name" '$NF == name { print $4 }' strace.out)
		got=$(grep -c "^SYSC_END,.*,'$name'," dir/xcapture_syscend* || true)
		echo "$name: ${wanted:-0} $got"
		# What the C library's start and COMMAND's way there do of their own is not the same.
		[ "${wanted:-0}" -le "$got" ] && [ "$got" -le $((${wanted:-0} + 12)) ]
	done
	denet-top --max-overhead 0 --track syscalls --min-time 800us -o long -F 10 -- "$calls"
	csv_of long '
naps = [e for e in syscend if e["SYSCALL_NAME"] == "clock_nanosleep"]
assert len(naps) >= 20, len(naps)
met = {(s["TID"], s["SYSC_SEQ_NUM"]) for s in samples}
assert all(int(e["DURATION_NS"]) >= 800e3 or (e["TID"], e["SYSC_SEQ_NUM"]) in met for e in syscend)'
}

# The target has started its threads.
has_waiters() {
	cat "/proc/$target"/task/*/comm 2>/dev/null | grep -q '^w-'
}

@test "the state's time is exact, and the waker is named" {
	start_target "$build/tests/workloads/wakes" --count 100000 --ms 30
	until_true has_waiters
	look -n 60 --track offcpu --all-states -p "$target"
	python3 - "$(usual_wait_us 30000)" <<-'END'
		import json, sys
		lines = [json.loads(line) for line in open("out")]
		waits = [s for s in lines if s["comm"].startswith("w-") and s["state"] == "SLEEP"]
		seen = [s for s in waits if "state_since" in s]
		print(len(lines), len(waits), len(seen), {(s["comm"], s.get("waker")) for s in waits})
		assert len(seen) > 30 and len(seen) > 0.9 * len(waits)
		# A busy machine makes some of them longer.
		assert sorted(s["state_us"] for s in seen)[len(seen) // 2] < int(sys.argv[1])
		# Its pair wakes it up, but for those that a timer wakes up.
		named = [s for s in waits if "waker" in s]
		for s in named:
		    assert s["waker"] in ("k" + s["comm"][1:], "[interrupt]"), s
		    assert s["waker"] == "[interrupt]" or s["waker_tid"] != s["tid"]
		assert sum(s["waker"][0] == "k" for s in named) > 0.7 * len(named)
	END
	kill "$target"
	# A sleeper is woken up by a timer.
	look --track offcpu --all-states -- python3 -c '
import time
for i in range(40): time.sleep(0.03)'
	python3 - <<-'END'
		import json
		naps = [s for s in map(json.loads, open("out")) if s["wait"] == "clock_nanosleep"]
		wakers = [s.get("waker") for s in naps]
		print(wakers)
		assert wakers.count("[interrupt]") > 0.7 * len(wakers)
	END
}

@test "a lock has its owner" {
	mkfifo ends
	"$build/tests/workloads/holders" --ms 0 <ends >target.out 3>&- &
	exec 4>ends
	until_true grep -q READY target.out
	cat target.out
	pid=$!
	# They sleep since before: who held their locks then was not seen, but is read.
	look -n 1 --track offcpu --syscall futex -p "$pid"
	[ "$(grep -c '"lock_owner"' out)" -ge "$(grep -c ^mutex target.out)" ]
	exec 4>&-
	wait "$pid"
	cat >lock.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static void *wait_for_it(void *arg) { pthread_mutex_lock(&lock); return arg; }
		int main(void) {
			pthread_t thread;
			pthread_mutex_lock(&lock);
			pthread_create(&thread, NULL, wait_for_it, NULL);
			usleep(700000);
			pthread_mutex_unlock(&lock);
			return pthread_join(thread, NULL); }
	END
	gcc -o lock lock.c -pthread 2>/dev/null || skip "no compiler"
	look --track offcpu --syscall futex -- ./lock
	# None is known where the lock was given away between the look and the reading.
	all_are 's["tid"] == s["tgid"] or s.get("lock_owner", s["tgid"]) == s["tgid"]'
	[ "$(grep -c lock_owner out)" -ge 10 ]
	[ "$(grep '"state":"SLEEP"' out | grep -vc lock_owner)" -le 2 ]
}

@test "requests are as many as the device has, with its times, and those in flight are seen" {
	truncate -s 64M disk
	loop=$(losetup -f --show "$PWD/disk" 2>/dev/null) || skip "no loop device"
	name=${loop##*/}
	read -r -a before <"/sys/block/$name/stat"
	denet-top --max-overhead 0 --track block --min-time 0 -o all -F 1000 -- \
		dd if=/dev/zero of="$loop" bs=64k count=900 oflag=direct 2>err
	read -r -a after <"/sys/block/$name/stat"
	export minor writes sectors ticks
	minor=$(stat -c %T "$loop") writes=$((after[4] - before[4])) sectors=$((after[6] - before[6]))
	ticks=$((after[7] - before[7]))
	cat err
	echo "$writes writes, $sectors sectors, $ticks ms"
	csv_of all '
import os
def env(name): return int(os.environ[name])
ours = [r for r in iorqend if (r["DEV_MAJ"], int(r["DEV_MIN"], 10)) == ("7", int(os.environ["minor"], 16))]
writes = [r for r in ours if r["IORQ_FLAGS"].startswith("WRITE")]
print(len(ours), writes[0])
assert len(writes) == env("writes"), (len(writes), env("writes"))
assert sum(int(r["BYTES"]) for r in writes) == 512 * env("sectors")
assert sorted(int(r["SECTOR"]) for r in writes) == [128 * i for i in range(len(writes))]
assert all(r["TYPE"] == "IORQ_END" and r["ERROR"] == "0" for r in writes)
assert all(int(r["DURATION_NS"]) == int(r["SERVICE_NS"]) + int(r["QUEUED_NS"]) for r in writes)
ms = sum(int(r["DURATION_NS"]) for r in writes) / 1e6
print(ms)
assert 0.7 * env("ticks") - 1 <= ms <= env("ticks") + 1
seqs = [int(r["IORQ_SEQ_NUM"]) for r in writes]
assert len(set(seqs)) == len(seqs) and len({r["INSERT_TID"] for r in writes}) == 1
# A sample with a request in flight has its number: a write here, or a read of the program file before.
busy = [s for s in samples if s["IORQ_SEQ_NUM"] != "0"]
print(len(samples), len(busy))
told = {(r["INSERT_TID"], r["IORQ_SEQ_NUM"]) for r in iorqend}
strange = [s for s in busy if (s["TID"], s["IORQ_SEQ_NUM"]) not in told]
assert not strange, strange[:3]
assert any(s["TID"] == writes[0]["INSERT_TID"] and int(s["IORQ_SEQ_NUM"]) in seqs for s in busy)
assert all(int(s["IORQ_IN_FLIGHT"]) >= 1 for s in busy)'
	denet-top --max-overhead 0 --track block -o met -F 1000 -- dd if=/dev/zero of="$loop" bs=64k count=900 oflag=direct
	csv_of met '
met = {(s["TID"], s["IORQ_SEQ_NUM"]) for s in samples if s["IORQ_SEQ_NUM"] != "0"}
ends = {(r["INSERT_TID"], r["IORQ_SEQ_NUM"]) for r in iorqend}
print(len(met), len(ends))
assert met and len(ends) < 500
# One that ended while it was looked at is not told.
assert len(met - ends) <= 0.1 * len(met) + 1 and len(ends - met) <= len(ends) / 2'
}

@test "samplers share a tracker by its pins, and the last one takes it away" {
	make_bpffs
	start_target sh -c 'while :; do sleep 0.05; done'
	denet-top --max-overhead 0 --track syscalls,offcpu --pin "$pin" -o one -F 50 --all-states -p "$target" 2>err1 3>&- &
	first=$!
	until_true has_samples one 20
	{ bpf_objects "$first"; ls "$pin"; } >before
	grep -q '^prog ' before
	denet-top --max-overhead 0 --track syscalls --pin "$pin" -o two -F 50 -n 50 --all-states -p "$target" --min-time 1ms 2>err2
	cat err1 err2
	says_nothing err2
	csv_of two 'assert any(s["SYSC_ENTRY_TIME"] for s in samples) and syscend'
	# It has left nothing, and the first one goes on.
	{ bpf_objects "$first"; ls "$pin"; } | diff before -
	denet-top --max-overhead 0 --track offcpu --pin "$pin" -o three -F 50 --all-states -p "$target" 3>&- &
	third=$!
	until_true has_samples three 20
	kill -INT "$first"
	wait "$first"
	[ -e "$pin/denet_tasks" ]
	lines=$(cat three/xcapture_samples* | wc -l)
	until_true has_samples three $((lines + 50))
	# Of its children, those that are being born have had no switch yet; nor has a look that comes
	# in the middle of one the time of it.
	csv_of three "
since = [s['STATE_SINCE'] for s in samples[-50:] if s['TID'] == '$target']
print(since)
assert len([t for t in since if t]) > 0.7 * len(since)"
	kill -INT "$third"
	wait "$third"
	ls -la "$pin"
	[ -z "$(ls "$pin")" ]
}

@test "a sampler gets nothing of the one that had its place before" {
	make_bpffs
	start_target sh -c 'while :; do sleep 0.001; done'
	former=$target
	start_target sleep 1000
	denet-top --max-overhead 0 --track syscalls --pin "$pin" -o one -F 50 -p "$target" 3>&- &
	first=$!
	until_true test -e "$pin/denet_threads"
	denet-top --max-overhead 0 --track syscalls --pin "$pin" -o two --min-time 0 -F 50 --all-states -p "$former" 3>&- &
	second=$!
	until_true has_samples two 20
	kill -KILL "$second"
	wait "$second" || true
	# Requests that this one lost are those of before.
	bpftool map update pinned "$pin/denet_common" key 0 0 0 0 value \
		$(bpftool -j map dump pinned "$pin/denet_common" | python3 -c '
import json, sys
value = json.load(sys.stdin)[0]["value"]
value[32] = "0x07"
print(*value)') || skip "no bpftool"
	denet-top --max-overhead 0 --track syscalls --pin "$pin" -o three --min-time 0 -F 50 -n 20 --all-states -p "$target" 2>err
	kill -INT "$first"
	wait "$first"
	cat err
	says_nothing err
	csv_of two 'assert syscend'
	csv_of three 'assert samples and not syscend, syscend[:3]'
}

# bats test_tags=whole
@test "what a killed sampler has left is taken away by the next one" {
	make_bpffs
	: mine
	mkdir "$pin/mine"
	denet-top --max-overhead 0 --track syscalls,offcpu,block --pin "$pin" -o one -F 50 3>&- &
	first=$!
	until_true has_samples one 1
	bpf_objects "$first" >objects
	grep -q '^prog ' objects
	kill -KILL "$first"
	wait "$first" || true
	[ -e "$pin/denet_threads" ]
	look -n 5 --track syscalls --pin "$pin" --all-states
	[ "$(ls "$pin")" = mine ]
	until_true none_exists objects
	# One that is killed beside another gives its place to the next.
	denet-top --max-overhead 0 --track syscalls --pin "$pin" -o two -F 50 3>&- &
	first=$!
	until_true has_samples two 1
	for i in 1 2 3 4 5 6 7 8 9 10; do
		denet-top --max-overhead 0 --track syscalls --pin "$pin" -o "kill$i" -F 50 3>&- &
		until_true has_samples "kill$i" 1
		kill -KILL $!
		wait $! || true
	done
	kill -INT "$first"
	wait "$first"
	[ "$(ls "$pin")" = mine ]
}

# Who may read the table finds the target in it, with all that has become known of it.
tells_the_target() {
	setpriv --reuid 65534 --regid 65534 --clear-groups cat "$pin/denet_threads" >table
	grep -E "^$target $target odd_na_me SLEEP [0-9]{1,9} clock_nanosleep [0-9]{1,9} [1-9][0-9]* 0 0 \[interrupt\]$" table
}

@test "the pinned iterator is a table for whoever may read it" {
	make_bpffs
	chmod 755 "$bpffs" "$pin"
	start_target python3 -c '
import ctypes, time
ctypes.CDLL(None).prctl(15, b"odd na\nme", 0, 0, 0)
while True: time.sleep(0.3)'
	until_true grep -q odd "/proc/$target/comm"
	denet-top --max-overhead 0 --track syscalls,offcpu --pin "$pin" -o one -F 50 3>&- &
	first=$!
	until_true has_samples one 1
	[ "$(stat -c %a "$pin/denet_threads")" = 444 ]
	until_true tells_the_target
	head -3 table
	[ "$(head -1 table)" = \
		"TID TGID COMM STATE STATE_NS SYSCALL SYSC_NS SYSC_SEQ_NUM IORQ_SEQ_NUM WAKER_TID WAKER" ]
	awk 'NF != 11 { print; bad = 1 } END { exit bad }' table
	[ "$(wc -l <table)" -gt 20 ]
	kill -INT "$first"
	wait "$first"
	# The umask keeps others out.
	(umask 077 && exec denet-top --max-overhead 0 --track syscalls --pin "$pin" -o two -F 50) 3>&- &
	first=$!
	until_true has_samples two 1
	[ "$(stat -c %a "$pin/denet_threads")" = 400 ]
	! setpriv --reuid 65534 --regid 65534 --clear-groups cat "$pin/denet_threads"
	kill -INT "$first"
	wait "$first"
}

@test "what --pin and --track cannot do is said" {
	run -2 denet-top --track nosuch
	[[ "$output" == *"--track"*"syscalls, offcpu, block"* ]]
	run -2 denet-top --pin /sys/fs/bpf
	run -2 denet-top --min-time 1ms
	run -2 denet-top --min-time 1ms --track syscalls
	run -2 denet-top -i x --track syscalls
	run -1 denet-top -n 1 --track offcpu --pin "$PWD"
	[[ "$output" == *"--pin $PWD: this is no BPF file system"* ]]
	run -1 denet-top -n 1 --track offcpu --pin "$PWD/nowhere"
	[[ "$output" == *"there is no such directory"* ]]
	make_bpffs
	chmod 755 "$bpffs" "$pin"
	run -1 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		"$build/denet-top" -n 1 --track offcpu --pin "$pin"
	echo "$output"
	[[ "$output" == *"--pin $pin: cannot write into the directory"* ]] || [[ "$output" == *ermission* ]]
	denet-top --max-overhead 0 --track offcpu --pin "$pin" -o one -F 50 3>&- &
	first=$!
	until_true has_samples one 1
	run -1 denet-top -n 1 --track syscalls --pin "$pin"
	[[ "$output" == *"for offcpu only"* ]]
	# Another version's.
	bpftool map update pinned "$pin/denet_common" key 0 0 0 0 value \
		0x64 0x74 0x72 0x6b 99 0 0 0 2 0 0 0 $(yes 0 | head -36) || skip "no bpftool"
	run -1 denet-top -n 1 --track offcpu --pin "$pin"
	[[ "$output" == *"another version"* ]]
	kill -INT "$first"
	wait "$first"
	[ -z "$(ls "$pin")" ]
}
