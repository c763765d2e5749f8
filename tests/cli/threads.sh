# Threads, and that --limit cuts with a word.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
heapdb query threads --limit 4
# Each form has these columns, whether a thread is virtual or not.
heapdb query threads main --limit 1 --columns thread,tid,virtual --csv | sed 4q
heapdb query threads main --no-stack --columns thread,tid,virtual --csv
