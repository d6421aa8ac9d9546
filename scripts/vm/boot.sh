#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# boot.sh [-d DIR] [-r FILE]… [-s CPUS] [-m MB] [-t SECONDS] KERNEL COMMAND: boots a stock
# Debian kernel (5.10, 6.1, 6.12 or 7) in qemu, without KVM, on this machine's own files, and runs
# a shell command there as root. Prints its output, exits with its status; 125: the guest did not report.
# Files are read-only for the guest, under a layer that is thrown away; /tmp is empty; DIR is
# writable, at /w. With -r, the guest may suspend: what the command then sees in place of the
# files is a copy of each FILE, the libraries of programs among them, and busybox; what it leaves
# in /w comes to DIR when it has ended. GUEST_ARCH=arm64: a machine of that architecture, on the files
# of scripts/arm64/root.sh; those of this machine are below /host. GUEST_APPEND: more words for the
# kernel, such as preempt=full.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
cpus=1 megabytes=2048 seconds=300 dir='' files=()
usage() {
	echo 'usage: boot.sh [-d DIR] [-r FILE]... [-s CPUS] [-m MB] [-t SECONDS] KERNEL COMMAND' >&2
	exit 2
}
while getopts d:r:s:m:t: option; do
	case $option in
	d) dir=$(realpath "$OPTARG") ;;
	r) files+=("$(realpath -s "$OPTARG")") ;;
	s) cpus=$OPTARG ;;
	m) megabytes=$OPTARG ;;
	t) seconds=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# = 2 ] || usage

release=$("$here/fetch-kernel.sh" "$1")
root=/
[ "${GUEST_ARCH:-amd64}" = amd64 ] || root=$("$here/../$GUEST_ARCH/root.sh")
initrd=$("$here/mkinitrd.sh" "$release" ${GUEST_ARCH:+"$root/bin/busybox"})
kernel=
for file in "${initrd%/*}"/{boot/vmlinuz-"$release",usr/lib/modules/"$release"/vmlinuz}*; do
	[ ! -e "$file" ] || kernel=$file
done
if [ -z "$kernel" ]; then
	echo "boot.sh: no kernel image below ${initrd%/*}" >&2
	exit 125
fi

share=$(mktemp -d)
trap 'rm -rf "$share"' EXIT
printf '%s\n' "$2" >"$share/command"
# A file and where it really lies: links may lead out of what the guest has mounted.
if [ ${#files[@]} != 0 ]; then
	# Of what is no program, ldd has nothing to tell.
	mapfile -t -O ${#files[@]} files < <(
		ldd "${files[@]}" 2>/dev/null | grep -o '/[^ ]* (0x' | sed 's/ (0x//' | sort -u)
	for file in "${files[@]}"; do
		printf '%s\t%s\n' "$file" "$(realpath "$file")"
	done >"$share/memory"
fi
# shellcheck disable=SC2054
shared=(-fsdev "local,id=host,path=$root,security_model=none,readonly=on,multidevs=remap"
	-device virtio-9p-pci,fsdev=host,mount_tag=host
	-fsdev "local,id=share,path=$share,security_model=none"
	-device virtio-9p-pci,fsdev=share,mount_tag=share)
if [ $root != / ]; then
	# shellcheck disable=SC2054
	shared+=(-fsdev "local,id=machine,path=/,security_model=none,readonly=on,multidevs=remap"
		-device virtio-9p-pci,fsdev=machine,mount_tag=machine)
fi
if [ -n "$dir" ]; then
	# shellcheck disable=SC2054
	shared+=(-fsdev "local,id=work,path=$dir,security_model=none"
		-device virtio-9p-pci,fsdev=work,mount_tag=work)
fi

# Several CPUs of x86 share one thread: with one each, a CPU may run into a breakpoint by which the
# kernel patches its own code after that is over, and die ("Oops: int3" in __schedule). It takes
# no more than switching a trace event on and off, as soon as threads switch on the other CPU.
threads=multi
[ "$cpus" = 1 ] || [ "${GUEST_ARCH:-amd64}" != amd64 ] || threads=single
append="quiet panic=-1 rdinit=/init mitigations=off random.trust_cpu=on ${GUEST_APPEND:-}"
# The kernel passes options that it does not know to the first process, as environment variables.
append+=" GUEST_MODULES=${initrd%/*}"
if [ "${GUEST_ARCH:-amd64}" = arm64 ]; then
	# Return addresses are signed here; by a quick function in place of the architecture's slow one.
	machine=(qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on)
	append+=' console=ttyAMA0'
else
	machine=(qemu-system-x86_64 -M q35 -cpu max)
	# The clock of a guest without KVM is slow to calibrate: told, not measured.
	append+=' console=ttyS0 tsc=reliable no_timer_check lpj=4000000'
fi
timeout -k 5 "$seconds" "${machine[@]}" -accel tcg,thread=$threads \
	-smp "$cpus" -m "$megabytes" -nodefaults -no-user-config -display none -no-reboot \
	-serial "file:$share/console" -kernel "$kernel" -initrd "$initrd" -append "$append" \
	"${shared[@]}" >&2 || true

[ ! -e "$share/stdout" ] || cat "$share/stdout"
[ ! -e "$share/stderr" ] || cat "$share/stderr" >&2
if [ ! -s "$share/status" ]; then
	echo "boot.sh: the guest did not report within $seconds s; the end of its console:" >&2
	tail -60 "$share/console" >&2 || true
	exit 125
fi
exit "$(cat "$share/status")"
