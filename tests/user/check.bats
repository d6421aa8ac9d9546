#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-check without rights: the table is there, and usage errors are told as asked for.

load ../cli/lib

needs=

@test "without rights the table is there and the verdict is no" {
	[ "$(id -u)" != 0 ] || skip "runs without root"
	run -1 denet-check
	[[ "$output" == *"BAD   CAP_BPF"* ]]
	[[ "$output" == *"recording does not work here"* ]]
}

@test "the table tells version, architecture, and whether the program is static" {
	version=$(denet --version)
	linked=static
	! readelf -l "$(realpath "$(command -v denet)")" | grep -q 'program interpreter' ||
		linked=dynamic
	denet-check >table || [ $? = 1 ]
	grep -E "^ +denet +${version#denet } $(uname -m) \($linked" table
	denet-check --json | grep -F "\"value\": \"${version#denet } $(uname -m) ($linked"
}

@test "usage errors: words on stderr, or JSON on stdout" {
	run -2 denet-check x
	[[ "$output" == *"denet-check --help"* ]]
	run -2 denet-check --no-such-option
	run -2 --separate-stderr denet-check --no-such-option --json
	[ "$output" = '{"error": "usage: denet-check [--json] [-v]"}' ]
	run -2 --separate-stderr denet-check --json x
	[[ "$output" == '{"error": '* ]]
}

@test "a table that cannot be written is an error" {
	status=0
	denet-check >/dev/full 2>err || status=$?
	[ "$status" = 1 ]
	grep -q "cannot print the table" err
}

@test "no colours but on a terminal, and none there with NO_COLOR" {
	command -v script >/dev/null || skip "no script(1)"
	run denet-check
	[[ "$output" != *$'\033'* ]]
	run env TERM=xterm script -qc denet-check /dev/null
	[[ "$output" == *$'\033[32mok'* ]]
	run env TERM=xterm NO_COLOR=1 script -qc denet-check /dev/null
	[[ "$output" != *$'\033'* ]]
	run env TERM=dumb script -qc denet-check /dev/null
	[[ "$output" != *$'\033'* ]]
}
