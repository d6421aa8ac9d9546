#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The Debian package: built without network, clean, and installed on other releases.
# tests: limit 1200

load ../cli/lib

needs=

# Built once, from what git knows of the tree.
setup_file() {
	export package=$BATS_FILE_TMPDIR
	for tool in dpkg-buildpackage dh lintian; do
		command -v $tool >/dev/null || skip "no $tool: scripts/deps.sh dist"
	done
	[ "$(id -u)" = 0 ] || skip "needs root, to build without a network"
	mkdir "$package/denet"
	(cd "$top" && git ls-files -z --cached --others --exclude-standard |
		xargs -0 tar -cf - --ignore-failed-read 2>/dev/null) | tar -C "$package/denet" -xf -
	(cd "$package/denet" && env -u O -u DEV unshare -n dpkg-buildpackage -us -uc -b) \
		>"$package/log" 2>&1 || { tail -30 "$package/log"; return 1; }
}

deb() {
	ls "$package"/denet_*.deb
}

@test "it was built without a network, and lintian has nothing to say" {
	lintian --allow-root --tag-display-limit 0 --fail-on error,warning "$package"/*.changes >said
	cat said
	[ ! -s said ]
}

@test "it holds the names, the pages and the completion, and depends on no more than it uses" {
	dpkg-deb -c "$(deb)" | awk '{ print $6 }' >files
	for file in bin/{denet,denet-{record,check,fold,setcap},perf-denet} share/denet/archive.sh \
		share/man/man1/{denet,denet-{record,check,fold,setcap},perf-denet}.1.gz \
		share/bash-completion/completions/denet; do
		grep -qx "./usr/$file" files || { echo "no $file"; false; }
	done
	# The commands in README.Debian exist.
	sed -n 's/^ *sudo \([^ ]*\) .*/\1/p' "$top/debian/denet.README.Debian" >commands
	grep -q . commands
	while read -r command; do
		grep -qx "./usr/bin/$command" files || { echo "no $command"; false; }
	done <commands
	# Nothing runs at its installation: capabilities are given by denet-setcap, if at all.
	dpkg-deb --ctrl-tarfile "$(deb)" | tar -t | sort >control
	diff <(printf '%s\n' ./ ./control ./md5sums) control
	dpkg-deb -f "$(deb)" Depends | tr , '\n' | sed 's/^ *//; s/ .*//' | sort >depends
	diff <(printf '%s\n' libbpf1 libc6 libdw1 libelf1 libncursesw6 libseccomp2 libtinfo6 libtraceevent1 libzstd1 \
		zlib1g) \
		<(sed 's/t64$//' depends)
}

# install_on SUITE: in a root of that release, which apt fills with what the package wants.
install_on() {
	local suite=$1

	command -v mmdebstrap >/dev/null || skip "no mmdebstrap: scripts/deps.sh dist"
	. "$top/scripts/suite-lib.sh"
	cp "$(deb)" denet.deb
	mmdebstrap --quiet --mode=root --variant=minbase --skip=check/empty \
		--setup-hook='mkdir -p "$1/tmp" && cp denet.deb "$1/tmp/denet.deb"' \
		--customize-hook='chroot "$1" apt-get -qq -y install /tmp/denet.deb' \
		"$suite" root "deb $(suite_mirror) $suite main" >log 2>&1 || { tail -20 log; false; }
	mkdir -p root/out
	unshare -m sh -c 'mount -t proc proc root/proc && mount --rbind /sys root/sys &&
		exec chroot root perf-denet record -o /out/data -- sleep 0.6'
	[ "$(samples root/out/data)" -ge 1 ]
	# Removal leaves nothing behind.
	chroot root dpkg --purge denet
	[ ! -e root/usr/bin/denet ]
}

@test "it installs and records on Debian 12" {
	install_on bookworm
}

@test "it installs and records on Debian 13" {
	install_on trixie
}
