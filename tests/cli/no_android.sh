# What only dumps of Android programs have says so of others; buffers outside of the heap by capacity.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
for query in app bitmaps leak-traces; do
	echo "-- $query"
	heapdb query $query --limit 2
done
heapdb query direct-buffers --columns kind,capacity
