#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Tasks that end, in every order: names, maps and stacks are right, and no block is invented.

load lib

setup() {
	need_root
	need_perf
	enter_tmp
	exits=$build/tests/workloads/exits
}

# record OPTION… COMMAND…: at threshold 0, so that each block is a sample; what it was like goes
# to files that the tests look at: a line of comm, tid, end, ns and function of ours for each.
record() {
	denet-record --off-cpu-thresh 0 --state S,D -m 4M "$@" >said 2>err
	perf script --ns -F comm,tid,time,period,event,ip,sym >script
	awk '
		/^[^\t]/ && NF { comm = $1; tid = $2; end = $3 + 0; ns = $4; ours = "-" }
		/^\t/ && $2 ~ /^wait_|^take_nap$/ { ours = $2 }
		/^$/ && comm != "" { print comm, tid, end, ns, ours; comm = "" }
		END { if (comm != "") print comm, tid, end, ns, ours }' script >blocks
}

# one_block NAME FUNCTION MIN_MS MAX_MS: every life of that name has exactly one block in the
# function, of that length; and there is one life at least. A task that is preempted on its way
# into a sleep sleeps less than it asked for: half of it is asked for here.
one_block() {
	awk -v name="$1" -v func="$2" -v min="$3" -v max="$4" '
		NR == FNR { if ($1 == "life" && $4 == name) lives[$3]++; next }
		$1 == name && $5 == func {
			blocks[$2]++
			if ($4 < min * 1e6 || $4 > max * 1e6) { print "odd:", $0; bad = 1 }
		}
		END {
			for (tid in lives) {
				n++
				if (blocks[tid] != lives[tid]) {
					print name, tid, lives[tid], "lives,", blocks[tid] + 0, "blocks"
					bad = 1
				}
			}
			exit bad || !n
		}' said blocks
}

# Nobody was off the CPU for longer than the recording took.
nothing_invented() {
	awk '
		FNR == 1 || $3 < first { first = $3 }
		$3 > last { last = $3 }
		$4 > longest { longest = $4 }
		{ if ($3 - $4 / 1e9 < begin || !begin) begin = $3 - $4 / 1e9 }
		END { exit !(NR && longest <= (last - begin) * 1e9 + 1000) }' blocks
	refute grep '^:' blocks
}

@test "a thread that blocks and exits" {
	record -- "$exits" thread
	one_block brief wait_last 15 300
	nothing_invented
}

@test "a process that execs while a sibling is blocked" {
	record -- "$exits" exec
	one_block sibling wait_sibling 40 500
	# The new program has its own names, and its maps are the new ones.
	[ "$(grep -c '^napper-0 .* take_nap$' blocks)" = 3 ]
	refute grep '^napper.*wait_sibling' blocks
	nothing_invented
}

@test "a process that is killed while it is blocked" {
	record -- "$exits" kill
	one_block victim wait_killed 40 500
	nothing_invented
}

@test "one PID after the other: each life has its own name, stack and block" {
	record -- "$exits" reuse
	[ "$(grep -c '^life .* latter$' said)" = 5 ]
	one_block former wait_former 10 200
	one_block latter wait_latter 10 200
	refute grep '^former .*wait_latter\|^latter .*wait_former' blocks
	nothing_invented
}

@test "two thousand short processes: every one has its block, name and stack" {
	record -- "$build/tests/workloads/forks" --count 2000 --parallel 4 --us 200
	[ "$(grep -c '^truth ' said)" = 2000 ]
	# As often as the kernel counted: one whose timer is over before it sleeps has no block, and
	# one may wait for a page as well, in the counted time or around it. Switches that the
	# kernel showed to nobody are told.
	unseen=$(sed -n 's/.*warning: \([0-9]*\) switches were not seen.*/\1/p' err)
	awk -v unseen="${unseen:-0}" '
		NR == FNR {
			for (i = 1; i <= NF; i++) {
				split($i, field, "=")
				truth[field[1]] = field[2]
			}
			counted[truth["tid"]] = truth["voluntary"]
			next
		}
		$1 == "child" { all[$2]++; once[$2] += $5 == "wait_once" }
		END {
			for (tid in counted) {
				n += once[tid]
				missing += counted[tid] > all[tid] ? counted[tid] - all[tid] : 0
				bad += once[tid] > 1 || once[tid] > counted[tid]
				if (counted[tid] > all[tid] || once[tid] > 1 || once[tid] > counted[tid])
					print tid, once[tid] + 0, "<=", counted[tid], "<=", all[tid] + 0
			}
			exit bad || missing > unseen || n <= 1000
		}' <(grep '^truth ' said) blocks
	awk '$5 == "wait_once" && $1 != "child"' blocks >strangers
	[ ! -s strangers ]
	nothing_invented
}

@test "one PID after the other, with sums, across windows: as each block was" {
	# Both recorders see each of the blocks.
	record -- denet-record -o sums.data --window 20ms -- "$exits" reuse
	perf script -i sums.data | fold >folded
	refute grep '^former;.*wait_latter\|^latter;.*wait_former' folded
	for name in former latter; do
		each=$(awk -v name="$name" '$1 == name && $5 == "wait_" name { ns += $4; n++ }
			END { if (n == 5) print ns }' blocks)
		sums=$(awk -v name="^$name;.*wait_$name;" '$0 ~ name { ns += $NF } END { print ns }' folded)
		equal_within "$each" "$sums" $((each / 100))
	done
}

@test "-p: a target's PID that another process has now is not followed" {
	mkfifo gate
	sh -c 'read -r line <gate' 3>&- &
	old=$!
	start_recording -p "$old"
	echo >gate
	finish_recording
	[ "$status" = 0 ]
	until_true gone "$old"
	run denet-record -p "$old" -- true
	[ "$status" != 0 ]
}
