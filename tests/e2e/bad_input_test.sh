#!/bin/sh
# bad_input_test.sh - DESIGN section 7, row by row: how the command handles bad input. If ../shared/dumps exists, its
# damage.py also makes 24 damaged dumps from several good ones.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

# expect CODE PATTERN COMMAND...: checks the exit status and the output.
expect() {
	code=$1 pattern=$2
	shift 2
	got=0
	"$@" > out 2>&1 < /dev/null || got=$?
	if [ $got -ne "$code" ] || ! grep -q -- "$pattern" out || grep -qE 'Sanitizer|runtime error' out; then
		echo "FAILED (exit $got, expected $code and \"$pattern\"): $*"
		sed 's/^/    /' out | head -5
		failed=1
	fi
}

# An imported dump can be queried, whatever was lost.
answers() {
	for q in "query top" "query histogram" "query roots" "query threads" "query strings --limit 3" check \
		"info --problems"; do
		# shellcheck disable=SC2086
		expect 0 "" heapdb $q --db "$1"
	done
	# Each problem says where it occurred and what was lost.
	if heapdb info --problems --format jsonl --db "$1" | grep -E '"(effect|record)":null'; then
		echo "FAILED: a kind of problem says nothing of its effect"
		failed=1
	fi
}

size=$(stat -c %s "$DUMP")

# not HPROF, empty, a directory, missing, no permission
echo "this is not a heap dump" > text.hprof
: > empty.hprof
mkdir folder.hprof
expect 3 "text" heapdb import text.hprof
expect 3 "empty" heapdb import empty.hprof
expect 3 "directory" heapdb import folder.hprof
expect 3 "No such file" heapdb import missing.hprof
printf 'PK\003\004 and more' > packed.hprof.zip
expect 3 "zip" heapdb import packed.hprof.zip
if [ "$(id -u)" -ne 0 ]; then
	cp "$DUMP" secret.hprof && chmod 0 secret.hprof
	expect 4 "ermission" heapdb import secret.hprof
	mkdir closed && cp "$DUMP" closed/a.hprof && chmod 555 closed
	expect 4 "ermission" heapdb import closed/a.hprof
	chmod 755 closed
fi
ls ./*.heapdb ./*.importing 2>/dev/null && { echo "FAILED: litter"; failed=1; }

# truncated: complete parts are kept, the problem has the offset; --strict refuses
for at in $((size * 3 / 5)) $((size * 2 / 3)) $((size - 1)) $((size - 9)); do
	head -c $at "$DUMP" > cut.hprof
	expect 3 "cut\|ends" heapdb import cut.hprof -o cut.heapdb --force --strict
	expect 0 "problems" heapdb import cut.hprof -o cut.heapdb --force
	expect 0 "truncated" heapdb info --problems --db cut.heapdb
	answers cut.heapdb
done

# the database: changed bytes, truncated, not a database, a newer version
heapdb import "$DUMP" -o good.heapdb > /dev/null
expect 2 "force" heapdb import "$DUMP" -o good.heapdb
heapdb query top --db good.heapdb > /dev/null
db_size=$(stat -c %s good.heapdb)
found=0
at=20000
while [ $at -lt "$db_size" ]; do
	cp good.heapdb bad.heapdb
	printf '\377\376\375\374' | dd of=bad.heapdb bs=1 seek=$at conv=notrunc 2> /dev/null
	got=0
	heapdb check --db bad.heapdb > out 2>&1 < /dev/null || got=$?
	case $got in
	0) ;;
	3) found=$((found + 1)) ;;
	*) echo "FAILED: check of a damaged database exits $got (byte $at)"; head -3 out; failed=1 ;;
	esac
	rm -f bad.heapdb bad.heapdb-lock
	at=$((at + db_size / 40))
done
[ $found -gt 10 ] || { echo "FAILED: only $found of 40 changed places were found"; failed=1; }
head -c 100000 good.heapdb > half.heapdb
expect 3 "truncated\|damaged" heapdb info --db half.heapdb
expect 3 "neither a heap dump nor a heap database" heapdb info --db text.hprof
expect 3 "No such file" heapdb info --db nowhere.heapdb

# the dump: missing, changed
cp "$DUMP" moved.hprof
heapdb import moved.hprof -o moved.heapdb > /dev/null
id=$(heapdb query strings --db moved.heapdb --csv --objects --limit 1 | tail -n 1 | cut -d, -f1)
mv moved.hprof elsewhere.hprof
expect 3 "--dump" heapdb query object "$id" --db moved.heapdb
expect 0 "java.lang.String" heapdb query object "$id" --db moved.heapdb --dump elsewhere.hprof
head -c $((size - 1)) elsewhere.hprof > moved.hprof
expect 3 "not the imported dump" heapdb query object "$id" --db moved.heapdb
cp elsewhere.hprof moved.hprof
printf 'X' | dd of=moved.hprof bs=1 seek=$((size - 100)) conv=notrunc 2> /dev/null
expect 3 "changed" heapdb query object "$id" --db moved.heapdb

# names and objects that do not exist
expect 1 "no such object" heapdb query retained 0x3 --db good.heapdb
expect 1 "class" heapdb query class no.such.Class --db good.heapdb
expect 2 "" heapdb query retained 0xzz --db good.heapdb
expect 2 "" heapdb query nonsense --db good.heapdb

# a full disk, and output that cannot be written
# shellcheck disable=SC2016
expect 4 "" sh -c 'ulimit -f 100; trap "" XFSZ; exec heapdb import "$DUMP" -o full.heapdb'
[ ! -e full.heapdb ] || { echo "FAILED: a database on a full disk"; failed=1; }
[ ! -e /dev/full ] || expect 4 "" sh -c 'heapdb query histogram --db good.heapdb > /dev/full'

# 24 kinds of damage
dumps=$HDB_ROOT/../shared/dumps
if [ -f "$dumps/damage.py" ] && command -v python3 > /dev/null; then
	for name in basics_j17 android_ahat_test sun_jdk6_18_x32; do
		zstd -dqf "$dumps/$name.hprof.zst" -o good.hprof
		rm -rf damaged && mkdir damaged
		python3 "$dumps/damage.py" good.hprof damaged 2> /dev/null || true
		for file in damaged/*; do
			got=0
			heapdb import "$file" -o d.heapdb --force > out 2>&1 < /dev/null || got=$?
			case $got in
			0) answers d.heapdb ;;
			3) grep -q '^heapdb: import: ' out || { echo "FAILED: no message: $file"; failed=1; } ;;
			*) echo "FAILED: $file exits $got"; head -5 out; failed=1 ;;
			esac
		done
	done
fi
exit $failed
