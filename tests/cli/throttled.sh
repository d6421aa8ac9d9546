#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# throttled.sh CGROUP N: ends when the cgroup has been throttled N times from now on; fails if it has
# not in 30 seconds.

throttled() {
	awk '$1 == "nr_throttled" { print $2 }' "$1/cpu.stat"
}

first=$(throttled "$1")
for ((i = 0; i < 300; i++)); do
	[ $(($(throttled "$1") - first)) -lt "$2" ] || exit 0
	sleep 0.1
done
exit 1
