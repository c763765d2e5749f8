#!/bin/sh
# tests/e2e/front_door_test.sh - the first things a user types work: queries are commands, the file may be in any
# position, and an unknown name gets a suggestion.
set -eu
export LC_ALL=C COLUMNS=100
unset HEAPDB
cd "$TMPDIR"
cp "$DUMP" a.hprof
heapdb import a.hprof --quiet > import.out

bad=0
fail()
{
	echo "front door: $*"
	bad=1
}

# same WANT ARGUMENTS...: standard output equals the file, and the exit status is 0.
same()
{
	want=$1
	shift
	if ! heapdb "$@" > have 2> said; then
		fail "heapdb $*: $(cat said)"
	fi
	cmp -s "$want" have || fail "heapdb $*: another answer than $want"
}

# refused MESSAGE ARGUMENTS...: a usage or input error with this message.
refused()
{
	message=$1
	shift
	if heapdb "$@" > have 2> said; then
		fail "heapdb $*: exit code 0"
	fi
	grep -qF -e "$message" said || fail "heapdb $*: $(cat said)"
}

heapdb query leaks --db a.heapdb > want_leaks
same want_leaks leaks
same want_leaks leaks a.heapdb
same want_leaks leaks a.hprof
same want_leaks query a.heapdb leaks
same want_leaks query leaks a.heapdb
same want_leaks leaks --db a.heapdb
heapdb query top --db a.heapdb --limit 3 > want_top
same want_top top --limit 3 a.heapdb
heapdb query histogram 'java.util.*' --db a.heapdb > want_histogram
same want_histogram histogram a.heapdb 'java.util.*'
same want_histogram histogram 'java.util.*' a.heapdb
same want_histogram histo 'java.util.*'
id=$(heapdb top --limit 1 --columns id --csv a.heapdb | tail -n 1)
heapdb query retained "$id" --db a.heapdb > want_retained
same want_retained retained "$id"
same want_retained retained a.hprof "$id"
heapdb info --db a.heapdb > want_info
same want_info info a.heapdb
heapdb overview --db a.heapdb > want_overview
heapdb a.heapdb | head -n 2 > have
head -n 2 want_overview | cmp -s - have || fail "heapdb FILE is not the overview"
# A dump from standard input, whose database is stdin.heapdb. An existing one is not replaced.
mkdir pipe
(cd pipe && heapdb -) < a.hprof > have 2> said || fail "heapdb -: $(cat said)"
grep -q 'importing standard input into stdin.heapdb' said || fail "heapdb -: $(cat said)"
sed '1d; s/a.heapdb/stdin.heapdb/' want_overview > want
sed 1d have | cmp -s want - || fail "heapdb -: $(cat have)"
cd pipe
refused 'stdin.heapdb exists' - < ../a.hprof
rm stdin.heapdb
same ../want_leaks leaks - < ../a.hprof
rm stdin.heapdb
refused 'standard input: the input is empty' - < /dev/null
[ ! -e stdin.heapdb ] || fail "heapdb -: a database without a dump"
cd ..
cp a.hprof b.hprof
heapdb b.hprof > have 2> said
[ -s b.heapdb ] || fail "a dump is not imported"
sed -n 's/^  \(heapdb .*\)/\1/p' have > next
[ "$(wc -l < next)" -ge 3 ] || fail "Next: $(cat have)"
grep -v serve next > run_next
while read -r line; do
	eval "$line" > have 2> said || fail "$line: $(cat said)"
done < run_next
rm -f b.hprof b.heapdb b.heapdb-lock
heapdb oql 'SELECT * FROM java.lang.Thread' --db a.heapdb > want_oql
same want_oql oql a.heapdb 'SELECT * FROM java.lang.Thread'
heapdb export histogram --db a.heapdb > want_export
same want_export export a.heapdb histogram
heapdb diff a.hprof a.heapdb > /dev/null || fail "diff of two files"
heapdb --version | grep -q '^heapdb [0-9]' || fail "--version"
heapdb help | head -n 1 > want_help
heapdb -h | head -n 1 | cmp -s - want_help || fail "-h is help"
heapdb help leaks | grep -q '^usage: heapdb leaks \[FILE\]' || fail "help of a query"

# A file with the name of a command needs ./; a file with the name of a class is not taken for a database.
cp a.heapdb leaks.heapdb
cp a.heapdb top
same want_leaks leaks ./leaks.heapdb
heapdb leaks ./top | cmp -s - want_leaks || fail "./top is a file"
rm -f top top-lock
echo text > java.lang.String
heapdb histogram java.lang.String a.heapdb > have
grep -q java.lang.String have || fail "a file with the name of a class"

# The demo: three answers, with the numbers of the suspects.
SAMPLE=a.hprof sh "$HDB_ROOT/tools/demo.sh" > demo 2> said || fail "demo: $(cat said)"
[ "$(grep -c '^\$ heapdb' demo)" -eq 3 ] || fail "demo: $(grep '^\$' demo)"
id=$(sed -n 's/^\$ heapdb retained \(0x[0-9a-f]*\) .*/\1/p' demo)
bytes=$(heapdb retained "$id" --columns retained --csv a.hprof | tail -n 1)
heapdb leaks --brief --columns id,retained --csv a.hprof | grep -qxF "$id,$bytes" ||
	fail "demo: leaks and retained differ on $id"

refused 'did you mean "leaks"' leeks
refused "put the command first: \`heapdb leaks a.heapdb\`" a.heapdb leaks
refused 'did you mean "export objects"' objects
refused '"waste" is a group of queries: duplicates, substrings' waste
refused 'arrays, collections' waste a.heapdb
refused 'nofile.hprof' nofile.hprof
refused 'nofile.hprof' leaks nofile.hprof
refused 'nofile' leaks nofile
refused 'only one database is allowed' leaks a.heapdb leaks.heapdb
exit $bad
