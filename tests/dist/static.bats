#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The static program of `make dist`, where nothing else is.

load ../cli/lib

needs=

prepare() {
	program=$(ls "$build"/dist/denet-*-"$(uname -m)")
	[ -x "$program" ]
}

# make_root: in the folder root, a system that holds busybox, the program, and no library.
make_root() {
	mkdir -p root/bin root/proc root/sys root/out
	cp "$(command -v busybox)" root/bin/busybox
	cp "$program" root/denet
	[ "$(find root -type f | wc -l)" = 2 ]
}

# in_root COMMAND…: there, with the kernel's file systems, which go with it.
in_root() {
	unshare -m sh -c 'mount -t proc proc root/proc && mount --rbind /sys root/sys &&
		exec chroot root "$@"' sh "$@"
}

@test "it has no interpreter, wants no library, and is stripped" {
	refute grep -q 'program interpreter' <(readelf -lW "$program")
	refute grep -q NEEDED <(readelf -dW "$program")
	refute grep -q '\.symtab\|\.debug_' <(readelf -SW "$program")
	[ "$(stat -c %s "$program")" -lt 7000000 ]
}

@test "it tells nothing of where it was built" {
	refute grep -aqF "$top" "$program"
	refute grep -aqE '/libperf\.[A-Za-z0-9]{6}/' "$program"
}

@test "the checksums hold, and the tarball is a prefix that works" {
	cp "$build"/dist/* .
	sha256sum -c SHA256SUMS
	mkdir local
	tar -xzf "$(basename "$program").tar.gz" -C local --strip-components=1
	cmp "$program" local/bin/denet
	for name in denet-offcputime denet-record denet-report denet-stat denet-check perf-denet; do
		[ "$(local/bin/$name --version)" != "" ]
		[ -s local/share/man/man1/$name.1 ]
		[ -s local/share/bash-completion/completions/$name ]
	done
	for name in denet-fold denet-setcap; do
		local/bin/$name -h >/dev/null
		[ -s local/share/man/man1/$name.1 ]
	done
	bash -n local/share/denet/archive.sh
}

@test "it records in a root that holds nothing but busybox" {
	need_root
	need_perf
	make_root
	in_root /denet record --off-cpu-thresh 0 -o /out/data -- \
		/bin/busybox sh -c 'for i in 1 2 3; do /bin/busybox sleep 0.1; done' 2>said ||
		{ cat said; false; }
	perf script -i root/out/data -F comm,ip,sym >script
	grep -q 'nanosleep' script
	# The user side: sleep waits below its main(), and its file is known by its build-id.
	perf buildid-list -i root/out/data | grep /bin/busybox
	[ "$(samples root/out/data)" -ge 3 ]
}

@test "there, denet-check says that it is static and that a recording works" {
	need_root
	make_root
	in_root /denet check >table || { cat table; false; }
	grep -E "^ +denet .* $(uname -m) \\(static" table
	grep 'recording works here' table
}

@test "it unwinds there" {
	need_root
	need_perf
	make_root
	cp "$build/tests/unwind/nofp_static" root/
	in_root /denet record --call-graph dwarf --off-cpu-thresh 0 -o /out/data -- \
		/bin/busybox timeout 1 /nofp_static nested 2>err || [ $? = 143 ] || { cat err; false; }
	need_copies
	perf script -i root/out/data --comm nofp_static --symfs root -F comm,ip,sym >script
	# As deep as it says, down to the first function.
	[ "$(grep -c ' descend$' script)" -ge 21 ]
	grep -q ' wait_in_pause$' script
	grep -q ' main$' script
}

@test "users are numbers or names of /etc/passwd, and that is said" {
	need_root
	make_root
	mkdir root/etc
	echo 'clerk:x:4321:4321::/:/bin/sh' >root/etc/passwd
	for user in clerk 4321 clerk,7; do
		in_root /denet record -u $user -o /out/data -- /bin/busybox true
	done
	run -1 in_root /denet record -u nobody -o /out/data -- /bin/busybox true
	[[ "$output" == *"/etc/passwd, the only user database"* ]]
	rm root/etc/passwd
	run -1 in_root /denet record -u clerk -o /out/data -- /bin/busybox true
	[[ "$output" == *"no such user"* ]]
	refute grep -q 'libnss\|dlopen' <<<"$output"
}

@test "no library of the machine is loaded, be it asked for" {
	need_root
	command -v strace >/dev/null || skip "no strace"
	# Of what runs here, nothing is dynamic.
	DEBUGINFOD_URLS=http://127.0.0.1:9 strace -f -e trace=openat,openat2,mmap -o trace "$program" record \
		-o data --call-graph dwarf -- /bin/busybox sleep 0.1
	grep -q 'open.*busybox' trace
	refute grep -E 'libdebuginfod|libnss|mmap\(.*PROT_EXEC.*MAP_PRIVATE, [0-9]' trace
}
