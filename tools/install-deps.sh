#!/bin/sh
# tools/install-deps.sh - installs what heapdb is built and tested with, on Debian 12.
#
#   sh tools/install-deps.sh          compiler, libraries, and zstd and python3 for the tests
#   sh tools/install-deps.sh --lint   also the checkers of `make lint`, clang and its fuzzer
#   sh tools/install-deps.sh --ci     also debootstrap, for the tests on a bare machine in .ci/run
#   sh tools/install-deps.sh --fuzz   also AFL++, for `make fuzz-afl`, and clang
#
# Needs root or sudo. Does nothing if everything is there already.
set -eu

packages="gcc make libc6-dev pkg-config liblmdb-dev libxxhash-dev libpcre2-dev
	libcmocka-dev zstd python3"
lint="g++ clang clang-tidy clang-format libclang-rt-14-dev cppcheck mandoc shellcheck"

case ${1:-} in
'') ;;
--lint) packages="$packages $lint" ;;
--ci) packages="$packages $lint debootstrap" ;;
--fuzz) packages="$packages clang libclang-rt-14-dev afl++ valgrind" ;;
*)
	echo "usage: sh tools/install-deps.sh [--lint|--ci|--fuzz]" >&2
	exit 2
	;;
esac

missing=
for package in $packages; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$status" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
	echo "install-deps: everything is installed"
	exit 0
fi

root=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "install-deps: needs root, or sudo, to install:$missing" >&2
		exit 4
	fi
	root=sudo
fi
echo "install-deps: installing$missing"
$root env DEBIAN_FRONTEND=noninteractive apt-get -q update
# shellcheck disable=SC2086
$root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $missing
