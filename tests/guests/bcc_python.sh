#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bcc_python.sh HEADERS BUILD: in a guest, traces the same naps with the Python offcputime of bcc and
# with ours, once for each set of options, all at the same time. What they print is in /w: N.options,
# N.theirs, N.theirs.err, N.ours, N.ours.err, and naps.
set -euo pipefail

headers=$1 build=$2
release=$(uname -r)
mkdir -p "/lib/modules/$release"
for folder in "$headers"/*; do
	ln -sfn "$folder" "/usr/src/${folder##*/}"
done
ln -sfn "/usr/src/linux-headers-$release" "/lib/modules/$release/build"
ln -sfn "/usr/src/linux-headers-${release%-*}-common" "/lib/modules/$release/source"

mkfifo /tmp/go
bash -c 'read -r line; exec "$0" 3 50 10' "$build/tests/workloads/naps" </tmp/go >/w/naps &
target=$!
exec 4>/tmp/go
options=(
	"-p $target"
	"-p $target -d -f"
	"-p $target -U -m 5000"
	"-p $target -K -f --state 1 -M 10000000"
	"-u -f -m 5000"
	"-k -f"
)

# start NAME COMMAND…: with each set of options. A job of a script ignores SIGINT but for env.
pids=()
start() {
	local name=$1 i

	shift
	for i in "${!options[@]}"; do
		# shellcheck disable=SC2086
		env --default-signal=INT PYTHONUNBUFFERED=1 "$@" ${options[i]} \
			>"/w/$i.$name" 2>"/w/$i.$name.err" 4>&- &
		pids+=($!)
		echo "${options[i]}" >"/w/$i.options"
	done
}

# traces PID: its programs are at their hooks (those of bcc are perf events), and it waits for the end:
# in poll, clock_nanosleep, epoll_wait, ppoll or epoll_pwait.
traces() {
	{ grep -qs '^link_id:' "/proc/$1"/fdinfo/* || readlink "/proc/$1"/fd/* | grep perf_event; } \
		>/dev/null && [[ $(cat "/proc/$1/syscall") =~ ^(7|230|232|271|281)' ' ]]
}

start theirs offcputime-bpfcc
start ours "$build/denet-offcputime"
for pid in "${pids[@]}"; do
	until traces "$pid"; do
		kill -0 "$pid"
		sleep 0.2 # between two looks
	done
done
echo >&4
exec 4>&-
wait "$target"
kill -INT "${pids[@]}"
wait
