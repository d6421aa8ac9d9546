#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# fetch-kernel.sh 5.10|6.1|6.12|7: fetches a stock Debian kernel with its modules, once, and
# prints its release. GUEST_ARCH=arm64: of that architecture, else amd64. 5.10 is Debian 11's, 6.1
# Debian 12's, 6.12 Debian 13's, 7 the newest of Debian 13's backports.
set -euo pipefail

# shellcheck source=scripts/suite-lib.sh
. "$(dirname "$(realpath "$0")")/../suite-lib.sh"

case ${1:-} in
5.10) suites=(bullseye) ;;
6.1) suites=(bookworm) ;;
6.12) suites=(trixie) ;;
7) suites=(trixie-backports) ;;
*)
	echo 'usage: fetch-kernel.sh 5.10|6.1|6.12|7' >&2
	exit 2
	;;
esac
arch=${GUEST_ARCH:-amd64}
kernels=$(suite_cache)/kernels
# Results of earlier calls are kept below this name.
name=$1
[ "$arch" = amd64 ] || name=$1-$arch
mkdir -p "$kernels"
# Which release an earlier call found: so that nothing asks the network again.
if [ -e "$kernels/$name.release" ]; then
	cat "$kernels/$name.release"
	exit
fi

SUITE_ARCH=$arch suite_open "kernel-$name" "${suites[@]}"
depends_on() {
	apt-cache depends "$1" | awk -v wanted="$2" '$1 == "Depends:" && $2 ~ wanted { print $2 }'
}
image=$(depends_on "linux-image-$arch" '^linux-image-' | head -1)
release=${image#linux-image-}
# Since 7.0, the image's package only names those that have the kernel and its modules.
mapfile -t parts < <(depends_on "$image" '^linux-(binary|modules)-')
rm -rf "${kernels:?}/$release"
suite_unpack "$kernels/$release" "$image" "${parts[@]}"
if [ ! -e "$kernels/$release/lib" ]; then
	ln -s usr/lib "$kernels/$release/lib"
fi
# It warns of lists that newer packages have elsewhere; the guest needs none of them.
PATH=$PATH:/usr/sbin:/sbin depmod -b "$kernels/$release" "$release" 2>/dev/null
echo "$release" >"$kernels/$name.release"
echo "$release"
