#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What compares figures that a machine under load may spoil: the costs of the benchmark.

load ../cli/lib

needs=root
export O=$build

@test "programs that record take longer at a switch than those that do nothing" {
	run -0 "$top/scripts/bench.sh" --quick
	echo "$output"
	awk '$1 == "floor" { floor = $3 } $1 == "exact" && $3 + 0 > 0 && !exact { exact = $3 }
	     END { exit !(floor > 0 && exact > floor) }' <<<"$output"
}
