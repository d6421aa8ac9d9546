# SPDX-License-Identifier: GPL-2.0-only
# prices.awk: what a stack costs, as the difference of two modes that differ in it, of one round
# each; a column for each workload of order. The lines "price|NAME|MODE|WITHOUT" stand behind the
# cells. Needs lib.awk.

function begin(   i, line) {
	nr = split(order, workloads, " ")
	for (i = 1; i <= nr; i++) line = line sprintf(" %-20s", workloads[i])
	printf "%-36s%s\n", "", line
}
/^price[|]/ {
	if (!nr) begin()
	split($0, price, "|")
	line = ""
	for (i = 1; i <= nr; i++) {
		row = price[2] SUBSEP workloads[i]
		for (r in rounds) {
			with = workloads[i] SUBSEP price[3] SUBSEP r
			without = workloads[i] SUBSEP price[4] SUBSEP r
			if (with in ns && without in ns) put(row, "ns", ns[with] - ns[without])
		}
		line = line sprintf(" %-20s", range(row, "ns", "%.0f"))
	}
	printf "%-36s%s\n", price[2], line
	next
}
$3 != "stats" { next }
{ fields() }
f["switches"] > 0 {
	rounds[f["round"]] = 1
	ns[$1, $2, f["round"]] = f["run_ns"] / f["switches"]
}
