# SPDX-License-Identifier: GPL-2.0-only
# For tests of denet-top: its samples as lines of JSON.

# says_nothing FILE: what denet-top has said there, but that a slow machine took long for a look.
says_nothing() {
	refute grep -v ' were not looked at, and no look stands for them: ' "$1"
}

# look OPTION…: lines of JSON, in out; 50 looks a second, whatever they cost.
look() {
	denet-top --json -F 50 --max-overhead 0 "$@" >out 2>err || { cat err; return 1; }
	says_nothing err
}

# all_are EXPRESSION: each line of out satisfies it, with the keys of its line in a dictionary s.
all_are() {
	python3 -c '
import json, sys
lines = [json.loads(line) for line in open("out")]
assert lines, "no samples"
for s in lines:
    assert eval(sys.argv[1]), s' "$1"
}

# csv_of DIR SCRIPT: runs it with the lines of each file of DIR as dictionaries: samples, syscend, iorqend.
csv_of() {
	python3 -c '
import csv, glob, sys
def lines(kind):
    return [s for f in sorted(glob.glob(f"{sys.argv[1]}/xcapture_{kind}_*.csv"))
            for s in csv.DictReader(open(f, newline=""), quotechar="\x27")]
samples, syscend, iorqend = lines("samples"), lines("syscend"), lines("iorqend")
for s in samples + syscend + iorqend:
    assert None not in s and None not in s.values(), s
exec(sys.argv[2])' "$1" "$2"
}
