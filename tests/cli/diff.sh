# Two databases of one dump: no changes; conditions and exit status; usage errors.
heapdb import "$DUMP" -o a.heapdb --quiet --sizes mat >/dev/null
heapdb import "$DUMP" -o b.heapdb --quiet --sizes mat >/dev/null
heapdb diff a.heapdb b.heapdb
heapdb diff a.heapdb b.heapdb --only 'Sample*' --limit 3
heapdb diff a.heapdb b.heapdb a.heapdb --by package --only 'java.lang' --json
heapdb diff a.heapdb b.heapdb a.heapdb --by package --only 'java.lang' --columns name,steps
heapdb diff a.heapdb b.heapdb a.heapdb --by package --only 'java.lang' --columns name,steps --bytes
heapdb diff a.heapdb b.heapdb --by path
heapdb diff a.heapdb b.heapdb --by suspect --csv
heapdb diff a.heapdb b.heapdb --by object --limit 1
echo "exit $?"
heapdb diff a.heapdb b.heapdb --only Sample --columns name,objects \
	--fail-if 'retained(java.util.*) > 50M' --fail-if 'growth(count(*)) > 0%'
echo "exit $?"
heapdb query histogram Sample --columns name,objects --db a.heapdb \
	--fail-if 'count(java.lang.String) >= 1K' --fail-if 'count(no.such.Class) != 0' 2>&1
echo "exit $?"
heapdb query histogram --db a.heapdb --fail-if 'growth(count(Sample)) > 0' 2>&1
echo "exit $?"
heapdb diff a.heapdb b.heapdb --fail-if 'retained(Sample) >' 2>&1
echo "exit $?"
heapdb diff a.heapdb 2>&1
echo "exit $?"
heapdb diff a.heapdb none.heapdb 2>&1
echo "exit $?"
heapdb diff a.heapdb b.heapdb --by colour 2>&1
echo "exit $?"
heapdb diff a.heapdb b.heapdb --only 'no.such.*' 2>&1
echo "exit $?"
# Hidden classes are matched without their addresses. Tables have 25 rows.
for address in 1234 5678; do
	LC_ALL=C sed "s/Sample\$AllTypes/Sample\$A+0x$address/g" "$DUMP" >h$address.hprof
	heapdb import h$address.hprof --quiet >/dev/null
done
heapdb diff h1234.heapdb h5678.heapdb --only 'Sample?A*' --csv --columns status,name,objects 2>&1
heapdb diff a.heapdb b.heapdb --by superclass --columns name | grep 'rows'
