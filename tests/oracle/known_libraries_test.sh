#!/bin/sh
# known_libraries_test.sh - every entry and size of library collections (Guava, Scala, Clojure, vavr, Eclipse
# Collections, PCollections, kotlinx, Agrona, HPPC, fastutil, RoaringBitmap) equals what the collections themselves
# return.
#
# Reads a recorded dump, and with HEAPDB_KNOWN=full (make nightly) new ones with larger collections, for which Maven
# downloads the libraries; see tests/java/make_libraries.sh. Needs python3.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
check=$HDB_ROOT/tests/oracle/known_check.py
cd "$TMPDIR"
case ${HEAPDB_KNOWN:-recorded} in
full)
	status=0
	sh "$HDB_ROOT/tests/java/make_libraries.sh" . > make.log 2>&1 || status=$?
	[ $status -eq 0 ] || { tail -n 1 make.log; exit $status; }
	programs="KnownLibraries KnownScala212"
	;;
*)
	command -v zstd > /dev/null || { echo "no zstd here"; exit 77; }
	for kind in hprof tsv; do
		zstd -dqf -o KnownLibraries.$kind "$HDB_ROOT/tests/data/libraries.$kind.zst"
	done
	programs=KnownLibraries
	;;
esac
for program in $programs; do
	heapdb import "$program.hprof" -o "$program.heapdb" --quiet > /dev/null
	python3 "$check" "$program.heapdb" "$program.tsv" "$program"
done
