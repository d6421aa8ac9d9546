#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# mkinitrd.sh RELEASE [BUSYBOX]: makes the first file system of the guest for a fetched kernel, once,
# and prints its path: busybox, by default this machine's, guest-init.sh, and the modules that mount
# the host's files.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
# shellcheck source=scripts/suite-lib.sh
. "$here/../suite-lib.sh"

release=${1:?usage: mkinitrd.sh RELEASE}
kernel=$(suite_cache)/kernels/$release
image=$kernel/initrd.cpio
if [ "$image" -nt "$here/guest-init.sh" ] && [ "$image" -nt "$0" ]; then
	echo "$image"
	exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

mkdir -p "$root"/{bin,modules,proc,sys,dev,host,share,out,layer,new}
cp "${2:-$(command -v busybox)}" "$root/bin/busybox"
cp "$here/guest-init.sh" "$root/init"
chmod 755 "$root/init"

# In the order in which they have to be loaded, unpacked: guests without KVM unpack slowly.
PATH=$PATH:/usr/sbin:/sbin
for module in virtio_pci 9pnet_virtio 9p overlay; do
	modprobe -d "$kernel" -S "$release" --show-depends "$module" 2>/dev/null || true
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$work/modules"
while read -r file; do
	name=$(basename "$file")
	name=${name%.ko*}.ko
	case $file in
	*.xz) xz -dc "$file" ;;
	*.zst) zstd -dcq "$file" ;;
	*.gz) gzip -dc "$file" ;;
	*) cat "$file" ;;
	esac >"$root/modules/$name"
	echo "$name" >>"$root/modules/order"
done <"$work/modules"

(cd "$root" && find . | cpio --quiet -o -H newc) >"$image.tmp"
mv "$image.tmp" "$image"
echo "$image"
