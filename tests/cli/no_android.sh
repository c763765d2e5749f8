# Queries for Android dumps say so on other dumps; buffers outside the heap by capacity.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
for query in app bitmaps leak-traces; do
	echo "-- $query"
	heapdb query $query --limit 2
done
heapdb query direct-buffers --columns kind,capacity
# An answer without rows gives the reason.
for q in alloc-sites cpu-samples heap-summaries duplicate-classes 'strings --match qqqq' 'histogram --where objects<0' \
	'call-tree --limit 1'; do
	# shellcheck disable=SC2086 # the words of a question
	heapdb query $q
done
