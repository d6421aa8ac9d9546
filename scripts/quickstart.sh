#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# quickstart.sh [SECONDS]: installs what is missing, builds, records a demo workload for
# some seconds (4) and shows the report. As root: `sudo scripts/quickstart.sh`.
set -euo pipefail

tree=$(realpath "$(dirname "$0")/..")
# shellcheck source=scripts/lib.sh
. "$tree/scripts/lib.sh"
seconds=${1:-4}

[ "$(id -u)" = 0 ] || die "recording needs root: sudo $0"
find_builder

say 'checking for the packages that building needs'
"$tree/scripts/deps.sh" build
find_tools

say "building in $tree/build as $(builder_name)"
builder_make O=build BPFTOOL="$BPFTOOL" all build/tests/workloads/demo

# Outside of the tree, and root's: perf reads only files of root or of who calls it.
dir=$(mktemp -d "${TMPDIR:-/tmp}/denet-demo.XXXXXX")
chmod 755 "$dir"
say "recording the demo for $seconds s: these threads lose time off the CPU"
cd "$dir"
"$tree/build/denet-record" -o perf.data --state S,D,R -- \
	"$tree/build/tests/workloads/demo" "$seconds"

say 'the report: which threads waited, for how long and what for'
"$tree/build/denet-report" -i perf.data

cat <<END

The recording is $dir/perf.data. To go on:
  cd $dir
  sudo $tree/build/denet-report --flamegraph page.html   # all stacks, in a browser
  sudo $tree/build/denet-report --comm keeper            # of one thread
  sudo $tree/build/denet-report -h                       # JSON, pprof, speedscope
perf reads it, too:
  sudo perf report --no-children          # browse it; + opens a call chain
  sudo perf script                        # sample by sample: when, how long (ns), the stack
To record your own, and look at it with denet-report:
  sudo $tree/build/denet-record -- COMMAND
  sudo $tree/build/denet-record -p PID -- sleep 10
END
