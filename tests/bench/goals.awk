# SPDX-License-Identifier: GPL-2.0-only
# goals.awk: a row for each goal; the lines "goal KIND WORKLOAD MODE LIMIT BASE" stand behind the
# cells, and bench.sh tells the kinds. What was measured is judged. Where that is ns alone, which
# depend on the machine, a second row has them at the speed of the machine that the goals were set
# on, by what offcputime takes on pingpong here and there (reference_ns); it is not the verdict.
# Needs pairs.awk.

# Whether the kind is a loss that is told by pairs of latency.
function is_loss(kind) { return kind == "rate" || kind == "p99" }

# Pairs whose sides were not where their workload keeps them are in a row of another place.
function key(kind, workload, mode,   place) {
	if (!is_loss(kind)) return workload SUBSEP mode
	place = workload
	sub(/^.*-/, "", place)
	return workload SUBSEP mode SUBSEP place
}

# What is judged; "": it was not measured. Losses are in per cent.
function figure(kind, workload, mode,   ratio) {
	ratio = median(key(kind, workload, mode), kind)
	if (ratio == "" || !is_loss(kind)) return ratio
	return 100 * (kind == "rate" ? 1 - ratio : ratio - 1)
}

function bound(kind, limit, base) {
	if (base == "") return limit
	return kind == "own" || kind == "price" ? base + limit : limit * base
}

function wish(kind, limit, of) {
	if (kind == "whole") return ">= " limit " % whole"
	if (kind == "price") return "<= " limit " ns + " of "'s"
	if (kind == "own") return "own CPU <= " limit " % + " of "'s"
	if (kind == "rate") return "loss <= " limit " x " of "'s"
	if (kind == "p99") return "p99 growth <= " limit " x " of "'s"
	return "<= " limit (of == "-" ? " ns" : " x " of)
}

# The figure beside the greatest or least that is allowed.
function beside(kind, value, most, base) {
	if (kind == "whole") return sprintf("%.2f >= %.2f %%", value, most)
	if (kind == "price") return sprintf("%.0f <= %.0f, %.0f more", value, most, value - base)
	if (kind != "ns") return sprintf("%.1f <= %.1f %%", value, most)
	return sprintf("%.0f <= %.0f", value, most) (base > 0 ? sprintf(", %.2f x", value / base) : "")
}

# A loss cannot be compared with one that is not there, unless it may be greater and is not there
# either.
function verdict(kind, limit, value, base, of) {
	if (is_loss(kind) && base <= 0)
		return value <= 0 && limit >= 1 ? "met" : "undecided: no loss with " of
	if (kind == "whole" ? value >= limit : value <= bound(kind, limit, base)) return "met"
	return "NOT met"
}

function say(workload, mode, text, figures, result) {
	printf "%-14s %-13s %-33s %-24s %s\n", workload, mode, text, figures, result
}

# How fast this machine is: at what it runs offcputime, and how dear its calls of programs are.
function say_speed() {
	here = median(key("ns", "pingpong", "offcputime"), "ns")
	if (here == "") return
	printf "ns a switch on pingpong: offcputime %.0f here, %.0f on the reference machine", here,
		reference_ns
	if (count[key("ns", "pingpong", "floor"), "ns"])
		printf "; floor %.0f, and %.0f", median(key("ns", "pingpong", "floor"), "ns"),
			reference_floor_ns
	printf "\n"
}

function say_at_reference(value, limit, gone,   ns) {
	if (here == "") {
		say("", "", "at the reference machine's speed", "-", "not measured: offcputime on pingpong")
		return
	}
	ns = value * reference_ns / here
	say("", "", "at the reference machine's speed", beside("ns", ns, limit, 0),
		gone || ns > limit ? "would not be met" : "would be met")
}

$1 == "goal" {
	if (!goals++) {
		add_pairs()
		say_speed()
	}
	kind = $2; limit = $5 + 0; of = $6
	is_ns = kind == "ns" || kind == "price"
	gone = is_ns ? lost[$3, $4] + 0 : 0
	value = figure(kind, $3, $4)
	base = of == "-" ? "" : figure(kind, $3, of)
	if (value == "" || (of != "-" && base == "")) {
		result = "not measured: " (value == "" ? $4 : of)
		text = "-"
	} else {
		result = gone ? "NOT met: " gone " lost" : verdict(kind, limit, value, base, of)
		text = beside(kind, value, bound(kind, limit, base), is_ns ? base : "")
	}
	sum[substr(result, 1, 3)]++
	say($3, $4, wish(kind, $5, of), text, result)
	if (kind == "ns" && of == "-" && value != "") say_at_reference(value, limit, gone)
	if (kind == "price" && value != "" && base != "") say_at_reference(value - base, limit, gone)
	next
}
$3 == "house" { next }
{ fields() }
$3 == "latency" {
	take_side()
	if ($2 == "none" && !($1 in chance)) {
		chance[$1] = 1
		chances[++nr_chances] = $1
	}
	next
}
$3 == "stats" && f["switches"] > 0 {
	put(key("ns", $1, $2), "ns", f["run_ns"] / f["switches"])
	put(key("price", $1, $2), "price", f["run_ns"] / f["switches"])
}
$3 == "time" && $2 != "none" && f["wall"] > 0 {
	put(key("own", $1, $2), "own", 100 * (f["tool_cpu"] + f["helpers_cpu"]) / f["wall"])
}
f["whole"] != "" && f["whole"] != "-" { put(key("whole", $1, $2), "whole", f["whole"]) }
f["lost"] > 0 && f["lost"] != "-" { lost[$1, $2] += f["lost"] }
END {
	for (i = 1; i <= nr_chances; i++) {
		row = key("rate", chances[i], "none")
		if (count[row, "rate"])
			printf "%-14s pairs without a tool: throughput x %s, p99 x %s\n", chances[i],
				range(row, "rate", "%.2f"), range(row, "p99", "%.2f")
	}
	if (goals)
		printf "%d met, %d not met, %d undecided, %d not measured\n", sum["met"], sum["NOT"],
			sum["und"], sum["not"]
}
