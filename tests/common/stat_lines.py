#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks lines of denet-stat --json: stat_lines.py SCHEMA <LINES.

Each line must fit the JSON schema, and decode as denet 0.6 does it: its structures, field by field,
without defaults where its readers have none. Prints the kinds of the lines, one a line. Exit status
1 with the reason, 77 where there is no validator of JSON schemas.
"""

import json
import sys

U32, U64 = 2**32 - 1, 2**64 - 1


class Wrong(Exception):
    pass


def unsigned(limit):
    def check(value, where):
        if type(value) is not int or not 0 <= value <= limit:
            raise Wrong(f"{where}: {value!r} is no unsigned number up to {limit}")

    return check


def floating(value, where):
    if type(value) not in (int, float):
        raise Wrong(f"{where}: {value!r} is no number")


def text(value, where):
    if type(value) is not str:
        raise Wrong(f"{where}: {value!r} is no string")


def boolean(value, where):
    if type(value) is not bool:
        raise Wrong(f"{where}: {value!r} is neither true nor false")


def array(item):
    def check(value, where):
        if type(value) is not list:
            raise Wrong(f"{where}: no array")
        for i, one in enumerate(value):
            item(one, f"{where}[{i}]")

    return check


def mapping(item):
    def check(value, where):
        if type(value) is not dict:
            raise Wrong(f"{where}: no object")
        for key, one in value.items():
            item(one, f"{where}.{key}")

    return check


class optional:
    """May be null or missing."""

    def __init__(self, item):
        self.item = item

    def __call__(self, value, where):
        if value is not None:
            self.item(value, where)


def record(ours=(), **fields):
    """An object with these fields, and those of ours that denet passes over."""

    def check(value, where):
        if type(value) is not dict:
            raise Wrong(f"{where}: no object")
        for key, item in fields.items():
            if key in value:
                item(value[key], f"{where}.{key}")
            elif not isinstance(item, optional):
                raise Wrong(f"{where}: no {key}")
        for key in value:
            if key not in fields and key not in ours:
                raise Wrong(f"{where}: unknown {key}")

    return check


u32, u64 = unsigned(U32), unsigned(U64)

COMMON = dict(
    ts_ms=u64,
    cpu_usage=floating,
    mem_rss_kb=u64,
    mem_vms_kb=u64,
    disk_read_bytes=u64,
    disk_write_bytes=u64,
    syscall_read_bytes=optional(u64),
    syscall_write_bytes=optional(u64),
    page_faults_cached=optional(u64),
    page_faults_disk=optional(u64),
    sys_net_rx_bytes=u64,
    sys_net_tx_bytes=u64,
    thread_count=u64,
    uptime_secs=u64,
    psi_mem=optional(record(some_avg10=floating, full_avg10=floating)),
)
METRICS = dict(COMMON, cpu_core=optional(u32))
FRAME = record(address=u64, symbol=optional(text), source_location=optional(text))


def thread_pair(value, where):
    array(u32)(value, where)
    if len(value) != 2:
        raise Wrong(f"{where}: no pair")


STACK_TRACE = record(
    event=record(
        pid=u32,
        tid=u32,
        prev_state=u32,
        offcpu_time_ns=u64,
        start_time_ns=u64,
        end_time_ns=u64,
        user_stack_id=u32,
        kernel_stack_id=u32,
    ),
    user_stack=optional(array(FRAME)),
    kernel_stack=optional(array(FRAME)),
    process_name=optional(text),
    thread_name=optional(text),
    user_stack_error=optional(text),
    kernel_stack_error=optional(text),
    threads=array(thread_pair),
)
TIMES = dict(avg_time_ns=u64, max_time_ns=u64, min_time_ns=u64, total_time_ns=u64)
OFFCPU = record(
    total_events=u64,
    thread_stats=mapping(record(tid=u32, count=u64, **TIMES)),
    top_blocking_threads=array(record(tid=u32, pid=u32, time_ms=floating, percentage=floating)),
    bottlenecks=array(text),
    stack_traces=array(STACK_TRACE),
    **TIMES,
)
SYSCALLS = record(
    total=u64,
    by_category=mapping(u64),
    top_syscalls=array(record(name=text, count=u64)),
    analysis=optional(
        record(
            syscall_rate_per_sec=floating,
            io_intensity=floating,
            memory_intensity=floating,
            cpu_intensity=floating,
            network_intensity=floating,
        )
    ),
)
EBPF = record(
    syscalls=optional(SYSCALLS),
    offcpu=optional(OFFCPU),
    network=optional(record(rx_bytes=u64, tx_bytes=u64, error=optional(text))),
    error=optional(text),
)
KINDS = {
    "env": record(
        ours=["kind"],
        ts_ms=u64,
        host=text,
        kernel=text,
        lscpu=record(sockets=u32, cores_per_socket=u32, threads_per_core=u32, model=text),
        numa=record(nodes=u32, distances=array(array(u32)), node_sizes_mb=array(u64)),
        affinity_inherited=text,
        cpu_governor=optional(array(text)),
        cpu_freq_khz=optional(array(u64)),
        thp_enabled=optional(text),
        smt_active=optional(boolean),
        cgroup=optional(text),
    ),
    "metadata": record(ours=["kind"], pid=u64, cmd=array(text), executable=text, t0_ms=u64),
    "sample": record(ours=["kind", "stat"], **METRICS),
    "tree": record(
        ours=["kind", "stat"],
        ts_ms=u64,
        parent=optional(record(**METRICS)),
        children=array(record(pid=u64, command=text, metrics=record(**METRICS))),
        aggregated=optional(record(process_count=u64, ebpf=optional(EBPF), **COMMON)),
    ),
}


ORDER = ["env", "metadata", "tree", "sample"]  # of the schema


def no_twice(pairs):
    """JSON allows a key twice; denet's decoder does not."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Wrong(f"a key twice: {sorted(key for key, _ in pairs)}")
    return found


def no_constant(name):
    raise Wrong(f"{name} is no JSON")


class Checker:
    """Of lines, by the schema in that file and by denet's structures."""

    def __init__(self, schema_path):
        from jsonschema import Draft202012Validator

        with open(schema_path, encoding="utf-8") as file:
            schema = json.load(file)
        Draft202012Validator.check_schema(schema)
        self.validator = Draft202012Validator(schema)

    def decode(self, raw):
        """The line, as bytes; raises Wrong or ValueError with the reason."""
        line = json.loads(
            raw.decode("utf-8"), object_pairs_hook=no_twice, parse_constant=no_constant
        )
        kind = line.get("kind")
        if kind not in KINDS:
            raise Wrong(f"unknown kind {kind!r}")
        KINDS[kind](line, kind)
        for error in self.validator.iter_errors(line):
            # The branch of the line's kind says more than "fits none of four".
            causes = [c for c in error.context if c.schema_path[0] == ORDER.index(kind)]
            cause = (causes or [error])[0]
            place = "/".join(str(part) for part in cause.absolute_path)
            raise Wrong(f"schema: {place}: {cause.message[:300]}")
        return line


def main():
    try:
        checker = Checker(sys.argv[1])
    except ImportError:
        print("python3-jsonschema is not there")
        return 77
    for number, raw in enumerate(sys.stdin.buffer, 1):
        try:
            print(checker.decode(raw)["kind"])
        except (Wrong, ValueError) as error:
            print(f"line {number}: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
