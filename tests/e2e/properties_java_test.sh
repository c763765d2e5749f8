#!/bin/sh
# properties_java_test.sh - long values of system properties are complete, for example a class path with thousands of
# characters.
set -eu
for tool in java javac python3; do
	command -v $tool > /dev/null || { echo "no $tool here"; exit 77; }
done
cd "$TMPDIR"
javac -J-XX:TieredStopAtLevel=1 -d classes "$HDB_ROOT/tests/java/FleetLeak.java"
ascii=$(printf '%07016d' 7)
latin=$(python3 -c 'print("a" + 3000 * "\u00e9")')
java -Xmx64m -Dlong.ascii="$ascii" -Dlong.latin="$latin" -Dedge.text="$(printf '%04095d' 7)" \
	-cp classes FleetLeak AuditLog p.hprof
heapdb import p.hprof -o p.heapdb --quiet > /dev/null
heapdb info --properties --json --db p.heapdb > p.json
heapdb info --properties --csv --db p.heapdb > p.csv
python3 - "$ascii" << 'EOF'
import csv, json, sys
csv.field_size_limit(1 << 20)
by_json = {row["name"]: row["value"] for row in json.load(open("p.json"))["rows"]}
by_csv = {row["name"]: row["value"] for row in csv.DictReader(open("p.csv", encoding="utf-8"))}
for values in by_json, by_csv:
    assert values["long.ascii"] == sys.argv[1], len(values["long.ascii"])
    assert len(values["long.latin"]) > 3000, len(values["long.latin"])
    assert len(values["edge.text"]) == 4095, len(values["edge.text"])
EOF

# The string itself and the value in the map have the same text; its length is shown.
id=$(heapdb info --properties --csv --columns name,id --db p.heapdb | sed -n '/^long.ascii,/{s///p;q;}')
heapdb object "$id" --json --db p.heapdb > o.json
heapdb entries java.util.concurrent.ConcurrentHashMap --json --limit all --db p.heapdb > e.json
python3 - "$ascii" << 'EOF'
import json, sys
value = json.load(open("o.json"))["facts"]["value"]
assert value == sys.argv[1], len(value)
values = [row["value"] for row in json.load(open("e.json"))["rows"] if row["key"] == "long.ascii"]
assert values and all(value == sys.argv[1] for value in values), [len(value) for value in values]
EOF
heapdb object "$id" --db p.heapdb > o.txt
grep -q '7,016 characters' o.txt || { cut -c1-200 o.txt; exit 1; }
