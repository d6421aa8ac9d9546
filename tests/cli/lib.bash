# SPDX-License-Identifier: GPL-2.0-only
# Shared by the tests of the command line. O is the build directory.
bats_require_minimum_version 1.5.0

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
build=$(cd "$top" && realpath "${O:-build}")
naps=$build/tests/workloads/naps

# shellcheck source=tests/common/tolerance.bash
. "$top/tests/common/tolerance.bash"

# $needs of a file lists its requirements, root and perf unless it is set; empty, there are none.
# Others are in its prepare() and clean_up().
setup() {
	local need

	for need in ${needs-root perf}; do "need_$need"; done
	enter_tmp
	if declare -F prepare >/dev/null; then prepare; fi
}

# Ends all background jobs of a test with it.
teardown() {
	end_started
	if declare -F clean_up >/dev/null; then clean_up; fi
}

# Of targets that this shell has disowned: by PID, whose child it is.
disowned=()

# disown_target: the shell does not tell how $target ends; it ends with the test all the same.
disown_target() {
	disowned[target]=$BASHPID
	disown "$target" 2>/dev/null || true
}

# end_started: ends the processes that this shell started, also one that is stopped or that ignores
# other signals, as unshare does while its child lives.
end_started() {
	local pids pid

	for pid in "${!disowned[@]}"; do
		# Not another process that has this PID by now.
		if grep -qs "^PPid:[[:space:]]*${disowned[pid]}\$" "/proc/$pid/status"; then
			pkill -KILL -P "$pid" || true
			kill -KILL "$pid" || true
		fi
	done
	pids=$(jobs -pr)
	# Words on purpose.
	# shellcheck disable=SC2086
	[ -z "$pids" ] || kill -KILL $pids 2>/dev/null || true
	wait
}

# Each test has a directory of its own, and perf keeps its cache of build-ids there. The commands are
# links that all tests of a file share.
enter_tmp() {
	local bin=$BATS_FILE_TMPDIR/bin name

	cd "$BATS_TEST_TMPDIR" || return 1
	export HOME=$BATS_TEST_TMPDIR
	if [ ! -d "$bin" ]; then
		mkdir "$bin"
		for name in denet{,-check,-offcputime,-record,-report,-stat,-top} perf-denet; do
			ln -s "$build/denet" "$bin/$name"
		done
	fi
	export PATH=$bin:$PATH
}

need_root() {
	[ "$EUID" = 0 ] || skip "needs root"
}

# Asked once a file: to start perf takes a while.
need_perf() {
	local version=$BATS_FILE_TMPDIR/perf

	[ -e "$version" ] && return
	perf version >"$version.new" 2>/dev/null || skip "no perf on this machine"
	mv "$version.new" "$version"
}

# own_is VERSION: the machine's own perf is of that release, after need_perf.
own_is() {
	grep -qF " $1." "$BATS_FILE_TMPDIR/perf"
}

# versions: of perf, that read the same files: the machine's own, the oldest and the newest, and what is
# in between but for one that is the machine's own.
versions() {
	echo own 5.10
	own_is 6.1 || echo 6.1
	if_whole 6.12
	echo 7
}

# refute COMMAND…: fails if it succeeds. A plain "!" goes unnoticed but in the last line.
refute() {
	! "$@"
}

bigger_than() {
	[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "$2" ]
}

# is_sanitized: the programs were built with the address sanitizer.
is_sanitized() {
	nm -D "$build/denet" | grep -q __asan_init
}

# Processes that read files are confined in other builds.
need_confinement() {
	! is_sanitized || skip "built with the address sanitizer, which no confined process can use"
}

# if_whole WORD…: prints them with DENET_TEST_WHOLE=1, as check.sh --all sets it, for loops that are
# shorter without it.
if_whole() {
	[ "${DENET_TEST_WHOLE:-0}" != 1 ] || echo "$@"
}

# gone PID: true if it has ended, reaped or not.
gone() {
	! grep -q '^State:[[:space:]][^ZX]' "/proc/$1/status" 2>/dev/null
}

# runs PID NAME: it is that program by now, and sleeps.
runs() {
	grep -qs "^State:[[:space:]]S" "/proc/$1/status" && [ "$(cat "/proc/$1/comm")" = "$2" ]
}

# is_at PID FUNCTION: its first thread is blocked in that function of the kernel.
is_at() {
	[ "$(sed 's/.*) \(.\) .*/\1/' "/proc/$1/stat")" = S ] && grep -q "$2" "/proc/$1/wchan"
}

# switches PID: how often its threads have blocked.
switches() {
	cat /proc/"$1"/task/*/status | awk '/^voluntary/ { sum += $2 } END { print sum }'
}

# has_blocked PID TIMES: so often in all.
has_blocked() {
	[ "$(switches "$1")" -ge "$2" ]
}

# samples [FILE [OPTION…]]: how many perf script shows.
samples() {
	# No sample is an answer, too, though not to grep.
	perf script -i "${1:-perf.data}" -F comm,event "${@:2}" 2>/dev/null | grep -c offcpu-time || true
}

# processes [FILE]: their PIDs, from the samples.
processes() {
	perf script -i "${1:-perf.data}" -F pid,event | awk '{ print $1 }' | sort -nu
}

# The sum of the periods of all samples, in ns.
sum_of_periods() {
	perf script -i "${1:-perf.data}" -F period,event |
		awk '/offcpu-time/ { sum += $1 } END { printf "%.0f\n", sum }'
}

# stackcollapse: what programs that fold the output of perf script make of it, as
# stackcollapse-perf.pl and inferno do: they take the event of the first sample, and of its
# period what stands one blank before its name.
stackcollapse() {
	awk '
		function keep() {
			if (comm != "")
				sum[comm stack] += ns
			comm = stack = ""
		}
		/^$/ { keep(); next }
		/^[^ \t].*:$/ || (comm == "" && /^[^ \t]/) {
			# The lines of tracepoints have no period.
			if (!match($0, /: +([0-9]+ +)?[^ ]+:/))
				next
			n = split(substr($0, RSTART + 1, RLENGTH - 2), part, " ")
			padded += n > 1 && !match($0, /: +[0-9]+ [^ ]+:/)
			if (filter == "")
				filter = part[n]
			comm = part[n] == filter ? $1 : ""
			ns = n > 1 ? part[1] : 1
			next
		}
		comm != "" {
			name = $2
			sub(/\+0x[0-9a-f]+$/, "", name)
			stack = ";" name stack
		}
		END {
			keep()
			print "event", filter, padded + 0
			for (key in sum)
				printf "%s %.0f\n", key, sum[key]
		}'
}

# fold: perf script's output to lines of "comm;root;…;leaf ns", one for each callchain.
fold() {
	awk '
	/^[^[:space:]].*offcpu-time:/ {
		for (i = 1; i < NF; i++)
			if ($(i + 1) == "offcpu-time:")
				period = $i
		comm = $1; stack = ""; open = 1
		next
	}
	open && NF >= 2 {
		name = $2
		sub(/\+0x[0-9a-f]+$/, "", name)
		stack = ";" name stack
		next
	}
	open && NF == 0 {
		folded[comm stack] += period
		open = 0
	}
	END {
		for (key in folded)
			printf "%s %.0f\n", key, folded[key]
	}'
}

# The seconds off the CPU that the last line of a recording tells.
told_seconds() {
	sed -n 's/.*\[ denet-record: \([0-9.]*\) s off-CPU.*/\1/p'
}

# told_by_nap NAME FILE: "TIMES AWAY BRACKET" of that thread, as `naps … counts` said it in FILE.
told_by_nap() {
	sed -n "s/^$1 waited \\([0-9]*\\) times, for \\([0-9]*\\) of \\([0-9]*\\) ns\$/\\1 \\2 \\3/p" "$2"
}

# all_naps_there: as many waits of napper-0 in take_nap as the kernel counted in its last twenty
# naps, and none of the naps before. $output is what the recording printed.
all_naps_there() {
	local nr told

	told=$(sed -n 's/^napper-0 waited \([0-9]*\) times,.*/\1/p' <<<"$output" | tail -1)
	nr=$(perf script -F comm,event,ip,sym | awk '/^napper-0/ && /take_nap/' RS= | grep -c napper-0)
	echo "$nr waits of napper-0 are there, $told were counted"
	[ "$nr" = "$told" ] && [ "$nr" -gt 10 ]
}

# has_nap_time NAME SAID STOLEN [DATA]: the file has the time that the thread was off its CPU by
# its own clocks, which is not what it asked for: who loses its CPU on the way into a sleep comes
# late. It takes a recording with --state S,D,R. STOLEN is what stolen said before it: such time
# may not be laid to a thread that was on its CPU all the same.
has_nap_time() {
	local times away bracket

	read -r times away bracket < <(told_by_nap "$1" "$2")
	perf script -i "${4:-perf.data}" | fold | awk -v name="^$1;" -v away="$away" \
		-v bracket="$bracket" -v stolen="$(stolen_since "$3")" -v part="$(shared_part)" '
		$0 ~ name { all += $NF }
		$0 ~ name && /;take_nap;/ { naps += $NF }
		END { print naps, "of", all, "ns; by the thread", away, "to", bracket, "less", stolen
			exit !(away > 0 && naps > 0 && naps <= bracket && all >= away * part - stolen) }'
}

# truths SAID FIELD…: these fields of each line of truth in SAID, which a workload printed in the
# format of tests/workloads/workload.h. A field that is not there ends it.
truths() {
	awk -v names="${*:2}" '
		BEGIN { n = split(names, name, " ") }
		$1 == "truth" {
			split("", truth)
			for (i = 2; i <= NF; i++) {
				split($i, field, "=")
				truth[field[1]] = field[2]
			}
			line = ""
			for (i = 1; i <= n; i++) {
				if (!(name[i] in truth)) {
					print "no " name[i] " in: " $0 >"/dev/stderr"
					exit 1
				}
				line = line (i > 1 ? " " : "") truth[name[i]]
			}
			print line
		}' "$1"
}

# all_who_waited SAID SCRIPT: each of the 10,000 threads of the workload that left its CPU for its
# sleep, as the kernel counted, is in what perf script shows of comm and tid. A timer may be over
# before its thread has gone to sleep, but not as a rule.
all_who_waited() {
	awk 'NR == FNR { if ($1 == "brief") seen[$2] = 1; next }
		{
			threads++
			n += $2 > 0
			if ($2 > 0 && !($1 in seen)) { print "missing:", $0; bad = 1 }
		}
		END { print n, "of", threads; exit bad || threads != 10000 || n < 9000 }' \
		"$2" <(truths "$1" tid voluntary)
}

# start_target COMMAND…: in the background until the test ends. $target is its PID, $targets has those of
# all that were started; its output is in target.out.
start_target() {
	# Now, not when the child gets there: what an earlier one wrote must not be taken for its.
	: >target.out
	"$@" >target.out 3>&- &
	target=$!
	targets+=("$target")
}

# start_recording OPTION…: in the background, without a COMMAND; $recorder is its PID. It
# records once its file is there.
start_recording() {
	rm -f live.data
	denet-record -o live.data "$@" 2>live.err 3>&- &
	recorder=$!
	until_true bigger_than live.data 0
}

# finish_recording: waits for it; $status is its exit status.
finish_recording() {
	status=0
	wait "$recorder" || status=$?
}

# bpf_objects PID: the BPF objects that a process holds, a line "prog ID", "map ID" or "link ID" each.
bpf_objects() {
	sed -n 's/^\(prog\|map\|link\)_id:[[:space:]]*\([0-9]*\)$/\1 \2/p' /proc/"$1"/fdinfo/* \
		2>/dev/null | sort -u
}

# traces PID: it waits for what its programs see, whose list is in objects. At its start it waits for
# children of its own, which is a poll as well.
traces() {
	bpf_objects "$1" >objects && grep -q link objects && is_at "$1" poll &&
		! pgrep -P "$1" denet >/dev/null
}

# none_exists FILE: none of the BPF objects listed in it is in the kernel any more.
none_exists() {
	local kind id

	while read -r kind id; do
		refute bpftool "$kind" show id "$id" >/dev/null 2>&1 || return 1
	done <"$1"
}

# need_tables TEXT: skips the test if a command says there that user stacks are not walked by unwind
# tables. That is a failure where BPF programs are known to load (REQUIRE_BPF), on x86-64 from Linux
# 5.17 on.
need_tables() {
	[[ "$1" == *'are not walked by unwind tables'* ]] || return 0
	if [ "${REQUIRE_BPF:-0}" = 1 ] && [ "$(uname -m)" = x86_64 ] &&
		[ "$(printf '5.17\n%s\n' "$(uname -r)" | sort -V | head -1)" = 5.17 ]; then
		echo "$1"
		return 1
	fi
	skip "no unwind tables here"
}

# need_copies: what was recorded last, its words in the file err, has copies of stacks. The
# guests' kernels can take them.
need_copies() {
	grep -q 'no copies of user stacks' err || return 0
	[ "${DENET_TEST_GUEST:-}" = 1 ] || skip "no copies here: $(head -1 err)"
	cat err
	return 1
}

# file_chains [FILE]: "TID TIME PERIOD FRAMES" of each sample, its user frames from the leaf on
# with their addresses as they are in the file: perf script shows those of the mapped files.
file_chains() {
	perf report -D -i "${1:-perf.data}" 2>/dev/null | awk '
		function flush() { if (tid) print tid, time, period, chain; tid = "" }
		/PERF_RECORD_/ { flush() }
		/PERF_RECORD_SAMPLE/ {
			time = $2; chain = ""; user = 0
			for (i = 3; i < NF; i++) {
				if ($i == "period:") period = $(i + 1)
				if ($i ~ /^[0-9]+\/[0-9]+:$/) { split($i, ids, /[\/:]/); tid = ids[2] }
			}
		}
		/^\.\.\.\.\. *[0-9]+: / && tid {
			if ($NF == "fffffffffffffe00") { user = 1; next }
			sub(/^0+/, "", $NF)
			if (user) chain = chain (chain == "" ? "" : ",") $NF
		}
		END { flush() }'
}

# file_chain FILE: addresses of the user frames of its longest sample, leaf first, a line each.
file_chain() {
	file_chains "$1" | sort -s -n -k 3,3 | awk '{ frames = $4 } END {
		n = split(frames, frame, ",")
		for (i = 1; i <= n; i++) print frame[i] }'
}

# by_tables NUMBER: that number of those that -v told in $output of walks by tables: the first are
# whole, the third met a missing table.
by_tables() {
	sed -n 's/.*user stacks by unwind tables: //p' <<<"$output" | grep -oE '^[0-9]+|, [0-9]+' |
		sed -n "$1s/^, //;$1p"
}

# few_lack_tables: of the blocked time that -v told in $output of walks by tables, no more than
# lacking_tables_percent has a chain that met a missing one.
few_lack_tables() {
	local share

	share=$(sed -n 's/.*met a missing table ([^:]*: \([0-9.]*\) %).*/\1/p' <<<"$output")
	echo "$share % of the blocked time, at most $(lacking_tables_percent)"
	awk -v share="$share" -v most="$(lacking_tables_percent)" \
		'BEGIN { exit !(share != "" && share <= most) }'
}

# copied: the number of stacks that were copied, as -v told in $output.
copied() {
	sed -n 's/.*user stacks: \([0-9]*\) copied, .*/\1/p' <<<"$output"
}

# names_norule: on standard input it is said that user stacks of tests/unwind/norule are not whole, with
# the reason and what helps: in a line, or, where they take a second on a slow machine, by a warning.
names_norule() {
	local share='\(pid [0-9]+\) (end early )?in [0-9]+ % of its [0-9.]+ m?s'
	local why='a rule that is not supported( \(|; )denet-record --call-graph dwarf unwinds it'

	grep -E "user stacks (not whole: |of )norule $share, .*$why"
}

# chains COMM NS: the user frames of its samples of at least so many ns, from the outermost on,
# a line each, as far as they have names.
chains() {
	perf script -F comm,period,ip,sym 2>/dev/null | awk -v comm="$1" -v ns="$2" '
		/^[^[:space:]]/ { use = $1 == comm && $2 >= ns; chain = ""; next }
		use && NF == 2 && $1 !~ /^ffff/ { chain = $2 (chain == "" ? "" : ";" chain) }
		use && !NF { print chain; use = 0 }'
}

# is_confined PID: it has a filter of system calls, no capability but those by which it reads
# (CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE), and a limit on its memory.
is_confined() {
	local kept=$((1 << 2 | 1 << 19 | 1 << 40)) capabilities

	capabilities=$(sed -n 's/^CapPrm:[[:space:]]*/0x/p' "/proc/$1/status")
	grep -q '^Seccomp:[[:space:]]*2$' "/proc/$1/status" &&
		[ $((capabilities & ~kept)) = 0 ] &&
		grep -q '^Max data size  *[0-9]' "/proc/$1/limits"
}

# has_confined_child PID: one that runs now.
has_confined_child() {
	local child

	for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
		is_confined "$child" 2>/dev/null && return
	done
	return 1
}

# That of the user, not of a test.
reader_cache=${XDG_CACHE_HOME:-$HOME/.cache}

# reader VERSION ARGUMENT…: the perf of that release, "own" for the machine's.
reader() {
	local version=$1

	shift
	if [ "$version" = own ]; then
		perf "$@"
	else
		XDG_CACHE_HOME=$reader_cache "$top/scripts/perf-of.sh" "$version" "$@"
	fi
}

# need_reader VERSION: skips, and says why, where that perf cannot be had.
need_reader() {
	reader "$1" version >version 2>&1 ||
		skip "no perf $1 here, and none to be fetched: $(tail -1 version)"
}
