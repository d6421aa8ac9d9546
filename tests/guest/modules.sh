#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# modules.sh [TIMES]: in a guest, modules come and go so many times (10), and threads wait in their
# code meanwhile: those of a journal, and a program for it. GUEST_MODULES is the folder that has
# lib/modules.
set -euo pipefail

PATH=$PATH:/usr/sbin:/sbin
# Beside loads of some forty threads, which would leave it as little of a CPU.
renice -n -10 -p $$ >/dev/null
work=$(mktemp -d)
trap 'umount "$work/fs" 2>/dev/null || true; rm -rf "$work"' EXIT
truncate -s 16M "$work/image"
mkfs.ext4 -q "$work/image"
mkdir "$work/fs"
for ((i = 0; i < ${1:-10}; i++)); do
	modprobe -d "$GUEST_MODULES" loop
	modprobe -d "$GUEST_MODULES" ext4
	mount -o loop "$work/image" "$work/fs"
	for file in {1..20}; do
		echo "$file" >"$work/fs/$file"
		sync "$work/fs/$file"
	done
	umount "$work/fs"
	modprobe -d "$GUEST_MODULES" -r ext4
	modprobe -d "$GUEST_MODULES" -r loop
done
