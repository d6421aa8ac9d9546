#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The whole life of threads in each kernel, as perf shows it: --wall, --one-event, -e. What the
# options do in detail is tested in tests/cli.

load ../cli/lib
load ../cli/wall

@test "running, runnable and blocked time are in the file, and kinds and places have names" {
	denet-record -v -B --wall=1 --max-overhead 0 -- "$lives" --ms 50 2>err >said
	cat err
	refute grep "the end of the recording was not set by a program" err
	nothing_was_hidden
	[ "$(sum_of on-cpu-time)" = "$(life '= running')" ]
	[ "$(sum_of queued-time)" = "$(life '+ runnable')" ]
	[ $(($(sum_of offcpu-time) + $(sum_of offcpu-idle))) = "$(life '+ blocked')" ]
	perf script -F event,ip,sym 2>/dev/null | grep -A1 on-cpu-time | tee looks
	grep -F '[not sampled]' looks
	denet-record -B --wall=199 --one-event --max-overhead 0 -- "$lives" --ms 50 2>err >said
	perf script -F comm,event,ip,sym 2>/dev/null >script
	for kind in blocked runnable running; do grep -F "[$kind]" script | head -1 | grep .; done
}

@test "tracepoints have their fields" {
	[ -e /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing
	denet-record -B -e sched:sched_process_exec -- "$naps" 1 2 5
	perf script -F trace:comm,event,trace | tee script
	grep -q "^ *naps .*sched:sched_process_exec: filename=$naps pid=" script
}
