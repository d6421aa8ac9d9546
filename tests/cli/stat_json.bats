#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-stat --json: lines that denet decodes, and figures that are true.
# tests: parallel

load lib

needs=root

prepare() {
	python3 -c 'import jsonschema' 2>/dev/null || skip 'no python3-jsonschema'
}

# kinds FILE: the kinds of its lines, one a line; fails unless each is what denet decodes.
kinds() {
	python3 "$top/tests/common/stat_lines.py" "$top/Documentation/denet-stat.schema.json" <"$1"
}

# figures FILE EXPRESSION…: evaluates each as python with lines, trees (the lines of that kind) and
# last (the last of these); fails unless all are true.
figures() {
	python3 - "$@" <<-'END'
		import json, sys

		lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
		trees = [line for line in lines if line["kind"] == "tree"]
		last = trees[-1] if trees else None
		wrong = [text for text in sys.argv[2:] if not eval(text)]
		if wrong:
		    print("not true:", *wrong, sep="\n")
		    print(json.dumps(last)[:8000])
		sys.exit(bool(wrong))
	END
}

# Of a tree's every task, as its sums promise.
conserved='all(task["wall_ns"] == sum(task[key + "_ns"] for key in ("running", "runnable", "blocked", "filtered"))
	for tree in trees for name in ("threads", "processes", "commands") for task in tree["stat"][name])'

@test "lines of a command with children, from the start to the end" {
	denet-stat --json --write-env --all -I 200 -o lines -- \
		sh -c 'sleep 0.5; dd if=/dev/zero of=file bs=1M count=8 2>/dev/null; sleep 0.3' 2>err
	cat err
	kinds lines >kinds
	[ "$(head -2 kinds | tr '\n' ' ')" = 'env metadata ' ]
	[ "$(tail -n +3 kinds | sort -u)" = tree ]
	[ "$(grep -c tree kinds)" -ge 3 ]
	figures lines \
		'lines[0]["kernel"] == __import__("os").uname().release' \
		'lines[1]["cmd"][0] == "sh" and lines[1]["executable"].startswith("/")' \
		'any(child["command"] == "sleep" for tree in trees for child in tree["children"])' \
		'last["stat"]["source"] == "bpf" and "error" not in last["aggregated"]["ebpf"]' \
		'any(call["name"] == "execve" for call in last["stat"]["total"]["syscalls"])' \
		"$conserved"
	# All that the children have written, and the sleeps of two of them.
	figures lines \
		'8 << 20 <= max(tree["aggregated"]["syscall_write_bytes"] for tree in trees) < 9 << 20' \
		'sum(task["offcpu"]["total_ns"] for task in last["stat"]["commands"] if task["comm"] == "sleep") >= 8e8'
}

@test "counters of later lines are no less than those of earlier ones" {
	denet-stat --json --syscalls -I 100 -o lines -- "$naps" 2 50 20 2>err
	kinds lines >kinds
	figures lines 'len(trees) >= 3' "$conserved" \
		'all(a["ts_ms"] <= b["ts_ms"] for a, b in zip(trees, trees[1:]))' \
		'all(a["stat"]["end_ns"] < b["stat"]["end_ns"] for a, b in zip(trees, trees[1:]))' \
		'all(a["aggregated"]["ebpf"][part][key] <= b["aggregated"]["ebpf"][part][key]
		     for a, b in zip(trees, trees[1:])
		     for part, key in (("syscalls", "total"), ("offcpu", "total_time_ns"), ("offcpu", "total_events")))' \
		'all(a["aggregated"][key] <= b["aggregated"][key] for a, b in zip(trees, trees[1:])
		     for key in ("disk_write_bytes", "page_faults_cached"))'
}

@test "what denet has under its keys is what we have under ours" {
	denet-stat --json --syscalls -o lines -- "$naps" 3 20 10 2>err
	kinds lines >kinds
	figures lines \
		'sum(last["aggregated"]["ebpf"]["syscalls"]["by_category"].values()) == last["aggregated"]["ebpf"]["syscalls"]["total"]' \
		'sum(call["count"] for call in last["stat"]["total"]["syscalls"]) == last["aggregated"]["ebpf"]["syscalls"]["total"]' \
		'last["aggregated"]["ebpf"]["offcpu"]["total_time_ns"] == last["stat"]["total"]["offcpu"]["total_ns"]' \
		'last["aggregated"]["ebpf"]["offcpu"]["stack_traces"] == []' \
		'all(last["aggregated"]["ebpf"]["offcpu"]["thread_stats"]["%d:%d" % (task["pid"], task["tid"])]["count"] == task["offcpu"]["count"]
		     for tree in trees for task in last["stat"]["threads"])'
}

@test "names of any bytes" {
	local name=$'a"\\\n\xff\x01'

	cp "$(command -v sleep)" "$name"
	denet-stat --json -I 100 -o lines -- sh -c 'exec "$0" 0.5' "./$name" 2>err
	kinds lines >kinds
	figures lines 'any(task["comm"] == "a\"\\\n\ufffd\x01" for task in last["stat"]["processes"])' \
		'lines[0]["cmd"][0] == "sh" or lines[0]["cmd"][0] == "./a\"\\\n\ufffd\x01"'
}

@test "lines of the first process alone" {
	denet-stat --json --exclude-children -I 100 -o lines -- sh -c 'sleep 0.5; true' 2>err
	[ "$(kinds lines | sort -u | tr '\n' ' ')" = 'metadata sample ' ]
	run -2 denet-stat --exclude-children -- true
	run -2 denet-stat --write-env -- true
}

@test "base metrics are those of the command" {
	# Touches 64 MB and uses a CPU for about half of a second.
	denet-stat --json -I 100 -o lines -- python3 -c '
import time
memory = bytearray(b"x") * (64 << 20)
begin = time.process_time()
while time.process_time() - begin < 0.5: pass
time.sleep(0.3)' 2>err
	kinds lines >kinds
	figures lines \
		'max(tree["parent"]["mem_rss_kb"] for tree in trees if tree["parent"]) >= 64 << 10' \
		'max(tree["parent"]["mem_rss_kb"] for tree in trees if tree["parent"]) < 120 << 10' \
		'max(tree["aggregated"]["cpu_usage"] for tree in trees) <= 130' \
		'last["stat"]["total"]["running_ns"] >= 5e8' \
		'all(tree["aggregated"]["process_count"] == len(tree["children"]) + bool(tree["parent"]) for tree in trees)'
}

@test "what holds a thread up has a name" {
	denet-stat --json --syscalls -o lines -- sleep 0.5 2>err
	figures lines 'last["stat"]["total"]["behaviour"]["class"] == "idle"'
	denet-stat --json --syscalls -o lines -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done' 2>err
	figures lines 'last["stat"]["total"]["behaviour"]["class"] in ("cpu-bound", "starved")'
}

@test "without rights for BPF, figures are those of /proc, and the error says so" {
	command -v setpriv >/dev/null || skip "no setpriv"
	chmod 755 . && cp -L "$build/denet" ./denet-stat && chmod 755 denet-stat
	: >lines && chmod 666 lines
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		./denet-stat --json -I 100 -- sh -c 'sleep 0.5; i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done' \
		>lines 2>err
	cat err
	kinds lines >kinds
	figures lines 'last["aggregated"]["ebpf"]["error"]' 'last["stat"]["source"] == "proc"' "$conserved" \
		'last["stat"]["total"]["blocked_ns"] >= 4e8' 'last["stat"]["total"]["running_ns"] > 0' \
		'last["aggregated"]["ebpf"]["offcpu"]["thread_stats"] is not None'
}
