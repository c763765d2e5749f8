#!/bin/sh
# full_disk_test.sh - a disk that is too small for a database: the import fails with the number of bytes written and
# needed, leaves no file, and succeeds on a larger disk. Converting a dump to such a disk fails in the same way. Uses a
# small tmpfs in a mount namespace.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unshare -rm sh -c 'mount -t tmpfs -o size=1m none /mnt' 2> /dev/null ||
	{ echo "no mounts are allowed here"; exit 77; }
hprofgen random --objects 300K -o big.hprof > /dev/null
gzip -1 < big.hprof > big.hprof.gz
failed=0
fail() { echo "FAILED: $*"; failed=1; }

# on_disk SIZE COMMAND...: runs the command with a disk of that size at ./disk, and lists the files left there.
mkdir disk
on_disk() {
	size=$1
	shift
	# shellcheck disable=SC2016
	unshare -rm sh -c 'mount -t tmpfs -o size='"$size"' none disk; code=0; "$@" > out 2> err ||
		code=$?; ls -A disk > left; exit $code' sh "$@"
}

for dump in big.hprof big.hprof.gz; do
	for size in 1m 2m; do
		code=0
		on_disk $size heapdb import $dump -o disk/x.heapdb --quiet || code=$?
		[ $code -eq 4 ] || fail "$dump, $size: exit code $code"
		grep -q 'no space left on the disk: .* MB written, .* MB free' err ||
			fail "$dump, $size: $(cat err)"
		grep -q 'takes at most [0-9]* MB' err || fail "$dump, $size: not how much is needed: $(cat err)"
		grep -v -- '-lock$' left && fail "$dump, $size: something is left"
	done
	on_disk 64m heapdb import $dump -o disk/x.heapdb --quiet || fail "$dump, 64m: $(cat err)"
done
code=0
on_disk 4m heapdb convert big.hprof disk/y.hprof || code=$?
[ $code -eq 4 ] || fail "convert: exit code $code"
grep -qi 'no space left' err || fail "convert: $(cat err)"
[ ! -s left ] || fail "convert: left $(cat left)"

# A database on a full disk answers: tables go to a private file, and no lock file is needed.
hprofgen random --objects 20K -o small.hprof > /dev/null
heapdb import small.hprof --quiet > /dev/null
heapdb top small.heapdb --table --limit 3 > expected
heapdb import small.hprof --quiet --force > /dev/null
for first in true "heapdb info disk/small.heapdb" "touch disk/small.heapdb-lock"; do
	# shellcheck disable=SC2016
	FIRST=$first unshare -rm sh -c 'mount -t tmpfs -o size=8m none disk; cp small.h* disk; $FIRST > first
		dd if=/dev/zero of=disk/rest bs=4k 2> dd
		heapdb top disk/small.heapdb --table --limit 3 > out 2> err' ||
		fail "full after $first: $(cat err)"
	cmp -s expected out || fail "full after $first: $(cat out)"
	grep -q 'stored in a private file in' err || fail "full after $first: $(cat err)"
done
# Private files in a directory on the same disk: without room, another is used; with too little, the answer fails.
# shellcheck disable=SC2016
unshare -rm sh -c 'mount -t tmpfs -o size=8m none disk; cp small.h* disk
	dd if=/dev/zero of=disk/rest bs=4k 2> dd
	TMPDIR=$PWD/disk heapdb top disk/small.heapdb --table --limit 3 > out 2> err' ||
	fail "full TMPDIR: $(cat err)"
cmp -s expected out || fail "full TMPDIR: $(cat out)"
code=0
heapdb import big.hprof --quiet > /dev/null
# shellcheck disable=SC2016
unshare -rm sh -c 'mount -t tmpfs -o size=64m none disk; cp big.hprof big.heapdb disk
	dd if=/dev/zero of=disk/rest bs=4k 2> dd; mkdir little; mount -t tmpfs -o size=200k none little
	TMPDIR=$PWD/little heapdb top disk/big.heapdb --table > out 2> err' || code=$?
if [ $code != 4 ] || ! grep -q -e '--tmp DIR names a directory on another disk' err; then
	fail "full disk and TMPDIR: exit code $code: $(cat err)"
fi
# The message describes the private file and its disk.
grep -q "private file in $PWD/little: no space left on the disk: 0 MB written, .* 0 MB free" err ||
	fail "full disk and TMPDIR: which file: $(cat err)"
exit $failed
