#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Files installed by `make install`, and that `make uninstall` removes all of them.

load ../cli/lib

needs=

# install_to DIR TARGET: `make install` or `uninstall`. The build must not try to fetch or build
# anything here: all of it is there.
install_to() {
	make -C "$top" --no-print-directory -s O="$build" DESTDIR="$1" "$2"
}

# Links to all programs that this machine has, but for the one of that name.
path_without() {
	mkdir programs
	IFS=: read -r -a folders <<<"$PATH"
	for folder in "${folders[@]}"; do
		find "$folder/" -maxdepth 1 ! -name "$1" -exec ln -s -t programs {} + 2>/dev/null || true
	done
	! [ -e "programs/$1" ]
}

@test "man pages are installed where asciidoctor is not, once they are built" {
	path_without asciidoctor
	[ -s "$build/man/denet-record.1" ]
	PATH=$PWD/programs install_to "$PWD/root" install >log 2>&1 || { cat log; return 1; }
	for page in denet denet-offcputime denet-record denet-report denet-stat denet-top denet-check denet-fold denet-setcap perf-denet; do
		[ -s "root/usr/local/share/man/man1/$page.1" ]
	done
	cat log
	! grep asciidoctor log
}

@test "the scripts that users need are installed as commands, with a page each" {
	install_to "$PWD/root" install >log 2>&1 || { cat log; return 1; }
	for name in fold setcap; do
		[ -x "root/usr/local/bin/denet-$name" ]
		run -0 "root/usr/local/bin/denet-$name" -h
		[[ "$output" == *"usage: denet-$name "* ]]
		run -2 "root/usr/local/bin/denet-$name" -X
		[ -s "root/usr/local/share/man/man1/denet-$name.1" ]
		# Each option that the help shows is in the page.
		for option in $("root/usr/local/bin/denet-$name" -h | grep -oE -- '[ [](-[a-z])\b' | tr -d ' ['); do
			[ "$option" = -h ] || grep -q "^\*$option\*" "$top/Documentation/denet-$name.txt"
		done
	done
	install_to "$PWD/root" uninstall >log 2>&1 || { cat log; return 1; }
	find root -type f -o -type l >left
	cat left
	[ ! -s left ]
}
