#!/bin/sh
# phd_test.sh - portable heap dumps of OpenJ9: generated ones of all versions (phd_make.py) and a real one. The database
# must have the same objects, classes, references and sizes as an independent reader (phd_check.py). Also threads of the
# javacore, compressed dumps, truncated dumps, and other files.
set -eu
heapdb sql --help > /dev/null 2>&1 || { echo "built without SQL"; exit 77; }
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
cd "$TMPDIR"
failed=0
complain() {
	echo "FAILED: $*"
	failed=1
}
export PYTHONPATH="$HDB_ROOT/tests/oracle"
name=heapdump.20240203.040506.77.0001.phd

# check FILE: imports and compares it.
check() {
	heapdb import "$1" -o x.heapdb --force --quiet > /dev/null 2>&1 || complain "$1: import"
	python3 "$HDB_ROOT/tests/oracle/phd_check.py" "$1" x.heapdb > said || complain "$1: $(cat said)"
	grep -q '^[1-9][0-9]* objects, [1-9][0-9]* sizes, [1-9][0-9]* ref' said ||
		complain "$1 compares nothing: $(cat said)"
}

for form in "4 32 1 4" "5 32 1 4" "5 64 1 8" "5 64 0 4" "6 64 0 4" "6 64 0 8" "6 32 0 4"; do
	# shellcheck disable=SC2086
	python3 "$HDB_ROOT/tests/oracle/phd_make.py" $form $name > thread
	check $name
	heapdb info --csv x.heapdb 2> /dev/null > facts
	grep -q "^dump,portable heap dump,${form%% *}," facts || complain "$form: version"
	grep -q '^dump,time,2024-02-03T04:05:06,' facts || complain "$form: time"
	grep -q "^sizes,reference,${form##* }," facts || complain "$form: bytes of a reference: $(grep reference facts)"
	heapdb histogram --all --csv --columns name,loader --limit all --db x.heapdb 2> /dev/null > classes
	grep -q '^app.Node,app.Loader' classes || complain "$form: loader: $(grep app.Node classes)"
	grep -q '^java.lang.Thread,<boot>' classes || complain "$form: boot loader"
done
# What such a dump lacks is reported once, in a line; references have no invented names.
COLUMNS=100 heapdb top --db x.heapdb > said 2>&1
[ "$(grep -c 'portable heap dumps do not record' said)" = 1 ] || complain "the notice: $(head -n 4 said)"
heapdb info --db x.heapdb 2>&1 | grep -q 'objects that no other object references' || complain "info lacks the roots"
heapdb sql "SELECT DISTINCT name FROM refs" --csv --db x.heapdb > said 2> /dev/null
grep -q '^\[ref 1\]$' said || complain "names of references: $(head -n 4 said)"
grep -q '^\(static \)\{0,1\}ref[0-9]' said && complain "invented names: $(grep ref said | head -n 3)"
gzip -kf $name
check $name.gz
# Through a pipe, also in an archive: without the javacore next to it.
tar cf x.tar $name
for piped in $name $name.gz x.tar; do
	heapdb import - -o pipe.heapdb --force --quiet < "$piped" > /dev/null 2>&1 || complain "$piped through a pipe"
	heapdb histogram --all --csv --db pipe.heapdb 2> /dev/null | cmp -s - histogram.want && continue
	[ -e histogram.want ] && complain "$piped through a pipe: other answers"
	heapdb histogram --all --csv --db pipe.heapdb > histogram.want 2> /dev/null
done
rm $name.gz

# Threads come from the javacore of the same moment and process.
cat > javacore.20240203.040506.77.0002.txt << END
3XMTHREADINFO      "worker" J9VMThread:0x0000000002D00500, j9thread_t:0x1, java/lang/Thread:0x$(cat thread), state:R
3XMTHREADINFO1            (native thread ID:0x20D0, native priority:0xB)
4XESTACKTRACE                at app/Node.run(Node.java:31(Compiled Code))
4XESTACKTRACE                at app/Leaf.wait(Native Method)
3XMTHREADINFO      Anonymous native thread
END
heapdb import $name -o x.heapdb --force --quiet > /dev/null 2>&1
heapdb threads --stacks --db x.heapdb 2> /dev/null > out || complain "threads"
for text in worker 'app.Node.run' 'Node.java:31' 'app.Leaf.wait'; do
	grep -q "$text" out || complain "no $text in $(cat out)"
done
heapdb roots --csv --db x.heapdb 2> /dev/null | grep -q 'thread object' || complain "the thread is no root"

# named TEXT FILE...: with that javacore, wherever it is, the threads are the same; otherwise the text gives the reason.
mv javacore.*.txt elsewhere.txt
heapdb threads --csv --stacks --db x.heapdb > want 2> /dev/null
same() {
	heapdb threads --csv --stacks --db y.heapdb > got 2> /dev/null
	cmp want got || complain "$*"
}
heapdb import $name --javacore elsewhere.txt -o y.heapdb --force --quiet > /dev/null && same "named javacore"
heapdb import - --javacore elsewhere.txt -o y.heapdb --force --quiet < $name > /dev/null && same "standard input"
gzip -c $name | heapdb import - --javacore elsewhere.txt -o y.heapdb --force --quiet > /dev/null &&
	same "compressed pipe"
heapdb import "s3://b/$name" --fetch "cat $name; : {}" --javacore elsewhere.txt -o y.heapdb --force --quiet \
	> /dev/null && same "fetched"
heapdb info --csv y.heapdb 2> /dev/null | grep -q '^dump,time,2024-02-03T04:05:06,' || complain "time if fetched"
tar -czf a.tgz $name
if heapdb import a.tgz --javacore elsewhere.txt -o y.heapdb --force --quiet > said 2>&1; then
	same "archive"
else
	grep -q libarchive said || complain "archive: $(cat said)"
fi
heapdb convert $name want.hprof --javacore elsewhere.txt > /dev/null
heapdb convert - got.hprof --javacore elsewhere.txt < $name > /dev/null
heapdb convert "s3://b/$name" got2.hprof --fetch "cat $name; : {}" --javacore elsewhere.txt > /dev/null
cmp want.hprof got2.hprof || complain "convert from a command"
# A pipe has no name to tell the time, 8 bytes behind 23.
cmp -i 31 want.hprof got.hprof || complain "convert from a pipe"
named() {
	if timeout 20 heapdb import $name --javacore "$2" -o no.heapdb > said 2>&1; then complain "taken: $2"; fi
	grep -qF "$1" said || complain "$2: no '$1' in $(cat said)"
	[ ! -e no.heapdb ] || complain "$2: left a database"
}
mkfifo pipe
named 'pipe: not a regular file' pipe
named 'none: No such file' none
named 'not a javacore: no line begins with "3XMTHREADINFO "' $name
sed 's,lang/Thread:0x[0-9A-Fa-f]*,lang/Thread:0x1230,' elsewhere.txt > other.txt
named 'none of the threads in this javacore are in the dump' other.txt
if heapdb import "$DUMP" --javacore elsewhere.txt -o no.heapdb > said 2>&1; then complain "taken: HPROF"; fi
grep -q 'not a portable heap dump' said || complain "HPROF: $(cat said)"
# heapdb does not wait for a javacore that it finds, either.
mkfifo javacore.20240203.040506.77.0002.txt
timeout 20 heapdb import $name -o y.heapdb --force --quiet > /dev/null || complain "a pipe as javacore"
rm javacore.*.txt
mv elsewhere.txt javacore.20240203.040506.77.0002.txt

# Messages are correct for a dump without values, and name the VM.
heapdb overview x.heapdb > said 2> /dev/null
grep -q '^  OpenJ9 JRE 1.8.0 test, ' said || complain "no VM in $(cat said)"
if grep -q OutOfMemoryError said; then complain "an OutOfMemoryError would not be seen"; fi
heapdb duplicates x.heapdb 2> /dev/null | tr -s '\n ' ' ' > said
grep -q '(a portable heap dump has no values)' said || complain "duplicates: $(cat said)"

heapdb arrays --csv --db x.heapdb 2> /dev/null | grep -q '^java.lang.Object\[\],.*,,$' || complain "tails"
if heapdb arrays --trailing-zeros --csv --db x.heapdb 2> /dev/null | grep -q '\[\]'; then complain "has tails"; fi
heapdb layout java.lang.String --db x.heapdb 2>&1 | grep -q 'does not record fields' || complain "layout"

# The objects of a truncated dump are imported, and missing data is reported.
head -c 30000 $name > cut.phd
heapdb import cut.phd -o x.heapdb --force > out 2>&1 || complain "cut: $(cat out)"
grep -q 'may be truncated' out || complain "a cut dump is whole: $(cat out)"
heapdb histogram --all --csv --db x.heapdb 2> /dev/null | grep -q '^unknown class 0x' || complain "cut: classes"
object=$(heapdb sql x.heapdb --csv "SELECT id FROM objects WHERE kind = 'instance' LIMIT 1" 2> /dev/null | tail -n 1)
heapdb path --db x.heapdb "$object" > out 2>&1 || complain "cut: path: $(cat out)"

# A converted dump has the same sizes when it is imported.
heapdb convert $name y.hprof --force > /dev/null 2>&1 || complain "convert"
heapdb import y.hprof -o y.heapdb --force --quiet > /dev/null 2>&1
heapdb import $name -o x.heapdb --force --quiet > /dev/null 2>&1
for db in x y; do heapdb histogram --all --csv --limit all --db $db.heapdb 2> /dev/null > $db.csv; done
cmp x.csv y.csv || complain "the converted dump differs"

# refuse TEXT: x is refused with this message.
refuse() {
	if heapdb import x -o z.heapdb --force > out 2>&1; then complain "taken: $1"; fi
	grep -q "$1" out || complain "no '$1' in $(cat out)"
}
printf '\000\022portable heap dump\000\000\000\007\000\000\000\005\001\002\002\003' > x
refuse 'version 7 are not supported; supported versions are 4 to 6'
printf '\000\022portable heap dump\000\000\000\006\000\000\000\005\001\011' > x
refuse 'header of the portable heap dump is damaged'
printf '0SECTION       TITLE subcomponent dump routine of a virtual machine' > x
refuse 'heapdump\*.phd'
printf 'MDMP of a system dump, some 40 bytes long, is none' > x
refuse jdmpview
exit $failed
