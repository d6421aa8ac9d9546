#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# setcap.sh [-g GROUP] [FILE]: gives the program the capabilities with which it records for
# who is not root. FILE is the installed denet by default. With -g, only GROUP may run it: without,
# every user of this machine can look at every other user's processes.
# setcap.sh -r [FILE] takes them away.
set -euo pipefail

capabilities=cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog,cap_dac_read_search,cap_ipc_lock+ep
group= remove=
usage() {
	echo 'usage: setcap.sh [-g GROUP] [-r] [FILE]' >&2
	exit 2
}
while getopts g:r option; do
	case $option in
	g) group=$OPTARG ;;
	r) remove=1 ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -le 1 ] || usage

file=${1:-$(command -v denet || true)}
if [ -z "$file" ]; then
	echo 'setcap.sh: denet is not installed; name the file' >&2
	exit 1
fi
# Capabilities belong to a file, and the names of the commands are links to it.
file=$(realpath "$file")
PATH=$PATH:/usr/sbin:/sbin
command -v setcap >/dev/null || {
	echo 'setcap.sh: no setcap; apt-get install libcap2-bin' >&2
	exit 1
}
if [ -n "$remove" ]; then
	setcap -r "$file"
	echo "$file: no capabilities"
	exit
fi
if [ -n "$group" ]; then
	chgrp -- "$group" "$file"
	chmod 0750 "$file"
fi
setcap "$capabilities" "$file"
getcap "$file"
