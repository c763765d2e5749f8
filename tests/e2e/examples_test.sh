#!/bin/sh
# tests/e2e/examples_test.sh - the example program prints the same as the command, and it is short.
set -eu

cd "$TMPDIR"
heapdb import "$DUMP" -o sample.heapdb --quiet >/dev/null
top10 sample.heapdb | sort >have
heapdb query top --limit 10 --columns id,shallow,retained,class --format tsv --db sample.heapdb |
	sed '1d' | tr '\t' ' ' | sed 's/ class [^ ]*$/ java.lang.Class/' | sort >want
[ "$(wc -l <have)" = 10 ]
diff -u want have
[ "$(heapdb query top --limit 10 --csv --db sample.heapdb | wc -l)" = 11 ]
if top10 missing.heapdb 2>err; then
	echo "a missing database is no error"
	exit 1
fi
grep -q missing err
lines=$(wc -l <"$HDB_ROOT/tests/examples/top10.c")
[ "$lines" -lt 60 ] || { echo "top10.c has $lines lines"; exit 1; }

# The example of heapdb(3) compiles and prints five classes.
awk '/^\.S[hs]/ { here = /Example/ }
	/^\.Ed/ { on = 0 } on { gsub(/\\e/, "\\"); print } here && /^\.Bd -literal/ { on = 1 }' \
	"$HDB_ROOT/tools/heapdb/heapdb.3" >page.c
# shellcheck disable=SC2086 # CC may be several words
${CC:-cc} -std=c11 -Wall -Wextra -Werror -I"$HDB_ROOT/include" -o page page.c -L"$BUILD" -lheapdb
LD_LIBRARY_PATH=$BUILD ./page sample.heapdb >page.out
[ "$(wc -l <page.out)" = 5 ] || { echo "heapdb(3)'s example:"; cat page.out; exit 1; }
