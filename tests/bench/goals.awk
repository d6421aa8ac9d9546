# SPDX-License-Identifier: GPL-2.0-only
# goals.awk: a row for each goal; the lines "goal WORKLOAD MODE FACTOR BASE" stand behind the cells.

function of(workload, mode) { return workload SUBSEP mode }

$1 == "goal" {
	value = median(of($2, $3), "ns")
	base = median(of($2, $5), "ns")
	gone = lost[of($2, $3)]
	if (value == "" || base == "") verdict = "not measured"
	else if (value <= $4 * base && !gone) verdict = "met"
	else verdict = gone ? "NOT met: " gone " lost" : "NOT met"
	if (value != "" && base != "")
		figures = sprintf("%6.0f <= %6.0f, that is %.2f x", value, $4 * base, value / base)
	else
		figures = "-"
	printf "%-9s %-13s <= %4s x %-10s %-32s %s\n", $2, $3, $4, $5, figures, verdict
	next
}
$3 == "house" { next }
{ fields() }
$3 == "stats" && f["switches"] { put(of($1, $2), "ns", f["run_ns"] / f["switches"]) }
f["lost"] > 0 { lost[of($1, $2)] += f["lost"] }
