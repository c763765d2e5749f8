#!/bin/sh
# page_away_test.sh - in Chromium, a reload of the page after its server has ended, and when a server is running again.
# Skipped without Chromium. page_away.py has the steps.
set -eu

# shellcheck source=tests/support/page.sh
. "$HDB_ROOT/tests/support/page.sh"
heapdb import "$DUMP" -o away.heapdb --quiet >out 2>&1
code=0
timeout 120 python3 "$HDB_ROOT/tests/e2e/page_away.py" away.heapdb || code=$?
[ "$code" -ne 77 ] || echo "chromium or the server does not start here"
exit "$code"
