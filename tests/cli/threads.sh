# Threads, and that --limit cuts with a word.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
heapdb query threads --limit 4
