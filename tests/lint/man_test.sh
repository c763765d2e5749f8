#!/bin/sh
# tests/lint/man_test.sh - the manual page contains every command, query, option, column and fact of the command, with
# the same words, and mandoc reports no errors.
set -eu

page=$HDB_ROOT/tools/heapdb/heapdb.1
queries=$HDB_ROOT/tools/heapdb/heapdb-queries.1
bad=0
complain()
{
	echo "man page: $*"
	bad=1
}

sh "$HDB_ROOT/tools/heapdb/man_queries.sh" "$BUILD/heapdb" >"$TMPDIR/want"
[ -s "$TMPDIR/want" ] || complain "heapdb help --names lists no queries"
sed -n '/^\.\\" queries: begin/,/^\.\\" queries: end/p' "$queries" | sed '1d;$d' >"$TMPDIR/have"
if ! diff -u --label heapdb-queries.1 --label "heapdb help" "$TMPDIR/have" "$TMPDIR/want"; then
	complain "the list of queries is behind: sh tools/heapdb/man_queries.sh --write"
fi

# The page that describes the options of a command in addition to heapdb(1).
page_of()
{
	case $1 in
	convert | strip | redact) echo convert ;;
	meminfo | allocations) echo android ;;
	growth) echo watch ;;
	*) echo "$1" ;;
	esac
}

"$BUILD/heapdb" help --names >"$TMPDIR/names"
cut -f 1-3 "$TMPDIR/names" >"$TMPDIR/short"
while IFS="$(printf '\t')" read -r kind owner name; do
	case $kind in
	command)
		[ "$owner" = - ] || name="$owner $name"
		grep -q "^\.It Cm $name\$" "$page" || complain "command $name is not in COMMANDS"
		grep -q "^\.Cm $name\$" "$page" || complain "command $name is not in the synopsis"
		;;
	option)
		case $owner in query*) continue ;; esac
		part=$HDB_ROOT/tools/heapdb/heapdb-$(page_of "$owner").1
		[ -f "$part" ] || part=$page
		cat "$page" "$part" >"$TMPDIR/both"
		grep -q "Fl Fl ${name#--}\( \|\$\)" "$TMPDIR/both" || complain "option $name of $owner is missing"
		;;
	esac
done <"$TMPDIR/short"

# Help on a command, query, option, column or fact has at most two lines on an 80-column terminal, begins with a capital
# letter, and ends with a full stop if it has more than one sentence.
awk -F '\t' '$1 ~ /^(command|query|option|column|fact)$/ { print $1 " " $2 " " $3 "\t" $5 }' \
	"$TMPDIR/names" | awk -F '\t' '!seen[$2]++' | while IFS="$(printf '\t')" read -r name help; do
	[ "$(printf '%s\n' "$help" | fold -s -w 53 | wc -l)" -le 2 ] || echo "$name: more than two lines: $help"
	case $help in [A-Z]*) ;; *) echo "$name: no capital: $help" ;; esac
	case $help in
	*". "*.) ;;
	*". "* | *.) echo "$name: the full stop: $help" ;;
	esac
done >"$TMPDIR/long"
[ ! -s "$TMPDIR/long" ] || complain "help texts: $(cat "$TMPDIR/long")"

# Examples come before the lists of commands and options, and no page has 5,000 words.
sed '/^\.Sh COMMANDS/q' "$page" | grep -q '^\.Ss Examples' || complain "Examples come after COMMANDS"
words=$(wc -w <"$page")
[ "$words" -le 5000 ] || complain "heapdb.1 has $words words, more than 5,000"
words=$(wc -w <"$queries")
[ "$words" -le 14000 ] || complain "heapdb-queries.1 has $words words, more than 14,000"

# Every part of the manual exists, is packaged, and is listed in heapdb(1).
for file in "$HDB_ROOT"/tools/heapdb/heapdb-*.1; do
	name=$(basename "$file" .1)
	name=${name#heapdb-}
	grep -q "^\.Xr heapdb-$name 1" "$page" || complain "heapdb(1) does not name heapdb-$name(1)"
	grep -q "/heapdb-$name\.1\$" "$HDB_ROOT/tools/packaging/debian/heapdb.install" ||
		complain "heapdb-$name(1) is not packaged"
done

# The manual has nothing that the command does not have: lists and synopses contain only its options.
sed -n 's/^\.\(It\|Op\) \(.*[^a-z]\)\{0,1\}Fl Fl \([a-z-]*\).*/--\3/p' "$HDB_ROOT"/tools/heapdb/*.1 |
	sort -u | while read -r name; do
	cut -f 3 "$TMPDIR/names" | grep -qxe "$name" || echo "$name"
done >"$TMPDIR/extra"
[ ! -s "$TMPDIR/extra" ] || complain "options that do not exist: $(tr '\n' ' ' <"$TMPDIR/extra")"

# A command that fails half way leaves the page unchanged.
mkdir "$TMPDIR/copy"
cp "$queries" "$HDB_ROOT/tools/heapdb/man_queries.sh" "$TMPDIR/copy"
printf '#!/bin/sh\nhead -n 300 "%s"\nkill -SEGV $$\n' "$TMPDIR/names" >"$TMPDIR/fails"
printf '#!/bin/sh\n' >"$TMPDIR/silent"
chmod +x "$TMPDIR/fails" "$TMPDIR/silent"
for command in fails silent; do
	if sh "$TMPDIR/copy/man_queries.sh" --write "$TMPDIR/$command" 2>/dev/null ||
		! cmp -s "$queries" "$TMPDIR/copy/heapdb-queries.1"; then
		complain "man_queries.sh --write writes what a command lists that is $command"
	fi
done

# heapdb-sql(1) has every SQL table with its columns.
"$BUILD/heapdb" import "$DUMP" -o "$TMPDIR/sql.heapdb" --quiet
if "$BUILD/heapdb" sql "$TMPDIR/sql.heapdb" .tables >"$TMPDIR/tables" 2>/dev/null; then
	sql=$HDB_ROOT/tools/heapdb/heapdb-sql.1
	if ! sh "$HDB_ROOT/tools/heapdb/man_sql.sh" "$TMPDIR/sql.heapdb" "$BUILD/heapdb" |
		diff -u --label "tables" "$sql" -; then
		complain "columns are behind: sh tools/heapdb/man_sql.sh --write DATABASE"
	fi
	sed -n '/^Queries/q;s/^  \([a-z_]*\).*/\1/p' "$TMPDIR/tables" | while read -r name; do
		grep -q "^\.It Ic .*$name" "$sql" || echo "$name"
	done >"$TMPDIR/missing"
	[ ! -s "$TMPDIR/missing" ] || complain "tables not in heapdb-sql(1): $(tr '\n' ' ' <"$TMPDIR/missing")"
fi

if command -v mandoc >/dev/null; then
	mandoc -Tlint -W warning "$HDB_ROOT"/tools/heapdb/*.1 || complain "mandoc complains"
fi
exit $bad
