#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# One table of all time of a program, as README.md shows it.

load lib
load wall

# time_of WAIT: of that row of the table of denet-report, in ns.
time_of() {
	awk -v wait="$1" '$2 == "%" && index($0, wait) {
		unit["ns"] = 1; unit["us"] = 1e3; unit["ms"] = 1e6; unit["s"] = 1e9
		ns += $3 * unit[$4] } END { printf "%.0f\n", ns }' table
}

# within NS LEAST MOST: its share of what the program had asked for, in percent.
within() {
	awk -v ns="$1" -v all="$((lock + disk + cpu))" -v least="$2" -v most="$3" 'BEGIN {
		share = 100 * ns / all; print share; exit !(share >= least && share <= most) }'
}

@test "half lock, quarter disk, quarter CPU: one table adds up, and is as the program has it" {
	denet-record --wall -i --max-overhead 0 -- "$build/tests/workloads/shares" --ms 1500 \
		2>err >said || status=$?
	[ "${status:-0}" != 77 ] || skip "no disk that one waits for"
	cat err said
	denet-report --sort wait >report
	sed -n '/SHARE/,/^$/p' report | tee table
	awk '$2 == "%" { sum += $1 } END { print sum; exit !(sum > 99 && sum < 101) }' table
	lock=$(time_of 'a lock or condition (futex)')
	disk=$(time_of 'the disk (fdatasync)')
	cpu=$(time_of '(running)')
	echo "lock $lock disk $disk cpu $cpu"
	within "$lock" 45 55
	# The program takes stolen time and interrupts for waits for the disk.
	within "$disk" 5 30
	within "$cpu" 20 50
}
