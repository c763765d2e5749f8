#!/bin/sh
# pprof_test.sh - pprof opens our profiles and shows their sums; tests/cli/pictures.sh reads them without it.
# Slow: Go compiles pprof on first use.
set -eu
command -v go >/dev/null || { echo "no go here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
failed=0
for query in dominator-tree "merged-paths java.util.HashMap"; do
	# A query with its target.
	# shellcheck disable=SC2086
	heapdb query $query --db s.heapdb --quiet --format pprof >profile
	# shellcheck disable=SC2086
	sum=$(heapdb query $query --db s.heapdb --quiet --format folded | awk '{ sum += $NF } END { print sum }')
	if ! GOFLAGS=-mod=mod go tool pprof -top -unit=B profile >top 2>&1; then
		case $(cat top) in *"no such tool"*) echo "Go has no pprof"; exit 77 ;; esac
		failed=1
	fi
	grep -q "of ${sum}B total" top || { head -n 5 top; echo "$query: expected $sum bytes"; failed=1; }
done
exit $failed
