#!/bin/sh
# page_kept_test.sh - the first comparison of two dumps is kept: the next visit of the page's view Compare costs the
# server no computation. Measured as CPU time of the server, which does not depend on other processes.
set -eu

work=$(mktemp -d)
# shellcheck source=tests/support/serve.sh
. "$HDB_ROOT/tests/support/serve.sh"
trap 'rm -rf "$work"; [ -z "$server" ] || kill "$server" 2>/dev/null || true' EXIT
cd "$work" || exit 1
python3 "$HDB_ROOT/tests/support/many_classes.py" 10000 dump.hprof
for name in before after; do
	heapdb import dump.hprof -o $name.heapdb --quiet >out 2>&1
done
start_serve before.heapdb after.heapdb
python3 "$HDB_ROOT/tests/e2e/page_kept.py" "$(cat url)" "$server"
