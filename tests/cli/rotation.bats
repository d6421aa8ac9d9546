#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Files of a limited size, and recordings in several files.
# tests: parallel

load lib

clean_up() {
	if mountpoint -q small 2>/dev/null; then umount small; fi
}

# complete FILE: it can be read by itself: names, symbols, build-ids, header.
complete() {
	perf report --header-only -i "$1" 2>/dev/null | grep -q '# hostname' &&
		perf script -i "$1" >script 2>err && grep -q '^napper-[01] ' script &&
		grep -q take_nap script &&
		perf buildid-list -i "$1" | grep -q '/naps$' && [ ! -s err ]
}

@test "--max-size: a file becomes but a little larger, also where windows are long" {
	start_target "$naps" 4 100000 2
	denet-record -p "$target" --off-cpu-thresh 0 --max-size 100K 2>err
	kill "$target"
	size=$(stat -c %s perf.data)
	echo "size $size"
	# The end of a window would have made it 300,000 bytes.
	[ "$size" -ge 102400 ]
	[ "$size" -le 200000 ]
	complete perf.data
	# Each block is a sum of its own, some 7,000 a second, and there is room for 16,384 until they
	# have to be written: 11 MB.
	denet-record --window 30s -m 8M --max-overhead 0 --max-size 100K -o sums.data -- \
		"$build/tests/workloads/stacks" --threads 16 --bits 10 --rounds 60 --us 2000 >/dev/null \
		2>err || true
	cat err
	grep -q 'the size limit is reached (100 KB)' err
	grep -q ', 0 lost' err
	size=$(stat -c %s sums.data)
	echo "size $size"
	[ "$size" -ge 102400 ]
	[ "$size" -le 3000000 ]
}

# bats test_tags=whole
@test "--max-size ends the recording with a complete file" {
	start_target "$naps" 2 100000 1
	denet-record -p "$target" --off-cpu-thresh 0 --window 20ms --max-size 200K 2>err
	grep -q 'the size limit is reached (200 KB)' err
	size=$(stat -c %s perf.data)
	echo "size $size"
	[ "$size" -ge 204800 ]
	[ "$size" -le 409600 ]
	complete perf.data
}

@test "--switch-output=SIZE: a ring of files, each complete, the samples are all there" {
	denet-record --off-cpu-thresh 0 --window 50ms --switch-output=20K -v -- "$naps" 2 300 3 2>out
	files=(perf.data.*)
	[ "${#files[@]}" -ge 3 ]
	[ ! -e perf.data ]
	count=0
	for file in "${files[@]}"; do
		# The last one may have nothing but the end of the main thread's wait.
		if [ "$file" = "${files[-1]}" ]; then
			perf report --header-only -i "$file" | grep -q '# hostname'
		else
			complete "$file"
		fi
		[[ $file =~ ^perf.data.[0-9]{16}$ ]]
		count=$((count + $(samples "$file")))
	done
	told=$(sed -n 's/.*off-CPU in \([0-9,]*\) samples.*/\1/p' out)
	[ "$count" = "${told//,/}" ]
}

@test "--switch-output=TIME and --switch-max-files keep the latest files only" {
	denet-record --switch-output=200ms --switch-max-files 2 -- "$naps" 2 150 10 2>err
	[ "$(grep -c 'wrote perf.data.' err)" -ge 4 ]
	files=(perf.data.*)
	[ "${#files[@]}" = 2 ]
	[ "$(grep -o 'wrote perf.data.[0-9]*' err | tail -2 | cut -d' ' -f2 | paste -sd' ')" = "${files[*]}" ]
}

@test "--switch-output without a value: another file at each SIGUSR2" {
	start_target "$naps" 2 10000 10
	start_recording -p "$target" --off-cpu-thresh 0 --window 50ms --switch-output
	for i in 1 2; do
		until_true bigger_than live.data 10000
		kill -USR2 "$recorder"
		enough() { [ "$(ls live.data.* 2>/dev/null | wc -l)" -ge "$i" ]; }
		until_true enough
	done
	until_true bigger_than live.data 10000
	kill -INT "$recorder"
	finish_recording
	[ "$status" = 0 ]
	[ "$(ls live.data.* | wc -l)" = 3 ]
	for file in live.data.*; do
		complete "$file"
	done
}

@test "--switch-output goes on when its file has been removed, and says what is lost" {
	start_target "$naps" 2 100000 10
	start_recording -p "$target" --off-cpu-thresh 0 --window 50ms --switch-output
	until_true bigger_than live.data 10000
	rm live.data
	kill -USR2 "$recorder"
	until_true bigger_than live.data 10000
	kill -USR2 "$recorder"
	second() { ls live.data.* >/dev/null 2>&1; }
	until_true second
	kill -INT "$recorder"
	finish_recording
	cat live.err
	[ "$status" = 0 ]
	grep -q 'live.data was removed meanwhile: this recording is lost' live.err
	[ "$(ls live.data.* | wc -l)" = 2 ]
	complete "$(ls live.data.* | head -1)"
}

@test "SIGUSR2 without --switch-output does no harm" {
	start_target "$naps" 2 10000 10
	start_recording -p "$target"
	kill -USR2 "$recorder"
	kill -INT "$recorder"
	finish_recording
	[ "$status" = 0 ]
}

@test "a file begun later knows a process by its fork and its exec, not only by /proc" {
	# The shell and what it starts begin in the first file; naps ends in a later one.
	denet-record --off-cpu-thresh 0 --window 20ms --switch-output=150ms -- \
		sh -c '"$0" 1 60 10; sleep 0.3; "$0" 1 60 10' "$naps"
	# The very last one may begin when the naps are over.
	for last in $(ls -r perf.data.*); do
		[ "$(samples "$last")" -lt 5 ] || break
	done
	[ "$last" != "$(ls perf.data.* | head -1)" ]
	perf script -i "$last" | grep -q '^napper-0 '
	perf script -i "$last" | grep -q take_nap
	perf script -i "$last" --show-task-events | grep -q 'PERF_RECORD_COMM.*: sh:'
}

@test "a full disk between two files is an error, and the files before can be read" {
	mkdir small
	mount -t tmpfs -o size=128k tmpfs small
	start_target "$naps" 2 100000 2
	run denet-record -o small/live.data -p "$target" --off-cpu-thresh 0 --window 20ms \
		--switch-output=24K -- sleep 1.5
	[ "$status" = 1 ]
	[[ "$output" == *"No space left"* ]]
	first=$(ls small/live.data.* | head -1)
	[ "$(samples "$first")" -gt 20 ]
}
