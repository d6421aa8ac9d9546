#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# denet-top --track in floods of calls, which take a CPU for themselves: what cannot be read is counted.

load lib
load top
load service

needs=root
group=

clean_up() {
	[ -z "$group" ] || until_true rmdir "$group"
}

# told_and_lost: what is told of the flood, in dir, and what err says is missing, is what the flood has made.
# Its last calls, and those of Python's end, may be among the missing.
told_and_lost() {
	csv_of dir '
import re
told = len({e["SYSC_SEQ_NUM"] for e in syscend if e["SYSCALL_NAME"] == "getsid"})
made = int(open("made").read())
said = [int(n) for n in re.findall(r"(\d+) calls and requests that ended are missing", open("err").read())]
print(made, told, said)
assert len(said) < 2 and 0 <= told + sum(said) - made < 500'
}

# write_flood: a program whose calls neither Python nor a shell around it makes.
write_flood() {
	cat >flood.py <<-'END'
		import os, time
		end = time.monotonic() + 3
		made = 0
		while time.monotonic() < end:
		    for i in range(1000): os.getsid(0)
		    made += 1000
		print(made, file=open("made", "w"))
	END
}

# bats test_tags=whole
@test "in a flood of calls, --max-overhead bounds the reading of them as well, and looks go on" {
	write_flood
	denet-top -v --track syscalls --min-time 0 -o dir -F 10 -- python3 flood.py 2>err
	cat err
	grep -q 'calls and requests .* faster than --max-overhead lets them be read' err
	# Where looks cost a multiple, they are fewer, and those of the first second many.
	cheap=1
	if is_sanitized || [ "${DENET_TEST_GUEST:-}" = 1 ]; then cheap=0; fi
	export cheap
	csv_of dir '
import collections, os
looks = collections.Counter(s["TIMESTAMP"] for s in samples)
percent = [float(l.split(" for ")[1].split()[0]) for l in open("err") if " looks, for " in l][0]
print(len(looks), len(syscend), percent)
assert len(syscend) > 1000
if os.environ["cheap"] == "1": assert len(looks) >= '"$(looks_of 30)"' and percent < '"$(flood_looks_percent)"
	told_and_lost
}

# bats test_tags=whole
@test "a flood of calls loses records, which are counted, and no look" {
	write_flood
	denet-top --max-overhead 0 --track syscalls --min-time 0 -o dir -F 20 -- python3 flood.py 2>err
	cat err
	csv_of dir '
import collections
looks = collections.Counter(s["TIMESTAMP"] for s in samples)
print(len(looks), len(syscend))
assert len(looks) >= '"$(looks_of 60)"' and len(syscend) > 10000'
	told_and_lost
}

# The flood leaves the buffer full, and its end takes the CPU away that reading it would need.
@test "what is in the buffer at the end is told or counted, also without the time to read it" {
	write_flood
	make_quota
	# The parent is denet-top.
	echo "print(os.getppid(), file=open('$group/cgroup.procs', 'w'))" >>flood.py
	denet-top --max-overhead 1 --track syscalls --min-time 0 -o dir -F 10 -- python3 flood.py 2>err
	cat err
	told_and_lost
}
