#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The static program on other releases of Debian, older and newer than where it was built.
# tests: limit 600

load ../cli/lib

needs=

prepare() {
	program=$(ls "$build"/dist/denet-*-"$(uname -m)")
	[ -x "$program" ]
}

# records_on SUITE: a dynamic program of that release; its libc is found by its build-id.
records_on() {
	local suite=$1

	need_root
	need_perf
	command -v mmdebstrap >/dev/null || skip "no mmdebstrap: scripts/deps.sh dist"
	. "$top/scripts/suite-lib.sh"
	mmdebstrap --quiet --mode=root --variant=essential "$suite" root \
		"deb $(suite_mirror) $suite main" >log 2>&1 || { tail -20 log; false; }
	cp "$program" root/usr/local/bin/denet
	mkdir -p root/out
	unshare -m sh -c 'mount -t proc proc root/proc && mount --rbind /sys root/sys &&
		chroot root denet check >table &&
		exec chroot root denet record --call-graph dwarf --off-cpu-thresh 0 \
			-o /out/data -- sleep 0.6'
	grep -E "^ +denet .* $(uname -m) \\(static" table
	[ "$(samples root/out/data)" -ge 1 ]
	perf buildid-list -i root/out/data | grep libc
	perf script -i root/out/data --symfs root -F comm,ip,sym >script
	grep -q 'clock_nanosleep' script
	grep -q '__libc_start_main\|__libc_start_call_main' script
}

@test "it records and unwinds on Debian 11" {
	records_on bullseye
}

@test "it records and unwinds on Debian 13" {
	records_on trixie
}
