#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-record and what perf makes of its files.
# tests: parallel

load lib

@test "a command is recorded, and perf script shows where its threads waited" {
	run -0 denet-record -- "$naps" 2 5 20
	[[ "$output" == *READY* ]]
	perf script -i perf.data >script
	grep -q '^napper-0' script
	grep -q '^napper-1' script
	grep -q do_nanosleep script
	grep -q take_nap script
}

@test "each nap that the kernel counted is a sample at threshold 0" {
	denet-record --off-cpu-thresh 0 -- "$naps" 1 10 20 counts >said
	read -r times _ bracket < <(told_by_nap napper-0 said)
	perf script -F comm,period,event,ip,sym | awk -v times="$times" -v bracket="$bracket" '
		/^napper-0/ && /take_nap/ { n++; ns += $2 }
		END { print n, "of", times; exit !(n > 0 && n == times && ns <= bracket) }' RS=
}

@test "short blocks are summed up: fewer samples, the same time" {
	before=$(stolen)
	# Without tables: a block that comes before its table is sent with a copy of its stack.
	denet-record --call-graph fp --off-cpu-thresh 1s --window 100s --state S,D,R -- "$naps" 1 50 5 counts \
		>said
	perf script -F comm,event | awk '$1 == "napper-0" { n++ } END { exit !(n > 0 && n < 10) }'
	has_nap_time napper-0 said "$before"
}

@test "perf script has the time and the samples that the last line tells, folded as well" {
	run -0 denet-record -v -- "$naps" 3 20 10
	echo "$output" >out
	perf script | fold >folded
	grep -q '^napper-0;.*;take_nap;.*;do_nanosleep [0-9]*$' folded
	folded_ns=$(awk '{ sum += $NF } END { printf "%.0f", sum }' folded)
	told_ns=$(sed -n 's/.*off-CPU in samples: \([0-9]*\) ns$/\1/p' out)
	[ "$folded_ns" = "$told_ns" ]
	[ "$(sum_of_periods)" = "$told_ns" ]
	told=$(sed -n 's/.*off-CPU in \([0-9,]*\) samples.*/\1/p' out)
	[ "$(samples)" = "${told//,/}" ]
	equal_within "$(told_seconds <out)" "$(awk -v n="$told_ns" 'BEGIN { print n / 1e9 }')" 0.0006
}

@test "perf report, by symbol, by comm and dso, with and without children" {
	denet-record -- "$naps" 2 10 20
	perf report --stdio 2>err | grep -q do_nanosleep
	perf report --stdio --children 2>>err | grep -q take_nap
	perf report --stdio --no-children --sort comm,dso,sym 2>>err >report
	grep -q 'napper-0.*do_nanosleep' report
	perf report --stdio --header-only 2>>err >header
	grep -q '# cmdline : .*denet-record' header
	grep -q offcpu-time header
	refute grep -iq 'error\|warning\|fail' err
}

@test "perf diff, inject -b, script --time and data convert read the file" {
	denet-record -o a.data --off-cpu-thresh 0 -- "$naps" 1 20 10
	denet-record -o b.data --off-cpu-thresh 0 -- "$naps" 1 20 20
	perf diff a.data b.data 2>/dev/null | grep -q do_nanosleep
	perf inject -b -i a.data -o injected.data
	[ "$(samples injected.data)" = "$(samples a.data)" ]
	half=$(samples a.data --time 50%-100%)
	[ "$half" -gt 0 ]
	[ "$half" -lt "$(samples a.data)" ]
	perf data convert --to-json out.json -i a.data
	grep -q do_nanosleep out.json
}

@test "pipe mode: perf script reads it while the command's output goes to stderr" {
	denet-record -o - -- "$naps" 2 10 10 2>err | perf script -i - >script 2>script.err
	grep -q '^napper-1' script
	grep -q do_nanosleep script
	grep -q READY err
	refute grep -q READY script
	fold <script >folded
	equal_within "$(told_seconds <err)" "$(awk '{ s += $NF } END { print s / 1e9 }' folded)" 0.0006
}

@test "the last line says what was lost, and quiet leaves it out" {
	run -0 --separate-stderr denet-record -o a.data -- "$naps" 1 2 10
	[ "${#stderr_lines[@]}" = 2 ]
	[[ "${stderr_lines[0]}" == "[ denet-record: "*" s off-CPU in "*" lost; wrote "*" MB a.data ]" ]]
	run -0 --separate-stderr denet-record -q -o a.data -- "$naps" 1 2 10
	[ -z "$stderr" ]
}

# next_step FILE: the command that a recording's last line tells to type.
next_step() {
	sed -n '$s/^\[ next: \(.*\) \]$/\1/p' "$1"
}

@test "the last line is a command that shows this very file, whatever it is called" {
	export -n SUDO_UID
	unset SUDO_UID
	for file in perf.data $(if_whole a.data) "it's a \$file.data"; do
		denet-record -o "$file" -- "$naps" 1 5 10 2>err
		cat err
		[[ "$(next_step err)" == "denet-report"* ]]
		bash -c "$(next_step err)" >shown 2>shown.err
		grep -q napper-0 shown
		# No other file would do.
		mv "$file" away
		refute bash -c "$(next_step err)" >shown 2>&1
	done
	denet-record --all-cgroups --wakers --reason --split-runqueue -- "$naps" 1 5 10 2>err
	bash -c "$(next_step err) --stdio" 2>shown.err | grep -q napper-0
	denet-record --switch-output=100ms -o b.data -- "$naps" 1 20 20 2>err
	[ -e "$(next_step err | grep -o 'b.data[.0-9]*')" ]
	SUDO_UID=1000 denet-record -- "$naps" 1 5 10 2>err
	[[ "$(next_step err)" == "sudo denet-report" ]]
	denet-record -o - -- "$naps" 1 5 10 2>err >pipe.data
	refute grep next: err
	denet-record --min-block 4000s -- "$naps" 1 5 10 2>err
	grep -q 'next: record again with -v' err
}

@test "the last lines name a command that is there, however the program was called" {
	mkdir "one program"
	cp "$build/denet" "one program/denet"
	cp "$build/denet" alone
	ln -s "$build/denet" denet-report
	ln -s "$build/denet" denet-record
	while read -r called; read -r next; do
		case $called in
		*'one program'* | perf*) ;;
		*) [ -n "$(if_whole yes)" ] || continue ;;
		esac
		echo "$called"
		bash -c "$called -- '$naps' 1 5 10" 2>err
		[ "$(next_step err)" = "$next" ]
		bash -c "$next" >shown
		grep -q napper-0 shown
		grep -qF "next: $next --flamegraph" shown
	done <<-'END'
		'./one program/denet' record
		$'./one program/denet' report
		./alone record
		./alone report
		./denet-record
		./denet-report
		perf denet record
		perf denet report
		denet record
		denet report
	END
}

@test "at most six lines tell the worst of many warnings, and -v all of them" {
	grep -qx kthreadd /proc/2/comm || skip "no kernel threads are to be seen here"
	# Of each kernel thread that is named, one warning tells that it is not recorded.
	kthreads=$(pgrep -P 2 | head -9 | tr '\n' ,)
	"$naps" 1 10000 10 >/dev/null 3>&- &
	target=$!
	denet-record -p "$kthreads$target" -- sleep 0.3 2>few
	denet-record -v -p "$kthreads$target" -- sleep 0.3 2>all
	kill $target
	cat few
	[ "$(wc -l <few)" = 6 ]
	grep -q '5 more warnings with -v \]$' few
	grep -q '^\[ next: ' <(tail -1 few)
	[ "$(grep -c 'that is a kernel thread' all)" = 9 ]
	grep -q '^\[ next: ' <(tail -1 all)
}

@test "the accounts add up" {
	run -0 denet-record -v -- "$naps" 4 50 2
	echo "$output" | awk '
		$2 == "seen" { count = $3; ns = $4 }
		$2 == "=" || $2 == "+" { counts += $(NF - 1); nss += $NF }
		END { exit !(count > 0 && count == counts && ns == nss) }'
}

@test "only the owner can read the file, and an older one is kept" {
	umask 0
	denet-record -o a.data -- "$naps" 1 1 10
	[ "$(stat -c %a a.data)" = 600 ]
	first=$(sha256sum <a.data)
	denet-record -o a.data -- "$naps" 1 2 10
	[ "$(sha256sum <a.data.old)" = "$first" ]
	[ "$(sha256sum <a.data)" != "$first" ]
}

@test "as a command of perf, its exit status comes through" {
	run -5 perf denet record -o a.data -- sh -c 'sleep 0.05; exit 5'
	[ "$(samples a.data)" -gt 0 ]
	run -1 perf denet record -p 4194304
	run -2 perf denet record --no-such-option
	run -2 perf denet no-such-command
	run -0 denet record -o b.data -- true
}

@test "the status is the command's, or 128 and the signal that ended it" {
	run -7 denet-record -- sh -c 'exit 7'
	run -0 denet-record -- true
	run -143 denet-record -- sh -c 'kill $$'
	run -127 denet-record -- sh -c 'exit 127'
}

@test "the command gets the signals, the arguments and the stdin that we had" {
	run -0 --separate-stderr denet-record -q -- sh -c 'grep Sig[BI] /proc/$$/status; cat; echo "$@"' \
		sh -a --pid '' '*' <<<"input"
	[[ "$output" == *"SigBlk:"*"0000000000000000"* ]]
	[[ "$output" == *$'input\n-a --pid  *' ]]
}

@test "options after the command are the command's" {
	run -0 --separate-stderr denet-record -q echo -o x --version
	[ "$output" = "-o x --version" ]
	[ ! -e x ]
}
