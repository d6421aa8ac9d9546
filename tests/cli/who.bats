#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Whom to record: users, CPUs, PID namespaces, and from when on.
# tests: parallel

load lib

prepare() {
	export naps
}

comms() {
	perf script -i "${1:-perf.data}" -F comm | sed 's/^ *//; s/ *$//; /^$/d' | sort -u
}

@test "-u: by name and number, only that user's threads" {
	# User 5 is games on every Debian, and no other test runs as it.
	start_target "$naps" 1 100000 10
	start_target setpriv --reuid 5 "$naps" 1 100000 10
	theirs=${targets[1]}
	until_true runs "$theirs" naps
	run -0 denet-record -o number.data -u 5 -- sleep 0.3
	[ "$(processes number.data)" = "$theirs" ]
	run -0 denet-record -o name.data -u "$(getent passwd 5 | cut -d: -f1),65533" -- sleep 0.3
	[ "$(processes name.data)" = "$theirs" ]
	# And of these only what -p names.
	run -0 denet-record -o both.data -u 5 -p "${targets[0]}" -- sleep 0.3
	[ -z "$(processes both.data)" ]
}

@test "-u: who becomes the user while it is recorded comes in" {
	cat >change <<-END
		"$naps" 1 10 10
		exec setpriv --reuid 5 "$naps" 1 20 10 counts
	END
	run -0 denet-record --off-cpu-thresh 0 -u 5 -- sh change
	all_naps_there
}

# bats test_tags=whole
@test "-C: only what ends on that CPU, and it alone means all processes" {
	[ "$(nproc)" -ge 2 ] || skip "one CPU"
	start_target taskset -c 0 "$naps" 1 100000 10
	start_target taskset -c 1 "$naps" 1 100000 10
	until_true runs "${targets[0]}" naps
	until_true runs "${targets[1]}" naps
	run -0 denet-record -C 1 -- sleep 0.4
	processes | grep -qx "${targets[1]}"
	processes | refute grep -qx "${targets[0]}"
	[ "$(perf script -F cpu,event | awk '{ print $1 }' | sort -u)" = '[001]' ]
	run -0 denet-record -o both.data -C 0,1 -p "${targets[0]}" -- sleep 0.4
	[ "$(processes both.data)" = "${targets[0]}" ]
}

@test "-D: COMMAND begins at once, blocks count later, children of the meantime as well" {
	# Of a sleep that is over before the delay nothing can be there.
	cat >command <<-END
		sleep 0.01
		cut -d' ' -f1 /proc/uptime >slept
		exec "$naps" 1 100 20
	END
	before=$(cut -d' ' -f1 /proc/uptime)
	run -0 denet-record -D 700 -- sh command
	comms | grep -qx napper-0
	awk -v before="$before" '{ exit $1 > before + 0.7 }' slept && comms | refute grep -qx sleep
	perf script -F time,period,event | awk -v before="$before" '
		$1 - $2 / 1e9 < before + 0.69 { print "too early:", $0; bad = 1 } END { exit bad || !NR }'
	perf script | fold | grep -q '^napper.*take_nap'
}

@test "-D: a command that ends before is not recorded, which is said" {
	run -3 denet-record -D 100s -- sh -c 'sleep 0.01; exit 3'
	[[ "$output" == *"before the delay of -D was over"* ]]
	[ "$(samples)" = 0 ]
	# The threads of the machine have lived in no time of it.
	run -0 denet-record --wall -D 100s -a -- true
	[[ "$output" == *"before the delay of -D was over"* ]]
	[[ "$output" != *threads* ]]
}

@test "in a PID namespace of its own, pids typed and written are its own" {
	cat >inside <<-'END'
		set -e
		"$naps" 1 100000 10 >one & one=$!
		until grep -q READY one; do sleep 0.05; done
		denet-record -o pid.data -p $one -- sleep 0.2
		denet-record -o all.data --off-cpu-thresh 0 -a -- "$naps" 1 10 10
		cp /proc/self/stat self
		echo $one >wanted
		kill $one
	END
	start_target "$naps" 1 100000 10
	run -0 unshare -p -f --mount-proc bash inside 3>&-
	[ "$(cat wanted)" -lt 100 ]
	[ "$(processes pid.data)" = "$(cat wanted)" ]
	perf script -i pid.data | fold | grep -q '^napper.*take_nap'
	# Nothing of the processes outside, and nothing without a number.
	processes all.data | awk '$1 < 1 || $1 > 1000 { exit 1 }'
	[ "$(comms all.data | grep -c napper-0)" = 1 ]
	perf script -i all.data --show-mmap-events --show-task-events -F comm,pid,tid,time,event |
		grep -v swapper | refute grep -q '[ (]0[:/]0[) :]'
}

@test "a process that enters the PID namespace during the recording is in it" {
	cat >inside <<-'END'
		denet-record -o all.data --off-cpu-thresh 0 -a &
		recorder=$!
		until [ -e done ]; do sleep 0.05; done
		kill -INT $recorder
		wait $recorder
	END
	start_target unshare -p -f --kill-child --mount-proc bash inside
	until_true bigger_than all.data 0
	init=$(pgrep -P "${targets[0]}")
	nsenter -p -t "$init" "$naps" 1 10 10 3>&-
	touch done
	wait "${targets[0]}"
	# By the program's name: its threads could not set theirs by way of the host's /proc.
	[ "$(perf script -i all.data -F comm,event | grep -c naps)" -ge 10 ]
}

# bats test_tags=whole
@test "from the host, a container's tasks have the host's pids, and its files are read" {
	mkdir box
	# A program that exists only in the container: below a mount of its own.
	cat >inside <<-END
		mount -t tmpfs none box && cp "$naps" box/boxed && exec box/boxed 1 100000 10
	END
	start_target unshare -p -f --kill-child -m --mount-proc bash inside
	until_true pgrep -P "${targets[0]}" boxed
	inner=$(pgrep -P "${targets[0]}" boxed)
	until_true runs "$inner" boxed
	[ ! -e box/boxed ]
	run -0 denet-record -p "$inner" -- sleep 0.3
	[ "$(processes)" = "$inner" ]
	id=$(readelf -n "$naps" | sed -n 's/.*Build ID: //p')
	perf buildid-list | grep -q "^$id .*/box/boxed$"
}

@test "names that are none: what is wrong, and what helps" {
	run -1 denet-record -u denet-no-such-user -- true
	[[ "$output" == *"-u denet-no-such-user: there is no such user"*getent* ]]
	run -1 denet-record -u root,, -- true
	[[ "$output" == *"-u: the name of a user is empty"* ]]
	run -1 denet-record -C 8191 -- true
	[[ "$output" == *"-C 8191: there is no such CPU"*"online are 0"* ]]
	run -1 denet-record -G denet/no/such -- true
	[[ "$output" == *"-G denet/no/such: there is no such cgroup"* ]]
	run -1 denet-record -G /etc -- true
	[[ "$output" == *"-G /etc: there is no such cgroup"* ]]
	run -1 denet-record -G / -G "" -- true
	[[ "$output" == *"the name of a cgroup is empty; the root is /"* ]]
	run -1 unshare -p -f denet-record -- true
	[[ "$output" == *"another PID namespace"*"mount -t proc"* ]]
	[ ! -e perf.data ]
}
