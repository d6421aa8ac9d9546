#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# That the kernel of a guest, whose stacks are walked by addresses from /proc/kallsyms, lies elsewhere
# than it was linked to: were it not moved, wrong addresses would be right in each guest.

# Where x86-64 is linked to lie.
linked=ffffffff81000000

# drew_a_place: KASLR has chosen where the kernel lies. It says so by a flag of the boot parameters
# (Documentation/arch/x86/boot.rst).
drew_a_place() {
	local flags

	flags=$(od -An -tu1 -j 0x211 -N 1 /sys/kernel/boot_params/data)
	[ $((flags & 2)) != 0 ]
}

@test "the kernel lies elsewhere than it was linked to" {
	refused=$(grep -ow nokaslr /proc/cmdline) && skip "booted with $refused"
	text=$(awk '$3 == "_text" { print $1; exit }' /proc/kallsyms)
	echo "it lies at $text"
	[ $((0x$text)) != 0 ]
	# One in some 500 draws that place.
	[ "$text" != $linked ] || ! drew_a_place || skip "it drew the place that it was linked to"
	[ "$text" != $linked ]
}
