#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Tasks that end, in every order: names, maps and stacks are right, and no block is invented.
# tests: parallel

load lib

prepare() {
	exits=$build/tests/workloads/exits
}

# record OPTION… COMMAND…: at threshold 0, so that each block is a sample; what it was like goes
# to files that the tests look at: a line of comm, tid, end, ns and function of ours for each.
record() {
	before=$(cut -d' ' -f1 /proc/uptime) stolen=$(stolen)
	denet-record --off-cpu-thresh 0 --state S,D -m 4M "$@" >said 2>err
	after=$(cut -d' ' -f1 /proc/uptime)
	stolen=$(stolen_since "$stolen")
	perf script --ns -F comm,tid,time,period,event,ip,sym >script
	awk '
		/^[^\t]/ && NF { comm = $1; tid = $2; end = $3; ns = $4; ours = "-"
			sub(/:$/, "", end) }
		/^\t/ && $2 ~ /^wait_|^take_nap$/ { ours = $2 }
		/^$/ && comm != "" { print comm, tid, end, ns, ours; comm = "" }
		END { if (comm != "") print comm, tid, end, ns, ours }' script >blocks
}

# blocks_of NAME FUNCTION: the lives of that name, of which there is one at least, have no more
# blocks in the function than they waited, and as many with those around it, where one may wait
# for a page; and for the time that they tell. Time that the machine was not given may not be
# laid to a thread that was on its CPU all the same.
blocks_of() {
	awk -v name="$1" -v func="$2" -v stolen="$stolen" -v part="$(shared_part)" '
		NR == FNR {
			if ($1 != "life" || $3 != name)
				next
			lives++; waits[$2] += $4; away += $5
			bracket[$2] += $6
			known[$2] = $5 > 0
			next
		}
		$1 == name { all[$2]++ }
		$1 == name && $5 == func { n[$2]++; nr++; ns[$2] += $4; have += known[$2] ? $4 : 0 }
		END {
			for (tid in waits) {
				if (n[tid] > waits[tid] || waits[tid] > all[tid] + 0 ||
				    (bracket[tid] && ns[tid] > bracket[tid])) {
					print name, tid, "waited", waits[tid], "times for up to", bracket[tid],
						"ns:", n[tid] + 0, "blocks of", ns[tid] + 0, "and",
						all[tid] + 0, "in all"
					bad = 1
				}
			}
			print lives + 0, "lives,", have + 0, "ns recorded of", away + 0
			exit bad || !lives || !nr || !away || have < away * part - stolen
		}' said blocks
}

# No time off the CPU lies before the recording or after it.
nothing_invented() {
	awk -v before="$before" -v after="$after" '
		$3 - $4 / 1e9 < before - 0.02 || $3 > after + 0.02 { print "invented:", $0; bad = 1 }
		END { exit bad || !NR }' blocks
	refute grep '^:' blocks
}

@test "a thread that blocks and exits" {
	record -- "$exits" thread
	blocks_of brief wait_last
	nothing_invented
}

@test "a process that execs while a sibling is blocked" {
	record -- "$exits" exec
	blocks_of sibling wait_sibling
	# The new program has its own names, and its maps are the new ones.
	read -r times _ < <(told_by_nap napper-0 said)
	[ "$(grep -c '^napper-0 .* take_nap$' blocks)" = "$times" ]
	refute grep '^napper.*wait_sibling' blocks
	nothing_invented
}

@test "a process that is killed while it is blocked" {
	record -- "$exits" kill
	blocks_of victim wait_killed
	nothing_invented
}

@test "one PID after the other: each life has its own name, stack and block" {
	record -- "$exits" reuse
	[ "$(grep -c '^life [0-9]* latter ' said)" = 5 ]
	blocks_of former wait_former
	blocks_of latter wait_latter
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
		NR == FNR { counted[$1] = $2; next }
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
		}' <(truths said tid voluntary) blocks
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
		each=$(awk -v name="$name" '$1 == name && $5 == "wait_" name { ns += $4 }
			END { print ns }' blocks)
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

# no_end_before_the_last_sample NAME: where a process that goes on is said to have ended, perf since
# 6.12 forgets its name and its maps.
no_end_before_the_last_sample() {
	perf script --ns --show-task-events -F comm,pid,tid,time,event >events
	awk -v name="$1" '
		/PERF_RECORD_EXIT/ { split($2, id, "/"); if (id[1] == id[2]) ended[id[1]] = $0 }
		$1 == name && /offcpu-time/ {
			split($2, id, "/")
			nr++
			if (id[1] in ended) { print "after its end:", $0; bad = 1 }
		}
		END { exit bad || !nr }' events
}

# last_with_samples FILE…: of the files of a recording but the first, the last that has some: the very
# last one may begin when all is over.
last_with_samples() {
	local nr

	for ((nr = $#; nr >= 2; nr--)); do
		[ "$(samples "${!nr}")" -lt 5 ] || break
	done
	[ "$nr" -ge 2 ] && echo "${!nr}"
}

@test "a first thread that ends leaves the others their names, maps and build-ids" {
	record --window 20ms --call-graph dwarf -- "$exits" first
	blocks_of survivor wait_on
	nothing_invented
	no_end_before_the_last_sample survivor
	refute grep 'not unwound' err
	# Files that begin after it know the process as well.
	denet-record --off-cpu-thresh 0 --switch-output=200ms -o rot.data -- "$exits" first 15
	last=$(last_with_samples rot.data.*)
	perf script -i "$last" -F comm,ip,sym | grep -q wait_on
	perf buildid-list -i "$last" | grep -q "$exits"
}

first_thread_ended() {
	[ "$(grep '^State' "/proc/$1/task/$1/status" | cut -f2 | cut -c1)" = Z ]
}

@test "-p: a process whose first thread has ended already has its maps and is unwound" {
	"$exits" first 6000 >said 3>&- &
	pid=$!
	until_true first_thread_ended $pid
	denet-record --off-cpu-thresh 0 --call-graph dwarf -p $pid -- sleep 0.5 2>err
	kill $pid
	perf script -F comm,ip,sym | grep -q wait_on
	refute grep 'not unwound' err
	perf buildid-list | grep -q "$exits"
}

@test "a process that another thread than the first makes another program" {
	record --window 20ms --call-graph dwarf -- "$exits" usurp
	blocks_of sibling wait_sibling
	refute grep '^napper.*wait_sibling' blocks
	read -r times _ < <(told_by_nap napper-0 said)
	[ "$(grep -c '^napper-0 .* take_nap$' blocks)" = "$times" ]
	nothing_invented
	no_end_before_the_last_sample napper-0
	refute grep 'not unwound' err
	denet-record --off-cpu-thresh 0 --switch-output=150ms -o rot.data -- "$exits" usurp
	last=$(last_with_samples rot.data.*)
	perf script -i "$last" -F comm,ip,sym | grep -q take_nap
	perf buildid-list -i "$last" | grep -q naps
}
