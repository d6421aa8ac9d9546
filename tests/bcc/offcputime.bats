#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The same waits, as libbpf-tools' offcputime and we see them.

load ../cli/lib

prepare() {
	tool=$(PATH=$PATH:/usr/sbin:/sbin command -v offcputime) ||
		skip "no offcputime: sudo scripts/deps.sh bcc"
	"$tool" 1 -m 10000000 >"$BATS_TEST_TMPDIR/try" 2>&1 ||
		skip "offcputime does not run here: $(tail -1 "$BATS_TEST_TMPDIR/try")"
}

# Both are there before the naps begin and until after they have ended; a nap is at least as long
# as it was asked for, and both saw each of them. What both add is below a tenth.
@test "offcputime's sum for a thread of naps is ours" {
	mkfifo go
	bash -c 'read -r line; exec "$0" 1 100 10' "$naps" <go >said 3>&- &
	target=$!
	exec 4>go
	"$tool" -p "$target" 30 >theirs 2>theirs.err 3>&- 4>&- &
	tool_pid=$!
	traces() { bpf_objects "$tool_pid" >objects; grep -q link objects; }
	until_true traces
	start_recording -p "$target" --off-cpu-thresh 0
	echo >&4
	exec 4>&-
	wait "$target"
	finish_recording
	kill -INT "$tool_pid"
	wait "$tool_pid" || true
	# Its stacks end with "- COMM (TID)" and the microseconds in a line of their own.
	theirs=$(awk '$1 == "-" && $2 == "napper-0" { getline; us += $1 } END { printf "%d", us }' theirs)
	ours=$(perf script -i live.data -F comm,period,event |
		awk '$1 == "napper-0" && /offcpu-time/ { ns += $2 } END { printf "%d", ns / 1000 }')
	echo "theirs $theirs us, ours $ours us"
	[ "$ours" -ge 1000000 ]
	equal_within "$theirs" "$ours" $((ours / 10))
}

# no_frames: what is no frame, with numbers and names of threads as such.
no_frames() {
	sed -E 's/^    -                [^ ].* \([0-9]+\)$/    -                COMM (TID)/
		s/^        [0-9]+$/        US/; s/^    [^ -].*$/    FRAME/' "$1" | sort | uniq -c |
		awk '{ $1 = ""; print }' | sort -u
}

# Both trace the same process at the same time; each nap is a block of both. Ours has blocks that
# began before or did not end, too, so it is the sum of the naps that is compared.
@test "denet-offcputime prints libbpf-tools' form, and the same time" {
	mkfifo go
	bash -c 'read -r line; exec "$0" 3 50 10' "$naps" <go >said 3>&- &
	target=$!
	exec 4>go
	"$tool" -p "$target" 60 >theirs 2>theirs.err 3>&- 4>&- &
	tool_pid=$!
	denet-offcputime --libbpf -p "$target" >ours 2>ours.err 3>&- 4>&- &
	our_pid=$!
	traces() { bpf_objects "$1" >objects; grep -q link objects; }
	until_true traces "$tool_pid"
	until_true traces "$our_pid"
	until_true is_at "$our_pid" poll
	echo >&4
	exec 4>&-
	wait "$target"
	wait "$our_pid"
	kill -INT "$tool_pid"
	wait "$tool_pid" || true
	diff <(no_frames theirs) <(no_frames ours)
	for thread in napper-0 napper-1 napper-2; do
		theirs=$(awk '/do_nanosleep/ { on = 1 } $1 == "-" && $2 == name { getline; if (on) us += $1 }
			!NF { on = 0 } END { printf "%d", us }' name=$thread theirs)
		ours=$(awk '/do_nanosleep/ { on = 1 } $1 == "-" && $2 == name { getline; if (on) us += $1 }
			!NF { on = 0 } END { printf "%d", us }' name=$thread ours)
		echo "$thread: theirs $theirs us, ours $ours us"
		[ "$ours" -ge 500000 ]
		equal_within "$theirs" "$ours" $((ours / 10))
	done
	grep -q '^    take_nap$' ours
	[ ! -s ours.err ]
}
