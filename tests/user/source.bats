#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Rules of the source that no compiler checks. CONTRIBUTING.md says why they are there.

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	O=${O:-build}
}

# Our C sources and headers; generated and trimmed kernel headers are not ours to style.
c_files() {
	find util builtin bpf_skel tests -name '*.[ch]' ! -name vmlinux.h 2>/dev/null | sort
}

# Fails with the lines on standard input, if there are any.
expect_none() {
	local lines

	lines=$(cat)
	if [ -n "$lines" ]; then
		printf '%s\n' "$1" "$lines"
		return 1
	fi
}

# "FROM TO" for each #include of a header under util/ by a file there. A .c file and its header are
# one module. The header that has its room's name is what other rooms see of the room, and stands
# for itself.
module_includes() {
	grep -rHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' util | awk -F'[:"]' '
		function module(file, parts, nr) {
			nr = split(file, parts, "/")
			if (nr > 1 && parts[nr] == parts[nr - 1] ".h")
				return file
			sub(/\.[ch]$/, "", file)
			return file
		}
		{ sub(/^util\//, "", $1) }
		$3 ~ /\// && module($1) != module($3) { print module($1), module($3) }' | sort -u
}

# The same by rooms, which are the folders.
room_includes() {
	module_includes | sed -E 's@/[^/ ]+( |$)@\1@g' | awk '$1 != $2' | sort -u
}

# The rooms of util/ from the bottom up. A room includes those above its line, and others of its
# line as long as that makes no circle.
layers='base
host cfi screen
bpf symbol synth machine
capture unwind callchain
session output/perfdata
input profile
output/bcc output/flamegraph output/folded output/json output/pprof output/speedscope
output/files
record hist check report offcputime stat top'

@test "the tree has C sources to look at" {
	[ "$(c_files | wc -l)" -gt 10 ]
}

@test "util/ never includes builtin/" {
	grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<](\.\./)*builtin/' util |
		expect_none 'the way of the data has no way back:'
}

@test "no module includes another that includes it, over however many others" {
	module_includes >"$BATS_TEST_TMPDIR/includes"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/includes")" -gt 100 ]
	tsort "$BATS_TEST_TMPDIR/includes" 2>&1 >/dev/null | expect_none 'modules in a circle:'
}

@test "no room includes another that includes it, and none a room of a higher layer" {
	room_includes >"$BATS_TEST_TMPDIR/includes"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/includes")" -gt 10 ]
	tsort "$BATS_TEST_TMPDIR/includes" 2>&1 >/dev/null | expect_none 'rooms in a circle:'
	awk 'FNR == NR { for (i = 1; i <= NF; i++) layer[$i] = FNR; next }
	     !($1 in layer) || !($2 in layer) || layer[$1] < layer[$2] { print $1 " includes " $2 }' \
		<(echo "$layers") "$BATS_TEST_TMPDIR/includes" |
		expect_none 'upwards, or of a room that has no layer yet:'
}

# "SYMBOL FILE" for each function that a C file of ours gives to others.
extern_functions() {
	find util builtin -name '*.c' | sed "s@^@$O/@; s/\.c\$/.o/" | xargs ls 2>/dev/null |
		xargs nm -A --defined-only -g | sed "s@^$O/@@" |
		awk -F '[: ]+' '$3 == "T" { sub(/\.o$/, ".c", $1); print $4, $1 }'
}

@test "a function that no other file calls is static, but for what tests call" {
	[ -e "$O/libdenet.a" ] || skip "nothing is built in $O"
	extern_functions >"$BATS_TEST_TMPDIR/functions"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/functions")" -gt 100 ]
	# A function in a macro is called wherever the macro is used.
	c_files | grep -vE '^bpf_skel/' | xargs env LC_ALL=C awk -F '[^a-z_0-9]+' '
		FNR == NR { split($0, f, " "); home[f[1]] = f[2]; next }
		FILENAME ~ /\.h$/ && (FILENAME ~ /^tests/ || !/^#define/) { next }
		{ for (i = 1; i <= NF; i++) if ($i in home && home[$i] != FILENAME) used[$i] = 1 }
		END { for (name in home)
			if (!used[name] && name != "main")
				print home[name] ": " name }' "$BATS_TEST_TMPDIR/functions" |
		sort | expect_none 'extern, but called at home only:'
}

@test "only util/bpf/ and util/capture/ know the wire, and nothing outside of them but their tests" {
	grep -rnE '#[[:space:]]*include.*"(bpf_skel/)?wire\.h"' util builtin |
		grep -vE '^util/(bpf|capture)/' | expect_none 'wire structs end at the decoder:'
}

@test "each skeleton is included by the file of util/bpf/ that has its name, and no other" {
	[ -n "$(find bpf_skel -name '*.bpf.c')" ] || skip "no BPF programs yet"
	for source in bpf_skel/*.bpf.c; do
		name=$(basename "$source" .bpf.c)
		users=$(grep -rlE "#[[:space:]]*include.*\"$name\.skel\.h\"" util builtin tests)
		echo "$name.skel.h is included by $users"
		[ "$users" = "util/bpf/$name.c" ]
	done
}

@test "libperf is included by two C files at most" {
	users=$(grep -rlE '#[[:space:]]*include[[:space:]]*<(perf|internal)/' util builtin | wc -l)
	echo "libperf is included by $users files"
	[ "$users" -le 2 ]
}

@test "libdwfl is included by one C file" {
	users=$(grep -rlE '#[[:space:]]*include[[:space:]]*<elfutils/libdwfl' util builtin | wc -l)
	echo "libdwfl is included by $users files"
	[ "$users" = 1 ]
}

@test "ncurses is known to util/screen alone" {
	grep -rnE '#[[:space:]]*include[[:space:]]*<(n?curses|term)\.h>' util builtin |
		grep -v '^util/screen/' | expect_none 'painters write on a canvas:'
}

@test "the unwinder knows no BPF, no ring and no perf.data" {
	grep -nE '#[[:space:]]*include[[:space:]]*"(bpf|capture|output|record|bpf_skel)/|sample\.h"' \
		util/unwind/* | expect_none 'util/unwind is fed by others:'
}

# bats test_tags=whole
@test "every header compiles alone, without the headers that the build puts in front" {
	run make --no-print-directory -s -j "$(nproc)" O="$O" check-headers
	echo "$output"
	[ "$status" = 0 ]
}

@test "every header has a guard" {
	c_files | grep '\.h$' | xargs grep -LE '^#ifndef [A-Z0-9_]+_H$' | expect_none 'no guard in:'
}

@test "comments are /* */, never //" {
	# Strings and the inside of comments may hold //, as in a URL.
	c_files | xargs awk '{
		gsub(/"([^"\\]|\\.)*"/, "\"\"")
		sub(/\/\*.*\*\//, "")
	}
	/(^|[[:space:];{}(),])\/\// { print FILENAME ":" FNR ": " $0 }' |
		expect_none 'write /* */ instead:'
}

@test "every source file says its licence on top" {
	find util builtin bpf_skel tests scripts .ci Makefile -type f \
		\( -name '*.[ch]' -o -name '*.sh' -o -name '*.bats' -o -name Makefile -o -name run \) |
		xargs awk 'FNR == 1 { seen[FILENAME] = 0 }
			FNR <= 3 && /SPDX-License-Identifier: / { seen[FILENAME] = 1 }
			END { for (file in seen) if (!seen[file]) print file }' |
		expect_none 'no SPDX line in:'
}

# A function begins with { in the first column and ends with } there: kernel style.
@test "no function is longer than 100 lines" {
	c_files | xargs awk '
		FNR == 1 { start = 0 }
		/^{/ { start = FNR }
		/^}/ && start {
			if (FNR - start > 101)
				print FILENAME ":" start ": " FNR - start - 1
			start = 0
		}' | expect_none 'longer than one can follow (file:line: lines):'
}

@test "no file is longer than 1000 lines" {
	c_files | xargs awk 'FNR == 1001 { print FILENAME }' | expect_none 'more than one noun:'
}

@test "lines are at most 100 columns wide, with tabs of eight, and end clean" {
	c_files | xargs awk '
		{
			# Where the tabs end: each fills a cell of eight.
			width = 0
			n = split($0, cells, "\t")
			for (i = 1; i < n; i++)
				width = (int((width + length(cells[i])) / 8) + 1) * 8
			width += length(cells[n])
		}
		width > 100 { print FILENAME ":" FNR ": " width }
		/[ \t\r]$/ { print FILENAME ":" FNR ": blank at the end" }' | expect_none 'too wide:'
}

# A hop is a line of four blanks, a file, and the functions that are passed there, up to a colon.
@test "the ways in design.txt lead through functions that are there" {
	hops=$(sed -nE 's@^ {4}((util|builtin|bpf_skel)/[a-z_/.]+\.[ch]) +([^:]*).*@\1 \3@p' Documentation/design.txt)
	[ "$(wc -l <<<"$hops")" -gt 10 ]
	while read -r file functions; do
		for function in ${functions//,/ }; do
			grep -qE "(^|[^a-z_])$function\\(" "$file" || echo "$file: $function"
		done
	done <<<"$hops" | expect_none 'gone or moved:'
}

@test "the scripts are executable and parse" {
	for file in scripts/*.sh scripts/vm/*.sh .ci/run; do
		[[ $file != *lib.sh ]] || continue
		echo "$file"
		[ -x "$file" ]
		[[ $(head -1 "$file") = '#!/bin/'* ]]
		bash -n "$file"
	done
}

@test "every README command names a script that is there" {
	[ -e README.md ]
	grep -oE '(scripts|\.ci)/[a-z0-9/-]+(\.sh)?' README.md CONTRIBUTING.md | sed 's/^[^:]*://' | sort -u |
		while read -r path; do
			[ -e "$path" ] || echo "$path"
		done | expect_none 'named, but not there:'
}
