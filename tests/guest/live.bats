#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-offcputime under other kernels: sums of naps, with the names of both sides, and of kernel
# threads.

load ../cli/lib

needs=root

@test "denet-offcputime sums up the naps of a command, and waits of kernel threads" {
	denet-offcputime --ns -f -- "$naps" 1 5 100 >folded 2>said
	cat folded said
	naps_ns=$(awk '/^napper-0;.*take_nap;.*do_nanosleep / { ns += $NF } END { printf "%.0f\n", ns }' folded)
	# Each of the five has its timer started before the thread leaves its CPU.
	[ "$naps_ns" -ge 450000000 ]
	denet-offcputime -k --never-ran --libbpf 0.2 >out 2>err
	cat err
	grep -qx '    kthread' out
}
