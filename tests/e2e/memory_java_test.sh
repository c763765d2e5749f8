#!/bin/sh
# memory_java_test.sh - `heapdb memory` of a running JVM with known direct buffers, with Native Memory Tracking, alone
# and with a dump: the parts add up to RSS, and the buffers to those of the program. Also processes that are no JVM or
# belong to another user. Needs a JDK and python3.
set -eu
export PYTHONDONTWRITEBYTECODE=1
[ -r /proc/self/smaps_rollup ] || { echo "no /proc/PID/smaps_rollup here"; exit 77; }
for tool in java javac python3; do
	command -v $tool >/dev/null || { echo "no $tool here"; exit 77; }
done
cd "$TMPDIR"
home=$(readlink -f "$(command -v javac)")
python3 "$HDB_ROOT/tests/e2e/memory_programs.py" short "${home%/bin/javac}" >out 2>&1 || { cat out; exit 1; }

# refused PID EXIT MESSAGE...
refused()
{
	rc=0
	heapdb memory "$1" >out 2>&1 || rc=$?
	[ $rc -eq "$2" ] || { echo "exit $rc of process $1: $(cat out)"; exit 1; }
	grep -q "$3" out || { echo "process $1: $(cat out)"; exit 1; }
}
sleep 60 &
plain=$!
refused $plain 3 "process $plain is not a HotSpot VM"
kill -9 $plain
wait $plain 2>/dev/null || true
refused $plain 3 "no such process: $plain"
