#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# quickstart.sh [SECONDS]: installs what is missing, builds, records a demo workload for
# some seconds (4) and shows the head of the report. As root: `sudo scripts/quickstart.sh`.
set -euo pipefail

tree=$(realpath "$(dirname "$0")/..")
# shellcheck source=scripts/lib.sh
. "$tree/scripts/lib.sh"
seconds=${1:-4}

[ "$(id -u)" = 0 ] || die "recording needs root: sudo $0"
find_builder

say 'checking for the packages that building and reading need'
"$tree/scripts/deps.sh" build perf
find_tools

say "building in $tree/build as $(builder_name)"
builder_make O=build BPFTOOL="$BPFTOOL" all build/tests/workloads/demo

# Outside of the tree, and root's: perf reads only files of root or of who calls it, and
# kernel addresses have names for root alone.
dir=$(mktemp -d "${TMPDIR:-/tmp}/denet-demo.XXXXXX")
chmod 755 "$dir"
say "recording the demo for $seconds s: these threads lose time off the CPU"
cd "$dir"
"$tree/build/denet-record" -o perf.data --state S,D,R -- \
	"$tree/build/tests/workloads/demo" "$seconds"

# report OPTION…: perf report without its comments and tips, which need a page of their own.
report() {
	perf report --stdio --no-children -i perf.data "$@" 2>perf.log >report.txt ||
		die "perf report failed: $(tail -3 perf.log)"
	grep -v '^#' report.txt | cat -s
}

say 'the head of the report: which threads lost time, and in which kernel function'
report -g none -s comm,sym --percent-limit 1 | sed -n 1,20p
say 'the chains of three of them: from the first function to the one that waits'
report -s comm --comm reader,consumer,keeper --percent-limit 1 -g caller,1 | sed -n 1,70p
rm -f report.txt perf.log

cat <<END

The recording is $dir/perf.data. To go on:
  cd $dir
  sudo perf report --no-children          # browse it; + opens a call chain
  sudo perf report --stdio -s comm,sym    # by thread and by where it waits
  sudo perf script                        # sample by sample: when, how long (ns), the stack
To make a flame graph of it, feed flamegraph.pl with the output of
  sudo $tree/scripts/fold.sh perf.data
To record your own:
  sudo $tree/build/denet-record -- COMMAND
  sudo $tree/build/denet-record -p PID -- sleep 10
END
