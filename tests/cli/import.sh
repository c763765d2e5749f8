# Import of the sample: output, created files, refused arguments.
cp "$DUMP" sample.hprof
heapdb import sample.hprof --verbose | grep -v '^seconds\|^MB/s\|^database size'
ls
heapdb import sample.hprof --force -o short.heapdb | sed 's/in [0-9.]* s/in N s/; s/[0-9.]* [KM]iB/N MiB/'
rm -f short.heapdb*
echo "again: $(heapdb import sample.hprof 2>&1; echo "exit $?")"
heapdb import sample.hprof --force --quiet >/dev/null && echo "forced: exit $?"
heapdb import sample.hprof -o other.heapdb --sizes mat --threads 1 --memory 64M --json |
	python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(answer["schema"], answer["query"], sorted(answer["facts"]))
print(answer["columns"], answer["rows"], answer["row_count"], answer["total_rows"])
facts = answer["facts"]
print(facts["database"], facts["classes"], facts["dump_bytes"])'
ls
