#!/bin/sh
# page_looks_test.sh - each view of the page at five sizes, light and dark, as page_test.sh opens it:
# nothing is cut, nothing lies on something else, and axe-core finds nothing at three of them. With
# HEAPDB_PAGE=full (make nightly) at eight, with axe-core at each.
# Slow: a hundred views are drawn, each is read twice.
CLIENT=page_looks_client.py exec sh "$HDB_ROOT/tests/e2e/page_test.sh"
