# SPDX-License-Identifier: GPL-2.0-only
# calls.awk: what a system call costs under each tool, in the order given; medians of the rounds.

$3 == "read=" read {
	fields()
	if ($2 == "stats") put($1, "bpf", f["run_ns"] / f["calls"])
	else put($1, "wall", f["wall"] / f["calls"])
}
END {
	n = split(order, tool, " ")
	printf "%-16s %12s %9s %12s %9s\n", "", "BPF ns/call", "x floor", "wall ns/call", "x none"
	for (i = 1; i <= n; i++) {
		t = tool[i]
		bpf = median(t, "bpf"); floor = median("floor", "bpf")
		wall = median(t, "wall"); none = median("none", "wall")
		printf "%-16s %12s %9s %12s %9s\n", t, show(t, "bpf", "%.1f"),
			bpf && floor ? sprintf("%.2f", bpf / floor) : "-", show(t, "wall", "%.1f"),
			wall && none ? sprintf("%.2f", wall / none) : "-"
	}
}
