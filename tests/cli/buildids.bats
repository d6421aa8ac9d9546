#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Build-ids: of what was hit, wherever it lies, and of nothing else.
# tests: parallel

load lib

prepare() {
	command -v readelf >/dev/null || skip "no readelf"
	naps_id=$(readelf -n "$naps" | sed -n 's/.*Build ID: //p')
	[ -n "$naps_id" ]
}

# A shell script that makes a root of its own, an overlay, and runs naps there from a path
# that exists nowhere else.
write_container() {
	cat >container.sh <<-EOF
		set -e
		mkdir -p layer merged
		mount -t tmpfs none layer
		mkdir layer/upper layer/work
		mount -t overlay overlay -o lowerdir=/,upperdir=layer/upper,workdir=layer/work merged
		mkdir -p "merged/only here"
		cp "$naps" "merged/only here/naps"
		mount -t proc proc merged/proc
		exec unshare -m sh -c 'cd merged && mkdir -p oldroot && pivot_root . oldroot &&
			umount -l oldroot; exec "/only here/naps" "\$@"' sh "\$@"
	EOF
	unshare -m sh -c 'mkdir -p o t && mount -t tmpfs none t && mkdir t/u t/w &&
		mount -t overlay overlay -o lowerdir=/,upperdir=t/u,workdir=t/w o' ||
		skip "no overlay file system here"
}

@test "kernel and vDSO have theirs, and -B leaves all out" {
	denet-record -o a.data -- "$naps" 1 5 10
	perf buildid-list -i a.data >ids
	grep -q "^$naps_id $naps\$" ids
	grep -q ' \[vdso\]$' ids
	grep -q /libc ids
	if [ -e /sys/kernel/notes ]; then
		grep -q '\[kernel.kallsyms\]' ids
	fi
	denet-record -B -o b.data -- "$naps" 1 5 10
	refute grep -q '[0-9a-f]\{20\}' <(perf buildid-list -i b.data)
}

@test "a command that has ended by the end has the build-ids of its files" {
	cp "$naps" mine
	denet-record -o a.data -a -- sh -c './mine 1 5 10; sleep 0.1'
	perf buildid-list -i a.data | grep -q "$naps_id .*/mine\$"
}

@test "a program in a container has its build-id, though its path means nothing outside" {
	write_container
	unshare -m sh container.sh 1 3000 20 >out 3>&- &
	pid=$!
	until_true grep -q READY out
	[ ! -e '/only here' ]
	denet-record --buildid-cache -o c.data -p "$pid" -- sleep 0.5
	mv .debug debug
	denet-report -i c.data --folded | grep take_nap
	mv debug .debug
	kill "$pid"
	perf buildid-list -i c.data >ids
	grep -q "^$naps_id .*only here/naps\$" ids
	[ "$(stat -c %s .debug/.build-id/"${naps_id:0:2}/${naps_id:2}"/elf)" = \
		"$(stat -c %s "$naps")" ]
	"$top/scripts/archive.sh" c.data
	perf archive c.data >archived 2>&1
	tar tf c.data.tar.bz2 | grep -q kallsyms

	# Another machine has the archive and nothing else.
	rm -rf .debug
	refute grep -q take_nap <(perf script -i c.data 2>/dev/null)
	until_true gone "$pid"
	refute grep -q take_nap <(denet-report -i c.data --folded)
	mkdir .debug
	tar xzf c.data.tar.gz -C .debug
	perf script -i c.data 2>/dev/null >script
	grep -q take_nap script
	denet-report -i c.data --folded | grep take_nap
}

# what_is_now_is_known FILE: the window of now has been written, and what follows that is done.
what_is_now_is_known() {
	local size

	for _ in 1 2 3; do
		size=$(stat -c %s "$1")
		until_true bigger_than "$1" "$size"
	done
}

# bats test_tags=whole
@test "a container that has ended before the recording has its build-ids" {
	write_container
	# For a container that exists at the start, the files are read before the first records are
	# written, with a delay as well.
	for delay in 0 10; do
		unshare -m sh container.sh 1 10000 10 >out 3>&- &
		pid=$!
		until_true grep -q READY out
		start_recording -p $pid -D $delay
		# Not sooner: a container that ends before its first nap is over has no sample.
		what_is_now_is_known live.data
		kill $pid
		finish_recording
		[ "$(samples live.data)" -gt 0 ]
		perf buildid-list -i live.data >ids
		grep -q "^$naps_id .*only here/naps\$" ids
	done
	# And one that comes and goes meanwhile.
	start_recording -a --window 50ms
	unshare -m sh container.sh 1 10000 10 >out2 3>&- &
	pid=$!
	until_true grep -q READY out2
	what_is_now_is_known live.data
	kill $pid
	wait $pid || true
	kill -INT "$recorder"
	finish_recording
	perf buildid-list -i live.data >ids
	grep -q "^$naps_id .*only here/naps\$" ids
}

@test "a short program in a container that goes on has its build-id" {
	write_container
	# Ends at once, while the shell that started it goes on and sees the same files.
	mkfifo go
	sed -i 's|exec "/only here/naps" "[$]@"|cp "/only here/naps" /brief; /brief 1 2 10; echo; read line; :|' \
		container.sh
	grep -q /brief container.sh
	start_recording -a --window 50ms
	unshare -m sh container.sh <go >out 3>&- &
	exec 4>go
	until_true grep -q '^$' out
	what_is_now_is_known live.data
	exec 4>&-
	wait $!
	kill -INT "$recorder"
	finish_recording
	perf buildid-list -i live.data >ids
	grep -q "^$naps_id .*/brief\$" ids
}

@test "the cache is filled only on request, and never through a planted link" {
	denet-record -o a.data -- "$naps" 1 5 10
	[ ! -e .debug ]
	mkdir victim
	mkdir -p ".debug"
	ln -s ../victim ".debug/$(cut -d/ -f2 <<<"$naps")"
	run -0 denet-record --buildid-cache -o a.data -- "$naps" 1 5 10
	[[ "$output" == *"could not be copied to perf's cache"* ]]
	[ -z "$(ls -A victim)" ]
	perf script -i a.data 2>/dev/null | grep -q take_nap
}

@test "a container that has gone takes no build-id from a file of ours with the same name" {
	cat >twin.sh <<-EOF
		mount -t tmpfs none "$PWD/dir"
		cp "$(command -v sleep)" "$PWD/dir/twin"
		"$PWD/dir/twin" 0.2
	EOF
	mkdir dir
	cp "$naps" dir/twin
	denet-record -o t.data -a -- sh -c 'unshare -m sh twin.sh; sleep 0.1'
	perf script -i t.data -F comm 2>/dev/null | grep -q twin
	perf buildid-list -i t.data >ids
	refute grep -q "$naps_id .*/twin" ids
}

# bats test_tags=whole
@test "a PID that another container has by now gives no build-id of that one's file" {
	write_container
	[ -w /proc/sys/kernel/ns_last_pid ] || skip "no ns_last_pid"
	cp "$(command -v sleep)" other
	other_id=$(readelf -n other | sed -n 's/.*Build ID: //p')
	mkdir a b
	for root in a b; do
		sed "s|layer|$root/layer|g; s|merged|$root/merged|g" container.sh >$root.sh
	done
	sed -i "s|cp \"$naps\"|cp other|" b.sh
	grep -q 'cp other' b.sh
	mkfifo go
	sh -c 'read line; unshare -m sh a.sh 1 20 10 & echo $! >first; wait; echo done >ended
		read line; :' <go >out 3>&- &
	parent=$!
	exec 4>go
	# All files are asked for at the end.
	start_recording -p $parent --window 3600s 4>&-
	echo >&4
	until_true test -s ended
	first=$(cat first)
	for _ in $(seq 50); do
		echo $((first - 1)) >/proc/sys/kernel/ns_last_pid
		sh -c 'exec unshare -m sh b.sh 60' >/dev/null 3>&- 4>&- &
		second=$!
		[ $second != "$first" ] || break
		kill $second
		wait $second || true
	done
	[ $second = "$first" ] || skip "the PID was not to be had again"
	until_true grep -q 'only here/naps' /proc/$second/maps
	echo >&4
	exec 4>&-
	finish_recording
	kill $second
	perf script -i live.data -F comm,ip,dso 2>/dev/null | grep -q 'only here/naps'
	perf buildid-list -i live.data >ids
	cat ids
	refute grep -q "$other_id .*only here" ids
}

# mount_dead DIR: whoever opens a file there waits until he is killed.
mount_dead() {
	[ -e /dev/fuse ] || skip "no /dev/fuse on this kernel"
	exec 9<>/dev/fuse
	mount -i -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 dead "$1" ||
		skip "no FUSE file system here"
	touch mounted
}

# Once its server is gone, it answers everybody, with an error.
clean_up() {
	exec 9>&-
	[ ! -e mounted ] || umount -l dead
}

@test "the processes that read build-ids are confined, as /proc tells of one that waits for a file" {
	need_confinement
	mkdir dead
	cp "$naps" dead
	# Each file that does not answer takes a sixteenth of the time that is left.
	for i in $(seq 16); do cp "$build/tests/unwind/small.so" dead/$i.so; done
	LD_PRELOAD=$(printf "$PWD/dead/%s.so " $(seq 16)) dead/naps 1 100000 10 >out 3>&- &
	until_true grep -q READY out
	start_recording -p $! --off-cpu-thresh 0
	until_true bigger_than live.data 20000
	mount_dead dead
	kill -INT "$recorder"
	while ! has_confined_child "$recorder"; do
		refute is_confined "$recorder"
		refute gone "$recorder"
	done
	finish_recording
	[ "$status" = 0 ]
	grep -q 'files could not be read in time: they have no build-id' live.err
}

# A shell script that makes a root of its own, an overlay with a program of its own as /brief.
write_root() {
	cat >root.sh <<-'EOF'
		set -e
		mkdir -p "$1.layer" "$1"
		mount -t tmpfs none "$1.layer"
		mkdir "$1.layer/upper" "$1.layer/work"
		mount -t overlay overlay -o "lowerdir=/,upperdir=$1.layer/upper,workdir=$1.layer/work" "$1"
		for dir in /proc /sys /dev "$PWD" "$build"; do
			mkdir -p "$1$dir"
			mount --rbind "$dir" "$1$dir"
		done
		cp "$2" "$1/brief"
		shift 2
		exec "$@"
	EOF
	export build
}

# bats test_tags=whole
@test "a container that has gone takes no build-id from ours if our own root is an overlay, too" {
	write_container
	write_root
	cp "$(command -v sleep)" other
	# Both are made in the same way, so that their inode numbers may well be the same.
	cat >both.sh <<-EOF
		cd "$PWD"
		exec denet-record -v -a --window 3600s -o live.data -- sh -c '
			unshare -m sh root.sh "$PWD/theirs" other chroot "$PWD/theirs" /brief 0.2
			sleep 0.1' 2>live.err
	EOF
	unshare -m sh root.sh "$PWD/ours" "$naps" chroot "$PWD/ours" sh "$PWD/both.sh"
	perf script -i live.data -F comm,event 2>/dev/null | grep -q '^ *brief.*offcpu'
	perf buildid-list -i live.data >ids
	cat ids live.err
	# There are others, so that it is no matter of not having asked.
	grep -q '/libc' ids
	refute grep -q "$naps_id .*/brief" ids
}
