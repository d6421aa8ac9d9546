#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# fold.sh [FILE]: prints a recording (perf.data) as folded stacks, "thread;outermost;…;leaf NS",
# which flame graph programs read. Kernel functions get the suffix _[k].
set -euo pipefail

# Samples are paragraphs: "comm tid period event:", then a frame a line after a tab, leaf first.
perf script -i "${1:-perf.data}" -F comm,tid,period,event,ip,sym | awk '
	function keep() {
		if (comm != "")
			sum[comm stack] += ns
		comm = stack = ""
	}
	/^$/ { keep() }
	/^[^\t]/ {
		if ($NF !~ /^offcpu-time/)
			next
		ns = $(NF - 1)
		comm = $0
		sub(/^ +/, "", comm)
		sub(/ +[0-9]+ +[0-9]+ +[^ ]+ *$/, "", comm)
		gsub(/[; ]/, "_", comm)
	}
	/^\t/ && comm != "" {
		kernel = length($1) == 16 && $1 ~ /^ffff/
		name = $0
		sub(/^[ \t]*[0-9a-f]+ /, "", name)
		gsub(/;/, ":", name)
		stack = ";" name (kernel ? "_[k]" : "") stack
	}
	END {
		keep()
		for (key in sum)
			printf "%s %.0f\n", key, sum[key]
	}' | LC_ALL=C sort
