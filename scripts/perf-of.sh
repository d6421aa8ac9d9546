#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf-of.sh 5.10|6.1|6.12|7 ARGUMENT…: runs the perf of another Debian release as a reader of
# files of this machine: `scripts/perf-of.sh 7 script -i perf.data`. Its package is fetched
# once, with the libraries it wants, and kept in ~/.cache/denet-record.
set -euo pipefail

# shellcheck source=scripts/suite-lib.sh
. "$(dirname "$(realpath "$0")")/suite-lib.sh"

name=(--argv0 perf)
case ${1:-} in
# Package and program are called by the version, and the loader cannot call it otherwise.
5.10) suites=(bullseye) package=linux-perf-5.10 program=perf_5.10 name=() ;;
6.1) suites=(bookworm) ;;
6.12) suites=(trixie) ;;
7) suites=(trixie-backports trixie) ;;
*)
	echo 'usage: perf-of.sh 5.10|6.1|6.12|7 ARGUMENT…' >&2
	exit 2
	;;
esac
version=$1
shift
root=$(suite_cache)/perf-$version

# A perf of another release wants libraries of that release, the C library included.
if [ ! -e "$root/complete" ]; then
	rm -rf "$root"
	suite_open "perf-$version" "${suites[@]}"
	# The newest of the first suite: backports lose against their base by default.
	: "${package:=$(apt-cache madison linux-perf | awk -v suite="${suites[0]}/" \
		'index($0, " " suite) { print "linux-perf=" $3; exit }')}"
	mapfile -t libraries < <(apt-cache depends --recurse --no-recommends --no-suggests \
		--no-conflicts --no-breaks --no-replaces --no-enhances "$package" |
		grep -E '^(lib|zlib1g)' | grep -v ':' | sort -u)
	suite_unpack "$root" "$package" "${libraries[@]}"
	touch "$root/complete"
fi

# Through the loader of that release: this machine's would bring its own C library along.
machine=$(uname -m)
path=$root/lib/$machine-linux-gnu:$root/usr/lib/$machine-linux-gnu
for loader in "$root"/{usr/,}lib/"$machine"-linux-gnu/ld-linux*.so.*; do
	[ ! -e "$loader" ] ||
		exec "$loader" "${name[@]}" --library-path "$path" "$root/usr/bin/${program:-perf}" "$@"
done
echo "perf-of.sh: $root is not complete: remove it and try again" >&2
exit 1
