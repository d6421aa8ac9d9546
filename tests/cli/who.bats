#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Whom to record: users, CPUs, cgroups, containers, PID namespaces, and from when on.

load lib

prepare() {
	pids=()
	export build naps
	group=denet-test-$$-$BATS_TEST_NUMBER
	v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
}

clean_up() {
	local dir

	[ -z "$v2" ] || find "$v2" -depth -type d -name "*$group*" 2>/dev/null | while read -r dir; do
		find "$dir" -depth -type d 2>/dev/null | while read -r dir; do
			until_true rmdir "$dir"
		done
	done
}

need_v2() {
	[ -n "$v2" ] || skip "cgroup v2 is not mounted"
}

# start COMMAND…: in the background until the test ends.
start() {
	"$@" >/dev/null 2>&1 3>&- &
	pids+=($!)
}

# in_group DIR COMMAND…: becomes the command, in that cgroup.
in_group() {
	local dir=$1

	shift
	# shellcheck disable=SC2016 # expanded by the inner shell
	exec sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$dir" "$@"
}

in_group_is() {
	[ -n "$(cat "$1/cgroup.procs" 2>/dev/null)" ]
}

comms() {
	perf script -i "${1:-perf.data}" -F comm | sed 's/^ *//; s/ *$//; /^$/d' | sort -u
}

# processes FILE: their PIDs, from the samples.
processes() {
	perf script -i "${1:-perf.data}" -F pid,event | awk '{ print $1 }' | sort -nu
}

runs() {
	grep -qs "^State:[[:space:]]S" "/proc/$1/status" && [ "$(cat "/proc/$1/comm")" = "$2" ]
}

# all_naps_there: as many waits of napper-0 in take_nap as the kernel counted in its last twenty
# naps, and none of the naps before. $output is what the recording printed.
all_naps_there() {
	local nr told

	told=$(sed -n 's/^napper-0 waited \([0-9]*\) times,.*/\1/p' <<<"$output" | tail -1)
	nr=$(perf script -F comm,event,ip,sym | awk '/^napper-0/ && /take_nap/' RS= | grep -c napper-0)
	echo "$nr waits of napper-0 are there, $told were counted"
	[ "$nr" = "$told" ] && [ "$nr" -gt 10 ]
}

@test "-u: by name and number, only that user's threads" {
	start "$naps" 1 100000 10
	start setpriv --reuid 65534 "$naps" 1 100000 10
	theirs=${pids[1]}
	until_true runs "$theirs" naps
	run -0 denet-record -o number.data -u 65534 -- sleep 0.3
	[ "$(processes number.data)" = "$theirs" ]
	run -0 denet-record -o name.data -u "$(getent passwd 65534 | cut -d: -f1),65533" -- sleep 0.3
	[ "$(processes name.data)" = "$theirs" ]
	# And of these only what -p names.
	run -0 denet-record -o both.data -u 65534 -p "${pids[0]}" -- sleep 0.3
	[ -z "$(processes both.data)" ]
}

@test "-u: who becomes the user while it is recorded comes in" {
	cat >change <<-END
		"$naps" 1 10 10
		exec setpriv --reuid 65534 "$naps" 1 20 10 counts
	END
	run -0 denet-record --off-cpu-thresh 0 -u 65534 -- sh change
	all_naps_there
}

@test "-C: only what ends on that CPU, and it alone means all processes" {
	[ "$(nproc)" -ge 2 ] || skip "one CPU"
	start taskset -c 0 "$naps" 1 100000 10
	start taskset -c 1 "$naps" 1 100000 10
	until_true runs "${pids[0]}" naps
	until_true runs "${pids[1]}" naps
	run -0 denet-record -C 1 -- sleep 0.4
	processes | grep -qx "${pids[1]}"
	processes | refute grep -qx "${pids[0]}"
	[ "$(perf script -F cpu,event | awk '{ print $1 }' | sort -u)" = '[001]' ]
	run -0 denet-record -o both.data -C 0,1 -p "${pids[0]}" -- sleep 0.4
	[ "$(processes both.data)" = "${pids[0]}" ]
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
}

@test "-G: a cgroup and what is below it, also what comes later, and nothing beside it" {
	need_v2
	mkdir -p "$v2/$group/a/b" "$v2/$group/aa"
	start in_group "$v2/$group/a" "$naps" 1 100000 10
	start in_group "$v2/$group/a/b" "$naps" 1 100000 10
	start in_group "$v2/$group/aa" "$naps" 1 100000 10
	for dir in a a/b aa; do until_true in_group_is "$v2/$group/$dir"; done
	until_true runs "${pids[0]}" naps
	until_true runs "${pids[1]}" naps
	run -0 denet-record -G "$group/a" -- sleep 0.3
	[ "$(processes)" = "$(printf '%s\n' "${pids[@]:0:2}" | sort -n)" ]
	# The whole path means the same, and -p narrows it to one process.
	run -0 denet-record -o narrow.data -G "$v2/$group/a" -p "${pids[1]},${pids[2]}" -- sleep 0.3
	[ "$(processes narrow.data)" = "${pids[1]}" ]
	# With the blocks of threads that have not come back.
	start in_group "$v2/$group/a" sleep 100
	start in_group "$v2/$group/aa" sleep 101
	until_true runs "${pids[3]}" sleep
	until_true runs "${pids[4]}" sleep
	run -0 denet-record -o blocked.data -G "$group/a" -- "$naps" 1 3 10
	processes blocked.data | grep -qx "${pids[3]}"
	processes blocked.data | refute grep -qx "${pids[4]}"
}

@test "-G: cgroups made during the recording, and tasks that move in" {
	need_v2
	mkdir -p "$v2/$group"
	cat >later <<-END
		mkdir -p "$v2/$group/new/deep"
		"$naps" 1 5 10
		echo \$\$ >"$v2/$group/new/deep/cgroup.procs"
		exec "$naps" 1 20 10 counts
	END
	run -0 denet-record --off-cpu-thresh 0 -G "$group" -- sh later
	all_naps_there
}

@test "-G: a cgroup that is removed and made anew is another one, which is said" {
	need_v2
	mkdir -p "$v2/$group/unit"
	cat >later <<-END
		rmdir "$v2/$group/unit"
		mkdir "$v2/$group/unit"
		echo \$\$ >"$v2/$group/unit/cgroup.procs"
		exec "$naps" 1 20 10 counts
	END
	run -0 denet-record --off-cpu-thresh 0 -G "$group/unit" -- sh later
	[[ "$output" == *"warning: -G: 1 of "*" removed meanwhile"* ]]
	# As the warning says, the one above has it.
	run -0 denet-record --off-cpu-thresh 0 -G "$group" -- sh later
	[[ "$output" != *'removed meanwhile'* ]]
	all_naps_there
}

@test "-G: cgroup v1 of perf_event, in a mount namespace of its own" {
	grep -q '^perf_event' /proc/cgroups || skip "no perf_event controller"
	mkdir v1
	cat >script <<-END
		set -e
		hierarchy() { awk '\$1 == "perf_event" { print \$2 }' /proc/cgroups; }
		# The controller goes back to where it was only if its groups have wholly gone
		# when the last mount does, which is some time after rmdir.
		leave() {
			kill \$one \$two; wait
			rmdir v1/$group/x/y v1/$group/x v1/$group/xx v1/$group
			umount v1
			[ -z "\$mounted" ] || return 0
			for try in {1..100}; do
				[ "\$(hierarchy)" != 0 ] || break
				sleep 0.05
				mount -t cgroup -o perf_event none v1 && umount v1
			done
		}
		mounted=\$(awk '\$3 == "cgroup" && \$4 ~ /perf_event/' /proc/mounts)
		mount -t cgroup -o perf_event none v1
		trap leave EXIT
		mkdir -p "v1/$group/x/y" "v1/$group/xx"
		sh -c 'echo \$\$ >v1/$group/x/y/cgroup.procs; exec "$naps" 1 100000 10' >one & one=\$!
		sh -c 'echo \$\$ >v1/$group/xx/cgroup.procs; exec "$naps" 1 100000 10' >two & two=\$!
		until grep -q READY one && grep -q READY two; do sleep 0.05; done
		echo \$one >wanted
		denet-record -G "$group/x" -- sleep 0.3
		denet-record -o path.data -G "\$PWD/v1/$group/x" --all-cgroups -- sleep 0.3
	END
	run -0 unshare -m bash script 3>&-
	[ "$(processes)" = "$(cat wanted)" ]
	[ "$(processes path.data)" = "$(cat wanted)" ]
	perf report -i path.data --stdio -g none --sort cgroup 2>/dev/null | grep -q "/$group/x/y"
}

@test "-G: a hierarchy that does not tell whose a task is, is refused" {
	other=$(awk '$3 == "cgroup" && $4 !~ /perf_event/ { print $2; exit }' /proc/mounts)
	[ -n "$other" ] || skip "no other hierarchy of v1 is mounted"
	run -1 denet-record -G "$other" -- true
	[[ "$output" == *"only that of perf_event"* ]]
}

@test "-G: the name or id of a container" {
	need_v2
	id=$(printf '%064d' "$((BASHPID * 7919))" | tr 0-9 a-f7890)
	docker="$v2/$group.slice/docker-$id.scope"
	vm="$v2/$group.slice/machine-qemu\\x2d1\\x2dmy\\x2dvm\\x2d$group.scope"
	mkdir -p "$docker/inner" "$vm"
	start in_group "$docker/inner" "$naps" 1 100000 10
	start in_group "$vm" "$naps" 1 100000 10
	until_true runs "${pids[0]}" naps
	until_true runs "${pids[1]}" naps
	run -0 denet-record -v -o id.data -G "${id:0:12}" -- sleep 0.3
	[[ "$output" == *"-G ${id:0:12}: that is /$group.slice/docker-$id.scope"* ]]
	[ "$(processes id.data)" = "${pids[0]}" ]
	run -0 denet-record -o vm.data -G "my-vm-$group" -- sleep 0.3
	[ "$(processes vm.data)" = "${pids[1]}" ]
}

@test "-G: a name that fits two containers lists them" {
	need_v2
	mkdir -p "$v2/$group-1/lxc.payload.$group-box" "$v2/$group-2/lxc.payload.$group-box"
	run -1 denet-record -G "$group-box" -- true
	[[ "$output" == *"fits several cgroups"* ]]
	[[ "$output" == *"/$group-1/lxc.payload.$group-box"* ]]
	[[ "$output" == *"/$group-2/lxc.payload.$group-box"* ]]
	[ ! -e perf.data ]
}

@test "--all-cgroups: perf report sorts by cgroup, also those that came and went" {
	need_v2
	mkdir -p "$v2/$group/old"
	start in_group "$v2/$group/old" "$naps" 1 100000 10
	until_true runs "${pids[0]}" naps
	cat >meanwhile <<-END
		mkdir "$v2/$group/brief"
		sh -c 'echo \$\$ >"$v2/$group/brief/cgroup.procs"; exec "$naps" 1 10 10'
		until rmdir "$v2/$group/brief"; do sleep 0.05; done
	END
	run -0 denet-record --all-cgroups -a -- sh meanwhile
	perf report --stdio --no-children -g none --sort cgroup,comm 2>/dev/null >report
	awk '$NF == "napper-0" { print $(NF - 1) }' report | sort >groups
	printf '%s\n' "/$group/brief" "/$group/old" | diff - groups
	# Each event has its whole.
	awk '/^# Samples/ { events++ } $1 ~ /%$/ { sum += $1 }
	     END { print sum, events; exit !(events && sum > 99 * events && sum < 101 * events) }' report
	# Without it there is nothing of cgroups in the file.
	run -0 denet-record -o without.data -- true
	perf evlist -v -i without.data | refute grep -q CGROUP
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
	start "$naps" 1 100000 10
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
	start unshare -p -f --kill-child --mount-proc bash inside
	until_true bigger_than all.data 0
	init=$(pgrep -P "${pids[0]}")
	nsenter -p -t "$init" "$naps" 1 10 10 3>&-
	touch done
	wait "${pids[0]}"
	# By the program's name: its threads could not set theirs by way of the host's /proc.
	[ "$(perf script -i all.data -F comm,event | grep -c naps)" -ge 10 ]
}

@test "from the host, a container's tasks have the host's pids, and its files are read" {
	mkdir box
	# A program that is only where the container is: below a mount that nobody else has.
	cat >inside <<-END
		mount -t tmpfs none box && cp "$naps" box/boxed && exec box/boxed 1 100000 10
	END
	start unshare -p -f --kill-child -m --mount-proc bash inside
	until_true pgrep -P "${pids[0]}" boxed
	inner=$(pgrep -P "${pids[0]}" boxed)
	until_true runs "$inner" boxed
	[ ! -e box/boxed ]
	run -0 denet-record -p "$inner" -- sleep 0.3
	[ "$(processes)" = "$inner" ]
	id=$(readelf -n "$naps" | sed -n 's/.*Build ID: //p')
	perf buildid-list | grep -q "^$id .*/box/boxed$"
}

@test "-p: thousands of children that are born during the recording" {
	cat >family <<-END
		read -r line <go
		exec "$build/tests/workloads/forks" --count 6000 --parallel 16 --us 500 >said
	END
	mkfifo go
	start bash family
	denet-record -v --off-cpu-thresh 0 -p "${pids[0]}" 2>err 3>&- &
	recorder=$!
	until_true bigger_than perf.data 0
	echo >go
	finish_recording
	[ "$status" = 0 ]
	grep -q ' 0 lost' err
	# As often as the kernel counted: one whose timer is over before it sleeps has no block.
	perf script -F comm,pid,event >script
	awk 'NR == FNR { if ($1 == "child") n[$2]++; next }
		{
			children++; waited += $2 > 0
			if (n[$1] + 0 < $2) { print n[$1] + 0, $0; bad = 1 }
		}
		END { print children, waited; exit bad || children != 6000 || waited < 3000 }' \
		script <(truths said pid voluntary)
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
