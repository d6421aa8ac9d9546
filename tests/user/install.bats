#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What `make install` puts in place, and what `make uninstall` leaves: nothing.

load ../cli/lib

setup() {
	enter_tmp
	# The build must not try to fetch or build anything here: all of it is there.
	install_to() { make -C "$top" --no-print-directory -s O="$build" DESTDIR="$1" "$2"; }
}

@test "the scripts that users need are installed as commands, with a page each" {
	install_to "$PWD/root" install >log 2>&1 || { cat log; return 1; }
	for name in fold setcap; do
		[ -x "root/usr/local/bin/denet-$name" ]
		run -0 "root/usr/local/bin/denet-$name" -h
		[[ "$output" == *"usage: denet-$name "* ]]
		run -2 "root/usr/local/bin/denet-$name" -X
		! command -v asciidoctor >/dev/null || [ -s "root/usr/local/share/man/man1/denet-$name.1" ]
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
