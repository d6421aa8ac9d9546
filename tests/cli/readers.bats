#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# One rich file, read by the perfs of several releases: all of them find the same in it.
# tests: parallel

load lib

setup_file() {
	export RICH=$BATS_FILE_TMPDIR/rich.data
	cd "$BATS_FILE_TMPDIR" || return 1
	[ "$(id -u)" = 0 ] || return 0
	load lib
	# Threads, forks, an exec, and on top of them whatever the machine does meanwhile: kernel
	# threads, and sleepers for the second event. All of the events.
	cat >rich.sh <<-END
		"$build/tests/workloads/waits" --count 5 --ms 5
		"$build/tests/workloads/forks" --count 20
		"$build/tests/workloads/threads" --count 20
		sh -c 'exec $naps 2 5 5'
	END
	"$build/denet-record" -a --state all --kernel-threads --all-cgroups --off-cpu-thresh 5ms \
		--split-runqueue --wakers --reason -o "$RICH" -- sh rich.sh 2>"$RICH.err" >"$RICH.said"
}

# Samples with all of their fields and frames, but for what readers show differently: columns,
# the addresses of user frames (in the file or in the process), names of PLT entries, and the names
# in files other than our workloads, the C library and the kernel: releases of perf demangle C++ and
# Rust differently, and compilers may run on this machine.
show_samples() {
	reader "$1" script -i "$RICH" --no-inline --ns \
		-F comm,pid,tid,cpu,time,period,event,ip,sym,dso |
		sed -E 's/^\t +[0-7]?[0-9a-f]{1,15} /\t/; s/[[:space:]]+/ /g; s/ $//' |
		sed -E '/^ /{/\((\[kernel[^(]*|[^(]*\/(workloads\/[a-z]+|libc\.so\.6|libc-[0-9.]+\.so))\)$/!s/.* (\([^(]*\))$/ \1/}
			/^ (.*@plt|_init |\.plt )/s/.* (\([^(]*\))$/ \1/'
}

# The text of our own tracepoints, by their formats.
show_sentences() {
	reader "$1" script -i "$RICH" --no-inline --ns -F trace:comm,tid,time,event,trace |
		grep -aE 'denet:[a-z_]+:' | sed -E 's/[[:space:]]+/ /g'
}

show_folded() {
	reader "$1" script -i "$RICH" --no-inline | fold |
		sed -E 's/[^; ]*@plt|\b_init\b|\.plt\b/@plt/g' |
		grep -aE '^(w-|child|brief|nap|waits|forks|threads)' | sort
}

# grep -a: the whole machine is recorded, and other tests give threads names of any bytes.
# The sums by thread and event, as report makes them.
show_report() {
	reader "$1" report -i "$RICH" --stdio --no-inline --no-children -g none -F period,sample,comm \
		--percent-limit 0 | grep -av '^#' | sed -E 's/[[:space:]]+/ /g; s/ $//' | sort
}

# show_all VERSION DIR: all that is compared, into files there, with what that perf complains of.
# They are read beside each other: it takes CPU time, some seconds each.
show_all() {
	local what

	mkdir "$2"
	for what in samples sentences folded report; do
		"show_$what" "$1" >"$2/$what" 2>"$2/$what.err" 3>&- &
	done
	wait
	for what in samples sentences folded report; do
		cat "$2/$what.err"
		[ -s "$2/$what" ] && [ ! -s "$2/$what.err" ] || return 1
	done
}

# shown VERSION: where all that is. It is read once for the tests of this file.
shown() {
	local dir=$BATS_FILE_TMPDIR/shown.$1

	if [ ! -e "$dir" ]; then
		rm -rf "$dir.new"
		show_all "$1" "$dir.new" >&2 || return 1
		mv "$dir.new" "$dir"
	fi
	echo "$dir"
}

# same_as_own VERSION: that perf finds what the machine's own does, and has no complaints.
same_as_own() {
	local what own theirs

	need_reader "$1"
	own=$(shown own)
	theirs=$(shown "$1")
	for what in samples sentences folded report; do
		diff "$own/$what" "$theirs/$what" | head -20 >differences
		cat differences
		[ ! -s differences ]
	done
}

@test "the file is rich: threads, forks, exec, both events, kernel threads, user symbols" {
	cp "$(shown own)/samples" .
	grep -q '^w-futex .* offcpu-time:' samples
	grep -q '^child .* offcpu-time:' samples
	grep -q '^brief .* offcpu-time:' samples
	grep -q '^napper-1 .* offcpu-time:' samples
	for event in offcpu-idle queued-time wakeup-time denet:waits; do
		grep -q " $event:" samples
	done
	grep -q 'take_nap .*naps' samples
	grep -q 'do_nanosleep' samples
	awk 'BEGIN { RS = "" } / 0\/0 / { exit 1 }' samples
}

@test "perf 5.10 reads the same" {
	same_as_own 5.10
}

@test "perf 5.10 reads a plain file, and one that was never finished" {
	need_reader 5.10
	denet-record -o plain.data --off-cpu-thresh 0 -- "$naps" 1 20 10
	"$naps" 1 10000 10 >/dev/null 3>&- &
	target=$!
	start_recording -p $target --off-cpu-thresh 0 --window 50ms
	until_true bigger_than live.data 10000
	kill -KILL "$recorder"
	finish_recording
	kill $target
	for file in plain.data live.data; do
		[ "$(samples $file)" -ge 20 ]
		[ "$(reader 5.10 script -i $file -F comm,event 2>err | grep -c offcpu-time)" = \
			"$(samples $file)" ]
		cat err
		refute grep -qi 'fail\|parse' err
	done
}

@test "perf 6.1 reads the same" {
	# What it shows is what all others are compared with.
	! own_is 6.1 || return 0
	same_as_own 6.1
}

# bats test_tags=whole
@test "perf 6.12 reads the same" {
	same_as_own 6.12
}

@test "perf 7 reads the same" {
	same_as_own 7
}

@test "every reader's sums are those that the last line tells" {
	told=$(sed -n 's/.*denet-record: \([0-9.]*\) s off-CPU.*/\1/p' "$RICH.err")
	[ -n "$told" ]
	for version in $(versions); do
		reader "$version" version >/dev/null 2>&1 || continue
		shown=$(shown "$version")
		sum=$(awk '/^[^ ].* (offcpu-time|queued-time):$/ { sum += $(NF - 1) }
			END { printf "%.3f", sum / 1e9 }' "$shown/samples")
		equal_within "$sum" "$told" 0.0011
	done
}

# states_of_report VERSION FILE: ns and samples of each state, as that perf sorts offcpu-time by it.
states_of_report() {
	reader "$1" report -i "$2" --stdio --no-children -g none -F period,sample,transaction \
		--percent-limit 0 2>report.err |
		awk '/of event/ { counts = /offcpu-time/ } !/^#/ && NF == 4 && counts { print }' |
		while read -r ns samples flag code; do
			printf '%b %s %s %s\n' "\\x${code#:}" "$ns" "$samples" "$flag"
		done | sort
	[ ! -s report.err ]
}

# The same of denet:waits, which tells the state in words: those of a preempted thread have ASYNC.
states_of_waits() {
	perf script -i "$1" -F trace:event,period,trace |
		awk '/denet:waits:/ {
			match($0, /\([A-Za-z]/)
			state = substr($0, RSTART + 1, 1)
			ns[state] += $1
			samples[state]++
		}
		END { for (state in ns) print state, ns[state], samples[state] }' | sort
}

@test "every perf sorts by state, and has the number of blocks of each sample" {
	denet-record --reason --state S,D,T -o states.data --off-cpu-thresh 15ms -- sh -c "
		'$naps' 2 20 10
		sleep 20 & kill -STOP \$!; sleep 0.1; kill -CONT \$!; sleep 0.1; kill \$!"
	states_of_waits states.data >waits
	cat waits
	grep -q '^S ' waits
	grep -q '^T ' waits
	blocks=$(perf script -i states.data -F trace:event,trace | grep denet:waits: |
		sed -nE 's/.*\([A-Z](, ([0-9]+) blocks)?\).*/\2/; s/^$/1/; p' | awk "{ sum += \$1 } END { print sum }")
	echo "$blocks blocks"
	[ "$blocks" -ge 40 ]
	for version in $(versions); do
		echo "perf $version"
		reader "$version" version >/dev/null 2>&1 || continue
		states_of_report "$version" states.data >states
		cat states
		refute grep -v ' SYNC$' states
		diff waits <(sed 's/ SYNC$//' states)
		[ "$(reader "$version" script -i states.data -F sw:event,weight |
			awk '/offcpu-time/ { sum += $NF } END { print sum }')" = "$blocks" ]
	done
}
