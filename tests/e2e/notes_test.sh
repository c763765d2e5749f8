#!/bin/sh
# notes_test.sh - notes on objects, classes and leaks: writing, showing with their subjects, storage next to the
# database and never in it, and damaged or hostile files.
set -eu

cd "$TMPDIR"
if heapdb help notes 2>&1 | grep -q 'without libjansson'; then
	echo "this heapdb was built without libjansson"
	exit 77
fi
bad=0
fail()
{
	echo "notes: $*"
	bad=1
}
# refuses CODE WORDS COMMAND...: fails with that exit status and message.
refuses()
{
	want=$1 words=$2 code=0
	shift 2
	"$@" >out 2>err || code=$?
	[ "$code" -eq "$want" ] || fail "$*: exit $code, not $want"
	grep -q "$words" err || fail "$*: does not say \"$words\": $(cat err)"
}

heapdb import "${DUMP:?}" -o s.heapdb --quiet >out 2>&1
heapdb leaks s.heapdb --json >before.json
heapdb s.heapdb >before.txt
cat >suspect.py <<'EOT'
import json, sys
rows = json.load(open("before.json"))["rows"]
suspect = next(r for r in rows if r["kind"] == "suspect" and r["id"])
print(suspect[sys.argv[1]].removeprefix("class "))
EOT
id=$(python3 suspect.py id)
class=$(python3 suspect.py class)
leak=$(python3 suspect.py signature)
# A file with the maximum number of notes.
cat >many.py <<'EOT'
import json, sys
note = {"text": "x", "time": "t"}
print(json.dumps({"schema": 1, "notes": [{"target": str(i), **note} for i in range(int(sys.argv[1]))]}))
EOT

# Without notes, nothing changes.
heapdb notes s.heapdb | grep -qx 'no rows' || fail "there are notes"
[ ! -e s.heapdb.notes ] || fail "a file of nothing"

# A note replaces an older one, and needs an existing subject.
heapdb notes add "$id" 'a first word' s.heapdb
heapdb notes add "0x000${id#0x}" 'ticket 123' s.heapdb
heapdb notes add "$class" "expected: our cache $(printf '\033[31m')" s.heapdb
heapdb notes add "$leak" 'known leak' --db s.heapdb
heapdb notes add java.util.HashMap 'maps' s.heapdb
refuses 1 'no such class: no.Such' heapdb notes add no.Such x s.heapdb
refuses 1 'no such class: java.lang.String.x' heapdb notes add "$(printf 'java.lang.String\001x')" x s.heapdb
refuses 2 '0x12zz is not an object ID' heapdb notes add 0x12zz x s.heapdb
refuses 2 '0x is not an object ID' heapdb notes remove 0x s.heapdb
refuses 1 'no such object: 0x12345' heapdb notes add 0x12345 x s.heapdb
refuses 2 'not a pattern' heapdb notes add 'java.util.*' x s.heapdb
refuses 2 '1 to 1000 bytes' heapdb notes add "$class" "$(printf '%1001s' x)" s.heapdb
refuses 2 'UTF-8' heapdb notes add "$class" "$(printf '\377\376')" s.heapdb
refuses 2 'expected list' heapdb notes add "$class" --db s.heapdb
refuses 2 'expected list' heapdb notes change --db s.heapdb
refuses 1 'no note on java.lang.String' heapdb notes remove java.lang.String s.heapdb
heapdb notes list s.heapdb --json >list.json
heapdb notes s.heapdb --csv --columns target | sort >targets
printf '%s\n' target "$id" "$class" "$leak" java.util.HashMap | sort | diff - targets || fail "the list"
! grep -qa 'ticket 123' s.heapdb || fail "a note is in the database"
[ "$(stat -c %a s.heapdb.notes)" = "$(stat -c %a s.heapdb)" ] || fail "the file is not as readable as the database"

# Shown once, below the suspect or at the end of other answers, without control characters.
for command in leaks overview; do
	heapdb $command s.heapdb >out
	for words in 'Note: ticket 123' 'Note: known leak' 'Note: expected: our cache \\x1b\[31m'; do
		[ "$(grep -c "$words" out)" -eq 1 ] || fail "$command: \"$words\" is not there once"
	done
	! grep -q "$(printf '\033')" out || fail "$command: a terminal is commanded"
done
heapdb overview s.heapdb | grep -v ' Note: ' | diff before.txt - || fail "notes change the overview"
heapdb histogram s.heapdb | grep -q '^  java.util.HashMap: maps$' || fail "the histogram has no note"
heapdb histogram 'java.lang.*' s.heapdb | grep -q 'maps' && fail "a note on what is not there"
heapdb object "$id" s.heapdb | grep -q "^  $id: ticket 123$" || fail "the object has no note"
heapdb histogram s.heapdb --csv >out
! grep -q maps out || fail "a note in values for programs"
heapdb leaks s.heapdb --json >after.json
heapdb histogram s.heapdb --json >histogram.json
heapdb report s.heapdb >report.md
heapdb report s.heapdb --html report.html --quiet
heapdb report s.heapdb --html plain.html --no-values --quiet
grep -q '^      Note: known leak$' report.md || fail "the report has no note at the leak"
grep -q '^- .java.util.HashMap.: maps$' report.md || fail "the report has no list of notes"
grep -q '"ticket 123"' report.html || fail "the page of the report has no notes"
! grep -q '"ticket 123"' plain.html || fail "a note in a report without values"
python3 - "$id" "$class" "$leak" <<'EOT' || fail "JSON"
import json, sys
before, after = (json.load(open(name + '.json')) for name in ('before', 'after'))
notes = {n['target']: n['note'] for n in after.pop('notes')}
assert after == before
wanted = {sys.argv[1]: 'ticket 123', sys.argv[2]: 'expected: our cache \x1b[31m', sys.argv[3]: 'known leak'}
assert wanted.items() <= notes.items(), notes
assert json.load(open('histogram.json'))['notes'][-1] == {'target': 'java.util.HashMap', 'note': 'maps'}
rows = {r['target']: r for r in json.load(open('list.json'))['rows']}
assert [rows[t]['kind'] for t in sys.argv[1:]] == ['object', 'class', 'leak']
EOT

# Many writers at once: no note is lost.
for i in 1 2 3 4 5 6 7 8; do
	heapdb notes add java.lang.Integer "$i" s.heapdb &
	heapdb notes add "$(printf '%040d' "$i")" "$i" s.heapdb &
done
wait
heapdb notes remove java.lang.Integer s.heapdb
[ "$(heapdb notes s.heapdb --csv --columns target | grep -c '^0000')" -eq 8 ] || fail "notes were lost"
[ "$(find . -name 's.heapdb.notes.*' | wc -l)" -eq 0 ] || fail "a temporary file is left"
# The next save removes files left by a killed one.
echo left >s.heapdb.notes.writing
heapdb notes add java.util.HashMap 'maps' s.heapdb
[ ! -e s.heapdb.notes.writing ] || fail "what a killed save left is still there"

# Another import keeps the notes.
heapdb import "$DUMP" -o s.heapdb --force --quiet >out 2>&1
heapdb leaks s.heapdb | grep -q 'Note: known leak' || fail "an import has lost the notes"
heapdb leaks s.heapdb | grep -q 'Note: ticket 123' || fail "the object of the same dump has lost its note"

# Another dump has another object at the same address: its note is kept and listed, but not shown.
python3 - "$DUMP" <<'EOT'
import sys
dump = bytearray(open(sys.argv[1], "rb").read())
dump[dump.index(0) + 12] ^= 1  # the last byte of the time stamp
open("later.hprof", "wb").write(dump)
EOT
cp s.heapdb.notes kept.notes
heapdb import later.hprof -o s.heapdb --force --quiet >out 2>&1
for command in leaks overview "object $id"; do
	# shellcheck disable=SC2086
	heapdb $command --db s.heapdb >out
	! grep -q 'ticket 123' out || fail "$command: a note on the object of another dump"
done
heapdb leaks s.heapdb | grep -q 'Note: known leak' || fail "a leak is the same in another dump"
heapdb report s.heapdb | grep -q 'ticket 123' && fail "Markdown has a note on the object of another dump"
heapdb report s.heapdb --html later.html --quiet
! grep -q '"ticket 123"' later.html || fail "the report has a note on the object of another dump"
dump=$(heapdb notes s.heapdb --csv --columns target,dump | sed -n "s/^$id,//p")
[ "${#dump}" -eq 16 ] || fail "the list does not say that the object is another dump's: $dump"
refuses 1 "no note on $id" heapdb notes remove "$id" s.heapdb
heapdb notes add "$id" 'of the later dump' s.heapdb
heapdb object "$id" s.heapdb | grep -q "^  $id: of the later dump$" || fail "no note on the later dump's object"
[ "$(heapdb notes s.heapdb --csv --columns target | grep -cx "$id")" -eq 2 ] || fail "not both notes are listed"
heapdb notes remove "$id@$dump" s.heapdb
heapdb notes remove "$id" s.heapdb
! heapdb notes s.heapdb --csv --columns target | grep -qx "$id" || fail "the notes were not removed"
mv kept.notes s.heapdb.notes
heapdb import "$DUMP" -o s.heapdb --force --quiet >out 2>&1
heapdb object "$id" s.heapdb | grep -q "^  $id: ticket 123$" || fail "the first dump's note did not come back"

# Files that are not notes: answers come without notes, no file is overwritten, nothing hangs.
damaged()
{
	refuses 3 "$1" heapdb notes add java.lang.String x s.heapdb
	heapdb overview s.heapdb >out 2>err || fail "no overview beside such notes"
	grep -q "cannot show notes: .*$1" err || fail "it is not said: $(cat err)"
	diff before.txt out || fail "the overview is another one"
}
for text in '' '{' '[]' '{"schema":2,"notes":[]}' '{"schema":1,"notes":{}}' \
	'{"schema":1,"notes":[{"target":"a","text":1,"time":"t"}]}' \
	'{"schema":1,"notes":[{"target":"","text":"x","time":"t"}]}' \
	'{"schema":1,"notes":[{"target":"a","text":"x"}]}' '{"schema":1,"notes":[7]}' \
	'{"schema":1,"notes":[{"target":"0x1","text":"x","time":"t"}]}' \
	'{"schema":1,"notes":[{"target":"a","dump":"7","text":"x","time":"t"}]}' \
	'{"schema":1,"notes":[{"target":"a","text":"x","time":"t"},{"target":"a","text":"y","time":"t"}]}' \
	'{"schema":1,"notes":[{"target":"a","text":"\u0000","time":"t"}]}'; do
	printf '%s' "$text" >s.heapdb.notes
	damaged 'is damaged'
	[ "$(cat s.heapdb.notes)" = "$text" ] || fail "it was written over: $text"
done
python3 -c 'print("[" * 1000000)' >s.heapdb.notes
damaged 'is damaged'
python3 many.py 1001 >s.heapdb.notes
damaged 'is damaged'
truncate -s 9M s.heapdb.notes
refuses 3 'too large' heapdb notes add java.lang.String x s.heapdb
rm s.heapdb.notes
mkfifo s.heapdb.notes
damaged 'not a notes file'
rm s.heapdb.notes
python3 many.py 1000 >s.heapdb.notes
code=0
heapdb notes add java.lang.String x s.heapdb 2>err || code=$?
{ [ "$code" -ne 0 ] && grep -q 'too many notes (limit 1000)' err; } || fail "1,001 notes: $code $(cat err)"
exit $bad
