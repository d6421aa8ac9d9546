#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench.sh [OPTION…] [PEER…]: what a recording costs, ours and others', side by side on the
# same workloads, in rounds that interleave all of them. Prints tables, of which
# Documentation/benchmarks.txt tells how to read them. Needs root, and `make bench`.
set -euo pipefail

tree=$(realpath "$(dirname "$0")/..")
# shellcheck source=scripts/lib.sh
. "$tree/scripts/lib.sh"

usage() {
	cat <<-END
		usage: bench.sh [OPTION…] [PEER…]
		PEER is offcputime (package libbpf-tools), bpftrace, or perf: one that was built with
		BPF skeletons, at \$PEER_PERF (none of Debian's was); it also records on-CPU samples
		(perf-on-cpu), and both (perf-wall).

		  --rounds N          repeat everything N times (5)
		  --quick             one short round, to see that all of it works: of little, if
		                      nothing is chosen
		  --workloads LIST    of: pingpong convoy messaging redis python3 (all)
		  --modes LIST        of: $(mode_names | tr '\n' ' ')(all)
		  --only PART         only one part: compare, latency or house; or goals, which is
		                      what the goals name of the first two
		  --pairs N           so many pairs of latency of each tool (as many as rounds)
		  --keep FILE         keep each single measurement in FILE
		Variables: O=DIR, where the program was built (build); PEER_PERF=PATH;
		PYTHON=PATH, of the workload python3 (/usr/bin/python3)
	END
}

# Our modes to measure: name|options. All switches of the targets are recorded in each, so
# --max-overhead, which would leave some out, is off except in the mode that shows its price. User
# stacks are walked along frame pointers, as the peers do, except by tables, tables-user and dwarf,
# and by as-it-comes and live, which have the default, that is by tables. live is denet-offcputime.
modes=(
	'exact|--max-overhead 0 --call-graph fp'
	'exact-user|--max-overhead 0 --call-graph fp --user-callchains'
	'exact-kernel|--max-overhead 0 --kernel-callchains'
	'min-50us|--max-overhead 0 --call-graph fp --min-block 50us'
	'sampling|--max-overhead 0 --call-graph fp --off-cpu-max-rate 999'
	'wall|--max-overhead 0 --call-graph fp --wall'
	'wall-sampling|--max-overhead 0 --call-graph fp --off-cpu-max-rate 999 --wall'
	'thresh-0|--max-overhead 0 --call-graph fp --off-cpu-thresh 0'
	'tables|--max-overhead 0 --call-graph tables'
	'tables-user|--max-overhead 0 --call-graph tables --user-callchains'
	'dwarf|--max-overhead 0 --call-graph dwarf'
	'dwarf-all|--max-overhead 0 --call-graph dwarf --off-cpu-thresh 0 -m 64M'
	'as-it-comes|'
	'live|'
)

# The goals: kind|workload|mode|limit|base. Kinds:
#	ns	of BPF programs per switch, with nothing lost: <= limit, or limit x base's
#	price	of a stack, in ns as above: <= limit more than base has without that stack
#	whole	per cent of the user stacks walked by unwind tables: >= limit
#	own	CPU % of the tool and its helpers while the workload runs: <= limit + base's
#	rate	loss of throughput in pairs of latency: <= limit x base's
#	p99	growth of the 99th percentile in these pairs: <= limit x base's
# perf walks user stacks only, offcputime and bpftrace both.
goals=(
	'ns|pingpong|exact|700|-'
	'ns|pingpong|exact|0.2|offcputime'
	'ns|pingpong|exact|0.25|perf'
	'ns|pingpong|tables|900|-'
	'ns|pingpong|tables|0.2|offcputime'
	'ns|pingpong|tables|0.25|perf'
	'ns|messaging|exact|0.3|offcputime'
	'ns|messaging|tables|0.3|offcputime'
	'ns|redis|exact|0.3|offcputime'
	'ns|redis|tables|0.3|offcputime'
	'ns|pingpong|sampling|268|-'
	'ns|pingpong|sampling|0.15|perf'
	'ns|pingpong|sampling|3|floor'
	'ns|pingpong|min-50us|268|-'
	'ns|pingpong|min-50us|0.15|perf'
	'ns|pingpong|wall-sampling|1.15|sampling'
	'ns|pingpong|live|0.85|offcputime'
	'ns|pingpong|exact-user|0.65|perf'
	'price|pingpong|tables|700|exact-kernel'
	'price|python3|tables|1200|exact-kernel'
	'whole|pingpong|tables-user|99.9|-'
	'whole|python3|tables-user|99.9|-'
	'own|pingpong|tables|1|exact'
	'own|python3|tables|1|exact'
)
for goal in {rate,p99}\|redis-{together,apart}\|{exact,tables}; do
	goals+=("$goal|2|sampling" "$goal|0.5|offcputime" "$goal|0.5|bpftrace")
done

# The machine that the goals in ns were set on: what offcputime took there per switch on pingpong,
# where exact took 2,700 to 3,000 ns, and the floor. The machine at hand may be faster or slower.
reference_ns=4750 reference_floor_ns=99

# What a stack costs, in ns per switch: name|mode|the same without that stack.
prices=(
	'the user stack, by frame pointers|exact|exact-kernel'
	'the user stack, by tables|tables|exact-kernel'
	'tables in place of frame pointers|tables-user|exact-user'
)
price_workloads=(pingpong python3)

mode_names() {
	printf '%s\n' "${modes[@]%%|*}"
}

mode_options() {
	local mode

	for mode in "${modes[@]}"; do
		[ "${mode%%|*}" != "$1" ] || echo "${mode#*|}"
	done
}

# Whether a part is measured: compare, latency or house.
has_part() {
	[[ $part = all || $part = "$1" || ($part = goals && $1 != house) ]]
}

note() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

# workload_of NAME KIND: the command; the statistics of run time need a shorter one.
workload_of() {
	local size=$scale

	[ "$2" != stats ] || size=$(((scale + 1) / 2))
	case $1 in
	pingpong)
		echo "$O/tests/workloads/short --wait --linger 1 --batch 1 --depth 17" \
			"--rounds $((size * 2000))"
		;;
	convoy)
		echo "$O/tests/workloads/convoy --wait --linger 1 --threads 64 --depth 17" \
			"--rounds $((size * 20))"
		;;
	messaging) echo "perf bench -f simple sched messaging -g 4 -l $((size + 4))" ;;
	redis) echo "$tree/tests/bench/redis.sh $((size * 1000))" ;;
	python3) echo "$PYTHON $tree/tests/bench/pingpong.py --wait $((size * 1000)) 15" ;;
	esac
}

# Whether a workload can be told to start, and so be named to the tools by its process.
is_gated() {
	[[ $1 = pingpong || $1 = convoy || $1 = python3 ]]
}

# tool_command TOOL WORKLOAD: the command that watches it, until SIGINT.
tool_command() {
	local all='' of_pid='' pid=0

	# The workload's process gets its number when it runs.
	# shellcheck disable=SC2016
	if is_gated "$2"; then
		of_pid='-p $BENCH_PID' pid='$BENCH_PID'
	else
		all=-a
	fi
	case $1 in
	floor) echo "$O/tests/bench/floor $O/tests/bench/floor.bpf.o" ;;
	offcputime) echo "offcputime $of_pid >$work/data" ;;
	bpftrace) echo "bpftrace $work/offcpu.bt $pid >$work/data" ;;
	perf) echo "$PEER_PERF record -B -e dummy --off-cpu $all $of_pid -o $work/data" ;;
	perf-on-cpu) echo "$PEER_PERF record -B -F 99 --call-graph fp $all $of_pid -o $work/data" ;;
	perf-wall)
		echo "$PEER_PERF record -B -F 99 --call-graph fp --off-cpu $all $of_pid" \
			"-o $work/data"
		;;
	perf-thresh-0)
		echo "$PEER_PERF record -B -e dummy --off-cpu --off-cpu-thresh 0 $all $of_pid" \
			"-o $work/data"
		;;
	live) echo "$O/denet-offcputime -q $of_pid >$work/data" ;;
	*) echo "$O/denet-record -v -B $(mode_options "$1") $all $of_pid -o $work/data" ;;
	esac
}

# The same as the others do, in bpftrace's language: both stacks, summed up by thread's name.
write_bpftrace() {
	cat >"$work/offcpu.bt" <<-'EOF'
		tracepoint:sched:sched_switch
		{
			if (($1 == 0 || pid == $1) && tid != 0 && args->prev_state != 0) {
				@since[tid] = nsecs;
				@kernel[tid] = kstack;
				@user[tid] = ustack;
			}
			if (@since[args->next_pid] != 0) {
				@ns[@kernel[args->next_pid], @user[args->next_pid], args->next_comm] =
					sum(nsecs - @since[args->next_pid]);
				delete(@since[args->next_pid]);
			}
		}
		END { clear(@since); clear(@kernel); clear(@user); }
	EOF
}

# The losses that a tool itself reports; "-": it reports none.
lost_of() {
	local lost=

	case $1 in
	floor) ;;
	bpftrace) lost=$(sed -n 's/^Lost \([0-9]*\) events/\1/p' "$work/log" | tail -1) ;;
	offcputime) ;;
	perf*) lost=$(sed -n 's/.*lost \([0-9]*\) .*/\1/p' "$work/log" | tail -1) ;;
	*) lost=$(sed -n 's/.*\[ denet-record: .*[ ,]\([0-9,]*\) lost.*/\1/p' "$work/log" | tail -1) ;;
	esac
	echo "${lost:--}" | tr -d ,
}

# Of the user stacks that it walked by unwind tables, how many per cent it says were whole.
whole_of() {
	sed -n 's/.*user stacks by unwind tables: //p' "$work/log" | tail -1 | sed 's/([^)]*)//g' |
		awk -F, '{ for (i = 1; i <= NF; i++) all += $i; whole = $1 + 0 }
			END { if (all) printf "%.3f\n", 100 * whole / all; else print "-" }'
}

# Since when ours has recorded, in seconds on the clock that cell has in nanoseconds.
begin_of() {
	sed -n 's/.*blocks are recorded from \([0-9.]*\) s .*/\1/p' "$work/log"
}

# measure WORKLOAD TOOL KIND COMMAND [TOOLCOMMAND]: one cell, as a line of the results. KIND is
# time, stats or a part of the house. What a tool cannot do is said, and the others go on.
measure() {
	local workload=$1 tool=$2 kind=$3 figures options=() bytes=-

	[[ $4 != *--wait* ]] || options+=(--gated)
	[ "$kind" != stats ] || options+=(--stats)
	[ "$tool" != perf-on-cpu ] || options+=(--no-programs)
	rm -f "$work/data" "$work/log"
	if ! figures=$("$O/tests/bench/cell" "${options[@]}" --log "$work/log" "${@:4}" 2>"$work/err"); then
		note "$tool failed on $workload: $(cat "$work/err"): $(tail -3 "$work/log" | tr '\n' ' ')"
		failures=$((failures + 1))
		return
	fi
	[ ! -e "$work/data" ] || bytes=$(stat -c %s "$work/data")
	echo "$workload $tool $kind round=$round $figures bytes=$bytes" \
		"lost=$(lost_of "$tool") began=$(begin_of) whole=$(whole_of)" >>"$work/cells"
}

# named_by_goals [WORKLOAD]: the modes and peers that the goals name, and the prices.
named_by_goals() {
	printf '%s\n' "${goals[@]}" |
		awk -F'|' -v workload="${1:-}" '!workload || $2 == workload { print $3; print $5 }'
	[[ -n ${1:-} && " ${price_workloads[*]} " != *" $1 "* ]] ||
		printf '%s\n' "${prices[@]}" | awk -F'|' '{ print $2; print $3 }'
}

# is_wanted TOOL [WORKLOAD]: whether it is to be measured, there or anywhere.
is_wanted() {
	[[ $part != goals || $1 = none || $1 = floor ]] ||
		[[ $'\n'$(named_by_goals "${@:2}")$'\n' = *$'\n'$1$'\n'* ]]
}

# Drops what this machine cannot measure, aloud.
choose_tools() {
	local tool

	tools=(none floor)
	for tool in $chosen_modes; do
		is_wanted "$tool" || continue
		# shellcheck disable=SC2046
		if "$O/denet-record" $(mode_options "$tool") --version >/dev/null 2>&1; then
			tools+=("$tool")
		else
			note "skipped: this build has no mode $tool ($(mode_options "$tool"))"
		fi
	done
	for tool; do
		case $tool in
		perf)
			[ -n "${PEER_PERF:-}" ] || die 'perf: PEER_PERF must name one built with BPF skeletons'
			"$PEER_PERF" version >/dev/null || die "$PEER_PERF does not run"
			;;
		offcputime | bpftrace)
			if ! command -v "$tool" >/dev/null; then
				note "skipped: $tool is not installed"
				continue
			fi
			;;
		*) die "no peer $tool: offcputime, bpftrace or perf" ;;
		esac
		tools+=("$tool")
		[[ $tool != perf || $part = goals ]] || tools+=(perf-on-cpu perf-wall)
	done
}

choose_workloads() {
	local workload chosen=()

	for workload in $1; do
		case $workload in
		pingpong | convoy) ;;
		messaging)
			if ! perf bench -f simple sched messaging -g 1 -l 1 >/dev/null 2>&1; then
				note 'skipped: messaging, for there is no perf with perf bench'
				continue
			fi
			;;
		redis)
			if ! command -v redis-server >/dev/null || ! command -v redis-benchmark >/dev/null; then
				note 'skipped: redis, for redis-server and redis-benchmark are not installed'
				continue
			fi
			;;
		python3)
			if ! "$PYTHON" -c 'import threading' >/dev/null 2>&1; then
				note "skipped: python3, for $PYTHON does not run; PYTHON may name another"
				continue
			fi
			;;
		*) die "no workload $workload: pingpong, convoy, messaging, redis or python3" ;;
		esac
		[[ $part != goals || -n $(named_by_goals "$workload") ]] || continue
		chosen+=("$workload")
	done
	workloads=("${chosen[@]}")
}

# Those of a client that waits for each reply. Two CPUs are needed to keep its sides apart.
choose_latency() {
	local services=(pipe) service workload

	latency_workloads=()
	has_part latency || return 0
	if [ -n "$quick" ]; then
		:
	elif command -v redis-server >/dev/null && command -v redis-cli >/dev/null; then
		services+=(redis)
	else
		note 'skipped: latency of redis, for redis-server or redis-cli is not installed'
	fi
	for service in "${services[@]}"; do
		for workload in "$service-together" "$service-apart"; do
			[[ $(nproc) != 1 || $workload != *-apart ]] || continue
			[[ $part != goals || -n $(named_by_goals "$workload") ]] || continue
			latency_workloads+=("$workload")
		done
	done
}

# Each round has another order, so that no tool always follows the same one.
compare() {
	local nr=${#tools[@]} workload tool i kind

	for ((round = 1; round <= rounds; round++)); do
		for workload in "${workloads[@]}"; do
			note "round $round of $rounds: $workload"
			for ((i = 0; i < nr; i++)); do
				tool=${tools[$(((i + round - 1) % nr))]}
				is_wanted "$tool" "$workload" || continue
				if [ "$tool" = none ]; then
					measure "$workload" none time "$(workload_of "$workload" time)"
					continue
				fi
				for kind in time stats; do
					measure "$workload" "$tool" "$kind" \
						"$(workload_of "$workload" $kind)" \
						"$(tool_command "$tool" "$workload")"
				done
			done
		done
	done
}

# latency_command WORKLOAD: one client that waits for each reply.
latency_command() {
	case $1 in
	pipe-*) echo "$O/tests/bench/latency ${1#pipe-} pipe $latency_requests" ;;
	redis-*) echo "env O=$O $tree/tests/bench/latency-redis.sh ${1#redis-} $latency_requests" ;;
	esac
}

# One side of a pair: measure_side WORKLOAD TOOL none|tool.
measure_side() {
	local watcher=() options=() figures

	[[ $2 = none || $3 = none ]] || watcher=("$(tool_command "$2" "$1")")
	[ "$2" != perf-on-cpu ] || options+=(--no-programs)
	rm -f "$work/data" "$work/log"
	"$O/tests/bench/cell" "${options[@]}" --log "$work/log" "$(latency_command "$1")" \
		"${watcher[@]}" >"$work/figures" 2>"$work/err" || true
	figures=$(sed -n 's/^latency //p' "$work/log")
	if [ -z "$figures" ] || [ ! -s "$work/figures" ]; then
		note "$2 failed on $1: $(cat "$work/err"): $(tail -3 "$work/log" | tr '\n' ' ')"
		failures=$((failures + 1))
		return
	fi
	echo "$1 $2 latency side=$3 round=$round $figures" >>"$work/cells"
}

# Latency for a client: each tool is compared with a run of its own without it, by turns before and
# after that one, for machines drift. Pairs of none, without a tool on either side, tell what is
# chance. Each round has another order.
measure_latency() {
	local sides=(none "${tools[@]:2}") nr workload tool i

	nr=${#sides[@]}
	for ((round = 1; round <= latency_rounds; round++)); do
		note "latency, round $round of $latency_rounds"
		for workload in "${latency_workloads[@]}"; do
			for ((i = 0; i < nr; i++)); do
				tool=${sides[$(((i + round - 1) % nr))]}
				is_wanted "$tool" "$workload" || continue
				((round % 2)) && measure_side "$workload" "$tool" none
				measure_side "$workload" "$tool" tool
				((round % 2)) || measure_side "$workload" "$tool" none
			done
		done
	done
}

# Our own house: start, end, rest and storm.
keep_house() {
	local record="$O/denet-record -v --max-overhead 0 -o $work/data" storm
	local linger='--wait --linger 1'

	storm="$O/tests/workloads/short $linger --batch 1 --depth 17 --rounds $storm_rounds"
	for ((round = 1; round <= house_rounds; round++)); do
		note "house, round $round of $house_rounds"
		# shellcheck disable=SC2016
		{
			measure crowd start house "$O/tests/workloads/crowd $linger --processes 300" \
				"$record -a"
			measure stacks stop house \
				"$O/tests/workloads/stacks $linger --split 1 --threads 64 --us 2000 --bits $stack_bits" \
				"$record --window 100s "'-p $BENCH_PID'
			measure stacks live-stop house \
				"$O/tests/workloads/stacks $linger --split 1 --threads 64 --us 2000 --bits $stack_bits" \
				"$(tool_command live pingpong)"
			if [[ " ${tools[*]} " == *' offcputime '* ]]; then
				measure stacks offcputime-stop house \
					"$O/tests/workloads/stacks $linger --split 1 --threads 64 --us 2000 --bits $stack_bits" \
					"offcputime --stack-storage-size 524288 "'-p $BENCH_PID'" >$work/data"
			fi
			measure crowd rest house \
				"$O/tests/workloads/crowd $linger --processes 1 --ms $rest_ms" \
				"$record "'-p $BENCH_PID'
			measure pingpong thresh-0 house "$storm" "$(tool_command thresh-0 pingpong)"
			if [[ " ${tools[*]} " == *' perf '* ]]; then
				measure pingpong perf-thresh-0 house "$storm" \
					"$(tool_command perf-thresh-0 pingpong)"
			fi
		}
	done
}

print_head() {
	local tool

	echo "denet-record benchmark, $(date -u '+%Y-%m-%d %H:%M') UTC"
	echo "kernel    $(uname -r), $(nproc) CPUs$(sed -n 's/^model name[^:]*: /, /p' /proc/cpuinfo | head -1)"
	echo "load      $load_before before, $(cut -d' ' -f1-3 /proc/loadavg) after"
	echo "command   $command"
	echo "rounds    $rounds, $latency_rounds pairs of latency"
	for tool in "${tools[@]}"; do
		case $tool in
		none | floor) ;;
		*) printf 'tool      %-12s %s\n' "$tool" "$(tool_command "$tool" pingpong |
			sed "s|$work/||g; s|$O/||g; s|^$PEER_PERF |perf |; s| >data||")" ;;
		esac
	done
	print_versions
}

# Of what others have written, and figures depend on.
print_versions() {
	[[ " ${tools[*]} " != *' perf '* ]] || echo "version   $("$PEER_PERF" version)"
	[[ " ${tools[*]} " != *' bpftrace '* ]] || echo "version   $(bpftrace --version)"
	[[ " ${workloads[*]} " != *' python3 '* ]] || echo "version   $("$PYTHON" --version)"
}

# tables PART VARIABLE…: a part of the tables, from the cells on standard input.
tables() {
	awk -f "$tree/tests/bench/lib.awk" -f "$tree/tests/bench/pairs.awk" \
		-f "$tree/tests/bench/$1.awk" "${@:2}"
}

print_workload() {
	printf '\n%s: %s\n' "$1" "$(workload_of "$1" time |
		sed "s|$O/tests/||; s|$tree/tests/||; s| --wait||; s| --linger 1||")"
	tables compare -v workload="$1" <"$work/cells"
}

print_latency() {
	printf '\nlatency, %s: %s\n' "$1" \
		"$(latency_command "$1" | sed "s|env O=$O ||; s|$O/tests/||; s|$tree/tests/||")"
	tables latency -v workload="$1" <"$work/cells"
}

print_prices() {
	local workload measured=()

	for workload in "${price_workloads[@]}"; do
		[[ " ${workloads[*]} " != *" $workload "* ]] || measured+=("$workload")
	done
	[ ${#measured[@]} != 0 ] || return 0
	printf '\nWhat a stack costs: ns of BPF programs per switch\n'
	printf 'price|%s\n' "${prices[@]}" |
		cat "$work/cells" - | tables prices -v order="${measured[*]}"
}

# Those of the parts that were measured.
print_goals() {
	local kinds=()

	! has_part compare || kinds+=(ns price whole own)
	! has_part latency || kinds+=(rate p99)
	[ ${#kinds[@]} != 0 ] || return 0
	printf '\nGoals (ns are those of BPF programs per switch, with nothing lost)\n'
	printf '%s\n' "${goals[@]}" | tr '|' ' ' |
		awk -v kinds=" ${kinds[*]} " 'index(kinds, " " $1 " ") { print "goal", $0 }' |
		cat "$work/cells" - | tables goals -v reference_ns="$reference_ns" \
			-v reference_floor_ns="$reference_floor_ns"
}

print_house() {
	printf '\nOur own house (median of %s rounds)\n' "$house_rounds"
	tables house -v rest_ms="$rest_ms" -v bits="$stack_bits" <"$work/cells"
}

rounds=5 scale=100 part=all quick='' keep='' house_rounds=3
chosen_workloads='' chosen_modes=''
stack_bits=16 rest_ms=10000 storm_rounds=300000
latency_requests=50000 latency_rounds=''
command="scripts/bench.sh $*"
while [ $# != 0 ]; do
	case $1 in
	-h | --help) usage; exit ;;
	--quick) quick=1; shift; continue ;;
	--rounds | --pairs | --workloads | --modes | --only | --keep)
		[ $# -ge 2 ] || { usage >&2; exit 2; }
		;;
	-*) usage >&2; exit 2 ;;
	*) break ;;
	esac
	case $1 in
	--rounds) rounds=$2 ;;
	--pairs) latency_rounds=$2 ;;
	--workloads) chosen_workloads=${2//,/ } ;;
	--modes) chosen_modes=${2//,/ } ;;
	--only) part=$2 ;;
	--keep) keep=$2 ;;
	esac
	shift 2
done
if [ -n "$quick" ]; then
	rounds=1 scale=4 house_rounds=1 stack_bits=8 rest_ms=1000 storm_rounds=2000
	latency_requests=2000 latency_rounds=1
	chosen_workloads=${chosen_workloads:-pingpong}
	chosen_modes=${chosen_modes:-exact min-50us}
fi
chosen_workloads=${chosen_workloads:-pingpong convoy messaging redis python3}
chosen_modes=${chosen_modes:-$(mode_names)}
for mode in $chosen_modes; do
	# Not grep -q, which may end before the names are written: that would be a failure of the pipe.
	[ -n "$(mode_names | grep -x -- "$mode")" ] || die "no mode $mode: $(mode_names | paste -sd' ')"
done
case $part in
all | compare | latency | house | goals) ;;
*) die "no part $part: compare, latency, house or goals" ;;
esac

O=$(realpath -m "${O:-$tree/build}")
[ "$(id -u)" = 0 ] || die 'BPF programs need root'
find_tools
for file in denet-record tests/bench/latency tests/bench/cell tests/bench/floor tests/bench/floor.bpf.o tests/workloads/short; do
	[ -e "$O/$file" ] || die "$O/$file is not built: make bench"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/cells"
PEER_PERF=${PEER_PERF:-} PYTHON=${PYTHON:-/usr/bin/python3}
failures=0
load_before=$(cut -d' ' -f1-3 /proc/loadavg)
write_bpftrace
choose_tools "$@"
choose_workloads "$chosen_workloads"
choose_latency
latency_rounds=${latency_rounds:-$rounds}
! has_part compare || compare
! has_part latency || measure_latency
! has_part house || keep_house

print_head
if has_part compare; then
	for workload in "${workloads[@]}"; do
		print_workload "$workload"
	done
	print_prices
fi
if has_part latency; then
	for workload in "${latency_workloads[@]}"; do
		print_latency "$workload"
	done
fi
print_goals
! has_part house || print_house
[ -z "$keep" ] || cp "$work/cells" "$keep"
if [ "$failures" != 0 ]; then
	note "$failures measurements failed"
	exit 1
fi
