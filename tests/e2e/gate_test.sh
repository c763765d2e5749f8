#!/bin/sh
# tests/e2e/gate_test.sh - heapdb gate: budgets that pass and that fail, each output format parsed, errors with line and
# column, and --update.
set -eu
if heapdb help gate 2>&1 | grep -q libyaml; then
	echo "this heapdb was built without libyaml"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
fail()
{
	echo "FAILED: $*"
	failed=1
}
# expect CODE WORDS...: runs gate. The output contains the lines of standard input.
expect()
{
	code=$1
	shift
	rc=0
	heapdb gate s.heapdb --quiet "$@" > out 2> err || rc=$?
	[ $rc = "$code" ] || fail "$*: exit $rc: $(cat out err)"
	while IFS= read -r line; do
		cat out err | grep -qF -e "$line" || fail "$*: no \"$line\" in $(cat out err)"
	done
}

heapdb import "$DUMP" -o s.heapdb --quiet > /dev/null
strings=$(heapdb histogram s.heapdb java.lang.String --limit 1 --format tsv --columns objects | tail -n 1)

# A budget that passes, with comments, quotes and flow style.
cat > good.yaml <<-END
	# A budget.
	margin: 50 %
	checks:
	  strings: { objects: java.lang.String <= $strings }   # exactly
	  heap:
	    shallow: "* <= 1 GB"
	  nothing: {growth: <= 0 %}
	  same:
	    new-fingerprints: none
	  quiet:
	    secrets: none
	  absent: { retained: com.acme.* <= 1 KiB }
END
expect 0 --budget good.yaml --baseline s.heapdb <<-END
	ok    strings: objects java.lang.String is
	ok    nothing: growth is 0.00 %, limit 0.00 % (good.yaml:7)
	ok    absent: retained com.acme.* is 0 B, limit 1.0 KiB (no class or object has this name)
	0 of 6 checks failed
END

# What is under the limit in a truncated dump may be over it in the whole one.
head -c 3000000 "$DUMP" > cut.hprof
heapdb import cut.hprof --quiet > /dev/null 2>&1
printf 'checks:\n  strings: { objects: java.lang.String <= 1000000 }\n' > cut.yaml
rc=0
heapdb gate cut.heapdb --budget cut.yaml > out 2> err || rc=$?
if [ $rc != 3 ] || ! grep -q "^ok " out || ! grep -q "no check failed, but the dump is incomplete" err; then
	fail "a truncated dump: exit $rc: $(cat out err)"
fi
# The report is written nevertheless, and with --json the answer is the only object.
rc=0
heapdb gate cut.heapdb --budget cut.yaml --format junit -o cut.junit > out 2>&1 || rc=$?
if [ $rc != 3 ] || ! grep -q "</testsuite" cut.junit; then fail "a truncated dump, -o: exit $rc: $(cat out)"; fi
rc=0
heapdb histogram cut.heapdb --json --limit 1 --fail-if 'count(*) > 1G' > out 2> err || rc=$?
if [ $rc != 3 ] || ! python3 -m json.tool out > /dev/null || ! grep -q "no check failed, but" err; then
	fail "a truncated dump, --json: exit $rc: $(cat out err)"
fi
# A portable heap dump lacks roots and values, but no objects.
cp "$HDB_ROOT/tests/corpus/phd/v66408.phd" p.phd
heapdb gate p.phd --budget cut.yaml --quiet > out 2>&1 || fail "a portable heap dump: exit $?: $(cat out)"
# Nor does a database say anything about the dump that has replaced its own.
cp "$DUMP" later.hprof
heapdb gate later.hprof --budget cut.yaml --quiet > /dev/null
head -c 3000000 "$DUMP" > later.hprof
rc=0
heapdb gate later.heapdb --budget cut.yaml > out 2> err || rc=$?
if [ $rc != 3 ] || ! grep -q "no check failed, but the dump has changed" err; then
	fail "a replaced dump: exit $rc: $(cat out err)"
fi

# A truncated baseline makes the result unreliable as well.
printf 'checks:\n  a: { growth: "* <= 900 %%" }\n' > grown.yaml
rc=0
heapdb gate s.heapdb --baseline cut.heapdb --budget grown.yaml > out 2> err || rc=$?
if [ $rc != 3 ] || ! grep -q "no check failed, but the earlier dump is incomplete" err; then
	fail "a truncated baseline: exit $rc: $(cat out err)"
fi

# Names that match nothing are reported in every format.
expect 0 --budget good.yaml --baseline s.heapdb --format junit <<-END
	<skipped message="retained com.acme.* is 0 B, limit 1.0 KiB (no class or object has this name)"/>
	skipped="1"
END
expect 0 --budget good.yaml --baseline s.heapdb --format sarif <<-END
	"level":"warning","message":{"text":"retained com.acme.* is 0 B
END
expect 0 --budget good.yaml --baseline s.heapdb --format github <<-END
	::warning file=good.yaml,line=12,col=3,title=absent::retained com.acme.* is 0 B
END

# Five failing checks.
cat > bad.yaml <<-END
	checks:
	  strings:
	    objects: java.lang.String <= $((strings - 1))
	  maps: { retained: java.util.HashMap <= 1 KB }
	  share:
	    shallow: byte[] <= 1 %
	  leaks & more:
	    leaks: none
	  growth:
	    growth: <= 1 %
END
# An older dump with one class and a secret.
python3 - <<-END
	import struct
	body = b"\x05" + struct.pack(">Q", 16) + b"\x20"
	body += struct.pack(">QIQQQQQQIHHH", 16, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0)
	secret = b"gh" + b"p_0123456789abcdefghijABCDEFGHIJ012345"
	body += b"\x23" + struct.pack(">QIIB", 64, 0, len(secret), 8) + secret
	def record(tag, body):
	    return bytes([tag]) + struct.pack(">II", 0, len(body)) + body
	open("old.hprof", "wb").write(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 0) +
	    record(1, struct.pack(">Q", 1) + b"java/lang/Object") +
	    record(2, struct.pack(">IQIQ", 1, 16, 0, 1)) + record(0x1c, body) + record(0x2c, b""))
END
heapdb import old.hprof -o old.heapdb --quiet > /dev/null 2>&1
expect 1 --budget bad.yaml --baseline old.heapdb <<-END
	FAIL  strings: objects java.lang.String is
	limit $(echo "$((strings - 1))" | sed 's/\(...\)$/,\1/') (bad.yaml:2)
	      object java.lang.String (0x
	FAIL  maps: retained java.util.HashMap is
	limit 1.0 KiB (bad.yaml:4)
	      object java.util.HashMap (0x
	      path
	 > java.util.HashMap
	FAIL  share: shallow byte[] is
	%, limit 1.00 % (bad.yaml:5)
	FAIL  leaks & more: leaks is
	      owner
	FAIL  growth: growth is
	5 of 5 checks failed
END
expect 1 --budget bad.yaml --baseline old.heapdb --format markdown <<-END
	### Heap budget: 5 of 5 checks failed
	| :x: | maps | retained java.util.HashMap is
	- object \`java.util.HashMap (0x
	  - path \`
END
expect 1 --budget bad.yaml --baseline old.heapdb --format github <<-END
	::error file=bad.yaml,line=2,col=3,title=strings::objects java.lang.String is
	%0Aobject java.util.HashMap (0x
	 %25, limit 1.00 %25%0Aobject byte[
	::notice title=heapdb gate::5 of 5 checks failed
END
for budget in good bad; do
	for format in junit sarif; do
		rc=0
		heapdb gate s.heapdb --quiet --budget $budget.yaml --format $format \
			--baseline "$([ $budget = good ] && echo s || echo old).heapdb" \
			-o $budget.$format > /dev/null 2>&1 || rc=$?
		[ $rc = "$([ $budget = good ] && echo 0 || echo 1)" ] || fail "$budget $format: exit $rc"
	done
done
# The suffix of -o selects the format, unless --format does.
for pair in junit:xml sarif:sarif markdown:md; do
	heapdb gate s.heapdb --quiet --budget good.yaml --baseline s.heapdb -o by_name."${pair#*:}" > /dev/null
	heapdb gate s.heapdb --quiet --budget good.yaml --baseline s.heapdb --format "${pair%:*}" > by_format
	cmp by_format by_name."${pair#*:}" || fail "-o by_name.${pair#*:}"
done
heapdb gate s.heapdb --quiet --budget good.yaml --baseline s.heapdb --format sarif -o by_format.json > /dev/null
cmp by_name.sarif by_format.json || fail "--format sarif -o by_format.json"
expect 2 --budget good.yaml --baseline s.heapdb -o out.csv <<-END
	-o out.csv: this command writes .md, .xml, .sarif or text
END
python3 "$HDB_ROOT/tests/support/gate_formats.py" . || failed=1
# The schema of Jenkins. A slow test fetches that of SARIF.
if command -v xmllint > /dev/null; then
	schema=$HDB_ROOT/tests/data/junit-10.xsd
	xmllint --noout --nonet --schema "$schema" good.junit bad.junit 2> out || fail "JUnit XML: $(cat out)"
	sed 's/<failure/<broken/; s/<.failure/<\/broken/' bad.junit > wrong.junit
	if xmllint --noout --nonet --schema "$schema" wrong.junit 2> out; then fail "the schema takes all"; fi
else
	echo "no xmllint here"
fi

# Each kind of check passes at its value and fails just below it. The values are those of other queries.
cat > kinds.py <<-'END'
	import json, math, subprocess, sys
	def run(*words):
	    p = subprocess.run(("heapdb",) + words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	    return p.returncode, p.stdout + p.stderr
	def query(*words):
	    answer = json.loads(subprocess.run(("heapdb",) + words + ("--json", "--quiet"), stdout=subprocess.PIPE,
	                                       stderr=subprocess.DEVNULL).stdout)
	    return answer["facts"], answer["rows"]
	facts, rows = query("histogram", "s.heapdb", "java.lang.String")
	heap, objects = facts["shallow"], rows[0]["objects"]
	_, rows = query("histogram", "s.heapdb", "byte[]")
	shallow = rows[0]["shallow"]
	_, rows = query("retained", "java.util.HashMap", "s.heapdb")
	retained = rows[0]["retained"]
	old = query("histogram", "old.heapdb")[0]["shallow"]
	_, rows = query("leaks", "s.heapdb")
	leaks = sum(r["kind"] in ("leaking", "suspect") for r in rows)
	if leaks < 1 or old < 1:
	    sys.exit("FAILED: nothing to measure: %d, %d" % (leaks, old))
	kinds = [
	    ("s", "objects", "java.lang.String ", objects, 1, ""),
	    ("s", "objects", "java.lang.String ", 100 * objects / facts["objects"], 0.01, " %"),
	    ("s", "shallow", "byte[] ", shallow, 1, " B"),
	    ("s", "shallow", "byte[] ", 100 * shallow / heap, 0.01, " %"),
	    ("s", "retained", "java.util.HashMap ", retained, 1, " B"),
	    ("s", "retained", "java.util.HashMap ", 100 * retained / heap, 0.01, " %"),
	    ("s", "growth", "", heap - old, 1, " B"),
	    ("s", "growth", "", 100 * (heap - old) / old, 0.01, " %"),
	    ("s", "growth", "java.util.HashMap ", retained, 1, " B"),
	    ("s", "leaks", "", leaks, 1, ""),
	    ("s", "new-fingerprints", "", leaks, 1, ""),
	    ("old", "secrets", "", 1, 1, ""),
	]
	for db, measure, target, value, step, unit in kinds:
	    for limit, want in ((math.ceil(value / step) * step, 0), (math.ceil(value / step) * step - step, 1)):
	        with open("kind.yaml", "w") as file:
	            file.write("checks:\n  a: { %s: \"%s<= %.*f%s\" }\n" %
	                       (measure, target, 0 if step == 1 else 2, limit, unit))
	        got, out = run("gate", db + ".heapdb", "--quiet", "--budget", "kind.yaml", "--baseline", "old.heapdb")
	        shown = "%.2f %%, limit" % value if step < 1 else "%d, limit" % value if value < 1000 else ""
	        if got != want or " is " + shown not in out:
	            print("FAILED:", open("kind.yaml").read(), "exit", got, "expected", want, shown, out)
	            sys.exit(1)
	# What was not there before has grown beyond any share.
	with open("kind.yaml", "w") as file:
	    file.write("checks:\n  a: { growth: java.util.HashMap <= 900 % }\n")
	for words in ((), ("--update",), ()):
	    got, out = run("gate", "s.heapdb", "--quiet", "--budget", "kind.yaml", "--baseline", "old.heapdb", *words)
	    if got != (not words) or "is infinite (0 before), limit 900.00 %" not in out:
	        sys.exit("FAILED: growth from 0: exit %d: %s" % (got, out))
END
python3 kinds.py || failed=1

# leaks() of --fail-if is the number that gate counts.
same_leaks()
{
	count=$(sed -n 's/.*leaks is \([0-9]*\).*/\1/p' out | head -n 1)
	count=${count:-0}
	for form in "" --brief; do
		# shellcheck disable=SC2086
		heapdb leaks "$1" --quiet $form --fail-if "leaks() != $count" > /dev/null 2> err ||
			fail "leaks $form: gate counts $count: $(cat err)"
		# shellcheck disable=SC2086
		if heapdb leaks "$1" --quiet $form --fail-if "leaks() < $((count + 1))" > /dev/null 2> err; then
			fail "leaks $form: $count: exit 0"
		fi
	done
}
printf 'checks:\n  a: { leaks: none }\n' > leaks.yaml
heapdb gate s.heapdb --budget leaks.yaml --quiet > out 2> err || [ $? = 1 ] || fail "leaks: $(cat err)"
same_leaks s.heapdb

# A pool of memory outside the heap, which leaks lists as large, is no leak.
if command -v javac > /dev/null; then
	cat > Pool.java <<-END
		public class Pool {
		    static class Card { }
		    static class Note { }
		    static class Connection { boolean open; java.nio.ByteBuffer data; }
		    static final java.util.List<Connection> connections = new java.util.ArrayList<>();
		    static final java.nio.ByteBuffer[] pool = new java.nio.ByteBuffer[100];
		    static final java.util.Map<Long, Card> cards = new java.util.HashMap<>();
		    static void keep(Note note) {
		        try { Thread.sleep(1000000); } catch (InterruptedException e) { System.out.println(note); }
		    }
		    public static void main(String[] a) throws Exception {
		        cards.put(4111111111112828L, new Card());
		        Thread red = new Thread(() -> keep(new Note()), "\u001b[31mred");
		        red.setDaemon(true);
		        red.start();
		        while (red.getState() != Thread.State.TIMED_WAITING) Thread.yield();
		        for (int i = 0; i < 100; i++) {
		            java.nio.ByteBuffer data = java.nio.ByteBuffer.allocateDirect(1 << 20);
		            if (a[0].equals("pool.hprof")) { pool[i] = data; continue; }
		            connections.add(new Connection());
		            connections.get(i).data = data;
		        }
		        java.lang.management.ManagementFactory.getPlatformMXBean(
		            com.sun.management.HotSpotDiagnosticMXBean.class).dumpHeap(a[0], true);
		    }
		}
	END
	javac -J-XX:TieredStopAtLevel=1 Pool.java
	java -XX:+UseSerialGC -Xmx256m Pool pool.hprof > /dev/null
	heapdb gate pool.hprof --budget leaks.yaml --quiet > out 2> err || [ $? = 1 ] || fail "pool: $(cat err)"
	heapdb leaks pool.hprof --quiet | grep -q "outside the heap" || fail "leaks does not list the pool"
	if grep "outside the heap" out || [ -s err ]; then fail "gate counts a pool: $(cat err)"; fi
	same_leaks pool.hprof
	# Buffers of elements that are closed are one, unless the dump is redacted.
	java -XX:+UseSerialGC -Xmx256m Pool closed.hprof > /dev/null
	heapdb gate closed.hprof --budget leaks.yaml --quiet > out 2> err || [ $? = 1 ] || fail "closed: $(cat err)"
	grep -q "outside the heap" out || fail "gate counts no closed connections: $(cat out)"
	same_leaks closed.hprof
	heapdb redact closed.hprof redacted.hprof --quiet > /dev/null
	heapdb leaks redacted.hprof --quiet > out
	if grep "no longer in use" out; then fail "closed elements of a redacted dump"; fi

	# No key of a map and no control character of a thread's name reaches the log of a build.
	printf 'checks:\n  a: { objects: "*Card <= 0" }\n  b: { objects: "*Note <= 0" }\n' > names.yaml
	for format in text markdown junit sarif github; do
		heapdb gate pool.hprof --budget names.yaml --format $format --quiet > out 2> err || true
		grep -qF 'HashMap[...]' out || fail "$format: no map: $(cat out err)"
		grep -q "31mred" out || fail "$format: no thread: $(cat out err)"
		if grep -E '4111111111112828|'"$(printf '\033')" out; then fail "$format shows a key or ESC"; fi
	done
fi

# The name of a budget may contain anything: a line stays a line, and SARIF has a URI.
name=$(printf 'a b\nc\377%%')
printf 'checks:\n  a: { objects: "java.lang.String <= 0" }\n' > "$name"
heapdb gate s.heapdb --budget "$name" > out || true
grep -qF 'limit 0 (a b\nc\xff%:2)' out || fail "text: the budget's name: $(cat -v out)"
heapdb gate s.heapdb --budget "$name" --format sarif > out || true
grep -qF '{"uri":"a%20b%0Ac%FF%25"}' out || fail "sarif: the budget's name: $(cat -v out)"

# Errors in a budget, with line and column.
wrong()
{
	printf '%b' "$1" > wrong.yaml
	expect 2 --budget wrong.yaml <<-END
		heapdb: gate: wrong.yaml:$2
	END
}
wrong 'checks: [' '2:1: '
# Such an error is reported before the dump is imported, which may take long.
cp "$DUMP" late.hprof
for text in 'checks: [' 'checks:\n  a: {growth: <= 0 %%}\n'; do
	# shellcheck disable=SC2059
	printf "$text" > wrong.yaml
	rc=0
	heapdb gate late.hprof --budget wrong.yaml > out 2>&1 || rc=$?
	if [ $rc != 2 ] || ! grep -q wrong.yaml: out || [ -e late.heapdb ]; then
		fail "late: exit $rc: $(cat out)"
	fi
done
wrong '' '1:1: expected "checks:"'
wrong 'budget: 1\n' '1:1: expected checks or margin, found "budget"'
wrong 'checks: {}\n' '1:9: expected a single list of 1 to 1000 checks'
wrong 'checks:\n  a: 3\n' '2:6: expected a measure'
wrong 'checks:\n  a:\n    retaned: X <= 3\n' '3:5: expected objects, shallow, retained, growth, leaks'
wrong 'checks:\n  a: { retained: X }\n' '2:18: expected TARGET <= LIMIT'
wrong 'checks:\n  a: { retained: X <= 3 MX }\n' '2:18: expected TARGET <= LIMIT'
wrong 'checks:\n  a: { objects: X <= 3 MB }\n' '2:17: expected TARGET <= NUMBER, as in com.acme.* <= 1000'
wrong 'checks:\n  a: { objects: 0xzz <= 3 }\n' '2:3: "0xzz" is not an object ID'
wrong 'checks:\n  a: { secrets: <= 1 KB }\n' '2:17: expected none or <= NUMBER'
wrong 'checks:\n  a: { objects: <= 3 }\n' '2:17: expected a class, pattern, loader or object before <='
wrong 'checks:\n  a: { leaks: X <= 1 }\n' '2:15: this measure takes neither'
wrong 'checks:\n  a: { leaks: none, secrets: none }\n' '2:21: a check must have only one measure'
wrong 'checks:\n  a: { leaks: none }\n  a: { leaks: none }\n' '3:3: two checks have this name'
wrong 'checks:\n  a: { growth: <= 3 % }\n' '2:3: growth requires --baseline OLD'
wrong 'checks:\n  a:\n    leaks: |\n      none\n' '3:12: expected a value on one line'
wrong 'checks:\n  a: { leaks: none }\n---\nchecks:\n  a: { secrets: none }\n' '3:1: expected a single document'
wrong 'margin: 5 %\nmargin: 6 %\n' '2:1: expected a single margin'
wrong 'checks:\n  a: { objects: "X <= 9\\0 <= 1" }\n' '2:17: expected a value on one line'
wrong 'checks:\n  a: { objects: "X\\n<= 9" }\n' '2:17: expected a value on one line'
wrong 'checks:\n  "a\\nb": { leaks: none }\n' '2:3: expected the name of a check, on one line'
for number in 0x10 1e9 nan inf -1 +1 .5 1.5 1. 1O 1,000 99999999999999999999; do
	wrong "checks:\n  a: { objects: 'X <= $number' }\n" '2:17: expected TARGET <= NUMBER'
done
wrong 'checks:\n  a: { shallow: X <= 999999999 TB }\n' '2:17: expected TARGET <= LIMIT'
wrong 'checks:\n  <<: { a: { leaks: none } }\n' '2:9: expected objects, shallow'
wrong 'margin: 5\n' '1:9: expected a percentage'
expect 2 <<-END
	heapdb: gate: expected --budget FILE
END

rc=0
heapdb gate s.heapdb --budget - --baseline s.heapdb --update < good.yaml > out 2> err || rc=$?
if [ $rc != 2 ] || ! grep -q -- '--update needs a file, not standard input' err; then
	fail "standard input: exit $rc: $(cat out err)"
fi
[ ! -e "standard input" ] || fail "a file is called standard input"

# --update changes only the limits, and the new budget passes.
cp bad.yaml new.yaml
sed -i '1i # kept' new.yaml
chmod 644 new.yaml
expect 0 --budget new.yaml --baseline old.heapdb --update < /dev/null
grep -q '^# kept$' new.yaml || fail "a comment is gone: $(cat new.yaml)"
grep -q "^    objects: java.lang.String <= $(((strings * 11 + 9) / 10))$" new.yaml || fail "limit: $(cat new.yaml)"
grep -q '^  maps: { retained: java.util.HashMap <= [0-9]* KB }$' new.yaml || fail "limit: $(cat new.yaml)"
[ "$(stat -c %a new.yaml)" = 644 ] || fail "mode: $(stat -c %a new.yaml)"
expect 0 --budget new.yaml --baseline old.heapdb <<-END
	0 of 5 checks failed
END
# A symbolic link remains one, and a pipe cannot be updated.
printf 'checks:\n  a: { objects: "java.lang.String <= 5" }\n' > new.yaml
ln -s new.yaml link.yaml
heapdb gate s.heapdb --budget link.yaml --update > out 2> err || fail "a linked budget: $(cat err)"
grep -q 'link.yaml: the limits are updated' err || fail "--update does not say what it did: $(cat err)"
if [ ! -L link.yaml ] || grep -q '<= 5"' new.yaml; then fail "a linked budget: $(ls -l link.yaml; cat new.yaml)"; fi
rc=0
# shellcheck disable=SC2002
cat new.yaml | heapdb gate s.heapdb --budget /dev/stdin --update > out 2> err || rc=$?
if [ $rc != 2 ] || ! grep -q -- '--update needs a regular file, not /dev/stdin' err; then
	fail "a budget in a pipe: exit $rc: $(cat out err)"
fi
# It keeps anchors, escapes and tags.
cat > new.yaml <<-'END'
	checks:
	  a: { objects: &limit "java.lang.Str\u0069ng <= 5" }
	  b: { objects: *limit }
	  c: { leaks: &none none }
	  d: { objects: !!str 'java.util.HashMap<=0' }
END
expect 0 --budget new.yaml --update < /dev/null
sed 's/<= *[0-9][0-9]*/<= N/; s/none none/none <= N/' new.yaml > out
cat > want <<-'END'
	checks:
	  a: { objects: &limit "java.lang.Str\u0069ng <= N" }
	  b: { objects: *limit }
	  c: { leaks: &none <= N }
	  d: { objects: !!str 'java.util.HashMap<= N' }
END
diff want out || fail "--update: $(cat new.yaml)"
expect 0 --budget new.yaml < /dev/null
exit $failed
