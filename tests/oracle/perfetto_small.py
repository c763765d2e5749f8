"""perfetto_small.py - writes small.hprof, a dump of Android for tests of traces: fields of several classes, statics,
arrays, registered allocations of native memory whose cleaner has run and has not."""
from android_dump import Dump
dump = Dump()
dump.define('app.Base', 'java.lang.Object', 'L left', 'I number', 'L right')
dump.define('app.Node', 'app.Base', 'L next', 'J long')
dump.define('java.lang.ref.Reference', 'java.lang.Object', 'L referent')
dump.define('sun.misc.Cleaner', 'java.lang.ref.Reference', 'L next', 'L thunk')
dump.define('libcore.util.NativeAllocationRegistry', 'java.lang.Object', 'J size')
dump.define('libcore.util.NativeAllocationRegistry$CleanerThunk', 'java.lang.Object', 'L this$0')
nodes = [dump.new('app.Node')]
dump.next += 8  # addresses are multiples of 8, not all of 16
for i in range(300):
    nodes.append(dump.new('app.Node', left=nodes[i // 2], right=nodes[i // 3] if i % 5 else None, next=nodes[-1]))
kept = dump.array('app.Node', nodes[100:200] + [None, None])
dump.static('app.Main', 'kept', kept)
dump.static('app.Main', 'count', 7, 'I')
dump.static('app.Main', 'longs', dump.numbers('J', [1, 2, 3]))
for done in False, True:
    registry = dump.new('libcore.util.NativeAllocationRegistry', size=4097)
    thunk = dump.new('libcore.util.NativeAllocationRegistry$CleanerThunk', **{'this$0': registry})
    place = dump.address()
    owner = dump.new('app.Base')
    cleaner = dump.new('sun.misc.Cleaner', place, referent=owner, thunk=thunk, next=place if done else None)
    dump.static('app.Main', 'cleaner%d' % done, cleaner)
dump.write('small.hprof')
