# Error messages of queries: wrong options and arguments, conditions, rules; each with its exit code.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
heapdb import "$DUMP" -o vm.heapdb --quiet >/dev/null
printf 'zero\000byte' >zero.rules
printf 'rule without end' >bad.rules
printf 'kind: nothing\n' >kind.rules
head -c 2000000 /dev/zero | tr '\0' '#' >long.rules
sh -u "$HDB_ROOT/tests/support/rows.sh" <<'ROWS'
top --db s.heapdb --frob
top --db s.heapdb --all
dominators --db s.heapdb --unreachable
tables --db s.heapdb --frob
sizes --db s.heapdb --by nothing
histogram --db s.heapdb --shallow=yes
histogram --db s.heapdb --limit x
dominator-tree --db s.heapdb --min 101%
dominator-tree --db s.heapdb --depth x
info extra --db s.heapdb
tables extra --db s.heapdb
class --db s.heapdb
class a b c --db s.heapdb
histogram --db s.heapdb --unreachable --all
histogram --db s.heapdb --sort nothing
histogram --db s.heapdb --columns nothing
histogram --db s.heapdb --where "suspects() > 1"
histogram --db s.heapdb --fail-if "leaks() > 1"
histogram --db s.heapdb --where "objects >"
histogram --db s.heapdb --where "objects > 5)"
histogram --db s.heapdb --where "1 LIMIT 3"
secrets --db s.heapdb -o x.xml
histogram --db s.heapdb --where "nothing > 1"
dominator-tree --db s.heapdb --where "retained > 1"
path 0x1 --db s.heapdb
path 0xffffffffffffffffff --db s.heapdb
path main --db s.heapdb
path Sample --db s.heapdb --heap app
path Sample --db s.heapdb --exclude nothing
path Sample --db s.heapdb --exclude Sample:nothing
path Sample --db s.heapdb --exclude 'java.*:next'
roots --db s.heapdb --kind nothing
roots nothing --db s.heapdb
strings --db s.heapdb --match "("
strings --db s.heapdb --objects --by value
strings --db s.heapdb --by class --objects
strings --db s.heapdb --objects --min-count 2
strings --db s.heapdb --equals "$(head -c 70000 /dev/zero | tr '\0' a)"
threads nothing --db s.heapdb
thread nothing --db s.heapdb
threads --db s.heapdb --thread nothing
dominators --db s.heapdb --by class --tree
dominators --db s.heapdb --by package --tree
histogram --db s.heapdb --shallow --unreachable
histogram --db s.heapdb --by loader --fail-if "objects > 1"
histogram --db s.heapdb --fail-if "frob > 1"
histogram --db s.heapdb --fail-if "objects >"
immediate-dominators 0x1 --db s.heapdb
immediate-dominators --db s.heapdb
immediate-dominators nothing --db s.heapdb
retained Sample --db s.heapdb --lower-bound --exclude weak
retained loader:nothing --db s.heapdb
retained loader:0x1 --db s.heapdb
retained Sample:nothing --db s.heapdb
arrays --db s.heapdb --by value
duplicates "java.*" --db s.heapdb
unreachable --db s.heapdb --holders --by class
unreachable nothing --db s.heapdb
unreachable --db s.heapdb --holders nothing
unreachable --db s.heapdb --holder nothing
class Sample --db vm.heapdb --layout --heap app
class Sample --db s.heapdb --layout
class nothing --db s.heapdb
instances Sample --db s.heapdb --fields a,b,c,d,e,f,g,h,i,j,k,l,m
instances nothing --db s.heapdb
instances --db s.heapdb
object Sample --db s.heapdb
object 0x1 --db s.heapdb
object 0x1 --db s.heapdb --sort retained --depth 2
references 0x1 --db s.heapdb
references --db s.heapdb
referrers 0x1 --db s.heapdb
bitmaps zzz --db s.heapdb
inflation --db s.heapdb
explain --db s.heapdb --rules zero.rules
explain --db s.heapdb --rules bad.rules
explain --db s.heapdb --rules kind.rules
explain --db s.heapdb --rules absent.rules
explain --db s.heapdb --rules .
inspect --db s.heapdb --rules zero.rules
leak-traces --db s.heapdb --rules bad.rules
leaks --db s.heapdb --min x
merged-paths nothing --db s.heapdb
merged-paths --db s.heapdb
map 0x1 --db s.heapdb
collections nothing --db s.heapdb
consumers --db s.heapdb --by nothing
loaders nothing --db s.heapdb
oql "select" --db s.heapdb
ROWS
