#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# User chains of what was built without frame pointers are those that gdb shows at the same place,
# with --call-graph dwarf and by default.
# tests: parallel
# tests: limit 600

load lib
load service

need_gdb() {
	command -v gdb >/dev/null || skip "no gdb on this machine"
}

# start COMMAND…: in the background, at the same addresses in each run; its PID is $target.
start() {
	setarch -R "$@" <&0 3>&- &
	target=$!
	disown_target
}

# gdb_chain PID: the addresses of the first thread's frames, leaf first, a line each. A function
# that was inlined is no frame of its own, nor is one that left by jumping to the next.
gdb_chain() {
	cat >frames.py <<-'END'
		gdb.execute("set backtrace past-main on")
		frame = gdb.newest_frame()
		while frame:
		    if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
		        print("%x" % frame.pc())
		    frame = frame.older()
	END
	gdb -nx -q -batch -p "$1" -x frames.py 2>/dev/null | grep -xE '[0-9a-f]{6,16}'
}

# shown_chain FILE: the same frames as perf script shows them, without kernel frames.
shown_chain() {
	perf script -i "$1" -F ip,sym 2>/dev/null | grep -v '^[[:space:]]*ffff'
}

# same_chain GDB OURS: frame for frame, and so many frames at least.
same_chain() {
	diff "$1" "$2"
	[ "$(wc -l <"$1")" -ge "$3" ]
}

write_python() {
	cat >nested.py <<'END'
import sys, time
def bottom(s): time.sleep(s)
def middle(s): return [bottom(s) for _ in range(1)]
class Top:
    def __call__(self, s): return sorted([1], key=lambda x: middle(s) and 1)
Top()(float(sys.argv[1]))
END
}

@test "python3 that is still blocked: its chain is gdb's, frame for frame" {
	need_gdb
	write_python
	start /usr/bin/python3 nested.py 600
	until_true is_at "$target" nanosleep
	denet-record --call-graph dwarf,28672 -p "$target" -- sleep 0.2
	gdb_chain "$target" >gdb
	file_chain perf.data >ours
	same_chain gdb ours 10
	# The chains by frame pointers.
	denet-record --call-graph fp -o fp.data -p "$target" -- sleep 0.2
	[ "$(file_chain fp.data | wc -l)" -lt 5 ]
}

@test "python3 that has ended: the chain of its sleep is gdb's at that place" {
	need_gdb
	write_python
	start /usr/bin/python3 nested.py 600
	until_true is_at "$target" nanosleep
	gdb_chain "$target" >gdb
	denet-record --call-graph dwarf,32768 --off-cpu-thresh 0 -- \
		setarch -R /usr/bin/python3 nested.py 0.3
	file_chain perf.data >ours
	same_chain gdb ours 10
}

# bats test_tags=whole
@test "bash that reads, and one that waits for its child: the chains are gdb's" {
	need_gdb
	mkfifo gate
	exec 9<>gate
	start bash -c 'f() { read -r line; echo "$line"; }; g() { f; }; g; true' <gate
	until_true is_at "$target" pipe_read
	denet-record --call-graph dwarf -p "$target" -- sleep 0.1
	gdb_chain "$target" >gdb
	file_chain perf.data >ours
	same_chain gdb ours 8
	kill -KILL "$target"
	start bash -c 'f() { sleep 1000; true; }; f; true'
	until_true is_at "$target" do_wait
	denet-record --call-graph dwarf -p "$target" -- sleep 0.1
	gdb_chain "$target" >gdb
	file_chain perf.data >ours
	pkill -KILL -P "$target"
	same_chain gdb ours 6
}

# blocked_chain LEAST WHERE COMMAND…: its first thread, blocked there, has gdb's chain.
blocked_chain() {
	start "${@:3}"
	until_true is_at "$target" "$2"
	denet-record --call-graph dwarf,32768 -t "$target" -- sleep 0.3
	gdb_chain "$target" >gdb
	file_chain perf.data >ours
	kill -KILL "$target"
	same_chain gdb ours "$1"
}

# bats test_tags=whole
@test "C++, Rust and a server, as they are built without further ado: the chains are gdb's" {
	need_gdb
	blocked_chain 8 pause "$build/tests/unwind/nofp_cpp"
	[ ! -e "$build/tests/unwind/nofp_rs" ] || blocked_chain 4 futex "$build/tests/unwind/nofp_rs"
	# The tools of redis are one program with its server, which goes by its name.
	[ -x /usr/bin/redis-check-rdb ] || skip "no redis-tools here; C++ and Rust are right"
	blocked_chain 4 'epoll\|ep_poll' bash -c \
		'exec -a redis-server /usr/bin/redis-check-rdb --port 0 --hz 1 --unixsocket s --save ""' \
		>server.out
}

@test "--raw-stacks: perf itself unwinds, and finds the same frames" {
	write_python
	start /usr/bin/python3 nested.py 600
	until_true is_at "$target" nanosleep
	denet-record --call-graph dwarf,28672 -o own.data -p "$target" -- sleep 0.1
	denet-record --call-graph dwarf,28672 --raw-stacks -o raw.data -p "$target" -- sleep 0.1
	perf evlist -v -i raw.data | grep -q 'REGS_USER|STACK_USER'
	perf evlist -v -i own.data | refute grep -qE 'REGS_USER|STACK_USER'
	# It shows the address of a call where ours shows the one behind it, and inlined names.
	shown_chain own.data | awk 'NF && $2 ~ /^_?Py/ { print $2 }' >own
	shown_chain raw.data | awk 'NF && $2 ~ /^_?Py/ { print $2 }' >raw
	[ "$(wc -l <own)" -ge 8 ]
	diff own raw
}

@test "--raw-stacks: perf knows a COMMAND by its own files only, and unwinds it to its root" {
	write_python
	denet-record --call-graph dwarf,16384 --off-cpu-thresh 100ms --raw-stacks -- \
		/usr/bin/python3 nested.py 0.3
	# perf never drops the mappings that a process made before its exec.
	perf script --show-mmap-events 2>/dev/null | grep 'MMAP2.*r-xp' >maps
	[ "$(grep -c '/libc[.-]' maps)" = 1 ]
	refute grep -q '/denet' maps
	shown_chain perf.data | grep -q ' Py_BytesMain'
}

# record_by_tables OPTION…: records as is the default, and nothing is copied; skips the test where
# there are no tables, or where they come late.
record_by_tables() {
	run -0 denet-record -v "$@"
	need_tables "$output"
	[[ "$output" != *'begins before all unwind tables are made'* ]] || skip "too slow a machine"
	[ "$(copied)" = 0 ]
}

# blocked_by_tables LEAST WHERE COMMAND…: as blocked_chain, by tables.
blocked_by_tables() {
	start "${@:3}"
	until_true is_at "$target" "$2"
	record_by_tables -t "$target" -- sleep 0.3
	gdb_chain "$target" >gdb
	file_chain perf.data >ours
	kill -KILL "$target"
	same_chain gdb ours "$1"
}

@test "by tables, the default: who is still blocked has gdb's chain, and nothing is copied" {
	need_gdb
	[[ $(uname -r) != 5.* ]] || skip "before Linux 6.1 these stacks are copied"
	write_python
	blocked_by_tables 10 nanosleep /usr/bin/python3 nested.py 600
	blocked_by_tables 22 pause "$build/tests/unwind/nofp" nested
	[ ! -e "$build/tests/unwind/nofp_cpp" ] ||
		blocked_by_tables 8 pause "$build/tests/unwind/nofp_cpp"
	[ ! -e "$build/tests/unwind/nofp_rs" ] ||
		blocked_by_tables 4 futex "$build/tests/unwind/nofp_rs"
}

# ended_chain LEAST WHERE: the block of $target there that a stop has ended, the longest of the
# recording, has gdb's chain. None is still blocked at the end.
ended_chain() {
	until_true is_at "$target" "$2"
	gdb_chain "$target" >gdb
	until_true is_at "$target" "$2"
	record_by_tables --off-cpu-thresh 0 -t "$target" -- sh -c "
		sleep 0.3
		kill -STOP $target
		until grep -q 'State:.T' /proc/$target/status; do :; done
		kill -KILL $target
		while grep -qs 'State:.[^ZX]' /proc/$target/status; do :; done"
	[ "$(by_tables 1)" -ge 1 ]
	file_chain perf.data >ours
	same_chain gdb ours "$1"
}

# ended_by_tables LEAST WHERE COMMAND…: the same of a new process.
ended_by_tables() {
	start "${@:3}"
	ended_chain "$1" "$2"
}

@test "by tables, the default: a block that has ended has gdb's chain, and nothing is copied" {
	need_gdb
	write_python
	ended_by_tables 10 nanosleep /usr/bin/python3 nested.py 600
	ended_by_tables 6 pause "$build/tests/unwind/nofp" altstack
	[ ! -e "$build/tests/unwind/nofp_rs" ] ||
		ended_by_tables 4 futex "$build/tests/unwind/nofp_rs"
	# gdb takes its time: further programs are for check.sh --all.
	[ "${DENET_TEST_WHOLE:-0}" = 1 ] || return 0
	mkfifo gate
	exec 9<>gate
	ended_by_tables 8 pipe_read bash -c \
		'f() { read -r line <gate; echo "$line"; }; g() { f; }; g; true'
	ended_by_tables 22 pause "$build/tests/unwind/nofp" nested
	[ ! -e "$build/tests/unwind/nofp_cpp" ] ||
		ended_by_tables 8 pause "$build/tests/unwind/nofp_cpp"
}

clean_up() {
	[ -z "${database:-}" ] || end_database
}

# The process of PostgreSQL that the session of the name idle has: $target.
find_idle_session() {
	target=$(sql "select pid from pg_stat_activity where application_name = 'idle'")
	[ -n "$target" ]
}

# bats test_tags=whole
@test "by tables, the default: redis-server, Node and PostgreSQL have gdb's chains as well" {
	need_gdb
	if [ -x /usr/bin/redis-check-rdb ]; then
		ended_by_tables 4 'epoll\|ep_poll' bash -c \
			'exec -a redis-server /usr/bin/redis-check-rdb --port 0 --hz 1 --unixsocket s --save ""' \
			>server.out
	fi
	if command -v node; then
		ended_by_tables 8 'epoll\|ep_poll' node -e 'setInterval(() => {}, 1e6)'
	fi
	begin_database
	mkfifo statements
	PGAPPNAME=idle psql -q -h "$database" -U postgres postgres <statements >/dev/null 2>&1 3>&- &
	exec 9>statements
	until_true find_idle_session
	ended_chain 8 'epoll\|ep_poll'
}

# in_code ADDRESS: one of the ranges in the file code holds it.
in_code() {
	local range

	while read -r range; do
		((0x$1 >= 0x${range%-*} && 0x$1 <= 0x${range#*-})) && return 0
	done <code
	echo "$1 is in no code"
	return 1
}

@test "garbage that frame pointers lead to is in no chain" {
	start bash -c 'f() { sleep 1000; true; }; f; true'
	until_true is_at "$target" do_wait
	run -0 denet-record -v -p "$target" -- sleep 0.1
	[[ "$output" == *'chains by frame pointers that ended in garbage, cut: '* ]]
	awk '$2 ~ /x/ { print $1 }' "/proc/$target/maps" >code
	pkill -KILL -P "$target"
	file_chain perf.data >ours
	[ -s ours ]
	while read -r address; do
		in_code "$address"
	done <ours
}

# all_wait PID N: it has N threads, and each of them waits for a futex.
all_wait() {
	local wchan

	[ "$(ls "/proc/$1/task" | wc -l)" = "$2" ] || return 1
	for wchan in "/proc/$1/task"/*/wchan; do
		grep -q futex "$wchan" || return 1
	done
}

# chain_of TID: how many user frames its sample has.
chain_of() {
	perf script -i perf.data --tid "$1" -F ip 2>/dev/null |
		awk 'NF && $1 !~ /^ffff/ { nr++ } END { print nr + 0 }'
}

@test "threads of python3 that hold each the other's lock have their frames, both of them" {
	cat >deadlock.py <<'END'
import threading
a, b, both = threading.Lock(), threading.Lock(), threading.Barrier(2)
def take(first, second):
    with first:
        both.wait()
        with second: pass
for pair in (a, b), (b, a): threading.Thread(target=take, args=pair).start()
END
	start /usr/bin/python3 deadlock.py
	until_true all_wait "$target" 3
	denet-record --call-graph dwarf,16384 -p "$target" -- sleep 0.2
	for thread in "/proc/$target/task"/*; do
		[ "$(chain_of "${thread##*/}")" -ge 8 ]
	done
}

# build_s32 SECONDS: the program s32, of 32 bits, naps five times, and then for so long.
build_s32() {
	cat >s32.c <<'END'
struct time { int s, ns; };
static void call(int nr, const void *a, const void *b)
{
	__asm__ volatile("int $0x80" : "+a"(nr) : "b"(a), "c"(b) : "memory");
}
__attribute__((noinline)) void take_nap(int s)
{
	struct time time = { s, 10000000 };
	call(162, &time, 0);
}
__attribute__((noinline)) void nap_last(void)
{
	take_nap(LAST);
}
void _start(void)
{
	for (int i = 0; i < 5; i++)
		take_nap(0);
	nap_last();
	call(1, 0, 0);
}
END
	gcc -m32 -O1 -fno-pie -static -nostdlib -fno-stack-protector -fno-omit-frame-pointer \
		-fno-optimize-sibling-calls -DLAST="$1" -o s32 s32.c 2>err ||
		skip "no compiler for 32 bits"
	# It ends, or has to be ended.
	run timeout -s KILL 0.1 ./s32
	[ "$status" = 137 ] || [ "$status" = 0 ] || skip "this kernel runs no 32-bit programs"
}

@test "a 32-bit program is said to be one, and has its frame pointers" {
	build_s32 0
	run -0 denet-record -v --call-graph dwarf --off-cpu-thresh 0 -- ./s32
	# It may wait before it is that program, and in it elsewhere than in its naps.
	perf script -F comm,event,ip,sym >script
	naps_there=$(awk '/^s32/ && /take_nap/ { n++ } END { print n + 0 }' RS= script)
	copied=$(sed -n 's/.*user stacks: \([0-9]*\) copied.*/\1/p' <<<"$output")
	refused=$(sed -n 's/.* \([0-9]*\) of 32-bit tasks.*/\1/p' <<<"$output")
	echo "$naps_there naps, $refused refused, $copied copied"
	[ "$naps_there" -ge 1 ]
	[ "$refused" -ge "$naps_there" ]
	[ "$copied" -le $(($(samples) - refused)) ]
}

# in_last_nap PID: it has had the five short ones.
in_last_nap() {
	local switches

	switches=$(awk '/^voluntary/ { print $2 }' "/proc/$1/status")
	[ "$switches" -ge 6 ] && is_at "$1" nanosleep
}

@test "a 32-bit program that is still blocked is said to be one, and has its frame pointers" {
	build_s32 600
	start ./s32
	until_true in_last_nap "$target"
	run -0 denet-record -v --call-graph dwarf -p "$target" -- sleep 0.1
	[[ "$output" == *' 1 of 32-bit tasks'* ]]
	perf script -F ip,sym | awk 'NF && $1 !~ /^ffff/ { print $2 }' >ours
	diff ours - <<<$'take_nap\nnap_last\n_start'
}

@test "--call-graph auto,BYTES: who has no frame pointers is found and unwound, who has some is not" {
	cat >naps.py <<'END'
import time
for i in range(300): time.sleep(0.001)
time.sleep(0.3)
END
	run -0 denet-record -v --call-graph auto,8192 --off-cpu-thresh 0 --window 100ms -- \
		/usr/bin/python3 naps.py
	[[ "$output" == *': chains along its frame pointers end early; '* ]]
	# The last sleep, long after it was found.
	file_chain perf.data >ours
	[ "$(wc -l <ours)" -ge 8 ]
	run -0 denet-record -v --call-graph auto,8192 --off-cpu-thresh 0 -- "$naps" 2 50 10
	[[ "$output" != *'frame pointers end early'* ]]
	[[ "$output" == *'user stacks: 0 copied'* ]]
}

@test "--capture switch-out has no copies, says so, and follows frame pointers" {
	run -0 denet-record --capture switch-out --call-graph dwarf -- "$naps" 1 5 10
	[[ "$output" == *'no copies of user stacks: '*'switch-out'*'frame pointers are used'* ]]
	[ "$(samples)" -ge 1 ]
}

@test "wrong sizes and modes are refused in perf's words" {
	run -2 denet-record --call-graph dwarf,65536 -- true
	[[ "$output" == *'ncorrect stack dump size (max 65528)'* ]]
	run -2 denet-record --call-graph dwarf,x -- true
	[[ "$output" == *'ncorrect stack dump size (max 65528)'* ]]
	run -2 denet-record --call-graph lbr -- true
	[[ "$output" == *'must be fp, auto[,BYTES], tables or dwarf[,BYTES]'* ]]
	run -2 denet-record --raw-stacks -- true
	[[ "$output" == *'--raw-stacks needs --call-graph dwarf'* ]]
	[ ! -e perf.data ]
}
