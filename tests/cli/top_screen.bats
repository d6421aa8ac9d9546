#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The screen of denet-top in a real terminal, tmux: what it shows of known loads, what keys do, and
# that it leaves the terminal as it was, however it ends.
# tests: parallel

load lib
load screen

needs=root

@test "a thread that waits is shown with its state, name and call, and how long it has waited" {
	start_waiters 3 waiter
	start_screen -p "$waiters"
	until_true shows '^> +3\.00 +100\.0% +█+ +SLEEP +waiter +flock +[0-9.]+ m?s +[0-9.]+ m?s$'
	until_true shows 'denet-top +[0-9]+\.[0-9] looks/s +4 threads, 1 idle +own CPU [0-9.]+%'
	shows 'last 5 min: +SLEEP [23]\.[0-9]+'
	shows '^ all +last 10 s$'
	shows '^ +3│ '
	# Ten looks a second, unless the machine is busy.
	until_true shows ' ([5-9]|1[0-2])\.[0-9] looks/s'
	# They have waited for a second at least by then.
	keys m
	until_true shows '^ +1s│ +.*█'
	until_true shows 'last 5 min: +time in state; the darkest: [1-3]\.[0-9]+ threads'
	shows '^> +3\.00 .* flock '
	keys m
	until_true shows 'last 5 min: +SLEEP [23]\.[0-9]+'
	keys q
	until_true shows '^status=0'
}

@test "a thread that waits for a lock in memory has a futex" {
	mkfifo hold
	start_target sh -c "exec '$build/tests/workloads/holders' --ms 0 <hold"
	exec 7>hold
	until_true grep -q READY target.out
	waiter=$(awk '$1 == "mutex" { print $3; exit }' target.out)
	start_screen -t "$waiter"
	until_true shows '^> +1\.00 +100\.0% +█+ +SLEEP +[^ ]+ +futex'
	keys Enter
	until_true shows '^> .* 0x[0-9a-f]+ +[0-9.]+ m?s'
	shows 'SHARE +LOCK +P50'
}

@test "Enter leads to the file, the stacks, the threads and one thread, Backspace back" {
	start_waiters 3 waiter
	start_screen -p "$waiters"
	until_true shows '^> +3\.00 .*flock'
	keys Enter
	until_true shows ' all > SLEEP waiter flock '
	until_true shows '^> +3\.00 .*/lock +[0-9.]+ m?s'
	keys Enter
	until_true shows 'KERNEL, [0-9]+ frames +│USER, [0-9]+ frames'
	shows '^ [a-z_0-9.]*flock[a-z_]* +│'
	# glibc has other names at that address.
	shows '│[A-Za-z_]*flock(@.*)?$'
	keys Enter
	until_true shows 'TID +TGID +COMM'
	# Walks along frame pointers may differ at their ends.
	until_true shows "^> +1\.00 +(33\.3|50\.0|100\.0)% .* [0-9]+ +$waiters +waiter"
	tid=$(screen | sed -nE "s/^> .* ([0-9]+) +$waiters +waiter.*/\1/p")
	keys Enter
	until_true shows "^ tid +100\.0% $tid$"
	shows '^ state +100\.0% SLEEP$'
	keys w Enter
	until_true shows '^write to: denet-top-[0-9-]+\.csv'
	keys C-u
	type_line thread.csv
	until_true shows '^thread.csv is written'
	grep -qx "tid,1.000000,'$tid'" thread.csv
	grep -qx "syscall,1.000000,'flock'" thread.csv
	keys End
	until_true shows '^ sysc_arg1 +100\.0% [0-9a-f]+$'
	keys BSpace
	# The row that it came from.
	until_true shows "^> .* $tid +$waiters +waiter"
	keys BSpace BSpace BSpace BSpace
	until_true shows '^ all +last 10 s$'
}

@test "a search finds rows, a filter keeps or drops them, and columns are chosen" {
	start_waiters 2 waiter
	start_target sh -c 'while :; do :; done'
	start_screen -p "$waiters,$target"
	until_true shows 'SLEEP +waiter'
	until_true shows 'RUN +sh '
	keys /
	until_true shows '^search:'
	type_line WAIT
	until_true shows '^> .*SLEEP +waiter'
	keys f
	until_true shows 'only +comm = waiter'
	keys Down Down Down Enter
	until_true shows '^ all comm!=waiter '
	shows_no 'SLEEP +waiter'
	keys f End Enter
	until_true shows 'SLEEP +waiter'
	keys g
	until_true shows 'Group by'
	# From the first item: state, username, exe, comm.
	keys Down Down Down Space Enter
	until_true shows '^ +ACTIVE +SHARE +STATE WAIT'
	keys Escape s
	until_true shows 'Sort by'
	keys Down Enter
	until_true shows '^ +[0-9.]+ +[0-9.]+% .*(RUN|RUNQ)'
	# The longest first, who waited all the time.
	[[ "$(screen | grep -A1 'ACTIVE' | tail -1)" == *SLEEP*flock* ]]
}

@test "what is seen is written as CSV and as a page, and never over a file" {
	start_waiters 3 waiter
	start_screen -p "$waiters"
	until_true shows '^> +3\.00 '
	keys w Enter
	until_true shows '^write to: denet-top-[0-9-]+\.csv'
	keys C-u
	type_line rows.csv
	until_true shows '^rows.csv is written'
	[ "$(head -1 rows.csv)" = active,share,samples,p50_ns,p99_ns,state,comm,wait ]
	grep -E "^3\.0+,1\.0+,[0-9]+,[0-9]+,[0-9]+,'SLEEP','waiter','flock'$" rows.csv
	keys w Down Enter
	until_true shows '^write to: denet-top-[0-9-]+\.html'
	keys C-u
	type_line page.html
	until_true shows '^page.html is written'
	grep -q '^"waiter"' page.html
	grep -q 'flock.* \[k\]"' page.html
	keys w Enter C-u
	type_line rows.csv
	until_true shows '^cannot write rows.csv: File exists'
	keys q
	until_true shows '^status=0'
	# Once the screen is gone, messages are there to read.
	shows '^denet-top: rows.csv is written'
	shows '^denet-top: error: cannot write rows.csv: File exists'
}

# write_to KEY… NAME: asks for a file of the menu of w, and gives it that name.
write_to() {
	keys w
	until_true shows 'CSV'
	keys "${@:1:$#-1}" Enter
	until_true shows '^write to: denet-top-'
	keys C-u
	type_line "${!#}"
}

# bats test_tags=whole
@test "a deep stack of long names reaches its root on the screen and in a page" {
	start_target "$build/tests/workloads/deep"
	start_screen -s --all-states -p "$target"
	until_true shows '^> +1\.00 .* deep +pause'
	keys Enter
	until_true shows 'USER, 11[0-9] frames'
	write_to Down page.html
	until_true shows '^page.html is written'
	[ "$(grep -c '"go_down_to_a_function_.*_odd"' page.html)" = 1 ]
	grep -q '^"main"' page.html
	keys q
	until_true shows '^status=0'
}

@test "a file that could not be written whole is not there, and can be written again" {
	mkdir full
	mount -t tmpfs -o size=4k none full
	head -c 4096 /dev/zero >full/other
	start_waiters 3 waiter
	start_screen -p "$waiters"
	until_true shows '^> +3\.00 '
	write_to full/rows.csv
	until_true shows '^cannot write full/rows.csv: No space left on device'
	[ "$(ls full)" = other ]
	write_to Down full/page.html
	until_true shows '^cannot write full/page.html: '
	[ "$(ls full)" = other ]
	rm full/other
	write_to full/rows.csv
	until_true shows '^full/rows.csv is written'
	grep waiter full/rows.csv
	keys q
	until_true shows '^status=0'
}

@test "it fits into any terminal, also while its size changes" {
	start_waiters 3 waiter
	open_terminal 80 24
	start_screen -p "$waiters"
	until_true shows '^> +3\.00 '
	in_tmux resize-window -x 200 -y 50
	until_true shows '^> +3\.00 .{150,} m?s$'
	[ "$(screen | grep -c '│')" = 9 ]
	in_tmux resize-window -x 20 -y 5
	until_true shows '^too small: 40x8$'
	in_tmux resize-window -x 40 -y 8
	until_true shows '^> +3\.00 +100\.0% SLEEP waiter flock$'
	keys h
	until_true shows '^ Up, Down, k, j'
	keys h
	in_tmux resize-window -x 80 -y 24
	until_true shows '^> +3\.00 .*m?s$'
	until_true shows 'q quit$|w write'
	keys q
	until_true shows '^status=0'
}

@test "a name may have any byte" {
	start_waiters 1 'a\x1b[1m\n\xff\xc3\xa4\xe6\xbc'
	start_screen -p "$waiters"
	# Complete characters are themselves.
	until_true shows ' a\\x1b\[1m\\x0a\\xff.*ä\\xe6\\xbc +flock|a\\x1b\[1m\\x0a\\x.*…'
	in_tmux resize-window -x 120 -y 24
	until_true shows 'SLEEP a\\x1b\[1m\\x0a\\xffä\\xe6\\xbc flock '
	keys q
	until_true shows '^status=0'
	LC_ALL=C
	export LC_ALL
	type_line 'export LC_ALL=C'
	start_screen -p "$waiters"
	until_true shows 'SLEEP a\\x1b\[1m\\x0a\\xff\\xc3\\xa4\\xe6\\xbc flock '
}

# The process that the shell in the terminal has started.
screen_pid() {
	pgrep -n -P "$(in_tmux display-message -p '#{pane_pid}')" denet-top
}

@test "the terminal is as before, whichever signal ends it" {
	# The address sanitizer would turn some of them into an exit.
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_sigbus=0
	start_waiters 1 waiter
	open_terminal
	type_line 'stty -a >before'
	until_true bigger_than before 0
	for signal in TERM SEGV $(if_whole INT HUP ABRT QUIT BUS); do
		rm -f after
		type_line "clear; denet-top -p $waiters; echo status=\$?"
		until_true shows '^> +1\.00 '
		refute is_off
		kill -"$signal" "$(screen_pid)"
		echo "$signal"
		until_true shows '^status='
		case $signal in
		TERM | INT | HUP) shows '^status=0' ;;
		*) shows "^status=$((128 + $(kill -l "$signal")))" ;;
		esac
		is_as_before
	done
	# The keys of the terminal itself.
	type_line "clear; denet-top -p $waiters; echo status=\$?"
	until_true shows '^> +1\.00 '
	keys C-c
	until_true shows '^status=0'
	is_as_before
}

@test "Ctrl-Z gives the terminal back, and fg takes it again" {
	start_waiters 1 waiter
	open_terminal
	type_line 'stty -a >before'
	until_true bigger_than before 0
	for how in C-z STOP $(if_whole TSTP); do
		rm -f after
		type_line "clear; denet-top -p $waiters"
		until_true shows '^> +1\.00 '
		pid=$(screen_pid)
		if [ "$how" = C-z ]; then keys C-z; else kill -"$how" "$pid"; fi
		until_true grep -q '^State:.*T' "/proc/$pid/status"
		# Of SIGSTOP nobody is told.
		if [ "$how" != STOP ]; then
			until_true shows 'Stopped'
			is_as_before
		fi
		type_line "clear; fg"
		until_true shows '^> +1\.00 '
		refute is_off
		keys q
		until_true is_off
	done
}

@test "with -n the screen ends after so many looks" {
	start_waiters 1 waiter
	open_terminal
	type_line 'stty -a >before'
	until_true bigger_than before 0
	type_line "clear; denet-top --screen -n 8 -F 4 -o dir -p $waiters; echo status=\$?"
	until_true shows '^> +1\.00 '
	until_true is_off
	until_true shows '^status=0'
	[ "$(cut -d, -f1 dir/xcapture_samples* | sort -u | wc -l)" = 9 ]
	is_as_before
}

@test "a recording is shown at once, with its stacks, and its time can be chosen" {
	start_waiters 3 waiter
	denet-top -o dir -k -F 20 -n 10 -p "$waiters"
	open_terminal
	type_line "clear; denet-top -i dir; echo status=\$?"
	until_true shows '^> +3\.00 +100\.0% .* SLEEP +waiter +flock'
	shows "denet-top +dir +$(date +%Y)-.* to .*"
	shows ' all$'
	keys Enter Enter
	until_true shows 'KERNEL, [0-9]+ frames'
	shows '^ [a-z_0-9.]*flock[a-z_]* +│'
	keys BSpace BSpace l m
	until_true shows '^ +ACTIVE +SHARE .* CALL P50 +CALL P99'
	until_true shows 'time in call; the darkest'
	keys l l m
	until_true shows '^ +ACTIVE +SHARE .* [^L] P50 +P99'
	keys t 1 Enter
	until_true shows 'last 10 s$'
	keys p
	refute shows PAUSED
	keys q
	until_true shows '^status=0'
	type_line "clear; denet-top -i dir | cat"
	until_true shows ' looks: 3\.00 threads active'
	type_line "clear; denet-top -i dir -g kstack | cat"
	until_true shows ' 3\.00 100\.0% .*flock.*;'
	type_line "clear; denet-top -i dir -g kfunc,fext | cat"
	until_true shows ' 3\.00 100\.0% +#+ +[a-z_]*lock[a-z_]* '
	denet-top -w top.data -k -F 20 -n 10 -p "$waiters"
	type_line "clear; denet-top -i top.data; echo status=\$?"
	until_true shows '^> +3\.00 +100\.0% .* SLEEP +waiter '
	# It has no files: stacks are next.
	keys Enter
	until_true shows '^ [a-z_0-9.]*flock[a-z_]* +│'
	keys q
	until_true shows '^status=0'
	# The screen has samples in the order of their times: others are counted.
	for file in dir/xcapture_samples*; do :; done
	sed -n 2p "$file" >>"$file"
	type_line "clear; denet-top -i dir; echo status=\$?"
	until_true shows '^> +3\.00 '
	keys q
	until_true shows 'warning: dir: 1 samples were left out: the clock had been set back$'
}

# One file by many names: times that come again are counted, and left out.
@test "while a long recording is read, the screen shows what there is, and keys and signals end it" {
	mkdir dir
	python3 - >rows.csv <<-'EOF'
		print("TIMESTAMP,WEIGHT_US,STATE,COMM")
		for i in range(100000):
		    print("2026-01-31T10:%02d:%02d.%03d000,10000,RUN,'worker'" % (i // 6000, i // 100 % 60, i % 100 * 10))
	EOF
	for i in {100..399}; do ln -s ../rows.csv dir/xcapture_samples_$i.csv; done
	open_terminal
	for way in q C-c TERM; do
		type_line "clear; sh -c 'echo \$\$ >pid; exec denet-top -i dir -g comm'; echo status=\$?"
		until_true shows 'denet-top  dir  reading \.\.\.  2026-01-31T10:00:00 to '
		until_true shows '^> +1\.00 +100\.0% .* worker'
		case $way in
		TERM) kill -TERM "$(cat pid)" ;;
		*) keys $way ;;
		esac
		until_true shows '^status=0'
		refute shows 'left out'
	done
	mkfifo fifo
	type_line "clear; denet-top -i fifo; echo status=\$?"
	until_true shows '^status=1'
	shows 'fifo is neither a file nor a directory'
}
