#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# tests: parallel
# The decoder of denet's lines, which other tests trust, refuses what denet would.

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	python3 -c 'import jsonschema' 2>/dev/null || skip 'no python3-jsonschema'
}

@test "unknown kinds, missing fields, wrong types, and what is no JSON are refused" {
	PYTHONPATH=tests/common python3 - <<-'END'
		import json
		import stat_lines

		checker = stat_lines.Checker("Documentation/denet-stat.schema.json")
		good = b'{"kind":"metadata","pid":70000,"cmd":["a"],"executable":"/a","t0_ms":1}'

		def refuses(reason, line):
		    try:
		        checker.decode(line)
		    except (stat_lines.Wrong, ValueError) as error:
		        assert reason in str(error), f"{line}: {error}"
		    else:
		        raise AssertionError(f"taken: {line}")

		assert checker.decode(good)["pid"] == 70000
		refuses("unknown kind 'meta'", good.replace(b"metadata", b"meta"))
		refuses("unknown kind None", b"{}")
		refuses("no t0_ms", good.replace(b',"t0_ms":1', b""))
		refuses("no unsigned number", good.replace(b"70000", b'"70000"'))
		refuses("no unsigned number", good.replace(b"70000", b"-1"))
		refuses("no unsigned number", good.replace(b"70000", b"1.0"))
		refuses("no unsigned number", good.replace(b"70000", b"18446744073709551616"))
		refuses("no unsigned number", good.replace(b"70000", b"true"))
		refuses("no string", good.replace(b'"a"', b"1"))
		refuses("unknown more", good.replace(b"}", b',"more":1}'))
		refuses("a key twice", good.replace(b"}", b',"pid":1}'))
		refuses("no JSON", good.replace(b"70000", b"NaN"))
		refuses("Extra data", good + good)
		refuses("can't decode", good.replace(b"/a", b"\xff"))
		refuses("schema: pid", good.replace(b"70000", b"99999999"))

		# denet's readers have no defaults for the lists of a tree.
		times = dict.fromkeys(["total_time_ns", "avg_time_ns", "max_time_ns", "min_time_ns"], 0)
		lists = {"thread_stats": {}, "bottlenecks": [], "stack_traces": []}
		row = dict.fromkeys(["ts_ms", "cpu_usage", "mem_rss_kb", "mem_vms_kb", "disk_read_bytes",
		    "disk_write_bytes", "sys_net_rx_bytes", "sys_net_tx_bytes", "thread_count",
		    "uptime_secs", "process_count"], 0)
		for name in lists:
		    offcpu = dict(times, total_events=0, top_blocking_threads=[], **lists)
		    del offcpu[name]
		    tree = dict(kind="tree", ts_ms=1, parent=None, children=[],
		                aggregated=dict(row, ebpf=dict(offcpu=offcpu)))
		    refuses(f"no {name}", json.dumps(tree).encode())
	END
}
