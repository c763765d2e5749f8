#!/bin/sh
# mcp_make_test.sh - `heapdb mcp` imports a dump and captures a JVM (fake_vm.py) only if the user agrees: in a form of
# the client in each version of the protocol, or by --allow-import and --allow-capture.
set -eu
[ -r /proc/self/stat ] || { echo "no /proc here"; exit 77; }
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
cd "$TMPDIR"
mkdir dumps outside vm
: >vm.out
if heapdb mcp dumps </dev/null 2>&1 | grep -q 'built without'; then
	echo "heapdb was built without libjansson"
	exit 77
fi
head -c 4096 /dev/zero >libjvm.so
(cd vm && exec python3 "$HDB_ROOT/tests/e2e/fake_vm.py" v1 "$DUMP" "$TMPDIR/libjvm.so") >vm.out 2>&1 &
vm=$!
trap 'kill -9 $vm 2>/dev/null || true; rm -f "/tmp/.java_pid$vm"' EXIT
for _ in $(seq 300); do
	grep -q ready vm.out && break
	sleep 0.05
done
python3 "$HDB_ROOT/tests/e2e/mcp_make.py" $vm
