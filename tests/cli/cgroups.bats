#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Cgroups and containers as targets, and as what a report is sorted by. One test mounts a hierarchy, and
# the machine has each but once.
# tests: parallel

load lib

prepare() {
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

@test "-G: a cgroup and what is below it, also what comes later, and nothing beside it" {
	need_v2
	mkdir -p "$v2/$group/a/b" "$v2/$group/aa"
	start_target in_group "$v2/$group/a" "$naps" 1 100000 10
	start_target in_group "$v2/$group/a/b" "$naps" 1 100000 10
	start_target in_group "$v2/$group/aa" "$naps" 1 100000 10
	for dir in a a/b aa; do until_true in_group_is "$v2/$group/$dir"; done
	until_true runs "${targets[0]}" naps
	until_true runs "${targets[1]}" naps
	run -0 denet-record -G "$group/a" -- sleep 0.3
	[ "$(processes)" = "$(printf '%s\n' "${targets[@]:0:2}" | sort -n)" ]
	# The whole path means the same, and -p narrows it to one process.
	run -0 denet-record -o narrow.data -G "$v2/$group/a" -p "${targets[1]},${targets[2]}" -- sleep 0.3
	[ "$(processes narrow.data)" = "${targets[1]}" ]
	# With the blocks of threads that have not come back.
	start_target in_group "$v2/$group/a" sleep 100
	start_target in_group "$v2/$group/aa" sleep 101
	until_true runs "${targets[3]}" sleep
	until_true runs "${targets[4]}" sleep
	run -0 denet-record -o blocked.data -G "$group/a" -- "$naps" 1 3 10
	processes blocked.data | grep -qx "${targets[3]}"
	processes blocked.data | refute grep -qx "${targets[4]}"
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

# bats test_tags=whole
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
	start_target in_group "$docker/inner" "$naps" 1 100000 10
	start_target in_group "$vm" "$naps" 1 100000 10
	until_true runs "${targets[0]}" naps
	until_true runs "${targets[1]}" naps
	run -0 denet-record -v -o id.data -G "${id:0:12}" -- sleep 0.3
	[[ "$output" == *"-G ${id:0:12}: that is /$group.slice/docker-$id.scope"* ]]
	[ "$(processes id.data)" = "${targets[0]}" ]
	run -0 denet-record -o vm.data -G "my-vm-$group" -- sleep 0.3
	[ "$(processes vm.data)" = "${targets[1]}" ]
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
	start_target in_group "$v2/$group/old" "$naps" 1 100000 10
	until_true runs "${targets[0]}" naps
	cat >meanwhile <<-END
		mkdir "$v2/$group/brief"
		sh -c 'echo \$\$ >"$v2/$group/brief/cgroup.procs"; exec "$naps" 1 10 10'
		until rmdir "$v2/$group/brief"; do sleep 0.05; done
	END
	run -0 denet-record --all-cgroups -a -- sh meanwhile
	perf report --stdio --no-children -g none --sort cgroup,comm 2>/dev/null >report
	# Of other cgroups, those of tests beside this one are there, too.
	awk -v own="/$group/" '$NF == "napper-0" && index($(NF - 1), own) { print $(NF - 1) }' report |
		sort >groups
	printf '%s\n' "/$group/brief" "/$group/old" | diff - groups
	# Each event has its whole.
	awk '/^# Samples/ { events++ } $1 ~ /%$/ { sum += $1 }
	     END { print sum, events; exit !(events && sum > 99 * events && sum < 101 * events) }' report
	# Without it there is nothing of cgroups in the file.
	run -0 denet-record -o without.data -- true
	perf evlist -v -i without.data | refute grep -q CGROUP
}
