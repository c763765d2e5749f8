#!/bin/sh
# schema_test.sh - the JSON of every query, with and without each of its options, of errors, of the report and of an
# import conforms to `heapdb help --schema`. Needs python3-jsonschema.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2> /dev/null ||
	{ echo "no python3-jsonschema here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir json
heapdb import "$DUMP" -o before.heapdb --json > json/import
cp before.heapdb after.heapdb
HEAPDB=$work/before.heapdb
export HEAPDB
heapdb help --schema > schema.json
heapdb report --json > json/report
# Without /proc there are no processes to list.
[ ! -r /proc/self/stat ] || heapdb capture --json > json/capture
[ -s json/capture ] || echo '{"schema":2,"query":"capture","facts":{}}' > json/capture
heapdb meminfo "$HDB_ROOT/tests/corpus/meminfo/dumpsys" "$DUMP" --json > json/meminfo
heapdb memory "$HDB_ROOT/tests/corpus/memory/smaps" "$HDB_ROOT/tests/corpus/memory/nmt_detail" --json > json/memory
heapdb allocations "$HDB_ROOT/tests/corpus/allocations/two" --by stack --json > json/allocations
heapdb jfr "$HDB_ROOT/tests/corpus/jfr/sample" --json > json/jfr
python3 "$HDB_ROOT/tests/e2e/growth_make.py" leak > leak.jsonl
heapdb growth leak.jsonl --json > json/growth
heapdb export bitmaps pictures --json > json/pictures 2> /dev/null
heapdb query object 0x1 --json > json/error && exit 1
heapdb sql "SELECT 1 AS a, 2.5 AS a, 'x', NULL, x'00', class FROM objects LIMIT 3" --json > json/sql || true
grep -q '"rows"' json/sql || echo '{"schema":2,"query":"sql","columns":[],"rows":[]}' > json/sql
heapdb oql 'SELECT s, s.value, (s.hash = 0), toString(s), outbounds(s), null, 0.5 FROM java.lang.String s' \
	--json --limit 50 > json/oql
heapdb notes add java.lang.String 'said of strings' || true
heapdb notes --json > json/notes
heapdb histogram --json > json/noted

# Each query with its example, and with each option: its example, or its last choice.
heapdb help --names | awk -F '\t' '
	$1 == "example" { query = $2; command = $3 " " $4; print command; sub(/ .*/, "", $4); plain = $3 " " $4 }
	$1 == "option" && $2 == query {
		value = $10
		if ($6 == "choice") { n = split($4, words, "|"); value = words[n] }
		if (command !~ $3)
			print command, $3, (value == "" ? "" : "\047" value "\047")
	}' > commands
count=0
while read -r command; do
	count=$((count + 1))
	eval "heapdb $command --json --limit 50" > "json/$count" 2> err || [ $? -le 2 ]
	echo "$command" > "json/$count.command"
done < commands

heapdb query strings --limit 50 --json > strings.json
python3 - schema.json json << 'EOT'
import json, os, sys, time
import jsonschema

schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
assert schema['$id'] == 'urn:heapdb:answers:%d' % schema['$defs']['error']['properties']['schema']['const']
bad = answers = 0
seen = set()
for name in sorted(os.listdir(sys.argv[2])):
    if name.endswith('.command'):
        continue
    path = os.path.join(sys.argv[2], name)
    command = open(path + '.command').read().strip() if os.path.exists(path + '.command') else name
    answer = json.load(open(path))
    kind = answer.get('query') or ('report' if 'report' in answer else 'error')
    answers += kind != 'error'
    seen.add(kind)
    for e in validator.iter_errors(answer):
        bad += 1
        print('%s: %s: %s' % (command, '/'.join(map(str, e.absolute_path)), e.message[:200]))
    if kind != 'error' and 'columns' in answer:
        for row in answer['rows']:
            if list(row) != answer['columns']:
                bad += 1
                print('%s: keys of a row are not its columns' % command)
                break
for name in schema['$defs']['answer']['properties']['query']['enum']:
    if name not in seen:
        bad += 1
        print('%s: was not asked' % name)
# Invalid JSON is detected.
wrong = {'schema': 2, 'query': 'top', 'arguments': {}, 'facts': {'nope': 1}, 'columns': [], 'rows': [{'id': 5}],
         'row_count': 1, 'total_rows': 1}
# Validated only against the query's own part, the error names the mistake.
if not any("'nope'" in e.message for e in validator.iter_errors(wrong)):
    bad += 1
    print('a wrong answer is valid')
for name in ('sql', 'oql', 'error'):
    if validator.is_valid({'schema': 2, 'query': name, 'rows': [{'a': []}], 'columns': ['a']}):
        bad += 1
        print('a wrong answer of %s is valid' % name)
# The query selects the part: rows are not validated against all queries.
many = json.load(open(os.path.join(sys.argv[2], 'sql')))
many['rows'] = (many['rows'] * 2000)[:2000] or [{}]
many['row_count'] = len(many['rows'])
strings = json.load(open('strings.json'))
strings['rows'] = (strings['rows'] * 2000)[:2000]
for answer in (many, strings):
    started = time.process_time()
    ok = validator.is_valid(answer)
    took = time.process_time() - started
    if not ok or took > 1:
        bad += 1
        print('%s: %d rows: %s, %.2f s' % (answer['query'], len(answer['rows']), ok, took))
print(answers, 'answers,', bad, 'wrong')
sys.exit(bad > 0 or answers < 100)
EOT
