#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-top in each kernel, by two looks at threads that wait in all ways: what tests/cli/top.bats has
# in detail.

load ../cli/lib

needs=root

clean_up() {
	[ -z "${bpffs:-}" ] || { umount "$bpffs" && rmdir "$bpffs"; }
}

@test "threads have their states, calls, objects and stacks" {
	start_target "$build/tests/workloads/waits" --count 1000 --ms 2000
	until_true test -s target.out
	denet-top --json -k -s -F 2 -n 3 --all-states -p "$target" >out
	python3 - "$target" <<-'EOF'
		import json, sys
		threads = {}
		for s in map(json.loads, open("out")):
		    assert s["tgid"] == int(sys.argv[1]) and s["username"] == "root", s
		    threads.setdefault(s["comm"], []).append(s)
		print(*(s for all in threads.values() for s in all), sep="\n")
		for way, call in ("nanosleep", "clock_nanosleep"), ("futex", "futex"), ("pipe", "read"), \
		        ("poll", "poll"), ("epoll", "epoll_wait"):
		    asleep = [s for s in threads["w-" + way] if s["state"] == "SLEEP"]
		    assert asleep, way
		    for s in asleep:
		        assert s["syscall"] in (call, "p" + call, "epoll_pwait"), s
		        assert 0 < s["state_us"] < 60e6 and s["kstack"].startswith(s["wchan"] + ";"), s
		        assert s["cmdline"].endswith("waits --count 1000 --ms 2000"), s
		assert any(s.get("filename", "").startswith("pipe:[") for s in threads["w-pipe"])
		assert any("wait_futex;repeat_wait" in s.get("ustack", "") for s in threads["w-futex"])
	EOF
}

@test "calls and requests are tracked with their times, and a pinned iterator tells of threads" {
	denet-top --max-overhead 0 --track syscalls,offcpu,block --min-time 10ms -o dir -F 5 -- \
		"$naps" 1 5 30 >said 2>err
	cat err dir/xcapture_syscend*
	refute grep -v READY err
	# The columns: type, tid, tgid, name, ns, result, number, begin.
	[ "$(grep -c "^SYSC_END,.*'clock_nanosleep'" dir/xcapture_syscend*)" -ge 5 ]
	awk -F , '/clock_nanosleep/ && $5 < 29e6 { print; bad = 1 } END { exit bad }' dir/xcapture_syscend*
	bpffs=$(mktemp -d /tmp/bpffs-XXXXXX)
	mount -t bpf bpf "$bpffs"
	mkdir "$bpffs/dir"
	start_target sleep 1000
	until_true runs "$target" sleep
	denet-top --max-overhead 0 --track syscalls,offcpu --pin "$bpffs/dir" -o pinned -F 5 3>&- &
	sampler=$!
	until_true grep -qs "^$target " "$bpffs/dir/denet_threads"
	grep "^$target $target sleep SLEEP " "$bpffs/dir/denet_threads"
	kill -INT "$sampler"
	wait "$sampler"
	[ -z "$(ls "$bpffs/dir")" ]
}
