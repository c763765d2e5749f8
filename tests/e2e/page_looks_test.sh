#!/bin/sh
# page_looks_test.sh - each view of the page in six sizes and both themes, opened as in page_test.sh: nothing is cut
# off or overlaps, and axe-core reports nothing in three of the sizes. HEAPDB_PAGE=full (make nightly): nine sizes,
# axe-core in each.
# Slow: a hundred views are drawn, each is read twice.
CLIENT=page_looks_client.py exec sh "$HDB_ROOT/tests/e2e/page_test.sh"
