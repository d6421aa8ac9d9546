#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What denet-top's looks add up to, and how many it takes: beside another load they are others.

load ../cli/lib
load ../cli/top

needs=root

@test "shares of lock, disk and CPU are those that the program has, within the sampling error" {
	denet-top --json -F 200 --max-overhead 0 --no-inherit -- "$build/tests/workloads/shares" --ms 2000 >out 2>said || status=$?
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
		for what in "lock", "disk", "cpu":
		    p = truth[what] / total
		    seen = us.get(what, 0) * 1000
		    # Five standard errors of the looks at 200 Hz that met it, and what waits for a CPU can hide.
		    error = 5 * (p * (1 - p) / (total / 5e6)) ** 0.5 + 0.05
		    assert abs(seen - truth[what]) < error * total, (what, seen, truth[what], error)
	EOF
}

@test "shares of files, calls and stacks are those that the program measures" {
	[ "${DENET_TEST_GUEST:-0}" != 1 ] || skip "the same with each kernel"
	mkfifo first second
	cat >waits.py <<-'EOF'
		import os, time
		ns = {"first": 0, "second": 0, "sleep": 0}
		def wait(name, function, *args):
		    began = time.monotonic_ns()
		    function(*args)
		    ns[name] += time.monotonic_ns() - began
		if not os.fork():
		    ends = [os.open(name, os.O_WRONLY) for name in ("first", "second")]
		    for i in range(40):
		        time.sleep(0.03)
		        os.write(ends[0], b"x")
		        time.sleep(0.02)
		        os.write(ends[1], b"x")
		    os._exit(0)
		ends = [os.open(name, os.O_RDONLY) for name in ("first", "second")]
		for i in range(40):
		    wait("first", os.read, ends[0], 1)
		    wait("second", os.read, ends[1], 1)
		    wait("sleep", time.sleep, 0.01)
		os.wait()
		print(os.getpid(), ns["first"], ns["second"], ns["sleep"])
	EOF
	denet-top --json -F 400 --all-states -k -s --max-overhead 0 -- python3 waits.py >out 2>said
	cat said
	python3 - $(grep '^[0-9]' said) <<-'EOF'
		import json, sys
		pid, first, second, asleep = map(int, sys.argv[1:])
		samples = [s for s in map(json.loads, open("out"))
		           if s["tid"] == pid and s.get("exe", "").startswith("python")]
		def seen(condition):
		    return 1000 * sum(s["weight_us"] for s in samples if condition(s))
		def reads(name):
		    return lambda s: s["state"] == "SLEEP" and s.get("filename", "").endswith("/" + name)
		def stands_in(function, stack="kstack"):
		    return lambda s: function in ";" + s.get(stack, "")
		def calls(name):
		    return lambda s: s["state"] == "SLEEP" and s["syscall"] == name
		total = first + second + asleep
		for name, truth, condition in (
		        ("first", first, reads("first")), ("second", second, reads("second")),
		        ("pipe_read", first + second, stands_in("pipe_read")),
		        ("nanosleep", asleep, stands_in("hrtimer_nanosleep")),
		        ("read(2)", first + second, calls("read")),
		        ("clock_nanosleep(2)", asleep, calls("clock_nanosleep")),
		        ("read()", first + second, stands_in(";read;", "ustack")),
		        ("clock_nanosleep()", asleep, stands_in("clock_nanosleep", "ustack"))):
		    p = truth / total
		    # Five standard errors of the looks, and what comes before and behind a wait.
		    error = 5 * (p * (1 - p) / (total / 2.5e6)) ** 0.5 + 0.03
		    print(name, p, seen(condition) / total, error)
		    assert abs(seen(condition) - truth) < error * total, (name, seen(condition), truth)
	EOF
}

@test "looks are less frequent where they cost more than --max-overhead, and stand for more time" {
	[ "${DENET_TEST_GUEST:-0}" != 1 ] || skip "the same with each kernel"
	start_target sh -c 'while :; do :; done'
	denet-top -v -b -n 3 -I 3000 -F 1000 --max-overhead 0.5 -g state -p "$target" >out 2>err
	cat out err
	grep -c 'warning: own CPU time is .* more than --max-overhead: .* a look each' err | grep -x 1
	grep -E '[0-9]+ looks, for [0-9.]+ % of a CPU' err
	[ "$(sed -nE 's/.* ([0-9]+) looks: .*/\1/p' out | tail -1)" -lt 2100 ]
	[ "$(grep -cE ': 1.00 of 1.0 threads active; for [0-9.]+% of a CPU$' out)" = 3 ]
	# By the last table it is known what looks cost. A loaded machine makes some of them dearer.
	sed -nE 's/.* looks: .*; for ([0-9.]+)% of a CPU$/\1/p' out | tail -1 |
		awk '{ print; exit !($1 > 0 && $1 <= 0.8) }'
	denet-top -v -b -n 1 -I 1500 -F 1000 --max-overhead 0 -g state -p "$target" >out 2>err
	refute grep overhead err
}

# Each look takes longer than a nap, and has its CPU meanwhile: the nappers, which it meets last, have
# mostly been woken up by then.
@test "threads that wake up on the CPU of a look during it are asleep, as without the look" {
	local crowd=0 last=0 tries=0

	[ "${DENET_TEST_GUEST:-0}" != 1 ] || skip "the same with each kernel"
	# Threads are looked at in the order of their numbers, which begin again at some time.
	while [ $tries = 0 ] || [ "$last" -ge "$target" ]; do
		[ $((tries++)) -lt 3 ]
		[ "$crowd" = 0 ] || kill "$crowd"
		start_target "$build/tests/workloads/crowd" --processes 2000 --ms 60000
		crowd=$target
		until_true grep -q READY target.out
		last=$(pgrep -P "$crowd" | sort -n | tail -1)
		start_target taskset -c 0 "$build/tests/workloads/naps" 8 60000 1
	done
	until_true grep -q READY target.out
	taskset -c 0 denet-top --json --all-states -F 20 --max-overhead 0 -p "$target" -- sleep 2 >out
	python3 - <<-'EOF'
		import json
		states = [s["state"] for s in map(json.loads, open("out")) if s["comm"].startswith("napper")]
		queued = states.count("RUNQ")
		print(len(states), "samples,", queued, "RUNQ,", states.count("SLEEP"), "SLEEP")
		assert len(states) >= 80 and queued < len(states) / 3
	EOF
}
