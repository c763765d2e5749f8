#!/bin/sh
# tests/text.sh - the looks of sources that no compiler checks. Part of `make lint`.
#
# Lines are near 80 columns and not past 100 (a tab is 8); past 120 is an error here. No blanks at
# their end, an opening comment in every C file, no notes to finish something later.
set -eu

cd "${1:-$(dirname "$0")/..}"

# shellcheck disable=SC2016
bad=$(find include src tools tests bench .ci Makefile \
	\( -name '*.[ch]' -o -name '*.sh' -o -name '*.java' -o -name Makefile -o -path .ci/run \) \
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
		if (width > 120 && FILENAME != "Makefile")
			print FILENAME ":" FNR ": " width " columns"
	}')

if [ -n "$bad" ]; then
	echo "$bad" >&2
	exit 1
fi
echo "text: clean"
