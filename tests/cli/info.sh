# Facts about a database, and its check.
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
heapdb info --json | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(answer["query"], answer["row_count"] > 20, answer["row_count"] == answer["total_rows"])'
heapdb check --json >check.json
echo "check: exit $?"
python3 -m json.tool check.json >/dev/null && echo well-formed
heapdb info --db s.heapdb >/dev/null && echo "info: exit $?"
