#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Services in other languages: the thread or function that makes callers wait is in perf report, with
# the time that the service itself measured. Recorded with the default options, or by README's recipe.

load ../cli/lib

# How user stacks are unwound.
record_options=()

# record_service COMMAND…: starts it, waits until it serves, and records it until it ends.
record_service() {
	mkfifo go
	"$@" <go >said 2>service.err 3>&- &
	service=$!
	exec 4>go
	until_true grep -q READY said
	start_recording "${record_options[@]}" -p "$service"
	echo >&4
	exec 4>&-
	wait "$service"
	finish_recording
	cat live.err
	[ "$status" = 0 ]
}

# has_wait COMM: the report has that thread with the time, in ms, that the service measured for its
# waits. Time before and after them is off the CPU as well: only less would be wrong.
has_wait() {
	local told reported

	told=$(sed -n 's/^waited \([0-9]*\) ms$/\1/p' said)
	perf report -i live.data --stdio --no-children -g none --sort comm,sym \
		-F period,comm,sym 2>/dev/null >report
	reported=$(perf report -i live.data --stdio --no-children -g none -F period,comm 2>/dev/null |
		awk -v comm="$1" '$1 ~ /^[0-9]+$/ && $2 == comm { ns += $1 } END { printf "%d", ns / 1e6 }')
	echo "$1 waited $told ms, the report has $reported ms"
	[ "$told" -gt 0 ] && [ "$reported" -ge $((told * 9 / 10)) ]
}

@test "Java: a slow thread is there by its name" {
	command -v javac >/dev/null || skip "no JDK: sudo scripts/deps.sh services"
	cat >Slow.java <<-'END'
		public class Slow {
			public static void main(String[] args) throws Exception {
				Thread thread = new Thread(() -> {
					try {
						System.out.println("READY");
						System.in.read();
						long ns = 0;
						for (int i = 0; i < 20; i++) {
							long start = System.nanoTime();
							Thread.sleep(30);
							ns += System.nanoTime() - start;
						}
						System.out.println("waited " + ns / 1000000 + " ms");
					} catch (Exception e) {
						System.exit(1);
					}
				}, "slow-query");
				thread.start();
				thread.join();
			}
		}
	END
	javac Slow.java
	record_service java Slow
	has_wait slow-query
	grep 'slow-query.*\[k\]' report
}

# Results of README's recipe: whole chains from the C library's wait to main().
@test "Java: with frame pointers, unwind tables and a map, the function that waits is there" {
	command -v javac >/dev/null || skip "no JDK: sudo scripts/deps.sh services"
	# Functions that are called often are compiled: only then does the map name them.
	cat >Slow.java <<-'END'
		public class Slow {
			static void slowQuery() throws Exception {
				Thread.sleep(2);
			}
			static void serve() throws Exception {
				for (int i = 0; i < 400; i++)
					slowQuery();
			}
			public static void main(String[] args) throws Exception {
				serve();
				System.out.println("READY");
				System.in.read();
				serve();
				System.out.println("SERVED");
				System.in.read();
			}
		}
	END
	javac Slow.java
	mkfifo go
	java -XX:+PreserveFramePointer Slow <go >said 2>service.err 3>&- &
	service=$!
	exec 4>go
	until_true grep -q READY said
	start_recording -p "$service"
	echo >&4
	until_true grep -q SERVED said
	jcmd "$service" Compiler.perfmap >jcmd.out || skip "a JDK without Compiler.perfmap"
	echo >&4
	exec 4>&-
	wait "$service"
	finish_recording
	cat live.err
	perf script -i live.data -F comm,ip,sym 2>/dev/null >script
	rm -f "/tmp/perf-$service.map"
	grep 'Slow\.slowQuery' script
	awk -v RS= '/Slow.slowQuery/ && /Thread.sleep/ && /futex/ && /JavaMain/ { n++ }
		END { print n + 0, "whole chains"; exit !n }' script
}

@test "Go: the goroutine that parked last is there with its whole chain" {
	command -v go >/dev/null || skip "no Go: sudo scripts/deps.sh services"
	cat >slow.go <<-'END'
		package main

		import (
			"os"
			"syscall"
			"time"
		)

		//go:noinline
		func slowQuery(fd int, answer []byte) {
			syscall.Read(fd, answer)
		}

		func main() {
			var pipe [2]int
			answer := make([]byte, 1)
			syscall.Pipe(pipe[:])
			os.Stdout.WriteString("READY\n")
			os.Stdin.Read(answer)
			go func() {
				for i := 0; i < 20; i++ {
					time.Sleep(30 * time.Millisecond)
					syscall.Write(pipe[1], []byte{1})
				}
			}()
			ns := time.Now()
			for i := 0; i < 20; i++ {
				slowQuery(pipe[0], answer)
			}
			println("waited", time.Since(ns).Milliseconds(), "ms")
		}
	END
	GO111MODULE=off go build slow.go
	record_service ./slow
	# println() writes there.
	grep '^waited' service.err >>said
	has_wait slow
	perf script -i live.data -F ip,sym 2>/dev/null >script
	awk -v RS= '/pipe_read/ && /main.slowQuery/ && /main.main/ && /runtime.main/ { n++ }
		END { print n + 0, "whole chains"; exit !n }' script
}

@test "Node: a function that blocks the event loop is there by its name" {
	command -v node >/dev/null || skip "no node: sudo scripts/deps.sh services"
	cat >slow.js <<-'END'
		const lock = new Int32Array(new SharedArrayBuffer(4));
		function slowQuery() { Atomics.wait(lock, 0, 0, 30); }
		console.log('READY');
		require('fs').readSync(0, Buffer.alloc(1));
		const start = process.hrtime.bigint();
		for (let i = 0; i < 20; i++) slowQuery();
		console.log(`waited ${(process.hrtime.bigint() - start) / 1000000n} ms`);
	END
	record_options=(--call-graph dwarf --off-cpu-period 1ms)
	# The map of compiled functions is in /tmp, where perf looks for it.
	record_service node --perf-basic-prof --interpreted-frames-native-stack slow.js
	has_wait node
	perf script -i live.data 2>/dev/null >script
	rm -f "/tmp/perf-$service.map"
	cat script
	awk -v RS= '/futex/ && /slowQuery/ && /node::Start/ { n++ }
		END { print n + 0, "whole chains"; exit !n }' script
}

# In these texts tabs are the shell's, which takes them away, and spaces Python's.
@test "Python: a thread that waits for a lock is there by its name" {
	command -v python3 >/dev/null || skip "no python3: sudo scripts/deps.sh services"
	cat >slow.py <<-'END'
		import ctypes, sys, threading, time

		def slow_query():
		    # The thread's name for the kernel: older Pythons do not set it.
		    ctypes.CDLL(None).prctl(15, b"slow-query", 0, 0, 0)
		    lock = threading.Lock()
		    lock.acquire()
		    print("READY", flush=True)
		    sys.stdin.readline()
		    start = time.monotonic()
		    for i in range(20):
		        lock.acquire(timeout=0.03)
		    print("waited %d ms" % ((time.monotonic() - start) * 1000))

		thread = threading.Thread(target=slow_query)
		thread.start()
		thread.join()
	END
	record_service python3 slow.py
	has_wait slow-query
	grep 'slow-query.*\[k\]' report
}

@test "Python 3.12 and later: -X perf makes its functions visible" {
	python3 -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null ||
		skip "python3 here is older than 3.12"
	cat >slow.py <<-'END'
		import sys, time

		def slow_query():
		    time.sleep(0.03)

		print("READY", flush=True)
		sys.stdin.readline()
		start = time.monotonic()
		for i in range(20):
		    slow_query()
		print("waited %d ms" % ((time.monotonic() - start) * 1000))
	END
	record_service python3 -X perf slow.py
	perf script -i live.data 2>/dev/null >script
	rm -f "/tmp/perf-$service.map"
	grep -q 'py::slow_query' script
}
