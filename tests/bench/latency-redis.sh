#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# latency-redis.sh PLACES REQUESTS: a workload: one client that gets one key from a redis-server over
# loopback, one request after the other. O is the build directory.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# If another process has taken the port, the server ends, and the next port is tried.
for _ in 1 2 3 4 5; do
	port=$((20000 + RANDOM % 20000))
	redis-server --port $port --bind 127.0.0.1 --save '' --dir "$folder" >/dev/null &
	server=$!
	until redis-cli -p $port info server 2>/dev/null | grep -q "^process_id:$server"; do
		kill -0 "$server" 2>/dev/null || continue 2
		sleep 0.01
	done
	"$O/tests/bench/latency" "$1" redis $port "$server" "$2"
	redis-cli -p $port shutdown nosave >/dev/null 2>&1 || true
	wait "$server"
	exit
done
echo 'latency-redis.sh: no redis-server starts' >&2
exit 1
