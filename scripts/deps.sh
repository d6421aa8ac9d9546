#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# deps.sh SET…: installs the packages of Debian 12, 13 or Ubuntu 24.04 that are missing, and of npm.
#   build  what make needs
#   perf   the perf that reads what was recorded
#   test   what the tests need
#   vm     what booting other kernels needs (scripts/vm)
#   dist   what make dist and the Debian package need, and their tests
#   arm64  what building for arm64 and booting it needs (scripts/arm64)
#   services, viewers, bcc   what these levels of check.sh --all need
# Silent, offline and open to everyone where all is there; needs root where it is not.
set -euo pipefail

usage() {
	echo 'usage: deps.sh build|perf|test|vm|dist|arm64|services|viewers|bcc…' >&2
	exit 2
}

is_ubuntu() {
	(. /etc/os-release && [ "${ID:-}" = ubuntu ])
}

is_installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Only the package of clang's own version has the fuzzers' runtime.
clang_runtime() {
	local major

	major=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
	[ -z "$major" ] || echo "libclang-rt-$major-dev"
}

# Prints the packages of a set, one a line.
packages_of() {
	case $1 in
	build)
		printf '%s\n' gcc make clang pkg-config libc6-dev libbpf-dev libelf-dev libdw-dev \
			libtraceevent-dev libseccomp-dev libiberty-dev libncurses-dev zlib1g-dev \
			libzstd-dev \
			linux-source xz-utils bzip2 asciidoctor
		if is_ubuntu; then
			printf '%s\n' linux-tools-common linux-tools-generic
		else
			echo bpftool
		fi
		;;
	perf)
		if is_ubuntu; then
			printf '%s\n' linux-tools-common linux-tools-generic
		else
			echo linux-perf
		fi
		;;
	test)
		printf '%s\n' bats git gdb python3 python3-jsonschema strace tmux g++ redis-tools redis-server \
			postgresql
		clang_runtime
		;;
	vm)
		printf '%s\n' qemu-system-x86 busybox-static kmod cpio zstd xz-utils gzip
		;;
	dist)
		printf '%s\n' liblzma-dev libbz2-dev asciidoctor binutils dpkg-dev debhelper fakeroot \
			lintian mmdebstrap busybox-static strace
		;;
	arm64)
		printf '%s\n' gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-system-arm
		;;
	services)
		# A node of another origin than Debian's does as well, and conflicts with its package.
		printf '%s\n' default-jdk-headless golang-go python3 nginx \
			curl
		command -v node >/dev/null || echo nodejs
		;;
	viewers)
		printf '%s\n' hotspot chromium debuginfod curl binutils golang-go
		command -v npm >/dev/null || echo npm
		;;
	bcc)
		printf '%s\n' libbpf-tools bpfcc-tools
		;;
	*)
		usage
		;;
	esac
}

# Prints what a set needs of npm's registry, a program a line.
modules_of() {
	case $1 in
	viewers) echo speedscope ;;
	esac
}

install_modules() {
	local module missing=()

	for module in $(modules_of "$1"); do
		[ -e "$(npm root -g)/$module" ] || missing+=("$module")
	done
	[ ${#missing[@]} != 0 ] || return 0
	need_root "${missing[@]}"
	echo "deps.sh: installing ${missing[*]} of npm"
	if ! npm install --silent --global "${missing[@]}" >"$log" 2>&1 </dev/null; then
		tail -20 "$log" >&2
		echo "deps.sh: npm could not install: ${missing[*]}" >&2
		exit 1
	fi
}

# need_root MISSING…
need_root() {
	if [ "$(id -u)" != 0 ]; then
		echo "deps.sh: missing: $*; run it as root to install them" >&2
		exit 1
	fi
}

install_set() {
	local package missing=()

	for package in $(packages_of "$1"); do
		is_installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} != 0 ] || return 0

	need_root "${missing[@]}"
	echo "deps.sh: installing ${missing[*]}"
	if [ -z "$updated" ]; then
		apt-get -qq update
		updated=1
	fi
	# The packages' own chatter is of interest only when something went wrong.
	if ! DEBIAN_FRONTEND=noninteractive apt-get -qq -y install "${missing[@]}" \
		>"$log" 2>&1 </dev/null; then
		tail -20 "$log" >&2
		echo "deps.sh: apt-get could not install: ${missing[*]}" >&2
		exit 1
	fi
}

[ $# != 0 ] || usage
if ! command -v apt-get >/dev/null; then
	echo 'deps.sh: no apt-get here: the README lists what is needed by its Debian names' >&2
	exit 1
fi
updated=
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for set; do
	# Checked first, for the exit in a command substitution ends only the substitution.
	packages_of "$set" >/dev/null
	install_set "$set"
	install_modules "$set"
done
