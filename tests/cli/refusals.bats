#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What cannot be recorded is said clearly, and leaves the files alone.
# tests: parallel

load lib

needs=root

prepare() {
	echo mine >perf.data
}

clean_up() {
	[ ! -e perf.data.old ]
	[ "$(cat perf.data)" = mine ]
}

@test "a process or thread that does not exist" {
	run -1 denet-record -p 4194304
	[[ "$output" == *"-p 4194304: there is no such process"* ]]
	run -1 denet-record -p "$$,4194304"
	run -1 denet-record -t 4194304
	[[ "$output" == *"-t 4194304: there is no such thread"* ]]
}

@test "a thread given as a process" {
	"$naps" 1 3000 20 >out 3>&- &
	until_true grep -q READY out
	tid=$(ls "/proc/$!/task" | grep -vx $!)
	run -1 denet-record -p "$tid"
	[[ "$output" == *"-p $tid: that is a thread of process $!"* ]]
	kill $!
}

@test "a command that cannot be run leaves no file" {
	run -1 denet-record -- denet-no-such-command
	[[ "$output" == *"Workload failed: denet-no-such-command: No such file or directory"* ]]
	run -1 denet-record -a 5
	[[ "$output" == *"Workload failed: 5: "*"; to record for 5 seconds: -- sleep 5"* ]]
	run -1 denet-record -- /etc/passwd
	[[ "$output" == *"Permission denied"* ]]
	printf '#!/no/such/interpreter\n' >script
	chmod +x script
	run -1 denet-record -- ./script
	[[ "$output" == *"Workload failed: ./script: No such file or directory"* ]]
}

@test "a directory that is not there, or a directory as the file" {
	run -1 denet-record -o no/such/dir/x.data -- true
	[[ "$output" == *no/such/dir/x.data* ]]
	mkdir folder
	run -1 denet-record -o folder -- true
	[[ "$output" == *folder* ]]
	[ -d folder ]
}

@test "no rights: said, with what helps" {
	command -v setpriv >/dev/null || skip "no setpriv"
	chmod 755 . && touch readable
	run -1 setpriv --reuid 65534 --regid 65534 --clear-groups "$build/denet-record" -- true
	[[ "$output" == *CAP_BPF* ]]
}
