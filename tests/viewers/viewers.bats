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

@test "hotspot's parser names the functions of a process that is older than the recording" {
	parser=$(ls /usr/lib/*/libexec/hotspot-perfparser 2>/dev/null | head -1)
	[ -x "$parser" ] || skip "no hotspot: sudo scripts/deps.sh viewers"
	start_target "$naps" 1 10000 10
	until_true grep -q READY target.out
	denet-record -o older.data --off-cpu-thresh 0 -p "$target" -- sleep 0.5
	kill -KILL "$target"
	"$parser" --input older.data --output parsed 2>words
	cat words
	grep -qa take_nap parsed
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

# pprof's converter is in no distribution: PERF_TO_PROFILE names it, or it is on the PATH.
@test "pprof's converter reads the file with its build-ids, and has its nanoseconds" {
	converter=${PERF_TO_PROFILE:-$(command -v perf_to_profile || true)}
	[ -x "$converter" ] || skip "no perf_to_profile: build github.com/google/perf_data_converter"
	perf buildid-list -i perf.data | grep -q naps
	"$converter" -i perf.data -o profile.pb -f 2>words || { cat words; false; }
	cat >values.py <<-'END'
		# Of each sample (field 2 of a Profile) the second value (field 2 of a Sample): the period.
		import sys

		def varint(data, at):
		    value = shift = 0
		    while True:
		        value |= (data[at] & 127) << shift
		        shift += 7
		        at += 1
		        if data[at - 1] < 128:
		            return value, at

		def fields(data):
		    at = 0
		    while at < len(data):
		        key, at = varint(data, at)
		        value, at = varint(data, at)
		        if key & 7 == 2:
		            value, at = data[at:at + value], at + value
		        yield key >> 3, value

		def values(sample):
		    for field, value in fields(sample):
		        at = 0
		        while field == 2 and at < len(value):
		            number, at = varint(value, at)
		            yield number

		profile = open(sys.argv[1], "rb").read()
		print(sum(list(values(sample))[1] for field, sample in fields(profile) if field == 2))
	END
	[ "$(python3 values.py profile.pb)" = "$(sum_of_periods)" ]
	grep -qa take_nap profile.pb || grep -qa /naps profile.pb
}

@test "our flame graph, in a browser, finds a function and its time" {
	command -v chromium >/dev/null || skip "no chromium: sudo scripts/deps.sh viewers"
	denet-report --flamegraph page.html
	chromium --headless --no-sandbox --disable-gpu --dump-dom \
		"file://$PWD/page.html#take_nap" >dom 2>words || { cat words; false; }
	found=$(sed -n 's/.*id="found">\([^<]*\)<.*/\1/p' dom)
	echo "$found"
	denet-report --folded | awk '/take_nap/ { ns += $NF } { all += $NF }
		END { printf "found: %.3f %s, %.2f %%\n", ns / (ns < 1e9 ? 1e6 : 1e9),
			ns < 1e9 ? "ms" : "s", 100 * ns / all }' >want
	[ "$found" = "$(cat want)" ]
}

# speedscope is in no distribution: `npm install -g speedscope`, or SPEEDSCOPE names its release.
@test "speedscope, in a browser, opens the folded stacks" {
	page=${SPEEDSCOPE:-$(npm root -g 2>/dev/null)/speedscope/dist/release}/index.html
	[ -e "$page" ] || skip "no speedscope: sudo npm install -g speedscope"
	command -v chromium >/dev/null || skip "no chromium: sudo scripts/deps.sh viewers"
	"$top/scripts/fold.sh" >app.folded
	echo 'no stacks' >none.folded
	opens app.folded
	refute opens none.folded
}

# opens FILE: the page has its name at the top, which speedscope writes once it has read it.
opens() {
	printf 'speedscope.loadFileFromBase64("%s", "%s")' "$1" "$(base64 -w0 "$1")" >profile.js
	timeout 60 chromium --headless --no-sandbox --disable-gpu --allow-file-access-from-files \
		--user-data-dir="$PWD/chromium" --virtual-time-budget=10000 --dump-dom \
		"file://$page#localProfilePath=$PWD/profile.js" 2>browser.log >dom
	grep -q "<title>$1 " dom
}
