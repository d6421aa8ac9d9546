#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-report shows what perf shows of the same file: sums to the ns, and the names of functions.
# tests: parallel

load lib

export PYTHONPATH=$BATS_TEST_DIRNAME/../common PYTHONDONTWRITEBYTECODE=1

setup_file() {
	export RICH=$BATS_FILE_TMPDIR/rich.data
	cd "$BATS_FILE_TMPDIR" || return 1
	[ "$(id -u)" = 0 ] || return 0
	load lib
	cat >rich.sh <<-END
		"$build/tests/workloads/waits" --count 10 --ms 5
		"$build/tests/workloads/forks" --count 20
		"$build/tests/workloads/threads" --count 20
		sh -c 'exec $naps 2 5 5'
		find /usr/include -name 'a*' | sort | tail -1
	END
	"$build/denet-record" --off-cpu-thresh 5ms --state all --split-runqueue --wakers --reason \
		-o "$RICH" -- sh rich.sh 2>"$RICH.err" >"$RICH.said"
}

# perf_sums: "EVENT NS SAMPLES" of each event with time, as perf script has them.
perf_sums() {
	perf script -i "$RICH" -F event,period 2>/dev/null |
		awk '$2 !~ /^denet:/ { ns[$2] += $1; nr[$2]++ }
			END { for (e in ns) printf "%s %.0f %d\n", e, ns[e], nr[e] }' | tr -d : | sort
}

@test "the sums of folded stacks and of JSON are perf's, to the ns" {
	perf_sums >perf.sums
	[ "$(wc -l <perf.sums)" -ge 3 ]
	denet-report -i "$RICH" --folded >folded
	awk '{ split($0, f, ";"); ns[f[1]] += $NF }
		END { for (e in ns) printf "%s %.0f\n", e, ns[e] }' folded | sort >folded.sums
	diff <(cut -d' ' -f1,2 perf.sums) folded.sums
	denet-report -i "$RICH" --json >report.json
	python3 - report.json >json.sums <<-'END'
		import json, sys, collections
		report = json.load(open(sys.argv[1]))
		sums = collections.Counter()
		for stack in report["stacks"]:
		    sums[stack["event"]] += stack["ns"]
		for event in report["events"]:
		    assert sums[event["name"]] == event["ns"], event
		    print(event["name"], event["ns"], event["samples"])
	END
	# A file may have a sample without time and blocks for readers that look at the first one.
	diff <(cut -d' ' -f1,2 perf.sums) <(cut -d' ' -f1,2 json.sums | sort)
}

# Rows, and the line that adds up those that are not shown, of all but the time that wakers ended.
@test "the sums of the screen are perf's, to the ns, however rows are made" {
	local options

	want=$(perf_sums | awk '$1 != "wakeup-time" { ns += $2 } END { printf "%.0f", ns }')
	# Words on purpose.
	# shellcheck disable=SC2086
	for options in "" "--min-percent 0" "--sort event,tid,state --min-percent 0" "--by pid"; do
		denet-report -i "$RICH" --ns --idle $options >screen
		cat screen
		awk '/^  +[0-9.]+ % / { sum += $3; if ($4 != "ns") bad = 1 }
			END { printf "%.0f", sum; exit bad }' screen >sum
		[ "$(cat sum)" = "$want" ]
		grep -q ": $want ns of [0-9]* threads" screen
	done
	# The three shares, too, and what stands apart without --idle.
	denet-report -i "$RICH" --ns >screen
	[ "$(awk '/^  (running|runnable|blocked) / { ns += $2 } /^hidden: / { ns += $5 }
		END { printf "%.0f", ns }' screen)" = "$want" ]
}

@test "threads that differ in their numbers only are one row, or each its own" {
	"$build/denet-record" --off-cpu-thresh 0 -o naps.data -- "$naps" 3 5 5 2>/dev/null
	denet-report -i naps.data >screen
	cat screen
	grep -E ' napper-\* \(3 threads\) +a timer ' screen
	denet-report -i naps.data --by comm >screen
	[ "$(grep -cE ' napper-[012] +a timer ' screen)" = 3 ]
	denet-report -i naps.data --by pid >screen
	grep -E ' [0-9]+ naps +a timer ' screen
}

# The page has a node for each event that counts apart; its root and theirs are sums.
@test "the sums of flame graph, pprof and speedscope are those of folded stacks" {
	denet-report -i "$RICH" --folded >folded
	awk '{ split($0, f, ";"); ns[f[1]] += $NF }
		END { for (e in ns) printf "%s %.0f\n", e, ns[e] }' folded | sort >want
	denet-report -i "$RICH" --flamegraph page.html --pprof profile.pb.gz --speedscope scope.json
	python3 - want >sums <<-'END'
		import collections, gzip, json, sys

		import profile_sums

		want = dict(line.split() for line in open(sys.argv[1]))
		events = {event: int(ns) for event, ns in want.items()}

		scope = json.load(open("scope.json"))
		sums = collections.Counter()
		for profile in scope["profiles"]:
		    assert profile["unit"] == "nanoseconds" and profile["type"] == "sampled"
		    assert len(profile["samples"]) == len(profile["weights"])
		    assert max(map(max, filter(None, profile["samples"]))) < len(scope["shared"]["frames"])
		    assert profile["endValue"] == sum(profile["weights"])
		    sums[profile["name"].split()[-1]] += profile["endValue"]
		assert sums == events, (sums, events)

		data = profile_sums.page("page.html")
		nodes = data["nodes"]
		assert nodes[0][2] == sum(events.values())
		for depth in range(3):
		    assert sum(n[2] for n in nodes if n[0] == depth) == nodes[0][2], depth
		wakers = sum(n[2] for n in nodes if n[0] == 1 and data["names"][n[1]].startswith("wakers"))
		assert wakers == events.get("wakeup-time", 0)

		values = profile_sums.pprof_values(gzip.open("profile.pb.gz").read())
		assert values[0] == events["offcpu-time"] + events.get("queued-time", 0)
		assert values[3] == events.get("wakeup-time", 0)
	END
}

# Each node has both times; those of the root are the sums of the two files.
@test "the flame graph of a difference has the time of both files" {
	"$build/denet-record" --off-cpu-thresh 0 -o naps.data -- "$naps" 1 5 5 2>/dev/null
	denet-report -i "$RICH" --flamegraph page.html --diff naps.data
	python3 - "$(denet-report -i "$RICH" --folded | awk '{ ns += $NF } END { printf "%.0f", ns }')" \
		"$(denet-report -i naps.data --folded | awk '{ ns += $NF } END { printf "%.0f", ns }')" <<-'END'
		import sys

		import profile_sums

		data = profile_sums.page("page.html")
		nodes = data["nodes"]
		assert data["other"] == "naps.data"
		assert nodes[0][2:] == [int(ns) for ns in sys.argv[1:]], nodes[0]
		for depth in range(3):
		    for side in 2, 3:
		        assert sum(n[side] for n in nodes if n[0] == depth) == nodes[0][side]
		naps = [n for n in nodes if n[0] == 2 and data["names"][n[1]] == "napper-0"]
		assert sum(n[3] for n in naps) > 0
	END
}

@test "a disk that is full is named as such, whichever output has no room" {
	for option in --json --folded --ns; do
		run -1 sh -c 'denet-report -i "$RICH" "$1" >/dev/full' sh $option
		[[ "$output" == *": No space left on device" ]]
	done
	for option in --flamegraph --pprof --speedscope; do
		run -1 denet-report -i "$RICH" $option /dev/full
		[[ "$output" == *"cannot write /dev/full: No space left on device" ]]
	done
}

@test "an event, a thread and a time are those of perf script" {
	local from to

	perf script -i "$RICH" -F event,tid,time,period --ns 2>/dev/null |
		sed -n 's/^ *\([0-9]*\) *\([0-9.]*\): *\([0-9]*\) *offcpu-time:.*/\1 \2 \3/p' >all
	from=$(sort -k2n all | sed -n "$(($(wc -l <all) / 3))p" | cut -d' ' -f2)
	to=$(sort -k2n all | sed -n "$(($(wc -l <all) * 2 / 3))p" | cut -d' ' -f2)
	awk -v from="$from" -v to="$to" '$2 >= from && $2 < to { ns += $3 }
		END { printf "%.0f\n", ns }' all >want
	denet-report -i "$RICH" --event offcpu-time --time "$from,$to" --folded |
		awk '{ ns += $NF } END { printf "%.0f\n", ns }' >got
	diff want got
	awk 'NR == 1 { tid = $1 } $1 == tid { ns += $3 } END { printf "%.0f\n", ns }' all >want
	denet-report -i "$RICH" --event offcpu-time --tid "$(head -1 all | cut -d' ' -f1)" --folded |
		awk '{ ns += $NF } END { printf "%.0f\n", ns }' >got
	diff want got
}

# The thread accept waits for a connection, for 200 ms.
@test "idle threads are hidden, counted and shown; an event that is asked for is shown" {
	"$build/denet-record" -o pool.data -- "$build/tests/workloads/pool" --ms 200 2>/dev/null
	ns=$(perf script -i pool.data -F event,period 2>/dev/null |
		awk '$2 == "offcpu-idle:" { ns += $1 } END { printf "%.0f", ns }')
	denet-report -i pool.data --ns >screen
	cat screen
	grep -x "hidden: 1 idle thread, $ns ns in waits for work; --idle shows them" screen
	refute grep ' accept ' screen
	for options in --idle "--event offcpu-idle" "--event offcpu-idle,offcpu-time"; do
		# Words on purpose.
		# shellcheck disable=SC2086
		denet-report -i pool.data --ns $options >screen
		cat screen
		grep -E "^ .* $ns ns .* 1 +accept +a (socket|connection) " screen
		refute grep hidden: screen
	done
	ns=$(perf_sums | awk '$1 == "wakeup-time" { print $2 }')
	denet-report -i "$RICH" --ns --event wakeup-time >screen
	cat screen
	[ "$(awk '/^  +[0-9.]+ % / { ns += $3 } END { printf "%.0f", ns }' screen)" = "$ns" ]
}

# Stacks are compared that are the only ones of their thread with that sum and depth. perf takes a
# return address as it is: behind a call that ends its function, as in a program's _start, or in a
# function that ends with _exit(), it names the next one. We may know names where perf has none,
# never the other way round, but for entries of a PLT, to which perf gives names of its own: that of
# a function, or of what lies before the PLT; and for __restore_rt, where a signal handler returns to
# the first byte.
@test "1,000 frames have the names that perf gives them" {
	perf script -i "$RICH" -F comm,tid,period,event,ip,sym --no-inline >script 2>/dev/null
	denet-report -i "$RICH" --json >report.json
	python3 - script report.json <<-'END'
		import collections, json, re, sys

		report = json.load(open(sys.argv[2]))
		ours = collections.defaultdict(list)
		merged = collections.Counter()
		for stack in report["stacks"]:
		    names = tuple(report["functions"][f] for f in stack["frames"])
		    names = tuple(f["name"] if f["known"] else "[unknown]" for f in names)
		    merged[stack["event"], stack["tid"], names] += stack["ns"]
		for (event, tid, names), ns in merged.items():
		    ours[event, tid, ns, len(names)].append(names)
		merged = collections.Counter()
		for sample in open(sys.argv[1]).read().split("\n\n"):
		    head, *frames = sample.strip("\n").split("\n")
		    match = re.match(r".*?(\d+) +(\d+) +([a-z-]+):", head)
		    if match:
		        names = tuple(frame.split(None, 1)[1] for frame in frames)
		        merged[match[3], int(match[1]), names] += int(match[2])
		theirs = collections.defaultdict(list)
		for (event, tid, names), ns in merged.items():
		    theirs[event, tid, ns, len(names)].append(names)
		compared, others = 0, collections.Counter()
		for key in theirs:
		    if len(theirs[key]) != 1 or len(ours.get(key, [])) != 1:
		        continue
		    for a, b in zip(theirs[key][0], ours[key][0]):
		        compared += 1
		        if a.endswith("@plt") or a in ("[unknown]", "_init") or (a, b) in (
		                ("_dl_start_user", "_start"), ("__restore_rt", "[unknown]"),
		                ("waits__print", "sleep_and_exit")):
		            continue
		        if a != b:
		            others[a, b] += 1
		print(compared, "frames", *others.items(), sep="\n")
		sys.exit(compared < 1000 or len(others) > 0)
	END
}

@test "the first screen tells shares, waits in words, what is hidden and what is next" {
	denet-report -i "$RICH" >screen
	cat screen
	grep -E '^  blocked +[0-9.]+ m?s +[0-9.]+ %' screen
	grep -E '^  runnable +[0-9.]+ [mun]?s' screen
	grep -E ' a timer \(clock_nanosleep\)' screen
	grep -E ' a child process ' screen
	refute grep -q 'denet-record --reason' screen
	grep -q "^next: denet-report -i $RICH --locks tells" screen
	grep -q "^next: denet-report -i $RICH --wakers tells" screen
	[ "$(wc -l <screen)" -le 30 ]
	refute grep -q $'\033' screen
	run env TERM=xterm script -qc "denet-report -i $RICH" /dev/null
	[[ "$output" == *$'\033'* ]]
}

# The shares stand first: they must not have left the screen when the prompt comes back.
@test "all of the first screen is on a terminal of 24 lines, whose kinds of time have colours" {
	for table in "" --locks --wakers --idle; do
		NO_COLOR=1 script -qc "stty rows 24 cols 80; denet-report -i $RICH $table" /dev/null |
			tr -d '\r' >screen
		cat screen
		awk '{ lines += length ? int((length + 79) / 80) : 1 }
			END { print lines " lines"; exit lines > 23 }' screen
		[ "$(sed -n '/LONGEST/,/^$/p' screen | wc -l)" -ge 6 ]
	done
	denet-report -i "$RICH" --locks --min-percent 0 >all
	refute grep -q ' more; ' all
	run env TERM=xterm script -qc "denet-report -i $RICH" /dev/null
	[[ "$output" == *$'\033[34mblocked '* && "$output" == *$'\033[33mrunnable '* ]]
}

# Rows of tables, which are the lines between the headings and the next empty line.
@test "tables fit the terminal, and are whole in a pipe" {
	local table

	for table in "" --locks --wakers; do
		# Words on purpose.
		# shellcheck disable=SC2086
		denet-report -i "$RICH" $table >whole
		NO_COLOR=1 script -qc "stty cols 80; denet-report -i $RICH $table" /dev/null |
			tr -d '\r' >cut
		rows() { sed -n '/LONGEST/,/^$/p' "$1"; }
		cat whole cut
		[ "$(rows cut | wc -l)" = "$(rows whole | wc -l)" ]
		[ "$(rows cut | awk 'length > 80' | wc -l)" = 0 ]
		# Names in the others may be short.
		[ -n "$table" ] || [ "$(rows whole | awk 'length > 80' | wc -l)" -gt 0 ]
		# Figures come first, and are the same.
		diff <(rows whole | grep -oE '^ +[0-9.]+ (%|[mun]?s) +.*[0-9] [mun]?s' | tr -s ' ') \
			<(rows cut | grep -oE '^ +[0-9.]+ (%|[mun]?s) +.*[0-9] [mun]?s' | tr -s ' ')
	done
}

@test "wakers, and the locks with their waiters" {
	denet-report -i "$RICH" --wakers >wakers
	cat wakers
	grep -E ' % .* waker .*' wakers
	denet-report -i "$RICH" --locks >locks
	cat locks
	grep -E ' [0-9.]+ [mnu]?s .* 0x[0-9a-f]+' locks
	refute grep -q 'WAITED FOR' locks
	# That of each kind is held and released by a thread of its own.
	"$build/denet-record" --off-cpu-thresh 20ms --wakers --reason -o locks.data \
		-- "$build/tests/workloads/holders" 2>/dev/null
	denet-report -i locks.data --locks --min-percent 0 >locks
	cat locks
	grep -E ' 1  h-normal +h-normal +[0-9]+ holders .* accounts\+0x40$' locks
	grep -E ' 1  - +h-condvar +[0-9]+ holders ' locks
	refute grep '^next: .*--locks' locks
	"$build/denet-record" -o plain.data -- "$naps" 1 5 5 2>/dev/null
	denet-report -i plain.data --wakers --locks >none
	grep -q 'no wake-ups: denet-record --wakers' none
	grep -q 'no waits for locks: denet-record --reason' none
}

@test "running time: what is sampled of it, and what to run next" {
	# Ahead of whatever else the machine runs: else most of the time may be runnable.
	"$build/denet-record" --wall -F 199 -o wall.data -- \
		chrt -f 1 sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' 2>/dev/null
	denet-report -i wall.data >screen
	cat screen
	grep -E '^  running +[0-9.]+ m?s +[0-9.]+ %' screen
	grep -E '^sampled: running time has its stacks from [0-9,]+ looks at CPUs' screen
	grep '^next: denet-report -i wall.data --event on-cpu-time' screen
	refute grep '^next: .*--reason' screen
	bash -c "$(sed -n 's/^next: \(.*\) tells which functions ran/\1/p' screen)" >functions
	grep -E ' sh +' functions
	perf script -i wall.data -F period 2>/dev/null |
		awk '{ ns += $1 } END { printf "%.0f\n", ns }' >want
	denet-report -i wall.data --folded | awk '{ ns += $NF } END { printf "%.0f\n", ns }' >got
	diff want got
}

@test "blocks that were drawn are told as such" {
	"$build/denet-record" --off-cpu-period 1ms -o drawn.data -- "$naps" 1 20 2 2>/dev/null
	denet-report -i drawn.data | grep '^sampled: short blocks'
	perf script --header-only -i drawn.data | grep -q 'short blocks were sampled'
	"$build/denet-record" --off-cpu-period 1ms -o - -- "$naps" 1 20 2 2>/dev/null |
		denet-report -i - | grep '^sampled: short blocks'
}

@test "all time as one event is told apart by its kinds" {
	"$build/denet-record" --one-event --split-runqueue --off-cpu-thresh 0 -o one.data \
		-- "$naps" 2 5 5 2>/dev/null
	perf script -i one.data -F period 2>/dev/null |
		awk '{ ns += $1 } END { printf "%.0f\n", ns }' >want
	denet-report -i one.data --folded | awk '{ ns += $NF } END { printf "%.0f\n", ns }' >got
	diff want got
	denet-report -i one.data --folded | grep -q '^queued-time;naps;'
}

@test "a file that was deleted has names while a process has it mapped, and none after that" {
	cp "$naps" mine
	start_target ./mine 1 100000 10
	until_true grep -q READY target.out
	denet-record -B -o mine.data -p "$target" -- sleep 0.5 2>/dev/null
	rm mine
	denet-report -i mine.data --folded | grep 'take_nap;'
	kill -KILL "$target"
	until_true gone "$target"
	denet-report -i mine.data --folded >folded
	refute grep take_nap folded
	grep ';mine+0x[0-9a-f]*;' folded
}

@test "inlined functions and lines of the source, with the same sums" {
	denet-report -i "$RICH" --folded | awk '{ ns += $NF } END { printf "%.0f\n", ns }' >want
	denet-report -i "$RICH" --inline --srcline --folded >folded
	awk '{ ns += $NF } END { printf "%.0f\n", ns }' folded >got
	diff want got
	grep -E ';take_nap naps\.c:[0-9]+;' folded
}

# A thread that sleeps for all of the recording, and naps beside it.
@test "blocked time tells what of it is from begin to end, and that it was not split" {
	sleep 1000 3>&- &
	"$build/denet-record" --off-cpu-thresh 0 -a -o both.data -- "$naps" 2 20 10 2>/dev/null
	denet-report -i both.data >screen
	cat screen
	grep -E '^  blocked .* threads, [0-9.]+ m?s of it from begin to end$' screen
	grep '^blocked time includes waits for a CPU .* --split-runqueue$' screen
	"$build/denet-record" --off-cpu-thresh 0 --split-runqueue -o naps.data -- "$naps" 2 20 10 2>/dev/null
	denet-report -i naps.data >screen
	refute grep -e --split-runqueue screen
}

@test "a recording without reasons names the option for them" {
	"$build/denet-record" -o plain.data -- "$naps" 1 5 5 2>/dev/null
	denet-report -i plain.data >screen
	grep -q 'denet-record --reason' screen
	grep -q 'denet-record --wakers' screen
}

@test "the pipe variant from standard input" {
	"$build/denet-record" -o - -- "$naps" 1 5 5 2>/dev/null | denet-report -i - --folded >folded
	grep -E '^napper-0;.*;clock_nanosleep' folded
}

@test "denet-record draws the flame graph itself, of the file that it leaves" {
	run -3 --separate-stderr "$build/denet-record" --off-cpu-thresh 0 -o naps.data \
		--flamegraph page.html -- sh -c "$naps 1 5 5; exit 3"
	[[ "$stderr" == *"the flame graph is in page.html"* ]]
	denet-report -i naps.data --flamegraph again.html
	cmp page.html again.html
	grep -q '"napper-0"' page.html
	run -1 "$build/denet-record" -o b.data --flamegraph none/page.html -- "$naps" 1 5 5
	[[ "$output" == *"cannot write none/page.html: No such file or directory"* ]]
	denet-report -i b.data --folded | grep -q '^napper-0;'
}
