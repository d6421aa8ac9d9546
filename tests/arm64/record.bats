#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The static program for arm64, in guests of that architecture. Its recordings are read by this
# machine's perf: user and kernel stacks, times, and reasons.
# tests: limit 900

load ../cli/lib

program=$(ls "$build"/arm64/dist/denet-*-aarch64 2>/dev/null || true)

needs=perf

# boot KERNEL: records there, into the folder w.
boot() {
	local reason

	export GUEST_ARCH=arm64
	reason=$("$top/scripts/vm/can-boot.sh" "$1") || skip "$reason"
	[ -x "$program" ] || { echo 'no program: scripts/arm64/make.sh all tests dist'; false; }
	mkdir w
	# The workloads lie where they lie here, so that perf finds their symbols.
	"$top/scripts/vm/boot.sh" -d w -t 600 "$1" "[ -d '$top' ] || { mkdir -p '$top' &&
		mount --bind '/host$top' '$top'; }
		'$BATS_TEST_DIRNAME/record.sh' '$program' '$build/arm64/tests'" >said 2>&1 ||
		{ cat said w/*.err; false; }
	cat w/machine w/table
	grep -q 'aarch64$' w/machine
	grep -E '^ +denet .* aarch64 \(static' w/table
	grep 'recording works here' w/table
}

# read_samples: one a line: comm, tid, period, the kernel's leaf, the user's chain from the outermost
# function on.
read_samples() {
	perf script -i "w/$1.data" --kallsyms w/kallsyms -F comm,tid,period,event,ip,sym 2>/dev/null |
		awk '
		/^[^[:space:]].*offcpu-(time|idle)/ {
			line = $1 " " $2 " " $3; leaf = chain = ""; open = 1
			next
		}
		open && NF >= 2 && $1 ~ /^ffff/ { if (leaf == "") leaf = $2; next }
		open && NF >= 2 { chain = $2 (chain == "" ? "" : ";" chain) }
		open && !NF { print line, leaf == "" ? "-" : leaf, chain; open = 0 }' >"$1.samples"
	# In the output of a failure, all of them would hide the rest.
	tail -40 "$1.samples"
	[ -s "$1.samples" ]
}

# The chains and the times of each thread are those that the workload tells.
has_waits() {
	awk '
		FNR == NR && /^truth / {
			for (i = 2; i <= NF; i++) { split($i, a, "="); f[a[1]] = a[2] }
			tid = f["tid"]; name[tid] = f["function"]; count[tid] = f["count"]
			least[tid] = f["requested"] * 0.99; most[tid] = f["bracket"]
			next
		}
		FNR == NR || !($2 in name) { next }
		{ inner = name[$2] == "-" ? "wait_" : name[$2] "$" }
		$5 ~ "start_waiting;repeat_wait;" inner {
			n[$2]++; sum[$2] += $3
			bad += $4 !~ /nanosleep|futex|pipe_read|poll|schedule|^ep_/
		}
		END {
			for (tid in name) {
				threads++
				print tid, name[tid], n[tid], least[tid], sum[tid], most[tid]
				bad += n[tid] < count[tid] || sum[tid] < least[tid] || sum[tid] > most[tid]
			}
			print threads " threads, " bad + 0 " wrong"
			exit bad || threads < 6
		}' w/said fp.samples
}

# By the names that arm64 has for its system calls. Without a hook at switch-in, on Linux 6.1, the
# array that ppoll was given is not there to read.
has_reasons() {
	local polled=' on descriptor [0-9]*, pipe:\['

	[ "$1" != 6.1 ] || polled='$'
	perf script -i w/fp.data -F comm,event,trace 2>/dev/null | grep -a 'denet:waits: ' >reasons
	for wait in 'w-nanosleep .* in clock_nanosleep' 'w-futex .* in futex on ' \
		'w-pipe .* in read on descriptor [0-9]*, pipe:\[' \
		"w-poll .* in ppoll$polled" \
		'w-epoll .* in epoll_pwait until [0-9]* was ready'; do
		grep -q "$wait" reasons || { grep ' w-' reasons; echo "no $wait"; false; }
	done
}

# As deep as the program says, down to the first function. On Linux 6.1, BPF programs cannot be
# attached to functions of arm64's kernel, so there is no hook at switch-in, and no copies.
is_unwound() {
	if [ "$1" = 6.1 ]; then
		grep 'no copies of user stacks' w/dwarf.err
		return
	fi
	grep 'recording works here: switch-in' w/table
	grep -q '^nofp_static .*;main;\(descend;\)\{21,\}\(.*;\)\?wait_in_pause;' dwarf.samples
}

# records_on KERNEL
records_on() {
	boot "$1"
	read_samples fp
	has_waits
	has_reasons "$1"
	read_samples dwarf
	is_unwound "$1"
}

@test "it records on Linux 6.1" {
	records_on 6.1
}

@test "it records on Linux 6.12" {
	records_on 6.12
}

@test "it records on Linux 7" {
	records_on 7
}
