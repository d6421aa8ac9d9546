#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Services that lack memory or a CPU, looked at as in tests/cli/cases.bats. These tests use up what
# other tests need.

load ../cli/lib
load ../cli/service

prepare() {
	service=$build/tests/workloads/service
	unset SUDO_UID
}

clean_up() {
	end_case
}

@test "requests in a cgroup that has swapped" {
	make_swap
	make_memory_group 48M
	begin_service_in_group swap
	is_slow || skip "swap takes no time here"
	look_at -p "$target"
	shows 'do_swap_page\| swap  *touch_pages'
}

@test "a service beside a CPU hog" {
	# Both have one CPU.
	taskset -c 0 sh -c 'while :; do :; done' 3>&- &
	hog=$!
	taskset -c 0 "$build/tests/workloads/queued" --threads 1 --ms 60000 >/dev/null 3>&- &
	target=$!
	until_true has_thread "$target" sleeper
	look_at -p "$target"
	grep 'runnable' err
	kill -KILL "$target"
}

@test "a service in a cgroup without CPU quota left" {
	make_quota
	# shellcheck disable=SC2016 # expanded by the inner shell
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$1" --threads 1 --ms 60000' "$group" \
		"$build/tests/workloads/queued" >/dev/null 3>&- &
	target=$!
	until_true has_thread "$target" sleeper
	look_at -v -p "$target"
	! grep -q 'not shown by this kernel' err || skip "this kernel does not show it"
	grep 'throttled by a CPU quota' err
	kill -KILL "$target"
	wait "$target" || true
}
