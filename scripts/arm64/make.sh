#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make.sh TARGET…: make for arm64, by Debian's cross compiler and against the root of root.sh, in
# $O (build/arm64): `scripts/arm64/make.sh -j2 all tests`, `scripts/arm64/make.sh dist`.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
root=$("$here/root.sh")
cross=aarch64-linux-gnu-
if ! command -v ${cross}gcc >/dev/null; then
	echo 'make.sh: no cross compiler: sudo scripts/deps.sh arm64' >&2
	exit 1
fi
# pkg-config sees the root alone, and puts it in front of the paths that it finds.
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=
export PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig
exec make -C "$here/../.." --no-print-directory O="${O:-build/arm64}" DEPS=.deps/arm64 \
	CROSS_COMPILE=$cross SYSROOT="$root" "$@"
