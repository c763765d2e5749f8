#!/bin/sh
# memory_programs_test.sh - `heapdb memory` of programs with known direct buffers, mapped files, threads, class loaders,
# native memory, free blocks of malloc, and heaps, on each installed JDK ($JDK17, $JDK25, or javac's), with Native
# Memory Tracking off, summary and detail. Needs a JDK and python3; without a C compiler, native memory is not tested.
# Slow: up to 36 runs of a JVM, 54 with HEAPDB_MEMORY=full.
set -eu
export PYTHONDONTWRITEBYTECODE=1
[ -r /proc/self/smaps_rollup ] || { echo "no /proc/PID/smaps_rollup here"; exit 77; }
for tool in java javac python3; do
	command -v $tool >/dev/null || { echo "no $tool here"; exit 77; }
done
cd "$TMPDIR"
home=$(readlink -f "$(command -v javac)")
[ -n "${JDK17:-}${JDK25:-}" ] || JDK17=${home%/bin/javac}
python3 "$HDB_ROOT/tests/e2e/memory_programs.py" "${HEAPDB_MEMORY:-all}" ${JDK17:+"$JDK17"} ${JDK25:+"$JDK25"}
