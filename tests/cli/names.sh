# Names: an alias of a query gives the same bytes as its name, and misspelled names get a suggestion. Names of options
# and columns of 0.1 and 0.2 are unknown.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null

# All aliases: the same JSON answer for the query's example.
heapdb help --names | awk -F '\t' '
	$1 == "alias" { alias[++n] = $3 }
	$1 == "example" { for (; n > 0; n--) print substr($2, 7) "\t" alias[n] "\t" $4 }' > aliases
while IFS="$(printf '\t')" read -r name alias example; do
	[ "$name" != diff ] || continue
	eval "heapdb query $name $example --json" > want 2>want.err || echo "exit $?"
	eval "heapdb query $alias $example --json" > have 2>have.err || echo "exit $?"
	cmp want have && cmp want.err have.err && echo "$alias: $name"
	heapdb help query "$alias" > have
	heapdb help query "$name" | cmp - have || echo "no help on $alias"
done < aliases
heapdb diff s.heapdb s.heapdb > want
heapdb compare s.heapdb s.heapdb | cmp - want && echo "compare: diff"

# Misspelled names, and names that belong to something else.
try() {
	echo "\$ heapdb $*"
	heapdb "$@" 2>&1
	echo "exit $?"
}
try compaer
try histo
try gc-roots
try big-drop
try query compare
try query histoo
try query lead-suspects
try query incomming
try query oql
try query histogram --subclass
try query arrays --tails
try query retained java.util.HashMap --quick
try query immediate-dominators java.lang.Number --exclude none
try top --columns holds_by
try query retained --subclas
try help leek-suspects
try help query merge-shortest-path
try help query referrers extra
try help info leaks
try help query gc-roots | head -n 7
try help query drops | head -n 7
try help compare | head -n 7
