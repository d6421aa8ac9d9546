#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A recording that has nothing to write rests.

load lib

needs=root

# How often the recorder has gone to sleep so far.
sleeps() {
	awk '/^voluntary_ctxt_switches/ { print $2 }' "/proc/$recorder/status"
}

is_asleep() {
	grep -q '^State:[[:space:]]S' "/proc/$recorder/status"
}

# Whether it has slept for a while: the start may have a last thing to do.
has_settled() {
	local before

	before=$(sleeps)
	sleep 0.5
	is_asleep && [ "$(sleeps)" = "$before" ]
}

@test "between the ends of windows it does not wake up, and still notices its target's end" {
	local before

	sleep 1000 3>&- &
	target=$!
	start_recording -p "$target" --window 1000s --max-overhead 0
	until_true has_settled
	before=$(sleeps)
	sleep 2
	# Not for a look at the target; one is for whatever the machine itself brings.
	[ $(($(sleeps) - before)) -le 1 ]
	kill "$target"
	target=
	until_true gone "$recorder"
	finish_recording
	[ "$status" = 0 ]
	[ "$(samples live.data)" -ge 1 ]
}
