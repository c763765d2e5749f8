#!/bin/sh
# tests/lint/text.sh - formatting of sources that compilers do not check. Part of `make lint`.
#
# Lines of C have about 80 columns and at most 100 (a tab is 8), 110 with an unbroken text; other lines at most 120. No
# trailing spaces, an opening comment in every C file, no notes to finish something later. `make lint-format` checks
# what clang-format can check.
set -eu

cd "${1:-$(dirname "$0")/../..}"

# shellcheck disable=SC2016
bad=$(find include src tools tests bench .ci Makefile \
	\( -name '*.[ch]' -o -name '*.sh' -o -name '*.query' -o -name '*.rows' -o -name '*.java' \
	-o -name Makefile -o -path .ci/run -o -path 'tools/serve/page/*' \) \
	-type f | sort | xargs -r awk '
	FNR == 1 && FILENAME ~ /\.[ch]$/ && !/^\/\*/ { print FILENAME ":1: no opening comment" }
	/[ \t]$/ { print FILENAME ":" FNR ": blank at the end of the line" }
	/(TO)DO|(FIX)ME/ { print FILENAME ":" FNR ": unfinished: " $0 }
	{
		width = 0
		n = split($0, part, "\t")
		for (i = 1; i <= n; i++) {
			width += length(part[i])
			if (i < n)
				width = width - width % 8 + 8
		}
		limit = FILENAME !~ /\.[ch]$/ ? 120 : /"/ ? 110 : 100
		if (width > limit && FILENAME != "Makefile")
			print FILENAME ":" FNR ": " width " columns"
	}')

if [ -n "$bad" ]; then
	echo "$bad" >&2
	exit 1
fi
echo "text: clean"
