#!/bin/sh
# tests/e2e/secrets_test.sh - heapdb secrets finds what tests/java/Secrets.java plants, names the key or field, prints
# no secret, and finds nothing in the output of redact. The sample has no secrets.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail()
{
	echo "FAILED: $*"
	failed=1
}

heapdb import "$DUMP" -o "$work/sample.heapdb" --quiet > /dev/null
heapdb secrets --db "$work/sample.heapdb" --fail-if 'secrets() > 0' > "$work/none" ||
	fail "the sample: $(cat "$work/none")"
grep -q "no rule finds a secret" "$work/none" || fail "the sample: $(cat "$work/none")"

# shellcheck source=tests/support/jdk.sh
. "$HDB_ROOT/tests/support/jdk.sh"
last_java
[ -n "$java" ] || { echo "no JDK in ${HDB_JDKS:-/usr/lib/jvm}"; exit $((failed ? 1 : 77)); }
cd "$work"
mkdir -p org/apache/catalina/session
cat > org/apache/catalina/session/StandardSession.java <<-END
	package org.apache.catalina.session;
	public class StandardSession {
	    protected String id;
	    public StandardSession(String id) { this.id = ("gl" + "ptt-0123456789abcdefABCDEF").isEmpty() ? "" : id; }
	}
END
"${java}c" org/apache/catalina/session/StandardSession.java
DATABASE_PASSWORD=open5esame "$java" -cp . -Xmx64m -XX:TieredStopAtLevel=1 \
	"$HDB_ROOT/tests/java/Secrets.java" x.hprof > wanted.tsv
[ "$(wc -l < wanted.tsv)" -ge 47 ] || fail "planted: $(cat wanted.tsv)"
heapdb import x.hprof -o x.heapdb --quiet > /dev/null
heapdb secrets --db x.heapdb --limit 1000 --format tsv --columns kind,key,owner,value,copies |
	sed "s/	'-/	-/" > found.tsv
while IFS="$(printf '\t')" read -r rule key; do
	if [ "$key" = - ]; then
		grep -q "^$rule	" found.tsv || fail "$rule was not found"
	else
		awk -F '\t' -v rule="$rule" -v key="$key" \
			'$1 == rule && $2 == key { n++ } END { exit n != 1 }' found.tsv ||
			fail "$rule was not found in $key"
	fi
done < wanted.tsv
grep "^gitlab-trigger-token	constant	" found.tsv |
	grep -q "constant pool of org.apache.catalina.session.StandardSession" || fail "a literal: $(cat found.tsv)"
grep -q "^secret-key	key	Secrets.*	... (32 bytes)	1$" found.tsv || fail "a key: $(cat found.tsv)"
grep -q "^session-id	id	.*	3$" found.tsv || fail "sessions: $(cat found.tsv)"
# Each secret has its holder, and nothing else is found.
[ "$(grep -c "Secrets" found.tsv)" -ge 23 ] || fail "owners: $(cat found.tsv)"
[ "$(wc -l < found.tsv)" -le $(($(wc -l < wanted.tsv) + 2)) ] || fail "more than was planted: $(cat found.tsv)"
for part in tr0ub4dor correcthorse batterystaple open5esame mountain copper violet silver walnut quartz granite marble \
	harmless pebble saffron hunter swordfish lovelace 4111 3704 05-1120 BIPW; do
	if grep -q "$part" found.tsv; then
		fail "$part is shown"
	fi
done
if heapdb secrets --db x.heapdb --fail-if 'secrets() > 3' > out.txt; then
	fail "--fail-if does not fail"
fi
grep -q "secrets() > 3 holds ([0-9]*)" out.txt || fail "$(cat out.txt)"

# A terminal of 80 columns shows the owners.
python3 - <<-'END' || fail "owners on a terminal"
	import fcntl, os, pty, struct, subprocess, sys, termios
	sys.path.insert(0, os.environ["HDB_ROOT"] + "/tests/support")
	from terminal import read_all
	main, side = pty.openpty()
	fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
	child = subprocess.Popen(["heapdb", "secrets", "--db", "x.heapdb", "--limit", "5"], stdout=side)
	os.close(side)
	head = read_all(main).decode().split("\n")[0]
	sys.exit(child.wait() != 0 or "owner" not in head)
END

# The output of redact has no secrets, and its report lists none as remaining.
for way in "" "--hash" "--arrays text"; do
	# shellcheck disable=SC2086
	heapdb redact x.hprof y.hprof $way --secrets report.tsv --force --quiet > /dev/null
	heapdb import y.hprof -o y.heapdb --force --quiet > /dev/null
	python3 - <<-'END' || fail "redact $way keeps text that is not ASCII"
		import sys
		wall = "\u0441\u0442\u0435\u043d\u0430"
		planted, left = (open(name, "rb").read() for name in ("x.hprof", "y.hprof"))
		texts = [wall.encode("utf-8"), wall.encode("utf-16-le")]
		sys.exit(any(t not in planted or t in left for t in texts))
	END
	heapdb secrets --db y.heapdb --format tsv > rest.tsv
	[ "$(wc -l < rest.tsv)" -le 1 ] || fail "after redact $way: $(cat rest.tsv)"
	awk -F '\t' 'NR > 1 && $6 == "yes" { print; n++ } END { exit n > 0 }' report.tsv ||
		fail "redact $way keeps these"
	[ "$(wc -l < report.tsv)" -ge 16 ] || fail "redact $way: $(cat report.tsv)"
done
exit $failed
