# Threads by retained size, with threads of a kind in one row; stacks with frames, locals and the objects they hold.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
heapdb query threads
heapdb query threads --limit 2
heapdb query threads --stacks --limit 2
# A part of the name is enough.
heapdb query threads 'ith locals' --no-locals
# Each format has these columns, whether a thread is virtual or not.
heapdb query threads main --limit 1 --columns thread,tid,virtual --csv | sed 4q
heapdb query threads main --no-stack --columns thread,tid,virtual --csv
