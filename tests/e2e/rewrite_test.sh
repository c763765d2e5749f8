#!/bin/sh
# rewrite_test.sh - convert, strip and redact: copied data is byte for byte the same through every compression; changed
# dumps have the same objects, sizes and dominators; redacted dumps have no strings left. Uses the sample, and dumps of
# ../shared/dumps if they exist.
# shellcheck disable=SC2015,SC2094,SC2153
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
fail() { echo "FAILED: $*"; failed=1; }
quiet() { heapdb "$@" --quiet > out 2>&1 || { fail "heapdb $*"; cat out; }; }

# graph DUMP OUT [OPTIONS]: all objects, with sizes and dominators.
graph() {
	dump=$1 out=$2
	shift 2
	heapdb import "$dump" -o graph.heapdb --force --quiet "$@" > /dev/null
	heapdb export objects --db graph.heapdb --all --columns id,kind,class,shallow,retained,dominator --quiet \
		2> /dev/null > "$out"
}

try_dump() {
	graph "$1" plain.tsv
	for how in redact "redact --hash" "redact --arrays text" strip "strip --zero primitives" \
		"convert --segments"; do
		# shellcheck disable=SC2086
		quiet $how "$1" new.hprof --force
		graph new.hprof new.tsv
		# Sizes of Android's objects exist only in its own dumps.
		case $2-$how in
		android-convert*)
			graph "$1" plain_mat.tsv --sizes mat
			graph new.hprof new.tsv --sizes mat
			cut -f 1,2,3,6 plain_mat.tsv > plain.cut
			cut -f 1,2,3,6 new.tsv > new.cut
			cmp plain.cut new.cut || fail "$how $1: another graph"
			;;
		*) cmp plain.tsv new.tsv || fail "$how $1: another graph" ;;
		esac
	done
}

cp "$DUMP" a.hprof
try_dump a.hprof java

# Copies: there and back, in every format. Bytes that are only copied are not parsed.
heapdb convert a.hprof -o a.copy.hprof --json > out && cmp a.hprof a.copy.hprof || fail "convert -o"
grep -q '"objects":null' out || fail "a copy counts objects: $(cat out)"
quiet convert a.hprof a.hprof.gz
gzip -dc a.hprof.gz | cmp - a.hprof || fail "gzip"
head -c 40 a.hprof.gz | grep -q 'HPROF BLOCKSIZE=1048576' || fail "no block size in the comment"
quiet convert a.hprof.gz a.hprof.zst
quiet convert a.hprof.zst b.hprof
cmp a.hprof b.hprof || fail "gzip, zstd and back"
if command -v zstd > /dev/null; then
	zstd -dc a.hprof.zst | cmp - a.hprof || fail "zstd"
fi
heapdb convert - - --compress gzip < a.hprof | gzip -dc | cmp - a.hprof || fail "pipes"
: > empty
got=0
heapdb convert a.hprof b.hprof 2> out || got=$?
[ $got -eq 2 ] && grep -q "already exists" out || fail "an existing file was replaced"
quiet convert a.hprof b.hprof --force
# A named pipe is written to, not replaced.
mkfifo pipe
cmp pipe a.hprof > out 2>&1 & reader=$!
quiet convert a.hprof pipe --force
if [ -p pipe ]; then
	wait $reader || fail "through a named pipe: $(cat out)"
else
	kill $reader
	fail "a named pipe is replaced"
fi
got=0
heapdb convert empty c.hprof 2> out || got=$?
[ $got -eq 3 ] || fail "an empty dump: exit $got"
ls c.hprof ./*.writing 2> /dev/null && fail "litter"
# A truncated dump: complete parts are written, and the truncation is reported.
head -c $(($(stat -c %s a.hprof) * 4 / 5)) a.hprof > cut.hprof
heapdb strip cut.hprof d.hprof > out 2>&1 || fail "a dump that was cut"
grep -q "has 1 problem" out || fail "the problem is not told"
heapdb import d.hprof --quiet > /dev/null || fail "import of what was cut"

# No string and no number is left, and answers say so.
quiet redact a.hprof r.hprof
heapdb import r.hprof --quiet > /dev/null
[ "$(heapdb query strings --match '[A-Za-z0-9]' --db r.heapdb --csv --quiet 2> /dev/null | wc -l)" -le 1 ] ||
	fail "texts are left"
heapdb query top --db r.heapdb --json --quiet 2> /dev/null | grep -q '"redacted": *"' || fail "JSON does not say it"
heapdb query top --db r.heapdb --csv 2>&1 > /dev/null | grep -q 'redacted:' || fail "stderr does not say it"
[ "$(heapdb query top --db r.heapdb 2>&1 | grep -c 'redacted:')" = 1 ] || fail "text does not say it once"
heapdb check --db r.heapdb > out 2>&1 || fail "check of a redacted dump"
# Numbers of entries of collections are kept, except for sets of enum constants, which are numbers.
heapdb query collections --db r.heapdb --by class --csv --quiet 2> /dev/null > r.csv
heapdb import a.hprof --quiet > /dev/null
heapdb query collections --db a.heapdb --by class --csv --quiet > a.csv
for file in a r; do grep -v 'EnumSet\|Unmodifiable' $file.csv > $file.cut; done
cmp a.cut r.cut || fail "collections have other sizes"
# Data named by --keep stays.
quiet redact a.hprof k.hprof --keep 'byte[],char[],java.lang.Integer:value'
heapdb import k.hprof --quiet > /dev/null
[ "$(heapdb query strings --equals main --db k.heapdb --csv --quiet 2> /dev/null | wc -l)" -ge 2 ] || fail "--keep"


# Hashes: equal strings stay equal, different ones stay different, with one key in each run.
head -c 32 /dev/urandom > key
quiet redact a.hprof h1.hprof --hash-key key
quiet redact a.hprof h2.hprof --hash-key key
cmp h1.hprof h2.hprof || fail "two runs with one key differ"
quiet redact a.hprof h3.hprof --hash
cmp -s h1.hprof h3.hprof && fail "a new key gives the same hashes"
heapdb import h1.hprof --quiet > /dev/null
# Short strings have few hashes, so some are equal by chance.
for d in a h1; do
	heapdb query duplicates --db $d.heapdb --json --quiet 2> /dev/null |
		python3 -c 'import json, sys
for row in json.load(sys.stdin)["rows"]:
	if row["length"] >= 8: print(row["arrays"], row["length"])' | sort > $d.csv
done
cmp a.csv h1.csv || fail "other duplicates under --hash"
heapdb query strings --db h1.heapdb --equals main --csv --quiet 2> /dev/null | grep -q main &&
	fail "--hash left a text"
heapdb query top --db h1.heapdb --json --quiet 2> /dev/null | grep -q '"redacted": *"the dump was.*hashes' ||
	fail "hashes are not told"
got=0
heapdb redact a.hprof h4.hprof --hash-key empty 2> out || got=$?
[ $got -eq 2 ] && [ ! -e h4.hprof ] || fail "an empty key: exit $got"

# Strings only: arrays without text keep their contents.
quiet redact a.hprof t.hprof --arrays text
heapdb import t.hprof --quiet > /dev/null
[ "$(heapdb query strings --match '[A-Za-z0-9]' --db t.heapdb --csv --quiet 2> /dev/null | wc -l)" -le 1 ] ||
	fail "--arrays text: texts are left"
[ "$(tr -d '\0' < t.hprof | wc -c)" -gt "$(tr -d '\0' < r.hprof | wc -c)" ] || fail "--arrays text is as --arrays all"

# Names: classes, their arrays and inner classes, fields, packages.
cat > names <<-'END'
	# old -> new
	Sample -> Thing
	java.util.HashMap -> x.Table
	java.lang.ref.* -> y.*
	referent -> held
END
quiet redact a.hprof n.hprof --rename names
grep -q '^names changed: [1-9]' out || fail "no names changed"
heapdb import n.hprof --quiet > /dev/null
for d in a n; do
	heapdb query histogram --db $d.heapdb --csv --quiet 2> /dev/null | cut -d , -f 1-3 > $d.classes
done
sed 's/\bSample\b/Thing/g; s/java\.util\.HashMap\b/x.Table/g; s/java\.lang\.ref\./y./g' a.classes | sort > want
sort n.classes > got
# Sizes and weak fields depend on names, so only names are compared.
cut -d , -f 1 want | sort > want.names
cut -d , -f 1 got | sort > got.names
cmp want.names got.names || { diff want.names got.names | head; fail "--rename"; }
printf 'no arrow\n' > names
got=0
heapdb redact a.hprof n2.hprof --rename names 2> out || got=$?
[ $got -eq 3 ] && grep -q 'line 1' out || fail "a bad line of --rename: exit $got"

# A name must not promise a compression that is not written, and a database is no dump.
for name in x.hprof.xz x.tar.gz x.zip x.bz2 x.lz4; do
	got=0
	heapdb redact a.hprof $name 2> out || got=$?
	[ $got -eq 2 ] && grep -q 'compresses only to .gz and .zst' out && [ ! -e $name ] ||
		fail "redact to $name: exit $got"
done
got=0
heapdb redact a.heapdb x.hprof 2> out || got=$?
[ $got -eq 3 ] && grep -q 'not an HPROF heap dump but a database' out || fail "redact of a database: exit $got"

# As in Matrix: strings stay, other arrays are removed.
quiet strip a.hprof m.hprof --keep strings
heapdb import m.hprof --quiet > /dev/null 2>&1
for d in a m; do
	heapdb query strings --db $d.heapdb --csv --quiet --limit all --columns text,length,objects \
		2> /dev/null | sort > $d.strings
	heapdb export objects --db $d.heapdb --all --columns id,kind,class --quiet 2> /dev/null > $d.objects
done
cmp a.strings m.strings || fail "--keep strings: other strings"
grep -v 'primitive array' a.objects > a.others
grep -v 'primitive array' m.objects | cmp a.others - || fail "--keep strings: other objects"
grep -q '	int\[\]$' a.objects || fail "the sample has no int[]"
grep -q '	int\[\]$' m.objects && fail "--keep strings: int[] is left"
for bad in "--keep nothing" "--keep strings --zero primitives" "--keep strings --koom"; do
	got=0
	# shellcheck disable=SC2086
	heapdb strip a.hprof bad.hprof $bad 2> out || got=$?
	[ $got -eq 2 ] || fail "strip $bad: exit $got"
done

# IDs of another size.
if quiet convert a.hprof i.hprof --segments --id-size 8 && cmp a.hprof i.hprof > /dev/null; then
	fail "--segments changed nothing"
fi
got=0
heapdb convert a.hprof i4.hprof --id-size 4 2> out || got=$?
[ $got -eq 3 ] && grep -q 'ID 0x[0-9a-f]* at offset [0-9]* does not fit' out && [ ! -e i4.hprof ] ||
	fail "--id-size 4 where IDs do not fit: exit $got"

# widths DUMP: to 8 bytes and back, with the same graph and finally the same bytes.
widths() {
	quiet convert "$1" w4.hprof --segments --force
	quiet convert "$1" w8.hprof --id-size 8 --force
	quiet convert w8.hprof w48.hprof --id-size 4 --force
	cmp w4.hprof w48.hprof || fail "$1: not the same after --id-size 8 and back"
	for d in w4 w8; do
		heapdb import $d.hprof --force --quiet --sizes mat > /dev/null
		heapdb export objects --db $d.heapdb --all --columns id,kind,class,dominator --quiet \
			2> /dev/null > $d.tsv
		heapdb check --db $d.heapdb --quiet > out 2>&1 || fail "$1: check of $d"
	done
	cmp w4.tsv w8.tsv || fail "$1: another graph with IDs of 8 bytes"
}
hprofgen random -o g4.hprof --objects 20K --id-size 4 > /dev/null
widths g4.hprof

dumps=$HDB_ROOT/../shared/dumps
if [ -d "$dumps" ] && command -v zstd > /dev/null; then
	for name in android_ahat_test android_service_leak oracle_jdk8_05_x64 sun_jdk5_13_x32 \
		basics_j17_i386 basics_j17_nocoops_noccp basics_j25 vthreads_j25_live; do
		zstd -dqf "$dumps/$name.hprof.zst" -o x.hprof
		case $name in
		android*)
			try_dump x.hprof android
			quiet convert x.hprof y.hprof --force
			head -c 18 y.hprof | grep -q '1\.0\.2' || fail "$name: no 1.0.2"
			heapdb import y.hprof --force --quiet > /dev/null
			heapdb query records --db y.heapdb --csv --quiet > out
			android='interned|finalizing|debugger|cleanup|vm internal|jni monitor|heap dump info|nodata'
			grep -iE "$android" out && fail "$name: records of Android"
			quiet convert -z x.hprof z.hprof --force
			[ "$(stat -c %s z.hprof)" -le "$(stat -c %s y.hprof)" ] || fail "$name: -z"
			heapdb import z.hprof --force --quiet > /dev/null || fail "$name: import of -z"
			# Output of KOOM is read, and missing data is reported.
			python3 "$HDB_ROOT/tests/e2e/koom_strip.py" x.hprof koom.hprof
			heapdb import koom.hprof --force --quiet > out 2>&1 || fail "$name: import of KOOM's"
			grep -q ', 1 problem$' out && grep -q 'stripped, as KOOM does' out ||
				fail "$name: KOOM's: $(cat out)"
			quiet strip x.hprof ours.hprof --koom --force
			heapdb import ours.hprof --force --quiet > /dev/null
			for d in koom ours; do
				heapdb export objects --db $d.heapdb --all --columns id,kind,class,shallow --quiet \
					2> /dev/null > $d.tsv
			done
			cmp koom.tsv ours.tsv || fail "$name: KOOM's has other objects"
			heapdb query top --db koom.heapdb --json --quiet 2> /dev/null |
				grep -q '"incomplete": *".*KOOM' ||
				fail "$name: JSON does not say what is missing"
			quiet convert koom.hprof koom2.hprof --force
			heapdb import koom2.hprof --force --quiet > /dev/null ||
				fail "$name: import of KOOM's, converted"
			;;
		*i386 | *x32)
			try_dump x.hprof java
			widths x.hprof
			;;
		*) try_dump x.hprof java ;;
		esac
	done
fi
exit $failed
