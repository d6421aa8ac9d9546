#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What holds services up in practice. Each is recorded with nothing but its target named; then the
# first screen of a report without options and that of the command that the last line tells are to
# show the cause, or the last lines are. Services that lack a resource are in
# tests/load/shortage.bats.
# tests: parallel

load lib
load service

prepare() {
	service=$build/tests/workloads/service
	unset SUDO_UID
}

clean_up() {
	end_case
}

@test "PostgreSQL: sessions that wait for a row lock" {
	begin_database
	hold_row 6
	# More than the daemons of one kind, be there another cluster as well.
	for ((i = 0; i < 3; i++)); do
		ask_row &
	done
	until_true waiting_sessions 3
	look_at -u postgres
	shows 'ProcSleep\|LockAcquire'
	grep 'ProcSleep\|LockAcquire' plain
}

# bats test_tags=whole
@test "PostgreSQL: a convoy behind one row" {
	begin_database
	# Each transaction holds the row for a while, so that there is a queue on any CPU.
	printf '%s\n' 'begin;' 'update accounts set n = n + 1 where id = 1;' '\sleep 20 ms' 'commit;' \
		>script
	"$database_bin/pgbench" -n -h "$database" -U postgres -c 6 -T 4 -f script postgres >bench 2>&1 3>&- &
	until_true waiting_sessions 2
	look_at -u postgres
	shows 'ProcSleep\|LockAcquire'
	grep 'ProcSleep\|LockAcquire' plain
}

@test "redis: a command that holds all clients up" {
	command -v redis-server >/dev/null || skip "no redis-server: sudo scripts/deps.sh test"
	redis-server --port 0 --unixsocket "$PWD/redis.sock" --enable-debug-command yes --save '' \
		--dir "$PWD" >redis.log 2>&1 3>&- &
	target=$!
	until_true redis-cli -s redis.sock ping >/dev/null 2>&1
	redis-cli -s redis.sock debug sleep 8 >/dev/null 3>&- &
	until_true is_at "$target" nanosleep
	look_at -p "$target"
	shows 'redis-server .*nanosleep'
}

# bats test_tags=whole
@test "a deadlock" {
	mkfifo go
	"$build/tests/workloads/deadlock" --limit 60 <go >said 3>&- &
	target=$!
	exec 4>go
	until_true grep -q READY said
	look_at -p "$target"
	exec 4>&-
	shows 'lock-ab .*futex'
}

@test "a request that waits for a slow backend" {
	begin_service backend
	look_at -p "$target"
	shows ask_backend
	shows '^ .*handler'
}

@test "a request that is flushed to disk" {
	begin_service fsync "$PWD/log"
	is_slow || skip "fsync takes no time on this file system"
	look_at -p "$target"
	shows flush_log
}

@test "a request that reads cold pages" {
	begin_service mmap "$PWD/data"
	is_slow || skip "pages of this file system are never cold"
	look_at -p "$target"
	shows read_cold
}

# bats test_tags=whole
@test "a service in a PID-namespaced container" {
	unshare -pf --mount-proc --kill-child "$service" backend >said 3>&- &
	target=$!
	until_true grep -q READY said
	look_at -p "$(pgrep -P "$target")"
	shows ask_backend
}

@test "a program without frame pointers is named with its share of time, and what helps" {
	"$build/tests/unwind/nofp" threads >/dev/null 3>&- &
	target=$!
	until_true is_at $target futex
	# Less than a second in all is not worth a line.
	denet-record --call-graph fp -o case.data -p $target -- sleep 1 2>err
	kill $target
	cat err
	grep -E 'user stacks of nofp \(pid [0-9]+\) end early in [0-9]+ % of its .*--call-graph auto' err
	denet-record -o case.data -- "$naps" 2 10 20 2>err
	refute grep 'end early' err
}
