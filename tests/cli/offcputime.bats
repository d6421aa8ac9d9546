#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-offcputime sums up what threads waited for, and prints it as bcc's offcputime does.
# tests: parallel

load lib

needs=root

clean_up() {
	[ ! -e perf.data ]
}

# is_of_form [FILE]: nothing but stacks as the Python tool prints them, in ascending order.
is_of_form() {
	awk '
		NR == 1 { if (!/^Tracing off-CPU time \((us|ns)\) of .* by (user|kernel|user \+ kernel) stack(\.\.\. Hit Ctrl-C to end\.| for [0-9.]+ secs\.)$/) exit bad = 1; next }
		NR == 2 { if ($0 != "") exit bad = 1; next }
		/^    -                .* \([0-9]+\)$/ { if (!getline || !/^        [0-9]+$/ || $1 < last) exit bad = 1
			last = $1; n++
			if (!getline || $0 != "") exit bad = 1
			next }
		!/^    [^ ]/ { exit bad = 1 }
		END { if (bad) print "line " NR ": " $0; exit bad || !n }' "${1:-out}"
}

# folded_ns FILE PATTERN: the sum of the lines that match it.
folded_ns() {
	awk -v pattern="$2" '$0 ~ pattern { ns += $NF } END { printf "%.0f\n", ns }' "$1"
}

# are_the_naps FILE STOLEN: the time of napper-0 is what it was off its CPU by its own clocks.
are_the_naps() {
	local times away bracket

	read -r times away bracket < <(told_by_nap napper-0 said)
	awk -v away="$away" -v bracket="$bracket" -v stolen="$(stolen_since "$2")" '
		/^napper-0;/ { all += $NF }
		/^napper-0;.*;take_nap;/ { naps += $NF }
		END { print naps, "of", all, "ns; by the thread", away, "to", bracket, "less", stolen
			exit !(away > 0 && naps > 0 && naps <= bracket && all >= away * 0.99 - stolen) }' "$1"
}

@test "the naps of a command, in stacks and folded" {
	before=$(stolen)
	denet-offcputime --ns -f -- "$naps" 1 20 10 counts >folded 2>said
	are_the_naps folded "$before"
	refute grep -q 'do_signal_stop' folded
	denet-offcputime -- "$naps" 1 20 10 >out 2>err
	is_of_form out
	grep -qx "Tracing off-CPU time (us) of threads of $naps by user + kernel stack... Hit Ctrl-C to end." out
	grep -A1 -E '^    -                napper-0 \([0-9]+\)$' out | grep -E '^        [0-9]{6}$'
	[ "$(cat err)" = READY ]
}

@test "a duration ends it, and threads that are still blocked count" {
	start_target "$naps" 1 1 100000
	until_true grep -q READY target.out
	start=$(date +%s%N)
	denet-offcputime -p "$target" 1 >out 2>err
	took=$((($(date +%s%N) - start) / 1000))
	is_of_form out
	[ "$(head -1 out)" = "Tracing off-CPU time (us) of PID $target by user + kernel stack for 1 secs." ]
	for thread in napper-0 naps; do
		us=$(grep -A1 -E "^    -                $thread \(" out | tail -1)
		echo "$thread: $us us of $took"
		[ "$us" -ge 1000000 ] && [ "$us" -le "$took" ]
	done
	grep -qx '    take_nap' out
	[ ! -s err ]
	# Of all threads, those are left out, and a line tells of them.
	denet-offcputime 0.2 -f >all 2>err
	refute grep -q '^napper-0;' all
	grep -E '^\[ [0-9,]+ threads were blocked all the time and are left out: --never-ran' err
	denet-offcputime 0.2 -f --never-ran >all 2>err
	grep -q '^napper-0;' all
	[ ! -s err ]
}

@test "which threads, which blocks and which frames" {
	denet-offcputime -f --state S -- "$naps" 1 10 10 >folded 2>err
	grep -q '^napper-0;.*take_nap.* ' folded
	denet-offcputime -f --state D -- "$naps" 1 10 10 >folded 2>err
	refute grep -q 'take_nap' folded
	denet-offcputime -f -m 1000000 -- "$naps" 1 10 10 >folded 2>err
	refute grep -q '^napper-0' folded
	denet-offcputime -f -M 1000 -- "$naps" 1 10 10 >folded 2>err
	refute grep -q ';take_nap;' folded
	denet-offcputime -fU -- "$naps" 1 10 10 >folded 2>err
	grep -qE '^napper-0;start_thread;run_thread;take_nap(;[^;]*nanosleep[^;]*)? [0-9]+$' folded
	denet-offcputime -fK -- "$naps" 1 10 10 >folded 2>err
	grep -qE '^napper-0;[^ ]*do_nanosleep [0-9]+$' folded
	refute grep -q take_nap folded
	denet-offcputime -fd -- "$naps" 1 10 10 >folded 2>err
	grep -qE '^napper-0;.*take_nap;[^-]*;-;[^-]*do_nanosleep [0-9]+$' folded
}

@test "kernel threads only, and user threads only" {
	denet-offcputime -k 0.5 --never-ran >out 2>err
	is_of_form out
	grep -q '^    kthread$' out
	awk -F '[()]' '/^    - / { print $(NF - 1) }' out | while read -r tid; do
		# PF_KTHREAD; one that has ended meanwhile tells nothing.
		read -r stat <"/proc/$tid/stat" || continue
		set -- ${stat##*) }
		[ $(($7 & 0x200000)) != 0 ] || echo "no kernel thread: $stat"
	done >users
	[ ! -s users ]
	denet-offcputime -u 0.5 --never-ran -f >out 2>err
	refute grep -E ';kthread;' out
}

@test "libbpf-tools' form, and threads by process and by name" {
	denet-offcputime --libbpf -- "$naps" 3 5 10 >out 2>err
	{ printf 'Tracing off-CPU time (us) of x by user stack... Hit Ctrl-C to end.\n\n'; cat out; } >with
	is_of_form with
	denet-offcputime --by pid -- "$naps" 3 5 10 >out 2>err
	is_of_form out
	[ "$(sed -n 's/^    -                //p' out | sort -u | wc -l)" = 1 ]
	denet-offcputime --by comm -- "$naps" 3 5 10 >out 2>err
	grep -qx '    -                napper-2' out
	refute grep -q '^    - .*(' out
}

@test "a target or command that is not there, and its status" {
	run -1 denet-offcputime -p 4194303
	[[ "$output" == *"there is no such process"* ]]
	run -1 denet-offcputime -- /nonexistent/program
	run -7 denet-offcputime -- sh -c 'exit 7'
}
