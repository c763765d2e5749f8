# A dump with Android's heaps, native memory and call stacks: --heap, --depth, the columns of heaps, the call tree, and
# records of HPROF's agent.
PYTHONPATH="$HDB_ROOT/tests/oracle" PYTHONDONTWRITEBYTECODE=1 python3 - <<'END'
from android_dump import Dump

dump = Dump(sdk=28)
dump.define('java.lang.ref.Reference', 'java.lang.Object', 'L referent')
dump.define('java.lang.ref.PhantomReference', 'java.lang.ref.Reference')
dump.define('sun.misc.Cleaner', 'java.lang.ref.PhantomReference', 'L thunk')
dump.define('libcore.util.NativeAllocationRegistry', 'java.lang.Object', 'J size')
dump.define('libcore.util.NativeAllocationRegistry$CleanerThunk', 'java.lang.Object', 'L this$0')
dump.define('app.Picture', 'java.lang.Object', 'L pixels', 'L next')
dump.define('app.Main', 'java.lang.Object')
dump.define('app.Loader', 'java.lang.Object')
main = ('app.Main', 'main', 'Main.java', 12)
load = ('app.Loader', 'load', 'Loader.java', 40)
pictures = []
for i in range(3):
    dump.trace(load, main)
    last = dump.new('app.Picture', pixels=dump.numbers('I', [i] * 100), next=pictures[-1] if i else 0)
    pictures.append(last)
dump.trace(main)
registry = dump.new('libcore.util.NativeAllocationRegistry', size=5000)
thunk = dump.new('libcore.util.NativeAllocationRegistry$CleanerThunk', **{'this$0': registry})
cleaner = dump.new('sun.misc.Cleaner', referent=pictures[0], thunk=thunk)
dump.trace()
# One object that only its cleaner refers to, and one without referrers.
alone = dump.new('app.Picture', pixels=dump.numbers('I', [7] * 10))
waiting = dump.new('sun.misc.Cleaner', referent=alone, thunk=thunk)
lost = dump.new('sun.misc.Cleaner', referent=dump.new('app.Picture'), thunk=thunk)
dump.heap('zygote')
shared = dump.array('app.Picture', [pictures[-1]])
lonely = dump.new('app.Picture')
dump.heap('image')
boot = dump.new('app.Picture', next=lonely)
for name, kept in (('pictures', shared), ('cleaner', cleaner), ('boot', boot), ('waiting', waiting)):
    dump.static('app.Main', name, kept)
dump.root('sticky class', dump.class_of('app.Main').id)
dump.samples((30, 1), (10, 4), (60, 99))
dump.summary(1000, 20, 123456789012, 3000)
dump.write('app.hprof')
END
heapdb import app.hprof --quiet >/dev/null
heapdb query histogram --by heap
heapdb query histogram 'app.*' --heap zygote
heapdb query top --depth --limit 4 --csv
heapdb query dominator-tree --heap app --min 1
heapdb query merged-paths app.Picture --heap zygote
heapdb query native --heap app
heapdb diff app.heapdb app.heapdb --by path --heap zygote --min 0
heapdb diff app.heapdb app.heapdb --by dominator --heap zygote --min 0
heapdb query retained app.Picture "$(heapdb query native --objects --csv | sed -n '2s/,.*//p')"
heapdb query reference-stats
heapdb query reference-stats --by strength --no-retained
heapdb query unreachable
heapdb query unreachable --by holder
heapdb query unreachable --holders
heapdb query references "$(heapdb query instances 'app.Picture[]' --csv | sed -n '2s/,.*//p')"
heapdb query call-tree
heapdb query call-tree --heap zygote
heapdb query alloc-sites --csv
heapdb query cpu-samples
heapdb query heap-summaries
heapdb query top --heap cache
# ROOT UNREACHABLE is not a root: the record is counted, but does not make the object reachable. For an array without
# content the dump has the length.
PYTHONPATH="$HDB_ROOT/tests/oracle" PYTHONDONTWRITEBYTECODE=1 python3 - <<'END' >id
from android_dump import Dump

dump = Dump(sdk=28)
dump.define('app.Node', 'java.lang.Object', 'L next')
empty = dump.without_content('B', 1000)
kept = dump.new('app.Node', next=empty)
for node in kept, dump.new('app.Node', next=dump.new('app.Node')):
    dump.root('unreachable', node)
dump.static('app.Node', 'kept', kept)
dump.write('dalvik.hprof')
print(hex(empty))
END
heapdb import dalvik.hprof --quiet --verbose | grep roots
heapdb query unreachable --db dalvik.heapdb --csv
heapdb query roots --db dalvik.heapdb --csv
heapdb query records --db dalvik.heapdb --csv | grep UNREACHABLE
heapdb query object "$(cat id)" --db dalvik.heapdb --json | grep -o '"\(cut":"[^"]*\|row_count.*\)'
heapdb convert dalvik.hprof plain.hprof --quiet | grep bytes
heapdb import plain.hprof --quiet --verbose | grep roots
heapdb query unreachable --db plain.heapdb --csv
