#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# --split-runqueue and --wakers, in the file.
# tests: parallel

load lib

wakes=$build/tests/workloads/wakes

# sum_of EVENT: of its periods in perf.data, in ns. perf reads a file once.
sum_of() {
	[ periods -nt perf.data ] || perf script -F event,period >periods 2>/dev/null
	awk -v event="$1:" '$2 == event || $1 == event { for (i = 1; i <= NF; i++)
		if ($i ~ /^[0-9]+$/) sum += $i } END { printf "%.0f\n", sum }' periods
}

# told WORD: the seconds that the last line tells before it.
told() {
	sed -n "s/.*\[ denet-record: .*[^0-9.]\([0-9.]*\) s $1.*/\1/p"
}

@test "--split-runqueue: two events, whose sum is what the last line tells" {
	denet-record --split-runqueue --state all -- "$build/tests/workloads/preempt" --ms 200 \
		2>err >/dev/null
	[ "$(sum_of queued-time)" -gt 100000000 ]
	equal_within "$(sum_of offcpu-time)" "$(awk -v s="$(told blocked <err)" \
		'BEGIN { printf "%.0f", s * 1e9 }')" 500000
	equal_within "$(sum_of queued-time)" "$(awk -v s="$(told 'waiting for a CPU' <err)" \
		'BEGIN { printf "%.0f", s * 1e9 }')" 500000
	equal_within "$(told_seconds <err | head -1)" "$(awk -v a="$(sum_of offcpu-time)" \
		-v b="$(sum_of queued-time)" 'BEGIN { print (a + b) / 1e9 }')" 0.001
}

# sum_in EVENT COMM FUNCTION: of the periods of its samples of that thread in that function.
sum_in() {
	perf script -F comm,event,period,ip,sym 2>/dev/null | awk -v event="$1:" -v comm="$2" \
		-v func="$3" '
		/^[^\t]/ && NF { ns = 0; if ($1 == comm && $NF == event) ns = $2; next }
		/^\t/ && ns && $2 == func { sum += ns; ns = 0 }
		END { printf "%d\n", sum }'
}

@test "--wakers: both sums are one, and perf report names the wakers" {
	switches_of_init >before
	denet-record --split-runqueue --wakers --off-cpu-thresh 0 -- "$wakes" 2>err >/dev/null
	switches_of_init >after
	# Each of the five threads comes back, and that is shown, before it can be woken again.
	hidden=$(($(runs_of_init before after) * 5))
	refute grep -q 'wake-ups were not seen' err
	for way in futex pipe; do
		woken=$(sum_in wakeup-time k-$way wake_by_$way)
		blocked=$(sum_in offcpu-time w-$way wait_for_$way)
		echo "$way: $woken ns ended by the waker, $blocked ns blocked"
		[ "$woken" -gt 90000000 ]
		# It may wait for a page there as well.
		equal_within "$woken" "$blocked" 1000000
	done
	# All blocks have their wake-up, including those ended by timers. A thread that is woken
	# while it leaves its CPU was blocked for microseconds, without a waker.
	perf script -F event,period 2>/dev/null | awk -v hidden="$hidden" '
		/wakeup-time/ { woken[$1]++ }
		/offcpu-time/ { blocked[$1]++ }
		END {
			for (ns in woken) { all += woken[ns]; bad += woken[ns] > blocked[ns] }
			for (ns in blocked) if (ns > 20000 && blocked[ns] > woken[ns])
				missing += blocked[ns] - woken[ns]
			print all, "wake-ups", missing + 0, "missing", hidden, "may be hidden"
			exit bad || all < 40 || missing > hidden
		}'
	perf report --stdio -g none --no-children -s comm,sym 2>/dev/null |
		sed -n "/of event 'wakeup-time'/,\$p" >report
	grep -q 'k-futex .* wake_up_q' report
	grep -q 'k-pipe ' report
	grep -q '\[interrupt\] .* hrtimer_wakeup' report
	perf script 2>&1 | awk '/^k-pipe.*wakeup-time/ && /wake_by_pipe/' RS= | grep -q pipe_write
}

@test "--wakers -p: a waker that is no target has its name and its symbols" {
	mkfifo gate
	bash -c 'read line <gate' 3>&- &
	target=$!
	until_true is_at "$target" wait_for_partner
	start_recording --wakers -p "$target"
	bash -c 'echo >gate' 3>&-
	finish_recording
	[ "$status" = 0 ]
	perf script -i live.data -F comm,pid,event,ip,sym,dso >events 2>/dev/null
	refute grep -q '^:[0-9]' events
	awk '/^bash.*wakeup-time/' RS= events | grep -q '(/.*/libc\.so\.6)'
}

@test "--wakers -p: of processes that wake nobody, the file has nothing" {
	mkfifo gate
	bash -c 'read line <gate; exec 3<>gate; read line <&3' 3>&- &
	target=$!
	until_true is_at "$target" wait_for_partner
	start_recording --wakers -p "$target"
	# A storm of births beside it, then wakers: one that was born meanwhile, and is another program
	# by then, and the shell that it comes from.
	"$build/tests/workloads/forks" --count 300 --us 100 >storm
	echo >gate
	until_true is_at "$target" pipe_read
	bash -c 'exec -a teller tee gate <<<x >/dev/null' 3>&-
	finish_recording
	[ "$status" = 0 ]
	perf script -i live.data --show-task-events --show-mmap-events >all 2>/dev/null
	grep -c PERF_RECORD_FORK all | { read -r forks; echo "$forks forks"; [ "$forks" -lt 20 ]; }
	refute grep -q '^ *child .*PERF_RECORD' all
	perf script -i live.data -F comm,pid,event,ip,sym,dso >events 2>/dev/null
	refute grep -q '^ *:[0-9]' events
	awk '/^ *tee .*wakeup-time/' RS= events | grep -q '(/.*/libc\.so\.6)'
	perf script -i live.data -F comm,tid,event 2>/dev/null | grep 'wakeup-time' >wakers
	grep -q "^ *bats.* $$ " wakers || grep -q "^ *bash.* $$ " wakers
}

@test "--wakers --call-graph dwarf: the stack of the thread that releases a lock is whole" {
	denet-record --wakers --call-graph dwarf --off-cpu-thresh 1ms -- \
		"$build/tests/workloads/holders" --ms 100 >said
	perf script -F comm,event,ip,sym 2>/dev/null >stacks
	for kind in normal recursive adaptive; do
		awk -v comm="h-$kind" '$1 == comm && /wakeup-time/ && /futex_wake/ && /run_holder/ {
			found = 1 } END { exit !found }' RS= stacks || {
			awk -v comm="h-$kind" '$1 == comm' RS= stacks
			return 1
		}
	done
}

@test "--no-still-blocked leaves out both parts of threads that have not come back" {
	denet-record --split-runqueue --no-still-blocked -v -a -- sleep 0.3 2>err
	refute grep -q 'still blocked,' err
}

@test "pipe mode carries all three events" {
	denet-record --split-runqueue --wakers -o - -- "$wakes" 2>err | perf script -i - -F event >events
	grep -q offcpu-time events
	grep -q queued-time events
	grep -q wakeup-time events
}

# bats test_tags=whole
@test "perf's own count of the wake-ups of each waker is the same" {
	perf record -B -q -a -g -m 2048 -e sched:sched_waking -k CLOCK_MONOTONIC -o theirs.data -- \
		denet-record --wakers --off-cpu-thresh 0 -- "$wakes" --count 50 --ms 2 >said 2>err 3>&- ||
		skip "this machine's perf cannot record sched:sched_waking"
	[ "$(grep -c '^truth' said)" = 4 ]
	for way in futex pipe; do
		theirs=$(perf script -i theirs.data -F comm,event,trace,ip,sym 2>/dev/null |
			awk "/^ *k-$way .*comm=w-$way / && /wake_by_$way/" RS= | grep -c comm=)
		ours=$(perf script -F comm,event,ip,sym 2>/dev/null |
			awk "/k-$way.*wakeup-time/ && /wake_by_$way/" RS= | grep -c wakeup-time)
		echo "$way: $theirs $ours"
		[ "$theirs" = 50 ]
		[ "$ours" = 50 ]
	done
}

# waits_of TID: perf's events on stdin to "END WAIT" of each wait for a CPU of that thread, in ns:
# from its wake-up, or from the switch at which it was left runnable, to the switch to it. Where
# perf has not all of these, it has lost one, or the thread was woken while it still left its CPU.
waits_of() {
	awk -v tid="$1" '
		{ sub(":", "", $1); split($1, t, "."); now = t[1] * 1e9 + t[2] }
		/sched_waking/ && $0 ~ " pid=" tid " " { if (away && !woken) woken = now; next }
		/sched_switch/ && $0 ~ "next_pid=" tid " " {
			if (away && woken) printf "%.0f %d\n", now, now - woken
			away = woken = 0 }
		/sched_switch/ && $0 ~ "prev_pid=" tid " " {
			woken = !away && $0 ~ "prev_state=R" ? now : 0
			away = !away }'
}

# bats test_tags=whole
@test "perf's waits for a CPU of each thread are ours" {
	perf record -B -q -a -m 2048 -e sched:sched_waking,sched:sched_switch -k CLOCK_MONOTONIC \
		-o theirs.data -- denet-record --split-runqueue --state all --off-cpu-thresh 0 -- \
		"$wakes" --cpu 1 --count 50 --ms 2 >said 2>err 3>&- ||
		skip "this machine's perf cannot record the scheduler's events"
	perf script -i theirs.data --ns -F time,event,trace 2>/dev/null >theirs
	perf script --ns -F tid,time,event,period 2>/dev/null >ours
	for comm in w-futex w-pipe k-futex k-pipe; do
		tid=$(truths said comm tid | sed -n "s/^$comm //p")
		waits_of "$tid" <theirs >waits
		# Each is read off two clocks, microseconds apart; a machine whose CPUs are taken away
		# does it between the two now and then.
		awk -v tid="$tid" -v comm="$comm" -v apart="$(two_clocks_ns)" '
			function same(a, b) { return a - b < apart && b - a < apart }
			NR == FNR { if ($1 == tid && /queued-time/) {
				sub(":", "", $2); split($2, t, "."); end[++n] = t[1] * 1e9 + t[2]
				wait[n] = $3 } next }
			{ while (i < n && end[i + 1] < $1 - 100000) i++
			  for (j = i + 1; j <= n && end[j] < $1 + 100000; j++)
				if (same(end[j], $1) && same(wait[j], $2)) break
			  if (j <= n && end[j] < $1 + 100000) found++
			  else print comm ": perf has a wait of " $2 " ns that ended at " $1 }
			END { printf "%s: %d of %d waits\n", comm, found, FNR
				exit !(FNR >= 40 && found >= FNR * 0.98) }' ours waits
	done
}
