# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# lib.sh: what the scripts that people call have in common. Sourced by bash, with $tree,
# the root of the source tree, set. Everything here is a function; nothing runs.

# Prints a line of progress. On standard output, with the script's name in front.
say() {
	printf '%s: %s\n' "${0##*/}" "$*"
}

# Ends the script with a message.
die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Sets builder_uid, builder_gid and builder_home: who builds in this tree. That is who
# called sudo or, where that user cannot write here and for plain root, who owns the tree.
find_builder() {
	builder_uid=$(id -u)
	builder_gid=$(id -g)
	if [ "$builder_uid" = 0 ]; then
		builder_uid=${SUDO_UID:-0}
		builder_gid=${SUDO_GID:-0}
		if [ "$builder_uid" = 0 ] || ! as_builder test -w "$tree"; then
			builder_uid=$(stat -c %u "$tree")
			builder_gid=$(stat -c %g "$tree")
		fi
	fi
	builder_home=$(getent passwd "$builder_uid" | cut -d: -f6)
	builder_home=${builder_home:-/tmp}
}

# as_builder COMMAND…: runs it as the builder. The caller's temporary folder may be
# root's own, so the builder gets the system's.
as_builder() {
	if [ "$(id -u)" != 0 ] || [ "$builder_uid" = 0 ]; then
		"$@"
		return
	fi
	setpriv --reuid="$builder_uid" --regid="$builder_gid" --clear-groups -- \
		env -u TMPDIR -u XDG_RUNTIME_DIR -u XDG_CACHE_HOME HOME="${builder_home:-/tmp}" "$@"
}

# builder_make TARGET…: make in the tree, as the builder, with every CPU.
builder_make() {
	as_builder make -C "$tree" --no-print-directory -j"$(nproc)" "$@"
}

# Puts a bpftool and a perf that work first in PATH. Ubuntu's are wrappers that insist on
# the tools of the very kernel that runs; those of any other kernel do as well.
find_tools() {
	local dir tool

	PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
	for tool in bpftool perf; do
		if "$tool" version >/dev/null 2>&1; then
			continue
		fi
		dir=$(find /usr/lib/linux-tools /usr/lib/linux-tools-* -maxdepth 2 -name "$tool" \
			-printf '%h\n' 2>/dev/null | sort -V | tail -1)
		[ -z "$dir" ] || PATH=$dir:$PATH
	done
	BPFTOOL=$(command -v bpftool || true)
	export PATH BPFTOOL
}

# True where root can load BPF programs that need the kernel's types: the tests of the
# BPF programs must run here.
can_run_bpf() {
	[ "$(id -u)" = 0 ] && [ -r /sys/kernel/btf/vmlinux ] &&
		"${BPFTOOL:-bpftool}" prog list >/dev/null 2>&1
}

# The builder's name, for messages.
builder_name() {
	id -un "$builder_uid" 2>/dev/null || echo "user $builder_uid"
}
