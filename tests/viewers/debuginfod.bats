#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Names that only a server has, and that nothing is asked of it unless the environment names it.

load ../cli/lib

@test "a stripped program has the names of the server that DEBUGINFOD_URLS names" {
	command -v debuginfod >/dev/null || skip "no debuginfod: sudo scripts/deps.sh viewers"
	local port=$((20000 + RANDOM % 20000))

	mkdir served
	cp "$naps" mine
	objcopy --only-keep-debug mine served/mine.debug
	strip mine
	id=$(readelf -n mine | sed -n 's/.*Build ID: //p')
	denet-record --off-cpu-thresh 0 -o naps.data -- ./mine 1 5 5 2>err
	debuginfod -d :memory: -p "$port" -F served >server.out 2>&1 3>&- &
	until_true curl -sf -o got.debug "http://127.0.0.1:$port/buildid/$id/debuginfo"
	asked() { grep -c "buildid/$id" server.out || true; }
	before=$(asked)
	env -u DEBUGINFOD_URLS denet-report -i naps.data --folded >folded
	refute grep take_nap folded
	DEBUGINFOD_URLS='' denet-report -i naps.data --folded >folded
	refute grep take_nap folded
	[ "$(asked)" = "$before" ]
	export DEBUGINFOD_URLS=http://127.0.0.1:$port
	denet-report -i naps.data --folded >folded 2>words
	cat folded words
	grep '^napper-0;.*;take_nap;' folded
	# A recording without build-ids, and a trace: the file itself tells which one it is.
	denet-record -B --off-cpu-thresh 0 -o none.data -- ./mine 1 5 5 2>err
	denet-report -i none.data --folded | grep '^napper-0;.*;take_nap;'
	denet-offcputime -f -- ./mine 1 5 5 >traced 2>err
	grep '^napper-0;.*;take_nap;' traced
	# A server that is away costs the names, and not the report.
	rm -rf .cache .debuginfod_client_cache
	export DEBUGINFOD_URLS=http://127.0.0.1:1
	denet-report -i naps.data --folded >folded
	grep '^napper-0;.*;mine+0x' folded
}
