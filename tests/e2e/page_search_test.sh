#!/bin/sh
# page_search_test.sh - the search of the page in a real browser: Enter takes what is highlighted, at
# once and later; 100,000 classes, too. Skipped where there is no chromium.
set -eu

if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then
	echo "chromium is not installed"
	exit 77
fi
work=$(mktemp -d)
# shellcheck source=tests/support/serve.sh
. "$HDB_ROOT/tests/support/serve.sh"
trap 'rm -rf "$work"; [ -z "$server" ] || kill "$server" 2>/dev/null || true' EXIT
cd "$work"
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
