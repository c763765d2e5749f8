#!/bin/sh
# seeds_test.sh - hash tables, and hashes of strings and contents, have another seed in each process: answers must be
# the same, byte for byte.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# Many ties, grouped by hash, in several processes.
ask() {
	for turn in 1 2 3 4; do
		heapdb "$@" > "$work/$turn" 2>&1 || :
		cmp -s "$work/1" "$work/$turn" || {
			echo "FAILED: other seed, other bytes: heapdb $*"
			failed=1
			return
		}
	done
	[ -s "$work/1" ] || { echo "FAILED: no answer: heapdb $*"; failed=1; }
}

heapdb import "$DUMP" -o "$work/a.heapdb" > "$work/out"
HEAPDB=$work/a.heapdb
export HEAPDB
# Tables are built first.
heapdb report > "$work/out"
for by in text prefix length encoding; do
	ask query strings --by $by --csv
done
ask query duplicates --csv
ask query duplicates --arrays --csv --unreachable
ask query substrings --csv
for by in class length value; do
	ask query arrays --by $by --csv
done
ask query arrays --constant --csv
ask query group-by-value '*' --csv
ask query group-by-value java.lang.String --csv
ask query group-by-value java.lang.Thread --by field:name --subclasses --csv
for by in class size fill collisions; do
	ask query collections --by $by --csv
done
for by in class package loader; do
	ask query dominator-tree --by $by --csv
	ask query merged-paths java.lang.String --by $by --csv
done
ask query triage --all --csv
ask query leaks --json
ask query loaders --csv
ask query duplicate-classes --csv
ask query reference-stats --csv
for by in class path dominator; do
	ask diff "$HEAPDB" "$HEAPDB" --by $by --csv
done
ask report
exit $failed
