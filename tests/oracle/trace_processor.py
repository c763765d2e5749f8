"""trace_processor.py java|native TRACE... - what Perfetto's own trace_processor (a path in TRACE_PROCESSOR) says of Java
heap graphs and of native heaps in traces, against what heapdb says: prints each difference, and what was compared."""
import collections
import csv
import io
import json
import os
import subprocess
import sys
import tempfile


def reference(trace, sql):
    """Rows of a statement."""
    with tempfile.NamedTemporaryFile('w', suffix='.sql') as f:
        f.write(sql)
        f.flush()
        done = subprocess.run([os.environ['TRACE_PROCESSOR'], '-q', f.name, trace], capture_output=True, text=True)
    if done.returncode:
        sys.exit('trace_processor: %s' % done.stderr)
    rows = list(csv.reader(io.StringIO(done.stdout)))[1:]
    return [[None if c == '[NULL]' else c for c in r] for r in rows]


def heapdb(*arguments):
    done = subprocess.run(['heapdb', *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit('heapdb %s: %s' % (' '.join(arguments), done.stderr))
    return done.stdout


def rows(*arguments):
    return json.loads(heapdb(*arguments, '--json', '--limit', 'all'))['rows']


class Comparison:
    def __init__(self):
        self.compared = collections.Counter()
        self.differences = 0

    def tables(self, what, have, expected):
        self.compared[what.split(':')[-1]] += len(expected)
        for key in sorted(set(have) | set(expected), key=str):
            if have.get(key, 0) != expected.get(key, 0):
                self.differences += 1
                print('%s: %s: heapdb %s, trace_processor %s' % (what, key, have.get(key), expected.get(key)))


# ---- native heaps ----

SITES = """select p.pid, p.name, a.heap_name, a.callsite_id, sum(max(a.count, 0)), -sum(min(a.count, 0)),
  sum(max(a.size, 0)), -sum(min(a.size, 0)) from heap_profile_allocation a join process p using (upid)
  group by 1, 2, 3, 4"""
FRAMES = """select c.id, c.parent_id, coalesce((select s.name from stack_profile_symbol s
    where s.symbol_set_id = f.symbol_set_id order by s.id desc limit 1),
    iif(f.name like '\\_%' escape '\\', f.name, coalesce(f.deobfuscated_name, f.name))), m.name, f.rel_pc
  from stack_profile_callsite c join stack_profile_frame f on f.id = c.frame_id
  join stack_profile_mapping m on m.id = f.mapping"""
FIGURES = 'allocations', 'deallocations', 'allocated', 'deallocated'


def native(trace, comparison):
    frames = {r[0]: r[1:] for r in reference(trace, FRAMES)}
    sites = reference(trace, SITES)
    heaps = {tuple(r[:3]) for r in sites}
    expected = collections.defaultdict(lambda: [0] * 4)
    for pid, process, heap, callsite, *figures in sites:
        path = []
        while callsite is not None:
            callsite, name, module, pc = frames[callsite]
            path.insert(0, (name or '0x%x' % int(pc)) + (' (%s)' % module.split('/')[-1] if module else ''))
        if len(heaps) > 1:
            path.insert(0, '%s (%s) %s' % (process or '?', pid, heap))
        for i in range(len(path)):
            for k, n in enumerate(figures):
                expected[tuple(path[:i + 1])][k] += int(n)
    have, path = {}, []
    for row in rows('allocations', trace, '--by', 'stack'):
        del path[row['level']:]
        path.append(row['name'])
        have[tuple(path)] = [row[f] for f in FIGURES]
    comparison.tables(trace + ': call stacks', have, expected)


# ---- Java heaps ----

GRAPHS = 'select upid, graph_sample_ts, min(id) from heap_graph_object group by 1, 2 order by 3'
OBJECTS = """select coalesce(c.deobfuscated_name, c.name), c.name, o.reachable, count(*), sum((o.self_size + 7) / 8 * 8),
  sum(o.native_size), sum(o.root_type is not null) from heap_graph_object o join heap_graph_class c on c.id = o.type_id
  where o.upid = %s and o.graph_sample_ts = %s group by 1, 2, 3"""
REFERENCES = """select coalesce(s.deobfuscated_name, s.name), coalesce(r.deobfuscated_field_name, r.field_name),
  coalesce(t.deobfuscated_name, t.name), iif(coalesce(r.field_name, '') = '',
    count(distinct r.owner_id || ' ' || r.owned_id), count(*))
  from heap_graph_reference r join heap_graph_object o on o.id = r.owner_id
  join heap_graph_class s on s.id = o.type_id join heap_graph_object p on p.id = r.owned_id
  join heap_graph_class t on t.id = p.type_id where o.upid = %s and o.graph_sample_ts = %s group by 1, 2, 3"""


def of_class(name):
    """X of java.lang.Class<X>, else None."""
    return name[16:-1] if name.startswith('java.lang.Class<') else None


def field_name(name):
    """Without its class; nothing for what has no name, and elements of arrays."""
    if not name or name.startswith(('[', 'runtimeInternal')):
        return ''
    return name.split('.')[-1].removeprefix('static ').removeprefix('$class$')


def java(trace, comparison):
    for no, (upid, time, _) in enumerate(reference(trace, GRAPHS), 1):
        what = '%s, graph %d' % (trace, no)
        heapdb('import', trace, '-o', 'compared.heapdb', '--force', '--quiet', '--snapshot', str(no))
        compare_graph(what, upid, time, comparison)


def compare_graph(what, upid, time, comparison):
    trace = what.rsplit(', graph', 1)[0]
    sql = lambda statement: [list(r.values()) for r in rows('sql', 'compared.heapdb', '--all', statement)]
    names = {int(ix, 16): name for ix, name in sql('select id, name from classes')}
    known = {int(ix, 16): (kind, name, int(reachable), size) for ix, kind, name, reachable, size in
             sql('select id, kind, class, reachable, shallow from objects')}
    # What trace_processor has as one object: strings with their characters, classes with their overhead.
    part_of = {}
    for ix, (kind, name, _, _) in known.items():
        if name in ('byte[]', 'java.lang.Object[]'):
            for step in (8, 1, 4):
                owner = known.get(ix - step, ('', ''))
                if step == 8 and owner[1] == 'java.lang.String' or step == 1 and owner[0] == 'class' or \
                        step == 4 and owner[0] and ix % 8 and name == 'java.lang.Object[]':
                    part_of[ix] = ix - step
    label = lambda ix: 'java.lang.Class<%s>' % names[ix] if known[ix][0] == 'class' else known[ix][1]
    told = reference(trace, OBJECTS % (upid, time))
    # Without any root heapdb takes unreferenced objects.
    has_roots = any(int(row[-1]) for row in told)
    have, sizes = collections.Counter(), collections.Counter()
    for ix, (kind, name, reachable, size) in known.items():
        owner = part_of.get(ix, ix)
        if owner == ix:
            have[label(ix), None if kind == 'class' or not has_roots else reachable] += 1
        if known[owner][0] != 'class' and (owner == ix or name == 'byte[]'):
            sizes[label(owner)] += size
    expected, expected_sizes, native = collections.Counter(), collections.Counter(), collections.Counter()
    for name, _, reachable, count, size, native_size, _ in told:
        expected[name, None if of_class(name) or not has_roots else int(reachable)] += int(count)
        expected_sizes[name] += 0 if of_class(name) else int(size)
        native[name] += int(native_size)
    # Classes without an object of their own have one in the database, and all that are loaded are reachable.
    have = {k: n for k, n in have.items() if not of_class(k[0]) or k in expected}
    comparison.tables(what + ': objects by class and reachability', have, expected)
    comparison.tables(what + ': sizes by class', sizes, +expected_sizes)
    comparison.tables(what + ': native sizes by class', {r['class']: r['native'] for r in rows(
        'query', 'native', '--all', '--db', 'compared.heapdb')}, +native)
    fields = collections.Counter()
    for source, target, name in sql('select source, target, name from refs where target is not null'):
        source, target = int(source, 16), int(target, 16)
        if target not in part_of and known[source][1] != 'byte[]':
            source = part_of.get(source, source)
            named = [field_name(f) for f in (name or '').split(', ') if not f.startswith('<')]
            for field in [f for f in named if f] + [''] * ('' in named):
                fields[label(source), field, label(target)] += 1
    expected = collections.Counter()
    for source, field, target, count in reference(trace, REFERENCES % (upid, time)):
        # An element that is the array's own class is its reference <class>.
        if field not in ('java.lang.Class.superClass', 'java.lang.Class.classLoader') and \
                (field_name(field) or target != 'java.lang.Class<%s>' % source):
            expected[source, field_name(field), target] += int(count)
    # References of the runtime (runtime_internal_object_id) are read by trace_processor since 2025.
    unnamed = {source for source, field, _ in expected if not field}
    fields = {k: n for k, n in fields.items() if k[1] or k[0] in unnamed}
    comparison.tables(what + ': references by class and field', fields, expected)


def main():
    comparison = Comparison()
    for trace in sys.argv[2:]:
        {'java': java, 'native': native}[sys.argv[1]](trace, comparison)
    for what, count in comparison.compared.items():
        print('compared%s: %d' % (what, count))
    print('differences: %d' % comparison.differences)
    return 1 if comparison.differences or not comparison.compared else 0


if __name__ == '__main__':
    sys.exit(main())
