#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# --call-graph tables: user chains of what was built without frame pointers, without copies.
# tests: parallel

load lib

# file_chain FILE: addresses of the user frames of its longest sample, leaf first, a line each.
file_chain() {
	file_chains "$1" | sort -s -n -k 3,3 | awk '{ frames = $4 } END {
		n = split(frames, frame, ",")
		for (i = 1; i <= n; i++) print frame[i] }'
}

# by_tables NUMBER: of the line of -v on walks by tables, that number.
by_tables() {
	sed -n 's/.*user stacks by unwind tables: //p' <<<"$output" | grep -oE '^[0-9]+|, [0-9]+' |
		sed -n "$1s/^, //;$1p"
}

# record OPTION…: denet-record -v --call-graph tables; skips the test where there are none.
record() {
	run -0 denet-record -v --call-graph tables "$@"
	[[ "$output" != *'are not walked by unwind tables'* ]] || skip "$output"
}

write_naps() {
	cat >naps.py <<-'END'
		import time
		for i in range(300): time.sleep(0.001)
		time.sleep(0.3)
	END
}

@test "chains are whole without copies once their tables are there" {
	write_naps
	record --off-cpu-thresh 0 -- /usr/bin/python3 naps.py
	file_chain perf.data >ours
	[ "$(wc -l <ours)" -ge 8 ]
	[[ "$output" != *' copied, '* ]]
	[ "$(by_tables 1)" -ge 100 ]
	# As they are unwound from copies.
	denet-record --call-graph dwarf --off-cpu-thresh 0 -- /usr/bin/python3 naps.py
	file_chain perf.data >theirs
	[ "$(wc -l <ours)" -eq "$(wc -l <theirs)" ]
}

@test "tables of what a process has mapped are there before its first block" {
	cat >for_ever.py <<-'END'
		import time
		while True: time.sleep(0.001)
	END
	/usr/bin/python3 for_ever.py 3>&- &
	disown
	target=$!
	until_true is_at "$target" nanosleep
	record --off-cpu-thresh 0 -p "$target" -- sleep 0.3
	[ "$(by_tables 1)" -ge 10 ]
	# 3: for want of a table.
	[ "$(by_tables 3)" = 0 ]
}
