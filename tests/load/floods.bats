#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What any user may do in a loop costs the recording neither its file nor its memory.

load ../cli/lib

# record_floods NR FLOOD NAPS OPTION…: records NR processes that change their mappings all the time, as
# the options FLOOD say, and beside them one whose names and mappings must not suffer. The recorder
# starts them: it may take longer to begin than they last. Sets times to the sum of their changes.
record_floods() {
	local nr=$1 flood=$2 naps_of=$3

	shift 3
	cat >floods.sh <<-END
		i=0
		while [ \$i -lt $nr ]; do
			"$build/tests/workloads/protects" $flood >said.\$i &
			i=\$((i + 1))
		done
		"$naps" 1 20 $naps_of >naps.said
		wait
	END
	denet-record -a "$@" -o flood.data -- sh floods.sh 2>err 3>&-
	times=$(cat said.* | truths - times | awk '{ n += $1 } END { print n }')
}

@test "a loop of mprotect(PROT_EXEC) does not fill the file, which goes on to be right" {
	record_floods 1 '--ms 3000' '50 counts' --off-cpu-thresh 0
	cat err
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
	record_floods 35 '--ms 5000 --pages 60000' 250 -v
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
	echo "$times times, $seconds s recorded"
	[ "$times" -lt $((2 * 16384 * (seconds + 8))) ] ||
		grep -q 'changes of mappings or names came too fast' err
	perf script -i flood.data -F comm,ip,sym 2>/dev/null | grep -q take_nap
}
