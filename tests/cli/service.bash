# SPDX-License-Identifier: GPL-2.0-only
# Services that are slow for a known reason, and what is seen of them first.

# begin_service KIND [PATH]: tests/workloads/service; $target is its PID.
begin_service() {
	"$service" "$@" >said 3>&- &
	target=$!
	until_true grep -q READY said
}

# begin_service_in_group KIND: the same in the cgroup $group.
begin_service_in_group() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$service" "$@" >said 3>&- &
	target=$!
	until_true grep -q READY said
}

# is_slow: its thread has been off its CPU for a tenth of its last second at least.
is_slow() {
	until_true tells 5
	awk '$1 == "truth-ms" && ++n == 5 { print; exit !($2 >= 50) }' said
}

tells() {
	[ "$(grep -c truth-ms said)" -ge "$1" ]
}

# has_thread PID COMM: it has a thread of that name.
has_thread() {
	cat /proc/"$1"/task/*/comm 2>/dev/null | grep -qx "$2"
}

# How long look_at records.
look_until=(sleep 1)

# look_at OPTION…: records so long with these options alone. The words are in err, what the told
# command shows in told. What perf shows first, in 25 lines each, is in screen: without children, with
# callchains, as --stdio prints them, and without, as they are folded on a terminal. The same of a report
# without options, which perf sorts by children, is in plain (100 lines with callchains, since those by
# unwind tables go down to main()) and plain.list.
look_at() {
	local next

	denet-record -o case.data "$@" -- "${look_until[@]}" 2>err
	cat err
	next=$(sed -n '$s/^\[ next: \(.*\) \]$/\1/p' err)
	[[ "$next" == "denet-report"* ]]
	bash -c "$next" >told
	cat told
	perf report -i case.data --no-children --stdio 2>screen.err | head -25 >screen
	perf report -i case.data --no-children --stdio -g none 2>screen.err | head -25 >>screen
	cat screen
	perf report -i case.data --stdio 2>screen.err | head -100 >plain
	perf report -i case.data --stdio -g none 2>screen.err | head -25 >plain.list
	cat plain
}

# shows PATTERN: the last lines have it, or the screens do: that of the told command, and those of perf,
# also of a report without options.
shows() {
	shows_told "$1"
	tail -6 err | grep -q "$1" || cat plain plain.list | grep "$1" ||
		{ echo "no $1 where a report without options begins" >&2; return 1; }
}

# shows_told PATTERN: the last lines have it, or what the told command and perf without children show
# first. For services whose idle threads are in the file with more time, which perf shows first when it
# sorts by children.
shows_told() {
	local shown

	tail -6 err | grep "$1" && return
	for shown in told screen; do
		grep "$1" $shown || { echo "no $1 in $shown" >&2; return 1; }
	done
}

# begin_database [SETTING]: a PostgreSQL of our own; $database is the folder of its socket.
# Its commits are not flushed to the disk, unless SETTING says otherwise.
begin_database() {
	database_bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
	[ -x "$database_bin/postgres" ] || skip "no PostgreSQL: sudo scripts/deps.sh test"
	database=$(mktemp -d /tmp/denet-pg.XXXXXX)
	chown postgres "$database"
	as_postgres "$database_bin/initdb" -D "$database/data" -A trust --no-sync >initdb.log 2>&1
	as_postgres "$database_bin/pg_ctl" -D "$database/data" -w -l "$database/log" \
		-o "-k $database -h '' -c fsync=off ${1:+-c $1}" start >start.log 2>&1 3>&-
	sql 'create table accounts (id int primary key, n int); insert into accounts values (1, 0)'
}

as_postgres() {
	setpriv --reuid=postgres --regid=postgres --clear-groups env HOME=/tmp "$@"
}

end_database() {
	as_postgres "$database_bin/pg_ctl" -D "$database/data" -m immediate stop >/dev/null 2>&1 || true
	rm -rf "$database"
}

sql() {
	PGOPTIONS='' psql -q -At -h "$database" -U postgres -c "$1" postgres
}

# hold_row SECONDS: a session keeps a row locked, and does nothing.
hold_row() {
	{
		echo 'begin; update accounts set n = n + 1 where id = 1; \! touch held'
		until_true [ -e held ]
		sleep "$1"
		echo 'commit;'
	} | psql -q -h "$database" -U postgres postgres >/dev/null 2>&1 3>&- &
	until_true [ -e held ]
}

ask_row() {
	sql 'update accounts set n = n + 1 where id = 1' 2>/dev/null 3>&-
}

# waiting_sessions N: so many sessions wait for locks.
waiting_sessions() {
	[ "$(sql "select count(*) from pg_stat_activity where wait_event_type = 'Lock'")" -ge "$1" ]
}

# make_memory_group SIZE: a cgroup, $group, that may use so much memory.
make_memory_group() {
	local v1 v2

	v1=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/mounts)
	v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	if [ -n "$v1" ]; then
		mkdir "$v1/denet-test-$$" && group=$v1/denet-test-$$
		echo "$1" >"$group/memory.limit_in_bytes"
	elif [ -n "$v2" ] && { echo +memory >"$v2/cgroup.subtree_control"; } 2>/dev/null; then
		mkdir "$v2/denet-test-$$" && group=$v2/denet-test-$$
		echo "$1" >"$group/memory.max"
	else
		skip "no cgroup with the memory controller"
	fi
}

# make_swap: swap space, if the machine has none: $swap, a file.
make_swap() {
	[ -e /proc/swaps ] || skip "a kernel without swap"
	[ "$(wc -l </proc/swaps)" -le 1 ] || return 0
	dd if=/dev/zero of="$PWD/swap" bs=1M count=256 status=none
	chmod 600 "$PWD/swap"
	mkswap "$PWD/swap" >mkswap.log && swapon "$PWD/swap" 2>>mkswap.log ||
		skip "no swap: $(tail -1 mkswap.log)"
	swap=$PWD/swap
}

# end_case: ends what a case has started. Processes go first, then what held them.
end_case() {
	[ -z "${target:-}" ] || kill -KILL "$target" 2>/dev/null || true
	[ -z "${hog:-}" ] || kill -KILL "$hog" 2>/dev/null || true
	[ -z "${database:-}" ] || end_database
	[ -z "${group:-}" ] || until_true rmdir "$group"
	[ -z "${swap:-}" ] || swapoff "$swap"
}

# How long a thread may wait under the quota of make_quota: another CPU may have used up the next
# period before its threads run.
# shellcheck disable=SC2034 # for those who load this file
quota_wait_ns=200000000

# make_quota: a cgroup, $group, that may use a twentieth of a CPU: even a service that gets little of a
# busy machine uses that up. look_at then records until it has been throttled five times.
make_quota() {
	local v1 v2

	v1=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { print $2; exit }' /proc/mounts)
	v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	if [ -n "$v1" ]; then
		mkdir "$v1/denet-test-$$" && group=$v1/denet-test-$$
		echo 100000 >"$group/cpu.cfs_period_us"
		echo 5000 >"$group/cpu.cfs_quota_us" || skip "no CPU quota on this machine"
	elif [ -n "$v2" ] && echo +cpu >"$v2/cgroup.subtree_control"; then
		mkdir "$v2/denet-test-$$" && group=$v2/denet-test-$$
		echo '5000 100000' >"$group/cpu.max" || skip "no CPU quota on this machine"
	else
		skip "no cgroup with the cpu controller"
	fi
	look_until=(bash "$BATS_TEST_DIRNAME/../cli/throttled.sh" "$group" 5)
}
