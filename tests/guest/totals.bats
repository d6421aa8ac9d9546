#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-stat under other kernels: naps and calls are as long and as many as a workload knows.

load ../cli/lib

needs=root

@test "denet-stat counts naps, their calls, and the bytes of a command" {
	denet-stat --syscalls --json -o lines -- "$naps" 1 20 10 2>said
	tail -1 lines >last
	grep -o '"behaviour":{"class":"[a-z-]*"' last | sort | uniq -c
	grep -q '"source":"bpf"' last
	# The thread's own entry: at least 200 ms in at least 20 blocks of state S, in as many calls.
	grep -o '"comm":"napper-0"[^]]*' last | head -1 >napper
	cat napper
	sed -n 's/.*"S":{"count":\([0-9]*\),"total_ns":\([0-9]*\),.*/\1 \2/p' napper |
		awk '{ found = $1 >= 20 && $2 >= 198e6 } END { exit !found }'
	grep -o '"name":"clock_nanosleep"[^}]*' napper | grep -o '"count":[0-9]*' |
		awk -F: '{ found = $2 >= 20 } END { exit !found }'
}
