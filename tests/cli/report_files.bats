#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What denet-report reads, and where it finds the files that were mapped: never another file's names.
# tests: parallel

load lib

# ns_of FILE…: the sum of all time, as perf script has it.
ns_of() {
	local file

	for file; do
		perf script -i "$file" -F event,period 2>/dev/null
	done | awk '$2 !~ /^denet:/ { ns += $1 } END { printf "%.0f\n", ns }'
}

# folded_ns FILE…: the same as denet-report has it.
folded_ns() {
	local file

	for file; do
		denet-report -i "$file" --folded
	done | awk '{ ns += $NF } END { printf "%.0f\n", ns }'
}

@test "each file of a rotation, and all of them together" {
	denet-record --off-cpu-thresh 0 --window 50ms --switch-output=20K -- "$naps" 2 200 3 2>err
	files=(perf.data.*)
	[ "${#files[@]}" -ge 3 ]
	# The last one may have but the end of the program.
	for file in "${files[@]::${#files[@]}-1}"; do
		denet-report -i "$file" --folded >folded
		grep -q '^napper-[01];.*;take_nap;' folded
	done
	[ "$(folded_ns "${files[@]}")" = "$(ns_of "${files[@]}")" ]
}

@test "the file of a writer that was killed, with names while its processes live" {
	start_target "$naps" 2 100000 5
	start_recording -p "$target" --off-cpu-thresh 0 --window 50ms
	until_true bigger_than live.data 20000
	kill -KILL "$recorder"
	finish_recording
	denet-report -i live.data --folded >folded
	grep -q '^napper-0;.*;take_nap;' folded
	[ "$(awk '{ ns += $NF } END { printf "%.0f\n", ns }' folded)" = "$(ns_of live.data)" ]
	denet-report -i live.data >screen
	grep '^the writer of the file did not finish: ' screen
}

@test "a file that others wrote is refused" {
	perf record -q -e cpu-clock -o other.data true >words 2>&1 || skip "perf: $(head -1 words)"
	run -1 denet-report -i other.data
	[[ "$output" == *"other.data was not written by denet-record; \`perf report\`"* ]]
	run -1 denet-report -i - <other.data
	[ "${#lines[@]}" = 1 ]
	run -1 denet-report --flamegraph page.html -i other.data
	[ ! -e page.html ]
	run -1 denet-report -i .
	[[ "$output" == *"cannot read .: Is a directory"* ]]
}

# elsewhere COMMAND…: as on a machine of another name.
elsewhere() {
	unshare --uts sh -c 'hostname elsewhere && exec "$@"' sh "$@"
}

@test "files of another machine come from --symfs, by their build-id" {
	cp "$naps" mine
	elsewhere "$build/denet-record" --off-cpu-thresh 0 -o away.data -- ./mine 1 5 5 2>err
	mkdir -p "tree/$PWD"
	mv mine "tree/$PWD"
	# The file of that name here is another program.
	cp "$build/tests/workloads/waits" mine
	denet-report -i away.data --folded >folded
	grep -q '^napper-0;.*;mine+0x' folded
	refute grep take_nap folded
	denet-report -i away.data --symfs tree --folded >folded
	grep -q '^napper-0;.*;take_nap;' folded
	mv mine "tree/$PWD"
	denet-report -i away.data --symfs tree --folded >folded
	refute grep take_nap folded
	grep -q '^napper-0;.*;mine+0x' folded
}

# own_functions PROGRAM: a pattern of functions that only this one of the two has.
own_functions() {
	nm --defined-only "$1" | awk '$2 ~ /[tT]/ { print $3 }' | sort -u >"$1.functions"
}

@test "two programs that had one name one after the other: each has its own names or none" {
	cp "$naps" first
	cp "$build/tests/workloads/waits" second
	own_functions first
	own_functions second
	comm -13 first.functions second.functions | grep -v '^_' >theirs
	cat >one_after_other.sh <<-'END'
		cp first mine
		./mine 1 5 5
		rm mine
		cp second mine
		./mine --count 5 --ms 5
	END
	denet-record --off-cpu-thresh 0 -o two.data -- sh one_after_other.sh 2>err >/dev/null
	perf buildid-list -i two.data | grep '/mine$'
	for options in "" "--symfs tree"; do
		mkdir -p "tree/$PWD"
		cp second "tree/$PWD/mine"
		# Words on purpose.
		# shellcheck disable=SC2086
		denet-report -i two.data --comm napper-0 $options --folded >folded
		[ -s folded ]
		tr ';' '\n' <folded | sed 's/ [0-9]*$//' | sort -u | comm -12 - theirs >wrong
		cat wrong
		[ ! -s wrong ]
	done
}

@test "debug information beside the program: by debug link, by build-id, and packed" {
	command -v objcopy >/dev/null || skip "no objcopy (package binutils)"
	local name

	for name in link id; do
		cp "$naps" "by-$name"
		objcopy --only-keep-debug "by-$name" "by-$name.debug"
		strip "by-$name"
	done
	objcopy --add-gnu-debuglink=by-link.debug by-link
	# Without a build-id only the sum of the debug file tells.
	objcopy --remove-section .note.gnu.build-id by-link
	id=$(readelf -n by-id | sed -n 's/.*Build ID: //p')
	for name in link id; do
		"$build/denet-record" --off-cpu-thresh 0 -o $name.data -- "./by-$name" 1 5 5 2>err
	done
	denet-report -i id.data --folded >folded
	refute grep take_nap folded
	mkdir -p "tree/usr/lib/debug/.build-id/${id:0:2}"
	cp by-id.debug "tree/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
	denet-report -i id.data --symfs tree --folded | grep '^napper-0;.*;take_nap;'
	# Beside the program, and in .debug there.
	denet-report -i link.data --folded | grep '^napper-0;.*;take_nap;'
	mkdir .debug
	mv by-link.debug .debug
	denet-report -i link.data --folded | grep '^napper-0;.*;take_nap;'
	echo changed >>.debug/by-link.debug
	denet-report -i link.data --folded >folded
	refute grep take_nap folded
}

@test "a file that has gone has the names of another one with its build-id" {
	cp "$naps" first
	cp "$naps" second
	denet-record --off-cpu-thresh 0 -o both.data -- sh -c './first 1 5 5; ./second 1 5 5' 2>err
	rm second
	denet-report -i both.data --folded >folded
	cat folded
	grep '^first;.*;main;' folded
	grep '^second;.*;main;' folded
	refute grep -E '(first|second)\+0x' folded
	rm first
	denet-report -i both.data --folded | grep -F 'second+0x'
}

# written PROGRAM CALL NAME MANGLED: what the report of a blocked program has.
written() {
	start_target "$build/tests/unwind/$1"
	until_true is_at "$target" "$2"
	denet-record --call-graph dwarf -p "$target" -o "$1.data" -- sleep 0.2 2>err
	kill -KILL "$target"
	denet-report -i "$1.data" --folded >plain
	denet-report -i "$1.data" --folded --no-demangle >mangled
	cat plain mangled
	grep -qF ";$3;" plain
	refute grep -q ";$4" plain
	grep -q ";$4" mangled
	[ "$(awk '{ ns += $NF } END { print ns }' plain)" = \
		"$(awk '{ ns += $NF } END { print ns }' mangled)" ]
}

# bats test_tags=whole
@test "C++ and Rust: names as they were written, or as the linker has them" {
	[ -e "$build/tests/unwind/nofp_cpp" ] || skip "no C++ compiler"
	written nofp_cpp pause Pause::wait _ZN5Pause4waitEi
	[ -e "$build/tests/unwind/nofp_rs" ] || skip "no Rust compiler; C++ is right"
	written nofp_rs futex nofp::wait_in '_ZN4nofp7wait_in17h[0-9a-f]*E'
}

@test "lines of a file without .debug_aranges, which LLVM leaves out" {
	command -v objcopy >/dev/null || skip "no objcopy (package binutils)"
	objcopy --remove-section .debug_aranges "$naps" without
	"$build/denet-record" --off-cpu-thresh 0 -o without.data -- ./without 1 5 5 2>err
	denet-report -i without.data --folded --srcline >folded
	cat folded
	grep -q 'take_nap [^;]*\.c:[0-9]*;' folded
}

# in_prelinked FILE WAY: a wait in a library whose addresses are not offsets from its begin, its
# chain found by WAY, and its names in both commands.
in_prelinked() {
	mkfifo "$1.gate"
	exec 9<>"$1.gate"
	denet-record --call-graph "$2" --off-cpu-thresh 0 -o "$1" -- "$build/tests/unwind/nofp" \
		libraries "$build/tests/unwind/prelinked.so" <"$1.gate" 2>err 3>&- &
	recorder=$!
	until_true waits_in_prelinked
	printf x >&9
	wait "$recorder"
	denet-report -i "$1" --folded >"$1.folded"
	cat err "$1.folded"
	grep -q '^nofp;.*;main;\(run_library;\)\?wait_inside;wait_for_byte;' "$1.folded"
	refute grep -q 'prelinked\.so+0x' "$1.folded"
	denet-report -i "$1" --folded --srcline | grep -q ';wait_for_byte library\.c:[0-9]*;'
	# The file that --symfs names is read by the same rule.
	mkdir -p "$1.root$build/tests/unwind"
	cp "$build/tests/unwind/prelinked.so" "$1.root$build/tests/unwind"
	denet-report -i "$1" --symfs "$1.root" --folded | grep -q ';wait_inside;wait_for_byte;'
}

waits_in_prelinked() {
	local pid

	pid=$(pgrep -P "$recorder" -x nofp) && grep -q '/prelinked\.so$' "/proc/$pid/maps" &&
		grep -q pipe_read "/proc/$pid/wchan"
}

@test "a prelinked library has its names, lines and chains" {
	LC_ALL=C readelf -lW "$build/tests/unwind/prelinked.so" | grep -q 'LOAD  *0x000000 0x0*3a40000000 '
	in_prelinked copied.data dwarf,4096
	in_prelinked walked.data tables
}
