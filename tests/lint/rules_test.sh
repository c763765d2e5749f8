#!/bin/sh
# rules_test.sh - an error in a rules file (tools/rules.awk) is reported with its line when heapdb is built, and correct
# rules become the rows of an array. The same applies to .rows files (tools/rows.awk).
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > table.c <<'END'
#include <stdio.h>
#define RULE_rule(word, text, nth) .name = text
#define RULE_size(word, text, nth) .size = word
#define RULE_says(word, text, nth) .says[nth] = text
static const struct { const char *name; unsigned long long size; const char *says[2]; } rows[] = {
#include "rows.h"
};
int main(void)
{
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		printf("%s %llu %s|%s\n", rows[i].name, rows[i].size, rows[i].says[0], rows[i].says[1]);
	return 0;
}
END

# build RULES: compiles the rows
build() {
	printf '%b' "$1" > t.rules
	awk -f "$HDB_ROOT/tools/rules.awk" t.rules > rows.h 2> out && ${CC:-cc} -w -o table table.c 2> out
}

build '# first\nrule a b\nsize 16M\nsays "one" \\ two\n  and three\nsays four\n\nrule c\nsize 7\nsays x\nsays y\n'
./table > got
cat > want <<'END'
a b 16777216 "one" \ two and three|four
c 7 x|y
END
cmp want got

# refused TEXT RULES: RULES do not build, and the compiler or awk prints TEXT
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
refused 't.rules:1: .*expected "rule NAME" at the start of a rule' 'size 5\n'
refused 't.rules:3: .*nothing follows "size"' 'rule a\n\nsize\n'
refused 't.rules:3:' 'rule a\nsays x\nsise 5\n'
refused 't.rules:2:' 'rule a\nsize many\n'
refused 't.rules:5:' 'rule a\nsays x\n  y\nsays z\nsays too many\n'

cat > t.rows <<'END'
# a comment
ROW a.b$C KIND|OTHER - 12  # another
ROW "a # b" "7" size=count
        next="c d" MORE(x,-,"1",IN(y z,K))
END
awk -f "$HDB_ROOT/tools/rows.awk" t.rows | grep -v '^#line' > got
cat > want <<'END'
ROW("a.b$C", KIND|OTHER, NULL, 12),
ROW("a # b", "7", .size = "count", .next = "c d", MORE("x", NULL, "1", IN("y z", K))),
END
cmp want got
