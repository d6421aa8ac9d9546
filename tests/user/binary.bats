#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The program as it was built: hardened against errors of its own, which may run as root.

load ../cli/lib

needs=

prepare() {
	[ -x "$build/denet" ]
	nm -D "$build/denet" | refute grep -q __asan_init || skip "built with sanitizers"
	# The static program of `make dist` has no dynamic symbols; tests/dist looks at it.
	readelf -lW "$build/denet" | grep -q 'program interpreter' || skip "built as a static program"
}

@test "it is position-independent, and its stack is not executable" {
	readelf -hW "$build/denet" | grep -q 'Type: *DYN'
	readelf -lW "$build/denet" | awk '/GNU_STACK/ { seen = 1; bad = $7 ~ /E/ } END { exit !seen || bad }'
}

@test "its tables of addresses are read-only once it runs (full RELRO)" {
	readelf -lW "$build/denet" | grep -q GNU_RELRO
	readelf -dW "$build/denet" | grep -q 'BIND_NOW\|Flags:.*NOW'
}

@test "its stack is protected, and calls of the C library are checked for overflows" {
	nm -D "$build/denet" | grep -q 'U __stack_chk_fail'
	nm -D "$build/denet" | grep -q 'U __[a-z]*printf_chk'
}
