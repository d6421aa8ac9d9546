#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# -h, the man page and the README agree on the options.

load ../cli/lib

needs=

prepare() {
	mapfile -t commands < <(sed -n 's/^\t{ "\([a-z]*\)", cmd_.*/\1/p' "$top/builtin/main.c")
	[ "${#commands[@]}" -ge 1 ]
}

# The options that help names: each word that begins with a dash before the description.
help_options() {
	"denet-$1" -h | grep -E '^ +-' | cut -c1-29 |
		grep -oE -- '(^|[ ,])-(-[a-z][a-z-]*|[a-zA-Z])\b' | tr -d ' ,' | sort -u
}

# The options that head an entry of the man page.
page_options() {
	grep -E '::$' "$top/Documentation/denet-$1.txt" |
		grep -oE -- '\*-(-[a-z][a-z-]*|[a-zA-Z])\*' | tr -d '*' | sort -u
}

@test "help and man page name the same options" {
	for command in "${commands[@]}"; do
		help_options "$command" >help
		page_options "$command" >page
		[ "$(wc -l <help)" -ge 5 ]
		diff help page
	done
}

@test "the options that the man page's examples use exist" {
	for command in "${commands[@]}"; do
		grep -oE "^	denet-$command .*" "$top/Documentation/denet-$command.txt" |
			sed 's/ -- .*//; s/ | .*//' |
			grep -oE -- ' -(-[a-z][a-z-]*|[a-zA-Z])\b' | tr -d ' ' | sort -u >used
		help_options "$command" >help
		[ -s used ]
		[ -z "$(comm -23 used help)" ]
	done
}

@test "the options that the README uses exist" {
	[ -e "$top/README.md" ] || skip "no README.md"
	for command in "${commands[@]}"; do
		grep -oE "(denet-|denet )$command [^\`]*" "$top/README.md" |
			sed 's/ -- .*//; s/ | .*//' |
			grep -oE -- ' -(-[a-z][a-z-]*|[a-zA-Z])\b' | tr -d ' ' | sort -u >used || true
		help_options "$command" >help
		[ -z "$(comm -23 used help)" ]
	done
}

@test "the man page has no line that asciidoctor complains of" {
	command -v asciidoctor >/dev/null || skip "no asciidoctor"
	for page in "$top"/Documentation/denet-*.txt; do
		asciidoctor -b manpage -d manpage -v -o page.1 "$page" 2>err
		[ ! -s err ]
	done
}
