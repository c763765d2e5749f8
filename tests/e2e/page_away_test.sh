#!/bin/sh
# page_away_test.sh - what a reload of the page shows after its server has ended, and when one is
# there again, in Chromium. Skipped where there is none. page_away.py beside it has the steps.
set -eu

# shellcheck source=tests/support/page.sh
. "$HDB_ROOT/tests/support/page.sh"
heapdb import "$DUMP" -o away.heapdb --quiet >out 2>&1
code=0
timeout 120 python3 "$HDB_ROOT/tests/e2e/page_away.py" away.heapdb || code=$?
[ "$code" -ne 77 ] || echo "chromium or the server does not start here"
exit "$code"
