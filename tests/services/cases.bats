#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The cases of tests/cli/cases.bats that have workloads of ours there, with packaged services: each
# is recorded with nothing but its target named, and what holds it up is on the first screens.

load ../cli/lib
load ../cli/service

prepare() {
	unset SUDO_UID
}

teardown() {
	end_case
	# Killed, it would leave its worker behind.
	[ -z "${nginx:-}" ] || { kill "$nginx" && until_true gone "$nginx"; }
	end_started
}

# begin_redis OPTION…: a redis-server that listens on redis.sock; $target is its PID.
begin_redis() {
	command -v redis-server >/dev/null || skip "no redis-server: sudo scripts/deps.sh test"
	"${redis_prefix[@]}" redis-server --port 0 --unixsocket "$PWD/redis.sock" \
		--enable-debug-command yes --dir "$PWD" "$@" >redis.log 2>&1 3>&- &
	target=$!
	until_true redis-cli -s redis.sock ping >/dev/null 2>&1
}

# ask_redis COMMAND…: clients that ask it this again and again, for a minute at most.
ask_redis() {
	timeout 60 redis-benchmark -s redis.sock -q -c 2 -n 100000000 "$@" >/dev/null 2>&1 3>&- &
}

# Bash with set -u has no empty arrays.
redis_prefix=(env)

@test "PostgreSQL: a deadlock" {
	begin_database deadlock_timeout=60s
	sql 'insert into accounts values (2, 0)'
	mkfifo one two
	for each in 'one 1 2' 'two 2 1'; do
		read -r fifo first second <<<"$each"
		psql -q -h "$database" -U postgres postgres <"$fifo" >/dev/null 2>&1 3>&- &
	done
	exec 5>one 6>two
	echo 'begin; update accounts set n = 1 where id = 1; \! touch first' >&5
	echo 'begin; update accounts set n = 2 where id = 2; \! touch second' >&6
	until_true [ -e first ]
	until_true [ -e second ]
	echo 'update accounts set n = 1 where id = 2;' >&5
	echo 'update accounts set n = 2 where id = 1;' >&6
	until_true waiting_sessions 2
	look_at -u postgres
	exec 5>&- 6>&-
	shows 'ProcSleep\|LockAcquire'
	grep 'ProcSleep\|LockAcquire' plain
}

@test "PostgreSQL: a query that waits for another server" {
	begin_database
	sql 'create extension dblink' || skip "no dblink with this PostgreSQL"
	sql "select * from dblink('host=$database user=postgres dbname=postgres',
		'select 1 from pg_sleep(20)') as answer(n int)" >/dev/null 2>&1 3>&- &
	until_true asks_itself
	look_at -p "$(sql "select pid from pg_stat_activity where query like '%dblink%'
		and pid <> pg_backend_pid()")"
	# It is a function of the query that waits for a socket, in dblink, which has no symbols on Debian.
	for function in WaitLatchOrSocket ExecMakeTableFunctionResult; do
		grep " $function\$" screen
		grep " $function\$" plain
	done
	perf script -i case.data -F ip,sym,dso 2>/dev/null | grep '/dblink\.so'
}

asks_itself() {
	[ "$(sql "select count(*) from pg_stat_activity where query like 'select 1 from pg_sleep%'")" = 1 ]
}

@test "PostgreSQL: commits that are flushed to disk" {
	begin_database fsync=on
	sql 'create table log (n int)'
	echo 'insert into log values (1);' >script
	timeout 60 "$database_bin/pgbench" -n -h "$database" -U postgres -c 2 -T 50 -f script \
		postgres >bench 2>&1 3>&- &
	until_true has_committed 20
	look_at -u postgres
	grep '^\[ uninterruptible (state D.*first postgres in f\(data\)\?sync, ' err
	shows_told 'XLogFlush\|fdatasync\|jbd2_\|io_schedule\|XLogWrite'
}

has_committed() {
	[ "$(sql 'select count(*) from log')" -gt "$1" ]
}

@test "redis: an append-only file that is flushed at each command" {
	begin_redis --save '' --appendonly yes --appendfsync always
	ask_redis -t set
	until_true is_flushing "$target"
	look_at -p "$target"
	# Its idle threads have the most time, so that their callchains fill the first screen.
	grep '^\[ .* threads that were blocked from begin to end: .*-g none.* redis-server in fdatasync, ' err
	grep '^\[ uninterruptible (state D.*first redis-server in fdatasync, ' err
	shows_told 'redis-server.*\(the disk (fdatasync)\|jbd2_\|io_schedule\|bit_wait\|folio_wait\|blk_\)'
}

is_flushing() {
	grep -q 'jbd2\|folio\|bit_wait\|io_schedule\|blk\|writeback' "/proc/$1/wchan"
}

@test "nginx: requests that wait for a slow backend" {
	command -v nginx >/dev/null || skip "no nginx: sudo scripts/deps.sh services"
	cat >backend.py <<-'END'
		import http.server, time

		class Slow(http.server.BaseHTTPRequestHandler):
		    def do_GET(self):
		        time.sleep(0.3)
		        self.send_response(200)
		        self.end_headers()

		server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
		print(server.server_port, flush=True)
		server.serve_forever()
	END
	python3 backend.py >port 2>backend.log 3>&- &
	until_true grep -q . port
	cat >nginx.conf <<-END
		daemon off;
		user root;
		worker_processes 1;
		error_log $PWD/nginx.err;
		pid $PWD/nginx.pid;
		events {}
		http {
			access_log off;
			client_body_temp_path $PWD/body;
			proxy_temp_path $PWD/proxy;
			fastcgi_temp_path $PWD/fastcgi;
			uwsgi_temp_path $PWD/uwsgi;
			scgi_temp_path $PWD/scgi;
			server {
				listen unix:$PWD/nginx.sock;
				location / { proxy_pass http://127.0.0.1:$(cat port); }
			}
		}
	END
	nginx -e "$PWD/nginx.err" -c "$PWD/nginx.conf" 3>&- &
	nginx=$!
	until_true [ -S nginx.sock ]
	command -v curl >/dev/null || skip "no curl: sudo scripts/deps.sh services"
	timeout 60 sh -c 'while curl -s -o reply --unix-socket nginx.sock http://localhost/; do :; done' \
		3>&- &
	until_true [ -e reply ]
	# An event loop waits for all of its sockets in one place, so no callchain has the backend. The
	# last lines say which option tells it.
	look_at -p "$(pgrep -P "$nginx" | head -1)"
	grep 'nginx .*epoll_wait' screen
	grep '^\[ [0-9]* % of the time is in epoll_wait, .*--reason tells' err
	look_at --reason -p "$(pgrep -P "$nginx" | head -1)"
	perf script -i case.data 2>script.err >script
	cat script
	grep 'epoll_wait .*peer 127.0.0.1:'"$(cat port)" script
}

@test "redis beside a CPU hog" {
	redis_prefix=(taskset -c 0)
	begin_redis --save ''
	taskset -c 0 sh -c 'while :; do :; done' 3>&- &
	hog=$!
	ask_redis -t get
	look_at -p "$target"
	grep 'runnable' err
}

@test "redis in a cgroup without CPU quota left" {
	make_quota
	begin_redis --save ''
	echo "$target" >"$group/cgroup.procs"
	ask_redis -t get
	until_true is_throttled
	look_at -v -p "$target"
	! grep -q 'not shown by this kernel' err || skip "this kernel does not show it"
	grep 'throttled by a CPU quota' err
	kill -KILL "$target"
	wait "$target" || true
}

is_throttled() {
	awk '$1 == "nr_throttled" { n = $2 } END { exit !(n > 3) }' "$group/cpu.stat"
}

@test "redis in a cgroup that has swapped" {
	make_swap
	make_memory_group 40M
	# shellcheck disable=SC2016 # expanded by the inner shell
	redis_prefix=(sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group")
	begin_redis --save ''
	redis-cli -s redis.sock debug populate 200000 key 300 >/dev/null
	grep -q 'VmSwap:.* [1-9]' "/proc/$target/status"
	# It reads all keys and values, again and again.
	timeout 60 sh -c 'while redis-cli -s redis.sock debug digest; do :; done' >/dev/null 2>&1 3>&- &
	look_at -p "$target"
	shows_told 'redis-server.*\(swap\|folio_wait\|io_schedule\)'
	# Its group may have run out of memory since.
	kill -KILL "$target" || true
	wait "$target" || true
}

@test "Python: a service that reads cold pages of a mapped file" {
	command -v python3 >/dev/null || skip "no python3: sudo scripts/deps.sh services"
	cat >cold.py <<-'END'
		import mmap, os, random

		path = "data"
		size = 64 << 20
		with open(path, "wb") as file:
		    for i in range(64):
		        file.write(os.urandom(1 << 20))
		    file.flush()
		    os.fsync(file.fileno())
		file = open(path, "rb")
		memory = mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ)
		memory.madvise(mmap.MADV_RANDOM)
		print("READY", flush=True)
		while True:
		    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
		    memory.madvise(mmap.MADV_DONTNEED)
		    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
		    for i in range(1000):
		        memory[random.randrange(size)]
	END
	python3 cold.py >said 3>&- &
	target=$!
	until_true grep -q READY said
	look_at -p "$target"
	[ "$(perf report -i case.data --stdio -g none -F period 2>/dev/null |
		awk '$1 + 0 { ns += $1 } END { printf "%d", ns / 1e6 }')" -gt 50 ] ||
		skip "pages of this file system are never cold"
	# Python's mmap has names of functions only where it is not stripped.
	shows 'python3  the disk  *\(mmap_subscript\|_PyEval_EvalFrameDefault\)\|filemap_fault\|folio_wait'
}

@test "redis in a container with a PID namespace" {
	redis_prefix=(unshare -pf --mount-proc --kill-child)
	begin_redis --save ''
	redis-cli -s redis.sock debug sleep 10 >/dev/null 3>&- &
	inner=$(pgrep -P "$target")
	until_true is_at "$inner" nanosleep
	look_at -p "$inner"
	shows 'redis-server .*nanosleep'
}
