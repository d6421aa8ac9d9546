# SPDX-License-Identifier: GPL-2.0-only
# For tests of the screen of denet-top: a terminal, tmux, and threads that wait.
# shellcheck shell=bash

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

is_off() {
	[ "$(in_tmux display-message -p '#{alternate_on}')" = 0 ]
}
