#!/bin/sh
# page_away_test.sh - what a reload of the page shows after its server has ended, and when one is
# there again, in Chromium. Skipped where there is none. page_away.py beside it has the steps.
set -eu

if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then
	echo "chromium is not installed"
	exit 77
fi
cd "$TMPDIR"
heapdb import "$DUMP" -o away.heapdb --quiet >out 2>&1
code=0
timeout 120 python3 "$HDB_ROOT/tests/e2e/page_away.py" away.heapdb || code=$?
[ "$code" -ne 77 ] || echo "chromium or the server does not start here"
exit "$code"
