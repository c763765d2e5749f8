# Error messages about invalid command lines, with exit status.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
mkdir own; cp "$DUMP" own/d.hprof
corpus=$HDB_ROOT/tests/corpus
export corpus
mkdir empty
printf 'nothing\n' >text
: >none
sh -u "$HDB_ROOT/tests/support/rows.sh" <<'ROWS'
allocations
allocations $corpus/heapprofd/own.pftrace --by class
allocations $(ls $corpus/allocations/* | head -n 1) --by dump
allocations text
allocations none
jfr
jfr $corpus/jfr/sample events
jfr $corpus/jfr/sample gc --by class
jfr $corpus/jfr/sample --by module
jfr text
jfr none
meminfo
meminfo text
meminfo $corpus/meminfo/dumpsys --chart
meminfo $corpus/meminfo/dumpsys $corpus/meminfo/dumpsys --chart --json
meminfo $corpus/meminfo/dumpsys text
capture zero
watch
watch 1 2
watch 1 --all
watch zero
watch --all --once --when 'heap > x'
watch --all --once --when 'heap > 85% for 5'
watch --all --once --when 'gc > 5'
watch --all --once --keep all
watch --all --once --interval 5
growth
growth text
export bitmaps a b
export dump 0x1 -o d.hprof
export "select 1" --columns a
export objects --compress none
export objects --format arrow --compress nothing
export nothing
report --no-values
report --html r.html --json
strip "$DUMP"
strip "$DUMP" a b
strip "$DUMP" a --keep names
strip "$DUMP" a --keep strings --zero
redact "$DUMP" - --json
convert "$DUMP" - --human
convert "$DUMP" a --id-size 5
convert "$DUMP" a --compress wrong
serve s.heapdb --db s.heapdb
serve s.heapdb s.heapdb --dump "$DUMP"
serve s.heapdb --port none
sql "select 1" s.heapdb s.heapdb --dump "$DUMP"
sql "select 1" a=s.heapdb --db s.heapdb
sql "select 1" --dump
histogram --where "objects > "
histogram --format parquet
histogram --format arrow
notes add Sample
notes frob
mcp
mcp absent
mcp text
fleet
import
import one two
import absent.hprof
import none
import text
import empty
import "$DUMP" -o absent/x.heapdb
import "$DUMP" -o empty
import "$DUMP" -o t.heapdb --snapshot 5
import "$DUMP" -o t.heapdb --layout header=13,ref=4,align=8
import "$DUMP" -o t.heapdb --mapping absent.map
import --fetch "echo" name
import --fetch "cat {}" -
import - -o x.heapdb
check absent.heapdb
check text
check none
info --db own/d.hprof --dump absent
overview absent.hprof
s.heapdb histogram
absent.hprof
histogrm
path
path 0x1
path 0xzz
path nothing.Here
path Sample nothing
retained
retained 0x1
retained no.such.Klass
help frob
help query frob
--frob
demo frob
completion
diff
diff s.heapdb
diff s.heapdb text
diff s.heapdb s.heapdb --by nothing
diff s.heapdb s.heapdb --fail-if
diff s.heapdb s.heapdb --fail-if "growth >"
diff s.heapdb s.heapdb --fail-if "nothing > 3"
ROWS
