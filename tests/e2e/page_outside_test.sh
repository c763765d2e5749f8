#!/bin/sh
# page_outside_test.sh - views of --with files on the page, in Chromium: growth as a line chart, process memory as a
# bar, allocations, native memory, and owners over three dumps, each in four sizes with axe-core; and the report with
# them. Skipped without Chromium. page_outside.py has the steps.
# Slow: the views are drawn at four sizes.
set -eu

# shellcheck source=tests/support/page.sh
. "$HDB_ROOT/tests/support/page.sh"
corpus=$HDB_ROOT/tests/corpus
for name in one two three; do
	cp "$DUMP" $name.hprof
	heapdb import $name.hprof --quiet >out 2>&1
done
python3 "$HDB_ROOT/tests/e2e/growth_make.py" leak >series.jsonl
set -- --with series.jsonl --with "$corpus/memory/smaps" --with "$corpus/memory/nmt_detail" \
	--with "$corpus/memory/vm_info" --with "$corpus/jfr/sample" --with "$corpus/meminfo/dumpsys" \
	--with "$corpus/heapprofd/own.pftrace"
heapdb report one.heapdb --html report.html --quiet "$@"
start_serve one.heapdb two.heapdb three.heapdb "$@"
code=0
timeout 200 python3 "$HDB_ROOT/tests/e2e/page_outside.py" "$(cat url)" "$work" || code=$?
[ "$code" -ne 77 ] || echo "chromium does not start here"
exit "$code"
