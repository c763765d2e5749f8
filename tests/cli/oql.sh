# MAT's query language: tables, formats, extensions of MAT's language, and errors in statements.
# shellcheck disable=SC2016
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
ask() { heapdb oql "$@" 2>&1 || echo "exit $?"; }
ask 'SELECT * FROM Sample'
ask 'SELECT s AS string, toString(s) AS text, s.@retainedHeapSize AS retained
	FROM java.lang.String s WHERE toString(s) LIKE "java\.util\..*Map" ORDER BY text'
ask 'SELECT c.@name AS name, c.@numberOfObjects AS n
	FROM OBJECTS ${snapshot}.getClasses() c ORDER BY n DESC, name LIMIT 3' --csv
ask 'SELECT classof(n).@name AS class, count(*) AS n, min(n.value), max(n.value), sum(n.value)
	FROM INSTANCEOF java.lang.Number n WHERE n.value != null GROUP BY classof(n) ORDER BY n' --format jsonl
ask 'SELECT count(*), sum(o.@usedHeapSize) FROM INSTANCEOF java.lang.Object o' --csv
ask 'SELECT 7 / 2 AS half, "a" + 1 AS text, (1 = 1) AS yes, null AS none, 0.1 AS f FROM OBJECTS 0' --json
ask 'SELECT x.a, x.b FROM OBJECTS ( SELECT 1 AS a, 2 AS b FROM OBJECTS 0 ) x
	UNION ( SELECT 3, 4 FROM OBJECTS 0 ) ORDER BY 1 DESC' --csv
# A string sorts before longer strings that begin with it.
ask 'SELECT ("a" < "ab") AS x, ("ab" < "a") AS y, ("b" > "ab") AS z FROM OBJECTS 0' --csv
ask 'SELECT 1 AS a, 4 AS b FROM OBJECTS 0 UNION ( SELECT 2, 3 FROM OBJECTS 0 ) ORDER BY 1 DESC' --csv
ask 'SELECT "abcdef".substring(2) AS a, "abcdef".substring(1, 3) AS b FROM OBJECTS 0' --csv
ask 'SELECT * FROM no.such.Klass' --csv
ask 'SELECT * FROM no.such.Klass UNION ( SELECT * FROM Sample )' --csv
ask 'SELECT * FROM java.util.HashMab' --csv
ask 'SELECT * FROM hashmap'
ask 'SELECT s FROM java.lang.String s' --limit 2 --csv
# Strings are shown as text, other objects as identifiers, without the labels of tables.
ask 'SELECT t.name, t FROM java.lang.Thread t' --limit 2 --json
ask 'SELECT t.name, t FROM java.lang.Thread t' --limit 2
# methods of strings, numbers and lists, as in Java
ask 'SELECT eval("a,b;;c,,").split("[,;]") AS a, eval("abc").split("") AS b, eval("a b c").split(" ", 2) AS c,
	eval("x").split(",") AS d, eval("aXbXc").replace("X", "--") AS e, eval("abca").replace("a", "") AS f,
	eval("a1b22").replaceAll("[0-9]+", "#") AS g, eval("a1b22").replaceFirst("[0-9]", "#") AS h
	FROM OBJECTS 0' --json
ask "SELECT eval(\"$(printf 'h\303\251llo \360\237\230\200')\").hashCode() AS a, eval(\"abc\").compareTo(\"abd\") AS b,
	eval(\"abc\").compareTo(\"a\") AS c, eval(\"banana\").indexOf('n') AS d, eval(\"banana\").indexOf(110, 3) AS e,
	eval(\"banana\").lastIndexOf(\"an\") AS f, (eval(\"abc\").charAt(1) = 'b') AS g, eval(\"a\").concat(\"b\") AS h
	FROM OBJECTS 0" --json
ask 'SELECT eval("x.").split("(") FROM OBJECTS 0'
ask 'SELECT eval(7 / 2).intValue() AS a, eval(300).byteValue() AS b, eval(1 / 3).floatValue() AS c,
	eval(-9223372036854775808L).longValue() AS d, eval(1 / 0).intValue() AS e, eval(3).compareTo(4L) AS f
	FROM OBJECTS 0' --json
ask 'SELECT ${snapshot}.@GCRoots.subList(1, 3).size() AS a,
	${snapshot}.getClassesByName("Sample", false).iterator().next().@name AS b
	FROM OBJECTS 0' --json
ask 'SELECT ${snapshot}.@GCRoots.subList(3, 1) FROM OBJECTS 0'
# the snapshot, fields and roots
ask 'SELECT c.@name AS c, c.@fieldDescriptors AS f, c.@fieldDescriptors.get(0).@verboseSignature AS t,
	${snapshot}.isClass(c.@objectId) AS is_class, ${snapshot}.isArray(c.@objectId) AS is_array
	FROM OBJECTS java.util.HashMap c' --json
ask 'SELECT m.resolveValue("table.length") AS a, m.resolveValue("size") AS b, m.resolveValue("nosuch.x") AS c
	FROM java.util.HashMap m' --limit 1 --json
ask 'SELECT count(*) AS n FROM OBJECTS ${snapshot}.@GCRoots r
	WHERE (SELECT i FROM OBJECTS ${snapshot}.getGCRootInfo(r) i WHERE i.@type = 256) != null' --csv
ask 'SELECT (${snapshot}.getImmediateDominatorId(s) = dominatorof(s).@objectId) AS same FROM Sample s' --csv
ask 'SELECT z.k AS k FROM OBJECTS ( SELECT (SELECT e.getKey() AS k FROM OBJECTS ${h}[0:-1] e) AS k
	FROM java.util.HashMap h ) z WHERE z.k.k != null' --limit 2 --csv
ask 'SELECT u.n, u.get("n") AS same, u.get("nosuch") AS none
	FROM OBJECTS ( SELECT t AS "" FROM OBJECTS ( SELECT 1 AS n FROM OBJECTS 0 ) t ) u' --csv
ask 'SELECT x FROM OBJECTS ${} x'
echo 'SELECT count(*) AS maps FROM java.util.HashMap' | ask - --csv
ask 'SELECT * FROM java.util.HashMap m WHERE m.size % 2 = 0'
ask 'SELECT m.size FROM java.util.HashMap m WHERE m.size == 2'
ask 'SELECT m.size AS n, m.@usedHeapSize AS used FROM java.util.HashMap m' --columns used,n --limit 2 --csv
ask 'SELECT m.size AS n FROM java.util.HashMap m' --columns m --csv
ask 'SELECT count(*) FROM INSTANCEOF java.lang.Object o WHERE o.nosuch.toString().startsWith("x")' --csv
ask 'SELECT count(*) FROM Sample s WHERE ((SELECT * FROM no.such.Klass) != null)' --csv
ask 'SELECT count(*) FROM Sample s WHERE ((SELECT x FROM OBJECTS ( s.nosuch ) x) = null)' --csv
ask 'SELECT count(*) FROM Sample s WHERE s NOT IN (SELECT * FROM no.such.Klass)
	AND ((SELECT * FROM Sample) != null)' --csv
ask 'SELECT count(*) FROM Sample s WHERE s NOT IN s.nosuch' --csv
ask 'SELECT (SELECT * FROM no.such.Klass) AS none, eval((SELECT * FROM no.such.Klass)).size() AS size
	FROM OBJECTS 0' --json
# VisualVM's language, as SQL
ask 'select s from java.lang.String s where s.value.length >= 100 && s.hash == 0' --limit 2
ask 'select {name: c.name, n: count(heap.objects(c))} from java.lang.Class c'
ask 'select heap.livepaths(s) from java.lang.Thread s' --limit 2
ask 'select map(filter(heap.objects("java.util.HashMap"), "it.size > 10"), "it.size")' --csv --limit 2
ask 'select sizeof(m) from java.util.HashMap m' --json --limit 2
ask 'SELECT remap(m) FROM java.util.HashMap m'
ask 'SELECT m.@nosuch FROM java.util.HashMap m'
ask 'SELECT m.size n FROM java.util.HashMap m'
ask 'SELECT * FROM "java(lang"'
ask 'SELECT * FROM OBJECTS 0x1'
ask 'SELECT * FROM' --json
ask
ask 'SELECT * FROM' 'java.lang.String'
