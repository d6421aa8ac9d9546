# SPDX-License-Identifier: GPL-2.0-only
# profile_sums.py FILE…: "FILE NS" for each, the time off the CPU in all of its samples: page.html of
# --flamegraph, *.pb.gz of --pprof, *.scope of --speedscope, *.json of --json; else folded stacks.
import gzip
import json
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
            value, at = data[at : at + value], at + value
        yield key >> 3, value


def pprof(path):
    """The values off_cpu (0) and idle (2) of all samples."""
    total = 0
    for field, sample in fields(gzip.open(path).read()):
        for inner, packed in fields(sample) if field == 2 else ():
            values, at = [], 0
            while inner == 2 and at < len(packed):
                number, at = varint(packed, at)
                values.append(number)
            total += values[0] + values[2] if inner == 2 else 0
    return total


def flamegraph(path):
    text = open(path).read()
    data = json.loads(text[text.index('{"other"') : text.index("]};") + 2])
    assert data["nodes"][0] == 0
    return data["nodes"][2]


def speedscope(path):
    profiles = json.load(open(path))["profiles"]
    assert all(p["unit"] == "nanoseconds" for p in profiles)
    return sum(sum(p["weights"]) for p in profiles)


def own_json(path):
    report = json.load(open(path))
    total = sum(stack["ns"] for stack in report["stacks"])
    assert total == sum(event["ns"] for event in report["events"])
    return total


def folded(path):
    return sum(int(line.rsplit(" ", 1)[1]) for line in open(path))


readers = {".html": flamegraph, ".pb.gz": pprof, ".scope": speedscope, ".json": own_json}
for path in sys.argv[1:]:
    read = next((readers[end] for end in readers if path.endswith(end)), folded)
    print(path, read(path))
