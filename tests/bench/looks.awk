# SPDX-License-Identifier: GPL-2.0-only
# looks.awk: what a look costs for each thread, a row for each mode in the order given, denet-top
# beside xcapture; medians of the rounds. A look runs the program once for each thread. How many
# runs there are in a second is known from the passes with the kernel's statistics, which cost time
# themselves, and the CPU time from the other ones. Where samples are written, CPU time is that of
# each one that was.

$3 == "threads=" threads {
	fields()
	row = $1 " " f["mode"]
	all = f["all"] + 0
	if ($2 == "stats" && f["runs"]) {
		put(row, "bpf", f["run_ns"] / f["runs"])
		put(row, "rate", f["runs"] / f["wall"])
	}
	if (f["samples"] > 0) put(row, "kept", f["samples"] + 0 < all ? f["samples"] / all : 1)
	if ($2 == "time") put(row, "share", (f["tool_cpu"] + f["helpers_cpu"]) / f["wall"])
}
function kept(row) { return count[row, "kept"] ? median(row, "kept") : 1 }
function run_cpu(row) { return count[row, "rate"] ? median(row, "share") / median(row, "rate") : 0 }
function cpu(row) { return run_cpu(row) / kept(row) }
function lost(row) { return kept(row) < 0.9 ? sprintf("  %.0f %% lost", 100 * (1 - kept(row))) : "" }
function text(value, format) { return value ? sprintf(format, value) : "-" }
function ratio(a, b) { return a && b ? sprintf("%.2f", a / b) : "-" }
END {
	line = "%-10s %10s %10s %6s   %10s %10s %6s   %10s %10s%s\n"
	printf line, "", "BPF ns", "/ thread", "", "CPU ns", "/ thread", "", "CPU us", "/ look", ""
	printf line, "", "denet-top", "xcapture", "x", "denet-top", "xcapture", "x", "denet-top",
		"xcapture", ""
	n = split(order, mode, " ")
	for (i = 1; i <= n; i++) {
		ours = "denet-top " mode[i]; theirs = "xcapture " mode[i]
		printf line, mode[i], show(ours, "bpf", "%.0f"), show(theirs, "bpf", "%.0f"),
			ratio(median(ours, "bpf"), median(theirs, "bpf")),
			text(cpu(ours), "%.0f"), text(cpu(theirs), "%.0f"),
			ratio(cpu(ours), cpu(theirs)),
			text(run_cpu(ours) * all / 1e3, "%.0f"),
			text(run_cpu(theirs) * all / 1e3, "%.0f"), lost(theirs)
	}
}
