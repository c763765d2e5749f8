# Collections: fill ratios, contents, paths through them, values.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
heapdb query collections --limit 5
heapdb query collections --by fill --segments 2 'java.util.*List'
heapdb query collections --by object --limit 2 java.util.HashMap
id=$(heapdb query collections --by object --csv --columns id --limit 1 java.util.HashMap | tail -n 1)
heapdb query entries "$id" --limit 3
heapdb query group-by-value java.lang.Integer --limit 2
heapdb query properties --match 'java.v*'
heapdb info --csv | grep '^vm,java'

# Objects that are no collections, and invalid arguments.
heapdb query entries "$(heapdb export histogram java.lang.String --columns id --format csv | tail -n 1)"; echo "exit $?"
heapdb query collections --by colour; echo "exit $?"
heapdb query collections --arrays --by collisions; echo "exit $?"
heapdb query group-by-value java.lang.Integer --by field:nothing; echo "exit $?"
heapdb query group-by-value java.lang.Integer --by nothing; echo "exit $?"
