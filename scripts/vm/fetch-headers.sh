#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# fetch-headers.sh 6.1: fetches the headers of the kernel that fetch-kernel.sh fetches, once, and
# prints the folder that they are in, laid out as /usr/src. bcc compiles its programs with them.
set -euo pipefail

# shellcheck source=scripts/suite-lib.sh
. "$(dirname "$(realpath "$0")")/../suite-lib.sh"

case ${1:-} in
6.1) suite=bookworm ;;
*)
	echo 'usage: fetch-headers.sh 6.1' >&2
	exit 2
	;;
esac
release=$("$(dirname "$0")/fetch-kernel.sh" "$1")
headers=$(suite_cache)/kernels/headers-$release
if [ ! -e "$headers/complete" ]; then
	SUITE_ARCH=amd64 suite_open "kernel-$1" "$suite"
	suite_unpack "$headers" "linux-headers-$release" "linux-headers-${release%-*}-common"
	touch "$headers/complete"
fi
echo "$headers/usr/src"
