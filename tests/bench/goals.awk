# SPDX-License-Identifier: GPL-2.0-only
# goals.awk: a row for each goal; the lines "goal MODE FACTOR BASE" stand behind the cells.

$1 == "goal" {
	value = median($2, "ns")
	base = median($4, "ns")
	if (value == "" || base == "") verdict = "not measured"
	else if (value <= $3 * base && !lost[$2]) verdict = "met"
	else verdict = lost[$2] ? "NOT met: " lost[$2] " lost" : "NOT met"
	if (value != "" && base != "")
		figures = sprintf("%6.0f <= %6.0f, that is %.2f x", value, $3 * base, value / base)
	else
		figures = "-"
	printf "%-12s <= %4s x %-12s %-32s %s\n", $2, $3, $4, figures, verdict
	next
}
$1 != "pingpong" || $3 == "house" { next }
{ fields() }
$3 == "stats" && f["switches"] { put($2, "ns", f["run_ns"] / f["switches"]) }
f["lost"] > 0 { lost[$2] += f["lost"] }
