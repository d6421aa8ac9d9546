#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# build-libperf.sh DIR: builds libperf and libapi from the distribution's kernel source
# (package linux-source) into DIR/lib and DIR/include, with the kernel's test harness
# header beside them. Does nothing where this script, as it is now, has done that: the file built-by-…
# there bears its checksum. CROSS_COMPILE and ARCH (arm64) are as the kernel's build has them.
set -euo pipefail

dir=${1:?usage: build-libperf.sh DIR}
mark=built-by-$(cksum <"$0" | tr ' ' -)
[ ! -e "$dir/$mark" ] || exit 0

# The newest tarball; Debian keeps it in /usr/src, Ubuntu in a folder of the same name.
tarball=$(find /usr/src -maxdepth 2 -name 'linux-source-*.tar.*' 2>/dev/null | sort -V | tail -1)
if [ -z "$tarball" ]; then
	echo "build-libperf.sh: no kernel source in /usr/src: install the package linux-source" >&2
	exit 1
fi

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
work=$(mktemp -d "$dir/libperf.XXXXXX")
trap 'rm -rf "$work"' EXIT
top=$(basename "${tarball%.tar.*}")

echo "build-libperf.sh: unpacking libperf from $tarball" >&2
# One pass over the tarball; names that a version does not have are no error.
tar -C "$work" -xf "$tarball" --wildcards --strip-components=1 \
	"$top/tools/lib/*" "$top/tools/build/*" "$top/tools/scripts/*" "$top/tools/include/*" \
	"$top/tools/arch/*/include/*" "$top/tools/testing/selftests/kselftest*.h" \
	"$top/scripts/*" "$top/include/*" "$top/arch/x86/include/*" "$top/arch/arm64/include/*" \
	"$top/COPYING" 2>"$work/tar.log" || grep -q 'Not found in archive' "$work/tar.log"

mkdir -p "$work/out"
log=$dir/libperf-build.log
if ! make -C "$work/tools/lib/perf" O="$work/out/" prefix="$dir" libdir="$dir/lib" \
	ARCH="${ARCH:-}" CROSS_COMPILE="${CROSS_COMPILE:-}" \
	EXTRA_CFLAGS="-g -Wall -ffile-prefix-map=$work=linux" \
	install_lib install_headers >"$log" 2>&1; then
	echo "build-libperf.sh: libperf did not build; the end of $log:" >&2
	tail -5 "$log" >&2
	exit 1
fi
mkdir -p "$dir/lib" "$dir/include"
libapi=$(find "$work" -name libapi.a | head -1)
[ -n "$libapi" ] || { echo "build-libperf.sh: no libapi.a was built, see $log" >&2; exit 1; }
cp "$libapi" "$dir/lib/"
cp "$work"/tools/testing/selftests/kselftest*.h "$dir/include/"
rm -f "$dir"/built-by-*
touch "$dir/$mark"
echo "build-libperf.sh: libperf is in $dir" >&2
