#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Names of processes with mounts and PIDs of their own, while they live: through the root of the
# process, live and from a recording. No directory of theirs is seen outside.
# tests: parallel

load lib

needs=root

prepare() {
	unshare -mpf true 2>/dev/null || skip "no namespaces for PIDs and mounts here"
	mkdir box
}

# start_boxed PROGRAM ARG…: in a container with namespaces and a root of its own, where it is
# /app/boxed and nothing else of ours is; $inner is its PID outside.
start_boxed() {
	cat >inside <<-END
		set -e
		mount -t tmpfs none box
		mkdir box/app box/proc box/tmp
		mount -t proc proc box/proc
		cp "$1" box/app/boxed
		for dir in /lib /lib64 /usr; do
			if [ -L "\$dir" ]; then
				cp -P "\$dir" "box\$dir"
			elif [ -e "\$dir" ]; then
				mkdir "box\$dir"
				mount --bind "\$dir" "box\$dir"
			fi
		done
		chroot box /app/boxed ${*:2}
	END
	start_target unshare -mpf --kill-child bash inside
	until_true grep -q READY target.out
	inner=$(pgrep -x boxed -P "$(pgrep -P "$target")")
	[ -n "$inner" ]
	[ ! -e box/app ] && [ ! -e /app/boxed ]
}

@test "a program that exists only in its container, live" {
	start_boxed "$naps" 1 1000000 5
	denet-offcputime -f -p "$inner" 0.5 >folded 2>err
	cat folded err
	grep -q '^napper-0;.*;run_thread;take_nap;' folded
	refute grep -q 'boxed+0x' folded
}

@test "a program that exists only in its container, from a recording without build-ids or with" {
	start_boxed "$naps" 1 1000000 5
	for option in -B ""; do
		# Words on purpose.
		# shellcheck disable=SC2086
		denet-record $option --off-cpu-thresh 0 -p "$inner" -- sleep 0.5 2>err
		denet-report --folded >folded
		cat folded
		grep -qE '(^|;)napper-0;.*;run_thread;take_nap;' folded
		refute grep -q 'boxed+0x' folded
	done
	# It ends, and with it all that has its names.
	kill -KILL "$inner"
	until_true gone "$inner"
	denet-report --folded >folded
	grep -q ';boxed+0x[0-9a-f]*;' folded
	refute grep -q take_nap folded
}

# Its root has gone with it, but the shell that it comes from has the same.
@test "a program that exists only in its container, after it has ended" {
	mkfifo go
	cat >inside <<-END
		mount -t tmpfs none box
		cp "$naps" box/boxed
		echo READY
		read -r line <go
		box/boxed 1 20 5
		echo ENDED
		read -r line <go
	END
	start_target unshare -m bash inside
	until_true grep -q READY target.out
	denet-record --off-cpu-thresh 0 -p "$target" --children -- tail -f /dev/null 2>record.err 3>&- &
	recorder=$!
	denet-offcputime -f -p "$target" --children >live 2>err 3>&- &
	tracer=$!
	until_true traces "$recorder"
	until_true traces "$tracer"
	echo >go
	until_true grep -q ENDED target.out
	kill -INT "$tracer" "$recorder"
	wait "$tracer" || true
	wait "$recorder" || true
	cat record.err err
	[ ! -e box/boxed ]
	denet-report --folded >recorded
	for file in live recorded; do
		cat $file
		grep -qE '(^|;)napper-0;.*;run_thread;take_nap;' $file
		refute grep -q 'boxed+0x' $file
	done
}

@test "code made at run time: the map is that of the PID in the container" {
	start_boxed "$build/tests/workloads/jitted" 1000000 5
	nsid=$(awk '$1 == "NSpid:" { print $NF }' "/proc/$inner/status")
	[ "$nsid" != "$inner" ]
	[ -e "/proc/$inner/root/tmp/perf-$nsid.map" ]
	denet-offcputime -f -p "$inner" 0.5 >folded 2>err
	cat folded err
	grep -q '^boxed;.*;main;jit_nap;take_nap;' folded
	denet-record --off-cpu-thresh 0 -p "$inner" -- sleep 0.5 2>err
	denet-report --folded >folded
	grep -qE '(^|;)boxed;.*;main;jit_nap;take_nap;' folded
}
