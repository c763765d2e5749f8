#!/bin/sh
# tests/oracle/mat_tables_test.sh - every object of real dumps equals that in Eclipse MAT.
#
# A directory of dumps has NAME.hprof.zst and NAME.mat.tsv.zst with one line per object: address, class, shallow size,
# retained size and immediate dominator (0: none), in order of address. HDB_DUMPS is the directory (default:
# ../shared/dumps). `heapdb export objects` with --sizes mat must have the same lines, without the objects that MAT
# invents (0x0 and the first multiples of the alignment). `mat_tables_test.sh NAME` compares one dump.
set -eu

dumps=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps}

# Invented objects have addresses of at most three digits.
compare_one()
{
	name=$1
	work=$TMPDIR/$name
	mkdir -p "$work"
	zstd -dqf -o "$work/dump.hprof" "$dumps/$name.hprof.zst"
	zstd -dqc "$dumps/$name.mat.tsv.zst" | sed -e '/^0x[0-9a-f]\{1,3\}	/d' -e 's/	0$/	0x0/' \
		>"$work/want"
	rc=0
	"$BUILD/heapdb" import "$work/dump.hprof" -o "$work/dump.heapdb" --sizes mat \
		>"$work/log" 2>&1 &&
		"$BUILD/heapdb" export objects --db "$work/dump.heapdb" --format tsv \
			--columns id,class,shallow,retained,dominator >"$work/all" 2>>"$work/log" ||
		rc=$?
	if [ $rc -ne 0 ]; then
		echo "$name: heapdb failed: $(tail -n 1 "$work/log")"
	else
		tail -n +2 "$work/all" >"$work/have"
		if cmp -s "$work/have" "$work/want"; then
			echo "$name: $(wc -l <"$work/want") objects, 0 differences"
		else
			rc=1
			echo "$name: differs (- ours, + MAT's)"
			diff -U 0 "$work/have" "$work/want" | sed -n '4,13p' || true
		fi
	fi
	rm -rf "$work"
	return $rc
}

if [ $# -eq 1 ]; then
	compare_one "$1"
	exit
fi

if ! command -v zstd >/dev/null; then
	echo "zstd is not installed"
	exit 77
fi
list=$(find "$dumps" -name '*.mat.tsv.zst' 2>/dev/null | sed 's/.*\///; s/\.mat\.tsv\.zst$//' | sort)
if [ -z "$list" ]; then
	echo "no dumps with tables in $dumps; HDB_DUMPS names another folder"
	exit 77
fi
echo "$list" | xargs -P 4 -n 1 sh "$HDB_ROOT/tests/oracle/mat_tables_test.sh"
