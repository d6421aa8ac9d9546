#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Programs of others that show a perf.data file: they find in it what perf does.
# tests: limit 900

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

# towers FOLDED: the sum of all kinds of time below the names, and of the running one.
towers() {
	awk -F'[; ]' '$2 !~ /^\[(blocked|idle|runnable|running)\]$/ { exit 1 }
		{ all += $NF } $2 == "[running]" { running += $NF }
		END { printf "%.0f %.0f\n", all, running }' "$1"
}

# No distribution has these readers: github.com/brendangregg/FlameGraph, github.com/jonhoo/inferno.
@test "stackcollapse-perf.pl, inferno and flamegraph.pl show the kinds of --one-event in ns" {
	readers=
	denet-record --one-event --wall -- "$build/tests/workloads/lives" --ms 200 2>err >said
	perf script -F period,event,ip,sym 2>/dev/null | awk '/wall-time/ { ns = $1; all += ns }
		/\[running\]/ { running += ns } END { printf "%.0f %.0f\n", all, running }' >truth
	for program in stackcollapse-perf.pl inferno-collapse-perf; do
		command -v "$program" >/dev/null || continue
		readers+=" $program"
		perf script 2>/dev/null | "$program" >"$program.folded"
		towers "$program.folded" | diff truth -
		grep -q '^spinner-0;\[running\];.*spin' "$program.folded"
	done
	[ -n "$readers" ] || skip "neither stackcollapse-perf.pl nor inferno-collapse-perf on the PATH"
	echo "read by$readers"
	command -v flamegraph.pl >/dev/null || skip "no flamegraph.pl on the PATH"
	cat ./*.folded | flamegraph.pl --countname ns >app.svg
	grep -qE '<title>\[running\] \([0-9,]+ ns, ' app.svg
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
	sum=$(python3 "$top/tests/common/profile_sums.py" profile.pb)
	[ "${sum#* }" = "$(sum_of_periods)" ]
	grep -qa take_nap profile.pb || grep -qa /naps profile.pb
}

# pprof FILE OPTION…: what Go's pprof prints of a profile.
pprof() {
	go tool pprof "${@:2}" "$1" 2>words || { cat words; false; }
}

@test "pprof, that of Go's tools, opens our profile: its ns, threads and frames" {
	go tool pprof -h >words 2>&1 || skip "no pprof: sudo scripts/deps.sh viewers"
	denet-report --pprof profile.pb.gz
	denet-report --folded >folded
	# Of each sample the values, a colon, its locations.
	pprof profile.pb.gz -raw >raw
	cat raw
	grep -q '^off_cpu/nanoseconds\[dflt\] on_cpu/nanoseconds idle/nanoseconds' raw
	[ "$(awk '$6 ~ /^[0-9]+:$/ || $5 ~ /^[0-9]+:$/ { ns += $1 + $3 } END { printf "%.0f", ns }' raw)" = \
		"$(awk '{ ns += $NF } END { printf "%.0f", ns }' folded)" ]
	for thread in napper-0 napper-1; do
		pprof profile.pb.gz -top -unit=ns -tagfocus=thread:$thread >top
		cat top
		ns=$(awk -v name="(^|;)$thread;.*;take_nap;" '$0 ~ name { ns += $NF } END { printf "%.0f", ns }' folded)
		awk -v ns="$ns" '$NF == "take_nap" { was = $4 == ns "ns" } END { exit !was }' top
	done
	head -c 200 profile.pb.gz >broken.pb.gz
	refute pprof broken.pb.gz -raw
}

need_browser() {
	command -v chromium >/dev/null || skip "no chromium: sudo scripts/deps.sh viewers"
	export PYTHONPATH=$BATS_TEST_DIRNAME
}

@test "our flame graph, in a browser, finds a function and its time" {
	need_browser
	denet-report --flamegraph page.html
	denet-report --folded | awk '/take_nap/ { ns += $NF } { all += $NF }
		END { printf "found: %.3f %s, %.2f %%\n", ns / (ns < 1e9 ? 1e6 : 1e9),
			ns < 1e9 ? "ms" : "s", 100 * ns / all }' >want
	python3 - >found <<-'END'
		from browser import Browser

		with Browser() as page:
		    page.open("page.html", "#take_nap")
		    print(page.text("found"))
		    # A "%" that nobody has encoded is part of the words.
		    page.open("page.html", "#take_nap|100%")
		    print(page.text("found"))
	END
	diff <(cat want want) found
}

# A click makes a frame as wide as the window, and hides those beside it.
@test "our flame graph in a browser: click, tool tip, search, keys, both ways up, dark and light" {
	need_browser
	denet-report --flamegraph page.html
	python3 - <<-'END'
		import hashlib
		from browser import Browser

		places = range(2, 1400, 14)

		def share(page, wanted, row):
		    """Of the window's width, in which tool tips begin with a text."""
		    return sum(page.hover(x, row).startswith(wanted) for x in places) / len(places)

		def bottom(page):
		    return int(page.run("document.getElementById('graph').getBoundingClientRect().bottom"))

		def picture(page, name):
		    page.hover(1300, 3)
		    page.picture(name)
		    return hashlib.sha256(open(name, "rb").read()).digest()

		with Browser() as page:
		    page.open("page.html")
		    rows = [bottom(page) - 18 * i - 9 for i in range(6)]
		    assert share(page, "all: ", rows[0]) == 1
		    tip = page.hover(5, rows[0])
		    assert "100.00 % of all" in tip and " ns)" in tip, tip
		    threads = [page.hover(x, rows[2]).split(":")[0] for x in places]
		    assert {"napper-0", "napper-1"} <= set(threads), set(threads)
		    at = 2 + 14 * threads.index("napper-1")
		    assert share(page, "napper-1: ", rows[2]) < 0.9
		    page.click(at, rows[2])
		    assert share(page, "napper-1: ", rows[2]) == 1
		    assert share(page, "blocked: ", rows[1]) == 1
		    page.press("Escape")
		    assert share(page, "napper-1: ", rows[2]) < 0.9

		    # Keys: up to what the time was spent on, to a thread, zoom, and all again.
		    page.click(5, rows[0])
		    page.press("ArrowUp")
		    assert page.text("found").startswith("blocked: "), page.text("found")
		    page.press("ArrowUp")
		    first = page.text("found")
		    page.press("ArrowRight")
		    second = page.text("found")
		    assert first.split(":")[0] in threads and second != first, (first, second)
		    page.press("ArrowLeft")
		    assert page.text("found") == first
		    page.press("Enter")
		    assert share(page, first.split(":")[0], rows[2]) == 1
		    page.press("ArrowDown")
		    page.press("Escape")

		    # Typed, key by key; / goes there. Letters are no commands in it.
		    page.press("/")
		    for key in "nap.*i":
		        page.press(key)
		    assert page.run("document.getElementById('search').value") == "nap.*i"
		    page.press("Escape")
		    page.press("/")
		    for key in "no such function":
		        page.press(key)
		    assert page.text("found").startswith("found: 0 ns"), page.text("found")
		    page.press("Escape")
		    assert page.text("found").endswith(" in all"), page.text("found")

		    # Icicle: the root is on top, where a flame graph has the leaves.
		    flame = picture(page, "flame.png")
		    page.press("i")
		    top = int(page.run("document.getElementById('graph').getBoundingClientRect().top"))
		    assert page.hover(5, top + 9).startswith("all: ")
		    assert picture(page, "icicle.png") != flame
		    page.press("i")
		    assert picture(page, "again.png") == flame
		    page.dark(True)
		    assert picture(page, "dark.png") != flame
		    back = page.run("getComputedStyle(document.body).backgroundColor")
		    assert back == "rgb(27, 27, 29)", back
	END
}

# What a waker ended was blocked time before: it stands last, and is not counted a second time.
@test "wakers are not part of all that a flame graph, in a browser, counts" {
	need_browser
	denet-record --wakers -o wakers.data --off-cpu-thresh 0 -- "$naps" 2 10 10 2>/dev/null
	denet-report -i wakers.data --flamegraph page.html
	denet-report -i wakers.data --folded --event offcpu-time,queued-time,offcpu-idle |
		awk '{ ns += $NF } END { printf "%.0f\n", ns }' >all
	denet-report -i wakers.data --folded --event wakeup-time |
		awk '{ ns += $NF } END { printf "%.0f\n", ns }' >wakers
	python3 - "$(cat all)" "$(cat wakers)" <<-'END'
		import sys
		from browser import Browser

		with Browser() as page:
		    page.open("page.html")
		    bottom = int(page.run("document.getElementById('graph').getBoundingClientRect().bottom"))
		    tip = page.hover(5, bottom - 9)
		    assert f"({sys.argv[1]} ns), 100.00 % of all" in tip, tip
		    tip = page.hover(1395, bottom - 27)
		    assert tip.startswith("wakers: ") and f"({sys.argv[2]} ns)" in tip, tip
		    assert tip.endswith("100.00 % of what wakers ended"), tip
		    page.open("page.html", "#hrtimer_wakeup|take_nap")
		    assert "; by wakers " in page.text("found"), page.text("found")
	END
}

# The same recording in half of its time: each frame has less than before.
@test "the difference of two recordings, in a browser, tells what was and what is" {
	need_browser
	denet-record -o short.data --off-cpu-thresh 0 -- "$naps" 2 10 10 2>/dev/null
	denet-report -i short.data --flamegraph page.html --diff perf.data
	denet-report -i short.data --folded | awk '/take_nap/ { ns += $NF } END { print ns }' >is
	denet-report -i perf.data --folded | awk '/take_nap/ { ns += $NF } END { print ns }' >was
	python3 - "$(cat is)" "$(cat was)" <<-'END'
		import re, sys
		from browser import Browser

		with Browser() as page:
		    page.open("page.html", "#take_nap")
		    found = page.text("found")
		    unit = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
		    for text, ns in zip(re.findall(r"([0-9.]+) (ns|µs|ms|s)\b", found), sys.argv[1:]):
		        assert abs(float(text[0]) * unit[text[1]] - int(ns)) < unit[text[1]] / 1e3, found
		    assert "more than in perf.data" in page.text("legend")
		    page.open("page.html")
		    bottom = int(page.run("document.getElementById('graph').getBoundingClientRect().bottom"))
		    tip = page.hover(5, bottom - 9)
		    assert re.match(r"all: .*; was [0-9.]+ m?s .*, −[0-9.]+ m?s, −[0-9.]+ %$", tip), tip
	END
}

# Of any machine that draws a page at all; alone, one of 2 cores takes a tenth of it.
@test "100,000 frames in a browser: drawn, searched and zoomed" {
	need_browser
	denet-report --flamegraph page.html
	python3 - <<-'END'
		import json, random
		from browser import Browser

		# Stacks of 10 to 50 frames: beyond a few common callers, each goes its own way.
		random.seed(17)
		count, root = 1, [0, 0, {}]
		while count < 100000:
		    at, ns = root, random.randint(1000, 1000000)
		    at[0] += ns
		    for level in range(random.randint(10, 50)):
		        name = random.randrange(4) if not level else 6 + int(random.random() ** 4 * 5000)
		        if level and at[2] and random.random() < 0.6:
		            name = next(iter(at[2]))
		        if name not in at[2]:
		            at[2][name] = [0, name, {}]
		            count += 1
		        at = at[2][name]
		        at[0] += ns
		nodes, todo = [], [(0, root)]
		while todo:
		    depth, (ns, name, below) = todo.pop()
		    nodes += [depth, name, ns]
		    todo += [(depth + 1, node) for node in sorted(below.values(), key=lambda n: n[0])]
		assert len(nodes) >= 300000

		text = open("page.html").read()
		begin = text.index('{"other"')
		end = text.index("]};", begin) + 2
		data = json.loads(text[begin:end])
		data["names"] = data["names"][:6] + [f"function_{i:05}" for i in range(5000)]
		data["nodes"] = nodes
		open("large.html", "w").write(text[:begin] + json.dumps(data) + text[end:])

		search = "document.getElementById('search')"
		graph = "document.getElementById('graph')"
		with Browser() as page:
		    first = page.open("large.html")
		    turns = [page.took("document.getElementById('turn').click()") for _ in range(5)]
		    searches = [page.took(f"{search}.value = 'function_0{i}'; "
		                          f"{search}.dispatchEvent(new Event('input'))") for i in range(5)]
		    page.press("Escape")
		    zooms = [page.took(f"{graph}.dispatchEvent(new MouseEvent('click', "
		                       f"{{ clientX: {x}, clientY: 700 }}))") for x in (900, 700, 500)]
		    page.picture("large.png")
		for name, least in (("turn", turns), ("search", searches), ("zoom", zooms)):
		    print(name, *(f"{ms:.0f} ms" for ms in least))
		print(f"first picture after {first:.0f} ms")
		# The quickest of several tells of the page, the others of the machine.
		assert first < 3000
		assert max(min(turns), min(searches), min(zooms)) < 300
	END
}

need_speedscope() {
	page=$(npm root -g 2>/dev/null)/speedscope/dist/release/index.html
	[ -e "$page" ] || skip "no speedscope: sudo scripts/deps.sh viewers"
	need_browser
}

@test "speedscope, in a browser, opens the folded stacks and our profile" {
	need_speedscope
	"$top/scripts/fold.sh" >app.folded
	echo 'no stacks' >none.folded
	opens app.folded
	denet-report --folded >report.folded
	opens report.folded
	denet-offcputime -f -- "$naps" 1 5 5 >trace.folded 2>err
	opens trace.folded
	refute opens none.folded
	denet-report --speedscope scope.json
	title=$(sed -n 's/.*"type":"sampled","name":"\([^"]*\)".*/\1/p' scope.json | head -1)
	opens scope.json "$title"
	# Its frames refer to functions that are not there.
	sed 's/"frames":\[/"frames":[],"none":[/' scope.json >broken.json
	refute opens broken.json "$title"
}

# The view Sandwich has a row for each function, with its time and its share.
@test "speedscope's table, in a browser, has our functions with their time" {
	need_speedscope
	denet-report --speedscope scope.json --comm napper-0,napper-1
	printf 'speedscope.loadFileFromBase64("scope.json", "%s")' "$(base64 -w0 scope.json)" >profile.js
	python3 - "$page" <<-'END'
		import collections, json, os, re, sys, time
		from browser import Browser

		scope = json.load(open("scope.json"))
		first = scope["profiles"][0]
		totals = collections.Counter()
		for sample, ns in zip(first["samples"], first["weights"]):
		    for frame in set(sample):
		        totals[scope["shared"]["frames"][frame]["name"]] += ns
		assert totals["take_nap"] > 100e6, totals

		with Browser() as page:
		    page.open(sys.argv[1], f"#localProfilePath={os.getcwd()}/profile.js")
		    ends = time.monotonic() + 60
		    while first["name"] not in page.run("document.title"):
		        assert time.monotonic() < ends, page.run("document.title")
		    page.press("3")
		    page.frame()
		    text = page.run("document.body.innerText")
		    print(text)
		    shown = re.findall(r"([0-9.]+)ms \([<>]?[0-9.]+%\)\s+[0-9.]+[mµn]?s \([^)]*\)\s+(\S+)", text)
		    assert "take_nap" in dict(map(reversed, shown))
		    for ms, name in shown:
		        assert ms == f"{totals[name] / 1e6:.2f}", (ms, name, totals[name])
	END
}

# opens FILE [TITLE]: the page has its name, or that of its first profile, at the top, which
# speedscope writes once it has read it.
opens() {
	printf 'speedscope.loadFileFromBase64("%s", "%s")' "$1" "$(base64 -w0 "$1")" >profile.js
	timeout 60 chromium --headless --no-sandbox --disable-gpu --allow-file-access-from-files \
		--user-data-dir="$PWD/chromium" --virtual-time-budget=10000 --dump-dom \
		"file://$page#localProfilePath=$PWD/profile.js" 2>browser.log >dom
	grep -qF "<title>${2:-$1} " dom
}
