#!/bin/sh
# page_big_test.sh - every view of the page in Chromium on a Java heap, next to a smaller one: it appears, nothing
# fails, nothing moves while it loads, and it is fast enough, the first time and again. Slow queries are cancelled;
# pictures have the maximum number of cells. 300,000 objects here; 19 million and 500 clicks with HEAPDB_PAGE=full (make
# nightly). Needs a JDK. page_big.py has the views and the limits. SHOTS=FOLDER keeps screenshots of the views.
# Slow: every view twice, in a browser.
set -eu

for tool in java javac python3; do
	command -v $tool >/dev/null || [ -x "${JAVA_HOME:-}/bin/$tool" ] || { echo "no $tool here"; exit 77; }
done
# shellcheck source=tests/support/page.sh
. "$HDB_ROOT/tests/support/page.sh"
form=${HEAPDB_PAGE:-small} persons=60000 limit=280
if [ "$form" = full ]; then
	persons=3750000 limit=2800
fi
for dump in "heap $persons" "before $((persons / 10))"; do
	sh "$HDB_ROOT/bench/java/make.sh" social "${dump% *}.hprof" "${dump#* }" >out 2>&1 || { cat out; exit 1; }
	heapdb import "${dump% *}.hprof" --quiet >out
done
cat out
start_serve heap.heapdb before.heapdb
code=0
timeout $limit python3 "$HDB_ROOT/tests/e2e/page_big.py" "$(cat url)" "$server" "$form" || code=$?
[ "$code" -ne 77 ] || echo "chromium does not start here"
# 500 clicks of somebody who hunts, without a browser: the 95th percentile is 200 ms at most.
if [ "$form" = full ] && [ "$code" -eq 0 ]; then
	kill "$server"
	wait "$server" 2>/dev/null || true
	rm url
	start_serve heap.heapdb
	timeout 900 python3 "$HDB_ROOT/bench/page_clicks.py" "$(cat url)" "$server" 500 1 || code=$?
fi
exit "$code"
