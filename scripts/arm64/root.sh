#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# root.sh: makes a root file system of Debian 12 for arm64, once, and prints its path: what a cross
# build takes headers and libraries from, and what a guest runs its tests on. Its packages are
# unpacked, not installed: nothing of them runs here, and this machine's packages stay as they are.
# Debian 13's libelf.a cannot be linked: it lacks functions of its own.
set -euo pipefail

# shellcheck source=scripts/suite-lib.sh
. "$(dirname "$(realpath "$0")")/../suite-lib.sh"

# Packages to build (scripts/deps.sh build) and to run tests.
packages=(libc6-dev libbpf-dev libelf-dev libdw-dev libseccomp-dev libiberty-dev libtraceevent-dev libncurses-dev zlib1g-dev
	liblzma-dev libbz2-dev libzstd-dev libstdc++6 bash dash coreutils util-linux mount sed grep mawk findutils procps gzip
	diffutils xz-utils binutils libc-bin busybox-static gdb python3)
root=$(suite_cache)/arm64-root
# The list is a part of the name of what it makes.
mark=$root/complete-$(printf '%s\n' "${packages[@]}" | cksum | tr -d ' ')

if [ ! -e "$mark" ]; then
	rm -rf "$root"
	SUITE_ARCH=arm64 suite_open arm64 bookworm
	mapfile -t all < <(suite_closure "${packages[@]}" | grep -vE '^(debconf.*|perl.*|dpkg|tar)$')
	suite_unpack "$root" "${all[@]}"
	# Done by the packages' own scripts in a normal installation.
	ln -sf mawk "$root/usr/bin/awk"
	ln -sf dash "$root/bin/sh"
	mkdir -p "$root"/{etc,proc,sys,dev,run,tmp,var/tmp,root,host,share,w}
	printf '%s\n' root:x:0:0:root:/root:/bin/bash nobody:x:65534:65534::/:/bin/false \
		>"$root/etc/passwd"
	printf '%s\n' root:x:0: nogroup:x:65534: >"$root/etc/group"
	# Links of -dev packages that are absolute would lead out of it where it is not the root.
	find "$root/usr/lib" "$root/lib" -type l -lname '/*' -printf '%p\t%l\n' |
		while IFS=$'\t' read -r link target; do
			ln -sfrT "$root$target" "$link"
		done
	touch "$mark"
fi
echo "$root"
