#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The guest's first process: mounts the host's files read-only under a layer that is thrown
# away, runs /share/command as root on them and leaves its output and status in /share. If
# there is a list /share/memory, the command sees copies of these files and busybox, nothing
# else, and the devices of the host's files have no driver until it has ended: it may suspend.

b=/bin/busybox

# Ends the guest; boot.sh sees that there is no status and shows the console.
give_up() {
	echo "guest: $*"
	$b poweroff -f
}

load() {
	for module; do
		$b insmod "/modules/$module" || echo "guest: cannot load $module"
	done
}

options=trans=virtio,version=9p2000.L,msize=512000
# mount_shared TAG DIR
mount_shared() {
	$b mount -t 9p -o $options "$1" "$2"
}

copy_host() {
	while IFS='	' read -r file source; do
		$b mkdir -p "/new${file%/*}"
		$b cp "/host$source" "/new$file" || give_up "cannot copy $file"
	done </share/memory
	$b cp $b /new/bin/
	$b chroot /new $b --install -s /bin
	$b cp /share/command /new/share/
	$b umount /host /share
	$b rmmod 9p || give_up 'the host is still in use'
	$b rmmod 9pnet_virtio || give_up 'the devices of the host are still in use'
}

# Copies the command's output from memory to the shared folder at the end.
hand_over() {
	load 9pnet_virtio.ko 9p.ko
	mount_shared share /share || give_up 'cannot mount the share again'
	$b cp /new/share/stdout /new/share/stderr /share/
	! mount_shared work /out 2>/dev/null || $b cp -r /new/w/. /out/
}

$b mount -t proc proc /proc
$b mount -t sysfs sysfs /sys
$b mount -t devtmpfs dev /dev
# shellcheck disable=SC2046
load $($b cat /modules/order)

$b mount -t 9p -o $options,ro,cache=loose host /host || give_up "cannot mount the host's files"
mount_shared share /share || give_up 'cannot mount the share'
$b mount -t tmpfs -o size=75% layer /layer
$b mkdir /layer/upper /layer/work
memory=
if [ -e /share/memory ]; then
	memory=1
	$b mount --bind /layer/upper /new
	$b mkdir -p /new/bin /new/proc /new/sys /new/dev /new/run /new/tmp /new/var/tmp
else
	$b mount -t overlay -o lowerdir=/host,upperdir=/layer/upper,workdir=/layer/work none /new ||
		give_up 'cannot mount the overlay'
fi

for dir in proc sys dev; do
	$b mount --move /$dir /new/$dir
done
$b mkdir -p /new/dev/shm /new/dev/pts /new/share /new/w
for dir in run tmp var/tmp dev/shm; do
	$b mount -t tmpfs tmpfs /new/$dir
done
$b mount -t devpts devpts /new/dev/pts
$b ln -s /proc/self/fd /new/dev/fd
for fd in 0stdin 1stdout 2stderr; do
	$b ln -s "/proc/self/fd/${fd%%[a-z]*}" "/new/dev/${fd#?}"
done
if [ -n "$memory" ]; then
	copy_host
else
	$b mount --move /share /new/share
	# Holds what the empty folders hide, as of a tree that lies in /tmp.
	$b mkdir -p /new/host
	$b mount -t 9p -o $options,ro,cache=loose machine /new/host 2>/dev/null ||
		$b mount --bind /host /new/host
	mount_shared work /new/w 2>/dev/null
fi
$b mount -t cgroup2 none /new/sys/fs/cgroup 2>/dev/null
$b mount -t bpf none /new/sys/fs/bpf 2>/dev/null
$b mount -t tracefs none /new/sys/kernel/tracing 2>/dev/null
$b mount -t debugfs none /new/sys/kernel/debug 2>/dev/null
$b ip link set lo up
$b hostname guest

PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
	$b chroot /new /bin/sh /share/command </dev/null >/new/share/stdout 2>/new/share/stderr
status=$?
share=/new/share
if [ -n "$memory" ]; then
	hand_over
	share=/share
fi
echo $status >$share/status
$b sync
# Ends qemu as well (-no-reboot), and that of a guest which was suspended, whose power stays on.
$b reboot -f
