#!/bin/sh
# rewrite_test.sh - convert, strip and redact: what is copied is the same byte for byte through every
# compression; what is changed has the same objects, sizes and dominators; what is redacted has no
# text left. On the sample, and on dumps of ../shared/dumps where they are.
# shellcheck disable=SC2015,SC2094,SC2153
set -eu
[ -r /proc/self/stat ] || { echo "no /proc here"; exit 77; }
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
	for how in redact strip "strip --zero primitives" "convert --segments"; do
		# shellcheck disable=SC2086
		quiet $how "$1" new.hprof --force
		graph new.hprof new.tsv
		# Sizes of Android's objects are its own dumps' business.
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

# Copies: there and back, in every way.
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
[ $got -eq 2 ] && grep -q "exists already" out || fail "an existing file was replaced"
quiet convert a.hprof b.hprof --force
got=0
heapdb convert empty c.hprof 2> out || got=$?
[ $got -eq 3 ] || fail "an empty dump: exit $got"
ls c.hprof ./*.writing 2> /dev/null && fail "litter"
# A dump that was cut: what is whole is written, and it is said.
head -c $(($(stat -c %s a.hprof) * 4 / 5)) a.hprof > cut.hprof
heapdb strip cut.hprof d.hprof > out 2>&1 || fail "a dump that was cut"
grep -q "has 1 problem" out || fail "the problem is not told"
heapdb import d.hprof --quiet > /dev/null || fail "import of what was cut"

# No text and no number is left, and answers say so.
quiet redact a.hprof r.hprof
heapdb import r.hprof --quiet > /dev/null
[ "$(heapdb query strings --match '[A-Za-z0-9]' --db r.heapdb --csv --quiet 2> /dev/null | wc -l)" -le 1 ] ||
	fail "texts are left"
heapdb query top --db r.heapdb --json --quiet 2> /dev/null | grep -q '"redacted": *"' || fail "JSON does not say it"
heapdb query top --db r.heapdb 2>&1 > /dev/null | grep -q 'redacted:' || fail "stderr does not say it"
heapdb check --db r.heapdb > out 2>&1 || fail "check of a redacted dump"
# How many entries collections have is kept, but for sets of enum constants, which are numbers.
heapdb query collections --db r.heapdb --by class --csv --quiet 2> /dev/null > r.csv
heapdb import a.hprof --quiet > /dev/null
heapdb query collections --db a.heapdb --by class --csv --quiet > a.csv
for file in a r; do grep -v 'EnumSet\|Unmodifiable' $file.csv > $file.cut; done
cmp a.cut r.cut || fail "collections have other sizes"
# What is to be kept is.
quiet redact a.hprof k.hprof --keep 'byte[],char[],java.lang.Integer:value'
heapdb import k.hprof --quiet > /dev/null
[ "$(heapdb query strings --equals main --db k.heapdb --csv --quiet 2> /dev/null | wc -l)" -ge 2 ] || fail "--keep"

dumps=$HDB_ROOT/../shared/dumps
if [ -d "$dumps" ] && command -v zstd > /dev/null; then
	for name in android_ahat_test android_service_leak oracle_jdk8_05_x64 sun_jdk5_13_x32 \
		basics_j17_i386 basics_j17_nocoops_noccp basics_j25; do
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
			;;
		*) try_dump x.hprof java ;;
		esac
	done
fi
exit $failed
