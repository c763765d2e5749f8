#!/bin/sh
# query_test.sh - an error in a .query file (tools/query.awk) is reported with its line when heapdb is built, and
# correct text becomes a definition.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > table.c <<'END'
#include "query/query.h"
#include <stdio.h>
#define WORD "a word"
#include "rows.h"
QUERY_DEFINE(two_parts, .state_size = 7);
int main(void)
{
	const struct hdb_query_spec *s = &query_two_parts.spec;

	printf("%s|%s|%s|%u|%d\n", s->name, s->summary, s->targets, s->target_max, s->is_query);
	printf("%s|%s|%s\n", s->options[0].name, s->options[0].help, s->options[0].default_value);
	printf("%s|%s|%s|%s\n", s->columns[FIRST].name, s->columns[SECOND].title, s->columns[SECOND].help,
	       s->facts[0].title);
	return (int)(s->column_count + s->fact_count + query_two_parts.state_size);
}
END

# build DEFINITION: compiled
build() {
	printf '%b' "$1" > t.query
	awk -f "$HDB_ROOT/tools/query.awk" t.query > rows.h 2> out &&
		${CC:-cc} -w -D_GNU_SOURCE -I"$HDB_ROOT/include" -I"$HDB_ROOT/src" \
			-I"$BUILD/rules" -o table table.c 2> out
}

good='query two_parts\nsummary One "text" \\ of\n  two lines\ntypes HDB_TARGET_CLASS\ncount 0 3\n'
good=$good'option TEXT by WHAT\n  {WORD}, and {this}\ndefault x\n'
good=$good'column FIRST COUNT a_b\n  help\n\n# a comment\ncolumn SECOND TEXT c "T t"\n  {WORD}\n'
good=$good'fact BYTES d_e\n  help\n'
build "$good"
code=0
./table > got || code=$?
test $code = 10
cat > want <<'END'
two-parts|One "text" \ of two lines||3|1
by|a word, and {this}|x
a_b|T t|a word|d e
END
cmp want got

# The columns of an answer that no query gives.
build "answer three\ncolumn A BOOL a\n  x\ncolumn - TEXT b\n  y\n$good"
grep -q '^enum { THREE_COLUMNS' rows.h
awk -f "$HDB_ROOT/tools/query.awk" t.query | grep -q '^enum { A, };'

# refused TEXT DEFINITION: the build fails, and the compiler or awk prints TEXT
refused() {
	if build "$2"; then
		echo "built: $2"
		exit 1
	fi
	grep -q "$1" out || {
		echo "not \"$1\" but:"
		cat out
		exit 1
	}
}
build 'shared ROWS\nfact COUNT a\n  help\nfact COUNT b_c\n  help\ntext WORD a  word\n' || :
grep -q '^#define ROWS { "a", HDB_TYPE_COUNT, "a", "help" }, { "b_c", HDB_TYPE_COUNT, "b c", "help" }$' rows.h
grep -q '^#define WORD "a  word"$' rows.h
refused 't.query:1: .*expected "query ID" at the start' 'summary x\n'
refused 't.query:2: .*nothing follows "summary"' 'query two_parts\nsummary\n'
refused 't.query:2: .*unknown word "sumary"' 'query two_parts\nsumary x\n'
refused 't.query:2: .*"column" needs more words' 'query two_parts\ncolumn FIRST COUNT\n'
refused 't.query:2: .*expected "TITLE", not title' 'query two_parts\ncolumn FIRST COUNT a title\n'
refused 't.query:2: .*an answer has no "summary"' 'answer three\nsummary x\n'
refused 't.query:3:' 'query two_parts\nsummary x\ncolumn FIRST KOUNT a\n'
