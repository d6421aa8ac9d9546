#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run-tests.sh LEVEL…: runs the tests of these levels and ends with one line,
# "N passed, N failed, N skipped". Non-zero if one failed or none passed.
#   unit      $O/tests/unit/test_*   no root
#   user      tests/user/*.bats      no root
#   bpf       $O/tests/bpf/test_*    root: they load BPF programs
#   hooks     $O/tests/bpf/test_*    root: those that compare blocks with the truth, once more for each
#                                    of HOOKS
#   cli       tests/cli/*.bats       root
#   load      tests/load/*.bats      root: loads and shortages that need the whole machine
#   guest     tests/guest/*.bats     root of a guest: they set its clock, freeze its tasks
#   fuzz      $O/tests/fuzz/fuzz_*   FUZZ_SECONDS each (10)
#   vm        tests/vm/guest.sh      in a guest of each of KERNELS (7 6.1 5.10: the longest first)
#   guests    tests/vm/guest.sh      the same with GUEST_WHOLE=1: more programs in each guest, one of
#                                    6.12, and some in those with preempt=full (6.12-preempt, 7-preempt,
#                                    6.1-preempt) and one with two CPUs (6.1-smp)
#             tests/guests/*.bats    no root: they boot a guest of their own, for a quarter of an hour
#   boot      tests/boot/*.bats      no root: they boot a guest of their own
#   dist      tests/dist/*.bats      root, and network: `make dist` and the package, elsewhere
#   arm64     tests/vm/guest.sh      in a guest of that architecture for each of ARM64_KERNELS (6.12
#             tests/arm64/*.bats     6.1 7), with what scripts/arm64/make.sh has built in $O/arm64
#   services  tests/services/*.bats  root: services that are packaged, or in Java, Node and Python
#   viewers   tests/viewers/*.bats   root: programs of others that show our files, in a browser, too
#   bcc       tests/bcc/*.bats       root: the tools of bcc and libbpf-tools beside ours
#   clang     level unit from $O/clang, built with CC=clang, workloads as well
#   clang-bpf $O/clang/tests/bpf/…   root: those that walk user stacks, of the same build
#   sanitize  levels bpf, cli and load from $O/sanitize, built with SANITIZE=address,undefined
#   soak      tests/soak/*.bats      root: SOAK_SECONDS (60) of what may use up memory
#   timing    tests/timing/*.bats    root: figures that another load would spoil
# Everything is built already: `make check`, `make check-root` and `make check-fuzz` see to it.
#
# Programs run JOBS at a time (one for each CPU, 4 at most), those of levels as root one by one
# after the others: they measure. One of them that bears other programs beside it says so in a
# comment, "tests: parallel". A program that fails is run once more, with nothing beside it. If it
# passes then, it is counted as passed and listed as "flaky: NAME" above the last line; more than two
# of these fail the run. A fuzzer is not run again: an input that it found is an error, however
# seldom it is met.
#
# Variables: O=DIR (build); FILTER=REGEX picks programs by name; TEST_LIMIT=SECONDS for each
# program (300, or what it names in a comment, "tests: limit SECONDS"), VM_LIMIT for each guest (900;
# four times that in level guests, six times for one of arm64, which runs whole levels);
# GUEST_FILTER=REGEX picks programs in guests, GUEST_CPUS (1) are what they have, but for those that
# always have 2; HOOKS (switch-out): what level hooks tries, as --capture has them; COUNTS=FILE
# receives lines "level passed failed skipped", which add up, and "flaky NAME"; TEST_TIMES=FILE receives
# lines "ms program: test" of tests in bats; DENET_TEST_WHOLE=1 also runs those with the tag whole;
# REQUIRE_BPF=1: this machine loads BPF programs, so a test of level bpf that was skipped for want
# of root or BPF is a failure, and so is a program that skipped all of its tests; RETRY=0: nothing
# is run again; V=1: all lines of a program that failed.
set -uo pipefail

cd "$(dirname "$(realpath "$0")")/.." || exit 1
O=$(realpath -m "${O:-build}")
export O
fuzz_seconds=${FUZZ_SECONDS:-10}
vm_limit=${VM_LIMIT:-900}
hooks=${HOOKS-switch-out}
# Tests that call make must not take part in the job server of the make that called us.
unset MAKEFLAGS MAKELEVEL MFLAGS
# Python leaves nothing beside the modules in tests/common.
export PYTHONDONTWRITEBYTECODE=1

jobs=${JOBS:-$(nproc)}
[ -n "${JOBS:-}" ] || [ "$jobs" -le 4 ] || jobs=4

# How many programs of a run may pass only when run again.
most_flaky=2
# One job for each program, by number: its level and name, the function that runs and judges it,
# whether it runs alone, its time limit in seconds, and the command, quoted.
job_level=() job_name=() job_kind=() job_alone=() job_limit=() job_command=()
work=$(mktemp -d) || exit 1
session=
workers=()

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

finish() {
	# A second signal must not end this half-way.
	trap '' INT TERM
	end_session
	if [ ${#workers[@]} != 0 ]; then
		kill "${workers[@]}" 2>/dev/null
		wait "${workers[@]}" 2>/dev/null
	fi
	rm -rf "$work"
}

trap finish EXIT
# A second signal may come before finish() has begun.
trap 'trap "" INT TERM; exit 130' INT TERM

# run_limited SECONDS COMMAND…: output to $dir/log; the status, 124 after the time limit.
# Temporary files go to a folder of the program's own.
run_limited() {
	local seconds=$1 status

	shift
	rm -rf "$dir/tmp"
	mkdir "$dir/tmp"
	# Commands in the background of a script ignore SIGINT; tests send it, so undo that.
	TMPDIR=$dir/tmp setsid env --default-signal=INT,QUIT timeout -k 5 "$seconds" "$@" \
		>"$dir/log" 2>&1 </dev/null &
	session=$!
	# Without the shell's own words on a program that died: judge_tap() says it.
	{ wait "$session"; } 2>/dev/null
	status=$?
	end_session
	rm -rf "$dir/tmp"
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

# Prints the lines of a TAP log that tell what went wrong: a test that failed with what was printed of
# it, before its result (kselftest) or behind it (bats), skips, and what follows the last result. Runs
# of the same line are printed once, and of many lines the first and the last. V=1: all lines.
show_failures() {
	awk -v all="${V:-0}" '
		function flush(keep, i, left) {
			for (i = 1; keep && i <= nr; i++) {
				if (all != 1 && i > 20 && i <= nr - 40) {
					left++
					continue
				}
				if (left) {
					print "    |   (" left " more lines: V=1 shows them)"
					left = 0
				}
				print "    | " lines[i]
				if (times[i] > 1)
					print "    |   (" times[i] " times)"
			}
			nr = 0
		}
		/^#  *OK / { next }
		/^#  *RUN / {
			flush(failed || all == 1)
			failed = 0
			next
		}
		/^ok / {
			flush(failed || all == 1)
			failed = 0
			if (tolower($0) ~ /# *skip/)
				print "    | " $0
			next
		}
		/^not ok/ {
			flush(1)
			failed = 1
			print "    | " $0
			next
		}
		nr && $0 == lines[nr] { times[nr]++; next }
		{ lines[++nr] = $0; times[nr] = 1 }
		END { flush(1) }' "$dir/log"
}

# judge_tap STATUS REQUIRE: reads $dir/log and sets good, bad, skip and wrong: how many tests
# passed, failed and were skipped, and what is wrong with the program as a whole.
judge_tap() {
	local status=$1 planned results

	wrong=
	read -r planned results good bad skip < <(count_tap "$2" <"$dir/log")
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
	elif [ "$status" = 0 ] && grep -q '^not ok' "$dir/log"; then
		wrong='status 0, though a test failed'
	fi
	[ -z "$wrong" ] || bad=$((bad + 1))
	if [ -z "$wrong" ] && [ "$bad" != "$(grep -c '^not ok' "$dir/log")" ]; then
		wrong='a skip counts as a failure: this machine can load BPF programs'
	fi
}

# Jobs: each of these functions runs COMMAND…, sets good, bad, skip and wrong as judge_tap() does,
# details to the lines to print below the result, and again to 1 if a failure is worth another try.

# A program that reports its tests as TAP.
run_tap() {
	run_limited "$limit" "$@"
	judge_tap $? "$require"
	[ -z "${TEST_TIMES:-}" ] ||
		sed -nE "s|^ok [0-9]+ (.*) in ([0-9]+)ms.*|\2 $name: \1|p" "$dir/log" >>"$TEST_TIMES"
	again=1
	if [ "$bad" != 0 ]; then
		details=$(show_failures)
	elif [ "$skip" != 0 ]; then
		# A skip is printed, so that it is not taken for a pass.
		details=$(grep -i '^ok .*# *skip' "$dir/log" | sed 's/^/        /')
	fi
}

# The same, where a test may not be skipped for want of root or BPF.
run_strict() {
	local require=1

	run_tap "$@"
}

# A fuzzer adds what it finds to the corpus it is given: a copy.
run_fuzzer() {
	local name=${1##*/} seeds status runs

	mkdir -p "$dir/corpus" "$O/fuzz-artifacts"
	for seeds in "tests/fuzz/corpus/$name" "tests/fuzz/corpus/${name#fuzz_}"; do
		[ ! -d "$seeds" ] || cp "$seeds"/* "$dir/corpus/"
	done
	run_limited $((fuzz_seconds + 60)) "$1" -max_total_time="$fuzz_seconds" -timeout=10 \
		-print_final_stats=1 -artifact_prefix="$O/fuzz-artifacts/$name-" "$dir/corpus"
	status=$?
	rm -rf "$dir/corpus"
	runs=$(awk '/^stat::number_of_executed_units:/ { print $2 }' "$dir/log")
	if [ $status = 0 ] && [ "${runs:-0}" -gt 0 ]; then
		good=1
		note=", $runs inputs"
		return
	fi
	bad=1
	wrong="status $status"
	details=$(tail -40 "$dir/log" | sed 's/^/    | /')
}

# run_guest KERNEL [ARCH]: the guest's own run of this script counts; a guest that does not get there
# has failed. What fails there has been tried again already. A KERNEL-preempt preempts its own code
# wherever it can, and a KERNEL-smp has two CPUs, for the programs to whose stacks that makes a
# difference; more of them with 6.12.
run_guest() {
	local kernel=${1%%-*} cpus=${GUEST_CPUS:-1} build=$O seconds=$vm_limit release status level values
	local whole=0 filter=${GUEST_FILTER:-}
	local -x GUEST_ARCH=${2:-amd64} GUEST_APPEND=${GUEST_APPEND:-}

	case $1 in
	*-preempt)
		GUEST_APPEND+=' preempt=full'
		[ "$kernel" = 6.12 ] || filter=${filter:-'^(test_kernel_walk|preempt|kaslr)$'}
		filter=${filter:-'^(test_kernel_walk|test_left_walks|test_waits|preempt|kaslr)$'}
		;;
	*-smp)
		cpus=2
		filter=${filter:-'^(test_kernel_walk|test_user_walk|test_waits|kaslr)$'}
		;;
	esac
	[[ $name != guests/* ]] || whole=1 seconds=$((vm_limit * 4))
	if [ "$GUEST_ARCH" != amd64 ]; then
		build=$O/$GUEST_ARCH seconds=$((6 * vm_limit))
	fi
	if ! release=$(scripts/vm/can-boot.sh "$kernel"); then
		skip=1
		note=", $release"
		return
	fi
	rm -rf "$dir/guest"
	mkdir "$dir/guest"
	# One guest is enough to see CPUs come and go.
	[ "$kernel $GUEST_ARCH" != '6.12 amd64' ] || cpus=2
	run_limited $((seconds + 30)) scripts/vm/boot.sh -d "$dir/guest" -t "$seconds" -s "$cpus" \
		"$kernel" "[ -d '$PWD' ] || { mkdir -p '$PWD' && mount --bind '/host$PWD' '$PWD'; }
			cd '$PWD' && O='$build' COUNTS=/w/counts GUEST_WHOLE=$whole \
			GUEST_FILTER='$filter' tests/vm/guest.sh"
	status=$?
	while read -r level values; do
		if [ "$level" = flaky ]; then
			echo "flaky $name $values" >>"$dir/flaky"
		else
			read -r -a values <<<"$values"
			good=$((good + values[0])) bad=$((bad + values[1])) skip=$((skip + values[2]))
		fi
	done < <(cat "$dir/guest/counts" 2>/dev/null)
	note=", Linux $release"
	details=$(sed 's/^/    /' "$dir/log")
	if [ ! -s "$dir/guest/counts" ] || { [ $status != 0 ] && [ "$bad" = 0 ]; }; then
		bad=$((bad + 1))
		wrong="the guest ended with status $status"
		again=1
	fi
}

# run_job NUMBER TRY: runs a job, prints its result and adds the counts to $work/counts. A failure
# at the first try is not counted but leaves a file "again".
run_job() {
	local name=${job_name[$1]} limit=${job_limit[$1]} dir=$work/job.$1 start=$EPOCHREALTIME
	local word=ok require=0 good=0 bad=0 skip=0 wrong='' note='' details='' again=0 seconds command

	mkdir -p "$dir"
	rm -f "$dir"/{again,flaky}
	eval "command=(${job_command[$1]})"
	"run_${job_kind[$1]}" "${command[@]}"
	seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
	if [ "$bad" != 0 ]; then
		word=FAIL
		if [ "$2$again${RETRY:-1}" = 111 ]; then
			word=again
			touch "$dir/again"
		fi
		note=", $bad failed${wrong:+ ($wrong)}$note"
	elif [ "$2" = 2 ]; then
		word=flaky
		echo "flaky $name" >>"$dir/flaky"
	elif [ "$good" = 0 ]; then
		word=SKIP
	fi
	[ "$skip" = 0 ] || note=", $skip skipped$note"
	{
		printf '  %-5s %s: %d passed%s, %s s\n' $word "$name" "$good" "$note" "$seconds"
		[ -z "$details" ] || printf '%s\n' "$details"
	} >"$dir/report"
	rm -rf "$dir/guest"
	# One at a time: jobs that run beside each other print here.
	(
		flock 9
		cat "$dir/report"
		echo "$seconds $name" >>"$work/times"
		if [ $word != again ]; then
			echo "${job_level[$1]} $good $bad $skip" >>"$work/counts"
			[ ! -e "$dir/flaky" ] || cat "$dir/flaky" >>"$work/counts"
			touch "$dir/counted"
		fi
	) 9>>"$work/lock"
}

# Takes jobs that run beside others until none is left.
work_through() {
	local job

	trap 'trap "" INT TERM; end_session' EXIT
	trap 'trap "" INT TERM; exit 130' INT TERM
	for job in "${!job_name[@]}"; do
		if [ "${job_alone[job]}" = 0 ] && mkdir "$work/taken.$job" 2>/dev/null; then
			run_job "$job" 1
		fi
	done
}

# lose_job NUMBER: what took its program has died, and with it the result.
lose_job() {
	printf '  FAIL  %s: it was not run to its end\n' "${job_name[$1]}"
	echo "${job_level[$1]} 0 1 0" >>"$work/counts"
}

run_jobs() {
	local job alone

	for ((job = 0; job < jobs; job++)); do
		work_through &
		workers+=($!)
	done
	wait "${workers[@]}"
	workers=()
	for alone in 0 1; do
		for job in "${!job_name[@]}"; do
			[ "${job_alone[job]}" = "$alone" ] || continue
			[ "$alone" = 0 ] || run_job "$job" 1
			[ ! -e "$work/job.$job/again" ] || run_job "$job" 2
		done
	done
	for job in "${!job_name[@]}"; do
		[ -e "$work/job.$job/counted" ] || lose_job "$job"
	done
}

# add_job LEVEL NAME KIND SOURCE COMMAND…: SOURCE is the file that may say "tests: parallel" and
# "tests: limit SECONDS".
add_job() {
	local alone=0 own

	own=$(sed -nE 's@^(#| \*|/\*) tests: limit ([0-9]+).*@\2@p' "$4")
	job_limit+=("${TEST_LIMIT:-${own:-300}}")
	case $1 in
	unit | user | fuzz | vm | guests | boot | arm64) ;;
	*) grep -qE '^(#| \*|/\*) tests: parallel' "$4" || alone=1 ;;
	esac
	job_level+=("$1") job_name+=("$2") job_kind+=("$3") job_alone+=("$alone")
	shift 4
	job_command+=("$(printf '%q ' "$@")")
}

usage() {
	echo 'usage: run-tests.sh unit|user|bpf|hooks|cli|load|guest|fuzz|vm|guests|boot|dist|arm64|' \
		'services|viewers|bcc|clang|clang-bpf|sanitize|soak|timing…' >&2
	exit 2
}

is_picked() {
	[ -z "${FILTER:-}" ] || [[ $1 =~ $FILTER ]]
}

# add_hooks KIND: the programs that compare blocks with the truth, for each of $HOOKS.
add_hooks() {
	local hook name

	for name in test_waits test_account test_targets test_in_flight test_short test_hist; do
		is_picked "$name" || continue
		for hook in $hooks; do
			add_job hooks "bpf/$name@$hook" "$1" "tests/bpf/$name.c" \
				env DENET_TEST_HOOK="$hook" "$O/tests/bpf/$name"
		done
	done
}

# add_clang_bpf KIND: the programs that walk the user stacks of workloads, which clang has built.
add_clang_bpf() {
	local name

	for name in test_frames test_stack_walker test_unwind test_user_walk; do
		is_picked "$name" || continue
		add_job clang-bpf "clang-bpf/$name" "$1" "tests/bpf/$name.c" "$O/clang/tests/bpf/$name"
	done
}

# add_programs LEVEL KIND: the harness programs of a folder.
add_programs() {
	local source name

	for source in tests/"$1"/test_*.c; do
		name=$(basename "$source" .c)
		[ -e "$source" ] || continue
		is_picked "$name" || continue
		add_job "$1" "$1/$name" "$2" "$source" "$O/tests/$1/$name"
	done
}

# The largest first, which mostly take longest: none of them is left alone at the end, where programs
# run beside each other.
largest_first() {
	stat -c '%s %n' "$@" 2>/dev/null | sort -k1,1nr | cut -d' ' -f2-
}

add_bats() {
	local options=(--formatter tap --print-output-on-failure) file name

	[ "${DENET_TEST_WHOLE:-0}" = 1 ] || options+=(--filter-tags '!whole')
	[ -z "${TEST_TIMES:-}" ] || options+=(--timing)
	while read -r file; do
		name=$(basename "$file" .bats)
		[ -e "$file" ] || continue
		is_picked "$name" || continue
		add_job "$1" "$1/$name" tap "$file" env O="$O" bats "${options[@]}" "$file"
	done < <(largest_first tests/"$1"/*.bats)
}

add_fuzzers() {
	local source name

	for source in tests/fuzz/fuzz_*.c; do
		name=$(basename "$source" .c)
		[ -e "$source" ] || continue
		is_picked "$name" || continue
		add_job fuzz "fuzz/$name" fuzzer "$source" "$O/tests/fuzz/$name"
	done
}

# name_jobs FIRST LEVEL: the jobs from this number on are of that level.
name_jobs() {
	local job

	for ((job = $1; job < ${#job_name[@]}; job++)); do
		job_level[job]=$2
		job_name[job]=$2/${job_name[job]}
	done
}

add_level() {
	local kernel job kind=tap O=$O kernels='7 6.1 5.10'

	case $1 in
	unit) add_programs unit tap ;;
	bpf | hooks)
		[ "${REQUIRE_BPF:-0}" != 1 ] || kind=strict
		if [ "$1" = hooks ]; then add_hooks $kind; else add_programs bpf $kind; fi
		;;
	user | cli | load | guest | boot | dist | services | viewers | bcc | soak | timing) add_bats "$1" ;;
	clang)
		job=${#job_name[@]}
		O=$O/clang
		add_programs unit tap
		name_jobs "$job" clang
		;;
	clang-bpf)
		[ "${REQUIRE_BPF:-0}" != 1 ] || kind=strict
		add_clang_bpf $kind
		;;
	sanitize)
		job=${#job_name[@]}
		O=$O/sanitize
		[ "${REQUIRE_BPF:-0}" != 1 ] || kind=strict
		add_programs bpf $kind
		add_bats cli
		add_bats load
		name_jobs "$job" sanitize
		;;
	fuzz) add_fuzzers ;;
	vm | guests)
		if [ "$1" = guests ]; then
			add_bats guests
			kernels='7 6.1 6.12 6.12-preempt 6.1-smp 5.10 7-preempt 6.1-preempt'
		fi
		for kernel in ${KERNELS:-$kernels}; do
			add_job "$1" "$1/$kernel" guest tests/vm/guest.sh "$kernel"
		done
		;;
	arm64)
		for kernel in ${ARM64_KERNELS:-6.12 6.1 7}; do
			! is_picked "$kernel" ||
				add_job arm64 "arm64/$kernel" guest tests/vm/guest.sh "$kernel" arm64
		done
		add_bats arm64
		;;
	*)
		echo "run-tests.sh: no level $1" >&2
		usage
		;;
	esac
}

# Prints the last lines: what was slow, what was flaky, and the counts.
sum_up() {
	echo "slowest: $(sort -rn "$work/times" |
		awk 'NR <= 8 { printf "%s%s %s s", (NR == 1 ? "" : ", "), $2, $1 }')"
	sed -n 's/^flaky /flaky: /p' "$work/counts"
	awk -v most=$most_flaky '
		$1 == "flaky" { flaky++; next }
		{ passed += $2; failed += $3; skipped += $4 }
		END {
			if (flaky > most) {
				failed++
				print "FAIL: " flaky " programs passed only when run again; more than " \
					most " fail the run"
			}
			printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
			exit failed || !passed
		}' "$work/counts"
}

[ $# != 0 ] || usage
: >"$work/counts"
: >"$work/times"
for level; do
	add_level "$level"
	echo "$level 0 0 0" >>"$work/counts"
done
echo "$*: ${#job_name[@]} programs"
run_jobs
[ -z "${COUNTS:-}" ] || cat "$work/counts" >>"$COUNTS"
[ -z "${TIMES:-}" ] || cat "$work/times" >>"$TIMES"
sum_up
