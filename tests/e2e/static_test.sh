#!/bin/sh
# static_test.sh - the static command (make static), if it was built from these sources: it loads no library, and every
# tool is built in and works.
set -eu
# shellcheck source=tests/support/static.sh
. "$HDB_ROOT/tests/support/static.sh"
if readelf -ld "$command" | grep -E 'NEEDED|INTERP'; then exit 1; fi
PATH=$HDB_ROOT/build/static:$PATH
cd "$TMPDIR"
if heapdb help | grep 'Not in this build'; then exit 1; fi
heapdb import "$DUMP" -o s.heapdb --quiet > out
[ "$(heapdb sql s.heapdb 'SELECT count(*) FROM objects' --csv | tail -n 1)" -gt 30000 ]
echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' | heapdb mcp . | grep -q '"result"'
sh "$HDB_ROOT/tests/e2e/serve_test.sh"
