#!/bin/sh
# reproducible_test.sh - builds in two directories produce the same bytes: command, library, wheel, source archive.
# Slow: it builds all twice.
set -eu
git -C "$HDB_ROOT" rev-parse -q --verify HEAD > /dev/null 2>&1 || { echo "this is no clone"; exit 77; }
for folder in "$TMPDIR/a" "$TMPDIR/a-longer/name"; do
	mkdir -p "$folder"
	(cd "$HDB_ROOT" && git ls-files -z | xargs -0 cp --parents -t "$folder")
	(cd "$folder" && MAKEFLAGS='' make -j"$(nproc)" RELEASE=1 OPT='-O0 -g' BUILD=build command lib wheel) \
		> "$TMPDIR/log" 2>&1 || { tail -n 20 "$TMPDIR/log"; exit 1; }
	strip "$folder/build/heapdb" "$folder/build/libheapdb.so"
	mv "$folder/build/heapdb" "$folder/build/libheapdb.so" "$folder"/build/wheel/*.whl "$folder"
	rm -r "$folder/build"
done
for name in heapdb libheapdb.so; do
	cmp "$TMPDIR/a/$name" "$TMPDIR/a-longer/name/$name"
done
wheel=$(basename "$TMPDIR"/a/*.whl)
cmp "$TMPDIR/a/$wheel" "$TMPDIR/a-longer/name/$wheel"
cd "$HDB_ROOT"
for copy in 1 2; do
	mkdir "$TMPDIR/$copy"
	PYTHONDONTWRITEBYTECODE=1 python3 tools/packaging/python_backend.py "$TMPDIR/$copy" > /dev/null
done
cmp "$TMPDIR"/1/*.tar.gz "$TMPDIR"/2/*.tar.gz
tar tzf "$TMPDIR"/1/*.tar.gz | grep -q '/PKG-INFO$'
tar xzf "$TMPDIR"/1/*.tar.gz -O --wildcards '*/PKG-INFO' | grep -q '^Name: heapdb-jvm$'
