#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What any user may do in a loop costs the recording neither its file nor its memory.

load ../cli/lib

@test "a loop of mprotect(PROT_EXEC) does not fill the file, which goes on to be right" {
	"$build/tests/workloads/protects" --ms 3000 >said 3>&- &
	flood=$!
	# Beside it, a process whose names and mappings must not suffer.
	denet-record -a --off-cpu-thresh 0 -o flood.data -- "$naps" 1 20 50 counts >naps.said 2>err
	cat err
	wait $flood
	times=$(truths said times)
	# Of the flood alone: blocks and programs of others make a file of any size.
	mmaps=$(perf script --show-mmap-events -i flood.data 2>/dev/null |
		awk '$1 == "protects" && /PERF_RECORD_MMAP/ { n++ } END { print n + 0 }')
	echo "$times times, $mmaps records of mappings"
	# A mapping that is made again is not written again.
	[ "$times" -gt 10000 ]
	[ "$mmaps" -lt $((times / 5)) ]
	perf script -i flood.data -F comm,ip,sym 2>/dev/null | grep -q take_nap
}

@test "many processes that do so fill the file as little, and are told on the last lines" {
	floods=()
	for _ in {1..35}; do
		"$build/tests/workloads/protects" --ms 8000 --pages 60000 >"said.${#floods[@]}" 3>&- &
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
	# With few CPUs to run on, the flood may stay below the limit while it is recorded.
	times=$(cat said.* | truths - times | awk '{ n += $1 } END { print n }')
	echo "$times times in eight seconds, $seconds s recorded"
	[ $((times * seconds / 8)) -lt $((2 * 16384 * (seconds + 8))) ] ||
		grep -q 'changes of mappings or names came too fast' err
	perf script -i flood.data -F comm,ip,sym 2>/dev/null | grep -q take_nap
}
