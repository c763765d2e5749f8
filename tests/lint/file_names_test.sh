#!/bin/sh
# file_names_test.sh - the lint finds wrong file names in comments, and only those.
set -eu
cd "$TMPDIR"
mkdir -p tree/include tree/src/base tree/tools tree/tests tree/bench tree/.ci
cat >tree/src/base/good.h <<'END'
/*
 * base/good.h - see bad.sh,
 * base/good.h and NAME.c.
 */
int a; /* not a name: x.count */
END
printf '#!/bin/sh\n# bad.sh - after good.h\n' >tree/tools/bad.sh
sh "$HDB_ROOT/tests/lint/file_names.sh" tree >/dev/null || { echo "FAILED: good names are refused"; exit 1; }
printf '/*\n * base/other.c - an old name; see gone.h.\n */\n' >tree/src/base/fresh.c
printf '# What elsewhere/good.h says.\n' >tree/tools/bad.sh
if sh "$HDB_ROOT/tests/lint/file_names.sh" tree >/dev/null 2>said; then
	echo "FAILED: stale names pass"
	exit 1
fi
cat >expected <<'END'
src/base/fresh.c:2: opens with the name base/other.c
src/base/fresh.c:2: no file base/other.c
src/base/fresh.c:2: no file gone.h
tools/bad.sh:1: no file elsewhere/good.h
END
diff expected said
