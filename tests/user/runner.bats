#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# run-tests.sh itself, on a tree of fake programs: a program that fails once is flaky, one that
# fails twice is a failure, and more than two flaky programs fail the run.

bats_require_minimum_version 1.5.0

setup() {
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree/scripts" "$tree/tests/unit" "$tree/tests/user" "$tree/build/tests/unit"
	cp "$BATS_TEST_DIRNAME/../../scripts/run-tests.sh" "$tree/scripts/"
	unset O FILTER COUNTS REQUIRE_BPF RETRY V
}

# fake NAME COMMAND…: a program of level unit that runs this, then reports one test that passed.
fake() {
	local file=$tree/build/tests/unit/test_$1

	: >"$tree/tests/unit/test_$1.c"
	shift
	printf '#!/bin/bash\necho 1..1\n%s\necho "ok 1"\n' "$*" >"$file"
	chmod +x "$file"
}

# Commands for fake: it fails the first time, or each time.
once='[ -e $0.ran ] || { touch $0.ran; echo "not ok 1 - the first time"; exit 1; }'
always='echo "not ok 1 - each time"; exit 1'

run_unit() {
	run "$@" "$tree/scripts/run-tests.sh" unit
}

@test "a program that fails once is listed as flaky, and the run passes" {
	fake good true
	fake once "$once"
	run_unit -0 env COUNTS="$tree/counts"
	[[ "$output" == *"again unit/test_once: 0 passed, 1 failed"*"not ok 1 - the first time"* ]]
	[[ "$output" == *"flaky unit/test_once: 1 passed"* ]]
	[ "${lines[-2]}" = 'flaky: unit/test_once' ]
	[ "${lines[-1]}" = '2 passed, 0 failed, 0 skipped' ]
	[ "$(cat "$tree/counts")" = $'unit 2 0 0\nflaky unit/test_once' ]
}

@test "a program that fails twice is a failure" {
	fake good true
	fake always "$always"
	run_unit -1
	[[ "$output" == *"FAIL  unit/test_always: 0 passed, 1 failed"*"not ok 1 - each time"* ]]
	[[ "$output" != *flaky* ]]
	[ "${lines[-1]}" = '1 passed, 1 failed, 0 skipped' ]
}

@test "two flaky programs pass, three fail the run" {
	fake a "$once"
	fake b "$once"
	run_unit -0
	[ "${lines[-1]}" = '2 passed, 0 failed, 0 skipped' ]
	rm "$tree"/build/tests/unit/*.ran
	fake c "$once"
	run_unit -1
	[ "$(grep -c '^flaky: ' <<<"$output")" = 3 ]
	[[ "${lines[-2]}" == 'FAIL: 3 programs '* ]]
	[ "${lines[-1]}" = '3 passed, 1 failed, 0 skipped' ]
}

@test "what dies, hangs or tells no plan is run again, too" {
	fake dies '[ -e $0.ran ] || { touch $0.ran; kill -SEGV $$; }'
	fake hangs '[ -e $0.ran ] || { touch $0.ran; sleep 1000; }'
	run_unit -0 env TEST_LIMIT=3
	[[ "$output" == *"again unit/test_dies: "*"(died of signal 11)"* ]]
	[[ "$output" == *"again unit/test_hangs: "*"(killed after 3 s)"* ]]
	[ "${lines[-1]}" = '2 passed, 0 failed, 0 skipped' ]
}

@test "a bats file that fails once is flaky" {
	# bats would take a line that begins with its keyword for a test of this file.
	printf '%s "fails once" {\n' @test >"$tree/tests/user/fake.bats"
	echo '[ -e "$tree/ran" ] || { touch "$tree/ran"; false; }; }' >>"$tree/tests/user/fake.bats"
	export tree
	run -0 "$tree/scripts/run-tests.sh" user
	[ "${lines[-2]}" = 'flaky: user/fake' ]
}

@test "RETRY=0: a program that fails once is a failure" {
	fake once "$once"
	run_unit -1 env RETRY=0
	[ "${lines[-1]}" = '0 passed, 1 failed, 0 skipped' ]
}

@test "a run in which nothing passes fails" {
	fake skips 'echo "ok 1 # SKIP not here"; exit 4'
	run_unit -1
	[[ "$output" == *"ok    unit/test_skips: 0 passed, 1 skipped"*"# SKIP not here"* ]]
	[ "${lines[-1]}" = '0 passed, 0 failed, 1 skipped' ]
}
