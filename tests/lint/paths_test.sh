#!/bin/sh
# tests/lint/paths_test.sh - the files that CONTRIBUTING and the READMEs mention exist: paths in backticks, and names
# without a directory anywhere in the tree.
set -eu

cd "$HDB_ROOT"
tmp=$(mktemp)
tree=$(mktemp)
trap 'rm -f "$tmp" "$tree"' EXIT
find include src tools tests bench -type f | sed 's|.*/||' | sort -u >"$tree"

# Paths in backticks that name a file: they have a dot in the last part, and no * or capitals that stand for a name.
# They are relative to the top directory, src/, tests/ or tools/.
# shellcheck disable=SC2016
look()
{
	grep -o '`[a-z./_0-9]*/[a-z_0-9]*\.\(c\|h\|sh\|py\|md\|java\)`' "$1" | tr -d '`' | sort -u |
	while read -r path; do
		for from in . src tests tools; do
			[ -e "$from/$path" ] && continue 2
		done
		echo "$1 names $path, which is not there" >>"$tmp"
	done
	grep -o '`[a-z_0-9][a-z_0-9]*\.\(c\|h\|sh\|py\|java\|rules\|query\|rows\)`' "$1" | tr -d '`' | sort -u |
	comm -23 - "$tree" | sed "s|^|$1 names a file that is nowhere: |" >>"$tmp"
}

for page in .github/CONTRIBUTING.md src/README.md tests/README.md README.md; do
	look "$page"
done
changes=$(grep -c '^| [0-9]* |' .github/CONTRIBUTING.md)
[ "$changes" -ge 30 ] || echo "CONTRIBUTING lists $changes changes, not 30" >>"$tmp"
cat "$tmp"
[ ! -s "$tmp" ]
