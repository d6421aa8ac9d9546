#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Usage errors: the message names the option and its value, the status is 2. No root needed.

load ../cli/lib

needs=

clean_up() {
	[ ! -e perf.data ]
}

# refuse 'WORDS OF THE MESSAGE' OPTION…
refuse() {
	local words=$1

	shift
	run -2 denet-record "$@"
	[[ "$output" == *"$words"* ]] || { echo "$output"; return 1; }
	[[ "$output" == *"denet-record --help"* ]]
}

@test "targets that contradict each other or are none" {
	refuse "-a and -p exclude each other" -a -p 1
	refuse "-a and -t exclude each other" -t 1 -a
	refuse "-p : not a list" -p ""
	refuse "-p 1,,2: not a list" -p 1,,2
	refuse "-p x: not a list" --pid x
	refuse "-t 0: not a list" -t 0
	refuse "-t -5: not a list" -t -5
	refuse "-p 99999999999: a number is too large" -p 99999999999
	refuse "--children needs -p" --children -a
}

@test "periods and rates that make no sense" {
	refuse "--off-cpu-period x: not a time" --off-cpu-period x
	refuse "--off-cpu-period 0: must be from 1us to 4s" --off-cpu-period 0
	refuse "--off-cpu-period 999ns: must be from 1us to 4s" --off-cpu-period 999ns
	refuse "--off-cpu-period 5s: must be from 1us to 4s" --off-cpu-period 5s
	refuse "nothing is left for --off-cpu-period" --off-cpu-thresh 0 --off-cpu-period 1ms
	refuse "--off-cpu-max-rate 0: must be a number from 1 to" --off-cpu-max-rate 0
	refuse "--off-cpu-max-rate -1: must be a number" --off-cpu-max-rate -1
	refuse "--off-cpu-max-rate 1e3: must be a number" --off-cpu-max-rate 1e3
	refuse "--off-cpu-max-rate 1000000000: must be a number" --off-cpu-max-rate 1000000000
}

@test "CPUs and delays that are none" {
	refuse "-C : not a list of CPUs" -C ""
	refuse "-C 0,,1: not a list of CPUs" -C 0,,1
	refuse "-C 1-: not a list of CPUs" --cpu 1-
	refuse "-C 3-1: a CPU is at most" -C 3-1
	refuse "-C 8192: a CPU is at most" -C 8192
	refuse "-D -1: to begin only when told so is not there yet" -D -1
	refuse "-D soon: not a time" --delay soon
	refuse "-D 10-20: not a time" -D 10-20
	refuse "-D 99999999999999s: too long" -D 99999999999999s
}

@test "times that are none" {
	for option in --off-cpu-thresh --min-block --max-block --window; do
		refuse "$option soon: not a time" $option soon
		refuse "$option : not a time" $option ""
		refuse "$option -1ms: not a time" $option=-1ms
		refuse "$option 1h: not a time" $option 1h
		refuse "$option 99999999999999s: too long" $option 99999999999999s
	done
	refuse "--window 1ms: must be from" --window 1ms
	refuse "--window 2000000s: must be from" --window 2000000s
	refuse "--min-block is longer than --max-block" --min-block 2s --max-block 1s
}

@test "other values that are none" {
	refuse "--state Q: not a list" --state Q
	refuse "--state : not a list" --state ""
	refuse "--max-stack 0: must be" --max-stack 0
	refuse "--max-stack 128: must be" --max-stack 128
	refuse "--max-stack x: must be" --max-stack x
	refuse "--call-graph lbr: must be fp" --call-graph lbr
	refuse "-m 0: must be" -m 0
	refuse "-m 3T: not a number of pages" -m 3T
	refuse "-m 2G: must be" -m 2G
	refuse "-o : the name of the file is empty" -o ""
}

@test "options that exclude each other" {
	refuse "-q and -v exclude each other" -q -v
	refuse "--kernel-callchains and --user-callchains exclude" --kernel-callchains --user-callchains
	refuse "-B and --buildid-cache exclude" -B --buildid-cache
	refuse "--switch-output and -o - exclude" --switch-output -o -
	refuse "--switch-max-files needs --switch-output" --switch-max-files 2
	refuse "--min-block is longer than --max-block" --min-block 2s --max-block 1s
	refuse "--call-graph and --kernel-callchains exclude" --call-graph dwarf --kernel-callchains
	refuse "--raw-stacks needs --call-graph dwarf" --raw-stacks --call-graph auto
	refuse "--raw-stacks and --switch-output exclude" --raw-stacks --call-graph dwarf --switch-output
	refuse "nothing is left for --off-cpu-period" --off-cpu-thresh 0 --off-cpu-period 1ms
}

@test "--off-cpu-hist has no part in what a recording makes" {
	for option in '--off-cpu-thresh 1ms' '--off-cpu-period 1ms' '--off-cpu-max-rate 9' \
		'--window 1s' --split-runqueue --wakers --wall '-F 99' '-c 9999' '-e a:b' --skip-idle '--max-stack 5' \
		--kernel-callchains --user-callchains --raw-frames '-o x' --all-cgroups --reason \
		-B --buildid-cache '-m 4' '--max-size 1M' --switch-output '--max-overhead 1'; do
		# shellcheck disable=SC2086
		refuse "--off-cpu-hist makes no recording: it and --" $option --off-cpu-hist
		# shellcheck disable=SC2086
		refuse "exclude each other" --off-cpu-hist $option -- true
	done
	refuse "it and --switch-output exclude" --off-cpu-hist --switch-output=1M --switch-max-files 3
	refuse "--json needs --off-cpu-hist" --json -a
}

@test "events and rates that are none" {
	refuse "-F 0: must be a number from 1 to" -F 0
	refuse "-F max: must be a number" --freq=max
	refuse "-c x: must be a number" -c x
	refuse "-F and -c exclude each other" -F 99 -c 1000000
	refuse "--wall 0: must be a number" --wall=0
	refuse "--wall=HZ and -F exclude each other" --wall=99 -F 99
	refuse "--wall=HZ and -c exclude each other" --wall=99 -c 1000000
	refuse "-e page-faults: no such event: cpu-clock, cycles, or" -e page-faults
	refuse "-e : no such event" -e cpu-clock,
	refuse "-e :x: no such event" -e :x
	refuse "-e sched:: no such event" -e cycles,sched:
	refuse "-e cycles:u: events have no modifiers here" -e cycles:u
	refuse "-e cycles: on-CPU samples are taken by one event" -e cpu-clock,cycles
}

@test "options that people try say what to type" {
	refuse "-d 5: there is no such option; to record for 5 seconds: -- sleep 5" -d 5 -a
	refuse "-d x: there is no such option; to record for N seconds: -- sleep N" --duration x
	refuse "-p postgres: not a list of numbers; by name: -p \$(pgrep -d, postgres)" -p postgres
	refuse "-p 'x;y: not a list of numbers, such as 42" -p "'x;y"
	refuse "-G: the value is missing; -- was taken for it" -G -- sleep
}

@test "help ends with four examples, of options that exist" {
	denet-record -h | tail -4 >examples
	[ "$(grep -c '^  denet-record .' examples)" = 4 ]
	denet-record -h | grep -oE -- ' --?[a-zA-Z][a-z-]*' | tr -d ' ' | sort -u >known
	sed 's/ -- .*//; s/\$([^)]*)//' examples | grep -oE -- ' --?[a-zA-Z][a-z-]*' | tr -d ' ' |
		sort -u >used
	[ -s used ]
	[ -z "$(comm -23 used known)" ]
}

@test "options that do not exist or lack their value" {
	refuse "unrecognized option" --no-such-option
	refuse "invalid option" -Z
	refuse "requires an argument" -p
}

@test "the multi-call name: help, version and unknown commands" {
	run -0 denet --help
	[[ "$output" == *record* ]]
	run -0 denet --version
	[[ "$output" == "denet "* ]]
	run -2 denet
	run -2 denet no-such-command
	[[ "$output" == *"'no-such-command' is not a command"* ]]
	run -0 denet record --version
	[[ "$output" == "denet-record "* ]]
	run -0 perf-denet record --usage
	[[ "$output" == *"denet-record ["* ]]
	[ "$(denet-record -h)" = "$(denet-record --help)" ]
}

@test "a name that is no command of ours works like denet" {
	ln -s "$build/denet" denet-other
	run -0 ./denet-other record --version
}

@test "without rights, what is missing is said and no file is made" {
	[ "$(id -u)" != 0 ] || skip "runs without root"
	run -1 denet-record -- true
	[[ "$output" == *root* ]]
}

@test "a flame graph is of one file that is read again" {
	refuse "--flamegraph and --switch-output exclude each other" \
		--flamegraph p.html --switch-output=1s -- true
	refuse "--flamegraph and -o - exclude each other" --flamegraph p.html -o - -- true
	refuse "--flamegraph needs the name of a file" --flamegraph - -- true
	refuse "--flamegraph and -o name the same file" --flamegraph perf.data -- true
	refuse "--flamegraph and --raw-stacks exclude each other" \
		--flamegraph p.html --call-graph dwarf --raw-stacks -- true
	refuse "--off-cpu-hist makes no recording" --flamegraph p.html --off-cpu-hist -- true
}
