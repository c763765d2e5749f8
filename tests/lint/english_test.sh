#!/bin/sh
# tests/lint/english_test.sh - the lint finds phrases in each kind of text, and accepts similar ones.
set -eu

cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/include" "$tmp/src/base" "$tmp/tools/heapdb" "$tmp/tests" "$tmp/bench" "$tmp/.ci" "$tmp/.github"
touch "$tmp/Makefile" "$tmp/README.md"

# accepts FILE TEXT: no phrase is found
accepts()
{
	printf '%b' "$2" >"$tmp/$1"
	sh english.sh "$tmp" >"$tmp/out" 2>&1 || {
		echo "refused: $2"
		cat "$tmp/out"
		exit 1
	}
	rm "$tmp/$1"
	touch "$tmp/README.md" "$tmp/Makefile"
}

# refuses FILE TEXT LINE PHRASE: the phrase is found in that line
refuses()
{
	printf '%b' "$2" >"$tmp/$1"
	if sh english.sh "$tmp" >"$tmp/out" 2>&1; then
		echo "not refused: $2"
		exit 1
	fi
	grep -qF "$1:$3: \"$4\"" "$tmp/out" || {
		echo "\"$4\" in line $3 of $1 was expected:"
		cat "$tmp/out"
		exit 1
	}
	[ "$(wc -l <"$tmp/out")" -eq 1 ]
	rm "$tmp/$1"
	touch "$tmp/README.md" "$tmp/Makefile"
}

accepts src/base/one.c '/* The two are told apart. It told us. */\nint is_wanted, is_met;\n'
accepts README.md 'A superclass at handles; the dump has\nchanged since.\n'
refuses README.md 'One\nObjects count, Unless It Is Said Otherwise.\n' 2 'said otherwise'
refuses src/base/one.h '/*\n * The class and its super\n * classes.\n */\n' 3 'super classes'
refuses src/base/one.c '\t"more than %%u fields are "\n\t"wanted",\n' 2 'are wanted'
refuses tools/heapdb/heapdb.1 'in the place\nof it\n' 2 'in the place of'
refuses tests/one.sh '# a tool that cannot\n# be had\n' 2 'cannot be had'
refuses src/base/one.rules 'says it is told of\n' 1 'is told'
refuses tools/one.py '"""Lends rows."""\n' 1 'lends'
refuses src/base/one.h '/* A text as JSON\n * has it. */\n' 2 'as json has it'
refuses Makefile 'what is wanted: it is\n' 1 'is wanted'
# Only in messages and help.
accepts src/base/one.c '/* NULL if there is no row: "there is no" */\nfail("no such row");\n'
refuses src/base/one.c 'fail("row: there is no row");\n' 1 'there is no'
refuses src/base/one.c '\tX("Bytes of the table")\n' 1 'bytes of the'
accepts src/base/one.c '\tX("%%u bytes of the dump")\n'
# Two phrases in one line, and one that begins in the previous line.
printf 'This hangs on that, by now.\nHangs on\n' >"$tmp/README.md"
if sh english.sh "$tmp" 2>"$tmp/out"; then
	exit 1
fi
[ "$(wc -l <"$tmp/out")" -eq 3 ]
