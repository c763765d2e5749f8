# Error messages about input, output and notes files, with exit status.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
corpus=$HDB_ROOT/tests/corpus
export corpus
head -c 300000 "$DUMP" >cut.hprof
cp "$DUMP" own.hprof
ln -s own.hprof link.hprof
gzip -c "$DUMP" | head -c 100000 >cut.hprof.gz
printf 'no arrow\n' >renames
printf 'a\n' >short.key
printf 'text\n' >notes.json
printf 'heap dump, version 9\n' >text.phd
head -c 40 "$corpus/phd/v66408.phd" >cut.phd
for size in 10 100 300 700 1100 1500; do
	head -c $size "$corpus/jfr/sample" >"cut$size.jfr"
	head -c $size "$corpus/allocations/two" >"cut$size.alloc"
	head -c $size "$corpus/heapprofd/own.pftrace" >"cut$size.pftrace"
done
{ printf 'FLR\000\000\001\000\000'; head -c 100 /dev/zero; } >version.jfr
{ head -c 68 "$corpus/jfr/sample"; head -c 2000 /dev/zero; } >zero.jfr
printf '00400000-00452000 r-xp 00000000 08:02 173521 /usr/bin/dbus\n' >maps
printf 'com.Acme -> a:\n  void nothing\n' >mapping.txt
awk 'BEGIN { while (i++ < 70000) printf "x"; print " -> a:" }' >long.map
long=$(awk 'BEGIN { while (i++ < 70000) printf "x" }')
many=$(awk 'BEGIN { while (i++ < 17) printf "s.heapdb " }')
export long many
sh -u "$HDB_ROOT/tests/support/rows.sh" <<'ROWS'
jfr cut10.jfr
jfr cut100.jfr
jfr cut300.jfr
jfr cut700.jfr
jfr cut1500.jfr
jfr version.jfr
jfr zero.jfr
jfr absent.jfr
jfr .
allocations cut10.alloc
allocations cut100.pftrace
allocations $corpus/perfetto/packed.pftrace
allocations absent
meminfo maps
meminfo absent
meminfo $corpus/meminfo/processes $corpus/meminfo/dumpsys
meminfo $corpus/meminfo/dumpsys $corpus/meminfo/processes --csv
meminfo . .
import text.phd
import cut.phd
import $corpus/phd/v66408.phd -o p.heapdb --snapshot 2
import $corpus/perfetto/packed.pftrace -o q.heapdb --snapshot 9
import cut.hprof.gz -o gz.heapdb --no-contents
import "$DUMP" -o l2.heapdb --layout frob
import "$DUMP" -o l3.heapdb --layout header=12,ref=4,align=3
import "$DUMP" -o m.heapdb --mapping absent.map
import "$DUMP" -o c.heapdb --contents frob
convert "$DUMP" c.hprof --id-size 4
convert $corpus/perfetto/packed.pftrace c2.hprof --id-size 4
convert absent c3.hprof
convert "$DUMP" "$DUMP"
convert "$DUMP" absent/out
convert "$DUMP" s.heapdb/out
strip "$DUMP" st2.hprof --keep strings --all
redact "$DUMP" r.hprof --hash --hash-key short.key
redact "$DUMP" r2.hprof --hash-key absent.key
redact "$DUMP" r3.hprof --rename renames
redact "$DUMP" r4.hprof --rename absent
redact "$DUMP" r5.hprof --arrays frob
redact "$DUMP" - --json
strip own.hprof own.hprof --force
redact link.hprof own.hprof --force
redact own.hprof own2.hprof --secrets link.hprof --force
notes add 'java.*' text
notes add Sample ''
notes add Sample "$long"
notes add Sample "$(printf '\377')"
notes add "$long" text
notes add 0xzz text
notes add 0x1 text
notes add no.such.Klass text
notes add leak: text
notes remove Sample
notes remove 0x123
notes add '' text
notes frob
notes add Sample
check s.heapdb extra
export strings --json --csv
export dump -o "$DUMP"
report --no-values
report --html r.html --json
report --html absent/r.html
diff s.heapdb s.heapdb --by growth --json --csv
diff s.heapdb cut.hprof
histogram --svg treemap
dominator-tree --svg frob
dominator-tree --format png
serve --db s.heapdb --port 99999
serve absent.heapdb
serve $many
capture frob
capture --adb
capture --adb ''
notes list extra
meminfo $corpus/meminfo/dumpsys absent.heapdb
s.heapdb info
ROWS
printf 'text\n' >s.heapdb.notes.json
sh -u "$HDB_ROOT/tests/support/rows.sh" <<'ROWS'
ROWS
printf '{"schema":1,"notes":[{"target":3}]}\n' >s.heapdb.notes.json
sh -u "$HDB_ROOT/tests/support/rows.sh" <<'ROWS'
ROWS
