#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A recorder that does not run while threads switch as fast as they can: what is lost is counted,
# and said in the file and at the end. And: no sample lies outside of the recording.

load ../cli/lib

# conserved FILE: in the accounts of -v, what was seen is what became of it, in blocks and ns.
# Digits are added one by one: awk's numbers are not exact enough for the ns of a long run.
conserved() {
	local seen_count=0 seen_ns=0 count=0 ns=0 words

	while read -r -a words; do
		case ${words[1]} in
		seen) seen_count=${words[-2]} seen_ns=${words[-1]} ;;
		= | +)
			count=$((count + words[-2]))
			ns=$((ns + words[-1]))
			;;
		esac
	done < <(grep '^denet-record: [s=+]' "$1")
	echo "seen $seen_count blocks, $seen_ns ns; accounted for $count and $ns"
	[ "$seen_count" -gt 0 ] && [ "$seen_count" = "$count" ] && [ "$seen_ns" = "$ns" ]
}

# start_storm: on the last CPU, which leaves the recorder the others. A scheduler may keep a thread
# waiting for long beside four that wake each other; blocks are to be lost only while the recorder
# is stopped, and it must be able to start, go on and end.
start_storm() {
	taskset -c "$(taskset -cp $BASHPID | sed 's/.*[^0-9]//')" \
		"$build/tests/workloads/short" --pairs 2 --rounds 100000000 >/dev/null 3>&- &
	target=$!
}

# storm_with_a_stopped_reader OPTION…: two seconds of a storm without anything reading it.
storm_with_a_stopped_reader() {
	start_storm
	start_recording -v -p "$target" "$@"
	until_true bigger_than live.data 2000
	kill -STOP "$recorder"
	sleep 2
	size=$(stat -c %s live.data)
	kill -CONT "$recorder"
	# The kernel writes into a ring what it lost once there is room in it again, which is so
	# when what was in it is in the file.
	until_true bigger_than live.data "$size"
	kill -INT "$recorder"
	finish_recording
	[ "$status" = 0 ]
}

@test "a stopped reader loses blocks: counted in blocks and ns, on the last line and in the file" {
	storm_with_a_stopped_reader --off-cpu-thresh 0 -m 16
	conserved live.err
	lost=$(awk '/lost, ring full/ && $NF > 0 { print $(NF - 1) }' live.err)
	[ "$lost" -gt 1000 ]
	grep -q "$lost blocks (.*s) were lost, a ring was full" live.err
	told=$(sed -n 's/.*[^0-9,]\([0-9,]*\) lost[;,].*/\1/p' live.err)
	[ "${told//,/}" -ge "$lost" ]
	in_file=$(perf script -i live.data --show-lost-events 2>/dev/null |
		sed -n 's/.*PERF_RECORD_LOST.* lost \([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
	echo "$lost blocks, of which the file knows $in_file"
	[ "$in_file" -ge $((lost * 99 / 100)) ]
}

@test "a stopped reader loses nothing where blocks are summed up" {
	# Which --max-overhead would end: what is drawn goes through the ring.
	storm_with_a_stopped_reader --max-overhead 0
	conserved live.err
	awk '/lost, ring full/ { exit $NF != 0 }' live.err
	grep -q ', 0 lost[;,]' live.err
	sum=$(sum_of_periods live.data)
	told=$(sed -n 's/.*off-CPU in samples: \([0-9]*\) ns$/\1/p' live.err)
	echo "$sum ns in the file, $told told"
	[ "$sum" = "$told" ]
}

@test "every block lies in the recording, and so does every sample" {
	start_storm
	before=$(cut -d' ' -f1 /proc/uptime)
	denet-record -a --state all --off-cpu-thresh 1ms --window 50ms -- sleep 0.7 2>err
	after=$(cut -d' ' -f1 /proc/uptime)
	# Sums hold more time than passed between two samples: only blocks have a beginning.
	perf script --ns -F time,period,event | awk -v before="$before" -v after="$after" '
		{ n++; end = $1 + 0 }
		end < before - 0.02 || end > after + 0.02 { print "outside:", $0; bad = 1 }
		$2 / 1e9 > after - before + 0.04 { print "too long:", $0; bad = 1 }
		END { exit bad || n < 10 }'
}
