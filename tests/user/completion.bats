#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# bash's completion offers the options that -h lists.

load ../cli/lib

needs=

prepare() {
	mapfile -t commands < <(sed -n 's/^\t{ "\([a-z]*\)", cmd_.*/\1/p' "$top/builtin/main.c")
	[ "${#commands[@]}" -ge 1 ]
}

# complete WORD…: what is offered for the last of these words, one a line. bash splits at "=".
complete() {
	bash -c 'complete() { :; }; . "$1"; shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_denet 2>&1
		printf "%s\n" "${COMPREPLY[@]}"' bash "$top/scripts/completion.bash" "$@" |
		grep . | sort -u
}

# The options of -h, with "=" where a value must follow.
listed() {
	"denet-$1" -h | grep -oE -- '^ +-[a-zA-Z-].*' | cut -c1-29 |
		grep -oE -- '-(-[a-z][a-z-]*=?|[a-zA-Z]\b)' | sort -u
}

@test "the commands that help lists are offered" {
	complete denet '' >offered
	printf '%s\n' "${commands[@]}" --help --version | sort >expected
	diff expected offered
	complete perf-denet '' | diff expected -
	[ "$(complete denet rec)" = record ]
}

@test "each command offers the options of its -h, by each of its names" {
	for command in "${commands[@]}"; do
		listed "$command" >expected
		[ "$(wc -l <expected)" -ge 5 ]
		complete denet "$command" - | diff expected -
		complete "denet-$command" - | diff expected -
		complete "$(command -v denet)" "$command" -- | diff <(grep ^-- expected) -
	done
}

@test "the words that an option offers are those that it takes" {
	for option in call-graph capture state; do
		complete denet record --$option = '' >words
		[ "$(wc -l <words)" -ge 3 ]
		complete denet-record --$option '' | diff words -
		while read -r word; do
			# The option that comes behind it is the one that is wrong.
			run -2 denet record --$option="$word" --no-such-option
			[[ "$output" == *"no-such-option"* ]]
		done <words
		run -2 denet record --$option=no-such-word
	done
}

@test "an option is completed as its command has it" {
	[ "$(complete denet-offcputime --call-graph '' | tr '\n' ' ')" = 'auto fp tables ' ]
	[ "$(complete denet-top --call-graph '' | tr '\n' ' ')" = 'auto fp ' ]
	complete denet offcputime -u '' | grep -qx -- --folded
	# All columns that there are, and no other.
	[ "$(complete denet-top -g '' | sort)" = \
		"$(sed -n 's/^	\[TOP_COLUMN_.*\] = "\(.*\)",$/\1/p' "$top/util/top/columns.c" | sort)" ]
	[ "$(complete denet-top --group lock_o)" = lock_owner ]
	for word in comm pid tid; do
		run -2 denet-offcputime --by "$word" --no-such-option
		[[ "$output" == *"no-such-option"* ]]
	done
}

@test "files, users and processes are offered where they are wanted" {
	: >some.data
	[ "$(complete denet record -o so)" = some.data ]
	for option in -i --symfs --diff --flamegraph --pprof --speedscope; do
		[ "$(complete denet report $option so)" = some.data ]
	done
	[ "$(complete denet record -u roo)" = root ]
	complete denet record -p '' | grep -qx $$
}

@test "what is to run is no option of ours" {
	[ -z "$(complete denet record -a -- -)" ]
}

@test "every command of ours has the completion" {
	names=$(sed -n 's/^complete -F _denet //p' "$top/scripts/completion.bash" | tr ' ' '\n' | sort)
	[ "$names" = "$(printf '%s\n' denet perf-denet "${commands[@]/#/denet-}" | sort)" ]
}
