#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run-tests.sh LEVEL…: runs the tests of these levels and ends with one line,
# "N passed, N failed, N skipped". Non-zero if one failed or none passed.
#   unit   $O/tests/unit/test_*     no root
#   user   tests/user/*.bats        no root
#   bpf    $O/tests/bpf/test_*      root: they load BPF programs
#   cli    tests/cli/*.bats         root
#   guest  tests/guest/*.bats       root of a guest: they set its clock, freeze its tasks
#   fuzz   $O/tests/fuzz/fuzz_*     FUZZ_SECONDS each (10)
#   vm     tests/vm/guest.sh        in a guest of each of KERNELS (5.10 6.1 6.12 7)
#   boot   tests/boot/*.bats        no root: they boot a guest of their own
#   dist   tests/dist/*.bats        root, and network: `make dist` and the package, elsewhere
# A program that fails is run once more, with nothing beside it. If it passes then, it is counted as
# passed and listed as "flaky: NAME" above the last line; more than two of these fail the run.
# A fuzzer is not run again: an input that it found is an error, however seldom it is met.
# Everything is built already: `make check`, `make check-root` and `make check-fuzz` see to it.
# Variables: O=DIR (build); FILTER=REGEX picks programs by name; TEST_LIMIT=SECONDS for each
# program (300), VM_LIMIT for each guest (600); GUEST_FILTER=REGEX picks programs in guests,
# GUEST_CPUS (1) are what they have; WAYS (switch-out): ways of capture, as --capture has them,
# with which those of level bpf run again that compare blocks with the truth; COUNTS=FILE
# receives "level passed failed skipped", a line for each level, and "flaky NAME";
# REQUIRE_BPF=1: this machine loads BPF programs, so a test of level bpf that was skipped for want
# of root or BPF is a failure, and so is a program that skipped all of its tests; RETRY=0: nothing
# is run again.
set -uo pipefail

cd "$(dirname "$(realpath "$0")")/.." || exit 1
O=$(realpath -m "${O:-build}")
export O
limit=${TEST_LIMIT:-300}
fuzz_seconds=${FUZZ_SECONDS:-10}
vm_limit=${VM_LIMIT:-600}
ways=${WAYS-switch-out}
# Tests that call make must not take part in the job server of the make that called us.
unset MAKEFLAGS MAKELEVEL MFLAGS

passed=0 failed=0 skipped=0
# Programs that failed and passed when run again, and how many of them a run may have.
flaky=()
most_flaky=2
work=$(mktemp -d) || exit 1
session=

# Ends whatever is left of the program that was started last: all that is in its session,
# in whichever process group.
end_session() {
	local stat line fields

	[ -n "$session" ] || return 0
	for stat in /proc/[0-9]*/stat; do
		{ IFS= read -r -d '' line <"$stat"; } 2>/dev/null
		# After the name, which may hold anything: state, parent, group, session.
		read -r -a fields <<<"${line##*) }"
		if [ "${fields[3]:-}" = "$session" ]; then
			stat=${stat#/proc/}
			kill -KILL "${stat%/stat}" 2>/dev/null
		fi
	done
	session=
}

trap 'end_session; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# run_limited SECONDS COMMAND…: output to $work/log; the status, 124 after the time limit.
# Temporary files go to a folder of the program's own.
run_limited() {
	local seconds=$1 status

	shift
	rm -rf "$work/tmp"
	mkdir "$work/tmp"
	# What a script starts in the background ignores SIGINT; tests send it, so undo that.
	TMPDIR=$work/tmp setsid env --default-signal=INT,QUIT timeout -k 5 "$seconds" "$@" \
		>"$work/log" 2>&1 </dev/null &
	session=$!
	# Without the shell's own words on a program that died: judge() says it.
	{ wait "$session"; } 2>/dev/null
	status=$?
	end_session
	return $status
}

# Reads TAP on standard input, prints "planned results passed failed skipped missing".
count_tap() {
	awk -v require="${1:-0}" '
		/^1\.\.[0-9]+/ { planned = substr($1, 4) + 0; has_plan = 1 }
		/^not ok/ { bad++ }
		/^ok/ {
			reason = tolower($0)
			if (sub(/^[^#]*# *skip[ :]*/, "", reason)) {
				if (require && reason ~ /root|bpf|privilege|permission|capabilit/)
					bad++
				else
					skip++
			} else
				good++
		}
		END {
			if (require && !good && skip) {
				bad += skip
				skip = 0
			}
			print has_plan ? planned : "none", good + bad + skip, good + 0, bad + 0, skip + 0
		}'
}

# Prints the lines of a TAP log that tell what went wrong: all but the tests that passed,
# runs of the same line once, and not more than one cares to read. V=1: all of them.
show_failures() {
	sed -e '/^ok .*# *[sS][kK][iI][pP]/!{/^ok /d}' -e '/^#  *RUN /d' -e '/^#  *OK /d' "$work/log" |
		awk -v all="${V:-0}" '
			function flush() {
				if (times > 1)
					print "    |   (" times " times)"
				times = 0
			}
			$0 == last { times++; next }
			{ flush(); last = $0; times = 1 }
			/^not ok/ || all == 1 || ++shown <= 60 { print "    | " $0; next }
			{ left++ }
			END { flush(); if (left) print "    | " left " more lines: V=1 shows them" }'
}

# judge STATUS REQUIRE: reads $work/log and sets good, bad, skip and wrong: how many tests passed,
# failed and were skipped, and what is wrong with the program as a whole.
judge() {
	local status=$1 planned results

	wrong=
	read -r planned results good bad skip < <(count_tap "$2" <"$work/log")
	if [ "$status" = 124 ] || [ "$status" = 137 ]; then
		wrong="killed after $limit s"
	elif [ "$status" -gt 128 ]; then
		wrong="died of signal $((status - 128))"
	elif [ "$planned" = none ]; then
		wrong="no test plan, status $status"
	elif [ "$planned" != "$results" ]; then
		wrong="$planned tests planned, $results reported, status $status"
	elif [ "$status" != 0 ] && [ "$bad" = 0 ] && ! { [ "$status" = 4 ] && [ "$skip" != 0 ]; }; then
		# For example a leak that a sanitizer reports at the end. 4 is kselftest's skip.
		wrong="status $status, though no test failed"
	elif [ "$status" = 0 ] && grep -q '^not ok' "$work/log"; then
		wrong='status 0, though a test failed'
	fi
	[ -z "$wrong" ] || bad=$((bad + 1))
	if [ -z "$wrong" ] && [ "$bad" != "$(grep -c '^not ok' "$work/log")" ]; then
		wrong='a skip counts as a failure: this machine can load BPF programs'
	fi
}

# show WORD NAME: a line on what judge() found, with the failures and the skips.
show() {
	local note=

	if [ "$bad" != 0 ]; then
		printf '  %-5s %s: %d passed, %d failed%s\n' "$1" "$2" "$good" "$bad" \
			"${wrong:+ ($wrong)}"
		show_failures
		return
	fi
	[ "$skip" = 0 ] || note=", $skip skipped"
	printf '  %-5s %s: %d passed%s\n' "$1" "$2" "$good" "$note"
	# A skip is said aloud, so that nobody takes it for a pass.
	[ "$skip" = 0 ] || grep -i '^ok .*# *skip' "$work/log" | sed 's/^/        /'
}

# run_program NAME REQUIRE COMMAND…: runs it, once more if it fails, counts and prints.
run_program() {
	local name=$1 require=$2 good bad skip wrong word=ok

	shift 2
	run_limited "$limit" "$@"
	judge $? "$require"
	if [ "$bad" != 0 ] && [ "${RETRY:-1}" = 1 ]; then
		show again "$name"
		run_limited "$limit" "$@"
		judge $? "$require"
		if [ "$bad" = 0 ]; then
			flaky+=("$name")
			word=flaky
		fi
	fi
	[ "$bad" = 0 ] || word=FAIL
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skip))
	show $word "$name"
}

is_picked() {
	[ -z "${FILTER:-}" ] || [[ $1 =~ $FILTER ]]
}

# The programs that are run again for each of $WAYS, ways of capture beside the default one.
run_ways() {
	local way

	case $1 in
	test_waits | test_account | test_targets | test_in_flight | test_short | test_hist) ;;
	*) return ;;
	esac
	for way in $ways; do
		run_program "bpf/$1@$way" "$2" env DENET_TEST_WAY="$way" "$O/tests/bpf/$1"
	done
}

# The harness programs of a folder.
run_programs() {
	local program

	for program in tests/"$1"/test_*.c; do
		program=${program#tests/"$1"/}
		program=${program%.c}
		[ "$program" != 'test_*' ] || continue
		is_picked "$program" || continue
		if [ ! -x "$O/tests/$1/$program" ]; then
			printf '  FAIL  %s: not built\n' "$1/$program"
			failed=$((failed + 1))
			continue
		fi
		run_program "$1/$program" "$2" "$O/tests/$1/$program"
		[ "$1" != bpf ] || run_ways "$program" "$2"
	done
}

run_bats() {
	local file name

	for file in tests/"$1"/*.bats; do
		name=$(basename "$file" .bats)
		[ -e "$file" ] || continue
		is_picked "$name" || continue
		run_program "$1/$name" 0 bats --formatter tap --print-output-on-failure "$file"
	done
}

run_fuzzers() {
	local source name dir status runs

	for source in tests/fuzz/fuzz_*.c; do
		name=$(basename "$source" .c)
		[ -e "$source" ] || continue
		is_picked "$name" || continue
		# The fuzzer adds what it finds to the corpus it is given: a copy.
		rm -rf "$work/corpus"
		mkdir -p "$work/corpus" "$O/fuzz-artifacts"
		for dir in "tests/fuzz/corpus/$name" "tests/fuzz/corpus/${name#fuzz_}"; do
			[ ! -d "$dir" ] || cp "$dir"/* "$work/corpus/"
		done
		run_limited $((fuzz_seconds + 60)) "$O/tests/fuzz/$name" -max_total_time="$fuzz_seconds" \
			-timeout=10 -print_final_stats=1 -artifact_prefix="$O/fuzz-artifacts/$name-" \
			"$work/corpus"
		status=$?
		runs=$(awk '/^stat::number_of_executed_units:/ { print $2 }' "$work/log")
		if [ $status = 0 ] && [ "${runs:-0}" -gt 0 ]; then
			printf '  ok    fuzz/%s: %d inputs in %s s\n' "$name" "$runs" "$fuzz_seconds"
			passed=$((passed + 1))
		else
			printf '  FAIL  fuzz/%s: status %d; the end of its output:\n' "$name" "$status"
			tail -40 "$work/log" | sed 's/^/    | /'
			failed=$((failed + 1))
		fi
	done
}

# The guest's own run of this script counts; a guest that does not get there has failed.
run_guests() {
	local kernel release status seconds counts wrong level good bad skip cpus

	for kernel in ${KERNELS:-5.10 6.1 6.12 7}; do
		if ! release=$(scripts/vm/can-boot.sh "$kernel"); then
			printf '  SKIP  vm/%s: %s\n' "$kernel" "$release"
			skipped=$((skipped + 1))
			continue
		fi
		counts=$work/guest/counts
		rm -rf "$work/guest"
		mkdir "$work/guest"
		seconds=$SECONDS
		# One guest is enough to see CPUs come and go.
		cpus=${GUEST_CPUS:-1}
		[ "$kernel" != 6.12 ] || cpus=2
		run_limited $((vm_limit + 30)) scripts/vm/boot.sh -d "$work/guest" -t "$vm_limit" -s $cpus \
			"$kernel" "[ -d '$PWD' ] || { mkdir -p '$PWD' && mount --bind '/host$PWD' '$PWD'; }
				cd '$PWD' && O='$O' COUNTS=/w/counts \
				GUEST_FILTER='${GUEST_FILTER:-}' tests/vm/guest.sh"
		status=$?
		printf '  guest %s (%s), %d s\n' "$kernel" "$release" $((SECONDS - seconds))
		sed 's/^/  /' "$work/log"
		wrong=0
		while read -r level good bad skip; do
			if [ "$level" = flaky ]; then
				flaky+=("vm/$kernel $good")
				continue
			fi
			passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skip))
			wrong=$((wrong + bad))
		done < <(cat "$counts" 2>/dev/null)
		if [ ! -s "$counts" ] || { [ $status != 0 ] && [ $wrong = 0 ]; }; then
			printf '  FAIL  vm/%s: the guest ended with status %d\n' "$kernel" $status
			failed=$((failed + 1))
		fi
	done
}

run_level() {
	local require=0

	case $1 in
	unit) run_programs unit 0 ;;
	bpf)
		[ "${REQUIRE_BPF:-0}" != 1 ] || require=1
		run_programs bpf $require
		;;
	user | cli | guest | boot | dist) run_bats "$1" ;;
	fuzz) run_fuzzers ;;
	vm) run_guests ;;
	*)
		echo "run-tests.sh: no level $1: unit, user, bpf, cli, guest, fuzz, vm or boot" >&2
		exit 2
		;;
	esac
}

[ $# != 0 ] || { echo 'usage: run-tests.sh unit|user|bpf|cli|guest|fuzz|vm|boot…' >&2; exit 2; }
for level; do
	before=("$passed" "$failed" "$skipped" "${#flaky[@]}")
	echo "$level tests"
	run_level "$level"
	[ -n "${COUNTS:-}" ] || continue
	{
		echo "$level $((passed - before[0])) $((failed - before[1])) $((skipped - before[2]))"
		for name in "${flaky[@]:before[3]}"; do
			echo "flaky $name"
		done
	} >>"$COUNTS"
done
for name in "${flaky[@]}"; do
	echo "flaky: $name"
done
if [ ${#flaky[@]} -gt $most_flaky ]; then
	echo "FAIL: ${#flaky[@]} programs passed only when run again; more than $most_flaky fail the run"
	failed=$((failed + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
