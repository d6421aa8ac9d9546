#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-stat --json: the base metrics of a tree of processes are those that its processes know.
# tests: parallel

load lib

needs=root

prepare() {
	python3 -c 'import jsonschema' 2>/dev/null || skip 'no python3-jsonschema'
}

# figures FILE EXPRESSION…: fails unless each line is what denet decodes, and each expression of
# python is true. It may use trees (the lines of that kind), pairs (of neighbours), first and last.
figures() {
	PYTHONPATH=$top/tests/common python3 - "$top/Documentation/denet-stat.schema.json" "$@" <<-'END'
		import json, sys
		import stat_lines

		checker = stat_lines.Checker(sys.argv[1])
		lines = [checker.decode(line) for line in open(sys.argv[2], "rb")]
		trees = [line for line in lines if line["kind"] == "tree"]
		first, last, pairs = lines[0], trees[-1], list(zip(trees, trees[1:]))
		wrong = [text for text in sys.argv[3:] if not eval(f"({text})")]
		if wrong:
		    print("not true:", *wrong, sep="\n")
		    print(json.dumps(last)[:3000])
		sys.exit(bool(wrong))
	END
}

@test "bytes, faults and CPU time of children that have ended are in the sums" {
	denet-stat --json -I 200 -o lines -- \
		sh -c 'sleep 0.5; dd if=/dev/zero of=file bs=1M count=8 2>/dev/null; sleep 0.3' 2>err
	figures lines \
		'any(child["command"] == "sleep" for tree in trees for child in tree["children"])' \
		'8 << 20 <= last["aggregated"]["syscall_write_bytes"] < (8 << 20) + 4096' \
		'last["parent"]["mem_rss_kb"] == 0 and last["children"] == []' \
		'sum(task["offcpu"]["total_ns"] for task in last["stat"]["commands"] if task["comm"] == "sleep") >= 8e8'
}

@test "counters of later lines are no less than those of earlier ones" {
	denet-stat --json --syscalls -I 100 -o lines -- "$naps" 2 50 20 2>err
	figures lines 'len(trees) >= 3' \
		'all(a["ts_ms"] <= b["ts_ms"] and a["stat"]["end_ns"] < b["stat"]["end_ns"] for a, b in pairs)' \
		'all(a["aggregated"]["ebpf"][part][key] <= b["aggregated"]["ebpf"][part][key] for a, b in pairs
		     for part, key in (("syscalls", "total"), ("offcpu", "total_time_ns"), ("offcpu", "total_events")))' \
		'all(a["aggregated"][key] <= b["aggregated"][key] for a, b in pairs for key in
		     ("disk_read_bytes", "disk_write_bytes", "syscall_write_bytes", "page_faults_cached"))' \
		'all(tree["aggregated"]["process_count"] == len(tree["children"]) + bool(tree["parent"]) for tree in trees)'
}

@test "names of any bytes are strings of JSON" {
	local name=$'a"\\\n\xff\x01'

	cp "$(command -v sleep)" "$name"
	denet-stat --json -I 100 -o lines -- "./$name" 0.5 2>err
	figures lines 'any(task["comm"] == "a\"\\\n\ufffd\x01" for task in last["stat"]["processes"])' \
		'first["cmd"] == ["./a\"\\\n\ufffd\x01", "0.5"]'
}

@test "memory is that of the command" {
	local page=4096

	# Memory comes in huge pages where the machine always uses them.
	grep -qF '[always]' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null && page=2097152
	# The buffer is almost full while its last bytes are waited for.
	denet-stat --json -I 100 -o lines -- sh -c '(head -c 64M /dev/zero; sleep 0.5; echo) |
		dd of=/dev/null bs=65M count=1 iflag=fullblock' 2>err
	figures lines '64 << 10 <= max(tree["aggregated"]["mem_rss_kb"] for tree in trees) < 80 << 10' \
		"last['aggregated']['page_faults_cached'] >= (64 << 20) / $page"
}

# bats test_tags=whole
@test "CPU time, memory, threads and faults of a process are those of /proc" {
	command -v python3 >/dev/null || skip "no python3"
	start_target "$(realpath "$(command -v python3)")" -c '
import threading, time
for i in range(3):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print("READY", flush=True)
while True:
    until = time.thread_time() + 0.02
    while time.thread_time() < until:
        pass
    time.sleep(0.02)'
	until_true grep -q READY target.out
	# Read by the command, whose output goes to standard error: denet-stat may take seconds to start.
	# shellcheck disable=SC2016
	denet-stat --json -I 250 -o lines -p "$target" -- sh -c \
		'cat "/proc/$0/stat"; sleep 1.5; cat "/proc/$0/stat"' "$target" 2>stats
	read -r used faults < <(awk -v hz="$(getconf CLK_TCK)" '
		{ sub(/.*\) /, ""); now = ($12 + $13) / hz }
		NR == 1 { before = now }
		END { print now - before, $8 }' stats)
	awk -v used="$used" 'BEGIN { exit used < 0.1 }'
	cp "/proc/$target/status" status
	kib() { awk -v key="$1:" '$1 == key { print $2 }' status; }
	figures lines \
		"last['parent']['thread_count'] == $(kib Threads) == 4" \
		"last['parent']['mem_vms_kb'] == $(kib VmSize)" \
		"abs(last['parent']['mem_rss_kb'] - $(kib VmRSS)) <= 1024" \
		"last['parent']['page_faults_cached'] <= $faults" \
		"abs(sum(b['parent']['cpu_usage'] * (b['ts_ms'] - a['ts_ms']) for a, b in pairs) / 1e5 -
		     $used) <= 0.35 * $used" \
		'last["parent"]["uptime_secs"] >= 1'
}

@test "arguments are those of the process, without what its title leaves empty" {
	command -v python3 >/dev/null || skip "no python3"
	# A title that is shorter than the arguments, with NULs behind it.
	start_target "$(realpath "$(command -v python3)")" -c '
import ctypes, os, time
stat = open("/proc/self/stat").read().rpartition(")")[2].split()
start, end = int(stat[45]), int(stat[46])
ctypes.memset(start, 0, end - start)
ctypes.memmove(start, b"a title", 7)
print("READY", flush=True)
time.sleep(1000)'
	until_true grep -q READY target.out
	denet-stat --json -o lines -p "$target" -- sleep 0.1
	figures lines 'first["cmd"] == ["a title"]'
	start_target sleep 1000
	until_true runs "$target" sleep
	denet-stat --json -o lines -p "$target" -- sleep 0.1
	figures lines 'first["cmd"] == ["sleep", "1000"]'
}
