# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# suite-lib.sh: packages of other Debian suites, downloaded and unpacked beside the system,
# never installed. Sourced by bash; everything here is a function.

# Where downloads are kept. They are large, and never change once they are complete.
suite_cache() {
	echo "${XDG_CACHE_HOME:-$HOME/.cache}/denet-record"
}

# The mirror that this machine's own apt uses; elsewhere than on Debian, DENET_MIRROR names one.
suite_mirror() {
	if [ -n "${DENET_MIRROR:-}" ]; then
		echo "$DENET_MIRROR"
		return
	fi
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(SITE)' 2>/dev/null | grep -v security | grep -m1 debian || {
		echo 'apt here knows no Debian mirror: name one in DENET_MIRROR' >&2
		return 1
	}
}

# suite_open NAME SUITE…: makes apt commands in this shell see these suites and nothing else, of
# the architecture that SUITE_ARCH names, else of this machine's. The lists are fetched again when
# they are a day old.
suite_open() {
	local home keyring=/usr/share/keyrings/debian-archive-keyring.gpg mirror suite
	local arch=${SUITE_ARCH:-$(dpkg --print-architecture)}

	home=$(suite_cache)/apt-$1
	shift
	mkdir -p "$home/lists/partial" "$home/archives/partial"
	export APT_CONFIG=$home/apt.conf
	if [ -n "$(find "$home/fresh" -mmin -1440 2>/dev/null)" ]; then
		return
	fi
	mirror=$(APT_CONFIG='' suite_mirror) || return 1
	for suite; do
		echo "deb [signed-by=$keyring] $mirror $suite main"
	done >"$home/sources.list"
	# apt prefers what is installed; here, nothing is.
	: >"$home/nothing-installed"
	cat >"$home/apt.conf" <<-END
		Dir::Etc::SourceList "$home/sources.list";
		Dir::Etc::SourceParts "-";
		Dir::State::Lists "$home/lists";
		Dir::State::status "$home/nothing-installed";
		Dir::Cache "$home";
		APT::Get::List-Cleanup "false";
		APT::Sandbox::User "root";
		APT::Architecture "$arch";
		APT::Architectures { "$arch"; };
	END
	# Old lists serve as well where there is no network.
	if apt-get -qq update; then
		touch "$home/fresh"
	else
		[ -e "$home/fresh" ]
	fi
}

# suite_closure PACKAGE…: prints these packages and all that they need, one a line.
suite_closure() {
	apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
		--no-replaces --no-enhances "$@" | grep -E '^[a-z0-9]' | grep -v ':' | sort -u
}

# suite_unpack DIR PACKAGE…: downloads and unpacks below DIR.
suite_unpack() {
	local dir=$1 debs

	shift
	mkdir -p "$dir"
	debs=$(mktemp -d "$(suite_cache)/debs.XXXXXX")
	(cd "$debs" && apt-get -qq download "$@" >&2) || { rm -rf "$debs"; return 1; }
	for deb in "$debs"/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
	rm -rf "$debs"
}
