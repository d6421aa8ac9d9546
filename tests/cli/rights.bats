#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Who is not root records with capabilities, and each that is missing costs a named part.
# tests: parallel

load lib

needs=root

prepare() {
	command -v setpriv >/dev/null || skip "no setpriv"
	# The user nobody may not read the folders of bats.
	open=$(mktemp -d /tmp/denet-rights.XXXXXX)
	chmod 777 "$open"
	cp "$build/denet" "$open/denet-record"
	cp "$build/denet" "$open/denet-check"
	cp "$naps" "$open/naps"
	cp "$build/tests/workloads/pool" "$open/pool"
	cd "$open"
}

clean_up() {
	[ -z "${open:-}" ] || rm -rf "$open"
}

# with CAPS COMMAND…: as nobody, with these capabilities ("bpf,perfmon", or "none").
with() {
	local caps=-all

	[ "$1" = none ] || caps=-all,+${1//,/,+}
	shift
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps "$caps" \
		--ambient-caps "$caps" --bounding-set "$caps" "$@"
}

# Whether kernel addresses are hidden from who has no CAP_SYSLOG.
addresses_are_hidden() {
	[ "$(cat /proc/sys/kernel/kptr_restrict)" != 0 ] ||
		[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 1 ]
}

@test "without CAP_BPF or CAP_PERFMON nothing is recorded, and the missing one is named" {
	run -1 with none ./denet-record -- true
	[[ "$output" == *"CAP_BPF and CAP_PERFMON are missing"*setcap* ]]
	run -1 with perfmon ./denet-record -- true
	[[ "$output" == *"CAP_BPF is missing"* ]]
	run -1 with bpf ./denet-record -- true
	[[ "$output" == *"CAP_PERFMON is missing"* ]]
	[ ! -e perf.data ]
}

@test "CAP_BPF and CAP_PERFMON record; hidden kernel names are said once" {
	need_perf
	addresses_are_hidden || skip "kernel addresses are open to everybody here"
	run -0 with bpf,perfmon ./denet-record -o own.data -- ./naps 2 5 10
	[[ "$output" == *"[ denet-record: "*" 0 lost; wrote"* ]]
	[ "$(grep -c CAP_SYSLOG <<<"$output")" = 1 ]
	[ "$(grep -c 'warning:' <<<"$output")" = 1 ]
	perf script -f -i own.data -F comm,ip,sym >script 2>/dev/null
	grep -q take_nap script
	refute grep -q do_nanosleep script
}

# Unsure means not idle.
@test "CAP_BPF and CAP_PERFMON record time on the CPU, too" {
	need_perf
	run -0 with bpf,perfmon ./denet-record --wall -o own.data -- ./naps 2 5 10
	[[ "$output" == *"% running, "*"% blocked"* ]]
	perf script -f -i own.data -F event,period 2>/dev/null | grep -q on-cpu-time
}

@test "where kernel names are hidden no wait is idle, and a line says so" {
	need_perf
	addresses_are_hidden || skip "kernel addresses are open to everybody here"
	for frames in '' $(if_whole --user-callchains --raw-frames); do
		run -0 with bpf,perfmon ./denet-record $frames -o own.data -- ./pool --ms 200
		[ "$(grep -c 'idle waits are not recognized' <<<"$output")" = 1 ]
		[[ "$output" != *'idle apart'* ]]
		perf script -f -i own.data -F comm,period,event 2>/dev/null |
			awk '$1 == "accept" && $3 == "offcpu-time:" { ns += $2 }
				END { exit !(ns > 1e8) }'
	done
}

@test "CAP_SYSLOG buys the names of kernel functions" {
	need_perf
	[ "$(cat /proc/sys/kernel/kptr_restrict)" -lt 2 ] || skip "kernel.kptr_restrict is 2"
	run -0 with bpf,perfmon,syslog ./denet-record -o own.data -- ./naps 2 5 10
	refute grep -q CAP_SYSLOG <<<"$output"
	perf script -f -i own.data -F comm,ip,sym | grep -q do_nanosleep
}

@test "CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH buy build-ids of others' files" {
	need_perf
	mkdir -m 700 secret
	cp naps secret/hidden
	id=$(readelf -n naps | sed -n 's/.*Build ID: //p')
	[ -n "$id" ]
	./secret/hidden 1 3000 20 >out 3>&- &
	until_true grep -q READY out
	run -0 with bpf,perfmon,syslog ./denet-record -o a.data -p $! -- sleep 0.5
	[ "$(grep -c CAP_SYS_PTRACE <<<"$output")" -ge 1 ]
	run -0 with bpf,perfmon,syslog,sys_ptrace ./denet-record -o b.data -p $! -- sleep 0.5
	[[ "$output" == *CAP_DAC_READ_SEARCH* ]]
	run -0 with bpf,perfmon,syslog,sys_ptrace,dac_read_search \
		./denet-record -o c.data -p $! -- sleep 0.5
	refute grep -q CAP_ <<<"$output"
	kill $!
	refute grep -q "$id" <(perf buildid-list -f -i b.data)
	perf buildid-list -f -i c.data | grep -q "$id .*/secret/hidden"
}

# plain_nobody COMMAND…: becomes it, as nobody, without capabilities.
plain_nobody() {
	exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

# has_whole_chains: what was recorded last by tables, with -v.
has_whole_chains() {
	need_tables "$output"
	[ "$(by_tables 1)" -ge 20 ]
	[ "$(by_tables 8)" = 0 ]
	refute grep -E 'not whole: |end early' <<<"$output"
}

# Through its name, since its mapping may not be opened.
@test "CAP_BPF and CAP_PERFMON buy whole user stacks of own processes" {
	[ -x /usr/bin/python3 ] || skip "no python3"
	# It has no capabilities, which a COMMAND would inherit here.
	plain_nobody /usr/bin/python3 -S -E -c 'import time; [time.sleep(0.005) for i in range(9999)]' 3>&- &
	until_true is_at $! nanosleep
	run -0 with bpf,perfmon,syslog ./denet-record -v --off-cpu-thresh 0 -o own.data -p $! -- sleep 0.6
	kill $!
	has_whole_chains
}

@test "CAP_CHECKPOINT_RESTORE buys whole user stacks in deleted files, and is named" {
	cp naps gone
	plain_nobody ./gone 1 3000 20 >out 3>&- &
	until_true grep -q READY out
	rm gone
	run -0 with bpf,perfmon,syslog ./denet-record -v --off-cpu-thresh 0 -o a.data -p $! -- sleep 0.8
	need_tables "$output"
	why='its files may not be opened.* CAP_CHECKPOINT_RESTORE'
	grep -E "not whole: gone .*, $why|stacks of gone .*: $why" <<<"$output"
	[ "$(by_tables 8)" -ge 20 ]
	refute grep 'no call frame information' <<<"${output//without call frame information/}"
	run -0 with bpf,perfmon,syslog,checkpoint_restore \
		./denet-record -v --off-cpu-thresh 0 -o b.data -p $! -- sleep 0.8
	kill $!
	has_whole_chains
}

# The files of a process with capabilities may not be opened by who lacks them.
@test "what may not be opened for one process is opened for another one" {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps -all,+net_raw \
		--ambient-caps -all,+net_raw ./naps 1 6000 20 >first 3>&- &
	first=$!
	until_true grep -q READY first
	plain_nobody ./naps 1 6000 20 >second 3>&- &
	second=$!
	until_true grep -q READY second
	with bpf,perfmon,syslog ./denet-record -vv --off-cpu-thresh 0 -o own.data -p "$first,$second" \
		2>err 3>&- &
	denied="pid $first maps at .*: Permission denied"
	# Its processes cannot be confined: they keep CAP_PERFMON, which newer kernels let look at mappings.
	! is_sanitized || denied="pid $first maps at .*: (Permission denied|Operation not permitted)"
	until_true grep -qE "$denied|are not walked by unwind tables" err
	need_tables "$(<err)"
	kill "$first"
	until_true grep -q "pid $second maps at .* has its unwind table" err
	kill "$second"
}

@test "without CAP_IPC_LOCK rings are as large as the limits allow, which is said" {
	run -0 with bpf,perfmon,syslog sh -c 'ulimit -l 0; ./denet-record -m 4096 -- ./naps 1 5 10'
	[[ "$output" == *"warning: rings of "*" pages per CPU instead of 4096"*CAP_IPC_LOCK* ]]
	[[ "$output" == *" 0 lost; wrote"* ]]
}

@test "too few descriptors are said, and the soft limit is raised where that will do" {
	run -1 with bpf,perfmon,syslog sh -c 'ulimit -n 20; ./denet-record -- true'
	[[ "$output" == *"no descriptors left"*"ulimit -n"* ]]
	# The command gets the limit that we got.
	run -0 with bpf,perfmon,syslog sh -c 'ulimit -S -n 20; ./denet-record -- sh -c "ulimit -n"'
	[ "${lines[0]}" = 20 ]
}

@test "scripts/setcap.sh gives a file its capabilities, to a group if asked, and takes them" {
	command -v setcap >/dev/null || skip "no setcap"
	"$top/scripts/setcap.sh" "$open/denet-record" ||
		skip "this file system has no room for capabilities"
	run -0 setpriv --reuid 65534 --regid 65534 --clear-groups ./denet-record -- true
	# All that there are.
	"$top/scripts/setcap.sh" "$open/denet-check"
	run -0 setpriv --reuid 65534 --regid 65534 --clear-groups ./denet-check
	refute grep -E 'CAP_.*missing' <<<"$output"
	"$top/scripts/setcap.sh" -g 65533 "$open/denet-record"
	[ "$(stat -c '%a %g' denet-record)" = "750 65533" ]
	# By a shell, since setpriv itself still has root's rights when it looks for the file.
	run setpriv --reuid 65534 --regid 65534 --clear-groups sh -c './denet-record -- true'
	[ "$status" != 0 ]
	[[ "$output" == *"ermission denied"* ]]
	run -0 setpriv --reuid 65534 --regid 65533 --clear-groups ./denet-record -o g.data -- true
	"$top/scripts/setcap.sh" -r "$open/denet-record"
	chmod 755 denet-record
	run -1 setpriv --reuid 65534 --regid 65534 --clear-groups ./denet-record -- true
	[[ "$output" == *CAP_BPF* ]]
}

@test "a seccomp filter is told from missing rights" {
	run -1 "$build/tests/workloads/forbid" bpf ./denet-record -- true
	[[ "$output" == *"a seccomp filter refuses bpf(2)"*"--security-opt"* ]]
	run -1 "$build/tests/workloads/forbid" perf_event_open ./denet-record -- true
	[[ "$output" == *error:*"perf_event_open"* ]]
	[ ! -e perf.data ]
}

@test "capabilities of a user namespace are told from real ones" {
	command -v unshare >/dev/null || skip "no unshare"
	with none unshare -Ur true || skip "no user namespaces for everybody here"
	run -1 with none unshare -Ur ./denet-record -- true
	[[ "$output" == *"user namespace"* ]]
}

@test "a kernel without BTF is told" {
	run -1 unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec ./denet-record -- true'
	[[ "$output" == *"/sys/kernel/btf/vmlinux"*CONFIG_DEBUG_INFO_BTF* ]]
	[ ! -e perf.data ]
}

@test "denet-check: the verdict is what a recording does, for root and for nobody" {
	run -0 denet-check
	[[ "$output" == *"recording works here: "* ]]
	refute grep -q BAD <<<"$output"
	refute grep -q $'\033' <<<"$output"
	run -0 with bpf,perfmon ./denet-check
	[[ "$output" == *"warn  CAP_SYS_PTRACE"* ]]
	[[ "$output" == *"warn  CAP_CHECKPOINT_RESTORE"* ]]
	run -1 with bpf ./denet-check
	[[ "$output" == *"BAD   CAP_PERFMON"*"-> setcap "*"$open/denet-check"*"recording does not work"* ]]
	run -1 unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec ./denet-check'
	[[ "$output" == *"BAD   BTF"* ]]
}

@test "denet-check: each line that is BAD is followed by what repairs it" {
	run -1 with none ./denet-check
	awk '/^  BAD/ { if (bad) exit 1; bad = 1; next } /^        -> / { bad = 0; next }
	     bad { exit 1 } END { exit bad }' <<<"$output"
	[ "$(grep -c '^  BAD' <<<"$output")" -ge 5 ]
}

@test "denet-check --json says the same, and is JSON also where it fails" {
	command -v python3 >/dev/null || skip "no python3"
	run -0 --separate-stderr denet-check --json
	python3 -c 'import json, sys
check = json.load(sys.stdin)
assert check["works"] and check["way"] and len(check["checks"]) > 20' <<<"$output"
	run -1 --separate-stderr with none ./denet-check --json
	python3 -c 'import json, sys
check = json.load(sys.stdin)
assert not check["works"] and check["way"] is None
bad = [c for c in check["checks"] if c["status"] == "bad"]
assert bad and all(c["remedy"] for c in bad)' <<<"$output"
}
