#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The screen of denet-top in a real terminal, tmux: what it shows of known loads, what keys do, and
# that it leaves the terminal as it was, however it ends.

load lib

needs=root

prepare() {
	command -v tmux >/dev/null || skip "no tmux"
	export LC_ALL=C.UTF-8
	unset NO_COLOR TMUX
	cat >waiters.py <<-'EOS'
		# NUMBER NAME: threads of that name that wait for the lock of a file.
		import ctypes, fcntl, os, sys, threading
		libc = ctypes.CDLL(None)
		held = open("lock", "w")
		fcntl.flock(held, fcntl.LOCK_EX)
		def wait():
		    libc.prctl(15, os.fsencode(sys.argv[2]).decode("unicode_escape").encode("latin-1"))
		    with open("lock") as mine:
		        fcntl.flock(mine, fcntl.LOCK_EX)
		threading.stack_size(65536)
		for _ in range(int(sys.argv[1])):
		    threading.Thread(target=wait, daemon=True).start()
		print("ready", flush=True)
		sys.stdin.read()
	EOS
}

clean_up() {
	[ ! -e tmux.socket ] || in_tmux kill-server
	[ ! -e full ] || umount -l full
}

in_tmux() {
	tmux -S "$BATS_TEST_TMPDIR/tmux.socket" -f /dev/null "$@" 3>&- 7>&-
}

# open_terminal [COLUMNS LINES]: a shell in a terminal of that size.
open_terminal() {
	in_tmux new-session -d -x "${1:-80}" -y "${2:-24}" \
		"exec env PS1='prompt> ' TERM=screen-256color bash --norc --noprofile"
	until_true shows '^prompt>'
}

# type TEXT: and Enter.
type_line() {
	in_tmux send-keys -l "$1"
	in_tmux send-keys Enter
}

keys() {
	in_tmux send-keys "$@"
}

screen() {
	in_tmux capture-pane -p
}

# shows REGEX: some line of the terminal.
shows() {
	screen | grep -qE -- "$1"
}

# shows_no REGEX
shows_no() {
	! shows "$1"
}

# start_waiters NUMBER NAME: $waiters is their process.
start_waiters() {
	mkfifo hold
	start_target sh -c "exec python3 waiters.py $1 '$2' <hold"
	exec 7>hold
	waiters=$target
	until_true all_wait "$waiters" "$1"
}

all_wait() {
	[ "$(cat "/proc/$1"/task/*/wchan 2>/dev/null | tr '\0' '\n' | grep -o lock | wc -l)" -ge "$2" ] ||
		[ "$(grep -ls flock /proc/"$1"/task/*/stack 2>/dev/null | wc -l)" -ge "$2" ]
}

# start_screen OPTION…: in a terminal, until the first rows are there.
start_screen() {
	[ -e tmux.socket ] || open_terminal
	type_line "clear; denet-top $*; echo status=\$?"
	until_true shows 'denet-top .* looks/s'
}

# is_as_before: the terminal is, and its main screen and the cursor are there.
is_as_before() {
	[ "$(in_tmux display-message -p '#{alternate_on} #{cursor_flag} #{keypad_cursor_flag}')" = "0 1 0" ] ||
		return 1
	until_true shows '^prompt> *$'
	type_line 'stty -a >after'
	until_true bigger_than after 0
	diff before after
}

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

is_off() {
	[ "$(in_tmux display-message -p '#{alternate_on}')" = 0 ]
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
	for signal in TERM INT HUP SEGV ABRT QUIT BUS; do
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
	for how in C-z TSTP STOP; do
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

@test "a recording is shown at once, with its stacks, and its time can be chosen" {
	start_waiters 3 waiter
	denet-top -o dir -k -F 20 -n 30 -p "$waiters"
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
	denet-top -w top.data -k -F 20 -n 30 -p "$waiters"
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
