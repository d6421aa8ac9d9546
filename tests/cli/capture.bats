#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Attach hooks at the command line. That they give the same is tested in tests/bpf.
# tests: parallel

load lib

@test "--capture switch-out: the same chains, and -v says which way was taken" {
	before=$(stolen)
	switches_of_init >init.before
	run -0 denet-record -v --capture switch-out --state S,D,R -- "$naps" 2 10 10 counts
	echo "$output" >said
	[[ "$output" == *'attach hook switch-out (sched_switch): works, taken'* ]]
	[[ "$output" == *'capture: switch-out (sched_switch);'* ]]
	perf script | fold >folded
	grep -q '^napper-0;.*;take_nap;.*;do_nanosleep [0-9]*$' folded
	switches_of_init >init.after
	# A switch that the kernel did not show is a nap less, and said; there are no others.
	unseen=$(sed -n 's/.* not seen: \([0-9]*\) switches.*/\1/p' said)
	[ "$unseen" -le "$(runs_of_init init.before init.after)" ]
	[ "$unseen" -gt 0 ] || has_nap_time napper-0 said "$before"
}

@test "auto says of each hook that it passes over why it does" {
	run -0 denet-record -v -- "$naps" 1 2 10
	taken=$(echo "$output" | grep -n 'attach hook .*: works, taken' | cut -d: -f1)
	[ -n "$taken" ]
	echo "$output" | head -"$taken" | grep 'attach hook' | grep -v 'works, taken' |
		refute grep -v 'this kernel does not have it\|refused\|not permitted\|Invalid\|not supported'
	# Of the walks that this kernel should have, it takes all.
	echo "$output" | refute grep 'since the kernel refuses'
}

@test "switch-out keeps within 64 MB of maps, and the others take nothing for it" {
	for way in switch-out auto; do
		run -0 denet-record -v --capture $way -- "$naps" 1 2 10
		echo "$output" | sed -n "s/.*BPF maps: \([0-9.]*\) MB.*/$way \1/p" >>maps
	done
	cat maps
	awk '$1 == "switch-out" { out = $2 } $1 == "auto" { auto = $2 }
		END { exit !(auto > 1 && out <= 67.1 && out > auto + 20) }' maps
}

@test "a way that does not exist is a usage error" {
	run -2 denet-record --capture sideways -- true
	[[ "$output" == *'must be auto, switch-in or switch-out'* ]]
}
