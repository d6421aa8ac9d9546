#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# denet-fold (scripts/fold.sh in the source tree): prints a recording as folded stacks, which
# flame graph programs read. Documentation/denet-fold.txt describes it.
set -euo pipefail

usage() {
	cat <<-END
		usage: ${0##*/} [-e EVENT[,EVENT…]] [FILE]
		Prints a recording (perf.data) as folded stacks, "thread;outermost;…;leaf NS".

		  -e EVENT   samples of this event (offcpu-time, or wall-time); of several, or of "all", each
		             stack begins with the name of its event
		  -h         this help

		FILE is perf.data unless another one is named; "-" is standard input.
	END
}

events=
while getopts e:h option; do
	case $option in
	e) events=$OPTARG ;;
	h) usage; exit ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -le 1 ] || { usage >&2; exit 2; }

# A sample is a paragraph: "comm tid period event:", then a frame a line after a tab, leaf first.
perf script -i "${1:-perf.data}" -F comm,tid,period,event,ip,sym |
	LC_ALL=C awk -v events="$events" -v self="${0##*/}" '
	function keep() {
		if (comm != "")
			sum[comm stack] += ns
		comm = stack = ""
	}
	function wanted(event) {
		if (event in chosen || (all && event !~ /:/))
			return 1
		left_out[event]++
		left_ns[event] += ns
		return 0
	}
	BEGIN {
		# A file has either of the two.
		implied = events == ""
		nr = split(implied ? "offcpu-time,wall-time" : events, list, ",")
		for (i = 1; i <= nr; i++)
			chosen[list[i]]
		all = "all" in chosen
		several = all || (nr > 1 && !implied)
	}
	/^$/ { keep(); next }
	/^[^\t]/ {
		keep()
		# Behind the event there is nothing, or the one frame of a sample without a chain.
		for (at = 4; at < NF && !($at ~ /:$/ && $(at - 1) $(at - 2) ~ /^[0-9]+$/); at++)
			;
		event = $at
		sub(/:$/, "", event)
		ns = $(at - 1)
		seen[event]
		if (!wanted(event))
			next
		comm = $1
		for (i = 2; i < at - 2; i++)
			comm = comm " " $i
		gsub(/[; ]/, "_", comm)
		if (several)
			comm = event ";" comm
		next
	}
	comm != "" {
		kernel = length($1) == 16 && $1 ~ /^ffff/
		name = $0
		sub(/^[ \t]*[0-9a-f]+ /, "", name)
		gsub(/;/, ":", name)
		# The kinds of time of --one-event are no functions of the kernel.
		if (name ~ /^\[(blocked|idle|runnable|running)\]$/)
			kernel = 0
		stack = ";" name (kernel ? "_[k]" : "") stack
	}
	END {
		keep()
		for (key in sum)
			printf "%s %.0f\n", key, sum[key]
		close("/dev/stdout")
		# Tracepoints tell more of the samples of other events: their time is no time besides.
		for (event in left_out)
			if (event !~ /:/)
				printf "%s: left out: %d samples of %s, %.3f s (-e %s)\n", self,
					left_out[event], event, left_ns[event] / 1e9,
					event >"/dev/stderr"
		if (implied && (("offcpu-time" in seen) || ("wall-time" in seen)))
			exit
		for (event in chosen)
			if (event != "all" && !(event in seen) && !(implied && event == "wall-time"))
				printf "%s: no samples of %s\n", self, event >"/dev/stderr"
	}' | LC_ALL=C sort
