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
