#!/bin/sh
# export_test.sh - `heapdb export` to files: the same bytes for any number of threads and memory budget; files are
# complete or absent; refused arguments. If pyarrow, DuckDB and polars can be installed, they read the same rows as the
# command prints.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
fail() { echo "FAILED: $*"; failed=1; }
refuse() {
	code=$1 text=$2
	shift 2
	got=0
	"$@" > out 2> err || got=$?
	if [ $got -ne "$code" ] || ! grep -q -- "$text" err; then
		fail "exit $got, expected $code and \"$text\": $*"
		head -2 err
	fi
}
heapdb import "$DUMP" -o s.heapdb > /dev/null
export HEAPDB=s.heapdb
for format in parquet arrow arrow-stream; do
	heapdb export objects --all --format $format -o "a.$format" 2> said
	grep -q "a.$format: [0-9]* rows, [0-9]* bytes" said || fail "says nothing of a.$format"
	heapdb export objects --all --format $format --threads 1 --memory 16M > "b.$format"
	cmp "a.$format" "b.$format" || fail "$format: threads, memory or a pipe change bytes"
	heapdb export objects --all --format $format --compress none --quiet -o "plain.$format"
	[ "$(wc -c < "a.$format")" -lt "$(wc -c < "plain.$format")" ] || fail "$format is not compressed"
done
heapdb export objects --all > a.tsv
gzip -k a.tsv
[ "$(wc -c < a.parquet)" -lt "$(wc -c < a.tsv.gz)" ] || fail "Parquet is larger than tsv.gz"
heapdb export objects --all -o file.tsv
cmp a.tsv file.tsv || fail "-o of text differs"

refuse 2 "already exists" heapdb export roots --format parquet -o a.parquet
refuse 2 "already exists" heapdb export roots -o file.tsv
heapdb export roots --format parquet -o a.parquet --force --quiet
refuse 4 "nowhere" heapdb export roots --format parquet -o nowhere/x.parquet
refuse 2 "which .heapdb export. takes" heapdb query roots --format parquet
refuse 2 "LIMIT" heapdb export refs --format parquet --limit 3 -o x.parquet
refuse 2 "requires --format parquet or arrow" heapdb export roots --compress none
if [ -e /dev/full ]; then
	refuse 4 "No space" heapdb export objects --format parquet -o /dev/full --force
	got=0
	heapdb export objects --format arrow > /dev/full 2> err || got=$?
	[ $got -eq 4 ] || fail "a full disk: exit $got"
fi
if heapdb sql "SELECT 1" > /dev/null 2>&1; then
	heapdb export "SELECT id, class FROM objects ORDER BY id LIMIT 5" > few.tsv
	[ "$(wc -l < few.tsv)" -eq 6 ] || fail "a statement as text"
	refuse 2 "one statement" heapdb export "SELECT 1; SELECT 2" --format arrow -o x.arrow
	heapdb export --format parquet -o late.parquet --quiet \
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 70000)
		 SELECT i, iif(i = 69999, 'x', i) AS late, iif(i = 5000, 0.5, i) AS half FROM n"
	for table in refs classes class_fields threads; do
		heapdb export $table --format parquet -o $table.parquet --quiet
		heapdb export $table > $table.tsv
	done
	heapdb export "SELECT 1 AS i, 2.5 AS d, 'x' AS t, NULL AS n UNION ALL SELECT 2, 3, 4, NULL" \
		--format parquet -o mixed.parquet --quiet
fi
for query in roots dominators strings histogram leaks info; do
	heapdb export $query --format parquet -o $query.parquet --quiet
	heapdb export $query --format jsonl > $query.jsonl
done
if heapdb sql "SELECT 1" > /dev/null 2>&1; then
	for form in parquet jsonl; do
		heapdb export objects --where "shallow > 64" --format $form -o where.$form --quiet
	done
fi
heapdb export histogram --columns name,retained --format parquet -o picked.parquet --quiet
[ -z "$(find . -name '*.??????' -newer few.tsv -name '*parquet.*' 2> /dev/null)" ] || fail "litter"
# ---- the suffix of -o FILE chooses the format ----
heapdb export refs -o suffix.parquet --quiet
[ "$(head -c4 suffix.parquet)" = PAR1 ] || fail "-o suffix.parquet writes no Parquet"
heapdb top -o suffix.csv --quiet
heapdb top --csv --quiet | cmp - suffix.csv || fail "top -o suffix.csv"
heapdb dominator-tree -o suffix.pprof --quiet
heapdb dominator-tree --format pprof --quiet | cmp - suffix.pprof ||
	fail "dominator-tree -o suffix.pprof"
heapdb oql "SELECT s FROM java.lang.String s" -o suffix.jsonl --quiet
grep -q '^{"s":' suffix.jsonl || fail "oql -o"
heapdb report -o suffix.html --quiet
grep -q '<!doctype html>' suffix.html || fail "report -o suffix.html"
heapdb report -o suffix.md --quiet
grep -q '^# ' suffix.md || fail "report -o suffix.md"
for wrong in "export refs -o x.parquet --format csv" "top -o x.json --csv" "top -o x.parquet" "top -o x.hprof" \
	"import $DUMP -o x.hprof" "capture 1 -o x.hprof" "report -o x.csv"; do
	got=0
	# shellcheck disable=SC2086
	heapdb $wrong >out 2>err || got=$?
	{ [ "$got" = 2 ] && grep -q -- "-o x\.[a-z]*" err && [ ! -e x.hprof ]; } || fail "$wrong: exit $got, $(cat err)"
done
heapdb top -o suffix.csv >out 2>err && fail "a file that exists is replaced"
heapdb top -o suffix.csv --force --quiet || fail "-o with --force"
venv=$(sh "$HDB_ROOT/tests/support/frames_venv.sh")
if [ -z "$venv" ]; then
	echo "pyarrow, DuckDB and polars cannot be installed here: files are not read"
else
	heapdb export objects --all --format parquet -o a.parquet --force --quiet
	heapdb export objects --all --format jsonl > a.jsonl
	"$venv/bin/python" "$HDB_ROOT/tests/e2e/export_read.py" || failed=1
fi
exit $failed
