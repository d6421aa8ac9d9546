#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Programs of others that show a perf.data file: they find in it what perf does.

load ../cli/lib

prepare() {
	denet-record -o perf.data --off-cpu-thresh 0 -- "$naps" 2 20 10 2>err
}

@test "hotspot's parser reads the file: its event, threads and frames" {
	parser=$(ls /usr/lib/*/libexec/hotspot-perfparser 2>/dev/null | head -1)
	[ -x "$parser" ] || skip "no hotspot: sudo scripts/deps.sh viewers"
	"$parser" --input perf.data --output parsed 2>words
	cat words
	refute grep -qi 'invalid\|corrupt\|cannot read' words
	# Its strings are length-prefixed, in the order of their first use.
	for word in offcpu-time napper-0 napper-1 take_nap; do
		echo "$word"
		grep -qa "$word" parsed
	done
}

@test "folded stacks add up to the file, in the form that flame graph programs read" {
	"$top/scripts/fold.sh" >folded
	refute grep -vE '^[^;]+(;[^;]+)* [0-9]+$' folded
	[ "$(awk '{ ns += $NF } END { printf "%.0f", ns }' folded)" = "$(sum_of_periods)" ]
	grep -q 'napper-0.*;take_nap;.* [0-9]*$' folded
}

@test "perf script's Python interface has the samples and their frames" {
	cat >count.py <<-'END'
		def process_event(event):
			if event["ev_name"].startswith("offcpu-time"):
				names = [f.get("sym", {}).get("name", "") for f in event.get("callchain", [])]
				print(event["comm"], event["sample"]["period"], ";".join(names))
	END
	perf script -s count.py >out 2>words || skip "this perf has no Python: $(tail -1 words)"
	[ "$(awk '{ ns += $2 } END { printf "%.0f", ns }' out)" = "$(sum_of_periods)" ]
	grep -q '^napper-0 .*take_nap' out
}
