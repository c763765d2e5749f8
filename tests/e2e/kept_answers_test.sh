#!/bin/sh
# kept_answers_test.sh - answers stored in the database: equal to computed ones, complete or truncated to a number of
# rows; not stored without the dump, for other queries, or if the database is not writable.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
same()
{
	if [ "$2" != "$3" ]; then
		printf 'FAILED: %s\n  got:      %s\n  expected: %s\n' "$1" "$2" "$3"
		failed=1
	fi
}
kept()
{
	heapdb info --tables --csv --db "$1" 2>/dev/null | sed -n 's/^answer\.\([^,]*\),derived,true,.*/\1/p' |
		tr '\n' ' '
}
# The answer and the messages.
answer()
{
	db=$1
	shift
	heapdb query "$@" --db "$db" 2>err || echo "exit $?"
	sed "s,$work,,; s,[a-z]*\.heapdb,,g" err
}

# More than a million objects; answers about smaller heaps are not stored.
python3 "$HDB_ROOT/tests/support/shop.py" 1100000 3 a.hprof
heapdb import a.hprof -o made.heapdb --quiet >/dev/null
heapdb query dominators --limit 1 --db made.heapdb >/dev/null
cp made.heapdb kept.heapdb
cp made.heapdb plain.heapdb
python3 "$HDB_ROOT/tests/support/shop.py" 20000 3 small.hprof
heapdb import small.hprof -o small.heapdb --quiet >/dev/null
heapdb query leaks --db small.heapdb >/dev/null
same "few objects" "$(kept small.heapdb)" ""

for q in leaks triage collections arrays duplicates loaders reference-stats finalizers dominator-tree; do
	rm -f made.heapdb made.heapdb-lock
	cp kept.heapdb made.heapdb
	answer kept.heapdb "$q" --json >first
	case $(kept kept.heapdb) in
	*"$q "*) ;;
	*) same "$q is kept" "$(kept kept.heapdb)" "$q" ;;
	esac
	answer kept.heapdb "$q" --json >second
	cmp first second || { echo "FAILED: $q: kept, and made"; failed=1; }
	# As used by other commands; the first of them computes it.
	for form in "--csv --limit 3" --table "--json --limit 1"; do
		rm -f other.heapdb other.heapdb-lock
		cp made.heapdb other.heapdb
		# shellcheck disable=SC2086
		answer other.heapdb "$q" $form >first
		# shellcheck disable=SC2086
		answer kept.heapdb "$q" $form >second
		cmp first second || { echo "FAILED: $q $form: kept, and made"; failed=1; }
	done
	rm -f other.heapdb other.heapdb-lock
done
heapdb check --db kept.heapdb >/dev/null || { echo "FAILED: check"; failed=1; }

# The user's rules apply to a stored answer, and what they say is not stored.
cat >own.rules <<'END'
rule    own
class   suspect
verdict leak
says    The rule of this test.
do      Nothing.
since   1
source  this test
END
same "own rules" "$(heapdb query leaks --rules own.rules --db kept.heapdb | grep -c 'The rule of this test')" 1
rm -f made.heapdb made.heapdb-lock
cp plain.heapdb made.heapdb
HEAPDB_RULES=own.rules heapdb query leaks --db made.heapdb >/dev/null
same "an answer with own rules is not stored" "$(kept made.heapdb)" ""

# With options or targets: stored by arguments, if they took long. Stored answers are sorted and filtered.
for o in "collections --by size --sort objects" "collections --by size --sort=-objects" \
	"collections --where objects>100" \
	"merged-paths java.lang.String --by package" "merged-paths java.lang.String" \
	"group-by-value java.lang.String --min-count 2"; do
	for limit in "--limit 20" "" "--limit 20"; do
		rm -f made.heapdb made.heapdb-lock
		cp plain.heapdb made.heapdb
		# shellcheck disable=SC2086
		answer made.heapdb $o --json $limit >first
		# shellcheck disable=SC2086
		answer kept.heapdb $o --json $limit >second
		cmp first second || { echo "FAILED: $o $limit"; failed=1; }
	done
done
same "answers with arguments are stored" "$(kept kept.heapdb | grep -c options)" 1
same "the database is private" "$(stat -c %a kept.heapdb)" 600
heapdb check --db kept.heapdb >/dev/null || { echo "FAILED: check of answers with arguments"; failed=1; }

# So many rows that not all are stored: stored rows are used if they suffice, otherwise all are computed.
answer kept.heapdb strings --csv --limit 10 >/dev/null
same "ten are too few to keep" "$(kept kept.heapdb | grep -c strings)" 0
answer kept.heapdb strings --csv --limit 1000 >many
same "a thousand are kept" "$(kept kept.heapdb | grep -c strings)" 1
answer kept.heapdb strings --csv --limit 10 | sed -n 1,11p >few
sed -n 1,11p many | cmp - few || { echo "FAILED: ten of a thousand"; failed=1; }
same "a thousand again" "$(answer kept.heapdb strings --csv --limit 1000 | cksum)" "$(cksum <many)"
same "how many there are" "$(answer kept.heapdb strings --json --limit 2)" \
	"$(answer made.heapdb strings --json --limit 2)"
answer kept.heapdb strings --csv >first
answer made.heapdb strings --csv >second
cmp first second || { echo "FAILED: all of them"; failed=1; }

# Without the dump, the same data is reported missing as if nothing were stored.
mv a.hprof away.hprof
answer kept.heapdb leaks --json >first
answer made.heapdb leaks --json >second
cmp first second || { echo "FAILED: without the dump"; failed=1; }
mv away.hprof a.hprof

# A flipped byte of an answer is damage.
heapdb query triage --db kept.heapdb >/dev/null
code=0
grep -abo 'Sessions\.sessions (static)' kept.heapdb | cut -d: -f1 >places
[ -s places ] || { echo "FAILED: no answer names the owner"; failed=1; }
while read -r at; do
	printf 'X' | dd of=kept.heapdb bs=1 seek="$at" conv=notrunc 2>/dev/null
done <places
heapdb check --db kept.heapdb >/dev/null 2>&1 || code=$?
same "damage is found" "$code" 3
exit "$failed"
