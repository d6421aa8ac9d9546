# SPDX-License-Identifier: GPL-2.0-only
# compare.awk: one workload, a row for each tool. The ratios are of one round each, in which both
# ran within seconds of each other.

$1 != workload || ($3 != "time" && $3 != "stats") { next }
{ fields() }
!($2 in seen) { seen[$2] = 1; order[++nr] = $2 }
# A tool without BPF programs has no run of one.
$3 == "stats" && f["switches"] > 0 && f["runs"] > 0 {
	put($2, "per_run", f["run_ns"] / f["runs"])
	put($2, "per_switch", f["run_ns"] / f["switches"])
}
$3 == "time" && f["switches"] > 0 {
	tool_cpu = f["tool_cpu"] + f["helpers_cpu"]
	work[$2, f["round"]] = f["cpu"] + tool_cpu
	cpu[$2, f["round"]] = work[$2, f["round"]] / f["switches"]
	wall[$2, f["round"]] = f["wall"]
	rounds[f["round"]] = 1
	put($2, "cpu", cpu[$2, f["round"]])
	if ($2 == "none") next
	put($2, "own", 100 * tool_cpu / f["wall"])
	put($2, "rss", f["tool_rss"] / 1048576)
	put($2, "maps", f["map_bytes"] / 1048576)
	if (f["bytes"] != "-") put($2, "kb", f["bytes"] / 1024)
	if (f["lost"] != "-") put($2, "lost", f["lost"])
	put($2, "attach", f["attach"] / 1e6)
	put($2, "exit", f["exit"] / 1e6)
}
END {
	for (i = 1; i <= nr; i++)
		for (r in rounds)
			if (cpu["none", r] && cpu[order[i], r]) {
				put(order[i], "cpu_ratio", cpu[order[i], r] / cpu["none", r])
				put(order[i], "work_ratio", work[order[i], r] / work["none", r])
				put(order[i], "speed", wall["none", r] / wall[order[i], r])
			}
	line = "%-12s %7s %7s %7s  %-17s %-17s %-17s %6s %6s %6s %8s %6s %6s %5s\n"
	printf line, "", "BPF ns", "BPF ns", "CPU ns", "CPU / switch,", "CPU, all of it,",
		"throughput,", "own", "RSS", "maps", "output", "", "attach", "exit"
	printf line, "", "/ run", "/switch", "/switch", "x none", "x none", "x none", "CPU %",
		"MB", "MB", "KB", "lost", "ms", "ms"
	for (i = 1; i <= nr; i++) {
		t = order[i]
		printf line, t, show(t, "per_run", "%.0f"), show(t, "per_switch", "%.0f"),
			show(t, "cpu", "%.0f"), range(t, "cpu_ratio", "%.2f"),
			range(t, "work_ratio", "%.2f"), range(t, "speed", "%.2f"),
			show(t, "own", "%.1f"), show(t, "rss", "%.1f"), show(t, "maps", "%.1f"),
			show(t, "kb", "%.0f"), show(t, "lost", "%d"), show(t, "attach", "%.0f"),
			show(t, "exit", "%.0f")
	}
}
