#!/bin/sh
# trace_processor_test.sh - compares heapdb with Perfetto's own trace_processor_shell (a path in TRACE_PROCESSOR) on
# generated traces: call stacks of native heaps with counts and bytes; objects, sizes and references of Java heaps. For
# other traces: tests/oracle/trace_processor.py java|native TRACE...
set -eu
[ -n "${TRACE_PROCESSOR:-}" ] || { echo "no TRACE_PROCESSOR=PATH of Perfetto's trace_processor_shell"; exit 77; }
heapdb sql --help > /dev/null 2>&1 || { echo "built without SQL"; exit 77; }
cd "$TMPDIR"
export PYTHONPATH="$HDB_ROOT/tests/e2e:$HDB_ROOT/tests/oracle:$HDB_ROOT/tests/support" PYTHONDONTWRITEBYTECODE=1
python3 - << 'EOF'
import zlib
import heapprofd_make as make
import proto
# trace_processor cannot distinguish two stacks with the same frames, nor two heaps of a process with the same stack.
heaps = [(42, 'libc.malloc', True), (77, 'com.android.art', False), (99, 'libc.malloc', True)]
processes = [(42, 'com.acme.app'), (77, 'com.acme.other'), (99, '/system/bin/mediaserver')]
for is_own in False, True:
    data = make.sample(heaps, processes, is_own=is_own, is_unique=True)[0]
    open('native%d.pftrace' % is_own, 'wb').write(data)
    open('packed%d.pftrace' % is_own, 'wb').write(proto.compress(data, 50, zlib.compress))
EOF
compare="python3 $HDB_ROOT/tests/oracle/trace_processor.py"
$compare native native0.pftrace native1.pftrace packed0.pftrace packed1.pftrace
python3 "$HDB_ROOT/tests/oracle/perfetto_small.py"
for form in new old hidden packed; do
	python3 "$HDB_ROOT/tests/oracle/perfetto_trace.py" small.hprof $form.pftrace --$form
done
$compare java new.pftrace old.pftrace hidden.pftrace packed.pftrace

dump=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps}/android_ahat_test.hprof.zst
if [ -f "$dump" ] && command -v zstd > /dev/null; then
	zstd -dqf -o ahat.hprof "$dump"
	python3 "$HDB_ROOT/tests/oracle/perfetto_trace.py" ahat.hprof ahat.pftrace --hidden
	$compare java ahat.pftrace
fi
