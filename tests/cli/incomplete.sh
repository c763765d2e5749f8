# Truncated dumps and dumps without GC roots: every interface reports it first, and analyses use the available data.
say() { echo "\$ heapdb $*"; heapdb "$@" 2>&1; echo "exit $?"; }
first() { say "$@" | cut -c1-130 | sed -n '1,3p;$p'; }

head -c 3000000 "$DUMP" >cut.hprof
say import cut.hprof --json | sed 's/"database".*//'
first query histogram --db cut.heapdb --limit 1
first query histogram --db cut.heapdb --csv --limit 1
first query histogram --db cut.heapdb --csv --limit 1 --quiet
first query leaks --db cut.heapdb --limit 1
first query triage --db cut.heapdb --limit 1
first query top --db cut.heapdb --limit 1
first info --db cut.heapdb
first check --db cut.heapdb
first export objects --db cut.heapdb --limit 1
heapdb check --db cut.heapdb 2>/dev/null | grep failed
heapdb report cut.heapdb 2>/dev/null | sed -n 3p
cp "$DUMP" whole.hprof
first diff cut.hprof whole.hprof --limit 1
heapdb query histogram --db cut.heapdb --json --limit 1 2>/dev/null | python3 -c '
import json, sys
facts = json.load(sys.stdin)["facts"]
print(list(facts)[:4], facts["missing_bytes"] > 0, facts["roots_seen"], facts["unreachable_objects"])'
# Unreferenced objects have no kind of root.
id=$(heapdb query top --db cut.heapdb --csv --limit 1 2>/dev/null | tail -n 1 | cut -d, -f1)
heapdb query path "$id" --db cut.heapdb --csv --columns root 2>/dev/null | sed -n 2p

# A truncated compressed dump lacks its end, and no bytes were skipped.
gzip -c "$DUMP" | head -c 800000 >cut.hprof.gz
heapdb import cut.hprof.gz --force 2>&1 | sed -n 's/.*\(bytes are missing\); \(............\).*/\1; \2/p'

echo "cut among the roots:"
size=$(stat -c %s "$DUMP")
head -c $((size - 5000)) "$DUMP" >late.hprof
heapdb import late.hprof --quiet 2>&1 >/dev/null | cut -c1-100
heapdb query histogram --db late.heapdb --json --limit 1 2>/dev/null | python3 -c '
import json, sys
facts = json.load(sys.stdin)["facts"]
print(facts["roots_seen"], facts["unreachable_objects"])'

echo "whole:"
heapdb import "$DUMP" -o w.heapdb --json | grep -c '"incomplete"'
heapdb query histogram --db w.heapdb --json | grep -c '"incomplete"\|"roots_seen"'
true
# Reported once, before the text.
heapdb threads --db cut.heapdb 2>/dev/null | grep -c '^incomplete:'
heapdb referrers 0xfeb10758 --db cut.heapdb 2>/dev/null | grep -c '^incomplete:'
