# The histogram of the sample, as a table and by groups.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
heapdb query histogram --limit 5
heapdb query histogram --limit 3 --sort objects --human
heapdb query histogram --by package --limit 4 --csv
heapdb query histogram 'java.util.concurrent.*' --sort -name --limit 3 --columns name,objects,shallow
