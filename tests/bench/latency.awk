# SPDX-License-Identifier: GPL-2.0-only
# latency.awk: one workload of request and reply, a row for each tool and placement of the two
# sides. Needs pairs.awk.

$1 != workload || $3 != "latency" { next }
{ fields(); take_side() }
!($2 in seen) { seen[$2] = 1; order[++nr] = $2 }
END {
	add_pairs()
	line = "%-12s %-9s %5s  %8s %7s %7s  %-17s %-17s %-17s\n"
	printf line, "", "both", "", "requests", "p50", "p99", "throughput,", "p50,", "p99,"
	printf line, "", "sides", "pairs", "/s, none", "us", "us", "x none", "x none", "x none"
	split("together apart mixed", places, " ")
	for (i = 1; i <= nr; i++) {
		for (p = 1; p <= 3; p++) {
			row = workload SUBSEP order[i] SUBSEP places[p]
			if (!count[row, "rate"]) continue
			printf line, order[i], places[p], count[row, "rate"],
				show(row, "hz", "%.0f"), show(row, "p50us", "%.1f"),
				show(row, "p99us", "%.1f"), range(row, "rate", "%.2f"),
				range(row, "p50", "%.2f"), range(row, "p99", "%.2f")
		}
		tool = workload SUBSEP order[i]
		if (failed[tool])
			printf "%-12s %d pairs left out, of which a side failed\n", order[i], failed[tool]
		if (unpaired[tool])
			printf "%-12s %d pairs of two placements left out\n", order[i], unpaired[tool]
	}
}
