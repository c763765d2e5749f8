#!/bin/sh
# page_search_test.sh - the search of the page in a real browser: Enter takes the highlighted offer, immediately and
# later; also with 100,000 classes. Skipped without Chromium.
set -eu

# shellcheck source=tests/support/page.sh
. "$HDB_ROOT/tests/support/page.sh"
heapdb import "$DUMP" -o s.heapdb --quiet >out 2>&1
python3 "$HDB_ROOT/tests/support/many_classes.py" 100000 many.hprof
heapdb import many.hprof --quiet >out 2>&1
rm many.hprof
heapdb leaks --db s.heapdb >out
start_serve s.heapdb many.heapdb
code=0
timeout 290 python3 "$HDB_ROOT/tests/e2e/page_search.py" "$(cat url)" "$work" || code=$?
[ "$code" -ne 77 ] || echo "chromium does not start here"
exit "$code"
