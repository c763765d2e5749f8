#!/bin/sh
# page_style_test.sh - the page's style sheet has four text sizes, two radii and distances in multiples of 4 px, and no
# component defines sizes (tools/serve/page/README.md).
set -eu

page=$HDB_ROOT/tools/serve/page
# Lines of the style sheet that break a rule. FILE is the style sheet.
odd()
{
	grep -nE '^ *font-size:' "$1" | grep -vE 'var\(--(small|text|head|title)\)' || true
	grep -nE '^ *border-radius:' "$1" | grep -vE ': *(var\(--round(er)?\)|0)( |;|$)' || true
	grep -nE '^ *(padding|margin|gap|row-gap|column-gap)(-[a-z]+)?:' "$1" |
		awk '{ line = $0; sub(/^[0-9]+: *[a-z-]+:/, ""); n = split($0, parts, /[^0-9.a-z]+/);
			for (i = 1; i <= n; i++)
				if (parts[i] ~ /^[0-9]+px$/ && parts[i] % 4 && parts[i] + 0 < 60) {
					print line
					break
				}
		}'
}
found=$(odd "$page/app.css")
[ -z "$found" ] || { echo "$found"; exit 1; }
[ "$(grep -cE '^  --(small|text|head|title): [0-9]+px;' "$page/app.css")" -eq 4 ]
[ "$(grep -cE '^  --round(er)?: [0-9]+px;' "$page/app.css")" -eq 2 ]
found=$(grep -nE 'fontSize|borderRadius|style=\{\{[^}]*(padding|margin)[A-Z]?[a-z]*: *"' "$page"/*.tsx || true)
[ -z "$found" ] || { echo "$found"; exit 1; }

# The check finds violations.
odd=$(mktemp)
trap 'rm -f "$odd"' EXIT
printf '  font-size: 13px;\n  border-radius: 5px;\n  padding: 0 6px;\n  margin: 8px -2px;\n' \
	>"$odd"
[ "$(odd "$odd" | wc -l)" -eq 4 ]
