#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A recording has ceilings: of memory, and of what it costs.

load ../cli/lib

@test "--max-overhead goes over to sampling, says so, and the file tells it in words" {
	# Longer than the recording: the cost is looked at from time to time only.
	"$build/tests/workloads/stacks" --threads 4 --bits 10 --rounds 600 --us 20 >/dev/null 3>&- &
	target=$!
	denet-record -v -a --max-overhead 0.001 -- sleep 3 2>err
	grep -q 'more than --max-overhead: from now on, while that is so, blocks are sampled, one for' err
	grep -q '; --max-overhead sampled [0-9.]* % of the time, in the end sampled one for each .*, standard error ' err
	perf script -F event,trace 2>/dev/null | grep denet:rates >script
	grep -q 'denet:rates: period 0 -> [1-9][0-9]* ns.*(cost: programs [0-9]* and recorder [0-9]* of 10 ppm of a CPU)$' script
	tail -1 script | grep -q '(--max-overhead sampled [0-9.]* % of the time)$'
	# No rate was requested.
	refute grep 'samples a second' script
	[ "$(perf evlist | head -1)" = offcpu-time ]
	# Blocks that are not drawn are counted, not lost; and the event is no time.
	[ "$(awk '/not drawn/ { print $(NF - 1) }' err)" -gt 0 ]
	[ "$(perf script -F event,period | grep -c 'denet:rates')" -ge 1 ]
	[ "$("$top/scripts/fold.sh" | awk '{ ns += $NF } END { printf "%.0f", ns }')" = "$(sum_of_periods)" ]
}

@test "--max-overhead: what the recorder says is no time off the CPU, also after SIGKILL" {
	start_target "$build/tests/workloads/stacks" --threads 4 --bits 10 --rounds 100 --us 20
	start_recording -a --max-overhead 0.001 --window 50ms
	until_true grep -q 'from now on, while that is so, blocks are sampled' live.err
	# Changes that were printed are in the file by the end of the next window.
	size=$(stat -c %s live.data)
	until_true bigger_than live.data "$size"
	size=$(stat -c %s live.data)
	until_true bigger_than live.data "$size"
	kill -KILL "$recorder"
	finish_recording
	perf script -i live.data --show-task-events -F comm,pid,event,period 2>/dev/null >script
	grep -q "PERF_RECORD_COMM: denet-record:$recorder/$recorder\$" script
	[ "$(samples live.data)" -gt 0 ]
	# By its pid: others may record as well.
	refute grep "^ *denet-record  *$recorder .*offcpu-time" script
}

is_sampled() {
	grep -q 'from now on, while that is so, blocks are sampled' live.err
}

is_exact() {
	grep -q 'the load has gone, nothing is sampled for it any more' live.err
}

@test "--max-overhead comes back when the load has gone, and the share of the time is told" {
	start_target "$naps" 1 100000 20
	calm=$target
	start_target "$build/tests/workloads/stacks" --threads 4 --bits 12 --rounds 6000 --us 20
	# Not of the whole machine, whose other load may stay.
	start_recording -v -p "$calm,$target" --max-overhead 3 --window 200ms
	until_true is_sampled
	kill "$target"
	wait "$target" || true
	target=$calm
	until_true is_exact
	kill -INT "$recorder"
	finish_recording
	cat live.err
	[ "$status" = 0 ]
	share=$(sed -n 's/.*; --max-overhead sampled \([0-9.]*\) % of the time, standard error.*/\1/p' live.err)
	awk -v share="$share" 'BEGIN { exit !(share > 0 && share < 100) }'
	perf script -i live.data -F event,trace 2>/dev/null | grep denet:rates | tail -1 |
		grep -q "(--max-overhead sampled $share % of the time)$"
	perf script -i live.data -F event,trace 2>/dev/null | grep -q 'denet:rates.*, the load is gone)$'
}

@test "a default recording has no events but of waits, also when it is sampled for its cost" {
	start_target "$build/tests/workloads/stacks" --threads 4 --bits 12 --rounds 6000 --us 20
	start_recording -a --window 200ms
	until_true is_sampled
	kill -INT "$recorder"
	finish_recording
	[ "$status" = 0 ]
	perf evlist -i live.data | refute grep -vx 'offcpu-time\|offcpu-idle'
	perf script -i live.data -F event 2>/dev/null | refute grep -v '^ *offcpu-\(time\|idle\): *$\|^$'
	perf report -i live.data --stdio -g none --no-children 2>/dev/null | refute grep 0000000000000000
	# The share of the time is told where it is in nobody's way.
	share=$(sed -n 's/.*; --max-overhead sampled \([0-9.]*\) % of the time.*/\1/p' live.err)
	[ -n "$share" ]
	perf report --header-only -i live.data |
		grep -q "^# perf version : .* (--max-overhead sampled $share % of the time)$"
}

@test "--max-overhead: costs that sampling does not lower coarsen nothing, and are told" {
	start_target "$build/tests/workloads/stacks" --threads 4 --bits 10 --rounds 6000 --us 20
	# No block is kept, so that all of it is for the switches.
	start_recording -a --state T --max-overhead 0.001 --window 200ms
	until_true grep -q 'sampling more coarsely would not lower that' live.err
	kill -INT "$recorder"
	finish_recording
	cat live.err
	[ "$status" = 0 ]
	refute grep -q 'blocks are sampled' live.err
	refute grep -q denet:rates <(perf evlist -i live.data)
}

@test "--max-overhead 0 and a generous one leave all as it is" {
	for limit in 0 100; do
		denet-record --max-overhead $limit -- "$naps" 2 100 10 2>err
		refute grep -q max-overhead err
		refute grep -q denet:rates <(perf evlist)
	done
}

# resident PID: VmHWM in kB.
resident() {
	sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$1/status"
}

# 2^14 user stacks in each of 7 threads: 114,688 sums, and as many samples in the file.
@test "100,000 stacks: at most 100 MB resident, 64 MB in BPF maps" {
	mkfifo hold
	"$build/tests/workloads/stacks" --wait --threads 7 --bits 14 --us 60 <hold >stacks.out 3>&- &
	target=$!
	exec 4>hold
	start_recording -v -p "$target" --max-overhead 0
	until_true grep -q READY stacks.out
	echo >&4
	highest=0
	while kill -0 "$recorder" 2>/dev/null; do
		# It may end between the two looks.
		now=$(resident "$recorder" 2>/dev/null) || now=
		[ -z "$now" ] || highest=$now
		sleep 0.02
	done
	exec 4>&-
	finish_recording
	[ "$status" = 0 ]
	maps=$(sed -n 's/.*BPF maps: \([0-9]*\)[^,]*,.*/\1/p' live.err)
	samples=$(sed -n 's/.*off-CPU in \([0-9,]*\) samples.*/\1/p' live.err)
	echo "$highest kB resident, $maps MB of maps, $samples samples"
	[ "${samples//,/}" -ge 100000 ]
	[ "$highest" -gt 0 ]
	[ "$highest" -le 102400 ]
	[ "$maps" -le 64 ]
}

# A recorder that goes on to read a ring while it is filled keeps what it has read: some 300 MB.
@test "copies of the stacks of a storm: at most 160 MB resident, however many are lost" {
	! is_sanitized || skip "the address sanitizer keeps what was freed"
	start_target "$build/tests/workloads/stacks" --threads 4 --bits 12 --rounds 6000 --us 20
	start_recording -p "$target" --call-graph dwarf --off-cpu-thresh 0 --max-overhead 0
	enough() { [ "$(stat -c %s live.data)" -ge 30000000 ]; }
	until_true enough
	highest=$(resident "$recorder")
	kill -INT "$recorder"
	finish_recording
	tail -2 live.err
	echo "$highest kB resident"
	[ "$status" = 0 ]
	[ "$highest" -le 163840 ]
}

@test "a storm of 10,000 threads is recorded whole" {
	denet-record --off-cpu-thresh 0 --max-overhead 0 -m 4M -v -- \
		"$build/tests/workloads/threads" --count 10000 --parallel 200 --us 20000 >truth 2>err
	grep -q ' 0 lost; wrote' err
	perf script -F comm,tid,event 2>/dev/null >script
	all_who_waited truth script
}

@test "-p: thousands of children that are born during the recording" {
	cat >family <<-END
		read -r line <go
		exec "$build/tests/workloads/forks" --count 6000 --parallel 16 --us 500 >said
	END
	mkfifo go
	start_target bash family
	denet-record -v --off-cpu-thresh 0 -p "$target" 2>err 3>&- &
	recorder=$!
	until_true bigger_than perf.data 0
	echo >go
	finish_recording
	[ "$status" = 0 ]
	grep -q ' 0 lost' err
	# As often as the kernel counted: one whose timer is over before it sleeps has no block.
	perf script -F comm,pid,event >script
	awk 'NR == FNR { if ($1 == "child") n[$2]++; next }
		{
			children++; waited += $2 > 0
			if (n[$1] + 0 < $2) { print n[$1] + 0, $0; bad = 1 }
		}
		END { print children, waited; exit bad || children != 6000 || waited < 3000 }' \
		script <(truths said pid voluntary)
}

@test "two recordings at once don't disturb each other" {
	start_target "$naps" 2 100000 3
	for name in one two; do
		denet-record -o $name.data -p "$target" --off-cpu-thresh 0 --window 50ms -m 8M -v \
			2>$name.err 3>&- &
		eval "$name=$!"
	done
	until_true bigger_than one.data 100000
	until_true bigger_than two.data 100000
	kill -INT "$one" "$two"
	wait "$one" "$two"
	grep -q ' 0 lost; wrote' one.err
	grep -q ' 0 lost; wrote' two.err
	# Both saw the same waits: what both recorded from end to end, to the microsecond or two
	# that lie between two programs at one switch.
	for name in one two; do
		perf script -i $name.data -F tid,time,period,event --ns | awk '/offcpu-time/ {
			sub(":", "", $2); print $1, $2, $3 }' | sort -k1,1n -k2,2 >$name
		[ "$(wc -l <$name)" -gt 100 ]
		awk '{ begin = $2 - $3 / 1e9
			first = NR == 1 || begin < first ? begin : first; last = $2 > last ? $2 : last }
			END { printf "%.9f %.9f\n", first, last }' $name >>bounds
	done
	# Blocks cut by the begin or the end of one recording differ in the other.
	read -r begin end < <(awk '{ b = $1 > b ? $1 : b; e = NR == 1 || $2 < e ? $2 : e }
		END { printf "%.9f %.9f\n", b + 0.0001, e - 0.0001 }' bounds)
	awk -v begin="$begin" -v end="$end" '$2 - $3 / 1e9 < begin || $2 > end { next }
		NR == FNR { n[$1]++; t[$1, n[$1]] = $2; p[$1, n[$1]] = $3; next }
		{ i = at[$1] ? at[$1] : 1
		  while (i < n[$1] && t[$1, i] < $2 - 0.001) i++
		  at[$1] = i
		  d = t[$1, i] - $2; d = d < 0 ? -d : d
		  if (d < 0.001) { both++; e = p[$1, i] - $3; if (e > 200000 || e < -200000) bad++ } }
		END { print both + 0, bad + 0; exit !(both > 100 && bad <= both / 100) }' one two
}

@test "a perf record that asks for build-ids does not spoil our maps" {
	start_target "$naps" 1 100000 10
	perf record --buildid-mmap -a -e dummy:u -o other.data -- true >/dev/null 2>&1 ||
		skip "this perf or kernel has no build-ids in maps"
	# The later of two events gets its records first, and what is left in them spoils ours.
	start_recording -a
	perf record --buildid-mmap -a -e dummy:u -o other.data -- sleep 100 >/dev/null 2>&1 3>&- &
	other=$!
	until_true bigger_than other.data 0
	for i in 1 2 3 4; do
		taskset -c $((i % $(nproc))) "$naps" 1 2 10
	done
	kill -INT $other
	wait $other || true
	kill -INT "$recorder"
	finish_recording
	cat live.err
	[ "$status" = 0 ]
	perf script -i other.data --show-mmap-events -F comm,pid 2>/dev/null | grep -q '<[0-9a-f]\{40\}>.*/naps'
	perf script -i live.data --show-mmap-events -F comm,pid 2>/dev/null | grep "MMAP2.* $naps\$" >maps
	cat maps
	[ "$(wc -l <maps)" -ge 5 ]
	refute grep -v "[0-9a-f]*:[0-9a-f]* $(stat -c %i "$naps") " maps
}

@test "the recorder and its helpers are not in a recording of the whole machine" {
	# Under a name of its own: others may run on this machine. Its helpers inherit it.
	ln -s "$build/denet" our-recorder
	bash -c 'exec -a denet-record ./our-recorder -a --off-cpu-thresh 0 --window 20ms -- sleep 1'
	[ "$(perf script -F comm 2>/dev/null | grep -c our-recorder)" = 0 ]
	[ "$(samples)" -gt 0 ]
}

@test "SIGKILL at the start, in the middle and at the end leaves nothing in the kernel" {
	start_target "$naps" 2 100000 3
	for when in start middle end; do
		rm -f live.data
		denet-record -o live.data -p "$target" --off-cpu-thresh 0 2>/dev/null 3>&- &
		recorder=$!
		holds_objects() { bpf_objects "$recorder" >objects; [ -s objects ]; }
		until_true holds_objects
		if [ $when != start ]; then
			until_true bigger_than live.data 0
			bpf_objects "$recorder" >objects
		fi
		[ $when != end ] || kill -INT "$recorder"
		kill -KILL "$recorder"
		wait "$recorder" || true
		echo "$when: $(wc -l <objects) objects"
		until_true none_exists objects
	done
}

@test "no descriptors left: a clear error, and nothing is left behind" {
	run bash -c 'ulimit -n 16; exec denet-record -a -- true'
	[ "$status" = 1 ]
	[[ "$output" == *"no descriptors left"* ]]
	[ ! -e perf.data ]
}

@test "memory that fails at random: an error or a recording, never a crash" {
	fail=/sys/kernel/debug/failslab
	[ -d $fail ] || skip "this kernel offers no fault injection ($fail)"
	for i in 1 2 3 4 5; do
		status=0
		( echo 1 >/proc/self/make-it-fail; echo Y >$fail/task-filter; echo 5 >$fail/probability
		  echo 1000 >$fail/times; exec denet-record -a -- true ) 2>err || status=$?
		echo 0 >$fail/probability
		[ "$status" -le 1 ]
	done
}

@test "with nothing to write, the recorder wakes up once in a window" {
	# Without unwind tables, which each new file on the machine wakes it up for.
	denet-record -v -a --call-graph fp --state T --window 500ms -m 8M -- sleep 3 2>err
	windows=$(sed -n 's/.*; windows: \([0-9]*\);.*/\1/p' err)
	rounds=$(sed -n 's/.*woke up \([0-9]*\) times.*/\1/p' err)
	echo "woke up $rounds times for $windows windows"
	[ "$windows" -ge 5 ]
	# Besides the windows: the end of sleep, which comes with two signals at most.
	[ "$rounds" -le $((windows + 3)) ]
}
