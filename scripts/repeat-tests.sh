#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# repeat-tests.sh LEVEL [TIMES]: runs each test program of a level of run-tests.sh so many times
# (10), one at a time and without a second try, and prints how often each of them failed. Non-zero
# if one did. The output of a failure is kept in $O/repeat/NAME.N. Variables: as for run-tests.sh;
# FILTER=REGEX picks programs.
set -uo pipefail

cd "$(dirname "$(realpath "$0")")/.." || exit 1
level=${1:-} times=${2:-10}
if [ $# -gt 2 ] || [[ ! $times =~ ^[1-9][0-9]*$ ]] || [ -z "$level" ] || [ ! -d "tests/$level" ]; then
	echo 'usage: repeat-tests.sh LEVEL [TIMES]' >&2
	exit 2
fi
filter=${FILTER:-}
export O=${O:-build} RETRY=0 JOBS=1 V=1
kept=$O/repeat
mkdir -p "$kept" || exit 1
trap 'exit 130' INT TERM

bad_programs=0 programs=0
for source in tests/"$level"/test_*.c tests/"$level"/fuzz_*.c tests/"$level"/*.bats; do
	name=$(basename "$source")
	name=${name%.*}
	[[ -e $source && $name =~ $filter ]] || continue
	programs=$((programs + 1)) failed=0 skipped=0 start=$SECONDS
	for ((i = 1; i <= times; i++)); do
		if FILTER="^$name\$" scripts/run-tests.sh "$level" >"$kept/$name.$i" 2>&1; then
			rm "$kept/$name.$i"
		elif tail -1 "$kept/$name.$i" | grep -q '^0 passed, 0 failed, [1-9]'; then
			rm "$kept/$name.$i"
			skipped=$((skipped + 1))
		else
			failed=$((failed + 1))
		fi
	done
	word=ok
	[ $skipped = 0 ] || word=SKIP
	if [ $failed != 0 ]; then
		word=FAIL
		bad_programs=$((bad_programs + 1))
	fi
	printf '  %-5s %s/%s: failed %d of %d times, %d s each\n' $word "$level" "$name" $failed \
		"$times" $(((SECONDS - start) / times))
done
echo "$programs programs, $bad_programs failed at least once"
[ $programs != 0 ] && [ $bad_programs = 0 ]
