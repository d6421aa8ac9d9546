#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The guest's first process: mounts the host's files read-only under a layer that is thrown
# away, runs /share/command as root on them and leaves its output and status in /share.

b=/bin/busybox

# Ends the guest; boot.sh sees that there is no status and shows the console.
give_up() {
	echo "guest: $*"
	$b poweroff -f
}

$b mount -t proc proc /proc
$b mount -t sysfs sysfs /sys
$b mount -t devtmpfs dev /dev
for module in $($b cat /modules/order); do
	$b insmod "/modules/$module" || echo "guest: cannot load $module"
done

options=trans=virtio,version=9p2000.L,msize=512000
$b mount -t 9p -o $options,ro,cache=loose host /host || give_up "cannot mount the host's files"
$b mount -t 9p -o $options share /share || give_up 'cannot mount the share'
$b mount -t tmpfs -o size=75% layer /layer
$b mkdir /layer/upper /layer/work
$b mount -t overlay -o lowerdir=/host,upperdir=/layer/upper,workdir=/layer/work none /new ||
	give_up 'cannot mount the overlay'

for dir in proc sys dev; do
	$b mount --move /$dir /new/$dir
done
$b mkdir -p /new/dev/shm /new/dev/pts /new/share /new/w
for dir in run tmp var/tmp dev/shm; do
	$b mount -t tmpfs tmpfs /new/$dir
done
$b mount -t devpts devpts /new/dev/pts
$b ln -s /proc/self/fd /new/dev/fd
$b mount --move /share /new/share
# What the empty folders hide, as of a tree that lies in /tmp, is to be found here.
$b mkdir -p /new/host
$b mount --bind /host /new/host
$b mount -t 9p -o $options work /new/w 2>/dev/null
$b mount -t cgroup2 none /new/sys/fs/cgroup 2>/dev/null
$b mount -t bpf none /new/sys/fs/bpf 2>/dev/null
$b mount -t tracefs none /new/sys/kernel/tracing 2>/dev/null
$b mount -t debugfs none /new/sys/kernel/debug 2>/dev/null
$b ip link set lo up
$b hostname guest

PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
	$b chroot /new /bin/sh /share/command </dev/null >/new/share/stdout 2>/new/share/stderr
echo $? >/new/share/status
$b sync
$b poweroff -f
