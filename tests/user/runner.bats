#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# run-tests.sh itself, on a tree of fake programs: a program that fails once is flaky, one that
# fails twice is a failure, and more than two flaky programs fail the run. And check.sh, which runs
# it, on a tree where nothing is installed and built.

bats_require_minimum_version 1.5.0

setup() {
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree/scripts" "$tree/tests/unit" "$tree/tests/user" "$tree/build/tests/unit"
	cp "$BATS_TEST_DIRNAME"/../../scripts/{run,repeat}-tests.sh "$tree/scripts/"
	unset O FILTER COUNTS TIMES TEST_TIMES JOBS REQUIRE_BPF RETRY V
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
	[ "$(awk '$1 == "unit" { n += $2; bad += $3 + $4 } END { print n, bad }' "$tree/counts")" = '2 0' ]
	[ "$(grep flaky "$tree/counts")" = 'flaky unit/test_once' ]
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

# bats test_tags=whole
@test "what dies, hangs or tells no plan is run again, too" {
	fake dies '[ -e $0.ran ] || { touch $0.ran; kill -SEGV $$; }'
	fake hangs '[ -e $0.ran ] || { touch $0.ran; sleep 1000; }'
	run_unit -0 env TEST_LIMIT=3
	[[ "$output" == *"again unit/test_dies: "*"(died of signal 11)"* ]]
	[[ "$output" == *"again unit/test_hangs: "*"(killed after 3 s)"* ]]
	[ "${lines[-1]}" = '2 passed, 0 failed, 0 skipped' ]
}

# bats test_tags=whole
@test "a program whose result is lost is a failure" {
	# The runner starts processes of its own that take programs; that of this one is killed.
	fake lost "
		name='$tree/scripts/run-tests.sh' pid=\$\$ above=()
		while [ \$pid -gt 1 ]; do
			! grep -qaF \"\$name\" /proc/\$pid/cmdline || above+=(\$pid)
			pid=\$(awk '/^PPid:/ { print \$2 }' /proc/\$pid/status)
		done
		kill -KILL \${above[-2]}"
	run_unit -1 env JOBS=1
	[[ "$output" == *"FAIL  unit/test_lost: it was not run to its end"* ]]
	[ "${lines[-1]}" = '0 passed, 1 failed, 0 skipped' ]
}

@test "a program may name a time limit of its own, and TEST_LIMIT overrules it" {
	fake hangs 'sleep 1000'
	echo '/* tests: limit 2 */' >"$tree/tests/unit/test_hangs.c"
	run_unit -1 env RETRY=0
	[[ "$output" == *"(killed after 2 s)"* ]]
	run_unit -1 env RETRY=0 TEST_LIMIT=1
	[[ "$output" == *"(killed after 1 s)"* ]]
}

@test "a bats file that fails once is flaky" {
	# bats would take a line that begins with its keyword for a test of this file.
	printf '%s "fails once" {\n' @test >"$tree/tests/user/fake.bats"
	echo '[ -e "$tree/ran" ] || { touch "$tree/ran"; false; }; }' >>"$tree/tests/user/fake.bats"
	export tree
	run -0 "$tree/scripts/run-tests.sh" user
	[ "${lines[-2]}" = 'flaky: user/fake' ]
}

@test "programs run beside each other, and again alone" {
	# Each waits for the other one; the first time, it fails then.
	for name in a b; do
		fake $name '[ -e $0.ran ] || { touch $0.ran; until [ -e ${0%_*}_a.ran ] && \
			[ -e ${0%_*}_b.ran ]; do sleep 0.05; done; echo not ok 1; exit 1; }
			[ ! -e ${0%_*}_busy ] || { echo not ok 1; exit 1; }
			touch ${0%_*}_busy; sleep 0.2; rm ${0%_*}_busy'
	done
	run_unit -0 env JOBS=2 TEST_LIMIT=20
	[[ "$output" != *'killed after'* ]]
	[ "$(grep -c '^flaky: ' <<<"$output")" = 2 ]
	[ "${lines[-1]}" = '2 passed, 0 failed, 0 skipped' ]
}

@test "programs of level bpf run alone, but for those that say otherwise" {
	mkdir -p "$tree/tests/bpf" "$tree/build/tests/bpf"
	for name in a b c d; do
		fake $name 'echo "begin $0"; d=$(dirname "$0"); echo "+${0##*_}" >>$d/order; sleep 0.3
			echo "-${0##*_}" >>$d/order'
		mv "$tree/build/tests/unit/test_$name" "$tree/build/tests/bpf/"
		mv "$tree/tests/unit/test_$name.c" "$tree/tests/bpf/"
	done
	for name in b d; do
		echo '/* tests: parallel */' >"$tree/tests/bpf/test_$name.c"
	done
	run -0 env JOBS=2 "$tree/scripts/run-tests.sh" bpf
	order=$(paste -sd' ' "$tree/build/tests/bpf/order")
	echo "$order"
	[[ "$order" == *' +a -a +c -c' ]]
}

@test "a run that is ended leaves nothing running" {
	for name in a b; do
		fake $name 'echo $$ >$0.pid; sleep 1000 & echo $! >$0.child; wait'
	done
	JOBS=2 "$tree/scripts/run-tests.sh" unit >/dev/null 2>&1 3>&- &
	runner=$!
	until [ -s "$tree/build/tests/unit/test_a.child" ] && [ -s "$tree/build/tests/unit/test_b.child" ]
	do sleep 0.05; done
	# Once to each process, as a terminal or timeout(1) does, and so to the workers twice.
	mapfile -t workers < <(pgrep -P $runner)
	kill $runner "${workers[@]}"
	wait $runner || true
	for pid in $(cat "$tree"/build/tests/unit/test_*.{pid,child}); do
		echo "$pid"
		while grep -qs '^State:[[:space:]][^ZX]' "/proc/$pid/status"; do sleep 0.05; done
	done
}

@test "RETRY=0: a program that fails once is a failure" {
	fake once "$once"
	run_unit -1 env RETRY=0
	[ "${lines[-1]}" = '0 passed, 1 failed, 0 skipped' ]
}

@test "a run in which nothing passes fails" {
	fake skips 'echo "ok 1 # SKIP not here"; exit 4'
	run_unit -1
	[[ "$output" == *"SKIP  unit/test_skips: 0 passed, 1 skipped"*"# SKIP not here"* ]]
	[ "${lines[-1]}" = '0 passed, 0 failed, 1 skipped' ]
}

# bats test_tags=whole
@test "repeat-tests.sh counts how often each program fails, without a second try" {
	fake good true
	fake seldom 'echo >>$0.ran; [ $(wc -l <$0.ran) != 2 ] || { echo "not ok 1 - the second time"; exit 1; }'
	run -1 "$tree/scripts/repeat-tests.sh" unit 3
	[[ "$output" == *"ok    unit/test_good: failed 0 of 3 times"* ]]
	[[ "$output" == *"FAIL  unit/test_seldom: failed 1 of 3 times"* ]]
	grep -q 'not ok 1 - the second time' "$tree"/build/repeat/test_seldom.2
	[ "$(ls "$tree/build/repeat")" = test_seldom.2 ]
	FILTER=good run -0 "$tree/scripts/repeat-tests.sh" unit 2
	[ "${lines[-1]}" = '1 programs, 0 failed at least once' ]
}

# fake_check: check.sh in the tree, for a user whom id calls root. All that it calls does nothing, but
# for run-tests.sh, which keeps the levels in the file ran and counts one test for each.
fake_check() {
	local script

	bin=$BATS_TEST_TMPDIR/bin
	export ran=$BATS_TEST_TMPDIR/ran
	mkdir -p "$bin" "$tree/scripts/arm64"
	cp "$BATS_TEST_DIRNAME/../../scripts/check.sh" "$tree/scripts/"
	printf '#!/bin/sh\necho 0\n' >"$bin/id"
	cat >"$tree/scripts/lib.sh" <<-'END'
		find_builder() { builder_uid=$UID builder_gid=${GROUPS[0]}; }
		find_tools() { BPFTOOL=bpftool; }
		as_builder() { "$@"; }
		builder_name() { echo nobody; }
		builder_make() { :; }
		can_run_bpf() { :; }
		say() { echo "$*"; }
		die() { say "$*"; exit 1; }
	END
	for script in deps.sh perf-of.sh arm64/root.sh arm64/make.sh; do
		echo '#!/bin/sh' >"$tree/scripts/$script"
	done
	cat >"$tree/scripts/run-tests.sh" <<-'END'
		#!/bin/bash
		for level; do
			echo "$level" >>"$ran"
			echo "$level 1 0 0" >>"$COUNTS"
		done
	END
	chmod +x "$bin/id" "$tree"/scripts/*.sh "$tree"/scripts/arm64/*.sh
}

@test "check.sh names each level that it runs with --all only, and counts nothing for it" {
	fake_check
	run -0 env PATH="$bin:$PATH" "$tree/scripts/check.sh"
	echo "$output"
	left_out=$(sed -n 's/^not run: \([a-z0-9-]*\) (--all)$/\1/p' <<<"$output")
	[ "$(wc -l <<<"$left_out")" -gt 5 ]
	[ "${lines[-1]}" = "$(wc -l <"$ran") passed, 0 failed, 0 skipped" ]
	{ cat "$ran"; echo "$left_out"; } | sort >"$ran.told"
	rm "$ran"
	run -0 env PATH="$bin:$PATH" "$tree/scripts/check.sh" --all
	echo "$output"
	[[ "$output" != *'not run: '* ]]
	[ "${lines[-1]}" = "$(wc -l <"$ran") passed, 0 failed, 0 skipped" ]
	diff "$ran.told" <(sort "$ran")
}

@test "tests with the tag whole are run with DENET_TEST_WHOLE=1 alone, and TEST_TIMES has times" {
	printf '%s "%s" { :; }\n' @test short "# bats test_tags=whole"$'\n'@test long \
		>"$tree/tests/user/tagged.bats"
	run -0 env DENET_TEST_WHOLE=0 "$tree/scripts/run-tests.sh" user
	[ "${lines[-1]}" = '1 passed, 0 failed, 0 skipped' ]
	run -0 env DENET_TEST_WHOLE=1 TEST_TIMES="$tree/times" "$tree/scripts/run-tests.sh" user
	[ "${lines[-1]}" = '2 passed, 0 failed, 0 skipped' ]
	[ "$(grep -cE '^[0-9]+ user/tagged: (short|long)$' "$tree/times")" = 2 ]
}
