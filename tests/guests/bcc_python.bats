#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# tests: limit 1900
# The same waits, as the Python offcputime of bcc and we see them, in a guest that has kprobes and
# the headers of its kernel.

load ../cli/lib

prepare() {
	export XDG_CACHE_HOME=$reader_cache
	PATH=$PATH:/usr/sbin:/sbin command -v offcputime-bpfcc >/dev/null ||
		skip "no offcputime-bpfcc: sudo scripts/deps.sh bcc"
	why=$("$top/scripts/vm/can-boot.sh" 6.1) || skip "$why"
	headers=$("$top/scripts/vm/fetch-headers.sh" 6.1 2>said) || skip "no headers: $(tail -1 said)"
}

# no_frames FILE: what is no frame, with numbers and names of threads as such, of a text in stacks.
no_frames() {
	sed -E 's/^    -                [^ ].* \([0-9]+\)$/    -                COMM (TID)/
		s/^        [0-9]+$/        US/; s/^    [^ -].*$/    FRAME/' "$1" | uniq
}

# has_stack REGEX FILE: a line of it matches. The Python tool loses a stack whose hash is that of another
# one, and says so on its standard error: then it has no such line.
has_stack() {
	grep -qE "$1" "$2" || { [[ $2 = *.theirs ]] && grep 'Missed Kernel Stack' "$2" &&
		grep 'stack traces lost' "$2.err"; }
}

# us_of THREAD FILE: the microseconds of a thread, of a text in stacks or folded.
us_of() {
	awk -v name="$1" '$1 == "-" && $2 == name { getline; us += $1 }
		index($0, name ";") == 1 { us += $NF } END { printf "%d", us }' "$2"
}

@test "the Python offcputime prints the same forms, and the same time" {
	prepare
	mkdir guest
	# Below /tmp, the tree is the host's, which the guest has elsewhere.
	"$top/scripts/vm/boot.sh" -d guest -m 4096 -t 1800 6.1 \
		"[ -d '$top' ] || { mkdir -p '$top' && mount --bind '/host$top' '$top'; }
		'$top/tests/guests/bcc_python.sh' '$headers' '$build'" ||
		{ tail -n 20 guest/*; false; }
	cd guest
	head -n 100 ./*.err
	for i in 0 1 2 3 4; do
		for thread in napper-0 napper-1 napper-2; do
			theirs=$(us_of $thread $i.theirs) ours=$(us_of $thread $i.ours)
			echo "$(cat $i.options), $thread: theirs $theirs us, ours $ours us"
			[ "$ours" -ge 500000 ]
			equal_within "$theirs" "$ours" $((ours / 10))
		done
	done
	# Stacks: the first line, the forms of the others, and what the options leave out.
	for i in 0 2; do
		diff <(head -1 $i.theirs) <(head -1 $i.ours)
		diff <(no_frames $i.theirs | sort -u) <(no_frames $i.ours | sort -u)
	done
	for side in theirs ours; do
		has_stack '^    do_nanosleep$' 0.$side
		refute grep -q do_nanosleep 2.$side
		# With a delimiter, kernel frames alone, threads of users and of the kernel.
		has_stack '^napper-0;.*;-;.*;do_nanosleep[; ]' 1.$side
		has_stack '^napper-0;[^-]*;do_nanosleep[; ]' 3.$side
		refute grep -q take_nap 3.$side
		refute grep -qE '^(kworker|rcu_)' 4.$side
		refute grep -q '^napper' 5.$side
		grep -qE '^(kworker|rcu_)' 5.$side
	done
	grep -q '^    take_nap$' 2.ours
}
