#!/bin/sh
# python_test.sh - the Python package: its tests with the built library; the wheel in a clean environment, and data
# frames if pandas, polars and pyarrow can be installed.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
if nm -D "$BUILD/libheapdb.so" | grep -q __asan; then
	echo "python3 cannot load a library with sanitizers"
	exit 77
fi
library=$BUILD/libheapdb.so
[ ! -e "$BUILD/python/libheapdb.so" ] || library=$BUILD/python/libheapdb.so
cp "$DUMP" "$work/sample.hprof"
export DUMP="$work/sample.hprof"
HEAPDB_LIBRARY="$library" PYTHONPATH="$HDB_ROOT/tools/python" \
	python3 "$HDB_ROOT/tests/e2e/python_test.py"
HEAPDB_LIBRARY="$library" PYTHONPATH="$HDB_ROOT/tools/python" \
	python3 "$HDB_ROOT/tools/python/find_leak.py" "$work/sample.hprof" > "$work/found"
grep -q 'Sample.kept (static)' "$work/found"
HEAPDB_LIBRARY="$library" PYTHONPATH="$HDB_ROOT/tools/python" \
	python3 "$HDB_ROOT/tools/python/make_stubs.py" > "$work/stubs.pyi"
python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$work/stubs.pyi"
grep -q 'def histogram(self, .*targets: Target, by: ' "$work/stubs.pyi"

# Rows in strictly typed code: checked with mypy if it is installed.
if python3 -c 'import mypy' 2> /dev/null; then
	mkdir -p "$work/typed/heapdb_jvm"
	cp "$work/stubs.pyi" "$work/typed/heapdb_jvm/__init__.pyi"
	cat > "$work/typed/user.py" << 'END'
import heapdb_jvm


def biggest(path: str) -> list[tuple[str, int]]:
    with heapdb_jvm.open(path) as db:
        return [(row.name, row.shallow) for row in db.histogram(by="package", limit=5)]
END
	(cd "$work/typed" && python3 -m mypy --strict user.py)
fi
grep -A 3 '^class HistogramRow' "$work/stubs.pyi" | grep -q '^    objects: int$' || {
	echo "the stubs say that a count may be None"
	exit 1
}

# The documentation is one page with everything public.
HEAPDB_LIBRARY="$library" PYTHONPATH="$HDB_ROOT/tools/python" \
	python3 "$HDB_ROOT/tools/python/make_docs.py" > "$work/docs.html"
for name in heapdb_jvm.open Database.sql Database.histogram Rows.picture Rows.to_pandas Object.path_to_root \
	fleet.prune; do
	grep -q "id=\"$name\"" "$work/docs.html" || { echo "the documentation lacks $name"; exit 1; }
done
grep -q '<pre>db.oql(' "$work/docs.html"

# The wheel, if it was built (make wheel), and data frames. The environment is kept between runs.
venv=$(sh "$HDB_ROOT/tests/support/frames_venv.sh")
if [ -z "$venv" ]; then
	echo "data frames: pandas, polars and pyarrow cannot be installed here: left out"
	exit 0
fi
wheel=$(find "$HDB_ROOT/build/wheel" -name '*.whl' 2> /dev/null | head -n 1)
if [ -n "$wheel" ] && [ -z "$(find "$BUILD/libheapdb.so" -newer "$wheel")" ] &&
	[ -z "$(find "$HDB_ROOT/tools/python" -newer "$wheel" -type f)" ]; then
	"$venv/bin/pip" install -q --force-reinstall --no-deps "$wheel"
	(cd / && "$venv/bin/python" "$HDB_ROOT/tests/e2e/python_test.py")
	"$venv/bin/pip" uninstall -q -y heapdb
else
	HEAPDB_LIBRARY="$library" PYTHONPATH="$HDB_ROOT/tools/python" \
		"$venv/bin/python" "$HDB_ROOT/tests/e2e/python_test.py"
fi
