#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest.sh: what `make check-vm` runs in each guest, as root, in the host's own tree. Guests
# have no KVM: they run some ten times slower, and start programs slower still. So this is
# the part of the tests that counts blocks, measures long waits and compares single stacks, and
# no more of it than takes some minutes.
set -uo pipefail

cd "$(dirname "$(realpath "$0")")/../.." || exit 1
# One folder has no more files than it needs: perf and bats write where they are.
export HOME=/tmp XDG_CACHE_HOME=/tmp
export REQUIRE_BPF=1 TEST_LIMIT=${TEST_LIMIT:-240}
export DENET_TEST_SMALL=1 DENET_TEST_GUEST=1
# Linux 5.10 lacks features that the programs need: an error says so, and no file is left. denet-stat
# has what /proc tells, and says so.
stat_by_proc() {
	"$O/denet-stat" --json --all -o /tmp/lines -- sh -c 'sleep 1; exit 3' 2>/tmp/warning
	[ $? = 3 ] && [ "$(wc -l </tmp/warning)" = 1 ] &&
		grep 'the figures are from /proc.*this kernel is too old' /tmp/warning &&
		tail -1 /tmp/lines | grep '"ebpf":{"offcpu".*"error":"this kernel is too old.*"source":"proc"'
}
if [[ $(uname -r) = 5.10.* ]]; then
	said=$("$O/denet-record" -o /tmp/perf.data -- true 2>&1)
	status=$?
	echo "$said"
	if [ $status = 1 ] && [[ $said = *'this kernel is too old'*'Linux 5.11'* ]] &&
		[ ! -e /tmp/perf.data ] && stat_by_proc; then
		echo 'vm 1 0 0' >"$COUNTS"
	else
		echo 'vm 0 1 0' >"$COUNTS"
	fi
	exit
fi
# On arm64 all of these levels under one kernel, and under the others what differs by architecture:
# registers, stacks, reasons and unwinding. There is no bats.
if [ "$(uname -m)" = aarch64 ]; then
	names='test_waits|test_user_stacks|test_reason|test_stack_copies|test_unwind|test_stat'
	names+='|test_unwinder|test_callchain|test_perfdata_encode|test_user_address'
	if [[ $(uname -r) = 6.12.* ]]; then
		# But for the walks in BPF programs and by unwind tables, which are x86-64's.
		no_walks='test_frames|test_kernel_walk|test_left_walks|test_user_walk|test_stack_walker'
		names=$(basename -s .c tests/unit/test_*.c tests/bpf/test_*.c |
			grep -vxE "$no_walks" | paste -sd'|')
	fi
	# gdb takes ten seconds and more for each of its answers.
	TEST_LIMIT=1200
	export FILTER=${GUEST_FILTER:-"^($names)\$"}
	exec scripts/run-tests.sh unit bpf
fi
# A pattern of the programs' whole names, at all levels. In each kernel: what differs by kernel, as hooks,
# times, stacks, copies, symbols. The commands, which start many programs, one or two in each.
# GUEST_WHOLE=1 (level guests) runs all of it; level vm what shows in some minutes that the programs
# load, measure and walk right.
if [ "${GUEST_WHOLE:-0}" = 1 ]; then
	export DENET_TEST_SWITCHES=50000 DENET_TEST_WALKS=500 DENET_TEST_WHOLE=1 TEST_LIMIT=1200
	names='test_waits|test_attach_hooks|test_frames|test_kernels|test_kernel_walk|test_left_walks'
	names+='|test_running|test_stat|whole|live|reports|totals|states|kaslr'
	# cli/top takes ten minutes: in the kernel that has the least of what it asks for. There, user
	# stacks are walked in a guest of its own (6.1-smp).
	case $(uname -r) in
	6.1.*) names+='|test_stack_copies|chains|top|top_shares' ;;
	6.12.*) names+='|test_user_walk|clocks' ;;
	*) names+='|test_user_walk|test_stack_copies|test_in_flight' ;;
	esac
	# With a second CPU, that one comes and goes.
	[ "$(nproc)" = 1 ] || names+='|hotplug'
else
	case $(uname -r) in
	6.1.*) names='test_waits|test_kernels|whole|live|totals' ;;
	6.12.*) names='test_waits|test_attach_hooks|states' ;;
	*) names='test_waits|test_kernel_walk|reports|kaslr' ;;
	esac
	# A guest compares some hundred switches a second.
	export DENET_TEST_SWITCHES=2000
fi
export FILTER=${GUEST_FILTER:-"^($names)\$"} DENET_HOTPLUG=1
status=0
scripts/run-tests.sh bpf cli load guest || status=1
# Last, since it is for good; and in one guest, the quickest.
if [[ ${GUEST_WHOLE:-0} = 1 && $(uname -r) = 6.1.* && lockdown =~ ${GUEST_FILTER:-.} ]]; then
	FILTER='^lockdown$' DENET_LOCKDOWN=1 scripts/run-tests.sh cli || status=1
fi
exit $status
