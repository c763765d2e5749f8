# Retained sizes of an object, a class, a pattern, and of unknown names.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
id=$(heapdb export top --limit 1 --columns id --format csv | tail -n 1)
echo "biggest: $id"
heapdb query retained "$id"
heapdb query retained "$id" --json
heapdb query retained 'Sample*' java.util.HashMap --csv
# A class without instances: the result equals `retained ID` of its class object.
heapdb query retained "java.lang.Long\$LongCache"
heapdb query retained "java.lang.Long\$LongCache" java.lang.System --json
id=$(heapdb query class "java.lang.Long\$LongCache" --json | sed -n 's/.*"id":"\(0x[0-9a-f]*\)".*/\1/p' | head -n 1)
heapdb query retained "$id"
heapdb query retained 0x1 2>&1
echo "exit $?"
heapdb query retained no.such.Class 2>&1
echo "exit $?"
heapdb query retained 0x1 --json
echo "exit $?"
heapdb query retained 0xzz 2>&1
echo "exit $?"
# Objects of a class without retained sizes do not need dominators.
heapdb import "$DUMP" -o n.heapdb --quiet >/dev/null
heapdb instances Sample n.heapdb --no-retained --csv | tr ',' '\n' | grep -c '^retained'
heapdb info n.heapdb --json | grep -c dominators
heapdb instances Sample n.heapdb --csv | tr ',' '\n' | grep -c '^retained'
heapdb info n.heapdb --json | grep -c dominators
