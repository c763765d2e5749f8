#!/bin/sh
# read_only_test.sh - a database that cannot be written gives the same answers as a writable one. Derived tables go to a
# private file without a name, which is reported once and disappears afterwards; the database is unchanged. Created
# files are readable only by their owner, whatever the umask.
set -eu
work=$(mktemp -d /tmp/heapdb-ro.XXXXXX)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
chmod 755 "$work"
failed=0
fail() {
	echo "FAILED: $*"
	failed=1
}

# Root may write everywhere, so the test runs as nobody.
as=
if [ "$(id -u)" -eq 0 ]; then
	if ! command -v setpriv > /dev/null; then
		echo "setpriv is not installed, and root may write everywhere"
		exit 77
	fi
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
fi
# nobody may not enter the directory of the tests, for instance in /root.
cd "$work"
cp "$DUMP" "$work/sample.hprof"
chmod 644 "$work/sample.hprof"
DUMP=$work/sample.hprof
export DUMP
mkdir "$work/db" "$work/tmp" "$work/closed"
cp "$BUILD/heapdb" "$work/heapdb"
(
	umask 0
	heapdb import "$DUMP" -o "$work/db/a.heapdb" > /dev/null
	heapdb query roots --db "$work/db/a.heapdb" > /dev/null
)
for file in "$work"/db/*; do
	[ "$(stat -c %a "$file")" = 600 ] || fail "$file has mode $(stat -c %a "$file")"
done
chmod 444 "$work"/db/*
rm -f "$work/db/a.heapdb-lock"
chmod 777 "$work/tmp"
chmod 555 "$work/db" "$work/closed"
before=$(sha256sum < "$work/db/a.heapdb")

# ask NAME COMMAND...: runs a command without permission to write. The answer goes to NAME.out.
ask() {
	name=$1
	shift
	got=0
	TMPDIR=$work/tmp $as "$work/heapdb" "$@" --db "$work/db/a.heapdb" > "$name.out" 2> "$name.err" || got=$?
	[ $got -eq 0 ] || { fail "exit $got: $*"; cat "$name.err"; }
}

lacks=
cd "$work/tmp"
cp "$work/db/a.heapdb" good.heapdb
chmod 600 good.heapdb
for q in "query top" "query histogram --by superclass" "query dominators" "query unreachable" "query strings" check \
	"export objects --columns id,shallow,retained,dominator"; do
	# shellcheck disable=SC2086
	ask ro $q
	# shellcheck disable=SC2086
	heapdb $q --db good.heapdb > rw.out
	if [ "$q" != check ]; then
		cmp ro.out rw.out || fail "another answer: $q"
	fi
	[ "$(grep -c "cannot write to" ro.err)" -le 1 ] || fail "said more than once: $q"
done
ask ro query top
[ "$(grep -c "cannot write to .*private file in $work/tmp" ro.err)" -eq 1 ] || fail "not said: $(cat ro.err)"
ask ro query roots
[ ! -s ro.err ] || fail "said without need: $(cat ro.err)"
ask ro query top --quiet
[ ! -s ro.err ] || fail "said in spite of --quiet"

# --tmp, or memory if that directory is not writable either
mkdir "$work/other" && chmod 777 "$work/other"
ask ro query top --tmp "$work/other"
grep -q "private file in $work/other" ro.err || fail "--tmp: $(cat ro.err)"
# (LMDB opens a file without a name through /proc)
if $as test -w /dev/shm || $as test -d /proc/self/fd; then
	$as test -w /dev/shm && memory=/dev/shm || memory=memory
	ask ro query top --csv --tmp "$work/closed"
	grep -q "private file in $memory for this run" ro.err || fail "memory: $(cat ro.err)"
	heapdb query top --csv --db good.heapdb > rw.out
	cmp ro.out rw.out || fail "another answer in memory"
else
	lacks="a private file in memory: /dev/shm cannot be written, and /proc is not there"
	got=0
	$as "$work/heapdb" query top --tmp "$work/closed" --db "$work/db/a.heapdb" > ro.out 2> ro.err || got=$?
	if [ $got -ne 4 ] || ! grep -q ": cannot create a private file in this directory or in memory" ro.err; then
		fail "no folder for private files exits $got: $(cat ro.err)"
	fi
fi
# with little memory, spilled
ask ro query top --memory 16M --csv

[ "$(sha256sum < "$work/db/a.heapdb")" = "$before" ] || fail "the database was written"
litter=$(find "$work/db" "$work/other" "$work/closed" "$work/tmp" -name '*lock' -path '*/db/*' \
	-o -name 'heapdb-*' -o -name '.heapdb*')
[ -z "$litter" ] || fail "litter: $litter"
# an import into the directory fails with the reason
cp "$DUMP" "$work/tmp/d.hprof" && chmod 644 "$work/tmp/d.hprof"
got=0
$as "$work/heapdb" import "$work/tmp/d.hprof" -o "$work/db/b.heapdb" > out 2>&1 || got=$?
if [ $got -ne 4 ] || ! grep -q "ermission denied" out; then
	fail "import into a closed folder exits $got: $(cat out)"
fi

# A truly read-only file system: a private mount.
mkdir "$work/mount"
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2> /dev/null ||
	! unshare -m mount -t tmpfs -o size=16m none "$work/mount" 2> /dev/null; then
	[ $failed -eq 0 ] || exit 1
	echo "all but: a read-only file system, which only root may mount, and not everywhere${lacks:+; $lacks}"
	exit 77
fi
cat > "$work/mounted.sh" << 'END'
set -eu
failed=0
fail() {
	echo "FAILED, on a read-only file system: $*"
	failed=1
}
mount -t tmpfs -o size=16m none mount
cp db/a.heapdb mount/a.heapdb
cp "$DUMP" mount/d.hprof
mount -o remount,ro none mount
if touch mount/x 2> /dev/null; then
	fail "it can be written"
fi
before=$(sha256sum < mount/a.heapdb)
for q in "query top" "query histogram --by superclass" "query dominators" "query leaks" "query strings" check \
	"export objects --columns id,shallow,retained,dominator" report; do
	got=0
	# shellcheck disable=SC2086
	heapdb $q --db mount/a.heapdb > ro.out 2> ro.err || got=$?
	[ $got -eq 0 ] || { fail "exit $got: $q"; cat ro.err; }
	# shellcheck disable=SC2086
	heapdb $q --db tmp/good.heapdb > rw.out
	case $q in
	check) ;;
	report) # the name of the file, and which tables it has
		sed -i '1d; /table/d; /path/d; /file/d' ro.out rw.out
		[ "$(grep -c . ro.out)" -gt 20 ] || fail "no report"
		;;
	*) cmp ro.out rw.out || fail "another answer: $q" ;;
	esac
done
TMPDIR=$PWD/tmp heapdb query top --db mount/a.heapdb > ro.out 2> ro.err
[ "$(grep -c "cannot write to .*private file in $PWD/tmp" ro.err)" -eq 1 ] || fail "not said: $(cat ro.err)"
if touch /dev/shm/heapdb-ro-test 2> /dev/null; then
	rm /dev/shm/heapdb-ro-test
	TMPDIR=$PWD/mount heapdb query top --db mount/a.heapdb > ro.out 2> ro.err
	grep -q "private file in /dev/shm" ro.err || fail "memory: $(cat ro.err)"
fi
# No directory is writable: everything in memory, also the scratch files (--memory 1M); several tables one after the
# other, each from the previous ones. The portable fallbacks (PORTABLE=1) have no files in memory.
if [ "${BUILD%/portable}" != "$BUILD" ] && mount -t tmpfs -o ro none /dev/shm 2> /dev/null; then
	got=0
	TMPDIR=$PWD/mount heapdb query top --db mount/a.heapdb > ro.out 2> ro.err || got=$?
	[ $got -eq 4 ] && grep -q "mount: cannot create a private file in this directory" ro.err ||
		fail "no folder can be written: exit $got: $(cat ro.err)"
	umount /dev/shm
elif [ -d /proc/self/fd ] && mount -t tmpfs -o ro none /dev/shm 2> /dev/null; then
	for q in "query top" "query histogram --by superclass" "query dominator-tree --by package" \
		"query top-consumers" "query leaks" "query unreachable --by holder" \
		"query reference-stats" "query duplicates" \
		"export objects --columns id,shallow,retained,dominator" report; do
		got=0
		# shellcheck disable=SC2086
		TMPDIR=$PWD/mount heapdb $q --memory 1M --db mount/a.heapdb > ro.out 2> ro.err || got=$?
		[ $got -eq 0 ] || fail "in memory: exit $got: $q: $(cat ro.err)"
		grep -q "private file in memory for this run" ro.err || fail "in memory, not said: $(cat ro.err)"
		# shellcheck disable=SC2086
		heapdb $q --db tmp/good.heapdb > rw.out
		[ "$q" != report ] || sed -i '1d; /`database`/d; /table/d' ro.out rw.out
		cmp ro.out rw.out || fail "another answer in memory: $q"
	done
	umount /dev/shm
fi
# commands that must write there are refused, those that write elsewhere are not
got=0
heapdb import mount/d.hprof > out 2>&1 || got=$?
said="Read-only file system; to write it elsewhere, run heapdb import mount/d.hprof -o FILE"
[ $got -eq 4 ] && grep -q "$said" out || fail "import exits $got: $(cat out)"
got=0
heapdb query top --db mount/d.hprof > out 2>&1 || got=$?
[ $got -eq 4 ] && grep -q "Read-only file system" out || fail "import by a question exits $got: $(cat out)"
heapdb import mount/d.hprof -o tmp/elsewhere.heapdb > out 2>&1 || fail "import to elsewhere: $(cat out)"
[ "$(sha256sum < mount/a.heapdb)" = "$before" ] || fail "the database was written"
exit $failed
END
cd "$work"
unshare -m sh mounted.sh || failed=1
if [ $failed -eq 0 ] && [ -n "$lacks" ]; then
	echo "all but: $lacks"
	exit 77
fi
exit $failed
