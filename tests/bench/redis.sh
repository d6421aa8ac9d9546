#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# redis.sh REQUESTS: a workload: a redis-server and the benchmark that comes with it, over a
# socket in a folder of their own, until all is answered.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
socket=$folder/socket

redis-server --port 0 --unixsocket "$socket" --save '' --dir "$folder" >/dev/null &
server=$!
until redis-cli -s "$socket" ping >/dev/null 2>&1; do
	kill -0 "$server"
	sleep 0.01
done
redis-benchmark -s "$socket" -c 50 -n "$1" -t get,set -q >/dev/null
redis-cli -s "$socket" shutdown nosave >/dev/null 2>&1 || true
# Waited for, so that its CPU time and its switches are ours.
wait "$server"
