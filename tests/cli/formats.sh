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

# Strings with quotes, commas, newlines and backslashes are preserved, control characters are escaped, and text that a
# spreadsheet would calculate gets an apostrophe. The sample has no quotes, so two letters of a string become quotes.
LC_ALL=C sed 's/hello, heap/h"llo, h"ap/' "$DUMP" >quotes.hprof
heapdb import quotes.hprof --quiet >/dev/null
heapdb query strings --db quotes.heapdb --json >s.json
heapdb query strings --db quotes.heapdb --csv >s.csv
heapdb query strings --db quotes.heapdb --format tsv >s.tsv
rm quotes.heapdb
python3 - <<'END'
import csv, json, re
answer = json.load(open("s.json"))

def shown(text):
    def escape(m):
        c = ord(m.group())
        return "\\r" if c == 13 else ("\\x%02x" if c < 0x80 else "\\u{%x}") % c
    return formula(text) + re.sub("[\0-\x08\x0b-\x1f\x7f-\x9f]", escape, text)

def formula(text):
    return "'" if re.match(r"[=@\t]|[+-](?![0-9.]+$)", text) else ""

column = answer["columns"].index("text")
texts = [row["text"] for row in answer["rows"]]
print("controls", any(shown(text) != text for text in texts))
for part in '"', ",", "\n", "\t", "\\":
    print(repr(part), any(part in text for text in texts))
table = list(csv.reader(open("s.csv", newline="")))
assert [row[column] for row in table[1:]] == [shown(text) for text in texts]
lines = open("s.tsv", newline="").read().split("\n")[1:-1]
plain = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}

def value(escape):
    return plain.get(escape.group(1)) or chr(int(escape.group(2) or escape.group(3), 16))

for line, text in zip(lines, texts, strict=True):
    cell = line.split("\t")[column]
    assert re.sub(r"\\([tnr\\]|x(..)|u{(..)})", value, cell) == formula(text) + text, line
print("texts come back")
END

heapdb query histogram --limit 3 | tail -n 1 | cut -d ' ' -f 1,2,4
heapdb query histogram --limit all --columns name | grep -c ' of '
heapdb query histogram --limit 0 --csv | wc -l >all
heapdb query histogram --csv | wc -l | cmp - all && echo "programs get all"
