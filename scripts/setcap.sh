#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# denet-setcap (scripts/setcap.sh in the source tree): gives the program the capabilities that it
# needs to record for users other than root. Documentation/denet-setcap.txt describes it.
set -euo pipefail

capabilities=cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog,cap_dac_read_search
capabilities+=,cap_checkpoint_restore,cap_ipc_lock+ep
group= remove=
usage() {
	echo "usage: ${0##*/} [-g GROUP] [-r] [FILE]"
}
while getopts g:rh option; do
	case $option in
	g) group=$OPTARG ;;
	r) remove=1 ;;
	h) usage; exit ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -le 1 ] || { usage >&2; exit 2; }

file=${1:-$(command -v denet || true)}
if [ -z "$file" ]; then
	echo "${0##*/}: denet is not installed; name the file" >&2
	exit 1
fi
# Capabilities belong to a file, and the names of the commands are links to it.
file=$(realpath "$file")
PATH=$PATH:/usr/sbin:/sbin
command -v setcap >/dev/null || {
	echo "${0##*/}: no setcap; apt-get install libcap2-bin" >&2
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
