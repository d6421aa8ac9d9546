#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What names of frames take, with nothing else on the machine.

load ../cli/lib

needs=root

@test "names for 50,000 stacks of 30 frames take less than 2 s of CPU time" {
	DENET_TEST_TIMING=1 "$build/tests/unit/test_symbols" >out || { cat out; false; }
	grep '^ok .*many_stacks_take_little_time_and_memory$' out
}
