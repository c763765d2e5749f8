#!/bin/sh
# tools/packaging/libmicrohttpd.sh DIR - compiles libmicrohttpd without TLS, for `make static`, with $CC:
# DIR/lib/libmicrohttpd.a and DIR/include/microhttpd.h. Does nothing if they are there.
#
# The archive of Debian's package calls GnuTLS, and GnuTLS needs libraries of which Debian has no
# archives. The source is that of Debian's package, which apt verifies; the lists that apt needs for
# it are kept in DIR, so that the machine's own sources do not change.
set -eu

dir=$1
[ ! -f "$dir/lib/libmicrohttpd.a" ] || exit 0
command -v dpkg-source >/dev/null || {
	echo "libmicrohttpd.sh: needs dpkg-dev: sh tools/install-deps.sh --package" >&2
	exit 4
}
work=$dir/work
rm -rf "$work"
mkdir -p "$work/lists/partial"
dir=$(cd "$dir" && pwd)
work=$dir/work
trap 'rm -rf "$work"' EXIT
# The fields are apt's, not the shell's.
# shellcheck disable=SC2016
apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' \
	'Created-By: Packages' 'Origin: Debian' | sort -u >"$work/sources.list"
apt()
{
	(cd "$work" && apt-get -qq -o APT::Sandbox::User=root -o Dir::Etc::SourceList="$work/sources.list" \
		-o Dir::Etc::SourceParts=- -o Dir::State::Lists="$work/lists" "$@") >>"$work/log" 2>&1
}
build()
{
	apt update && apt source libmicrohttpd || return
	cd "$work"/libmicrohttpd-*/ || return
	./configure --quiet --build="$(dpkg-architecture -q DEB_BUILD_GNU_TYPE)" \
		--host="$($CC -dumpmachine)" CC="$CC" CFLAGS='-O2 -g' --prefix="$dir" \
		--disable-shared --enable-static --disable-https --disable-doc --disable-examples \
		--disable-curl --disable-bauth --disable-dauth --disable-postprocessor \
		--disable-tools &&
		make -s -C src/microhttpd install-libLTLIBRARIES &&
		make -s -C src/include install-data
}
(build >>"$work/log" 2>&1) || {
	tail -n 20 "$work/log" >&2
	echo "libmicrohttpd.sh: the source of Debian's package cannot be had, or not compiled" >&2
	exit 4
}
