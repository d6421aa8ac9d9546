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
	awk -v away="$away" -v bracket="$bracket" -v stolen="$(stolen_since "$2")" \
		-v part="$(shared_part)" '
		/^napper-0;/ { all += $NF }
		/^napper-0;.*;take_nap;/ { naps += $NF }
		END { print naps, "of", all, "ns; by the thread", away, "to", bracket, "less", stolen
			exit !(away > 0 && naps > 0 && naps <= bracket && all >= away * part - stolen) }' "$1"
}

@test "the naps of a command, in stacks and folded" {
	before=$(stolen)
	denet-offcputime --ns -f -- "$naps" 1 20 10 counts >folded 2>said
	are_the_naps folded "$before"
	# COMMAND begins at its exec.
	refute grep -qE 'do_signal_stop|workload__new' folded
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
	cp "$(command -v sleep)" only-here
	start_target ./only-here 1000
	until_true runs "$target" only-here
	denet-offcputime 0.2 -f >all 2>err
	refute grep -q '^only-here;' all
	grep -E '^\[ [0-9,]+ threads were blocked all the time and are left out: --never-ran' err
	denet-offcputime 0.2 -f --never-ran >all 2>err
	grep -q '^only-here;' all
	# Of the stacks of other programs nothing is known here.
	refute grep -vE '^\[ user stacks not whole: |: user stacks of .* end early' err
}

@test "which threads, which blocks and which frames" {
	denet-offcputime -f --state S -- "$naps" 1 10 10 >folded 2>err
	grep -q '^napper-0;.*take_nap.* ' folded
	denet-offcputime -f --state D -- "$naps" 1 10 10 >folded 2>err
	refute grep -q 'take_nap' folded
	denet-offcputime -f -m 1000000 -- "$naps" 1 10 10 >folded 2>err
	refute grep -q '^napper-0' folded
	# Without waits for a CPU, which may be short.
	denet-offcputime -f -M 1000 --state S -- "$naps" 1 10 10 >folded 2>err
	refute grep -q ';take_nap;' folded
	denet-offcputime -fU -- "$naps" 1 10 10 >folded 2>err
	grep -qE '^napper-0;([^;]*clone3?;)?start_thread;run_thread;take_nap(;call_libc)?(;[^;]*nanosleep[^;]*)* [0-9]+$' folded
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

# header OPTION…: the first line of a short trace, and the names of its threads, sorted.
header() {
	denet-offcputime "$@" 0.3 >out 2>err
	is_of_form out
	head -1 out
	sed -n 's/^    -                \(.*\) (\([0-9]*\))$/\1/p' out | sort -u | tr '\n' ' '
}

# bats test_tags=whole
@test "targets as bcc has them: processes, threads, all" {
	start_target "$naps" 2 100000 10
	first=$target
	until_true grep -q READY target.out
	start_target "$naps" 1 100000 10
	until_true grep -q READY target.out
	until_true has_nappers
	threads=($(grep -lx 'napper-[01]' /proc/"$first"/task/*/comm | cut -d/ -f5))
	what='by user + kernel stack for 0.3 secs.'
	run header -t "${threads[0]}"
	[ "${lines[0]}" = "Tracing off-CPU time (us) of TID ${threads[0]} $what" ]
	[ "${lines[1]}" = 'napper-0 ' ]
	run header -t "${threads[0]},${threads[1]}"
	[ "${lines[0]}" = "Tracing off-CPU time (us) of TIDs ${threads[0]},${threads[1]} $what" ]
	[ "${lines[1]}" = 'napper-0 napper-1 ' ]
	run header -p "$first,$target"
	[ "${lines[0]}" = "Tracing off-CPU time (us) of PIDs $first,$target $what" ]
	[ "${lines[1]}" = 'napper-0 napper-1 naps ' ]
	run header -a
	[ "${lines[0]}" = "Tracing off-CPU time (us) of all threads $what" ]
	[[ "${lines[1]}" == *napper-1* ]]
	for option in -u --user-threads-only --useronly; do
		run header $option
		[ "${lines[0]}" = "Tracing off-CPU time (us) of user threads $what" ]
		[[ "${lines[1]}" == *napper-1* ]]
	done
	# Accepted, since all stacks have room; and no more frames than were asked for.
	run header -p "$first" --stack-storage-size 16
	[ "${lines[1]}" = 'napper-0 napper-1 naps ' ]
	denet-offcputime -q -f --perf-max-stack-depth 2 -p "$first" 0.3 >folded 2>err
	[ ! -s err ]
	awk -F ';' '/^napper/ { n++; if (NF > 5) { print; bad = 1 } } END { exit bad || !n }' folded
}

has_nappers() {
	[ "$(cat /proc/"$first"/task/*/comm | grep -c '^napper-[01]$')" = 2 ]
}

@test "names as they were written or as the linker has them, and lines of the source" {
	denet-offcputime -f --srcline -- "$naps" 1 5 10 >folded 2>err
	cat folded
	grep -E '^napper-0;.*;take_nap [^;]*\.c:[0-9]+;' folded
	[ -e "$build/tests/unwind/nofp_cpp" ] || skip "no C++ compiler"
	start_target "$build/tests/unwind/nofp_cpp" pause
	until_true runs "$target" nofp_cpp
	until_true grep -qE '^(S|D)' <(sed 's/.*) //' "/proc/$target/stat")
	denet-offcputime -f -p "$target" 0.3 >folded
	denet-offcputime -f --no-demangle -p "$target" 0.3 >mangled
	cat folded mangled
	grep -F ';Pause::wait' folded
	grep -F ';_ZN5Pause4waitEi' mangled
	denet-offcputime -f --inline -p "$target" 0.3 | grep -F ';Pause::wait'
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

# are_equal FILE…: they have the same sum, and it is one.
are_equal() {
	python3 "$top/tests/common/profile_sums.py" "$@" >sums
	cat sums
	[ "$(wc -l <sums)" = $# ]
	[ "$(cut -d' ' -f2 sums | sort -u | wc -l)" = 1 ]
	[ "$(head -1 sums | cut -d' ' -f2)" -gt 1000000 ]
}

@test "the sums of all outputs of a trace are equal, to the ns" {
	files='--pprof p.pb.gz --speedscope s.scope --flamegraph f.html'
	# Words on purpose.
	# shellcheck disable=SC2086
	denet-offcputime -f --ns -o text $files -- "$naps" 2 20 5 >out 2>err
	[ ! -s out ]
	are_equal text p.pb.gz s.scope f.html
	# shellcheck disable=SC2086
	denet-offcputime --json $files -- "$naps" 2 20 5 >out.json 2>err
	are_equal out.json p.pb.gz s.scope f.html
	grep -q take_nap s.scope
	# Files alone: there is no text.
	denet-offcputime --pprof p.pb.gz -- "$naps" 2 20 5 >out 2>err
	[ ! -s out ]
	are_equal p.pb.gz p.pb.gz
}

# Each node has both times; of the root they are the sums of the trace and of the recording.
# bats test_tags=whole
@test "the flame graph of a trace, compared with a recording" {
	denet-record -o old.data --off-cpu-thresh 0 -- "$naps" 1 10 5 2>err
	old=$(folded_ns <(denet-report -i old.data --folded) .)
	denet-offcputime -f --ns -o text --flamegraph f.html --diff old.data -- "$naps" 1 20 5 2>err
	PYTHONPATH=$top/tests/common PYTHONDONTWRITEBYTECODE=1 \
		python3 - "$(folded_ns text .)" "$old" "$(folded_ns text ';take_nap;')" <<-'END'
		import sys

		import profile_sums

		data = profile_sums.page("f.html")
		nodes = data["nodes"]
		now, old, naps = (int(ns) for ns in sys.argv[1:])
		assert data["other"] == "old.data"
		assert nodes[0][2:] == [now, old], (nodes[0], now, old)
		taken = [n for n in nodes if data["names"][n[1]] == "take_nap"]
		assert sum(n[2] for n in taken) == naps and sum(n[3] for n in taken) > 0, taken
	END
	# Before the trace, so that COMMAND does not run in vain.
	run -1 denet-offcputime --flamegraph g.html --diff /etc/passwd -- touch ran
	[[ "$output" == *"/etc/passwd"* ]]
	[ ! -e ran ]
	[ ! -e g.html ]
}

@test "addresses, in both forms" {
	denet-offcputime -v -- "$naps" 1 20 5 >out 2>err
	grep -E '^    [0-9a-f]{16} do_nanosleep$' out
	grep -E '^    [0-9a-f]{6,12} +take_nap$' out
	denet-offcputime -v --libbpf -- "$naps" 1 20 5 >out 2>err
	grep -E '^    #0  0x[0-9a-f]{16} do_nanosleep\+0x[0-9a-f]+$' out
	grep -E "^    #[0-9 ]{2} 0x0000[0-9a-f]{12} take_nap\+0x[0-9a-f]+ \($(realpath "$naps")\+0x[0-9a-f]+\)\$" out
	# Offsets within the function are those in the file.
	read -r place offset < <(sed -n 's/.* take_nap+0x\([0-9a-f]*\) (.*+0x\([0-9a-f]*\))$/\1 \2/p' out | head -1)
	start=$(nm "$naps" | awk '$3 == "take_nap" { print $1 }')
	[ $((0x$offset - 0x$place)) = $((0x$start)) ]
}

@test "intervals, each with what ended in it" {
	start_target "$naps" 1 100000 10
	until_true grep -q READY target.out
	denet-offcputime -p "$target" --interval 0.5 1.7 >out 2>err 3>&- &
	denet-offcputime -p "$target" -f --ns --interval 0.5 1.7 >folded 2>folded.err
	wait $!
	[ "$(grep -cE '^[0-9]{2}:[0-9]{2}:[0-9]{2}$' out)" -ge 3 ]
	awk 'NF && /take_nap/ { ns[n + 0] += $NF; all += $NF } !NF { n++ }
		END { for (i = 0; i < n; i++) { print ns[i]; if (ns[i] < 1e8 || ns[i] > 1.5e9) bad = 1 }
			exit bad || n < 3 || all < 1e9 || all > 3e9 }' folded
}

@test "a file is whole, or as it was" {
	echo before >old
	run -1 denet-offcputime --json -o /dev/full -- "$naps" 1 5 5
	[[ "$output" == *"cannot write /dev/full: No space left on device"* ]]
	chmod 640 old
	(
		ulimit -f 1
		run -1 denet-offcputime --json -o old -- "$naps" 1 5 5
		[[ "$output" == *"cannot write old: File too large"* ]]
	)
	[ "$(cat old)" = before ]
	run -1 denet-offcputime -o old -- /nonexistent/program
	[ "$(cat old)" = before ]
	run -1 denet-offcputime -o nowhere/file 1
	ln -s old link
	denet-offcputime -f -o link -- "$naps" 1 5 5 2>err
	[ -L link ]
	grep -q take_nap old
	[ "$(ls -A | grep -c 'old\..')" = 0 ]
}

@test "a reader that goes away ends it well" {
	{ denet-offcputime -f --never-ran 0.2 2>err; echo $? >status; } | true
	[ "$(cat status)" = 0 ]
	[ ! -s err ]
	{ denet-offcputime --interval 0.2 --never-ran 2>err; echo $? >status; } | head -2 >out
	[ "$(cat status)" = 0 ]
	[ ! -s err ]
}

# blocks PID: it waits for room in a pipe.
blocks() {
	is_at "$1" pipe_write
}

# trace_into_full_pipe: prints, but for a reader; $tracer is its PID.
trace_into_full_pipe() {
	rm -f pipe
	mkfifo pipe
	exec 5<>pipe
	dd if=/dev/zero of=pipe bs=4096 count=16 2>dd.err
	denet-offcputime -f -p "$target" >pipe 2>err 3>&- 5>&- &
	tracer=$!
	until_true traces "$tracer"
	kill -INT "$tracer"
	until_true blocks "$tracer"
	# The second one is taken, and does nothing.
	kill -INT "$tracer"
	until_true no_interrupt_pending "$tracer"
	until_true blocks "$tracer"
}

# no_interrupt_pending PID: a SIGINT that was sent to it has been taken.
no_interrupt_pending() {
	local signals

	signals=$(sed -n 's/^S\(hd\|ig\)Pnd:[[:space:]]*/0x/p' "/proc/$1/status" | tr '\n' '|')
	[ $(((${signals%|}) & 1 << 1)) = 0 ]
}

# Two threads, each with 4,096 stacks of its own, fill rings of a page that nobody reads.
@test "lost blocks are counted on stderr, with their time and the option that helps" {
	mkfifo go
	"$build/tests/workloads/stacks" --bits 13 --split 1 --wait <go >said 3>&- &
	target=$!
	exec 4>go
	until_true grep -q READY said
	denet-offcputime --mmap-pages 4K -f --ns -p "$target" -o folded 2>err 3>&- 4>&- &
	tracer=$!
	until_true traces "$tracer"
	kill -STOP "$tracer"
	echo >&4
	exec 4>&-
	wait "$target"
	kill -CONT "$tracer"
	wait "$tracer"
	cat err
	grep -E 'warning: [0-9,]+ blocks \([0-9.]+ m?s\) were lost, .*larger --mmap-pages' err
	refute grep -iE 'missed|unknown' folded
}

# is_printing: a child of $tracer waits for room in a pipe.
is_printing() {
	local child

	for child in $(pgrep -P "$tracer"); do
		! blocks "$child" || return 0
	done
	return 1
}

# has_intervals COUNT: so many intervals have been printed.
has_intervals() {
	[ "$(grep -c '^$' folded)" -ge "$1" ]
}

@test "the trace goes on while the stacks of an interval are printed" {
	local before

	start_target "$naps" 1 100000 10
	until_true grep -q READY target.out
	mkfifo pipe
	exec 5<>pipe
	dd if=/dev/zero of=pipe bs=4096 count=16 2>dd.err
	denet-offcputime -f --ns --interval 0.2 -p "$target" >pipe 2>err 3>&- 5>&- &
	tracer=$!
	until_true is_printing
	until_true is_at "$tracer" poll
	# Each of these naps takes 10 ms.
	before=$(switches "$target")
	until_true has_blocked "$target" $((before + 100))
	dd if=pipe of=zeros bs=4096 count=16 2>dd.err
	exec 6<pipe 5>&-
	: >folded
	cat <&6 >folded 3>&- &
	exec 6<&-
	until_true has_intervals 2
	kill -INT "$tracer"
	wait "$tracer"
	wait $!
	cat err
	[ ! -s err ]
	awk '/take_nap/ { ns += $NF } END { print ns; exit ns < 1e9 }' folded
}

@test "a second Ctrl-C while it prints is ignored, a third ends it" {
	start_target "$naps" 1 100000 10
	until_true grep -q READY target.out
	trace_into_full_pipe
	dd if=pipe of=zeros bs=4096 count=16 2>dd.err
	timeout 20 head -1 pipe | grep -aE '^napp?e?r?.* [0-9]+$'
	status=0
	wait "$tracer" || status=$?
	[ "$status" = 0 ]
	trace_into_full_pipe
	kill -INT "$tracer"
	status=0
	wait "$tracer" || status=$?
	exec 5>&-
	[ "$status" = 1 ]
	grep -q 'ended by another signal' err
}

# Both have each of the naps; their hooks run one after the other, with interrupts off.
@test "the time is that of a recording of the same naps" {
	need_perf
	mkfifo go
	bash -c 'read -r line; exec "$0" 2 50 10' "$naps" <go >said 3>&- &
	target=$!
	exec 4>go
	before=$(stolen)
	start_recording -p "$target" --off-cpu-thresh 0 --state S 4>&-
	denet-offcputime -f --ns --state S -p "$target" >folded 2>err 3>&- 4>&- &
	tracer=$!
	until_true traces "$tracer"
	echo >&4
	exec 4>&-
	wait "$target"
	wait "$tracer"
	finish_recording
	perf script -i live.data | fold >recorded
	for thread in napper-0 napper-1; do
		live=$(folded_ns folded "^$thread;.*;take_nap;")
		recorded=$(folded_ns recorded "^$thread;.*;take_nap;")
		echo "$thread: live $live ns, recorded $recorded ns"
		[ "$live" -ge 500000000 ]
		equal_within "$live" "$recorded" $((recorded / 100 + $(stolen_since "$before")))
	done
}

@test "processes that have ended have names, each thread its own entry" {
	denet-offcputime -f -- sh -c "for i in 1 2 3; do '$naps' 1 5 5; done" >folded 2>err
	grep -qE '^napper-0;.*;take_nap;' folded
	refute grep -qE '^napper-0;naps\+0x' folded
	denet-offcputime -m 1000 -- sh -c "for i in 1 2 3; do '$naps' 1 5 20; done" >out 2>err
	# A thread may have been kept from its CPU elsewhere as well.
	awk '!NF { nap = 0 } /^    take_nap$/ { nap = 1 } nap && $2 == "napper-0" { tids[$3] = 1 }
		END { for (tid in tids) n++; print n, "threads"; exit n != 3 }' out
}
