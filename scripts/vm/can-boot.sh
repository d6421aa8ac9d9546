#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# can-boot.sh KERNEL: whether boot.sh can boot it here, as GUEST_ARCH says. Prints its release, which
# it fetches if need be; or fails and prints why.
set -uo pipefail

qemu=qemu-system-x86_64 set=vm
[ "${GUEST_ARCH:-amd64}" = amd64 ] || qemu=qemu-system-aarch64 set="vm arm64"
for tool in $qemu busybox cpio depmod; do
	if ! PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null; then
		echo "$tool is not installed: sudo scripts/deps.sh $set"
		exit 1
	fi
done
[ "$(uname -m)" = x86_64 ] || { echo 'guests are x86-64 only'; exit 1; }
if ! said=$("$(dirname "$(realpath "$0")")/fetch-kernel.sh" "$1" 2>&1); then
	echo "its kernel cannot be fetched (no network?): ${said##*$'\n'}"
	exit 1
fi
release=${said##*$'\n'}
if [ "$set" != vm ] &&
	! said=$("$(dirname "$(realpath "$0")")/../$GUEST_ARCH/root.sh" 2>&1 >/dev/null); then
	echo "its root file system cannot be fetched (no network?): ${said##*$'\n'}"
	exit 1
fi
echo "$release"
