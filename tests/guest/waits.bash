# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What tests of clocks ask of live.data, a recording of the workload "threads", whose output is
# in the file "said", and the recorder's in "err".

read_script() {
	perf script -i live.data --ns -F comm,tid,time,period,event,ip,sym >script
}

# each_wait_is_right COUNT: each thread's wait lies between its own bounds, by a clock that is never
# set.
each_wait_is_right() {
	awk -v count="$1" '
		FNR == NR && /^truth / {
			for (i = 2; i <= NF; i++) { split($i, a, "="); f[a[1]] = a[2] }
			least[f["tid"]] = f["requested"] * 0.99; most[f["tid"]] = f["bracket"]; n++
			next
		}
		FNR == NR { next }
		/^[^\t]/ && NF { tid = $2; time = $3 + 0; ns = $4 }
		/^\t/ && $2 ~ /^wait_once$/ { sum[tid] += ns; if (time < last) back++; last = time }
		END {
			for (tid in least) {
				print tid, least[tid], sum[tid], most[tid]
				bad += sum[tid] < least[tid] || sum[tid] > most[tid]
			}
			exit n != count || bad || back
		}' said script
}

# No block is longer than the recording was.
nothing_forged() {
	sed -n 's/.*recorded for \([0-9.]*\) \(ms\|s\);.*/\1 \2/p' err >took
	perf script -i live.data -F comm,period,event | awk '$2 > max { max = $2 } END { print max }' |
		awk 'NR == FNR { max = $1; next }
			{ exit !(max <= ($2 == "s" ? $1 * 1e9 : $1 * 1e6) * 1.01) }' - took
}
