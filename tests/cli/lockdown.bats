#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Kernel lockdown. It goes up and never down again until the next boot, so it is for a machine that
# is thrown away: DENET_LOCKDOWN=1, as in tests/vm/guest.sh.

load lib

file=/sys/kernel/security/lockdown

needs=root

prepare() {
	[ "${DENET_LOCKDOWN:-0}" = 1 ] || skip "locks the kernel down: only with DENET_LOCKDOWN=1"
	[ -e $file ] || mount -t securityfs none /sys/kernel/security
}

@test "lockdown=integrity: a recording works, and denet-check says so" {
	echo integrity >$file
	# Its verdict is a recording's.
	run -0 denet-check
	[[ "$output" == *"ok    kernel lockdown"*integrity*"recording works here"* ]]
}

@test "lockdown=confidentiality: the cause and the remedy are named" {
	echo confidentiality >$file
	run -1 denet-record -- true
	[[ "$output" == *"lockdown (confidentiality) forbids"*"boot with lockdown=integrity"* ]]
	[ ! -e perf.data ]
	run -1 denet-check
	[[ "$output" == *"BAD   kernel lockdown"*"-> boot with lockdown=integrity"* ]]
	[[ "$output" == *"recording does not work here"* ]]
}
