#!/bin/sh
# tools/install-deps.sh - installs the packages for building and testing heapdb on Debian 12 and 13.
#
#   sh tools/install-deps.sh          compiler, libraries, and packages for the basic tests
#   sh tools/install-deps.sh --lint   also the checkers of `make lint`, clang and its fuzzer
#   sh tools/install-deps.sh --all    also debootstrap, for the tests in a minimal system in .ci/run, and
#                                     chromium, python3-venv, a JDK, Gradle and JUnit 5, without which tests skip;
#                                     PySpark, DuckDB, pyarrow, kubernetes-validate and axe-core into
#                                     build/fleet-venv (HEAPDB_VENV= leaves these out)
#   sh tools/install-deps.sh --fuzz   also AFL++, for `make fuzz-afl`, and clang
#   sh tools/install-deps.sh --package  also the packages for `make release`: `make static`, `make deb`, `make wheel`,
#                                     and for `make test T=packages_test`
#   sh tools/install-deps.sh --arm64  also the compiler, libraries and emulator of `make arm64` and
#                                     `make test-arm64`
#
# Needs root or sudo. Does nothing if everything is installed.
set -eu

# Packages whose names contain a version: first Debian 12, then Debian 13 and later.
# shellcheck disable=SC1091
release=$(. /etc/os-release 2>/dev/null && echo "${VERSION_ID:-}") || release=
case $release in
'' | 12) clang_runtime=libclang-rt-14-dev jdk=openjdk-17-jdk-headless ;;
*) clang_runtime=libclang-rt-19-dev jdk=openjdk-21-jdk-headless ;;
esac

packages="gcc make libc6-dev pkg-config liblmdb-dev libxxhash-dev libpcre2-dev
	libzstd-dev libdeflate-dev zlib1g-dev libjansson-dev libyaml-dev libsqlite3-dev libedit-dev
	libmicrohttpd-dev libpng-dev libarchive-dev libcmocka-dev zstd python3 python3-jsonschema libxml2-utils sqlite3"
lint="g++ clang clang-tidy clang-format $clang_runtime cppcheck mandoc shellcheck"

package="build-essential debhelper dpkg-dev lintian fakeroot python3-pip tcl
	liblzma-dev libbz2-dev liblz4-dev debootstrap llvm musl musl:arm64 python3-venv
	qemu-user libc6-arm64-cross"
arm64="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user liblmdb-dev:arm64 libxxhash-dev:arm64
	libpcre2-dev:arm64 libzstd-dev:arm64 libdeflate-dev:arm64 zlib1g-dev:arm64
	libjansson-dev:arm64 libyaml-dev:arm64 libsqlite3-dev:arm64 libedit-dev:arm64 libpng-dev:arm64
	liblzma-dev:arm64 libbz2-dev:arm64 liblz4-dev:arm64
	libcmocka-dev:arm64 musl:arm64 dpkg-dev"

venv=
case ${1:-} in
'') ;;
--lint) packages="$packages $lint" ;;
--all) packages="$packages $lint debootstrap locales chromium python3-venv $jdk valgrind gradle junit5"
	venv=${HEAPDB_VENV-build/fleet-venv}
	;;
--fuzz) packages="$packages clang $clang_runtime afl++ valgrind" ;;
--package) packages="$packages $package" ;;
--arm64) packages="$packages $arm64" ;;
*)
	echo "usage: sh tools/install-deps.sh [--lint|--all|--fuzz|--package|--arm64]" >&2
	exit 2
	;;
esac

# A package may be installed for several architectures; a plain name means this machine's.
native=$(dpkg --print-architecture)
missing=
for package in $packages; do
	case $package in
	*:*) architecture=${package#*:} ;;
	*) architecture=$native ;;
	esac
	dpkg-query -W -f '${Architecture} ${db:Status-Status}\n' "${package%:*}" 2>/dev/null |
		grep -qxE "($architecture|all) installed" || missing="$missing $package"
done
if [ -z "$missing" ]; then
	[ -z "$venv" ] || sh "$(dirname "$0")/python/make_venv.sh" "$(dirname "$0")/../$venv"
	echo "install-deps: everything is installed"
	exit 0
fi

root=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		{
			echo "install-deps: needs root, or sudo. An administrator can install what is missing:"
			case $missing in
			*:arm64*) echo "  dpkg --add-architecture arm64" ;;
			esac
			echo "  apt-get update && apt-get install --no-install-recommends$missing"
		} >&2
		exit 4
	fi
	root=sudo
fi
echo "install-deps: installing$missing"
case $missing in
*:arm64*) $root dpkg --add-architecture arm64 ;;
esac
$root env DEBIAN_FRONTEND=noninteractive apt-get -q update
# shellcheck disable=SC2086
$root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $missing
[ -z "$venv" ] || sh "$(dirname "$0")/python/make_venv.sh" "$(dirname "$0")/../$venv"
