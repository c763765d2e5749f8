# The shortest path from a root to an object.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
id=$(heapdb export histogram Sample --columns id --format csv | tail -n 1)
heapdb query path "$id"
heapdb query path "$id" --csv | head -n 3
