#!/bin/sh
# shared_folder_test.sh - predictable names in a directory where others can create files: no data of a dump is written
# to planted files, and targets of links are not changed. Created files, and those left by a killed import, are readable
# only by their owner. Closed standard streams do not become a database.
set -eu
work=$(mktemp -d /tmp/heapdb-shared.XXXXXX)
trap 'rm -rf "$work"' EXIT
chmod 1777 "$work"
cd "$work"
failed=0
fail() {
	echo "FAILED: $*"
	failed=1
}

# refused PLANTED PATTERN COMMAND...: exit status 4 and a message with the planted file and the reason.
refused() {
	planted=$1 pattern=$2
	shift 2
	got=0
	timeout 60 "$@" > out 2> err < /dev/null || got=$?
	if [ $got -ne 4 ] || ! grep -q "$planted: $pattern" err; then
		fail "exit $got, expected 4 and \"$planted: $pattern\": $*"
		sed 's/^/    /' err
	fi
	if [ ! -e "$planted" ] && [ ! -L "$planted" ]; then
		fail "$planted was removed: $*"
	fi
}
# untouched: the target of the links.
echo precious > target
untouched() {
	[ "$(cat target)" = precious ] || fail "$1: what the link leads to was written"
	[ ! -e new ] || fail "$1: what a dangling link leads to was made"
	echo precious > target
}

temp=a.heapdb.importing
import="heapdb import $DUMP -o a.heapdb --force"
plant() {
	rm -rf "$temp"
	"$@"
}
plant ln -s target $temp
# shellcheck disable=SC2086
refused $temp "is a symbolic link" $import
plant ln -s new $temp
# shellcheck disable=SC2086
refused $temp "is a symbolic link" $import
chmod 600 target
plant ln target $temp
# shellcheck disable=SC2086
refused $temp "has other hard links" $import
untouched import
plant mkdir $temp
# shellcheck disable=SC2086
refused $temp "is a directory" $import
plant sh -c "umask 077; mkfifo $temp" # mkfifo -m needs /proc
# shellcheck disable=SC2086
refused $temp "is not a regular file" $import
plant touch $temp
chmod 640 $temp
# shellcheck disable=SC2086
refused $temp "is readable or writable by other users" $import
[ ! -e a.heapdb ] || fail "a database was made in spite of what was planted"

# our own file is reused, whatever the umask; no file is left
plant sh -c "head -c 100000 /dev/urandom > $temp; chmod 600 $temp"
(umask 0 && $import > /dev/null) || fail "a leftover was not taken over"
[ ! -e $temp ] || fail "litter"
heapdb check --db a.heapdb > /dev/null || fail "check"
for file in a.heapdb*; do
	[ "$(stat -c %a "$file")" = 600 ] || fail "$file has mode $(stat -c %a "$file")"
done

# files left by a killed import
(umask 0 && exec heapdb import "$DUMP" -o k.heapdb > /dev/null 2>&1) & pid=$!
tries=0
while [ ! -e k.heapdb.importing ] && [ ! -e k.heapdb ] && [ $tries -lt 2000 ]; do
	tries=$((tries + 1))
done
kill -9 $pid 2> /dev/null || true
wait $pid 2> /dev/null || true
for file in k.heapdb*; do
	[ ! -e "$file" ] || [ "$(stat -c %a "$file")" = 600 ] || fail "$file has mode $(stat -c %a "$file")"
done
heapdb import "$DUMP" -o k.heapdb --force > /dev/null || fail "no import after one that was killed"

# the lock file
lock=a.heapdb-lock
rm -f $lock
ln -s target $lock
refused $lock "is a symbolic link" heapdb query roots --db a.heapdb
ln -sf new $lock
refused $lock "is a symbolic link" heapdb query roots --db a.heapdb
ln -f target $lock
refused $lock "has other hard links" heapdb check --db a.heapdb
rm -f $lock
untouched lock
mkdir $lock
refused $lock "is a directory" heapdb query top --db a.heapdb
rmdir $lock
heapdb query roots --db a.heapdb > /dev/null || fail "no answer without a lock file"

# files of another user
if [ "$(id -u)" -eq 0 ] && command -v setpriv > /dev/null; then
	plant touch $temp
	chown 65534 $temp
	chmod 600 $temp
	# shellcheck disable=SC2086
	refused $temp "is owned by another user" $import
	[ ! -s $temp ] || fail "a file of another user was written"
	rm -f $temp
	rm -f $lock
	touch $lock
	chown 65534 $lock
	chmod 666 $lock
	refused $lock "is owned neither" heapdb query roots --db a.heapdb
	rm -f $lock
	# nobody: a file that root created and everyone may write is not a leftover of nobody's
	cp "$BUILD/heapdb" heapdb
	cp "$DUMP" d.hprof
	chmod 755 heapdb d.hprof
	# a lock file that nobody cannot open, of a third user who read the database before: nobody may only read, too
	touch $lock
	chown 65533 $lock
	chmod 600 $lock
	chmod 644 a.heapdb
	setpriv --reuid=65534 --regid=65534 --clear-groups ./heapdb query roots --db a.heapdb > out 2> err ||
		{ fail "no answer next to the lock file of another reader"; cat err; }
	chmod 600 a.heapdb
	rm -f $lock
	touch n.heapdb.importing
	chmod 666 n.heapdb.importing
	refused n.heapdb.importing "is owned by another user" setpriv --reuid=65534 --regid=65534 --clear-groups \
		./heapdb import d.hprof -o n.heapdb
	[ ! -s n.heapdb.importing ] || fail "a file of root was written"
else
	echo "files of another user: not tried, this is not root"
fi

# closed streams: nothing is written to other files, and lost output is reported
heapdb import "$DUMP" -o c.heapdb > /dev/null
heapdb query top --db c.heapdb > /dev/null
for how in '>&-' '2>&-' '<&- >&-' '>&- 2>&-' '<&- >&- 2>&-' '<&- 2>&-'; do
	for what in 'export objects --db c.heapdb' 'query retained 0x999999 --db c.heapdb' 'report --db c.heapdb' \
		'query top nonsense --db c.heapdb' "import $DUMP -o e.heapdb --force"; do
		got=0
		sh -c "heapdb $what $how" > out 2> err || got=$?
		case $how:$what in
		*'>&-'*:export*|*'>&-'*:report*|*'>&-'*:import*)
			case $how in
			'2>&-'|'<&- 2>&-') [ $got -eq 0 ] || fail "exit $got: $what $how" ;;
			*) [ $got -eq 4 ] || fail "exit $got, expected 4: $what $how" ;;
			esac ;;
		esac
		case $how:$what in
		'>&-:export'*) grep -q "standard output: Bad file" err || fail "not told: $what $how" ;;
		esac
	done
	if grep -aq "0x" c.heapdb-lock; then
		fail "rows were written into the lock file: $how"
	fi
	for db in c.heapdb e.heapdb; do
		heapdb check --db $db > out 2>&1 || { fail "check of $db after $how"; cat out; }
	done
done
exit $failed
