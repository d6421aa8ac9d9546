#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# --off-cpu-hist: how long blocks are, what a threshold would cost, and no file.
# tests: parallel

load lib

needs=root

clean_up() {
	[ ! -e perf.data ]
}

# asleep PID: all of its threads are.
asleep() {
	! grep -h '^State:' /proc/"$1"/task/*/status | grep -qv 'S (sleeping)'
}

# attached PID: it has its BPF programs where they belong, and waits for an end.
attached() {
	[ "$(bpf_objects "$1" | grep -c '^link ')" -ge 4 ] && asleep "$1"
}

# start_watch OPTION…: in the background; $watcher is its PID.
start_watch() {
	denet-record --off-cpu-hist "$@" >out 2>err 3>&- &
	watcher=$!
	until_true attached "$watcher"
}

# thresholds: the lines of the table, "THRESHOLD SAMPLES/S MB/MINUTE BLOCKS TIME"; 100 for "> 99.9".
thresholds() {
	awk '/^--off-cpu-thresh/ { on = 1; next } !NF { on = 0 } on' |
		sed 's/(default)//; s/> 99.9/100/g; s/< 0.1/0/g; s/[%,]//g'
}

@test "the naps of a command are in the lines of their length" {
	need_perf
	# Both recorders see each of the blocks, so the length of a nap need not be known.
	run -0 --separate-stderr denet-record -q -o each.data --off-cpu-thresh 0 --state S \
		--max-overhead 0 -- \
		denet-record --off-cpu-hist -- "$naps" 2 20 20
	[ -z "$stderr" ]
	[[ "$output" == *READY*'blocks ended within '*'state S, asleep: '* ]]
	long=$(perf script -i each.data -F comm,period,event |
		awk '/^ *nap/ && $2 >= 16e6 { n++ } END { print n + 0 }')
	echo "$output" | awk -v long="$long" '
		/^state S/ { on = 1 }
		!NF { on = 0 }
		on && $2 == "ms" && $1 >= 16 || on && $2 == "s" { n += $6 }
		END { print n, "of", long; exit !(n >= 20 && n >= long - 1 && n <= long + 1) }'
}

@test "a larger threshold means fewer samples, and more that is added up" {
	denet-record --off-cpu-hist --state all -- "$naps" 2 20 20 >out
	thresholds <out >table
	[ "$(wc -l <table)" -ge 3 ]
	head -1 table | awk '{ exit !($1 == "0" && $2 > 0 && $4 == 0 && $5 == 0) }'
	tail -1 table | awk '{ exit !($2 == 0 && $4 == 100 && $5 == 100) }'
	awk 'NR > 1 && ($2 > rate || $4 < blocks || $5 < time) { bad = 1 }
		{ rate = $2; blocks = $4; time = $5 } END { exit bad }' table
	grep -q '(default) 500ms' out
	grep -q '^below 1,000 samples/s: --off-cpu-thresh ' out
	awk 'length > 80 { print; bad = 1 } END { exit bad }' out
}

@test "a recording with a threshold of the table has the samples that it tells" {
	command -v python3 >/dev/null || skip "no python3"
	need_perf
	# Both see the same blocks, but for the one that each of them finds at its start. A shorter block
	# that meets a table which is not there yet goes with a copy of its stack, and would be direct.
	mkfifo go
	start_target sh -c "read x <go; exec '$naps' 2 30 20"
	start_watch -p "$target" --json
	start_recording -v -B -p "$target" --off-cpu-thresh 16ms --call-graph fp
	echo >go
	wait "$watcher"
	finish_recording
	[ "$status" = 0 ]
	told=$(python3 -c 'import json
rows = json.load(open("out"))["thresholds"]
print([r["direct_blocks"] for r in rows if r["threshold_ns"] <= 16000000][-1])')
	direct=$(sed -n 's/.* samples (\([0-9]*\) direct,.*/\1/p' live.err)
	echo "$told told, $direct recorded"
	[ "$told" -ge 30 ]
	equal_within "$told" "$direct" 1
}

@test "JSON is alone on stdout, and its parts add up" {
	command -v python3 >/dev/null || skip "no python3"
	run -0 --separate-stderr denet-record --off-cpu-hist --json -- "$naps" 2 10 10
	[[ "$stderr" == *READY* ]]
	echo "$output" | python3 -c 'import json, sys
doc = json.load(sys.stdin)
assert doc["lost"] == 0
for part in doc["states"] + [doc["still_blocked"]]:
    for key in "blocks", "ns":
        assert part[key] == sum(b[key] for b in part["buckets"])
    for b in part["buckets"]:
        assert b["from_ns"] * b["blocks"] <= b["ns"]
        assert "to_ns" not in b or b["ns"] < b["to_ns"] * b["blocks"]
for row in doc["thresholds"]:
    for key in "blocks", "ns":
        assert row["direct_" + key] + row["summed_" + key] == sum(s[key] for s in doc["states"])'
}

@test "-q prints the tables only, -v the accounts, and they add up" {
	run -0 --separate-stderr denet-record -q --off-cpu-hist -- "$naps" 1 3 10
	[ -z "$stderr" ]
	[[ "$output" != *'is taken to have'* ]]
	[[ "$output" == *'(default) 500ms'* ]]
	run -0 --separate-stderr denet-record -v --off-cpu-hist -- "$naps" 4 50 2
	echo "$stderr" | grep '+ in the histogram'
	echo "$stderr" | awk '
		$2 == "seen" { count = $3; ns = $4 }
		$2 == "=" || $2 == "+" { counts += $(NF - 1); nss += $NF }
		END { exit !(count > 0 && count == counts && ns == nss) }'
}

@test "the status is the command's, and one that cannot be run is an error" {
	run -7 denet-record --off-cpu-hist -- sh -c 'exit 7'
	run -0 denet-record -a --off-cpu-hist -- true
	run -1 --separate-stderr denet-record --off-cpu-hist -- ./no-such-program
	[[ "$stderr" == *no-such-program* ]]
	[ -z "$output" ]
}

@test "Ctrl-C ends it, and threads that are still blocked are told apart" {
	start_target "$naps" 2 1 60000
	until_true grep -q READY target.out
	until_true asleep "$target"
	start_watch -p "$target"
	kill -INT "$watcher"
	wait "$watcher"
	cat out err
	grep -q '^still blocked at the end: 3 threads, .*; of these, 3 never ran$' out
	[ ! -s err ]
	refute gone "$target"
}

@test "-p ends with its target" {
	mkfifo go
	start_target sh -c "read x <go; exec '$naps' 1 5 10"
	start_watch -p "$target"
	echo >go
	wait "$watcher"
	grep -q -e '--off-cpu-thresh' out
	[ "$(cat target.out)" = READY ]
	until_true gone "$target"
}

@test "blocks count from -D on, and the way of switch-out counts, too" {
	run -0 --separate-stderr denet-record --off-cpu-hist -D 60000 -- true
	[[ "$stderr" == *'before the delay'* ]]
	[[ "$output" == '0 blocks ended within '* ]]
	run -0 denet-record --off-cpu-hist -D 1 --capture switch-out -- "$naps" 1 10 20
	[[ "$output" == *'state S, asleep: '* ]]
}

@test "a stdout that is full is an error" {
	run -1 sh -c 'denet-record -q --off-cpu-hist -- sleep 0.01 >/dev/full'
	[[ "$output" == *'cannot write to stdout: No space left on device'* ]]
}

@test "on a terminal a line counts the blocks each second, and leaves no trace in the table" {
	script -qec "denet-record --off-cpu-hist -- '$naps' 2 60 25" /dev/null >tty </dev/null 3>&- &
	first=$!
	script -qec "denet-record -q --off-cpu-hist -- '$naps' 2 60 25" /dev/null >quiet </dev/null 3>&- &
	second=$!
	denet-record --off-cpu-hist -- "$naps" 2 60 25 2>err
	wait $first
	wait $second
	grep -q '\[ denet-record: 1 s, [1-9][0-9,]* blocks, 0 lost \]' tty
	# It is erased, not left above the table, whose first line begins where it began.
	sed 's/.*\r\x1b\[K//' tty | grep -q '^[0-9,]* blocks ended within '
	refute grep -q 'denet-record:' quiet
	[ ! -s err ]
}
