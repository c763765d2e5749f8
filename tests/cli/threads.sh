# Threads by retained size, those with one stack in a row; stacks with frames, locals and what these hold.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
heapdb query threads
heapdb query threads --limit 2
heapdb query threads --stacks --limit 2
# A part of a name will do.
heapdb query threads 'ith locals' --no-locals
# Each form has these columns, whether a thread is virtual or not.
heapdb query threads main --limit 1 --columns thread,tid,virtual --csv | sed 4q
heapdb query threads main --no-stack --columns thread,tid,virtual --csv
