#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-top shows what threads do at the moment at which it looks, and nothing that they do not.

load lib

needs=root

# samples_of FILTER…: lines of JSON of so many looks at the targets, in out.
look() {
	denet-top --json -F 50 "$@" >out 2>err || { cat err; return 1; }
	[ ! -s err ] || { cat err; return 1; }
}

# all_are EXPRESSION: each line of out satisfies it, with the keys of its line in a dictionary s.
all_are() {
	python3 -c '
import json, sys
lines = [json.loads(line) for line in open("out")]
assert lines, "no samples"
for s in lines:
    assert eval(sys.argv[1]), s' "$1"
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
	[ ! -s err ]
	head -1 out | grep -E ' looks: 0\.00 of 1\.0 threads active, 1\.0 idle ones left out$'
	[ "$(grep -c . out)" = 1 ]
	look -n 5 --all-states -p "$target"
	[ "$(wc -l <out)" = 5 ]
	all_are 's["state"] == "SLEEP" and s["comm"] == s["exe"] == "sleep" and s["tid"] == s["tgid"]'
	all_are 's["syscall"] == s["wait"] == "clock_nanosleep" and "nanosleep" in s["wchan"]'
	all_are 's["username"] == "root" and s["weight_us"] == 20000'
	look -n 1 --state SLEEP -p "$target"
	look -n 1 --syscall nanosleep,clock_nanosleep -p "$target"
	[ "$(wc -l <out)" = 1 ]
	look -n 1 --syscall read --all-states -p "$target"
	[ ! -s out ]
	look -n 1 --state RUN,D -p "$target"
	[ ! -s out ]
}

@test "how long a thread has been in its state is as long as it has been there" {
	start_target sleep 1000
	until_true runs "$target" sleep
	before=$(date +%s%N)
	sleep 0.5
	look -n 3 --all-states -p "$target"
	after=$(($(date +%s%N) - before + 50000000))
	all_are "490000 <= s['state_us'] <= $after / 1000 + 60000000 and s['state_us'] < 30e6"
}

@test "a busy thread is active all the time, whoever has its CPU while it is looked at" {
	start_target sh -c 'while :; do :; done'
	denet-top -b -n 1 -I 1000 -F 100 -g state -p "$target" >out
	cat out
	head -1 out | grep ': 1.00 of 1.0 threads active$'
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
	all_are "s['filename'] == '$PWD/it\\'s \"a\" file' and s['sysc_arg1'] == '3'"
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

@test "ids are those of our PID namespace, and threads outside of it are not there" {
	unshare -p -f --mount-proc sh -c '
		sleep 1000 & sleep 0.3
		denet-top --json -n 1 --all-states >out; echo $! >pid; kill $!'
	cat out
	all_are 's["tid"] < 100'
	grep "\"tid\":$(cat pid)," out | grep '"comm":"sleep"'
}

@test "a name may have any byte" {
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

@test "threads by name, by user, and what a command starts" {
	denet-top --json -F 20 -n 3 --all-states -- sh -c 'sleep 7 & sleep 8 & sleep 9' >out
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

@test "shares of lock, disk and CPU are those that the program has, within the sampling error" {
	denet-top --json -F 200 -i -- "$build/tests/workloads/shares" --ms 2000 >out 2>said || status=$?
	[ "${status:-0}" != 77 ] || skip "no disk that one waits for"
	cat said
	python3 - <<-'EOF'
		import json
		truth = {}
		for line in open("said"):
		    if line.startswith("truth"):
		        f = dict(w.split("=") for w in line.split()[1:])
		        truth[f["what"]] = int(f["bracket"]) or int(f["requested"])
		us = {}
		for s in map(json.loads, open("out")):
		    if s["comm"] != "shares":
		        continue
		    what = {"RUN": "cpu", "RUNQ": "queue", "DISK": "disk"}.get(s["state"])
		    if s["state"] == "SLEEP":
		        what = "lock" if s["syscall"] == "futex" else "disk"
		    us[what] = us.get(what, 0) + s["weight_us"]
		total = sum(truth.values())
		print(truth, us)
		for what in "lock", "cpu":
		    p = truth[what] / total
		    seen = us.get(what, 0) * 1000
		    # Five standard errors of so many looks, and what the other states can hide.
		    error = 5 * (p * (1 - p) / 400) ** 0.5 + 0.05
		    assert abs(seen - truth[what]) < error * total, (what, seen, truth[what], error)
	EOF
}

@test "it ends with its targets, with COMMAND and with a signal, and prints what it has" {
	sleep 0.5 3>&- &
	timeout 20 denet-top -b --all-states -p $! >out
	grep clock_nanosleep out
	run -3 denet-top -b -- sh -c 'exit 3'
	denet-top -b -I 100000 >out 3>&- &
	sleep 0.5
	kill -INT $!
	wait $!
	grep -q ' looks: ' out
	denet-top --json -F 50 -a --all-states | head -1 >out
	all_are 's["tid"]'
}

@test "what cannot be is refused with the option's name" {
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
