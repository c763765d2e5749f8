# Names: by aliases a query answers the same bytes as by its name, former names say what they are called now, and
# nearly right ones are recognized.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null

# All aliases of the registry: the same answer as JSON, to the query's example.
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

# Names of earlier versions say so on standard error; --quiet does not.
old() {
	now=$1
	shift
	# shellcheck disable=SC2086
	heapdb query $now --json > want
	# what is said on standard error is looked at, the answer is kept
	# shellcheck disable=SC2069
	heapdb query "$@" --json 2>&1 > have
	cmp want have
	[ -z "$(heapdb query "$@" --json --quiet 2>&1 > have)" ] || echo "not quiet: $*"
}
old big-drops drops
old top-consumers consumers
old "merged-paths Sample" paths Sample
old "group-by-value java.lang.Thread --by field:name --subclasses" group java.lang.Thread --by field:name --sub
old "retained java.util.HashMap --lower-bound --subclasses" retained java.util.HashMap --quick --sub
old "arrays --trailing-zeros" arrays --tails
old "class java.lang.Number --subclasses" class java.lang.Number --sub
old "immediate-dominators java.lang.Number --subclasses" immediate-dominators java.lang.Number --sub

# What is nearly right, or belongs elsewhere.
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
try query retained --subclas
try help leek-suspects
try help query merge-shortest-path
try help query referrers extra
try help info leaks
try help query gc-roots | head -n 7
try help query drops | head -n 7
try help compare | head -n 7
