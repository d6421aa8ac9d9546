#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-top where it shows rates, many threads or what each look found: other load would show as well.

load lib
load top
load screen

needs=root

# bats test_tags=whole
@test "pause keeps what is seen, and the time that is shown can be chosen" {
	start_waiters 3 waiter
	start_screen -p "$waiters"
	until_true shows '^> +3\.00 '
	keys p
	until_true shows 'PAUSED +last 10 s$'
	before=$(screen | grep -E '^>')
	exec 7>&-
	until_true gone "$waiters"
	until_true shows 'the targets have ended'
	[ "$(screen | grep -E '^>')" = "$before" ]
	keys p
	until_true shows 'no active thread'
	keys t
	until_true shows '5 min'
	keys 5 Enter
	until_true shows 'last 5 min$'
	until_true shows '^> .* waiter '
	keys '['
	until_true shows '5 min before [0-9:]{8}$'
	keys ']'
	until_true shows 'last 5 min$'
}

# coloured: how capture-pane tells colours.
coloured() {
	in_tmux capture-pane -p -e | grep -qE "$1"
}

# bats test_tags=whole
@test "colours, letters and lines are those that the terminal has" {
	start_waiters 3 waiter
	start_screen -p "$waiters"
	until_true shows '^> +3\.00 '
	until_true coloured $'\e\\[38;5;'
	shows '█'
	keys q
	until_true shows '^status=0'
	type_line "clear; TERM=xterm denet-top -p $waiters"
	until_true coloured $'\e\\[(0;)?34m'
	refute coloured $'\e\\[38;5;'
	keys q
	until_true is_off
	for how in 'NO_COLOR=1' 'TERM=vt100' 'TERM=vt220 LC_ALL=C'; do
		type_line "clear; env $how denet-top -p $waiters; echo status=\$?"
		until_true shows 'S=SLEEP [0-9.]+'
		# One column, or more of them as time goes by.
		until_true shows '[ |│]S+$'
		refute coloured $'\e\\[([0-9;]*;)?3[0-7](;|m)'
		[ "$how" != 'TERM=vt220 LC_ALL=C' ] || refute shows '[│█]'
		keys q
		until_true shows '^status=0'
	done
	# With no way to move the cursor there are tables, and an error where the screen is asked for.
	type_line "clear; TERM=dumb denet-top -p $waiters; echo status=\$?"
	until_true shows ' looks: 3\.00 of '
	keys C-c
	until_true shows 'status=0'
	type_line "clear; TERM=dumb denet-top --screen"
	until_true shows 'no screen on a terminal of type "dumb"'
	type_line "clear; TERM=nosuch denet-top --screen"
	until_true shows 'no screen on a terminal of type "nosuch"'
	run -1 denet-top --screen </dev/null
	[[ "$output" == *"the screen needs a terminal"* ]]
	run -2 denet-top --screen -b
	run -1 denet-top --screen -- true
}

# bats test_tags=whole
@test "a terminal that takes nothing does not stop the looks" {
	start_waiters 1 waiter
	cat >unread.py <<-'EOS'
		import os, pty, sys, time
		pid, fd = pty.fork()
		if pid == 0:
		    os.environ["TERM"] = "screen-256color"
		    os.execvp("denet-top", ["denet-top", "--screen", "-o", "dir", "-p", sys.argv[1]])
		# Fills the way from the terminal, of which nothing is read.
		while not os.path.exists("stop"):
		    os.write(fd, b"\x0c")
		    time.sleep(0.01)
		os.kill(pid, 15)
		os.waitpid(pid, 0)
	EOS
	python3 unread.py "$waiters" 3>&- &
	reader=$!
	until_true has_lines 50
	lines=$(cat dir/xcapture_samples* | wc -l)
	until_true has_lines $((lines + 50))
	touch stop
	wait "$reader"
}

has_lines() {
	[ "$(cat dir/xcapture_samples* 2>/dev/null | wc -l)" -ge "$1" ]
}

# bats test_tags=whole
@test "a thousand threads" {
	start_waiters 1000 waiter
	start_screen -p "$waiters" -g comm,tid
	until_true shows '^> +1\.00 +0\.1% .* waiter +[0-9]+ '
	first=$(screen | grep -E '^>')
	keys End
	until_true shows_no '^> .* waiter +'"$(awk '{ print $5 }' <<<"$first") "
	keys PPage PPage Home
	until_true shows '^> +1\.00 +0\.1% .* waiter +[0-9]+ '
	keys q
	until_true shows '^status=0'
	start_screen -p "$waiters" -g state
	until_true shows '^> *(1000|99[0-9])\.[0-9]+ +100\.0% .*SLEEP'
	until_true shows ' (1001|1000) threads, '
	# Looks go on beside all that, as many as there may be.
	until_true shows ' ([1-9]|1[0-2])\.[0-9] looks/s'
	keys q
	until_true shows '^status=0'
}

@test "a busy thread's calls are known while it runs, and so is that it is in none" {
	start_target sh -c 'while :; do :; done'
	look -n 20 --track syscalls -p "$target"
	all_are 's["state"] != "RUN" or s["syscall_active"] in "?-"'
	kill "$target"
	# Most of this one's time lies between calls, which have ended. It has a CPU beside other load, too.
	start_target nice -n -15 python3 -c '
import os
print("READY", flush=True)
while True:
    os.getppid()
    for i in range(100000): pass'
	until_true grep -q READY target.out
	look -n 100 --track syscalls -p "$target"
	python3 - <<-'END'
		import json
		runs = [s["syscall_active"] for s in map(json.loads, open("out")) if s["state"] == "RUN"]
		known = [call for call in runs if call != "?"]
		print(len(runs), len(known), known.count("-"))
		assert len(known) > 5 and known.count("-") >= 0.8 * len(known), known
	END
	kill "$target"
	denet-top --max-overhead 0 --json -F 100 -n 100 --track syscalls -- nice -n -15 dd if=/dev/urandom of=/dev/null bs=64M count=20 \
		>out 2>err
	python3 - <<-'END'
		import json
		runs = [s for s in map(json.loads, open("out")) if s["state"] == "RUN" and s["comm"] == "dd"]
		reads = [s for s in runs if s["syscall"] == "read"]
		print(len(runs), len(reads))
		assert len(runs) > 5 and len(reads) >= 0.8 * len(runs), runs[:5]
		assert all(s["sysc_arg1"] == "0" and s["sysc_arg3"] == "4000000" for s in reads), reads[:3]
	END
}
