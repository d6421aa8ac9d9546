#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Time on the CPU together with options that change which threads, chains or files there are: the
# periods are the running time all the same.
# tests: parallel

load lib
load wall

# all_running_is_there [FILE…]: on-cpu-time of these files together is the running time of -v.
all_running_is_there() {
	local file sum=0

	for file in "${@:-perf.data}"; do sum=$((sum + $(sum_of on-cpu-time 0 "$file"))); done
	echo "running $(life '= running'), in the file $sum"
	[ "$sum" = "$(life '= running')" ]
}

# of_others: on-cpu-time of the process $target, which spins beside the recording.
of_others() {
	perf script -F pid,period,event 2>/dev/null |
		awk -v pid="$target" '$1 == pid && $3 == "on-cpu-time:" { sum += $2 }
			END { printf "%.0f\n", sum }'
}

# Some kernels let threads that spin on a CPU keep it from those of the kernel, as long as they do.
spin_beside() {
	start_target "$lives" --ms 12000
	until_true sh -c "grep -q hog /proc/$target/task/*/comm"
}

# end_spinning: so that perf has the CPU for itself. It may have ended on a slow machine.
end_spinning() {
	kill -KILL "$target" 2>/dev/null || true
}

@test "-u: threads that it leaves out have no time, though they never leave their CPU" {
	spin_beside
	setpriv --reuid=65534 --clear-groups true 2>/dev/null || skip "no setpriv"
	denet-record -v --wall --window 100ms --max-overhead 0 -u 65534 -- \
		setpriv --reuid=65534 --clear-groups "$lives" --ms 300 2>err >said
	end_spinning
	cat err
	nothing_was_hidden
	[ "$(of_others)" = 0 ]
	all_running_is_there
	[ "$(life '= running')" -ge "$(cpu_time)" ]
	[ "$(life '+ filtered')" -gt 0 ]
}

# bats test_tags=whole
@test "-G: threads that it leaves out have no time, though they never leave their CPU" {
	v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$v2" ] || skip "cgroup v2 is not mounted"
	group=$v2/denet-test-$$
	mkdir "$group"
	spin_beside
	# shellcheck disable=SC2016 # expanded by the inner shell
	denet-record -v --wall --window 100ms --max-overhead 0 -G "$group" -- sh -c \
		'echo $$ >"$0/cgroup.procs" && exec "$1" --ms 300' "$group" "$lives" 2>err >said
	end_spinning
	cat err
	nothing_was_hidden
	[ "$(of_others)" = 0 ]
	all_running_is_there
	[ "$(life '= running')" -ge "$(cpu_time)" ]
}

@test "-t: the time of one thread alone; -a: of all, with the build-ids of what they run" {
	start_target "$naps" 2 100000 1
	until_true grep -q READY target.out
	until_true sh -c "grep -qsx napper-1 /proc/$target/task/*/comm"
	napper=$(grep -lx napper-0 /proc/"$target"/task/*/comm | cut -d/ -f5)
	denet-record -v --wall --window 100ms --max-overhead 0 -t "$napper" -- sleep 0.5 2>err
	cat err
	[ "$(perf script -F tid,event 2>/dev/null | awk '/on-cpu-time/ { print $1 }' | sort -u)" = "$napper" ]
	nothing_was_hidden
	all_running_is_there
	denet-record --wall --max-overhead 0 -a -- sleep 0.5 2>err
	[ "$(of_others)" -gt 0 ]
	perf buildid-list | grep -F "$naps"
}

@test "by tables and from copies, samples on the CPU have whole chains, and periods their sums" {
	for mode in tables dwarf; do
		denet-record -v --wall=499 --max-overhead 0 --call-graph $mode -- "$lives" --ms 200 2>err >said
		cat err
		nothing_was_hidden
		all_running_is_there
		perf script -F comm,event,ip,sym 2>/dev/null |
			awk '/^hog.*on-cpu-time/' RS= >hog
		grep -q ' spin$' hog
		grep -q ' live$' hog
	done
	# No block is as long: all walks are those of samples on the CPU.
	run -0 --separate-stderr denet-record -v -F 499 --max-overhead 0 --call-graph tables \
		--off-cpu-thresh 60000 -- "$lives" --ms 200
	output=$stderr
	[ "$(by_tables 1)" -gt 0 ]
}

@test "a file is as good as one of several, and a delay is none of the lives" {
	denet-record -v --wall --max-overhead 0 --window 50ms --switch-output=100ms -D 100 -- \
		"$lives" --ms 500 2>err >said
	cat err
	nothing_was_hidden
	files=(perf.data.*)
	[ "${#files[@]}" -ge 2 ]
	all_running_is_there "${files[@]}"
	# Four threads spin or nap from before the recording to its end, in eight others' absence.
	sed -n 's/.*: recorded for \([0-9.]*\) \(m\{0,1\}s\);.*/\1 \2/p' err |
		awk -v ns="$(life 'lives of threads')" '{ length_ns = $1 * ($2 == "s" ? 1e9 : 1e6) }
			END { print length_ns, ns; exit !(length_ns && ns <= 6 * length_ns) }'
}

@test "sampling of blocks, their reasons and wakers leave running time as it is" {
	for options in '--off-cpu-max-rate 100' '--reason --wakers --off-cpu-thresh 0'; do
		# shellcheck disable=SC2086 # words on purpose
		denet-record -v --wall --max-overhead 0 $options -- "$lives" --ms 200 2>err >said
		cat err
		nothing_was_hidden
		all_running_is_there
	done
}

@test "the file of a killed recorder has the running time of its windows" {
	spin_beside
	start_recording --wall --window 50ms -p "$target"
	until_true bigger_than live.data 20000
	kill -KILL "$recorder"
	finish_recording
	end_spinning
	[ "$(sum_of on-cpu-time 0 live.data)" -gt 50000000 ]
}

# In a file of a time in which no thread ran there is none of it.
@test "--one-event in several files: all kinds of time together are the threads' lives" {
	# So long that a recorder that has to wait for a CPU still makes several.
	denet-record -v --wall --one-event --max-overhead 0 --window 50ms --switch-output=100ms -- \
		"$lives" --ms 1500 2>err >said
	cat err
	nothing_was_hidden
	files=(perf.data.*)
	[ "${#files[@]}" -ge 2 ]
	sum=0
	: >ran
	for file in "${files[@]}"; do
		sum=$((sum + $(sum_of wall-time 0 "$file")))
		perf script -i "$file" -F period,event,ip,sym 2>/dev/null |
			awk -v RS= '/\[running\]/ { ns += $1; n++ } END { printf "%.0f %d\n", ns, n }' >>ran
	done
	echo "lives $(life 'lives of threads'), in the files $sum"
	[ "$sum" = "$(life 'lives of threads')" ]
	echo "running $(life '= running'), in each of the files:"
	cat ran
	awk -v ns="$(life '= running')" '{ sum += $1; files += $2 > 0 }
		END { exit !(sum == ns && files >= 2) }' ran
}

@test "while --max-overhead samples blocks, running time is all there, to the ns" {
	denet-record -v --wall --max-overhead 0.01 -- \
		"$build/tests/workloads/short" --batch 1 --rounds 150000 2>err >said
	cat err
	nothing_was_hidden
	perf script -F event 2>/dev/null | grep -q denet:rates || skip "too quick to be sampled"
	all_running_is_there
}
