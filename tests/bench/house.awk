# SPDX-License-Identifier: GPL-2.0-only
# house.awk: our own start, end, rest and storm, beside their goals.

function line(what, value, goal, met) {
	printf "%-58s %-22s %-18s %s\n", what, value, goal, met
}
function judge(good) { return good ? "met" : "NOT met" }
$3 != "house" { next }
{ fields(); per = f["switches"] ? f["switches"] : 1 }
$2 == "start" { put("start", "ms", f["began"] * 1e3 - f["started"] / 1e6)
		put("start", "exit", f["exit"] / 1e6) }
# Fewer switches than stacks: not each was slept in.
$2 == "stop" && f["switches"] >= 2 ^ bits { put("stop", "ms", f["exit"] / 1e6) }
$2 ~ /-stop$/ && f["switches"] >= 2 ^ bits { put($2, "ms", f["exit"] / 1e6)
					     put($2, "mb", f["bytes"] / 1e6) }
$2 == "rest" { put("rest", "sleeps", f["tool_sleeps"]); put("rest", "cpu", f["tool_cpu"] / 1e6) }
$2 ~ /thresh-0$/ {
	put($2, "bytes", f["bytes"] / per)
	put($2, "mb", f["bytes"] / 1e6)
	put($2, "switches", f["switches"])
	put($2, "own", f["tool_all_cpu"] / per)
	put($2, "cpu", (f["cpu"] + f["tool_all_cpu"]) / per)
	if (f["lost"] != "-") put($2, "lost", f["lost"])
}
END {
	if (count["start", "ms"])
		line("start with -a and 300 processes: exec to recording", range("start", "ms", "%.0f") " ms",
			"< 150 ms", judge(median("start", "ms") < 150))
	if (count["stop", "ms"])
		line(sprintf("stop with 2^%d stacks", bits), range("stop", "ms", "%.0f") " ms", "< 1000 ms",
			judge(median("stop", "ms") < 1000))
	if (count["live-stop", "ms"])
		line(sprintf("denet-offcputime: 2^%d stacks printed (%.0f MB)", bits, median("live-stop", "mb")),
			range("live-stop", "ms", "%.0f") " ms", "< 5000 ms",
			judge(median("live-stop", "ms") < 5000))
	if (count["offcputime-stop", "ms"])
		line(sprintf("offcputime: the same (%.0f MB)", median("offcputime-stop", "mb")),
			range("offcputime-stop", "ms", "%.0f") " ms", "", "")
	if (count["rest", "sleeps"])
		line(sprintf("wake-ups in %g s with nothing to write", rest_ms / 1000),
			range("rest", "sleeps", "%.0f"), "<= 1 each second",
			judge(median("rest", "sleeps") <= rest_ms / 1000 + 1))
	split("thresh-0 perf-thresh-0", storms, " ")
	for (i = 1; i <= 2; i++) {
		t = storms[i]
		if (!count[t, "bytes"]) continue
		rival = i == 1 && count[storms[2], "cpu"]
		line(sprintf("%s: %d switches", t, median(t, "switches")),
			sprintf("%.0f MB", median(t, "mb")), "", "")
		line("   bytes per switch", range(t, "bytes", "%.0f"), "", "")
		line("   own CPU ns per switch, start and end included",
			range(t, "own", "%.0f"), rival ? "< perf-thresh-0" : "",
			rival ? judge(median(t, "own") < median(storms[2], "own")) : "")
		line("   CPU ns per switch with the workload", range(t, "cpu", "%.0f"),
			rival ? "< perf-thresh-0" : "",
			rival ? judge(median(t, "cpu") < median(storms[2], "cpu")) : "")
		line("   lost", show(t, "lost", "%d"), i == 1 ? "0" : "",
			i == 1 ? judge(median(t, "lost") == 0) : "")
	}
}
