# How sizes were computed and why, with options of the user; the layout of classes; sizes without a layout.
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
heapdb info --sizes --csv --db s.heapdb | cut -d , -f 1-3
heapdb query sizes --json --db s.heapdb | python3 -c '
import json, sys
print(json.load(sys.stdin)["rows"][0])'
heapdb query class java.lang.String --layout --db s.heapdb | tail -n +2
heapdb query layout java.lang.Thread --limit all --db s.heapdb | tail -n +2
heapdb query layout 'long[]' --json --db s.heapdb | python3 -c '
import json, sys
print([(r["offset"], r["bytes"], r["part"]) for r in json.load(sys.stdin)["rows"]])'
heapdb query layout 'java.util.*' --db s.heapdb
echo "several: exit $?"
heapdb import "$DUMP" -o w.heapdb --layout header=16,ref=8,align=16 --quiet >/dev/null
heapdb info --sizes --csv --db w.heapdb | grep -E '^(sizes,(header|reference|alignment|why)|classes,cut,)'
heapdb import "$DUMP" -o h.heapdb --layout header=12 --quiet >/dev/null
heapdb info --sizes --csv --db h.heapdb | grep -E '^sizes,why|^totals,bytes'
heapdb import "$DUMP" -o m.heapdb --sizes mat --quiet >/dev/null
heapdb query sizes --csv --db m.heapdb | cut -d , -f 1-3
heapdb query class java.lang.String --layout --db m.heapdb
echo "not laid out: exit $?"
heapdb query class java.lang.String --db m.heapdb | grep proof
heapdb import "$DUMP" -o x.heapdb --layout header=3 --quiet
echo "bad layout: exit $?"
