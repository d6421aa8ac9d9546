#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# User stacks without frame pointers from end to end, held against what the threads of a program
# know of their own stacks: on any kernel, since neither gdb nor much time is needed.
# tests: parallel

load lib

prepare() {
	unwind=$build/tests/unwind
	teller=$unwind/teller
}

need_teller() {
	[ -x "$teller" ] || skip "this architecture's threads cannot tell their stacks"
	mkfifo gate
	exec 9<>gate
}

# waits N: the threads wait so many times each; $from is the time before, $to the time after, in ns.
waits() {
	echo "$1" >&9
	until_true grep -q "^waited $1 from=.* to=" said
	from=$(sed -n "s/^waited $1 from=\([0-9]*\) .*/\1/p" said)
	to=$(sed -n "s/^waited $1 .* to=//p" said)
}

# judged FROM TO: of the chains on stdin that ended between these, those of waits (in the end the
# first thread waits for the others, with the same leaf in some C libraries), held against what each
# thread said, frame for frame: "NAME TRUE FALSE" for each thread, and one that is false.
judged() {
	awk -v from="$1" -v to="$2" '
		NR == FNR && /^chain / {
			for (i = 2; i <= NF; i++) { split($i, a, "="); f[a[1]] = a[2] }
			truth[f["tid"]] = f["frames"]; name[f["tid"]] = f["name"]
			split(f["frames"], frames, ",")
			leaf[f["tid"]] = frames[1]
		}
		NR == FNR || !($1 in truth) || $2 < from || $2 > to { next }
		{ split($4, frames, ",") }
		frames[1] != leaf[$1] { next }
		$4 == truth[$1] { good[$1]++; next }
		!bad[$1]++ { print name[$1] " has " $4 >"/dev/stderr"
			     print "      and is " truth[$1] >"/dev/stderr" }
		END { for (tid in truth) print name[tid], good[tid] + 0, bad[tid] + 0 }' said - | sort
}

# all_true FROM TO LEAST: all of them are true, and there are so many of each thread at least.
all_true() {
	judged "$1" "$2" | tee judged
	[ "$(cut -d' ' -f1 judged | tr '\n' ' ')" = 'byte condition poll semaphore ' ]
	awk -v least="$3" '$2 < least || $3 { bad = 1 } END { exit bad }' judged
}

# names_true NAME FUNCTION DEPTH: the thread's chain has these names of the program's functions in
# perf's output, in the file script, and nothing between them.
names_true() {
	local tid want

	tid=$(sed -n "s/^chain tid=\([0-9]*\) name=$1 .*/\1/p" said)
	want="run_waiter;$(printf 'descend;%.0s' $(seq 0 "$3"))wait_over_and_over;$2;"
	awk -v tid="$tid" -v want="$want" '
		/^ *[0-9]+ *$/ { use = $1 == tid; chain = ""; next }
		use && NF == 2 { chain = $2 ";" chain }
		!NF { if (use && index(chain, want)) found++; use = 0 }
		END { print tid, want, found + 0; exit !found }' script
}

@test "dwarf: waits that ended have the chains that the threads know, and perf their names" {
	need_teller
	denet-record --call-graph dwarf --off-cpu-thresh 0 -- "$teller" <gate >said 2>err 3>&- 9>&- &
	recorder=$!
	until_true grep -q READY said
	waits 5
	exec 9>&-
	wait "$recorder"
	need_copies
	# The first, which it was interrupted in, and those it was asked for.
	file_chains | all_true 0 "$to" 6
	perf script -F tid,ip,sym 2>/dev/null >script
	names_true byte wait_for_byte 3
	names_true semaphore wait_for_semaphore 5
	names_true poll wait_in_poll 9
	names_true condition wait_for_condition 20
}

@test "dwarf: threads that are still blocked have the chains that they know" {
	need_teller
	"$teller" <gate >said 3>&- 9>&- &
	target=$!
	until_true grep -q READY said
	denet-record --call-graph dwarf -p "$target" -- true 2>err
	need_copies
	file_chains | all_true 0 inf 1
	# The chains by frame pointers, which end early in such a program.
	denet-record --call-graph fp -o fp.data -p "$target" -- true
	file_chains fp.data | judged 0 inf | tee judged
	[ "$(cut -d' ' -f2- judged | sort -u)" = '0 1' ]
}

# rests: the recorder has done what there was to do.
rests() {
	grep -q poll "/proc/$recorder/wchan"
}

@test "auto,BYTES: once the program is found out, its threads have the chains that they know" {
	need_teller
	denet-record -v --call-graph auto,8192 --off-cpu-thresh 0 --window 100ms -- \
		"$teller" <gate >said 2>err 3>&- 9>&- &
	recorder=$!
	until_true grep -q READY said
	waits 10
	until_true grep -q 'chains along its frame pointers end early' err
	until_true rests
	waits 3
	exec 9>&-
	wait "$recorder"
	need_copies
	file_chains >chains
	all_true "$from" "$to" 3 <chains
}

@test "a page that is missing costs what lies beyond it, and the chain says that it is cut" {
	denet-record -v --call-graph dwarf,32768 --off-cpu-thresh 20ms -- "$unwind/nofp" hole 2>err
	need_copies
	chains nofp 0 | grep '^descend;' >ours
	cat ours
	# Of the 600 frames those below the hole, and nothing else. It may have waited there for
	# more than its nap, as for a page of its code.
	grep -q "unwound: [0-9]* whole, $(wc -l <ours) \[truncated\], 0 by frame pointers" err
	refute grep -vx '\(descend;\)\{20,\}nap_below_a_hole;.*' ours
	grep -q ';nap_below_a_hole;take_nap;' ours
}

@test "a stack below a guard page is copied up to there, and is whole" {
	denet-record -v --call-graph dwarf,65528 --off-cpu-thresh 20ms -- "$unwind/nofp" guard 2>err
	need_copies
	grep -q 'unwound: [1-9][0-9]* whole, 0 \[truncated\], 0 by frame pointers' err
	chains nofp 200000000 >ours
	cat ours
	grep -q '^[^;]*;[^;]*;run_nap;descend;descend;descend;take_nap;' ours
}

@test "a stack that is recognized has its frames in a sample of its own" {
	# On one CPU, so that walks of other stacks come in between.
	taskset -c 0 denet-record --max-overhead 0 --off-cpu-thresh 0 -- sh -c \
		'"$1" 2 200 2 >/dev/null & "$2" --rounds 3000 --depth 5 >/dev/null; wait' sh "$naps" \
		"$build/tests/workloads/short" 2>err
	cat err
	perf script -F comm,ip,sym 2>/dev/null | awk '
		/^[^ \t]/ { comm = $1; met = 0; blocks += comm ~ /^napper-/; next }
		/take_nap/ && !met { met = 1; naps += comm ~ /^napper-/; others += comm !~ /^napper-/ }
		END { print blocks, naps, others; exit blocks < 200 || naps < blocks * 0.9 || others }'
}
