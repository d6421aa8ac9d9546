#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Sampling: fewer samples, which stand for all of the time. Not beside other programs: storms of 64
# threads leave them a thirtieth of a CPU, and a sanitized one does not begin in time.

load ../cli/lib

has_threads() {
	[ "$(awk '/^Threads:/ { print $2 }' "/proc/$1/status")" -ge "$2" ]
}

# account NAME: the count of a row of -v's accounts in err.
account() {
	sed -n "s/.*[+=] $1  *\\([0-9]*\\)  *[0-9]*$/\\1/p" err
}

# stands_for_all: the samples' sum is what the recorder saw of the states that count, within six of
# its own standard errors.
stands_for_all() {
	awk -v sum="$(sum_of_periods)" '
		/ seen / { seen += $NF }
		/ filtered / { seen -= $NF }
		/standard error of the total/ { sub(/.*total: /, ""); error = $1 }
		END { print sum, seen, error; d = sum - seen; if (d < 0) d = -d
		      exit !(error > 0 && d < 6 * error) }' err
}

@test "--off-cpu-period: samples stand for a period, and their sum is the time" {
	denet-record -v --off-cpu-period 1ms -- "$build/tests/workloads/uneven" >truth 2>err
	grep -q '; sampled one for each 1.000 ms below 500.000 ms, standard error ' err
	[ "$(account 'not drawn')" -gt 4000 ]
	grep -q 'drawn: [0-9]* blocks, which stand for [0-9]* ns; standard error of the total' err
	stands_for_all
	perf script -F period | grep -qx ' *1000000 *'
}

# end_storm: unless it was over before the recording, which it may have kept from the CPU.
end_storm() {
	kill "$target" 2>/dev/null || gone "$target"
}

@test "--off-cpu-max-rate: a storm gives about so many samples, and each change is told" {
	"$build/tests/workloads/stacks" --threads 4 --bits 10 --rounds 600 --us 20 >/dev/null 3>&- &
	target=$!
	denet-record -v --off-cpu-max-rate 200 --max-overhead 0 -p "$target" -- sleep 4 2>err
	end_storm
	# The first second finds the period: it is not counted.
	perf script -F time,event 2>/dev/null | grep offcpu-time |
		awk '{ t = $1 + 0; if (!first) first = t; if (t > first + 1) n++; last = t }
		     END { print n, last - first - 1; exit !(last - first > 2 && n / (last - first - 1) < 400) }'
	perf script 2>/dev/null | grep -q 'denet:rates: period .* (at most 200 samples a second)$'
	grep -q 'changes of period or threshold: [1-9]' err
}

# first_second FILE: how many samples the first second of the recording told of in err has.
first_second() {
	perf script -i "$1" -F time,event 2>/dev/null | awk '
		NR == FNR { if (/blocks are recorded from/) { sub(/.*from /, ""); start = $1 + 0 } next }
		/offcpu-time/ { n += $1 + 0 < start + 1 }
		END { print n + 0 }' err -
}

@test "--off-cpu-max-rate: a storm is in the budget from the first second on" {
	storm="$build/tests/workloads/stacks --threads 8 --bits 10 --rounds 600 --us 20"
	$storm >/dev/null 3>&- &
	target=$!
	until_true has_threads "$target" 8
	denet-record -v --off-cpu-max-rate 200 --max-overhead 0 -p "$target" -- sleep 1.5 2>err
	end_storm
	first_second perf.data
	# 200 at most are expected, with a deviation of 14; it was some thousands.
	[ "$(first_second perf.data)" -lt 300 ]
	[ "$(first_second perf.data)" -gt 10 ]
	# And they stand for all of it.
	stands_for_all
}

# busiest_second: the most samples of a thread of the storm in a second that begins with a sample.
busiest_second() {
	perf script -F comm,time,event 2>/dev/null | awk '
		/^ *walker.* offcpu-time/ { t[++nr] = $2 + 0
			while (t[nr] - t[first + 1] >= 1) first++
			if (nr - first > most) most = nr - first }
		END { print most + 0 }'
}

@test "--off-cpu-max-rate: a storm that begins later is in the budget, however slow the recorder is" {
	mkfifo gate
	# shellcheck disable=SC2016
	bash -c 'read -r _ <gate; exec "$@"' - "$build/tests/workloads/stacks" --threads 64 \
		--bits 10 --rounds 4 --us 20 >/dev/null 3>&- &
	target=$!
	denet-record -v --off-cpu-max-rate 200 --max-overhead 0 -p "$target" 2>err 3>&- &
	recorder=$!
	until_true test -s perf.data
	# The BPF programs alone keep to the budget: the recorder is stopped until the end.
	kill -STOP "$recorder"
	echo >gate
	until_true gone "$target"
	kill -CONT "$recorder"
	wait "$recorder"
	busiest_second
	# 200 a second, and as many where a second of ours lies in two of the programs'; it was all
	# of them, tens of thousands.
	[ "$(busiest_second)" -lt 400 ]
	[ "$(busiest_second)" -gt 50 ]
	stands_for_all
	perf script 2>/dev/null | grep -q 'denet:rates: period .* (at most 200 samples a second)$'
}

@test "a calm target is nearly whole under a budget" {
	denet-record -v --off-cpu-max-rate 999 -- "$naps" 2 50 20 2>err
	# Naps are longer than the period, so that each of them comes; the rest is start-up.
	[ "$(perf script -F comm,period,event | grep -c 'napper.* offcpu-time')" -ge 40 ]
	[ "$(account direct)" -ge 40 ]
}

@test "blocks above the threshold that exceed the budget raise it, with copies of stacks as well" {
	"$naps" 8 100000 3 >/dev/null 3>&- &
	target=$!
	denet-record -v --off-cpu-thresh 1ms --off-cpu-max-rate 100 --max-overhead 0 \
		--call-graph dwarf -p "$target" -- sleep 4.5 2>err
	kill "$target"
	perf script -F time,event,trace >script 2>/dev/null
	# They are some 2,500 a second. The first two seconds find the level, where it stays.
	awk '/offcpu-time/ { t[++nr] = $1 + 0 }
	     END { while (n < nr && t[nr - n] > t[nr] - 1.5) n++
		   print n, t[nr] - t[1]; exit !(t[nr] - t[1] > 3.5 && n < 300) }' script
	grep 'denet:rates' script
	grep 'denet:rates' script | awk '
		{ for (i = 1; i < NF; i++) if ($i == "threshold" && $(i + 3) > $(i + 1)) raised++ }
		END { exit !raised }'
	grep -q 'changes of period or threshold: [1-9]' err
	# And what is left stands for all of it.
	stands_for_all
}
