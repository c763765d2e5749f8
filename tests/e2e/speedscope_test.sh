#!/bin/sh
# speedscope_test.sh - speedscope opens our trees, in all formats that it accepts, and shows the bytes of each class;
# see speedscope.py. tests/cli/pictures.sh reads them without it.
# Slow: npm installs speedscope on first use.
set -eu
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
browser=$(cd "$HDB_ROOT/tests/e2e" && python3 -c 'import chromium; print(chromium.find() or "")')
[ -n "$browser" ] || { echo "no Chromium here"; exit 77; }
viewer=$HDB_ROOT/build/speedscope
# shellcheck source=tests/support/npm.sh
. "$HDB_ROOT/tests/support/npm.sh"
npm_package "$viewer" speedscope@1.25.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
for form in speedscope folded pprof; do
	heapdb query dominator-tree --db s.heapdb --quiet --format "$form" >"tree.$form"
done
python3 "$HDB_ROOT/tests/e2e/speedscope.py" \
	"$viewer/node_modules/speedscope/dist/release/index.html" tree.speedscope tree.folded tree.pprof
