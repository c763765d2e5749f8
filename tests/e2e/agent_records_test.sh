#!/bin/sh
# agent_records_test.sh - all records of HPROF's agent (JDK 8 and before), in a dump written by this test: thread
# groups, ended threads, unloaded classes, totals of allocation sites with their flags, heap summaries with their time;
# in queries, JSON and SQL.
# shellcheck disable=SC2094
set -eu
cd "$TMPDIR"
cat > write.py <<'EOF'
import struct
def record(tag, body, micros=0):
    return struct.pack('>BII', tag, micros, len(body)) + body
def text(no, s):
    return record(1, struct.pack('>I', no) + s)
def load(serial, at, name):
    return record(2, struct.pack('>IIII', serial, at, 0, name))
def class_dump(at, parent):
    return struct.pack('>BII', 0x20, at, 0) + struct.pack('>I', parent) + bytes(20) + struct.pack('>IHHH', 0, 0, 0, 0)
names = [b'java/lang/Object', b'java/lang/Class', b'java/lang/Thread', b'Gone', b'worker', b'pool', b'root', b'old']
out = b'JAVA PROFILE 1.0.1\0' + struct.pack('>IQ', 4, 1700000000000)
for no, name in enumerate(names, 1):
    out += text(no, name)
for no in range(1, 5):
    out += load(no, 0x100 * no, no)
# START THREAD: serial, object, trace, name, group, parent group
out += record(0x0a, struct.pack('>IIIIII', 1, 0x1000, 0, 5, 6, 7), 5)
out += record(0x0a, struct.pack('>IIIIII', 2, 0, 0, 8, 7, 0), 6)
out += record(0x0b, struct.pack('>I', 2), 7)
# ALLOC SITES: flags, cutoff ratio, live bytes and instances, allocated bytes and instances, sites
site = struct.pack('>BIIIIII', 0, 3, 0, 16, 1, 32, 2)
out += record(6, struct.pack('>HfIIQQI', 1 | 4, 0.25, 1000, 10, 5000, 50, 1) + site, 1500000)
out += record(6, struct.pack('>HfIIQQI', 2, 0.5, 2000, 20, 6000, 60, 1) + site, 2500000)
# HEAP SUMMARY: live bytes and instances, allocated bytes and instances
out += record(7, struct.pack('>IIQQ', 3000, 30, 1 << 33, 70), 3250000)
out += record(3, struct.pack('>I', 4))
heap = b''.join(class_dump(0x100 * no, 0x100 if no > 1 else 0) for no in range(1, 5))
heap += struct.pack('>BIIII', 0x21, 0x1000, 0, 0x300, 0)
heap += struct.pack('>BIII', 8, 0x1000, 1, 0)
out += record(0x0c, heap)
open('agent.hprof', 'wb').write(out)
EOF
python3 write.py
heapdb import agent.hprof -o agent.heapdb --quiet > import.log
failed=0
check() {
	diff -u - "$1" || { echo "FAILED: $2"; failed=1; }
}
heapdb query threads --no-stack --csv --columns thread,serial,state,group,parent_group agent.heapdb > threads
check threads "threads" <<'EOF'
thread,serial,state,group,parent_group
worker,1,,pool,root
old,2,TERMINATED,root,
EOF
heapdb query heap-summaries --csv agent.heapdb | cut -d, -f1-10 > summaries
check summaries "summaries" <<'EOF'
record,seconds,live_objects,live_bytes,allocated_objects,allocated_bytes,incremental,sorted_by,collected,cutoff_percent
ALLOC SITES,1.5,10,1000,50,5000,true,live,true,25.00
ALLOC SITES,2.5,20,2000,60,6000,false,allocated,false,50.00
HEAP SUMMARY,3.25,30,3000,70,8589934592,,,,
EOF
heapdb query class Gone --json agent.heapdb | grep -o '"unloaded":[a-z]*' > unloaded
check unloaded "a class that was unloaded" <<'EOF'
"unloaded":true
EOF
if heapdb query class java.lang.Object --json agent.heapdb | grep '"unloaded"'; then
	echo "FAILED: a class that is loaded"
	failed=1
fi
heapdb query alloc-sites --csv --columns record,class,live_bytes,allocated_bytes agent.heapdb > sites
check sites "allocation sites" <<'EOF'
record,class,live_bytes,allocated_bytes
1,java.lang.Thread,16,32
2,java.lang.Thread,16,32
EOF
question="SELECT record, seconds FROM query_heap_summaries WHERE incremental"
if heapdb sql agent.heapdb --csv "$question" > sql 2> sql.err; then
	check sql "SQL" <<'EOF'
record,seconds
ALLOC SITES,1.5
EOF
else
	grep -q "without SQL" sql.err || { cat sql.err; failed=1; }
fi
exit $failed
