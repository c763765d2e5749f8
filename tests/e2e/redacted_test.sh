#!/bin/sh
# redacted_test.sh - dumps redacted by other tools are recognised: all strings zeros, '?' or '*', as left by
# hprof-redact, PayPal's heap-dump-tool and Shark, or the marker of hprof-analyzer. With one text left, they are not.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
cd "$TMPDIR"
cat > fill.py << 'END'
import os, struct
data = bytearray(open(os.environ["DUMP"], "rb").read())
at = data.index(0) + 1
ids, = struct.unpack_from(">I", data, at)
first = at + 12
sizes = {2: ids, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}

def u4(at):
    return struct.unpack_from(">I", data, at)[0]

def arrays():
    """Where the elements of arrays of bytes and chars are: offset, bytes, width."""
    at, found = first, []
    roots = {0xff: ids, 5: ids, 7: ids, 1: 2 * ids, 2: ids + 8, 3: ids + 8, 8: ids + 8, 4: ids + 4, 6: ids}
    while at < len(data):
        end = at + 9 + u4(at + 5)
        sub = at + 9
        while data[at] in (0x0c, 0x1c) and sub < end:
            tag = data[sub]
            sub += 1
            if tag in roots:
                sub += roots[tag]
            elif tag == 0x20:
                sub += 7 * ids + 8
                for base in 2, ids, None:
                    count = struct.unpack_from(">H", data, sub)[0]
                    sub += 2
                    for _ in range(count):
                        sub += ids + 1 if base is None else base + 1 + sizes[data[sub + base]]
            elif tag == 0x21:
                sub += 2 * ids + 8 + u4(sub + 2 * ids + 4)
            elif tag == 0x22:
                sub += 2 * ids + 8 + ids * u4(sub + ids + 4)
            else:
                assert tag == 0x23
                count, kind = u4(sub + ids + 4), data[sub + ids + 8]
                sub += ids + 9
                if kind in (5, 8) and count:
                    found.append((sub, count * sizes[kind], sizes[kind]))
                sub += count * sizes[kind]
        at = end
    return found

places = arrays()
assert len(places) > 5000
for name, fill in ("zero", b"\0"), ("question", b"?"), ("star", b"*"):
    filled = bytearray(data)
    for at, size, width in places:
        filled[at:at + size] = (fill if width == 1 else b"\0" + fill) * (size // width)
    open(name + ".hprof", "wb").write(filled)
    at, size, width = places[-1]
    filled[at:at + width] = b"\1" * width
    open(name + "_one.hprof", "wb").write(filled)
mark = b"\xde" + bytes(4) + struct.pack(">I", 14)
open("mark.hprof", "wb").write(data[:first] + mark + b"HPROF-REDACT\x01\x00" + data[first:])
open("other.hprof", "wb").write(data[:first] + mark + b"HPROF-SOMETHIN" + data[first:])
END
python3 fill.py
cp "$DUMP" whole.hprof
# redacted NAME THREADS TEXT: `info` and every other answer report it; no problem is found.
redacted() {
	heapdb import "$1.hprof" -o "$1.heapdb" --force --threads "$2" --quiet > /dev/null
	heapdb info --db "$1.heapdb" --json > info.json 2> said
	heapdb histogram --limit 1 --db "$1.heapdb" --json > histogram.json 2> said
	python3 - "$3" << 'END' || { echo "$1 on $2 threads"; exit 1; }
import json, sys
for name in "info.json", "histogram.json":
    facts = json.load(open(name))["facts"]
    assert sys.argv[1] in facts.get("redacted", "whole"), (name, facts)
rows = {(r["section"], r["key"]): r["number"] for r in json.load(open("info.json"))["rows"]}
assert rows["dump", "problems"] == 0, rows
END
}
for threads in 1 4; do
	for name in zero question star; do
		redacted $name $threads 'contain one repeated value'
		redacted ${name}_one $threads whole
	done
	redacted mark $threads 'most primitive values were removed'
	redacted other $threads whole
	redacted whole $threads whole
done
heapdb strings --db zero.heapdb --limit 1 > out 2> said
grep -q ' ([0-9]* zero chars) ' out || { echo "zeros are not counted: $(cat out)"; exit 1; }
# The marker stays in converted dumps, also with identifiers of another size.
heapdb convert mark.hprof long.hprof --id-size 8 --quiet > /dev/null
redacted long 2 'most primitive values were removed'
heapdb convert mark.hprof parts.hprof --segments --quiet > /dev/null
redacted parts 2 'most primitive values were removed'
# A dump redacted by heapdb is reported as such, and only as such.
heapdb redact zero.hprof ours.hprof --quiet > /dev/null
redacted ours 2 'most primitive values were removed'
