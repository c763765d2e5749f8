# Trees for other programs and as pictures: all have the same sums, and text is escaped.
# shellcheck disable=SC2016,SC2094
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
heapdb query dominator-tree --min 20000 --quiet --format folded | head -n 12
heapdb query dominator-tree --quiet --format folded >folded
heapdb query dominator-tree --quiet --format speedscope >speedscope
heapdb query dominator-tree --quiet --format pprof >pprof
heapdb query dominator-tree --quiet --json >tree
heapdb query dominator-tree --quiet --svg treemap >treemap.svg
heapdb query dominator-tree --quiet --format icicle >icicle.svg
heapdb query merged-paths 'Sample*' --quiet --format folded | head -n 3
python3 - <<'END'
import json, re
import xml.etree.ElementTree as xml
tree = json.load(open("tree"))
whole = tree["facts"]["heap_shallow"]
top = sum(row["retained"] for row in tree["rows"] if row["level"] == 0)
stacks = [line.rsplit(" ", 1) for line in open("folded").read().splitlines()]
assert sum(int(n) for _, n in stacks) == top
assert all(int(n) > 0 for _, n in stacks)
names = {row["name"] for row in tree["rows"]}
assert {part for stack, _ in stacks for part in stack.split(";")} <= names

def fields(data):
    """Fields of a message of protocol buffers: number and value."""
    def number(at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return value, at
    at = 0
    while at < len(data):
        tag, at = number(at)
        value, at = number(at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        yield tag >> 3, value

def numbers(data):
    units = re.findall(rb"[\x80-\xff]*[\0-\x7f]", data, re.S)
    return [value for _, value in fields(b"".join(b"\x08" + unit for unit in units))]

profile = list(fields(open("pprof", "rb").read()))
texts = [text.decode() for field, text in profile if field == 6]
functions = {m[1]: texts[m[2]] for m in (dict(fields(d)) for field, d in profile if field == 5)}
places = [dict(fields(d)) for field, d in profile if field == 4]
lines = {m[1]: functions[dict(fields(m[4]))[1]] for m in places}
samples = [dict(fields(d)) for field, d in profile if field == 2]
assert texts[0] == "" and [texts[n] for _, n in fields(dict(profile)[1])] == ["retained", "bytes"]
told = sorted((";".join(lines[n].replace(";", ":") for n in reversed(numbers(s[1]))), str(numbers(s[2])[0]))
              for s in samples)
assert told == sorted(map(tuple, stacks)), (told[:2], stacks[:2])

scope = json.load(open("speedscope"))
frames = [frame["name"] for frame in scope["shared"]["frames"]]
assert len(set(frames)) == len(frames) and set(frames) == names
profile = scope["profiles"][0]
at, opened, most = 0, [], 0
for event in profile["events"]:
    assert event["at"] >= at
    at = event["at"]
    if event["type"] == "O":
        opened.append(event["frame"])
    else:
        assert opened.pop() == event["frame"]
assert not opened and at == top and profile["endValue"] == whole

svg = "{http://www.w3.org/2000/svg}"
for name in "treemap", "icicle":
    root = xml.parse(name + ".svg").getroot()
    cells = [(rect.attrib, rect.find("../" + svg + "title")) for rect in root.iter(svg + "rect")]
    groups = root.findall(svg + "g")
    titles = [group.find(svg + "title").text for group in groups]
    boxes = [{k: float(group.find(svg + "rect").attrib[k]) for k in ("x", "y", "width", "height")}
             for group in groups]
    assert all(box["width"] > 2.9 and box["height"] > 2.9 for box in boxes)
    assert all(box["x"] + box["width"] < 1200.2 for box in boxes)
    # Merged nodes: their objects are counted, and they do not have the colour of a package.
    counted = {(row["name"], f'{row["retained_objects"]:,}') for row in tree["rows"] if row["others"]}
    rest = [group for group in groups if re.match(r"\(\d+ others?\)", group.find(svg + "title").text)]
    for group in rest:
        title = group.find(svg + "title").text
        assert (title.split(":")[0], re.search(r"([\d,]+) objects?", title)[1]) in counted, title
    assert rest
    assert all(group.find(svg + "rect").attrib["fill"].startswith("hsl(220,8%") == (group in rest) for group in groups)
    labels = [text.text for group in groups for text in group.findall(svg + "text")]
    assert any(re.search(r"  \d[\d.]* [KM]iB$", label) for label in labels), labels[:5]
    print(name, len(groups) > 50, titles[0].split(",")[0], "|", titles[1])
END
# A heap full of markup: names of classes are escaped.
LC_ALL=C sed 's/Sample$Node/<svg>\&"bcde/' "$DUMP" >evil.hprof
heapdb import evil.hprof --quiet 2>/dev/null >/dev/null
heapdb query dominator-tree --db evil.heapdb --quiet --svg treemap 2>/dev/null | grep -c '&#60;svg&#62;&#38;&#34;bcde'
heapdb query dominator-tree --db evil.heapdb --quiet --svg treemap 2>/dev/null | grep -c '<svg>' || true
# An answer that is not a tree cannot be drawn.
heapdb query histogram --db s.heapdb --quiet --svg icicle 2>&1
heapdb query dominator-tree --db s.heapdb --quiet --sort name --svg icicle 2>&1
