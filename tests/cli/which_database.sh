# Which database is used: --db, $HEAPDB, the only one in the directory, the newest of several; a dump.
objects()
{
	heapdb query top --limit 1 "$@" --json | python3 -c '
import json, sys
print(json.load(sys.stdin)["row_count"], "row")'
}

cp "$DUMP" sample.hprof
echo "a dump without a database:"
objects --db sample.hprof 2>&1
echo "a dump that has one:"
objects --db sample.hprof 2>&1
echo "the only one:"
objects 2>&1
sleep 0.05
cp sample.heapdb newer.heapdb
echo "the newest of two:"
objects 2>&1
objects --quiet 2>&1
echo "named by the environment:"
HEAPDB=sample.heapdb
export HEAPDB
objects 2>&1
HEAPDB=missing.heapdb
objects --db newer.heapdb 2>&1
HEAPDB=sample.hprof
objects 2>&1
unset HEAPDB
echo "options anywhere:"
heapdb query --db sample.heapdb --limit 1 --csv --columns class top
heapdb query top --limit=1 --db=sample.heapdb --columns=class --format=tsv
