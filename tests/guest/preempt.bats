#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# That a guest of run-tests.sh which is to preempt its own code does so: the other programs there would
# pass in any case.

modes=/sys/kernel/debug/sched/preempt

@test "a kernel that was booted with preempt=full preempts its own code" {
	grep -qw preempt=full /proc/cmdline || skip "not booted with preempt=full"
	cat $modes
	grep -q '(full)' $modes
}
