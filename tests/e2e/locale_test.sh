#!/bin/sh
# locale_test.sh - answers do not depend on the locale: where i and I are different letters (Turkish) and where bytes
# are letters; and where a program that loaded the library uses a decimal comma.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LOCPATH="$work"
unset LC_ALL
printf '%s\n' LC_CTYPE 'copy "tr_TR"' 'END LC_CTYPE' LC_NUMERIC 'copy "de_DE"' 'END LC_NUMERIC' >mixed
for charset in UTF-8 ISO-8859-9; do
	localedef -c --no-archive -i ./mixed -f $charset ./mixed.$charset >/dev/null 2>&1 || true
	[ -e mixed.$charset/LC_NUMERIC ] || { echo "localedef or its sources are not installed"; exit 77; }
done
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null

for locale in C C.UTF-8 mixed.ISO-8859-9 mixed.UTF-8; do
	export LC_CTYPE=$locale LC_NUMERIC=$locale
	{
		heapdb oql s.heapdb "SELECT DISTINCT s FROM java.lang.String s"
		heapdb secrets s.heapdb
		heapdb leaks s.heapdb
		heapdb roots s.heapdb --kind VM_INTERNAL 2>&1 || true
		heapdb instances s.heapdb JAVA.LANG.INTEGER 2>&1 || true
	} >"$locale.out"
done
cmp C.out mixed.ISO-8859-9.out
cmp C.UTF-8.out mixed.UTF-8.out

library=$BUILD/python/libheapdb.so
if ! command -v python3 >/dev/null || [ ! -e "$library" ] || nm -D "$BUILD/libheapdb.so" | grep -q '__[at]san'; then
	exit 0
fi
export LC_CTYPE=C LC_NUMERIC=C
PYTHONPATH="$HDB_ROOT/tools/python" HEAPDB_LIBRARY="$library" python3 - <<'END'
import locale
import heapdb_jvm


def answers():
    with heapdb_jvm.open("s.heapdb") as db:
        for rows in db.triage(), db.overview(), db.info(), db.sizes(), db.leaks():
            yield str(rows.facts)
            yield str(list(rows))
        yield str(db.oql("SELECT 1.5 FROM java.lang.Class")[0])
        yield str(len(db.oql("SELECT s FROM java.lang.String s WHERE 1.5 > 1.25")))
        yield str(list(db.sql("SELECT text FROM overview")))


before = list(answers())
for category in locale.LC_CTYPE, locale.LC_NUMERIC:
    locale.setlocale(category, "mixed.UTF-8")
assert locale.str(1.5) == "1,5"
for one, other in zip(before, answers()):
    assert one == other, (one, other)
END
