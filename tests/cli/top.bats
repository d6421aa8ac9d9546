#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-top shows what threads do at the moment at which it looks, and nothing that they do not.
# tests: parallel

load lib
load top

needs=root

# Guests are slow, and run what depends on the kernel.
not_in_guest() {
	[ "${DENET_TEST_GUEST:-0}" != 1 ] || skip "the same with each kernel"
}

# is_waiting PID STATE FUNCTION: blocked in that function of the kernel.
is_waiting() {
	[ "$(sed 's/.*) \(.\) .*/\1/' "/proc/$1/stat" 2>/dev/null)" = "$2" ] && grep -q "$3" "/proc/$1/wchan"
}

@test "a sleeper is idle: it is counted, and shown only if asked for" {
	start_target sleep 1000
	until_true runs "$target" sleep
	denet-top -b -n 1 -I 300 -p "$target" >out 2>err
	cat out
	says_nothing err
	head -1 out | grep -E ' looks: 0\.00 of 1\.0 threads active, 1\.0 idle ones left out(; for [0-9.]+% of a CPU)?$'
	[ "$(grep -c . out)" = 1 ]
	look -n 5 --all-states -p "$target"
	[ "$(wc -l <out)" = 5 ]
	all_are 's["state"] == "SLEEP" and s["comm"] == s["exe"] == "sleep" and s["tid"] == s["tgid"]'
	all_are 's["syscall"] == s["wait"] == "clock_nanosleep" and "nanosleep" in s["wchan"]'
	all_are 's["username"] == "root" and s["weight_us"] % 20000 == 0'
	look -n 1 --state SLEEP -p "$target"
	look -n 1 --syscall nanosleep,clock_nanosleep -p "$target"
	[ "$(wc -l <out)" = 1 ]
	look -n 1 --syscall read --all-states -p "$target"
	[ ! -s out ]
	look -n 1 --state RUN,D -p "$target"
	[ ! -s out ]
}

all_at_futex() {
	[ "$(cat "/proc/$target"/task/*/wchan | grep -o futex | wc -l)" = 4 ]
}

# A semaphore, as a lock of Python is one, looks like a wait for work: that is said.
@test "of the idle ones, those at a futex are counted" {
	not_in_guest
	cat >locked.py <<-'END'
		import threading
		lock = threading.Lock()
		lock.acquire()
		for i in range(3):
		    threading.Thread(target=lock.acquire, daemon=True).start()
		threading.Event().wait()
	END
	start_target python3 locked.py
	until_true all_at_futex
	denet-top -b -n 1 -I 300 -p "$target" >out
	cat out
	head -1 out | grep -qE ' 0\.00 of 4\.0 threads active, 4\.0 idle ones left out \(4\.0 at a futex\)'
}

@test "how long a thread has been in its state is as long as it has been there" {
	start_target sleep 1000
	until_true runs "$target" sleep
	sleep 0.5
	look -n 3 --all-states -p "$target"
	all_are "500000 - $(sched_clock_us) <= s['state_us'] < $(wait_seconds) * 1e6"
}

@test "a busy thread is active all the time, whoever has its CPU while it is looked at" {
	start_target sh -c 'while :; do :; done'
	denet-top -b -n 1 -I 1000 -F 100 -g state -p "$target" >out
	cat out
	head -1 out | grep -E ': 1.00 of 1.0 threads active; for [0-9.]+% of a CPU$'
	awk '$3 == "RUN" || $4 == "RUN" || $3 == "RUNQ" || $4 == "RUNQ" { sum += $1 }
		END { exit !(sum > 0.98 && sum < 1.02) }' out
	look -n 20 -p "$target"
	# Whether a thread that runs is in a call nobody can tell from outside.
	all_are 's["state"] != "RUN" or s["syscall"] == "?" and s["wait"] == "-" and "sysc_arg1" not in s'
}

@test "a thread that waits for a file is active, with the file's path" {
	: >"it's \"a\" file"
	flock -x "it's \"a\" file" sleep 1000 3>&- &
	until_true grep -q FLOCK /proc/locks
	flock -x "it's \"a\" file" true 3>&- &
	until_true is_waiting $! S lock
	look -n 3 -p $!
	all_are 's["state"] == "SLEEP" and s["syscall"] == "flock"'
	# Of a long path the first names are left out.
	all_are "s['filename'].endswith('/it\\'s \"a\" file') and s['sysc_arg1'] == '3'"
	denet-top -b -n 1 -I 200 -g filename,comm2 -p $! >out
	cat out
	grep -F "it's \"a\" file" out
	head -1 out | grep ': 1.00 of 1.0 threads active'
}

@test "a client that waits for an answer is active with its connection, a server that waits is idle" {
	cat >peers.py <<-'EOF'
		import os, socket, sys, time
		s = socket.create_server(("127.0.0.1", 0))
		if os.fork() == 0:
		    c = socket.create_connection(s.getsockname())
		    c.sendall(b"hello")
		    print(os.getpid(), c.getsockname()[1], s.getsockname()[1], flush=True)
		    c.recv(1)
		a, _ = s.accept()
		s.accept()
	EOF
	start_target python3 peers.py
	until_true test -s target.out
	read -r client port server_port <target.out
	until_true is_waiting "$client" S wait_woken
	until_true is_waiting "$target" S accept
	look -n 3 -p "$client,$target"
	all_are "s['tid'] == $client and s['syscall'] in ('recvfrom', 'read')"
	all_are "s['connection'] == 'TCP 127.0.0.1:$port->127.0.0.1:$server_port'"
	all_are "s['conn_state'] == 'ESTABLISHED' and s['extra_info']['tcp']['bytes_acked'] >= 5"
	look -n 1 --all-states -p "$target"
	all_are "s['syscall'] == 'accept4' and s['conn_state'] == 'LISTEN'"
	kill "$client"
}

@test "who polls one connection is active with it as a client, an event loop is idle" {
	[ "$(uname -m)" = x86_64 ] || skip "what is polled is known on x86-64 alone"
	cat >polls.py <<-'EOF'
		import os, select, socket
		def poll(*files):
		    p = select.poll()
		    for f in files:
		        p.register(f, select.POLLIN)
		    p.poll()
		def select_one(*files):
		    select.select(files, [], [])
		s = socket.create_server(("127.0.0.1", 0))
		pids = []
		pipe = os.pipe()[:1]
		for wait, others in (poll, ()), (select_one, ()), (poll, pipe):
		    pids.append(os.fork())
		    if not pids[-1]:
		        wait(socket.create_connection(s.getsockname()), *others)
		        os._exit(0)
		ends = [s.accept()[0] for _ in pids]
		pids.append(os.fork())
		if not pids[-1]:
		    poll(*pipe)
		print(s.getsockname()[1], *pids, flush=True)
		poll(s)
	EOF
	start_target python3 polls.py
	until_true test -s target.out
	read -r port alone selects loop piped <target.out
	for pid in "$alone" "$loop" "$piped" "$target"; do until_true is_waiting "$pid" S poll; done
	until_true is_waiting "$selects" S 'select\|poll'
	look -n 3 -p "$alone,$loop,$piped,$target"
	all_are "s['tid'] == $alone and s['syscall'] == 'poll' and s['conn_state'] == 'ESTABLISHED'"
	all_are "s['connection'].endswith('->127.0.0.1:$port')"
	look -n 1 -p "$selects"
	all_are "s['connection'].endswith('->127.0.0.1:$port')"
	# Of several, the first one is told.
	look -n 1 --all-states -p "$loop"
	all_are "s['connection'].endswith('->127.0.0.1:$port')"
	look -n 1 --all-states -p "$target"
	all_are "s['connection'] == 'TCP 127.0.0.1:$port->0.0.0.0:0' and s['conn_state'] == 'LISTEN'"
	# The user's rules come first.
	for rule in poll:'0\.00 of 1\.0 threads active, 1\.0 idle' -poll:'1\.00 of 1\.0 threads active'; do
		echo "${rule%%:*}" >rules
		pid=$alone
		[ "$rule" = "${rule#-}" ] || pid=$loop
		denet-top -b -n 1 -I 200 --idle rules -p "$pid" >out
		cat out
		head -1 out | grep " ${rule#*:}"
	done
	kill "$alone" "$selects" "$loop" "$piped"
}

@test "Unix sockets have their paths, of either end" {
	cat >ends.py <<-'EOF'
		import os, socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.bind(sys.argv[1].replace("@", "\0"))
		s.listen()
		if os.fork() == 0:
		    c = socket.socket(socket.AF_UNIX)
		    c.connect(s.getsockname())
		    print(os.getpid(), flush=True)
		    c.recv(1)
		a, _ = s.accept()
		a.recv(1)
	EOF
	for path in socket "@denet-test-$$"; do
		start_target python3 ends.py "$path"
		until_true test -s target.out
		client=$(<target.out)
		until_true is_waiting "$client" S unix_stream
		until_true is_waiting "$target" S unix_stream
		look -n 1 --all-states -p "$target"
		all_are "s['extra_info']['unix']['path'] == '${path#@}' and s['comm'] == 'python3'"
		all_are "s['extra_info']['unix'].get('abstract', False) == ('$path'[0] == '@')"
		# The client waits for an answer, the server for the next request.
		look -n 2 -p "$target,$client"
		all_are "s['tid'] == $client and s['extra_info']['unix']['peer_path'] == '${path#@}'"
		all_are "not {'path', 'owner_uid'} & s['extra_info']['unix'].keys()"
		kill "$client"
		wait "$target"
	done
}

# A sender whose peer does not read, with what TCP itself tells of it meanwhile.
# bats test_tags=whole
@test "a connection has the figures of TCP" {
	cat >sender.py <<-'EOF'
		import fcntl, socket, struct, threading, time
		s = socket.create_server(("127.0.0.1", 0))
		c = socket.create_connection(s.getsockname())
		a, _ = s.accept()
		a.sendall(b"unread!")
		def tell():
		    last = None
		    while True:
		        info = c.getsockopt(socket.IPPROTO_TCP, 11, 136)
		        rtt, cwnd, retrans = (struct.unpack_from("=I", info, at)[0] for at in (68, 80, 100))
		        acked, received = struct.unpack_from("=QQ", info, 120)
		        count = bytes(4)
		        unread, unsent = (struct.unpack("=I", fcntl.ioctl(c, what, count))[0]
		                          for what in (0x541b, 0x894b))
		        delivered, ce = struct.unpack_from("=II", c.getsockopt(socket.IPPROTO_TCP, 11, 200), 192)
		        now = [unread, unsent, cwnd, rtt, retrans, acked, received, delivered]
		        if now == last and unsent:
		            print(*now, flush=True)
		            return
		        last = now
		        time.sleep(0.2)
		threading.Thread(target=tell).start()
		c.sendall(bytes(64 << 20))
	EOF
	start_target python3 sender.py
	until_true test -s target.out
	read -r unread unsent cwnd rtt retrans acked received delivered <target.out
	look -n 3 -t "$target"
	[ "$unread" = 7 ]
	all_are "s['syscall'] == 'sendto' and s['state'] == 'SLEEP'"
	all_are "s['extra_info']['tcp']['bytes_unread'] == 7 == s['extra_info']['tcp']['bytes_received']"
	all_are "s['extra_info']['tcp']['bytes_unsent'] == $unsent and $received == 7"
	all_are "s['extra_info']['tcp']['cwnd'] == $cwnd and s['extra_info']['tcp']['srtt_us'] == $rtt"
	all_are "s['extra_info']['tcp']['total_retrans'] == $retrans"
	all_are "s['extra_info']['tcp']['bytes_acked'] == $acked"
	all_are "s['extra_info']['tcp']['delivered'] == $delivered and s['extra_info']['tcp']['delivered_ce'] == 0"
}

@test "requests of io_uring and Linux AIO have their files" {
	: >data
	mkfifo fifo
	for way in uring registered submit wait ring; do
		file=data
		[ $way != submit ] || file=fifo
		"$build/tests/workloads/requests" $way $file 3>&- &
		pids[$((nr++))]=$!
	done
	until_true is_waiting "${pids[0]}" S '' || [ ! -e "/proc/${pids[0]}" ]
	[ -e "/proc/${pids[0]}" ] || skip "no io_uring"
	for pid in "${pids[@]:0:4}"; do until_true is_waiting "$pid" S ''; done
	until_true is_waiting "${pids[4]}" S '' || [ ! -e "/proc/${pids[4]}" ]
	look -n 2 -p "${pids[0]}"
	all_are 's["syscall"] == "io_uring_enter" and s["uringfilename"].endswith("/data")'
	all_are 's["extra_info"]["uring_request"] == "READ" and s["filename"] == "anon_inode:[io_uring]"'
	all_are 's["extra_info"]["uring_cq"] == 1 and "uring_sq" not in s["extra_info"]'
	all_are 's["extra_info"]["uring_opcode"] == 22 and s["extra_info"]["uring_offset"] == 4096'
	all_are 's["extra_info"]["uring_len"] == 512 and s["extra_info"]["uring_rw_flags"] == "0x8"'
	fd=$(find "/proc/${pids[0]}/fd" -lname '*/data' -printf '%f')
	all_are "s['extra_info']['uring_fd'] == $fd and 'uring_flags' not in s['extra_info']"
	all_are 's["extra_info"]["uring_sq_file"] == s["uringfilename"]'
	look -n 2 -p "${pids[1]}"
	all_are 's["uringfilename"].endswith("/data") and s["extra_info"]["uring_reg_idx"] == 0'
	all_are '"uring_fd" not in s["extra_info"] and s["extra_info"]["uring_flags"] == "0x1"'
	look -n 2 --all-states -p "${pids[2]}"
	all_are 's["syscall"] == "io_submit" and s["aiofilename"].endswith("/fifo")'
	all_are 's["extra_info"]["aio_completed"] == 1'
	look -n 2 -p "${pids[3]}"
	all_are 's["syscall"] == "io_getevents" and s["aiofilename"].endswith("/data")'
	all_are 's["extra_info"]["aio_file"] == s["aiofilename"] and s["extra_info"]["aio_completed"] == 0'
	fd=$(find "/proc/${pids[3]}/fd" -lname '*/data' -printf '%f')
	all_are "s['extra_info']['aio_fd'] == $fd"
	# A kernel before 5.18 has no such rings.
	if [ -e "/proc/${pids[4]}" ]; then
		look -n 2 -p "${pids[4]}"
		all_are 's["uringfilename"].endswith("/data") and s["filename"] == "anon_inode:[io_uring]"'
		all_are 's["extra_info"]["uring_request"] == "READ"'
	fi
	denet-top -o dir -F 20 -n 3 -p "${pids[0]},${pids[3]}"
	denet-top -i dir -g wait,aiofilename,uringfilename >out
	cat out
	grep -E 'io_uring_enter .*/data' out
	grep -E 'io_getevents .*/data' out
	# Who writes into a pipe has one reader, which reads it to its end.
	mkfifo rows
	timeout 60 cat dir/xcapture_samples*.csv >rows 3>&- &
	pids[$((nr++))]=$!
	timeout 60 denet-top -b -i rows -g wait,aiofilename,uringfilename >piped
	diff out piped
	grep -E "'\{\"aio_fd\":$fd,\"aio_completed\":0,\"aio_file\":\"/[^\"]*/data\"\}'" dir/xcapture_samples*
}

@test "command lines and containers" {
	mkfifo fifo
	start_target sh -c 'read line <fifo; exec sleep 1000' 'a  b' ''
	look -n 1 --all-states -p "$target"
	all_are "s['cmdline'] == 'sh -c read line <fifo; exec sleep 1000 a  b'"
	denet-top -b -n 1 -I 200 --all-states -g cmdline -p "$target" >out
	grep 'read line <fifo' out
	container=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/docker-$(printf '%064x' $$).scope
	if mkdir "$container" 2>/dev/null && echo "$target" >"$container/cgroup.procs"; then
		look -n 1 --all-states -p "$target" || true
		kill "$target"
		until_true rmdir "$container"
		all_are 's["container"] == "000000000000" and s["cgroup"].endswith(".scope")'
	fi
	look -n 1 -a --all-states
	all_are 's.get("exe") != "[kernel]" or "cmdline" not in s'
}

# start_holders [COMMAND…]: threads that wait for locks which are held, below COMMAND if there is one. Their
# process is $holders; they go on until descriptor 9 is closed.
start_holders() {
	mkfifo gate
	# The gate is opened here, for else nobody waits in it.
	"$@" "$build/tests/workloads/holders" --ms 0 <gate >said 3>&- &
	target=$! holders=$!
	targets+=("$!")
	exec 9>gate
	until_true grep -q READY said
	[ $# = 0 ] || read -r holders _ <"/proc/$target/task/$target/children" || true
	cat said
}

# owners_are TAKE: in out, waiters name the holder that the workload tells of, and what is no mutex has none.
# TAKE has Python say which thread an id of the workload's is, of those whose names are by their tid in names.
owners_are() {
	python3 - "$1" <<-'EOF'
		import json, sys
		samples = [json.loads(line) for line in open("out")]
		names = {s["tid"]: s["comm"] for s in samples}
		take = eval(sys.argv[1])
		waits = [line.split() for line in open("said") if line[:5] in ("mutex", "other")]
		seen = 0
		for what, kind, waiter, *rest in waits:
		    for s in (s for s in samples if s["comm"] == "w-" + kind):
		        seen += 1
		        assert take(s["tid"]) == int(waiter), s
		        owner = s.get("lock_owner")
		        # The words of one that is alike are those of a mutex of thread 2, if there is one.
		        if kind == "alike" and owner and take(owner) == 2:
		            continue
		        # One that processes share is held by another process, which is not looked for further in.
		        if kind == "process" and not owner and take(10 ** 9):
		            continue
		        assert (owner and take(owner)) == (int(rest[0]) if rest else None), s
		        if owner in names:
		            assert names[owner] == "h-" + kind, s
		assert seen >= len(waits), seen
	EOF
}

@test "who sleeps for a mutex has its owner, without anything attached, and with no mutex none" {
	start_holders
	look -n 2 --syscall futex -p "$holders"
	owners_are 'lambda tid: tid if tid < 10 ** 9 else 0'
	# Of all threads the names are known: those of the holders, too.
	look -n 2 --all-states -p "$holders"
	owners_are 'lambda tid: tid if tid < 10 ** 9 else 0'
	denet-top -b -n 1 -I 200 -g comm,lock,lock_owner -p "$holders" >out
	cat out
	read -r waiter owner < <(awk '$2 == "normal" { print $3, $4 }' said)
	grep -E " w-normal +0x[0-9a-f]+ +$owner( |$)" out
	# The child that reads its lock may answer after the first look, where its CPU is busy.
	denet-top -o dir -F 20 -n 5 -p "$holders"
	# Once it is known, it stays so.
	python3 - dir/xcapture_samples* "$waiter" "$owner" <<-'END'
		import csv, sys
		path, waiter, owner = sys.argv[1:]
		lines = csv.DictReader(open(path, newline=""), quotechar="'")
		owners = [s["LOCK_OWNER"] for s in lines if s["TID"] == waiter and s["COMM"] == "w-normal"]
		print(owners)
		assert owner in owners and set(owners[owners.index(owner):]) == {owner}
		assert set(owners[:owners.index(owner)]) <= {""}
	END
	exec 9>&-
	wait "$target"
}

# bats test_tags=whole
@test "an owner that gives its mutex to another one while a third sleeps on, and one that is gone" {
	not_in_guest
	cat >hands.c <<-'EOF'
		#include <pthread.h>
		#include <stdio.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static void say(const char *what) {
			printf("%s %ld\n", what, syscall(SYS_gettid)); fflush(stdout); }
		static void *hold(void *told) {
			pthread_mutex_lock(&lock);
			say(told);
			getchar();
			if (*(char *)told == '1')
				pthread_mutex_unlock(&lock);
			return NULL; /* the second one never unlocks it */ }
		static void *wait_for_it(void *told) { say(told); pthread_mutex_lock(&lock); return NULL; }
		int main(void) {
			pthread_t first, second, waiter;
			pthread_create(&first, NULL, hold, "1");
			usleep(200000);
			pthread_create(&second, NULL, hold, "2");
			usleep(200000);
			pthread_create(&waiter, NULL, wait_for_it, "waiter");
			pthread_join(first, NULL);
			pthread_join(second, NULL);
			say("over");
			pause(); }
	EOF
	gcc -o hands hands.c -pthread 2>/dev/null || skip "no compiler"
	mkfifo keys
	./hands <keys >said 3>&- &
	target=$!
	targets+=("$target")
	exec 9>keys
	until_true grep -q waiter said
	tid=$(awk '$1 == "waiter" { print $2 }' said)
	until_true is_waiting "$tid" S futex
	look -n 2 -t "$tid"
	all_are "s['lock_owner'] == $(awk '$1 == "1" { print $2 }' said)"
	echo >&9
	until_true grep -q '^2' said
	look -n 2 -t "$tid"
	all_are "s['lock_owner'] == $(awk '$1 == "2" { print $2 }' said)"
	echo >&9
	until_true grep -q over said
	look -n 2 -t "$tid"
	all_are '"lock_owner" not in s and s["wait"] == "futex"'
	exec 9>&-
}

@test "ids are those of our PID namespace, and threads outside of it are not there" {
	start_target sleep 1000
	outside=$target
	unshare -p -f --mount-proc sh -c '
		sleep 1000 & sleep 0.3
		denet-top --json -n 1 --all-states >out; echo $! >pid
		denet-top --json -n 1 --all-states -p $! >named
		denet-top --json -n 1 --all-states -t $! >>named
		denet-top --json -n 1 --all-states -p '"$outside"' >outside 2>&1 && echo shown >>outside
		kill $!'
	cat out outside
	all_are 's["tid"] < 100 and s["tgid"] < 100'
	grep "\"tid\":$(cat pid)," out | grep '"comm":"sleep"'
	# Ids that are given are those of the namespace as well; what is outside has none there.
	[ "$(grep -c "\"tid\":$(cat pid)," named)" = 2 ] && [ "$(wc -l <named)" = 2 ]
	refute grep -E 'shown|"tid"' outside
	[ "$(grep -o '"pidns":[0-9]*' out | sort -u)" != "\"pidns\":$(stat -Lc %i /proc/self/ns/pid)" ]
}

# bats test_tags=whole
@test "owners of locks and wakers have ids of our PID namespace" {
	unshare -p -f --mount-proc sh -c "
		'$build/tests/workloads/holders' --ms 600000 >said &
		until grep -q READY said; do sleep 0.05; done
		denet-top --json -F 50 -n 2 --syscall futex --max-overhead 0 -p \$! >out
		denet-top --json -F 50 -n 2 --syscall futex --track offcpu --max-overhead 0 -p \$! >tracked
		kill \$!"
	cat said
	owners_are 'lambda tid: tid if tid < 1000 else 0'
	mv tracked out
	owners_are 'lambda tid: tid if tid < 1000 else 0'
	mkfifo fifo
	unshare -p -f --mount-proc sh -c '
		(while :; do echo; sleep 0.02; done) >fifo & waker=$!
		(while read -r _; do :; done) <fifo & woken=$!
		denet-top --json -F 50 -n 50 --all-states --syscall read --track offcpu --max-overhead 0 -p $woken >out
		echo $waker $woken >pids; kill $waker $woken'
	read -r waker woken <pids
	tail -2 out
	all_are "s['tid'] == $woken and s.get('waker_tid', $waker) == $waker"
	[ "$(grep -c "\"waker_tid\":$waker[,}]" out)" -ge 20 ]
}

@test "a process in a PID namespace below ours has our ids, and so have the owners of its locks" {
	start_holders unshare -p -f --mount-proc
	inner() {
		grep -h NSpid "/proc/$holders/task/"*/status | awk '{ print $2, $NF }' >ids
	}
	inner
	cat ids
	[ "$(awk '$1 != $2' ids | wc -l)" -ge 20 ]
	for tracked in '' '--track offcpu'; do
		# Words on purpose.
		# shellcheck disable=SC2086
		look -n 3 --all-states $tracked -p "$holders"
		owners_are 'dict(list(tuple(map(int, line.split())) for line in open("ids")) + [(10 ** 9, 1)]).get'
	done
	all_are "s['tgid'] == $holders and s['pidns'] == $(stat -Lc %i "/proc/$holders/ns/pid")"
	exec 9>&-
	wait "$target"
}

# bats test_tags=whole
@test "a name may have any byte" {
	not_in_guest
	printf '#include <sys/prctl.h>\n#include <unistd.h>\nint main(void) {
		prctl(PR_SET_NAME, "a\\"\\n\\x1b[1m\\xff,\x27"); puts_ready(); pause(); }' |
		sed 's/puts_ready();/write(1, "1", 1);/' >odd.c
	gcc -o odd odd.c 2>/dev/null || skip "no compiler"
	start_target ./odd
	until_true test -s target.out
	look -n 1 --all-states -p "$target"
	all_are "s['comm'] == 'a\"\\n\\x1b[1m\\ufffd,\\''"
	denet-top -b -n 1 -I 100 --all-states -g comm,state -p "$target" >out
	cat -v out
	[ "$(grep -c . out)" = 3 ]
	refute grep -q "$(printf '\033')" out
}

@test "of a process that has died there are no data of its life" {
	sh -c 'sh -c "exit 3" & exec sleep 1000' 3>&- &
	until_true runs $! sleep
	zombie=$(cat "/proc/$!/task/$!/children")
	[ -n "$zombie" ]
	look -n 2 --all-states -t "${zombie% }"
	all_are 's["state"] == "ZOMBIE" and s["syscall"] == "-" and "exe" not in s and "filename" not in s'
	all_are '"wchan" not in s and "sysc_arg1" not in s'
}

# It takes long to die, beside a thread that wants its CPU, too: registers are those of the call in which
# it was killed.
# bats test_tags=whole
@test "a process that dies is in no call any more" {
	local cpu=0

	cat >large.py <<-'EOF'
		import mmap, os
		free = next(int(line.split()[1]) << 10 for line in open("/proc/meminfo") if "MemAvailable" in line)
		memory = mmap.mmap(-1, min(2 << 30, free // 4 & ~4095))
		memory.madvise(14)  # huge pages, where there are some: the others take longer
		for at in range(0, len(memory), 4096):
		    memory[at] = 1
		print("READY", flush=True)
		os.read(os.pipe()[0], 1)
	EOF
	start_target taskset -c $cpu python3 large.py
	large=$target
	until_true grep -q READY target.out
	until_true is_waiting "$large" S pipe
	start_target taskset -c $cpu sh -c 'while :; do :; done'
	denet-top --json -F 200 --max-overhead 0 --all-states -p "$large" >out 2>err &
	top=$!
	until_true grep -q '"syscall":"read"' out
	kill -KILL "$large"
	wait $top
	# Woken up, it is in its call until it has the CPU; from then on it dies.
	python3 - <<-'END'
		import json
		looks = [s for s in map(json.loads, open("out")) if s["state"] != "SLEEP"]
		first = next((i for i, s in enumerate(looks) if s["syscall"] in "-?"), len(looks))
		print(first, len(looks))
		assert all(s["state"] == "RUNQ" for s in looks[:first]), looks[:first]
		assert all(s["syscall"] in "-?" and "sysc_arg1" not in s for s in looks[first:]), looks
		open("dying", "w").write("\n" * (len(looks) - first))
	END
	[ -s dying ] || skip "it died between two looks"
}

@test "threads by name, by user, and what a command starts" {
	denet-top --json -F 20 -n 20 --all-states -- sh -c 'sleep 7 & sleep 8 & sleep 9' >out
	[ "$(grep -c '"comm":"sleep"' out)" -ge 3 ]
	all_are 's["comm"] in ("sh", "sleep")'
	start_target sh -c 'exec sleep 1000'
	until_true runs "$target" sleep
	look -n 1 --comm sleep --all-states
	all_are 's["comm"] == "sleep"'
	grep -q "\"tid\":$target," out
	look -n 1 --comm slee --all-states
	[ ! -s out ]
	look -n 1 -u 1 --all-states -p "$target"
	[ ! -s out ]
}

# has_all FILE KEY VALUE: each line has it, and there are some.
has_all() {
	[ -s "$1" ] && ! grep -v "\"$2\":$3[,}]" "$1"
}

@test "how often it looks, and at threads of which CPU, cgroup and parent" {
	local group

	not_in_guest
	start_target sh -c 'sleep 1000 & echo $! && wait'
	until_true grep -q . target.out
	read -r child <target.out
	until_true runs "$child" sleep
	denet-top --json -F 60/m -n 1 --all-states -p "$target" >out
	has_all out weight_us 1000000
	denet-top --json -F 2 -n 1 --all-states -p "$target" >out
	has_all out weight_us 500000
	# Once a second, where it is not the screen and nothing else is said.
	denet-top -o dir -n 1 --all-states -p "$target"
	[ "$(cut -d, -f2 dir/xcapture_samples* | sort -u | tr '\n' ' ')" = '1000000 WEIGHT_US ' ]
	look -n 2 --all-states -p "$target"
	has_all out tid "$target"
	look -n 2 --all-states --children -p "$target"
	[ "$(grep -o '"tid":[0-9]*' out | sort -u | wc -l)" = 2 ]
	grep -q "\"tid\":$child," out
	look -n 2 --all-states -C 0
	has_all out cpu 0
	v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$v2" ] || skip "cgroup v2 is not mounted"
	group=$v2/denet-test-$$
	mkdir "$group"
	echo "$child" >"$group/cgroup.procs"
	look -n 2 --all-states -G "$group"
	has_all out tid "$child"
	look -n 2 --all-states --children -p "$target" -G "$group"
	has_all out tid "$child"
	kill "$child"
	until_true sh -c "! grep -q . '$group/cgroup.procs'"
	rmdir "$group"
}

@test "it ends with its targets, with COMMAND and with a signal, and prints what it has" {
	start_target sleep 1000
	denet-top -b -I 200 --all-states -p "$target" >out 3>&- &
	until_true grep -q clock_nanosleep out
	kill "$target"
	until_true gone $!
	# One that has ended before the first look, and one that the look leaves out.
	sleep 0.2 3>&- &
	timeout 20 denet-top -b -D 500 -p $!
	start_target sleep 1000
	denet-top --json -F 20 -n 10 -u 1 -p "$target" -v 2>said >out
	grep '10 looks' said
	run -3 denet-top -b -- sh -c 'exit 3'
	# The interval that the signal ends is printed as well.
	denet-top -b -I 700 -F 50 >out 3>&- &
	until_true grep -q ' looks: ' out
	before=$(grep -c ' looks: ' out)
	sleep 0.5
	kill -INT $!
	wait $!
	[ "$(grep -c ' looks: ' out)" -gt "$before" ]
	denet-top --json -F 50 -a --all-states | head -1 >out
	all_are 's["tid"]'
}

# bats test_tags=whole
@test "time for which it was stopped is told, and in no output" {
	not_in_guest
	start_target sleep 1000
	until_true runs "$target" sleep
	denet-top --json -o dir -F 10 --max-overhead 0 --all-states -p "$target" >out 2>err 3>&- &
	sampler=$!
	denet-top -b -F 10 --all-states -p "$target" >tables 2>tables.err 3>&- &
	tabler=$!
	until_true has_samples dir 5
	kill -STOP "$sampler" "$tabler"
	sleep 4
	kill -CONT "$sampler" "$tabler"
	until_true bigger_than out $(($(stat -c %s out) + 1000))
	kill -INT "$sampler" "$tabler"
	wait "$sampler" "$tabler"
	cat err tables tables.err
	grep -E 'warning: [34]\.[0-9]+ s were not looked at' err tables.err | wc -l | grep -x 2
	grep -E '; [34]\.[0-9]+ s not looked at' tables
	all_are 's["weight_us"] <= 400000'
	csv_is "$(echo dir/xcapture_samples*)" 'int(s["WEIGHT_US"]) <= 400000'
}

@test "a command on a terminal has its terminal, and a table behind it" {
	TERM=xterm script -qec "denet-top -- sh -c 'echo mine; sleep 0.5'" /dev/null >tty </dev/null
	cat tty
	grep -q '^mine' tty
	grep -E ' looks: [0-9.]+ of [0-9.]+ threads active' tty
	refute grep -q $'\e\\[?1049h' tty
}

@test "what cannot be is refused with the option's name" {
	not_in_guest
	for wrong in '-F 0' '-F 1001' '-F 0.5/m' '-F 1/h' '-F nan' '-g comm,comm' '-g nosuch' '-n 0' \
		'--state Q' '-I 1' '-b --json'; do
		# Words on purpose.
		# shellcheck disable=SC2086
		run -2 denet-top $wrong
		[[ "$output" == *"${wrong%% *}"* ]]
	done
	run -1 denet-top -b --syscall nosuch
	[[ "$output" == *"--syscall nosuch: there is no such system call"* ]]
	run -1 denet-top -b --idle /nonexistent
	[[ "$output" == *"/nonexistent"* ]]
}

@test "a rule of the user's makes a thread active" {
	start_target sleep 1000
	until_true runs "$target" sleep
	echo '-clock_nanosleep' >rules
	look -n 1 --idle rules -p "$target"
	all_are 's["syscall"] == "clock_nanosleep"'
}

# csv FILE EXPRESSION: each line that Python's csv reads satisfies it, as a dictionary s.
csv_is() {
	python3 -c '
import csv, sys
lines = list(csv.DictReader(open(sys.argv[1], newline=""), quotechar="\x27"))
assert lines, "no lines"
for s in lines:
    assert None not in s and None not in s.values() and eval(sys.argv[2]), s' "$1" "$2"
}

# has_samples DIR LINES: its files have so many lines at least.
has_samples() {
	[ "$(cat "$1"/xcapture_samples* 2>/dev/null | wc -l)" -ge "$2" ]
}

# The columns of xcapture 3, which its readers know.
xcapture_samples=TIMESTAMP,WEIGHT_US,TID,TGID,PIDNS,CGROUP_ID,STATE,USERNAME,EXE,COMM,SYSCALL,SYSCALL_ACTIVE
xcapture_samples+=,SYSC_ENTRY_TIME,SYSC_NS_SO_FAR,SYSC_SEQ_NUM,IORQ_SEQ_NUM,SYSC_ARG1,SYSC_ARG2,SYSC_ARG3
xcapture_samples+=,SYSC_ARG4,SYSC_ARG5,SYSC_ARG6,FILENAME,CONNECTION,CONN_STATE,EXTRA_INFO,KSTACK_HASH,USTACK_HASH

@test "files of CSV are those of xcapture, with our columns behind" {
	not_in_guest
	: >"it's, \"a\" file"
	flock -x "it's, \"a\" file" sleep 1000 3>&- &
	until_true grep -q FLOCK /proc/locks
	flock -x "it's, \"a\" file" true 3>&- &
	until_true is_waiting $! S lock
	(umask 027 && denet-top -o dir -F 20 -n 5 -p $!)
	[ "$(ls dir | sed 's/_[0-9-]*\.[0-9]*\././' | xargs)" = \
		"xcapture_cgroups.csv xcapture_iorqend.csv xcapture_samples.csv xcapture_syscend.csv" ]
	[ "$(stat -c %a dir dir/xcapture_samples* | xargs)" = "750 640" ]
	samples=$(echo dir/xcapture_samples*)
	[[ "$(head -1 "$samples")" == "$xcapture_samples",* ]]
	csv_is "$samples" "s['FILENAME'].endswith('/it\\'s, \"a\" file') and s['SYSC_ARG1'] == '3'"
	csv_is "$samples" 's["STATE"] == "SLEEP" and s["EXE"] == s["COMM"] == s["SYSCALL"] == "flock"'
	# A look that comes late stands for the periods that went by.
	csv_is "$samples" 'int(s["WEIGHT_US"]) % 50000 == 0 and s["SYSCALL_ACTIVE"] == "?"'
	csv_is "$samples" "s['TID'] == '$!' and int(s['STATE_NS']) > 0 and s['CONNECTION'] == ''"
	grep -qE "^$(date +%Y-%m-%d)T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6},[0-9]+0000," "$samples"
	id=$(python3 -c 'import csv, sys
print(next(csv.DictReader(open(sys.argv[1]), quotechar="\x27"))["CGROUP_ID"])' "$samples")
	grep "^$id,/" dir/xcapture_cgroups*
	denet-top -i dir -g state,filename >out
	cat out
	head -1 out | grep ' looks: 1.00 threads active$'
	grep -F "it's, \"a\" file" out
	# Another one goes on with the file.
	denet-top -o dir -F 20 -n 5 -p $!
	[ "$(grep -c TIMESTAMP "$samples")" = 1 ]
	denet-top -i "$samples" -g state >out
	head -1 out | grep ' 10 looks: '
}

# is_written_in_time DIR…: for 15 s, what is in each DIR.json is in the files of DIR a second later.
is_written_in_time() {
	python3 - "$@" <<-'END'
		import glob, json, sys, time
		end, seen = time.monotonic() + 15, {}
		while time.monotonic() < end:
		    time.sleep(0.02)
		    now = time.monotonic()
		    for name in sys.argv[1:]:
		        for line in open(name + ".json").read().split("\n")[:-1]:
		            seen.setdefault((name, json.loads(line)["timestamp"]), now)
		        files = "".join(open(f).read() for f in glob.glob(name + "/xcapture_samples*"))
		        for of, stamp in [look for look in seen if look[0] == name]:
		            if seen[of, stamp] is True or stamp + "," in files:
		                seen[of, stamp] = True
		            assert seen[of, stamp] is True or now < seen[of, stamp] + 1.05, (of, stamp, now)
		print(len(seen))
		assert sum(at is True for at in seen.values()) > 10 * len(sys.argv[1:])
	END
}

# bats test_tags=whole
@test "what was seen is written within a second, whatever the time between two looks, and no line is cut" {
	not_in_guest
	start_target sleep 1000
	until_true runs "$target" sleep
	# The distance of two looks is from 0 to two periods.
	for hz in 1.3 1.32 1.34 1.36 1.38 50; do
		denet-top --json -o "$hz" -F "$hz" --max-overhead 0 --all-states -p "$target" >"$hz.json" 3>&- &
		samplers[nr++]=$!
		until_true has_samples "$hz" 2
	done
	is_written_in_time 1.3 1.32 1.34 1.36 1.38 50
	kill -KILL "${samplers[@]}"
	for pid in "${samplers[@]}"; do wait "$pid" || true; done
	for hz in 1.3 50; do
		[ "$(tail -c 1 "$hz"/xcapture_samples*)" = "" ]
		csv_is "$(echo "$hz"/xcapture_samples*)" 's["STATE"]'
	done
}

@test "a directory has one writer, and files of others are left alone" {
	not_in_guest
	denet-top -o dir 3>&- &
	until_true has_samples dir 1
	run -1 denet-top -o dir -n 1
	[[ "$output" == *"another denet-top writes there"* ]]
	mkdir others
	echo "$xcapture_samples" >"others/xcapture_samples_$(date +%Y-%m-%d.%H).csv"
	cp -r others before
	denet-top -o others -n 1 --all-states -p $$
	for file in before/*; do cmp "$file" "others/${file#before/}"; done
	denet-top -i others | grep ' 1 looks: '
	run -1 denet-top -o /proc/nowhere -n 1
	run -1 denet-top -i "$PWD/nowhere"
	for option in "-p 1" "-t 1" "-u root" "-a" "--state RUN" "--syscall read" "--comm a" "-F 5" "-k" "-s" "--max-overhead 3" "--kernel-threads" "-w x" "-- true"; do
		run -2 denet-top -i "$PWD/dir" $option
		[[ "$output" == *"-i shows what was recorded; ${option%% *} does not go with it"* ]] ||
			[[ "$option" == "-- true" && "$output" == *"; COMMAND does not go with it"* ]]
	done
	run -1 denet-top -i "$BATS_FILE_TMPDIR/bin"
	[[ "$output" == *"xcapture_samples_"* ]]
	for wrong in '-z' '--retain 7d' '--retain 0h -o x' '-i x --json' '-i x --screen -n 1' \
		'--screen -I 100' '--screen --top 3'; do
		# Words on purpose.
		# shellcheck disable=SC2086
		run -2 denet-top $wrong
	done
}

# is_old_hour HOUR ENDING: each kind of file is there, and nothing else of that hour.
is_old_hour() {
	[ "$(ls dir | grep -F "_$1." | xargs)" = \
		"xcapture_cgroups_$1.$2 xcapture_iorqend_$1.$2 xcapture_samples_$1.$2 xcapture_syscend_$1.$2" ]
}

# The hours before lie there as another run has left them.
# bats test_tags=whole
@test "files of hours that are over are compressed, and those that are too old are deleted" {
	not_in_guest
	old=2020-01-31.10
	recent=$(date -d '30 hours ago' +%Y-%m-%d.%H)
	denet-top -o new -F 20 -n 2 --all-states -p $$
	mkdir dir
	for kind in samples syscend iorqend cgroups; do
		for hour in $old "$recent"; do
			head -3 "$(find new -name "xcapture_${kind}_*" | sort | head -1)" >"dir/xcapture_${kind}_$hour.csv"
		done
	done
	sed "2s/^/2020-01-31T10:00:00.000000/; 3s/^/2020-01-31T10:00:01.000000/" \
		"dir/xcapture_samples_$old.csv" | sed '2,$s/^\(.\{26\}\)[^,]*/\1/' >samples
	mv samples "dir/xcapture_samples_$old.csv"
	: >"dir/.xcapture_samples_$old.csv.zst.part"
	: >dir/notes_2020-01-31.10.csv
	denet-top -z -o dir -F 50 -n 60 --all-states -p $$
	ls -A dir
	rm dir/notes_2020-01-31.10.csv
	is_old_hour $old csv.zst
	is_old_hour "$recent" csv.zst
	[ ! -e "dir/.xcapture_samples_$old.csv.zst.part" ]
	# The hour may have turned.
	ls dir/xcapture_samples_"$(date +%Y-%m-%d)".*.csv
	zstd -dc "dir/xcapture_samples_$old.csv.zst" | grep -c '^2020-01-31T10:00:0[01]' | grep -x 2
	denet-top -i dir | head -1 | grep -E '^2020-01-31T10:00:0[01] .* 6[24] looks: '
	denet-top --retain 7d -o dir -F 20 -n 2 --all-states -p $$
	refute ls dir/xcapture_*_$old.*
	is_old_hour "$recent" csv.zst
	denet-top --retain 100 -o dir -F 20 -n 2 --all-states -p $$
	refute ls dir/xcapture_*_"$recent".*
	ls dir/xcapture_samples_*.csv
}

@test "a recording of xcapture is read" {
	not_in_guest
	{
		echo "$xcapture_samples"
		for i in 1 2 3 4; do
			echo "2026-01-31T10:00:0$i.000000,1000000,7,7,0,1,DISK,'root','dd','it's',read,?,,0,0,0,3,0,0,0,0,0,'f-$i','','','',0,0"
		done
		# Nothing was active for 4 seconds.
		echo "2026-01-31T10:00:09.000000,1000000,7,7,0,1,RUN,'root','dd','dd',-,?,,0,0,0,0,0,0,0,0,0,'-','','','',0,0"
		echo "2026-01-31T10:00:09.000000,1000000,7,7"
	} >xcapture_samples_2026-01-31.10.csv
	denet-top -i . -g state,comm,wait,filenamesum >out 2>err
	cat out err
	grep -E '2026-01-31T10:00:01 +9.000 s, 5 looks: 0.56 threads active$' out
	grep -E "^ +0.44 +80.0% .* DISK +it's +read +f-\*$" out
	grep -E '1 lines were cut or broken' err
	# Its samples have ids of cgroups, whose paths lie beside them.
	printf '%s\n' CGROUP_ID,CGROUP_PATH "1,'/system.slice/docker-$(printf 'ab%.0s' {1..32}).scope'" \
		>xcapture_cgroups_2026-01-31.10.csv
	denet-top -i . -g cgroup,container >out
	cat out
	grep -E ' +0.56 100.0% .* /system.slice/docker-(ab){32}.scope +abababababab$' out
}

@test "kernel stacks begin where a thread waits, and have a hash" {
	start_target sleep 1000
	until_true runs "$target" sleep
	look -n 3 --all-states -k -p "$target"
	all_are 's["kstack"].startswith(s["wchan"] + ";") and "nanosleep" in s["kstack"]'
	[ "$(grep -o '"kstack_hash":"[^"]*"' out | sort -u | wc -l)" = 1 ]
	denet-top -k -o dir -F 20 -n 3 --all-states -p "$target"
	hash=$(sed 's/.*"kstack_hash":"\([^"]*\)".*/\1/' out | head -1)
	csv_is "$(echo dir/xcapture_samples*)" "s['KSTACK_HASH'] == '$hash'"
	[ "$(head -1 dir/xcapture_kstacks*)" = KSTACK_HASH,KSTACK_SYMS ]
	[ "$(wc -l <"$(echo dir/xcapture_kstacks*)")" = 2 ]
	grep -E "^$hash,[a-z_.0-9]+\+0x[0-9a-f]+;.*nanosleep" dir/xcapture_kstacks*
	denet-top -b -n 1 -I 200 --all-states -g kstack -p "$target" >out
	grep nanosleep out
}

@test "stacks of threads that do not run are walked once, and with --stack-every seldom" {
	start_target sleep 1000
	until_true runs "$target" sleep
	start_target "$build/tests/workloads/waits" --count 1000 --ms 30
	until_true test -s target.out
	look -n 30 -k -s --all-states -a
	python3 - <<-'EOF'
		import json
		stacks = {}
		for s in map(json.loads, open("out")):
		    # A stack that is not walked again begins where the thread waits as well.
		    if s["state"] not in ("RUN", "RUNQ", "ZOMBIE", "DEAD") and s.get("wchan"):
		        assert s["kstack"].startswith(s["wchan"] + ";"), s
		    if s["comm"] in ("w-pipe", "w-poll", "w-nanosleep") and s["state"] == "SLEEP":
		        stacks.setdefault((s["comm"], s["wait"]), set()).add(s["kstack"])
		print(stacks)
		assert all(w[2:] in stack for (w, wait), all in stacks.items() if wait == w[2:] for stack in all)
	EOF
	look -n 7 -k -s --stack-every 3 --all-states -t "$(cut -d' ' -f1 /proc/$$/stat)"
	python3 - <<-'EOF'
		import json
		has = ["kstack" in s and "ustack" in s for s in map(json.loads, open("out"))]
		assert has == [i % 3 == 0 for i in range(7)], has
	EOF
	# Looks without stacks are in the time of those with: shares of stacks stay what they are.
	denet-top -k -w top.data -F 50 -n 10 --stack-every 3 --all-states -t $$
	denet-top -i top.data -g kstack >out
	cat out
	head -1 out | grep -E ' 4 looks: 1\.00 threads active$'
	grep -E '1.00 100.0% .*wait;' out
	denet-top -b -n 1 -I 400 -F 50 --stack-every 4 -g kstack --all-states -t $$ >out
	cat out
	grep -E '1.00 100.0% .*wait;' out
	# No table is of an interval that has no look with stacks.
	denet-top --max-overhead 0 -b -n 2 -I 200 -F 50 --stack-every 50 -g kstack --all-states -t $$ >out
	cat out
	[ "$(grep -cE ', [1-9][0-9]* looks: 1\.00 of 1\.0 threads active' out)" -eq 2 ]
}

# bats test_tags=whole
@test "columns of functions take the stacks that they need" {
	not_in_guest
	start_target sleep 1000
	until_true runs "$target" sleep
	denet-top -b -n 1 -I 500 -g kfunc,ufunc --all-states -p "$target" >out
	cat out
	grep -qE '^ +1\.00 100\.0% +#+ +[a-z_]*nanosleep[a-z_]* +[a-z_]*nanosleep' out
}

# What is read then is another stack: its memory is written over while it sleeps.
@test "the stack of a thread that sleeps on is not read again" {
	not_in_guest
	start_target sleep 1000
	until_true runs "$target" sleep
	denet-top --json -s -F 10 --all-states -p "$target" >out 2>err &
	top=$!
	until_true grep -q '"ustack":"[^"]*;__libc_start_main' out
	python3 - "$target" <<-'END'
		import sys
		pid = sys.argv[1]
		sp = int(open(f"/proc/{pid}/syscall").read().split()[-2], 16)
		end = next(int(line.split("-")[1].split()[0], 16)
		           for line in open(f"/proc/{pid}/maps") if "[stack]" in line)
		with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
		    memory.seek(sp)
		    memory.write(bytes(end - sp))
	END
	looks=$(wc -l <out)
	until_true sh -c "[ \$(wc -l <out) -ge $((looks + 10)) ]"
	kill -INT "$top"
	wait "$top"
	tail -8 out | grep -c '"ustack":"[^"]*;__libc_start_main' | grep -qx 8
	look -n 1 -s --all-states -p "$target"
	refute grep -q '__libc_start_main' out
}

@test "a perf.data file has the time of the samples as periods of thread-state, with chains" {
	not_in_guest
	need_perf
	start_target sh -c 'while :; do :; done'
	busy=$target
	start_target sleep 1000
	until_true runs "$target" sleep
	denet-top -k -w top.data -F 50 -n 20 --all-states -p "$busy,$target"
	[ "$(perf evlist -i top.data)" = thread-state ]
	perf script -i top.data -F comm,pid,tid,period,event 2>/dev/null >script
	awk -v target="$target" '$2 == target "/" target && $1 == "sleep" { ns += $3; n++ }
		END { print ns, n; exit !(n == 20 && ns >= 400e6) }' script
	perf report -i top.data --stdio --sort comm -g none 2>/dev/null | grep -E '50\.00%.* sleep'
	for version in 5.10 6.1 6.12 7; do
		reader $version version >/dev/null 2>&1 || continue
		reader $version script -i top.data -F comm,pid,tid,period,event 2>/dev/null |
			diff -w script -
	done
	# Each chain ends in the kind of its time.
	perf script -i top.data -F ip,sym 2>/dev/null >chains
	[ "$(grep -cF '[idle]' chains)" = 20 ]
	[ "$(grep -cE '\[(running|runnable)\]' chains)" = 20 ]
	grep nanosleep chains
	denet-report -i top.data --idle >report
	cat report
	grep -E 'nanosleep' report
	grep -E '\(running\)' report
	denet-report -i top.data --idle --folded | awk '/^offcpu-idle;sleep;.*nanosleep/ { ns += $NF }
		END { print ns; exit !(ns >= 400e6) }'
}

@test "a perf.data file is read back, with the names of its functions" {
	not_in_guest
	start_target sh -c 'while :; do :; done'
	busy=$target
	start_target "$build/tests/workloads/waits" --count 1000 --ms 200
	until_true test -s target.out
	denet-top -k -s -w top.data -F 50 -n 20 --all-states -p "$busy,$target"
	denet-top -i top.data -g state,comm,wait,tgid >out
	cat out
	# Each of the looks met each of the threads.
	head -1 out | grep -E "^$(date +%Y-%m-%d)T.* 20 looks: [0-9]+\.00 threads active$"
	awk -v busy="$busy" '/ RUNQ? / && $(NF - 1) == busy || $NF == busy { sum += $1 }
		END { print sum; exit !(sum > 0.99 && sum < 1.01) }' out
	grep -E " SLEEP +w-pipe +[a-z_]*pipe_read +$target" out
	denet-top -i top.data -g comm,kstack,ustack >stacks
	grep -E 'w-nanosleep +[a-z_]*nanosleep;.*wait_nanosleep;repeat_wait;start_waiting' stacks
	# Two tables of a part of it have as many looks in all.
	denet-top -i top.data -I 200 >out
	[ $(($(sed -nE 's/.* ([0-9]+) looks:.*/\1/p' out | paste -sd+))) = 20 ]
	denet-record -B -o other.data -- "$naps" 1 1 1
	run -1 denet-top -i other.data
	[[ "$output" == *"other.data is a recording of denet-record and not of denet-top"* ]]
	head -c 200 top.data >cut.data
	run -1 denet-top -i cut.data
	echo PERFILE2PERFILE2PERFILE2 >broken.data
	run -1 denet-top -i broken.data
	[[ "$output" == *broken.data* ]]
}

@test "user stacks lead from the wait to the thread's start" {
	start_target "$build/tests/workloads/waits" --count 1000 --ms 200
	until_true test -s target.out
	look -n 10 -s --all-states -p "$target"
	python3 - <<-'EOF'
		import json
		stacks = {}
		for s in map(json.loads, open("out")):
		    stacks.setdefault(s["comm"], set()).add(s.get("ustack", ""))
		print(stacks)
		for way in "nanosleep", "futex", "pipe", "poll", "epoll":
		    found = [s.split(";") for s in stacks["w-" + way] if s]
		    assert found, way
		    for frames in found:
		        assert frames[:3] == ["wait_" + way, "repeat_wait", "start_waiting"], frames
		        assert frames[3] == "start_thread" or frames[3].startswith("libc"), frames
	EOF
	need_perf
	denet-top -s -k -o dir -w top.data -F 50 -n 20 --all-states -p "$target"
	perf script -i top.data -F comm,ip,sym 2>/dev/null |
		awk '/^w-nanosleep/ { on = 1 } !NF { on = 0 } on { printf "%s ", $2 }' >chains
	grep -E '__x64_sys_clock_nanosleep .*wait_nanosleep repeat_wait start_waiting' chains
	denet-report -i top.data --idle --folded | grep -E 'w-nanosleep;.*start_waiting;repeat_wait;wait_nanosleep;'
	hash=$(sed -n 's/.*"comm":"w-pipe".*"ustack_hash":"\([^"]*\)".*/\1/p' out | sort -u)
	grep -E "^$hash,wait_pipe;repeat_wait;start_waiting" dir/xcapture_ustacks*
	csv_is "$(echo dir/xcapture_samples*)" "s['COMM'] != 'w-pipe' or s['USTACK_HASH'] in ('$hash', '0')"
}

@test "user stacks of programs without frame pointers lead to their start" {
	[ "$(uname -m)" = x86_64 ] || skip "only x86-64 has tables"
	start_target sleep 1000
	until_true runs "$target" sleep
	for mode in auto fp; do
		look -n 3 -s --call-graph $mode --all-states -p "$target"
		mv out $mode
		cat $mode
	done
	python3 - <<-'EOF'
		import json
		frames = {}
		for mode in "auto", "fp":
		    all = [json.loads(line)["ustack"].split(";") for line in open(mode)]
		    # From the first look on, and the same at each.
		    assert len(all) == 3 and all[1:] == all[:-1], all
		    frames[mode] = all[0]
		print(frames)
		# The wait, main() and the C library that calls it, and where the program begins.
		assert "nanosleep" in frames["auto"][0], frames
		assert any(frame.startswith("__libc_start_main") for frame in frames["auto"]), frames
		assert frames["auto"][-1].startswith(("sleep+0x", "_start")), frames
		assert len(frames["fp"]) < len(frames["auto"]) - 2, frames
	EOF
}

# Its text is longer than 8 KB.
@test "a deep stack of long names reaches its root in all outputs" {
	not_in_guest
	start_target "$build/tests/workloads/deep"
	until_true is_waiting "$target" S pause
	look -n 2 -s --all-states -p "$target"
	python3 - <<-'EOF'
		import json
		for s in map(json.loads, open("out")):
		    frames = s["ustack"].split(";")
		    down = [frame for frame in frames if frame.startswith("go_down_")]
		    assert len(down) == 110 and len(s["ustack"]) > 8192, frames
		    assert frames.index("main") > frames.index(down[-1]), frames
	EOF
	denet-top -o dir -s -F 20 -n 3 --all-states -p "$target"
	grep -E '^[0-9a-f]+,.*;main(;|$)' dir/xcapture_ustacks*
	denet-top -i dir -g ustack >table
	grep -E ';main(;| |$)' table
	denet-top -w top.data -s -F 20 -n 3 --all-states -p "$target"
	denet-top -i top.data -g ustack >table
	grep -E ';main(;| |$)' table
}

naps_in_made_code() {
	look -n 3 -s --all-states -p "$target" &&
		grep -E '"ustack":"[^"]*nap[^"]*;jit_nap;main' out
}

@test "user functions without a name are offsets in their file, and code of a runtime has its names" {
	not_in_guest
	cp "$build/tests/workloads/waits" stripped
	strip stripped
	start_target ./stripped --count 1000 --ms 200
	until_true test -s target.out
	look -n 3 -s --all-states -p "$target"
	all_are 's["comm"] != "w-pipe" or "ustack" not in s or s["ustack"].startswith("stripped+0x")'
	grep -F '"comm":"w-pipe"' out | grep -F '"ustack":"stripped+0x'
	start_target "$build/tests/workloads/jitted" 1000 50
	until_true grep -q READY target.out
	# A look may find it on its way between two naps, and on a busy machine three of them.
	until_true naps_in_made_code
}
