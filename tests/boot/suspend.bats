#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A recording in a guest that is suspended to RAM meanwhile, for seconds, with all CPUs but the
# first one going offline. Its results are read here: nothing of this machine outlives its suspend.

load ../cli/lib
load ../guest/waits

kernel=6.1

setup_file() {
	local reason

	cd "$BATS_FILE_TMPDIR" || return 1
	mkdir w
	if ! reason=$("$top/scripts/vm/can-boot.sh" $kernel); then
		echo "$reason" >w/unable
		return
	fi
	"$top/scripts/vm/boot.sh" -d w -s 2 -t 240 -r "$build/denet" \
		-r "$build/tests/workloads/threads" -r "$BATS_TEST_DIRNAME/suspend.sh" \
		$kernel "$BATS_TEST_DIRNAME/suspend.sh '$build'" >boot 2>&1 ||
		{ cat boot w/err; return 1; } >&2
}

needs=perf

prepare() {
	[ ! -e "$BATS_FILE_TMPDIR/w/unable" ] || skip "$(cat "$BATS_FILE_TMPDIR/w/unable")"
	cp "$BATS_FILE_TMPDIR"/w/* .
	cat clocks
	tail -3 err
	read_script
}

# clock WHEN: CLOCK_MONOTONIC at this moment, in ns.
clock() {
	awk -v when="$1" '$1 == when { print $2 }' clocks
}

@test "the guest was suspended for seconds, which CLOCK_MONOTONIC leaves out" {
	awk '{ mono[$1] = $2 / 1e9; boot[$1] = $3 }
		END {
			slept = boot["awake"] - boot["asleep"] - (mono["awake"] - mono["asleep"])
			print slept " s"
			exit !(slept >= 2)
		}' clocks
}

@test "a nap across a suspend is as long as CLOCK_MONOTONIC says, and so is one after it" {
	each_wait_is_right 8
	# Four of them did lie across it.
	awk -v asleep="$(clock asleep)" -v awake="$(clock awake)" '
		/^[^\t]/ && NF { tid = $2; end = $3 * 1e9; ns = $4 }
		/^\t/ && $2 ~ /^wait_once$/ {
			if (!(tid in first) || end - ns < first[tid]) first[tid] = end - ns
			if (end > last[tid]) last[tid] = end
		}
		END {
			for (tid in first)
				across += first[tid] < asleep && last[tid] > awake
			print across " across"
			exit across != 4
		}' script
}

@test "no time is forged: samples lie in the recording, and no thread has more than it took" {
	nothing_forged
	perf script -i live.data --ns -F comm,tid,time,period,event |
		awk -v start="$(clock start)" -v end="$(clock end)" -v took="$(cat took)" '
			BEGIN { split(took, a, " "); most = a[1] * (a[2] == "s" ? 1e9 : 1e6) * 1.01 }
			{
				nr++
				sum[$2] += $4
				bad += $3 * 1e9 > end || $3 * 1e9 - $4 < start
			}
			END {
				for (tid in sum)
					bad += sum[tid] > most
				print nr " samples, " bad + 0 " wrong"
				exit !nr || bad
			}'
}

@test "the CPU that a suspend took away has a ring again, and nothing is lost" {
	grep -q 'CPU 1 came online and has a ring' err
	grep -q ' samples .*, 0 lost; ' err
	# Its side band, too: threads that were born there later have their names.
	[ "$(awk '$1 == "brief" { print $2 }' script | sort -u | wc -l)" = 8 ]
}
