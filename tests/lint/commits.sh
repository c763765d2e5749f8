#!/bin/sh
# tests/lint/commits.sh - subjects of commits have at most 72 characters. Part of `make lint`.
#
# Checks only commits after the one that added this file. Passes in a copy without history.
set -eu

cd "${1:-$(dirname "$0")/../..}"
git rev-parse -q --verify HEAD > /dev/null 2>&1 || { echo "commits: no history here"; exit 0; }
start=$(git log --diff-filter=A --format=%H -- tests/lint/commits.sh | tail -n 1)
[ -n "$start" ] || { echo "commits: no history here"; exit 0; }
bad=$(git log --no-merges --format='%h %s' "$start..HEAD" |
	awk '{ hash = $1; sub(/^[^ ]* /, "") } length($0) > 72 { print hash ": " length($0) " characters: " $0 }')
if [ -n "$bad" ]; then
	echo "$bad" >&2
	exit 1
fi
echo "commits: clean"
