#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# record.sh PROGRAM TESTS: in a guest of arm64, whose /w comes to the host: what the static program
# says of that machine, and recordings of threads that wait in known functions: with frame
# pointers and signed return addresses, and without frame pointers.
set -eu

program=$1 tests=$2
cp "$program" /tmp/denet
cd /tmp
uname -r -m >/w/machine
./denet check >/w/table 2>&1 || true
./denet record --reason --off-cpu-thresh 0 -o fp.data -- \
	"$tests/workloads/waits" --count 3 --ms 100 >/w/said 2>/w/fp.err
./denet record --off-cpu-thresh 0 --call-graph dwarf -o dwarf.data -- \
	timeout 5 "$tests/unwind/nofp_static" nested 2>/w/dwarf.err || [ $? = 124 ]
cp fp.data dwarf.data /w
cat /proc/kallsyms >/w/kallsyms
