#!/bin/sh
# mat_figures_test.sh - top consumers, the histogram by class loader, the dominator tree by class, immediate dominators,
# threads, and fill and collision ratios of collections on real dumps equal the figures that mat_figures.py computes
# from Eclipse MAT's table of all objects and from its own reading of the dump.
# Slow: reads whole dumps in Python.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
command -v zstd > /dev/null || { echo "no zstd here"; exit 77; }
dumps=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps}
failed=0 tried=0
for name in colls_j17 tomcat9_j17 javac_j25 openjdk_jdk11_04_x64; do
	[ -f "$dumps/$name.mat.tsv.zst" ] || continue
	tried=$((tried + 1))
	zstd -dqf -o "$TMPDIR/$name.hprof" "$dumps/$name.hprof.zst"
	zstd -dqf -o "$TMPDIR/$name.tsv" "$dumps/$name.mat.tsv.zst"
	heapdb import "$TMPDIR/$name.hprof" -o "$TMPDIR/$name.heapdb" --sizes mat --quiet > "$TMPDIR/log"
	python3 "$HDB_ROOT/tests/oracle/mat_figures.py" "$TMPDIR/$name.hprof" "$TMPDIR/$name.tsv" \
		"$TMPDIR/$name.heapdb" || failed=1
	rm -f "$TMPDIR/$name".*
done
[ $tried -gt 0 ] || { echo "no dumps with tables in $dumps; HDB_DUMPS names another folder"; exit 77; }
exit $failed
