#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dist.sh NAME DIR: packs the static build in $O: DIR/NAME is the stripped program alone,
# DIR/NAME.tar.gz holds it with man pages, completion and scripts, laid out for a prefix such as
# /usr/local, and DIR/SHA256SUMS has the checksums of all that is in DIR. `make dist` calls it.
set -euo pipefail

name=${1:?usage: dist.sh NAME DIR} dir=${2:?usage: dist.sh NAME DIR}
tree=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
top=$work/$name
# Files and pages bear the date of the source, so that each build makes the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$tree" log -1 --format=%ct 2>/dev/null ||
	stat -c %Y "$tree/Makefile")}
export SOURCE_DATE_EPOCH

headers=$(LC_ALL=C ${READELF:-readelf} -l "$O/denet")
if [[ $headers = *'program interpreter'* ]]; then
	echo "dist.sh: $O/denet is not static: build it with STATIC=1" >&2
	exit 1
fi
mkdir -p "$dir"
rm -rf "$O/man"
${MAKE:-make} -C "$tree" --no-print-directory -s O="$O" STATIC=1 DESTDIR="$top" prefix= install
${STRIP:-strip} "$top/bin/denet"
install -d "$top/share/doc/denet"
install -m 644 "$tree/COPYING" "$tree/README.md" "$top/share/doc/denet"

install -m 755 "$top/bin/denet" "$dir/$name"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" |
	gzip -9n >"$dir/$name.tar.gz"
(cd "$dir" && find . -maxdepth 1 -name 'denet-*' -printf '%f\n' | LC_ALL=C sort |
	xargs sha256sum >SHA256SUMS)
cat "$dir/SHA256SUMS"
