# SPDX-License-Identifier: GPL-2.0-only
# latency.awk: one workload of request and reply, a row for each tool and placement of the two
# sides. A pair is a run without the tool and one with it, one right after the other; where the
# scheduler placed the two sides in another way in one of them, the pair tells nothing of the tool.

function placement(together) {
	return together >= 0.9 ? "together" : together <= 0.1 ? "apart" : "mixed"
}
$1 != workload || $3 != "latency" { next }
{ fields() }
!($2 in seen) { seen[$2] = 1; order[++nr] = $2 }
{
	# Rounds take turns in which side comes first.
	pair = $2 SUBSEP f["round"]
	if (!(pair in of)) {
		of[pair] = $2
		pairs[++nr_pairs] = pair
	}
	for (name in f) side[pair, $4, name] = f[name]
}
function add_pair(pair,   none, tool, where, row) {
	none = pair SUBSEP "side=none"
	tool = pair SUBSEP "side=tool"
	where = placement(side[tool, "together"])
	row = of[pair] " " where
	if (!(side[tool, "rate"] > 0 && side[none, "rate"] > 0)) {
		failed[of[pair]]++
		return
	}
	if (placement(side[none, "together"]) != where) {
		unpaired[of[pair]]++
		return
	}
	put(row, "rate", side[tool, "rate"] / side[none, "rate"])
	put(row, "p50", side[tool, "p50"] / side[none, "p50"])
	put(row, "p99", side[tool, "p99"] / side[none, "p99"])
	put(row, "p50us", side[none, "p50"] / 1e3)
	put(row, "p99us", side[none, "p99"] / 1e3)
	put(row, "hz", side[none, "rate"])
}
END {
	for (i = 1; i <= nr_pairs; i++) add_pair(pairs[i])
	line = "%-12s %-9s %5s  %8s %7s %7s  %-17s %-17s %-17s\n"
	printf line, "", "both", "", "requests", "p50", "p99", "throughput,", "p50,", "p99,"
	printf line, "", "sides", "pairs", "/s, none", "us", "us", "x none", "x none", "x none"
	split("together apart mixed", places, " ")
	for (i = 1; i <= nr; i++) {
		for (p = 1; p <= 3; p++) {
			row = order[i] " " places[p]
			if (!count[row, "rate"]) continue
			printf line, order[i], places[p], count[row, "rate"],
				show(row, "hz", "%.0f"), show(row, "p50us", "%.1f"),
				show(row, "p99us", "%.1f"), range(row, "rate", "%.2f"),
				range(row, "p50", "%.2f"), range(row, "p99", "%.2f")
		}
		if (failed[order[i]])
			printf "%-12s %d pairs left out, of which a side failed\n", order[i], failed[order[i]]
		if (unpaired[order[i]])
			printf "%-12s %d pairs of two placements left out\n", order[i], unpaired[order[i]]
	}
}
