# SPDX-License-Identifier: GPL-2.0-only
# pairs.awk: pairs of latency, a run without a tool and one with it, one right after the other.
# Where the scheduler placed the two sides of the requests in another way in one of them, the pair
# tells nothing of the tool. Needs lib.awk.

function placement(together) {
	return together >= 0.9 ? "together" : together <= 0.1 ? "apart" : "mixed"
}
# The line at hand is one side of a pair. Rounds take turns in which side comes first.
function take_side(   pair, name) {
	pair = $1 SUBSEP $2 SUBSEP f["round"]
	if (!(pair in owner)) {
		owner[pair] = $1 SUBSEP $2
		pairs[++nr_pairs] = pair
	}
	for (name in f) side[pair, f["side"], name] = f[name]
}
function add_pair(pair,   none, tool, where, row) {
	none = pair SUBSEP "none"
	tool = pair SUBSEP "tool"
	where = placement(side[tool, "together"])
	row = owner[pair] SUBSEP where
	if (!(side[tool, "rate"] > 0 && side[none, "rate"] > 0)) {
		failed[owner[pair]]++
		return
	}
	if (placement(side[none, "together"]) != where) {
		unpaired[owner[pair]]++
		return
	}
	put(row, "rate", side[tool, "rate"] / side[none, "rate"])
	put(row, "p50", side[tool, "p50"] / side[none, "p50"])
	put(row, "p99", side[tool, "p99"] / side[none, "p99"])
	put(row, "p50us", side[none, "p50"] / 1e3)
	put(row, "p99us", side[none, "p99"] / 1e3)
	put(row, "hz", side[none, "rate"])
}
# Behind the last side: what the pairs tell, in rows WORKLOAD SUBSEP TOOL SUBSEP PLACEMENT.
function add_pairs(   i) {
	for (i = 1; i <= nr_pairs; i++) add_pair(pairs[i])
}
