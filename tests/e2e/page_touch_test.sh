#!/bin/sh
# page_touch_test.sh - rows of a table are selected with fingers: the button Select, checkboxes, taps. A mouse has no
# such button. Skipped without Chromium.
set -eu

# shellcheck source=tests/support/page.sh
. "$HDB_ROOT/tests/support/page.sh"
heapdb import "$DUMP" -o s.heapdb --quiet >out 2>&1
start_serve s.heapdb
code=0
timeout 100 python3 "$HDB_ROOT/tests/e2e/page_touch.py" "$(cat url)" "$work" || code=$?
[ "$code" -ne 77 ] || echo "chromium does not start here"
exit "$code"
