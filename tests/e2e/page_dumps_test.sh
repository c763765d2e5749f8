#!/bin/sh
# page_dumps_test.sh - the page in a real browser on dumps of real programs in ../shared/dumps, if they exist: advice is
# a link instead of a command, and a number opens exactly the objects it counts. HEAPDB_PAGE=full (make nightly) uses
# all of them. Skipped without Chromium.
set -eu

# shellcheck source=tests/support/page.sh
. "$HDB_ROOT/tests/support/page.sh"
heapdb import "$DUMP" -o s.heapdb --quiet >out 2>&1
set -- s.heapdb
few="vthreads_j25_live loaders_j17 tomcat9_j17 colls_j17 android_service_leak"
for file in "$HDB_ROOT"/../shared/dumps/*.hprof.zst; do
	name=$(basename "$file" .hprof.zst)
	if [ ! -r "$file" ] || [ $# -ge 16 ]; then
		continue
	fi
	case " $few " in
	*" $name "*) ;;
	*) [ "${HEAPDB_PAGE:-small}" = full ] || continue ;;
	esac
	heapdb import "$file" -o "$name.heapdb" --quiet >out 2>&1
	set -- "$@" "$name.heapdb"
done
start_serve "$@"
code=0
limit=290
[ "${HEAPDB_PAGE:-small}" = small ] || limit=1500
timeout $limit python3 "$HDB_ROOT/tests/e2e/page_dumps.py" "$(cat url)" "$work" || code=$?
[ "$code" -ne 77 ] || echo "chromium does not start here"
exit "$code"
