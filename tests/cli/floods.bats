#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What any user may do in a loop costs the recording neither its file nor its memory.

load lib

@test "a loop of mprotect(PROT_EXEC) does not fill the file, which goes on to be right" {
	"$build/tests/workloads/protects" --ms 3000 >said 3>&- &
	flood=$!
	# Beside it, a process whose names and mappings must not suffer.
	denet-record -a --off-cpu-thresh 0 -o flood.data -- "$naps" 1 20 50 counts >naps.said 2>err
	cat err
	wait $flood
	times=$(truths said times)
	size=$(stat -c %s flood.data)
	echo "$times times, $size bytes"
	# A record of such a mapping has about 100 bytes, and what is told again is not written again.
	[ "$times" -gt 10000 ]
	[ "$size" -lt $((1000000 + 20 * times)) ]
	perf script -i flood.data -F comm,ip,sym 2>/dev/null | grep -q take_nap
}

@test "many processes that do so fill the file as little, and are told on the last lines" {
	floods=()
	for _ in {1..35}; do
		"$build/tests/workloads/protects" --ms 8000 --pages 60000 >/dev/null 3>&- &
		floods+=($!)
	done
	denet-record -v -a -o flood.data -- "$naps" 1 20 250 >naps.said 2>err
	for flood in "${floods[@]}"; do
		wait "$flood"
	done
	size=$(stat -c %s flood.data)
	echo "$size bytes"
	tail -20 err
	# All may tell 16,384 mappings a second, and eight seconds' worth at once, of 100 bytes.
	seconds=$(sed -n 's/.*recorded for \([0-9]*\)\.[0-9]* s.*/\1/p' err)
	[ "$size" -lt $((16384 * (seconds + 1 + 8) * 110)) ]
	# A recorder that is slow, or gets no CPU, loses them in its rings, those of naps among them.
	if grep -q 'records of maps and names were lost' err; then
		return
	fi
	grep -q 'changes of mappings or names came too fast' err
	perf script -i flood.data -F comm,ip,sym 2>/dev/null | grep -q take_nap
}
