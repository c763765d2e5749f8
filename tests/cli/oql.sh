# MAT's query language: tables, formats, what is beyond MAT, and what is wrong with a statement.
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
ask 'SELECT * FROM no.such.Klass' --csv
ask 'SELECT s FROM java.lang.String s' --limit 2 --csv
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
ask 'SELECT m.@nosuch FROM java.util.HashMap m'
ask 'SELECT m.size n FROM java.util.HashMap m'
ask 'SELECT * FROM "java(lang"'
ask 'SELECT * FROM OBJECTS 0x1'
ask 'SELECT * FROM' --json
ask
ask 'SELECT * FROM' 'java.lang.String'
