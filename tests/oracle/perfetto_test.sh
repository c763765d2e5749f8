#!/bin/sh
# perfetto_test.sh - Java heap graphs in Perfetto traces: the objects of a dump, written into a trace as ART does
# (perfetto_trace.py; both as since Android 12 and as before), must give the same classes, counts, sizes, references and
# unreachable objects as the dump itself, also with obfuscated names or compressed packets. Also several graphs in a
# trace, lost packets, and truncated or damaged traces.
# shellcheck disable=SC2094
set -eu
heapdb sql --help > /dev/null 2>&1 || { echo "built without SQL"; exit 77; }
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
cd "$TMPDIR"
failed=0
complain() {
	echo "FAILED: $*"
	failed=1
}
export PYTHONPATH="$HDB_ROOT/tests/oracle:$HDB_ROOT/tests/support"

# A trace does not record contents, to which object overhead and characters belong, and made-up arrays.
classes() {
	heapdb query histogram --all --csv --limit all --db "$1" \
		--columns name,objects,shallow,unreachable_objects,unreachable_shallow |
		grep -v '^\(byte\[\]\|char\[\]\|java.lang.Class\|java.lang.Object\[\]\),' | sort
}
references() {
	# The order of two fields with the same target is unknown.
	question="SELECT DISTINCT r.source, iif(instr(r.name, ','), '', r.name) name, r.target
		FROM refs r JOIN objects o ON o.id = r.source JOIN objects t ON t.id = r.target
		WHERE o.class = '$2' AND t.kind <> 'class'"
	heapdb sql "$1" --csv --limit all "$question" | sort
}

# compare DUMP CLASS: compares the forms of a trace, and the references of the instances of CLASS.
compare() {
	heapdb import "$1" -o dump.heapdb --force --quiet > /dev/null 2>&1
	classes dump.heapdb > want
	references dump.heapdb "$2" > want.references
	[ "$(wc -l < want)" -gt 5 ] || complain "$1: no classes"
	[ -s want.references ] || complain "$1: no references of $2"
	for form in new hidden packed old; do
		number=2 option=--$form
		[ $form != old ] || number=1
		python3 "$HDB_ROOT/tests/oracle/perfetto_trace.py" "$1" x.pftrace $option
		heapdb import x.pftrace -o trace.heapdb --force --quiet --snapshot $number > /dev/null 2>&1
		classes trace.heapdb | diff want - > difference || complain "$1, $form: $(head -n 5 difference)"
		references trace.heapdb "$2" | diff want.references - > difference ||
			complain "$1, $form: references of $2: $(head -n 5 difference)"
		heapdb info --csv trace.heapdb | grep -q '^dump,time,2023-11-14T22:13:27Z' || complain "$1, $form: time"
	done
}

python3 "$HDB_ROOT/tests/oracle/perfetto_small.py"
compare small.hprof app.Node
# A cleaner that has run owns nothing; the lowest bit of the size is a flag.
for db in dump trace; do
	heapdb query native --csv --db $db.heapdb > native
	grep -q '^app.Base,1,4096,' native || complain "native memory of $db: $(cat native)"
done
# The same dump converted to HPROF, and the other graph.
heapdb convert x.pftrace back.hprof > /dev/null
# Through a pipe, uncompressed and compressed: it is read at several positions, from a file without a name.
gzip -kf x.pftrace
xz -kf x.pftrace 2> /dev/null || cp x.pftrace.gz x.pftrace.xz
for packed in x.pftrace x.pftrace.gz x.pftrace.xz; do
	cat $packed | heapdb import - -o pipe.heapdb --force --quiet > /dev/null 2>&1 ||
		complain "$packed through a pipe"
	classes pipe.heapdb | diff want - > difference || complain "$packed through a pipe: $(head -n 5 difference)"
	cat $packed | heapdb convert - - 2> /dev/null | cmp - back.hprof || complain "$packed converted through a pipe"
done
rm x.pftrace.*
heapdb import back.hprof -o back.heapdb --quiet > /dev/null
classes back.heapdb | diff want - || complain "convert"
python3 "$HDB_ROOT/tests/oracle/perfetto_trace.py" small.hprof two.pftrace
heapdb import two.pftrace -o first.heapdb > said 2>&1
grep -q 'contains 2 heap dumps; imported heap dump 1' said || complain "two graphs: $(cat said)"
heapdb query histogram --csv --columns name,objects,shallow --db first.heapdb | grep -q '^Other,1,16$' ||
	complain "the first graph"
heapdb info --csv --db first.heapdb | grep -q '^dump,snapshots,2,' || complain "info of the first graph"
code=0
heapdb import two.pftrace -o none.heapdb --snapshot 3 > said 2>&1 || code=$?
{ [ $code = 2 ] && grep -q 'no heap graph number 3 (heap graphs in the trace: 2)' said; } ||
	complain "no third graph: $(cat said)"
[ ! -e none.heapdb ] || complain "a database of no graph"
# `heapdb TRACE` imports it once, and again if it has changed.
heapdb top two.pftrace --csv > /dev/null 2> said
grep -q 'importing two.pftrace into two.heapdb' said || complain "a trace is a file: $(cat said)"
heapdb top two.pftrace --csv > /dev/null 2> said
! grep -q importing said || complain "imported twice: $(cat said)"
# A graph has no threads, so it is unknown whether one threw an OutOfMemoryError.
heapdb two.pftrace > said
grep -q ' objects$' said || complain "overview: $(cat said)"
! grep -q 'threads,\|OutOfMemoryError' said || complain "overview: $(cat said)"

# Lost packets are reported; a trace of something else, too.
python3 - << 'EOF'
data = open('two.pftrace', 'rb').read()
def packets(data):
    at = 0
    while at < len(data):
        start = at
        size = shift = 0
        at += 1
        while True:
            byte = data[at]
            at += 1
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        at += size
        yield data[start:at]
all_packets = list(packets(data))
open('lost.pftrace', 'wb').write(b''.join(all_packets[:-1]))
open('none.pftrace', 'wb').write(all_packets[0])
EOF
heapdb import lost.pftrace -o lost.heapdb --snapshot 2 > said 2>&1
grep -q 'incomplete: the trace lacks packets of the heap graph' said || complain "a lost packet: $(cat said)"
! grep -q 'HEAP DUMP END\|offset' said || complain "records of HPROF: $(cat said)"
code=0
heapdb import none.pftrace -o none.heapdb > said 2>&1 || code=$?
{ [ $code = 3 ] && grep -q 'the trace contains no Java heap graph;' said; } || complain "no graph: $(cat said)"

# Objects of one class with different sizes keep their sizes: in listings, in sums by class, in retained sizes, and if
# the superclass has its own sizes.
cat > sizes.py << 'EOF'
from proto import number, text
#           id: type, self_size (0: its type's), references
objects = {16: (1, 32, [24, 32]), 24: (1, 128, []), 32: (2, 40, [40, 48, 56]), 40: (2, 1000000, []), 48: (2, 24, [64]),
           56: (1, 0, []), 64: (3, 20, []), 72: (3, 20, []), 80: (1, 33, [96]), 96: (4, 40, []), 112: (4, 24, []),
           128: (2, 0, []), 144: (5, 32, []), 160: (5, 128, [])}
names, sizes = {1: 'Foo', 2: 'Bar', 3: 'Same', 4: 'java.lang.String', 5: 'Plain'}, {1: 64, 2: 24, 3: 24, 4: 0, 5: 0}
if __name__ == '__main__':
    body = b''.join(text(4, number(1, i) + text(2, 'Foo.f%d' % i)) for i in (1, 2, 3))
    for id, (kind, size, to) in objects.items():
        body += text(2, number(1, id) + number(2, kind) + (number(3, size) if size else b'') +
                     b''.join(number(4, i + 1) + number(5, o) for i, o in enumerate(to)))
    for kind, name in names.items():
        body += text(9, number(1, kind) + text(3, name) + (number(4, sizes[kind]) if sizes[kind] else b'') +
                     (number(5, 1) if kind == 2 else b''))
    body += text(7, number(1, 16) + number(2, 1)) + text(7, number(1, 128) + number(2, 1))
    open('sizes.pftrace', 'wb').write(text(1, number(10, 1) + text(56, number(1, 7) + body)))
else:
    import csv, sys
    size = {id: (s or sizes[kind]) + 7 & ~7 for id, (kind, s, _) in objects.items()}
    # The characters of a string are a separate array, here as in ART's dumps.
    size.update({96: 16, 112: 16})
    retained = dict(size)
    for id in (48, 32, 16):
        retained[id] += sum(retained[to] for to in objects[id][2])
    reached = {16, 24, 32, 40, 48, 56, 64, 128}
    def rows(name):
        return list(csv.reader(open(name)))[1:]
    got = {int(a): (int(b), int(c)) for a, b, c in rows('by_object')}
    want = {id: (size[id], retained[id] if id in reached else 0) for id in size}
    assert got == want, (got, want)
    classes = {names[kind]: [id for id, (k, _, _) in objects.items() if k == kind] for kind in names}
    for name, number_of, shallow in rows('by_class'):
        if name in classes:
            assert (int(number_of), int(shallow)) == (len(classes[name]), sum(size[i] for i in classes[name])), name
            del classes[name]
    assert not classes, classes
EOF
python3 sizes.py
# check_sizes FILE: compares objects and classes of its database.
check_sizes() {
	heapdb import "$1" -o sizes.heapdb --force --quiet > /dev/null 2> said || complain "$1: $(cat said)"
	heapdb sql sizes.heapdb --all --csv --limit all "SELECT id + 0, shallow, coalesce(retained, 0) FROM objects
		WHERE kind = 'instance'" > by_object
	heapdb histogram sizes.heapdb --all --csv --limit all --columns name,objects,shallow > by_class
	python3 -c 'import sizes' || complain "$1: sizes of objects"
	heapdb check sizes.heapdb --quiet > said 2>&1 || complain "$1: check: $(cat said)"
	sums="SELECT sum(shallow%s) FROM objects WHERE class = 'Bar'"
	# shellcheck disable=SC2059
	heapdb sql sizes.heapdb --csv "$(printf "$sums" '')" | sed 1d > want
	# shellcheck disable=SC2059
	heapdb sql sizes.heapdb --csv "$(printf "$sums" ' + 0')" | sed 1d | cmp -s - want ||
		complain "$1: sums of sizes"
}
check_sizes sizes.pftrace
heapdb convert sizes.pftrace sizes.hprof > /dev/null
check_sizes sizes.hprof

# An object that names a field twice keeps both references.
python3 - << 'EOF'
from proto import number, text
body = text(7, number(1, 1) + number(2, 3)) + text(4, number(1, 1) + text(2, 'Node.next'))
body += text(2, number(1, 1) + number(2, 1) + number(4, 1) + number(5, 2) + number(4, 1) + number(5, 3))
body += text(2, number(1, 2) + number(2, 1)) + text(2, number(1, 3) + number(2, 1))
body += text(9, number(1, 1) + text(3, 'Node'))
open('twice.pftrace', 'wb').write(text(1, number(10, 1) + text(56, number(1, 7) + body)))
EOF
heapdb import twice.pftrace -o twice.heapdb --quiet > /dev/null
heapdb query histogram --csv --columns name,objects --db twice.heapdb |
	grep -q '^Node,3$' || complain "a field named twice"

# A class object or an array may have references through fields that the trace does not name. Named ones keep their
# names.
python3 - << 'EOF'
from proto import number, text
types = {1: 'app.Holder', 2: 'java.lang.Object', 3: 'java.lang.Class<app.Holder>', 4: 'java.lang.Class',
         5: 'app.Holder[]', 6: 'java.lang.String'}
body = text(7, number(1, 16) + number(2, 3))
body += text(2, number(1, 16) + number(2, 3) + number(3, 900) + number(4, 99) + number(5, 32))
body += text(2, number(1, 32) + number(2, 6) + number(3, 40))
body += text(2, number(1, 48) + number(2, 5) + number(3, 32) + number(4, 98) + number(5, 32))
for kind, name in types.items():
    body += text(9, number(1, kind) + text(3, name) + number(4, 16) + (number(5, 2) if kind != 2 else b''))
open('unnamed.pftrace', 'wb').write(text(1, number(10, 1) + text(56, number(1, 7) + body)))
EOF
heapdb import unnamed.pftrace -o unnamed.heapdb --quiet > said 2>&1 || complain "unnamed fields: $(cat said)"
heapdb sql unnamed.heapdb --csv "SELECT name FROM class_fields WHERE class = 'java.lang.String' ORDER BY name" > said
printf 'name\nvalue\n' | cmp -s - said || complain "fields of a string: $(cat said)"
heapdb sql unnamed.heapdb --csv \
	"SELECT name FROM class_fields WHERE class = 'app.Holder' AND is_static ORDER BY name" > said
printf '%s\n' name '""' "\$classOverhead" | cmp -s - said || complain "static fields of a class: $(cat said)"
heapdb sql unnamed.heapdb --csv --all "SELECT DISTINCT heap FROM objects WHERE heap IS NOT NULL ORDER BY 1" > said
printf 'heap\napp\ndefault\n' | cmp -s - said || complain "heaps: $(cat said)"

# If a graph lacks its last packet, it has the roots of the other packets: objects they do not reach are garbage. Only
# without any root, unreferenced objects count as roots.
python3 - << 'EOF'
from proto import number, text
body = text(4, number(1, 1) + text(2, 'Node.next')) + text(9, number(1, 1) + text(3, 'Node'))
body += text(2, number(1, 1) + number(2, 1) + number(4, 1) + number(5, 2))
body += b''.join(text(2, number(1, n) + number(2, 1)) for n in (2, 3))
root = text(7, number(1, 1) + number(2, 3))
for name, roots in (('cut', root), ('rootless', b'')):
    open(name + '.pftrace', 'wb').write(text(1, number(10, 1) + text(56, number(1, 7) + number(5, 1) + roots + body)))
EOF
for name in cut:2,1 rootless:3,0; do
	heapdb import "${name%:*}.pftrace" -o "${name%:*}.heapdb" --quiet > /dev/null 2>&1
	export HEAPDB="${name%:*}.heapdb"
	heapdb query histogram --csv --columns name,objects,unreachable_objects |
		grep -q "^Node,${name#*:}$" || complain "roots of an incomplete graph: $HEAPDB"
	heapdb query histogram 2>&1 | grep -q 'incomplete: the trace lacks packets' ||
		complain "$HEAPDB: not incomplete"
done
unset HEAPDB
heapdb info --problems --csv --db cut.heapdb | grep -q '^lost-packets,.*heap graph' ||
	complain "no problem of a cut graph"

# A damaged .gz of another kind is left to other readers.
python3 - << 'EOF'
import gzip
data = bytearray(gzip.compress(open('small.hprof', 'rb').read()))
data[200] ^= 0x55
open('damaged.hprof.gz', 'wb').write(data)
EOF
heapdb import damaged.hprof.gz -o damaged.heapdb > said 2>&1 || true
! grep -q packets said || complain "a damaged dump is no trace: $(cat said)"

# Truncated or changed anywhere: an error or a database, but no crash and no endless loop.
python3 - << 'EOF'
import random
random.seed(5)
data = open('two.pftrace', 'rb').read()
for i in range(60):
    bad = bytearray(data[:random.randrange(len(data))] if i % 3 == 0 else data)
    for _ in range(random.randrange(1, 9)):
        if bad:
            bad[random.randrange(len(bad))] = random.randrange(256)
    open('bad%d.pftrace' % i, 'wb').write(bytes(bad))
EOF
for i in $(seq 0 59); do
	code=0
	timeout 20 heapdb import "bad$i.pftrace" -o bad.heapdb --force --quiet --snapshot 2 > said 2>&1 || code=$?
	[ $code -le 4 ] || complain "damaged trace $i: exit $code: $(cat said)"
done

dump=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps}/android_ahat_test.hprof.zst
if [ -f "$dump" ] && command -v zstd > /dev/null; then
	zstd -dqf -o ahat.hprof "$dump"
	compare ahat.hprof java.util.HashMap\$Node
fi
exit $failed
