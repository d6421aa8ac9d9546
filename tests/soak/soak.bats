#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A minute and more of what uses up memory and descriptors, if anything does: programs that are
# new each time, short processes, containers that come and go, rotated files, copies of stacks,
# threads that denet-top looks at. Both stay bounded.
# tests: limit 1500

load ../cli/lib

seconds=${SOAK_SECONDS:-60}

clean_up() {
	# Seen by all loops in the background.
	touch stop
}

# New programs, each with an inode of its own, one after the other.
new_programs() {
	local i

	for ((i = 0; ; i++)); do
		[ ! -e stop ] || return 0
		cp "$naps" "new-$i"
		"./new-$i" 1 1 1 >/dev/null
		rm "new-$i"
		echo $i >programs
	done
}

# Containers, each with an overlay of its own and a program that no other has, one after the other.
containers() {
	local i

	for ((i = 0; ; i++)); do
		[ ! -e stop ] || return 0
		unshare -mpf --propagation private sh -c '
			mkdir -p layer
			mount -t tmpfs none layer &&
			mkdir layer/lower layer/upper layer/work layer/root layer/lower/bin &&
			cp "$1" "layer/lower/bin/in-$2" &&
			mount -t overlay -o lowerdir=layer/lower,upperdir=layer/upper,workdir=layer/work \
				overlay layer/root &&
			"layer/root/bin/in-$2" 2 5 2' sh "$naps" $i >/dev/null
		echo $i >nr_containers
	done
}

# kB_of PID: the resident memory of it and its helpers, what they share counted once: a helper that
# has just been made has all pages of its parent. fds_of PID: their descriptors.
kB_of() {
	cat /proc/"$1"/smaps_rollup $(pgrep -P "$1" | sed 's|.*|/proc/&/smaps_rollup|') 2>/dev/null |
		awk '$1 == "Pss:" { kb += $2 } END { print kb + 0 }'
}

fds_of() {
	local pid

	for pid in "$1" $(pgrep -P "$1"); do
		ls "/proc/$pid/fd" 2>/dev/null
	done | wc -l
}

# large_tables: programs that are new each time, and whose unwind tables take a fifth of the room each:
# sparse files that have the same code once more 400 MB behind.
large_tables() {
	local i

	cat >make-large.py <<-'END'
		import struct, sys
		elf = bytearray(open(sys.argv[1], "rb").read())
		far = (400 << 20) + (int(sys.argv[3]) << 12)
		first, = struct.unpack_from("<Q", elf, 32)
		nr, = struct.unpack_from("<H", elf, 56)
		# Program headers by their type and flags.
		kinds = {struct.unpack_from("<II", elf, first + 56 * i): first + 56 * i for i in range(nr)}
		code, note = kinds[1, 5], kinds[4, 4]
		offset, = struct.unpack_from("<Q", elf, code + 8)
		size, = struct.unpack_from("<Q", elf, code + 32)
		elf[note:note + 56] = elf[code:code + 56]
		struct.pack_into("<Q", elf, note + 8, far)
		with open(sys.argv[2], "wb") as program:
		    program.write(elf)
		    program.seek(far)
		    program.write(elf[offset:offset + size])
	END
	for ((i = 0; ; i++)); do
		[ ! -e stop ] || return 0
		python3 make-large.py "$naps" large-$i $i
		chmod +x large-$i
		./large-$i 20 20 20 >/dev/null
		rm large-$i
	done
}

# start_churn: all that comes and goes, until stop.
start_churn() {
	new_programs 3>&- &
	containers 3>&- &
	(n=0
	until [ -e stop ]; do
		"$build/tests/workloads/forks" --count 500 --parallel 8 --us 500 >/dev/null
		echo $((n += 500)) >nr_processes
	done) 3>&- &
}

# own_kB_of PID: its own resident memory, whether it shares that with helpers or not.
own_kB_of() {
	awk '$1 == "Rss:" { print $2 }' "/proc/$1/smaps_rollup"
}

own_fds_of() {
	ls "/proc/$1/fd" | wc -l
}

# helper_kB_of PID: the same of the largest of its helpers, 0: it has none.
helper_kB_of() {
	local helper

	for helper in $(pgrep -P "$1"); do
		own_kB_of "$helper" 2>/dev/null || true
	done | sort -n | awk '{ kb = $1 } END { print kb + 0 }'
}

# most_of THIRDS FIELD: of sizes, lines of which begin with the third of the time that they are of.
most_of() {
	awk -v thirds="$1" -v field="$2" '$1 ~ thirds { print $field }' sizes | sort -n | tail -1
}

# bounded_beside_churn OPTION...: the recorder keeps its memory and descriptors, and its files.
bounded_beside_churn() {
	start_churn
	denet-record -a --off-cpu-thresh 0 --switch-output=2s --switch-max-files 3 -v "$@" \
		-o live.data 2>live.err 3>&- &
	recorder=$!
	rotated() { [ "$(grep -c 'wrote live.data' live.err)" -ge 3 ]; }
	until_true rotated
	# The size with three files written is the one that it must keep.
	start=$SECONDS
	while [ $((SECONDS - start)) -lt "$seconds" ]; do
		echo "$((3 * (SECONDS - start) / seconds)) $(own_kB_of "$recorder")" \
			"$(own_fds_of "$recorder") $(kB_of "$recorder") $(helper_kB_of "$recorder")"
		kill -0 "$recorder"
		sleep 0.5
	done >sizes
	touch stop
	kill -INT "$recorder"
	finish_recording
	tail -3 live.err
	first_kb=$(most_of 0 2) kb=$(most_of '[12]' 2) all_kb=$(most_of '[012]' 4)
	first_helper=$(most_of 0 5) helper=$(most_of '[12]' 5)
	first_fds=$(most_of 0 3) fds=$(most_of '[12]' 3)
	echo "$(cat programs) programs, $(cat nr_containers) containers, $(cat nr_processes) processes"
	echo "$kb kB ($first_kb in the first third), with helpers $all_kb, $fds descriptors ($first_fds)"
	echo "$helper kB ($first_helper) of the largest helper"
	[ "$status" = 0 ]
	[ "$(cat programs)" -gt "$seconds" ]
	[ "$(cat nr_containers)" -gt $((seconds / 2)) ]
	[ "$(cat nr_processes)" -ge 10000 ]
	# Nothing that grows with time: a third more time would be that much more.
	[ "$kb" -le $((first_kb * 5 / 4 + 4096)) ]
	# Helpers come and go: while they last, all that the recorder writes to is there twice.
	[ "$all_kb" -le $((first_kb * 3)) ]
	[ "$helper" -le $((first_kb * 5 / 4 + 4096)) ]
	[ "$fds" -le $((first_fds + 8)) ]
	files=(live.data.*)
	[ "${#files[@]}" -le 3 ]
	for file in "${files[@]}"; do
		perf script -i "$file" >/dev/null
	done
}

@test "memory and descriptors are bounded over $seconds s of churn, with rotation and dwarf" {
	bounded_beside_churn --call-graph dwarf
}

@test "memory and descriptors are bounded over $seconds s of churn that evicts unwind tables" {
	large_tables 3>&- &
	bounded_beside_churn
	grep 'files were evicted' live.err
	refute grep -E 'cannot give unwind tables|cannot take back' live.err
}

# peak_beside COMMAND…: sets peak to the most memory in kB that the recorder has while COMMAND runs.
peak_beside() {
	local command now

	peak=0
	"$@" >/dev/null 3>&- &
	command=$!
	while kill -0 "$command" 2>/dev/null; do
		now=$(kB_of "$recorder")
		peak=$((now > peak ? now : peak))
		sleep 0.1
	done
	wait "$command"
}

@test "a window of an hour keeps no more of 50,000 processes than of 20,000" {
	start_recording -a --window 3600s --max-overhead 0
	# Memory goes up until what ended is forgotten, at 8,192 threads and 16 MB, and down again: its
	# peaks are compared. 1 KB a process would be 30 MB more. The first ones may meet programs of
	# others that are new.
	for i in 0 1 2 3 4; do
		peak_beside "$build/tests/workloads/forks" --count 10000 --parallel 16 --us 100
		kb[i]=$peak
	done
	kill -INT "$recorder"
	finish_recording
	tail -3 live.err
	echo "kB: ${kb[*]}"
	[ "$status" = 0 ]
	[ "${kb[4]}" -le $((kb[1] + 12288)) ]
}

# map_bytes PID: memory of the BPF maps that it holds, each counted once.
map_bytes() {
	cat /proc/"$1"/fdinfo/* 2>/dev/null | awk '
		/^memlock:/ { bytes = $2 }
		/^map_id:/ { of[$2] = bytes }
		END { for (id in of) sum += of[id]; print sum + 0 }'
}

# threads_born NR: so many threads of the load have been there.
threads_born() {
	[ -e nr_threads ] && [ "$(cat nr_threads)" -ge "$1" ]
}

# top_stays_constant THREADS OPTION…: denet-top, beside threads that are born, renamed and die, keeps
# its memory, its maps and its descriptors once it has met so many of them, for the time of the test.
top_stays_constant() {
	local threads=$1 end kb=0 fds=0 now

	shift
	cat >load.sh <<-END
		n=0
		until [ -e stop ]; do
			"$build/tests/workloads/renames" --count 1000 --parallel 100 --us 20000 >/dev/null
			echo \$((n += 1000)) >nr_threads.new
			mv nr_threads.new nr_threads
		done
	END
	denet-top -v -F 100 --max-overhead 0 --all-states -o csv --retain 1M --retain 1h "$@" \
		-- sh load.sh 2>err 3>&- &
	sampler=$!
	end=$((SECONDS + 300))
	until threads_born "$threads"; do
		[ $SECONDS -lt $end ] || { echo 'too few threads'; return 1; }
		kill -0 "$sampler"
		sleep 0.2
	done
	first_kb=$(kB_of "$sampler") first_maps=$(map_bytes "$sampler") first_fds=$(fds_of "$sampler")
	end=$((SECONDS + seconds))
	while [ $SECONDS -lt $end ]; do
		now=$(kB_of "$sampler")
		kb=$((now > kb ? now : kb))
		now=$(fds_of "$sampler")
		fds=$((now > fds ? now : fds))
		[ "$(map_bytes "$sampler")" = "$first_maps" ]
		kill -0 "$sampler"
		sleep 0.5
	done
	touch stop
	wait "$sampler"
	tail -2 err
	echo "$(cat nr_threads) threads; $kb kB ($first_kb at $threads), $first_maps bytes of maps," \
		"$fds descriptors ($first_fds)"
	[ "$first_maps" -gt 0 ]
	# Each look met some tens of them.
	[ "$(cat csv/xcapture_samples_* | wc -l)" -gt $((threads / 2)) ]
	grep -q "'b[0-9]*-9[0-9]*'" csv/xcapture_samples_*
	# A page more for each ten threads would be that; descriptors come and go with reading.
	[ "$kb" -le $((first_kb + ${more_kb:-2048})) ]
	[ "$fds" -le $((first_fds + 8)) ]
}

@test "memory of denet-top is constant beside threads that are renamed and die, to CSV and perf.data" {
	# The file has been told of all threads that it keeps in mind, 65,536, and clears that.
	top_stays_constant 70000 -w top.data
	[ "$(perf script -i top.data -F comm | grep -c '^ *b[0-9]')" -gt 10000 ]
}

@test "memory of denet-top is constant beside threads that are renamed and die, with --track" {
	top_stays_constant 5000 --track syscalls,offcpu --min-time 1ms
	[ "$(cat csv/xcapture_syscend_* | wc -l)" -gt 5000 ]
}

# Stacks are kept until there are 16 MB of them, in a buffer and a map that double, and then forgotten:
# 80 MB at most, where it begins with 12, and it goes up and down.
@test "memory of denet-top is bounded beside threads that die, with their stacks" {
	more_kb=81920 top_stays_constant 5000 -k -s
	[ "$(cat csv/xcapture_ustacks_* | wc -l)" -gt 2 ]
}

@test "walks of kernel stacks are the kernel's, at a million switches of waits of many kinds" {
	DENET_TEST_SWITCHES=2000000 "$build/tests/bpf/test_kernel_walk" >walks 2>&1 || {
		cat walks
		return 1
	}
	grep ' differ, ' walks
}

@test "walks by unwind tables are libdw's, 50,000 of each program, 400,000 and more in all" {
	local total programs

	DENET_TEST_WALKS=50000 "$build/tests/bpf/test_user_walk" >walks 2>&1 || {
		cat walks
		return 1
	}
	# Programs that are not there are skipped.
	grep -E ' differ, |^ok .*# *SKIP' walks
	total=$(awk '/ differ, / { nr += $3 } END { print nr + 0 }' walks)
	programs=$(grep -c ' differ, ' walks)
	echo "$total walks of $programs programs in all"
	[ "$total" -ge $((programs * 50000)) ]
	[ "$total" -ge 400000 ] || grep -qE '^ok .*# *SKIP' walks
}

# library NAME: a library whose function read_in_NAME() reads a byte, without frame pointers.
library() {
	cat >"$1.c" <<-END
		#include <unistd.h>
		int read_in_$1(int fd) { char c; return (int)read(fd, &c, 1) + 1; }
	END
	gcc -shared -fPIC -O1 -fomit-frame-pointer -o "./$1.so" "$1.c"
}

# Mappings are read again when they are old, though all addresses are in some mapping.
@test "functions of a library that has another one's place in memory have their own names" {
	local top end
	command -v gcc || skip "no compiler"
	library first
	library second
	cat >swap.py <<-'END'
		import _ctypes, ctypes
		def place(name):
		    return next(line.split("-")[0] for line in open("/proc/self/maps") if name in line)
		first = ctypes.CDLL("./first.so")
		at = place("first.so")
		print("READY", flush=True)
		first.read_in_first(0)
		_ctypes.dlclose(first._handle)
		second = ctypes.CDLL("./second.so")
		print("SAME" if place("second.so") == at else "OTHER", flush=True)
		second.read_in_second(0)
	END
	mkfifo bytes
	start_target sh -c 'exec python3 swap.py <>bytes'
	until_true grep -q READY target.out
	denet-top --json -s -F 2 --all-states -t "$target" >out 2>err &
	top=$!
	until_true grep -q '"ustack":"[^"]*;read_in_first;' out
	echo >bytes
	until_true grep -qE 'SAME|OTHER' target.out
	grep -q SAME target.out || skip "the library is at another place"
	end=$((SECONDS + 100))
	until grep -q '"ustack":"[^"]*;read_in_second;' out; do
		[ $SECONDS -lt $end ] || { tail -1 out; return 1; }
		sleep 1
	done
	# The stack goes on behind it by the library's own rules.
	grep '"ustack":"[^"]*;read_in_second;' out | tail -1 | grep -q ';_start"'
	kill -INT "$top"
	wait "$top"
	cat err
}
