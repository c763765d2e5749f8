# A dump that was overwritten after its import: every interface reports it first if the database is given; if the dump
# is given, it is imported again.
say() { echo "\$ heapdb $*"; heapdb "$@" 2>&1; echo "exit $?"; }
plain() { sed -e 's|[^ "]*/dump.hprof|dump.hprof|g' -e 's/[0-9]\{6\}/N/g'; }
first() { say "$@" | plain | cut -c1-110 | sed -n '1,3p;$p'; }

hprofgen random --objects 2K --seed 1 -o a.hprof >/dev/null 2>&1
hprofgen random --objects 3K --seed 2 -o b.hprof >/dev/null 2>&1
cp a.hprof dump.hprof
heapdb import dump.hprof --sizes mat --quiet >/dev/null
heapdb query histogram --db dump.heapdb --json | grep -o '"stale"'
touch -d 2001-01-01 dump.hprof
echo "another time alone:"
heapdb query histogram --db dump.heapdb --json | grep -o '"stale"'

cp b.hprof dump.hprof
first query histogram --db dump.heapdb --limit 1
first query top --db dump.heapdb --csv --limit 1
first query top --db dump.heapdb --csv --limit 1 --quiet
first info --db dump.heapdb
first check --db dump.heapdb
first export objects --db dump.heapdb --limit 1
first report dump.heapdb
first query strings --db dump.heapdb
heapdb report dump.heapdb 2>/dev/null | sed -n '3p' | plain
heapdb query histogram --db dump.heapdb --json 2>/dev/null | plain | grep -o '"facts":{"stale":"[^"]*imported'
heapdb import b.hprof --quiet >/dev/null
first diff dump.heapdb b.heapdb --limit 1
first diff dump.heapdb b.heapdb --json --limit 1

echo "by the name of the dump:"
say export objects --db dump.hprof --columns id --limit 1
heapdb info --db dump.heapdb --json | python3 -c '
import json, sys
print([r["value"] for r in json.load(sys.stdin)["rows"] if r["key"] == "model"])'
cp a.hprof dump.hprof
HEAPDB=dump.hprof heapdb export objects --columns id --limit 1
cp b.hprof dump.hprof
say diff a.hprof dump.hprof --limit 1 --columns status --csv

echo "a database under that name, of another dump that is there:"
cp a.hprof dump.bin
say query histogram --db dump.bin

echo "moved with its database, replaced, lost:"
cp a.hprof gone.hprof
heapdb import gone.hprof --quiet >/dev/null
mkdir beside
mv gone.heapdb gone.hprof beside
heapdb query strings --db beside/gone.heapdb --limit 1 | sed 1q
cp b.hprof beside/gone.hprof
heapdb query strings --db beside/gone.heapdb 2>&1 | cut -d\; -f2
rm beside/gone.hprof
heapdb query strings --db beside/gone.heapdb 2>&1 | cut -d\; -f2
