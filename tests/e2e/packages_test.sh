#!/bin/sh
# packages_test.sh - tests each product of `make release` in an environment without anything else.
# Slow: it makes two Debian roots.
#
# The static command and the image run in empty roots, the wheel in a new environment, and the Debian packages in a new
# Debian 12 and 13 (debootstrap). A C program, linked by zig with the library of wheels for other systems, runs with
# musl's loader and in qemu. For macOS only the headers are checked. Missing tools are listed and skipped.
set -eu
cd "$HDB_ROOT"
release=build/release
[ -f $release/SHA256SUMS ] || { echo "no $release: make release"; exit 77; }
[ -z "$(find src tools/heapdb include -name '*.[ch]' -newer $release/SHA256SUMS)" ] ||
	{ echo "$release is of other sources: make release"; exit 77; }
[ "$(id -u)" -eq 0 ] || { echo "only root can make a root"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
(cd $release && sha256sum --quiet -c SHA256SUMS)
w=$TMPDIR
objects=$(heapdb import "$DUMP" -o "$w/here.heapdb" | sed 's/^.*: \([0-9,]* objects\).*/\1/')
used() { echo "used: $*"; }

# use ROOT COMMAND: imports, runs SQL and verifies, in an empty root.
use() {
	cp "$DUMP" "$1/tmp/sample.hprof"
	chroot "$1" "$2" import /tmp/sample.hprof | grep -q ": $objects,"
	chroot "$1" "$2" sql /tmp/sample.heapdb 'SELECT count(*) FROM classes' --csv | grep -q '^[0-9]*$'
	chroot "$1" "$2" check --db /tmp/sample.heapdb > /dev/null
}
for packed in "$release"/heapdb-*-linux-"$(uname -m)".tar.gz; do
	mkdir -p "$w/static/tmp"
	tar xzf "$packed" -C "$w/static" --strip-components=1
	[ -f "$w/static/NOTICES" ] && [ -f "$w/static/heapdb-queries.1" ] && [ -f "$w/static/_heapdb" ]
	use "$w/static" /heapdb
	used "$packed"
done
for image in "$release"/*-oci.tar; do
	mkdir "$w/image"
	entry=$(python3 tests/e2e/oci_open.py "$image" "$w/image")
	use "$w/image" "$entry"
	used "$image"
done

for wheel in "$release"/heapdb_jvm-*manylinux*"$(uname -m)".whl; do
	python3 -m venv "$w/venv" || { echo "no venv here: $wheel is not used"; break; }
	"$w/venv/bin/pip" install -q --no-index --no-deps "$wheel"
	cp "$DUMP" "$w/wheel.hprof"
	"$w/venv/bin/python" - "$w/wheel.hprof" << 'END'
import sys, heapdb_jvm
with heapdb_jvm.open(sys.argv[1]) as db:
    assert db.histogram().first().objects > 1000
END
	used "$wheel"
done

# Libraries of other wheels give the same answers as the one here, from a database on a read-only file system because
# qemu has no robust locks.
zig=build/zig/ziglang/zig
mkdir "$w/mount"
cp "$w/here.heapdb" "$w/asked.heapdb"
top10 "$w/asked.heapdb" > "$w/want"
for wheel in "$release"/heapdb_jvm-*linux_*.whl; do
	machine=$(echo "$wheel" | sed 's/.*linux_[0-9_]*_\([a-z].*\)\.whl/\1/')
	case $wheel in
	*musllinux*) target=$machine-linux-musl loader=ld-musl-$machine.so.1 ;;
	*) target=$machine-linux-gnu.2.17 loader=ld-linux-$(echo "$machine" | tr _ -).so ;;
	esac
	run=
	root=
	if [ "$machine" != "$(uname -m)" ]; then
		for root in "/usr/$machine-linux-gnu" /; do
			[ -z "$(find "${root%/}/lib" -maxdepth 1 -name "$loader*" 2> /dev/null)" ] || break
		done
		run="qemu-$machine -L $root"
	fi
	found=$(find "${root%/}/lib/" "${root%/}/lib64/" -maxdepth 1 -name "$loader*" 2> /dev/null) || true
	if [ ! -x $zig ] || [ -z "$found" ] ||
		{ [ -n "$run" ] && ! command -v "qemu-$machine" > /dev/null; }; then
		echo "zig, qemu-user or $loader is not here: $wheel is not used"
		continue
	fi
	folder=$w/wheel-$target
	mkdir "$folder"
	python3 -m zipfile -e "$wheel" "$folder"
	$zig cc -w -target "$target" -Iinclude tests/examples/top10.c -o "$folder/top10" \
		"$folder/heapdb_jvm/libheapdb.so" -Wl,-rpath,"$folder/heapdb_jvm" \
		2> "$w/log" || { cat "$w/log"; exit 1; }
	# shellcheck disable=SC2016,SC2086
	W=$w TMPDIR=$w unshare -m sh -euc 'mount -t tmpfs -o size=64m none "$W/mount"
		cp "$W/here.heapdb" "$W/mount"
		mount -o remount,ro none "$W/mount"
		"$@" "$W/mount/here.heapdb" > "$W/got"' sh $run "$folder/top10"
	cmp "$w/want" "$w/got"
	used "$wheel (its library)"
done

# Binaries for macOS cannot run here. The libraries that they load are checked, that those for ARM are signed (ad hoc),
# without which macOS starts no program, and what the libraries of wheels export.
objdump=$(command -v llvm-objdump || command -v llvm-objdump-14 || true)
# mac FILE MACHINE KIND: a Mach-O file of MACHINE, 2 (command) or 6 (library), that loads only the system's library.
mac() {
	case $2 in
	aarch64) want="feedfacf 0100000c" ;;
	*) want="feedfacf 01000007" ;;
	esac
	# shellcheck disable=SC2046
	set -- "$1" "$2" "$want $(printf %08x "$3")" $(od -An -tx4 -N16 "$1")
	[ "$4 $5 $7" = "$3" ] || { echo "$1: $4 $5 $7 instead of $3"; exit 1; }
	[ -n "$objdump" ] || return 0
	"$objdump" --macho --private-headers "$1" > "$w/headers"
	grep -A 2 LC_LOAD_DYLIB "$w/headers" | grep ' name ' > "$w/dylibs"
	if grep -v ' /usr/lib/libSystem.B.dylib ' "$w/dylibs"; then exit 1; fi
	[ "$2" != aarch64 ] || grep -q LC_CODE_SIGNATURE "$w/headers"
}
for packed in "$release"/heapdb-*-macos-*.tar.gz; do
	[ -f "$packed" ] || continue
	mkdir "$w/mac"
	tar xzf "$packed" -C "$w/mac" --strip-components=1
	case $packed in
	*aarch64*) mac "$w/mac/heapdb" aarch64 2 ;;
	*) mac "$w/mac/heapdb" x86_64 2 ;;
	esac
	rm -r "$w/mac"
	used "$packed (not run)"
done
for wheel in "$release"/heapdb_jvm-*-macosx_*.whl; do
	[ -f "$wheel" ] || continue
	python3 -m zipfile -e "$wheel" "$w/mac"
	case $wheel in
	*_arm64.whl) mac "$w/mac/heapdb_jvm/libheapdb.so" aarch64 6 ;;
	*) mac "$w/mac/heapdb_jvm/libheapdb.so" x86_64 6 ;;
	esac
	# What Python calls by name: functions of heapdb.h and those of the wheel.
	if [ -n "$objdump" ]; then
		"$objdump" --macho --exports-trie "$w/mac/heapdb_jvm/libheapdb.so" |
			awk '{ print $2 }' | sort -u > "$w/exports"
		grep -rhoE '\blib\.(hdb|hdbpy)_[a-z_0-9]+' "$w/mac/heapdb_jvm" --include=*.py |
			sed 's/^lib\./_/' | sort -u > "$w/called"
		[ "$(wc -l < "$w/called")" -gt 20 ]
		if comm -13 "$w/exports" "$w/called" | grep .; then echo "$wheel does not export these"; exit 1; fi
	fi
	rm -r "$w/mac"
	used "$wheel (its library, not run)"
done

# shellcheck disable=SC1091
here=$(. /etc/os-release && [ "${ID:-}" = debian ] && echo "${VERSION_CODENAME:-}") || here=
# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2> /dev/null |
	awk -v name="$here" '($1 == name || $1 == "stable") && $2 == "main" { print $3; exit }') || mirror=
mkdir "$w/given"
cp $release/*.deb "$DUMP" tests/examples/top10.c "$w/given"
rm -f "$w"/given/*-dbgsym_*.deb
for codename in bookworm trixie; do
	debian=$w/$codename
	if [ -z "$mirror" ] || ! command -v debootstrap > /dev/null ||
		! debootstrap --variant=minbase "$codename" "$debian" "$mirror" > "$w/log" 2>&1; then
		echo "no new Debian ($codename) here: the packages are not used"
		continue
	fi
	apt-config dump | grep -E '^Acquire::(https?::|Check-|Retries)' > "$debian/etc/apt/apt.conf.d/90machine" || true
	cp "$w"/given/* "$debian/root"
	chroot "$debian" sh -c 'cd /root && apt-get -qq update &&
		apt-get -qq install -y --no-install-recommends ./*.deb gcc libc6-dev pkg-config' > "$w/log" 2>&1 ||
		{ tail -n 20 "$w/log"; exit 1; }
	chroot "$debian" sh -c 'cd /root && heapdb import sample.hprof' | grep -q ": $objects,"
	chroot "$debian" sh -c 'cd /root && heapdb sql sample.heapdb "SELECT count(*) FROM classes" --csv' > /dev/null
	# shellcheck disable=SC2016
	chroot "$debian" sh -c 'cd /root && gcc top10.c -o top10 $(pkg-config --cflags --libs heapdb) &&
		./top10 sample.heapdb' > "$w/got"
	cmp "$w/want" "$w/got"
	chroot "$debian" dpkg -r heapdb libheapdb-dev > /dev/null
	[ ! -e "$debian/usr/bin/heapdb" ] && [ ! -e "$debian/usr/include/heapdb.h" ]
	rm -rf "$debian"
	used "on $codename:" "$release"/*.deb
done
