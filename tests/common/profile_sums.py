# SPDX-License-Identifier: GPL-2.0-only
# profile_sums.py FILE…: "FILE NS" for each, the time off the CPU in all of its samples: page.html of
# --flamegraph, *.pb.gz of --pprof, *.scope of --speedscope, *.json of --json; else folded stacks.
# *.pb is a profile for pprof of others, of which the second value is added up. Tests import it, too.
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


def pprof_values(data):
    """The sums of each value of all samples of a profile (field 2), whose values are field 2."""
    sums = []
    for field, sample in fields(data):
        for inner, packed in fields(sample) if field == 2 else ():
            at = index = 0
            while inner == 2 and at < len(packed):
                number, at = varint(packed, at)
                sums += [0] * (index + 1 - len(sums))
                sums[index] += number
                index += 1
    return sums


def pprof(path):
    """off_cpu and idle."""
    sums = pprof_values(gzip.open(path).read())
    return sums[0] + sums[2]


def other_pprof(path):
    return pprof_values(open(path, "rb").read())[1]


def page(path):
    """Tables of a flame graph: [depth, name, ns] of each node, or [.., ns, ns of the other]."""
    text = open(path).read()
    data = json.loads(text[text.index('{"other"') : text.index("]};") + 2])
    width = 4 if data["other"] else 3
    nodes = data["nodes"]
    data["nodes"] = [nodes[i : i + width] for i in range(0, len(nodes), width)]
    return data


def flamegraph(path):
    root = page(path)["nodes"][0]
    assert root[0] == 0
    return root[2]


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


readers = {
    ".html": flamegraph,
    ".pb.gz": pprof,
    ".pb": other_pprof,
    ".scope": speedscope,
    ".json": own_json,
}
if __name__ == "__main__":
    for path in sys.argv[1:]:
        read = next((readers[end] for end in readers if path.endswith(end)), folded)
        print(path, read(path))
