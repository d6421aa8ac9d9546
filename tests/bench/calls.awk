# SPDX-License-Identifier: GPL-2.0-only
# calls.awk: what a system call costs under each tool, in the order given, and x peer if one is
# named; medians of the rounds.

function beside(a, b, format) { return a && b ? sprintf(format, a / b) : "-" }

$3 == "read=" read {
	fields()
	if ($2 == "stats") put($1, "bpf", f["run_ns"] / f["calls"])
	else put($1, "wall", f["wall"] / f["calls"])
}
END {
	n = split(order, tool, " ")
	printf "%-16s %12s %9s %12s %9s%s\n", "", "BPF ns/call", "x floor", "wall ns/call", "x none",
		peer ? sprintf(" %12s", "BPF x peer") : ""
	for (i = 1; i <= n; i++) {
		t = tool[i]
		bpf = median(t, "bpf")
		printf "%-16s %12s %9s %12s %9s%s\n", t, show(t, "bpf", "%.1f"),
			beside(bpf, median("floor", "bpf"), "%.2f"), show(t, "wall", "%.1f"),
			beside(median(t, "wall"), median("none", "wall"), "%.2f"),
			peer ? sprintf(" %12s", beside(bpf, median(peer, "bpf"), "%.2f")) : ""
	}
}
