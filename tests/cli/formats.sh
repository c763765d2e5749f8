# Every format has the same rows; JSON is well-formed.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
heapdb query histogram --limit 40 --json >h.json
heapdb query histogram --limit 40 --csv >h.csv
heapdb query histogram --limit 40 --format jsonl >h.jsonl
heapdb export histogram --limit 40 >h.tsv
python3 - <<'END'
import csv, json
answer = json.load(open("h.json"))
print(list(answer))
print(answer["schema"], answer["query"], answer["row_count"], answer["total_rows"] > 40)
rows = answer["rows"]
assert all(list(row) == answer["columns"] for row in rows)
assert [json.loads(line) for line in open("h.jsonl")] == rows

def text(value):
    return "" if value is None else str(value)

for name, separator in ("h.csv", ","), ("h.tsv", "\t"):
    table = list(csv.reader(open(name), delimiter=separator))
    assert table[0] == answer["columns"], name
    assert table[1:] == [[text(v) for v in row.values()] for row in rows], name
print("all the same")
END
heapdb query histogram --limit 3 | tail -n 1 | cut -d ' ' -f 1,2,4
heapdb query histogram --limit all --columns name | grep -c ' of '
heapdb query histogram --limit 0 --csv | wc -l >all
heapdb query histogram --csv | wc -l | cmp - all && echo "programs get all"
