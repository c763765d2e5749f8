# Error messages of OQL, as Eclipse MAT and VisualVM write it, with exit codes.
# shellcheck disable=SC2016
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
deep=$(awk 'BEGIN { for (i = 0; i < 2000; i++) printf "("; print "1" }')
long=$(awk 'BEGIN { for (i = 0; i < 30000; i++) printf "1 + "; print "1" }')
bangs=$(awk 'BEGIN { for (i = 0; i < 2000; i++) printf "!"; print "1" }')
export deep long bangs
sh -u "$HDB_ROOT/tests/support/rows.sh" <<'ROWS'
oql "select $deep from java.lang.String"
oql "select $long from java.lang.String"
oql 'select not s.value from java.lang.String s'
oql 'select * from java.lang.String s where not s.hash = 1'
oql 'select 5000000000 from java.lang.String'
oql 'select 99999999999999999999999999 from java.lang.String'
oql 'select 0x from java.lang.String'
oql 'select 0xz from java.lang.String'
oql 'select * from 0x'
oql "select 'ab' from java.lang.String"
oql 'select "ab from java.lang.String'
oql 'select /* from java.lang.String'
oql 'select # from java.lang.String'
oql "select $(printf '\001') from java.lang.String"
oql 'select s <> 1 from java.lang.String s'
oql 'select * from java.lang.String union (select * from Sample order by 1)'
oql 'select * from java.lang.String union (select * from Sample limit 2)'
oql 'select distinct s.hash from java.lang.String s group by s.hash'
oql 'select as retained set s.hash from java.lang.String s group by s.hash'
oql 'select * from java.lang.String s group by s.hash'
oql 'select sum(s) from java.lang.String s'
oql 'select * from java.lang.String s order by 99'
oql 'select a.x from objects (select s.hash as h from java.lang.String s) a'
oql 'select s.hash + s from java.lang.String s'
oql 'select * from "(" '
oql 'select * from "(.*"'
oql 'select s from java.lang.String s where s.value like "("'
oql 'select ${snapshot}.nothing() from java.lang.String'
oql 'select s.nothing() from java.lang.String s'
oql 'select s.@nothing from java.lang.String s'
oql 'select nothing(s) from java.lang.String s'
oql 'select toHex(s) from java.lang.String s'
oql 'select toHex() from java.lang.String s'
oql 'select'
oql 'frob'
oql ''
oql 'select * from'
oql 'select * from java.lang.String s where'
oql 'select * from java.lang.String s limit x'
oql 'select filter(heap.objects("java.lang.String"), "it.hash >") from java.lang.Object'
oql --sql 'select * from java.lang.String'
oql 'select s from java.lang.String s where s.hash == '
oql "select map(heap.objects('java.lang.String'), $bangs) from java.lang.String"
oql 'select heap.nothing("x")'
oql "heap.objects('java.lang.String').map("
oql "map(heap.objects('java.lang.String'), 'it.nothing(')"
oql "select $bangs s from java.lang.String s where s.hash == 1"
oql 'select rsizeof(s from java.lang.String s where s.hash == 1'
sql 'select nothing from objects'
sql 'select * from nothing'
sql 'select (select id, class from objects)'
sql ''
sql 'insert into objects values (1)'
sql '.mode frob'
sql '.frob'
sql 'pragma nothing'
sql "attach 'x' as y"
sql "select printf('%.*c', 2000000000, 'x')"
sql "select class_of('x')"
sql 'select * from path'
sql "select * from instances('nothing.Here')"
oql 'select s from java.lang.String s' --limit x
ROWS
