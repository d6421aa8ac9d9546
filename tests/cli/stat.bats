#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-stat counts what threads do, and its figures are those of others.
# tests: parallel

load lib

needs=root

# rows PART [FILE]: the rows of a part of the table, without its head.
rows() {
	awk -v part="$1" 'index($0, part) == 1 && !on { on = 1; next } on && !NF { exit } on' "${2:-out}"
}

# ns TIME UNIT: as a number of ns.
to_ns='function to_ns(value, unit) {
	return value * (unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1)
}'

# shares_add_up: running, queued and blocked are the whole time, in each row of all parts.
shares_add_up() {
	awk '/%.*%.*%.* (ns|us|ms|s) / {
		n++
		sum = 0
		for (i = 1; i <= NF && seen < 3; i++)
			if ($i ~ /^[0-9.]+%$/) { sum += $i; seen++ }
		seen = 0
		if (sum < 99.7 || sum > 100.3) { print "not 100 %: " $0; bad = 1 }
	     }
	     END { exit bad || !n }' "${1:-out}"
}

@test "threads, processes and commands, with those that have ended" {
	denet-stat -- sh -c 'for i in 1 2 3; do sleep 0.1; done' >out 2>err
	cat out
	[ ! -s err ]
	head -1 out | grep -E '^denet-stat: [0-9.]+ m?s, 4 threads \(4 of them ended\) of 4 processes$'
	[ "$(rows PROCESS | wc -l)" = 4 ]
	[ "$(rows PROCESS | grep -c '^sleep ')" = 3 ]
	[ "$(rows COMMAND | wc -l)" = 2 ]
	rows COMMAND | grep -E '^sleep +x3 '
	shares_add_up
	# Each of them sleeps for at least the time that it was asked to.
	rows PROCESS | awk "$to_ns"' $1 == "sleep" && to_ns($7, $8) < 100e6 { print; exit 1 }'
}

@test "naps are as long and as many as their thread knows" {
	denet-stat -o out -- "$naps" 2 20 10 counts 2>said
	cat out
	shares_add_up
	for thread in napper-0 napper-1; do
		read -r times away bracket < <(told_by_nap "$thread" said)
		rows COMMAND | awk -v name="$thread" -v away="$away" -v bracket="$bracket" -v times="$times" "$to_ns"'
			$1 == name { ns = to_ns($6, $7); print ns, "of", away, "to", bracket, $8, "of", times
				found = ns > 0.99 * away && $8 >= 20 && $8 >= times }
			END { exit !found }'
	done
}

@test "a target that is blocked all the time counts as long as the measurement" {
	start_target sleep 1000
	until_true runs "$target" sleep
	denet-stat -p "$target" -- sleep 0.5 >out 2>err
	cat out
	[ ! -s err ]
	head -1 out | grep -E ' 1 threads \(0 of them ended\) of 1 processes$'
	rows ALL | grep -E ' 0.0% +0.0% +100.0% .* S 100%$'
}

@test "the exit status is that of the command, and of a signal" {
	run -3 denet-stat -- sh -c 'exit 3'
	run -143 denet-stat -- sh -c 'kill $$'
	run -1 denet-stat -- /nonexistent
	[[ "$output" == *"/nonexistent"* ]]
	[[ "$output" != *"ALL"* ]]
	run -1 denet-stat -p "$(sh -c 'echo $$')"
	run -2 denet-stat --top x
}

@test "the output goes to a file, and a full disk is an error" {
	denet-stat -o table -- true >out 2>err
	[ ! -s out ] && grep -q '^ALL ' table
	run -1 denet-stat -o /dev/full -- true
	[[ "$output" == *"/dev/full"* ]]
	run -1 denet-stat -o no/such/directory -- true
	denet-stat -- true | head -1 >first
	[ -s first ]
}

@test "more processes than the table has rows" {
	denet-stat --top 3 -- "$build/tests/workloads/forks" --count 200 --parallel 8 --us 100 \
		>out 2>err
	cat out
	head -1 out | grep -E ' 201 threads \(201 of them ended\) of 201 processes$'
	[ "$(rows PROCESS | wc -l)" = 4 ]
	rows PROCESS | tail -1 | grep -Fx '(198 more: --top)'
	rows COMMAND | grep -E '^child +x200 '
	refute grep -q '^note:' out
	shares_add_up
}

# calls_of FILE: "NAME CALLS ERRORS" of all system calls in the table, whatever their files.
calls_of() {
	rows 'SYSTEM CALL' "$1" | awk '
		{ name = $1; sub(/\(.*/, "", name); calls[name] += $2
		  if ($3 !~ /\./) errors[name] += $3 }
		END { for (name in calls) print name, calls[name], errors[name] + 0 }' | sort
}

# calls_by_strace FILE: the same of the table that strace -c writes.
calls_by_strace() {
	awk '$4 > 0 && $NF != "total" { print $NF, $4, (NF > 5 ? $5 : 0) }' "$1" | sort
}

@test "system calls are as many as strace counts, with errors, signals and restarts" {
	command -v strace >/dev/null || skip "no strace"
	calls=$build/tests/workloads/calls
	strace -c -f -o strace.out "$calls"
	calls_by_strace strace.out >wanted
	denet-stat --syscalls --top 1000 -- "$calls" >out
	calls_of out >found
	cat out
	[ "$(wc -l <found)" -gt 15 ]
	diff wanted found
	grep -qx 'gettid 4000 0' found
	grep -qx 'close 200 200' found || grep -E '^close 20[0-9] 200$' found
}

@test "calls by category, by the file, by thread, and those that have not returned" {
	denet-stat --syscalls --top 1000 -- "$build/tests/workloads/calls" >out
	cat out
	rows 'SYSTEM CALL' | grep -E '^write\(pipe\) +21 .* ipc$'
	rows 'SYSTEM CALL' | grep -E '^write\(socket\) +30 .* network$'
	rows 'SYSTEM CALL' | grep -E '^read\(socket\) +30 .* network$'
	rows 'SYSTEM CALL' | grep -E '^clock_nanosleep +2[0-9] .* time$'
	rows CATEGORY | grep -E '^network +6[01] '
	# Calls that sleep are off the CPU for nearly all of their time.
	rows 'SYSTEM CALL' | awk '$1 == "clock_nanosleep" { for (i = 2; i <= NF; i++) if ($i ~ /%$/) share = $i }
		END { print share; exit share + 0 < 80 }'
	start_target sleep 1000
	until_true runs "$target" sleep
	denet-stat --syscalls -p "$target" -- sleep 0.2 >out
	rows 'HAS NOT RETURNED' | grep -E "^clock_nanosleep +2[0-9][0-9]\.[0-9]+ ms +sleep +$target$"
}

@test "calls of a 32-bit program have the names of its own table" {
	[ -x "$build/tests/unwind/pause32" ] || skip "no 32-bit program"
	timeout 0.1 "$build/tests/unwind/pause32" || [ $? = 124 ] ||
		skip "this kernel runs no 32-bit programs"
	start_target "$build/tests/unwind/pause32"
	until_true runs "$target" pause32
	denet-stat --syscalls -p "$target" -- sleep 0.2 >out
	cat out
	rows 'HAS NOT RETURNED' | grep -E "^pause\[32-bit\] .* pause32 +$target$"
}

@test "in a PID namespace of its own, with PIDs above 65535" {
	unshare -pf --mount-proc sh -c 'echo 70000 >/proc/sys/kernel/ns_last_pid 2>/dev/null || exit 77
		exec denet-stat --syscalls -- sh -c "sleep 0.1; sleep 0.1"' >out || status=$?
	[ "${status-}" != 77 ] || skip "the next PID cannot be chosen"
	cat out
	[ "$(rows PROCESS | awk '$1 == "sleep" && $2 > 70000 && $2 < 71000' | wc -l)" = 2 ]
	rows COMMAND | grep -E '^sleep +x2 '
	shares_add_up
}
