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
builder_make BPFTOOL="$BPFTOOL" all build/tests/workloads/demo

# Outside of the tree, and root's: perf reads only files of root or of who calls it, and
# kernel addresses have names for root alone.
dir=$(mktemp -d "${TMPDIR:-/tmp}/denet-demo.XXXXXX")
chmod 755 "$dir"
say "recording the demo for $seconds s: these threads lose time off the CPU"
cd "$dir"
"$tree/build/denet-record" -o perf.data --state S,D,R -- \
	"$tree/build/tests/workloads/demo" "$seconds"

command -v perf >/dev/null || die "no perf here: copy $dir/perf.data to where there is one"
say 'the head of perf report: which threads waited, and through which calls'
echo
perf report --stdio --no-children -s comm -g caller,5,callee,function,percent \
	--percent-limit 2 -i perf.data 2>"$dir/perf.log" >"$dir/report.txt" ||
	die "perf report failed: $(tail -3 "$dir/perf.log")"
grep -v '^#$' "$dir/report.txt" | head -60

cat <<END

The recording is $dir/perf.data. To go on:
  cd $dir
  sudo perf report --no-children              # browse it; + opens a call chain
  sudo perf report --stdio -s comm,sym        # by thread and by where it waits
  sudo perf script                            # each block: time, length in ns, stack
  sudo $tree/build/denet-record -- YOUR COMMAND
  sudo $tree/build/denet-record -p PID -- sleep 10
END
