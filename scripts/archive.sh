#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# archive.sh [FILE]: packs what a recording with --buildid-cache has put into perf's cache, into
# FILE.tar.gz (default perf.data), for another machine. `perf archive` does the same, but only for
# files in which the innermost frame of a sample lies, which is the kernel's as a rule.
set -euo pipefail

file=${1:-perf.data}
if [ $# -gt 1 ] || [ ! -e "$file" ]; then
	echo 'usage: archive.sh [FILE]' >&2
	exit 2
fi
cache=$HOME/.debug
list=$(mktemp)
trap 'rm -f "$list"' EXIT

missing=0
while read -r id _; do
	[[ $id =~ ^[0-9a-f]{8,40}$ ]] || continue
	link=.build-id/${id:0:2}/${id:2}
	if target=$(readlink -e "$cache/$link"); then
		printf '%s\0%s\0' "$link" "${target#"$(readlink -f "$cache")"/}" >>"$list"
	else
		missing=$((missing + 1))
	fi
done < <(perf buildid-list -f -i "$file")
if [ ! -s "$list" ]; then
	echo "archive.sh: nothing of $file is in $cache; record with --buildid-cache" >&2
	exit 1
fi
tar czf "$file.tar.gz" -C "$cache" --no-unquote --null -T "$list"
[ $missing = 0 ] || echo "archive.sh: $missing files of $file are not in $cache" >&2
echo "On the other machine: mkdir -p ~/.debug; tar xzf $file.tar.gz -C ~/.debug"
