#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Which threads denet-offcputime counts, how it finds their frames, and what a kill leaves behind.
# tests: parallel

load lib

needs=root

prepare() {
	group=
}

clean_up() {
	[ -z "$group" ] || until_true rmdir "$group"
}

@test "-G: the threads of a control group, and no others" {
	v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$v2" ] || skip "cgroup v2 is not mounted"
	group=$v2/denet-test-$$-$BATS_TEST_NUMBER
	mkdir "$group"
	cp "$naps" inside
	cp "$naps" outside
	start_target ./outside 1 1000000 5
	# shellcheck disable=SC2016 # expanded by the inner shell
	start_target sh -c 'echo $$ >"$0/cgroup.procs" && exec ./inside 1 1000000 5' "$group"
	until_true runs "$target" inside
	denet-offcputime -f -v -G "$group" 0.5 >folded 2>err
	cat folded err
	grep -q '^napper-0;.*;take_nap;' folded
	grep -q '^inside;' folded
	refute grep -q '^outside;' folded
	denet-offcputime -G "$group" 0.2 >out 2>err
	grep -x "Tracing off-CPU time (us) of threads in $group by .* for 0.2 secs." out
}

@test "-p is that process alone, --children has its descendants, those to come as well" {
	cp "$naps" child
	start_target sh -c 'while :; do ./child 1 20 5; done'
	until_true pgrep -P "$target" child
	denet-offcputime -f -p "$target" 0.5 >folded 2>err
	cat folded
	grep -q '^sh;' folded
	refute grep -qE '^(child|napper-0);' folded
	denet-offcputime -f --children -p "$target" 0.5 >folded 2>err
	cat folded
	grep -q '^sh;' folded
	grep -q '^napper-0;.*;take_nap;' folded
	# A child ends, and the next one begins.
	denet-offcputime --children -p "$target" 0.5 >out 2>err
	[ "$(sed -n 's/^    -                napper-0 (\([0-9]*\))$/\1/p' out | sort -u | wc -l)" -ge 2 ]
}

@test "--call-graph tables: chains of a program without frame pointers are whole" {
	cat >naps.py <<-'END'
		import time
		for i in range(300): time.sleep(0.001)
	END
	denet-offcputime -v -f --call-graph tables -- /usr/bin/python3 naps.py >folded 2>err
	need_tables "$(<err)"
	cat folded
	most=$(sort -n -k2 -t' ' folded | awk '{ print $NF, $0 }' | sort -n | tail -1)
	[[ "$most" == *";_start"*";__x64_sys_"* || "$most" == *";_start"*";__arm64_sys_"* ]]
}

@test "programs whose user stacks are not whole are named, and with -v how stacks were walked" {
	norule=$build/tests/unwind/norule
	[ -x "$norule" ] || skip "frames are described for x86-64"
	denet-offcputime -f --call-graph tables -- "$norule" >folded 2>err
	cat folded err
	need_tables "$(<err)"
	names_norule <err
	denet-offcputime -q -f -- "$norule" >folded 2>err
	[ ! -s err ] || names_norule <err
	refute grep "not whole: " err
	denet-offcputime -v -f -- "$norule" >folded 2>err
	cat err
	grep -E ' norule \(pid [0-9]+\): .* m?s of .* m?s: .*a rule that is not supported [0-9.]+ m?s' err
	grep -qE ': user stacks by unwind tables: [0-9]+ whole, .* [1-9][0-9]* with an unsupp' err
	# The same as a recording has, which is none where kernel addresses are hidden.
	denet-record -v -o data -- "$norule" 2>said
	[ "$(grep -c ': kernel stacks: [0-9]* walked by ORC tables, ' err)" = \
		"$(grep -c ': kernel stacks: [0-9]* walked by ORC tables, ' said)" ]
	denet-offcputime -v -f -- "$naps" 2 20 10 >folded 2>err
	refute grep -E 'not whole: |end early' err
}

@test "a kill leaves no programs, maps or files behind" {
	start_target "$naps" 1 1000000 5
	until_true grep -q READY target.out
	mkdir files
	denet-offcputime -p "$target" -o files/text --pprof files/p.pb.gz >out 2>err 3>&- &
	tracer=$!
	until_true traces "$tracer"
	kill -KILL "$tracer"
	until_true gone "$tracer"
	until_true none_exists objects
	[ -z "$(ls -A files)" ]
}
