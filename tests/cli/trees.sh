# The dominator tree and paths of sets: merged trees, big drops, top consumers, class loaders.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
heapdb query merged-paths 'Sample*' --depth 2 --limit 8
heapdb query merged-paths Sample --exclude Sample:none --json
heapdb query merged-paths 'Sample*' --by field --limit 12
heapdb query merged-paths Sample --by field --exclude none 2>&1
heapdb query dominator-tree --by package --depth 1 --limit 5
heapdb query big-drops --threshold 5
heapdb query top-consumers --threshold 10
heapdb query immediate-dominators 'Sample?Node' --skip 'java.*,Sample?Node' --csv
heapdb query loaders --columns level,class,name,classes,objects,use 2>&1
heapdb query loaders --columns level,name,label,classes,objects,use
heapdb query duplicate-classes --columns name,copies,loader,objects
heapdb query retained java.util.HashMap --exclude 'java.lang.Thread:threadLocals' --csv
heapdb query threads main --no-stack --columns thread,state,daemon,tid
heapdb query big-drops --skip 2>&1
echo "exit $?"
heapdb query top-consumers no.such.Class 2>&1
echo "exit $?"
