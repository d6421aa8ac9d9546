#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# check.sh [--all]: installs what tests need, builds, and runs every test that this machine can
# run in a quarter of an hour. --all adds levels that take longer, or need packages that are large
# (all_levels below). As root: `sudo scripts/check.sh`. Ends with one line, "N passed, N failed,
# N skipped"; non-zero if a test failed, if none passed, or if a test of the BPF programs
# was skipped although this machine can run them. A program that failed and passed when it was run
# again is listed as "flaky: NAME" above that line; more than two of them are a failure.
# DEV=1: warnings are errors.
set -euo pipefail

tree=$(realpath "$(dirname "$0")/..")
# shellcheck source=scripts/lib.sh
. "$tree/scripts/lib.sh"

# Fuzzers read their whole corpus in any case.
fuzz_seconds=1
all_levels='load hooks clang-bpf services viewers bcc soak timing sanitize dist'
# Of --all as well, but without root. arm64 joins where it can be built.
builder_levels='guests boot clang'
all=0
case "$*" in
'') ;;
--all) all=1 fuzz_seconds=10 ;;
*)
	echo 'usage: check.sh [--all]' >&2
	exit 2
	;;
esac
[ "$(id -u)" = 0 ] || die "the tests of the BPF programs need root: sudo $0"
find_builder
work=$(mktemp -d)
finished=

# The closing line comes whatever happens: a script that ends before its time has failed.
finish() {
	local status=$?

	rm -rf "$work"
	if [ -z "$finished" ]; then
		say 'did not get to the end'
		echo '0 passed, 1 failed, 0 skipped'
		[ "$status" != 0 ] || status=1
	fi
	exit "$status"
}
trap finish EXIT

export TMPDIR=$work
export FUZZ_SECONDS=${FUZZ_SECONDS:-$fuzz_seconds} DENET_TEST_WHOLE=$all
extra_failures=0

# Untracked files that git does not ignore, and files that the builder does not own: the tests must
# not add to either.
list_strays() {
	as_builder git -C "$tree" status --porcelain 2>/dev/null || true
	find "$tree" -not -path "$tree/.git/*" -not -uid "$builder_uid" -printf '%u owns %p\n'
}

# fail MESSAGE: a failure that no test of its own reports.
fail() {
	say "FAIL: $*"
	extra_failures=$((extra_failures + 1))
}

# run_as RUNNER LEVEL…: the tests of these levels, counted. A failure is in the counts.
run_as() {
	local runner=$1 counts level

	shift
	counts=$work/counts.$1
	# The builder writes the counts: it needs a place that is its own.
	: >"$counts"
	chown "$builder_uid:$builder_gid" "$counts"
	chmod 711 "$work"
	# The status is not asked: the counts tell more.
	"$runner" env PATH="$PATH" COUNTS="$counts" REQUIRE_BPF="$require_bpf" O=build \
		"$tree/scripts/run-tests.sh" "$@" || true
	for level; do
		grep -q "^$level " "$counts" || fail "the $level tests did not finish"
	done
	cat "$counts" >>"$work/counts"
}

say 'checking for the packages that building and testing need'
"$tree/scripts/deps.sh" build perf test vm
find_tools
list_strays | sort >"$work/before"

say "building in $tree/build as $(builder_name)"
export DEV=${DEV:-0}
builder_make O=build BPFTOOL="$BPFTOOL" all tests fuzzers

require_bpf=0
if can_run_bpf; then
	require_bpf=1
else
	say 'this kernel or container does not let us load BPF programs: those tests are skipped'
fi

say "running the tests that need no root, as $(builder_name)"
run_as as_builder unit user
# Not in a test, which has its time limit: a network may be slow.
say 'fetching the perf of other releases, which read our files in the tests (once)'
for version in 5.10 6.1 6.12 7; do
	"$tree/scripts/perf-of.sh" $version version >"$work/reader" 2>&1 ||
		say "no perf $version: $(tail -1 "$work/reader")"
done

say 'running the tests that load BPF programs, as root'
# These wait for a quarter of their time: one more beside each other than there are CPUs.
jobs=${JOBS:-$(nproc)}
[ -n "${JOBS:-}" ] || [ "$jobs" -ge 4 ] || jobs=$((jobs + 1))
JOBS=$jobs run_as env bpf cli
say 'running some of the tests under other kernels, in qemu, and the fuzzers beside them'
run_as as_builder vm fuzz

if [ $all = 1 ]; then
	"$tree/scripts/deps.sh" services viewers bcc dist arm64
	say 'building with clang, with sanitizers, statically, and for arm64'
	builder_make O=build/clang CC=clang DEV=1 BPFTOOL="$BPFTOOL" all tests
	builder_make O=build/sanitize SANITIZE=address,undefined BPFTOOL="$BPFTOOL" all tests
	builder_make O=build BPFTOOL="$BPFTOOL" dist
	if as_builder "$tree/scripts/arm64/root.sh" >/dev/null; then
		as_builder env O=build/arm64 BPFTOOL="$BPFTOOL" \
			"$tree/scripts/arm64/make.sh" -j"$(nproc)" all tests dist
		# Its guest of 6.12 takes longest: all others run beside it.
		builder_levels="arm64 $builder_levels"
	else
		say 'no root file system for arm64 (no network?): its tests are skipped'
		echo 'arm64 0 0 1' >>"$work/counts"
	fi
	say 'running the levels of --all'
	# shellcheck disable=SC2086
	run_as as_builder $builder_levels
	# shellcheck disable=SC2086
	run_as env $all_levels
else
	# No skips: these tests were not asked for.
	further=$(cat "$tree"/tests/*/*.bats 2>/dev/null | grep -c '^# bats test_tags=whole$') || true
	echo "not run: $further tests with the tag whole, and shorter loops in others (--all)"
	echo 'not run: a guest of Linux 6.12 (--all)'
	for level in $builder_levels arm64 $all_levels; do
		echo "not run: $level (--all)"
	done
fi

list_strays | sort >"$work/after"
if ! diff "$work/before" "$work/after" >"$work/strays"; then
	fail 'the tests left something in the tree:'
	sed -n 's/^> /  /p' "$work/strays"
fi

sed -n 's/^flaky /flaky: /p' "$work/counts"
flaky=$(grep -c '^flaky ' "$work/counts") || true
[ "$flaky" -le 2 ] || fail "$flaky programs passed only when run again; more than 2 fail the run"

finished=1
awk -v extra="$extra_failures" '
	$1 == "flaky" { next }
	{ passed += $2; failed += $3; skipped += $4 }
	END {
		failed += extra
		printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
		exit failed || !passed
	}' "$work/counts"
