#!/bin/sh
# tests/e2e/growth_test.sh - `heapdb growth` on generated series: leaks are found within 20 histograms, with class, rate
# and time left; constant and saw-tooth series and restarts raise no alarm; damaged lines are counted; text, JSON, CSV
# and SVG.
set -eu

command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
cd "$TMPDIR"
export TZ=UTC COLUMNS=160
make()
{
	python3 "$HDB_ROOT/tests/e2e/growth_make.py" "$@"
}
fail()
{
	echo "$*" >&2
	exit 1
}
has()
{
	grep -qF -- "$2" "$1" || { cat "$1"; fail "$1 lacks: $2"; }
}

make leak >leak.jsonl
heapdb growth leak.jsonl >text
has text "the heap after GC has grown by 6.0 MiB per hour since 2026-01-01 00:00 and will reach its max"
has text "maximum in 68.2 hours"
has text "; com.acme.Session has grown by 6.0 MiB per hour since 2026-01-01 00:00"
has text "4711"
has text "+6.0 MiB"

# Found within 20 histograms; before that there is no verdict.
make leak 20 >leak20.jsonl
heapdb growth leak20.jsonl --csv --columns name,grows >csv
has csv "heap after GC,true"
has csv "com.acme.Session,true"
make leak 10 >leak10.jsonl
heapdb growth leak10.jsonl --csv --columns name,grows >csv
has csv "heap after GC,false"

# The rate counts from the beginning of the growth.
make late >late.jsonl
heapdb growth late.jsonl --json >json
python3 - <<'END'
import json
answer = json.load(open("json"))
row = [r for r in answer["rows"] if r["name"] == "com.acme.Session"][0]
assert row["grows"] and abs(row["hourly_delta"] - 6 * 2**20) < 2**18, row
assert "2026-01-01 04:40" <= row["since"] <= "2026-01-01 05:10", row
assert row["low_delta"] <= row["hourly_delta"] <= row["high_delta"], row
assert abs(row["objects_hourly_delta"] - 6 * 2**20 / 96) < 6000, row
END

# Without histograms: minima of the heap after collections, which have decreased.
make heaponly >heaponly.jsonl
heapdb growth heaponly.jsonl >text
has text "the heap after GC has grown by 6"

for kind in quiet sawtooth restarted; do
	make $kind >$kind.jsonl
	heapdb growth $kind.jsonl >text
	[ $kind = restarted ] || has text "summary: nothing grows steadily in the records of 1 JVM"
	heapdb growth $kind.jsonl --csv --columns jvm,grows >csv
	! grep -q "11,true\|4711,true" csv || { cat csv; fail "false alarm: $kind"; }
done
heapdb growth restarted.jsonl --csv --columns jvm,name,grows >csv
has csv "10,com.acme.Session,true"

# A directory; damaged lines.
mkdir folder
cp quiet.jsonl leak.jsonl folder
python3 - <<'END'
data = bytearray(open("folder/leak.jsonl", "rb").read())
data[5000] ^= 1
open("folder/leak.jsonl", "wb").write(data[:-7])
END
heapdb growth folder >text 2>err
has err "heapdb: growth: 2 of 242 lines are damaged and were skipped"
has text "damaged lines: 2"
has text "com.acme.Session has grown by 6.0 MiB per hour"

heapdb growth leak.jsonl --chart >svg
has svg "<polyline"
has svg "the heap after GC has grown by 6.0 MiB per hour"
python3 -c "import xml.dom.minidom as x; x.parse('svg')"

# Mistakes.
errors()
{
	expected=$1
	shift
	code=0
	heapdb growth "$@" >out 2>err || code=$?
	[ $code = "$expected" ] || fail "growth $*: exit $code, expected $expected"
}
errors 2
errors 3 absent.jsonl
errors 3 "$HDB_ROOT/README.md"
has err "expected a series written by \`heapdb watch\`, but found no record in"
mkdir empty
errors 3 empty
has err "contains no series"
errors 2 leak.jsonl --chart --json
