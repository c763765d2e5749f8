"""mat_figures.py DUMP MAT_TABLE DATABASE: answers of queries against figures made of Eclipse MAT's table of all objects.

The table has address, class, shallow size, retained size and immediate dominator of every reachable object. Class
loaders, fields and threads are plain_dump.py's. The rules are MAT's (TopConsumers2Query, ImmediateDominatorsQuery,
DominatorQuery, the class loader histogram, CollectionFillRatioQuery, MapCollisionRatioQuery); where heapdb differs on
purpose, tests/README.md says so.
"""
import collections
import json
import math
import subprocess
import sys

import plain_dump

INVENTED = 0x1000  # MAT's own objects lie below
Row = collections.namedtuple('Row', 'name shallow retained dominator')
Sum = collections.namedtuple('Sum', 'count shallow retained')


class World:
    def __init__(self, dump, table):
        self.dump = plain_dump.Dump(dump)
        self.rows = {}
        self.children = collections.defaultdict(list)
        for line in open(table, encoding='utf-8'):
            at, name, shallow, retained, dominator = line.rstrip('\n').split('\t')
            at, dominator = int(at, 16), int(dominator, 16)
            if at < INVENTED:
                continue
            self.rows[at] = Row(name, int(shallow), int(retained), dominator)
            self.children[dominator].append(at)
        self.whole = sum(r.shallow for r in self.rows.values())
        self.sets = None

    def stands_for(self, at):
        """The class that an object is counted with: a class object stands for its class."""
        return at if at in self.dump.classes else self.dump.class_of(at)

    def name(self, at):
        return self.dump.classes[at].name if at in self.dump.classes else self.rows[at].name

    def loader_of(self, at):
        return self.dump.classes[self.stands_for(at)].loader

    def no_other_above(self, key):
        """Of all objects those that no object of the same group dominates."""
        groups_above, kept, stack = {}, [], [(at, frozenset()) for at in self.children[0]]
        while stack:
            at, above = stack.pop()
            group = key(at)
            if group not in above:
                kept.append(at)
                if self.children[at]:
                    above = groups_above.setdefault((above, group), above | {group})
            stack.extend((c, above) for c in self.children[at])
        return kept

    def loader_sets(self):
        """What each class loader retains at least with its class objects and their instances."""
        if self.sets is None:
            loaders = {c.loader for c in self.dump.classes.values()}

            def key(at):
                return at if at in loaders and at not in self.dump.classes else self.loader_of(at)

            self.sets = self.add_up(self.no_other_above(key), key)
        return self.sets

    def add_up(self, objects, key):
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for at in objects:
            s = sums[key(at)]
            s[0] += 1
            s[1] += self.rows[at].shallow
            s[2] += self.rows[at].retained
        return {k: Sum(*v) for k, v in sums.items()}


class Answers:
    def __init__(self, database):
        self.database, self.compared, self.bad = database, 0, 0

    def ask(self, query, *args):
        run = subprocess.run(['heapdb', 'query', query, *args, '--db', self.database, '--json', '--limit', 'all'],
                             stdout=subprocess.PIPE, check=True)
        # MAT omits small objects without a row for them.
        return [row for row in json.loads(run.stdout)['rows'] if not row.get('others')]

    def compare(self, what, have, want):
        self.compared += len(want)
        if have == want:
            return
        self.bad = 1
        print('DIFFERS:', what)
        for key in sorted(set(have) | set(want), key=str)[:100000]:
            if have.get(key) != want.get(key):
                print('  ', key, 'heapdb', have.get(key), 'MAT', want.get(key))


def consumers(world, answers, percent):
    """Top consumers: objects of the top level, by class, loader and package, above a share of the heap."""
    top = world.children[0]
    total = sum(world.rows[at].retained for at in top)
    least = total * percent // 100
    rows = answers.ask('top-consumers', '--threshold', str(percent))
    want = {at: world.rows[at].retained for at in top if world.rows[at].retained > least}
    have = {int(r['id'], 16): r['retained'] for r in rows if r['kind'] == 'object'}
    answers.compare('biggest objects', have, want)
    # Classes with the same name from two loaders are two rows.
    want = collections.Counter((world.name(c), s) for c, s in world.add_up(top, world.stands_for).items()
                               if s.retained > least)
    have = collections.Counter((r['name'], Sum(r['objects'], r['shallow'], r['retained'])) for r in rows
                               if r['kind'] == 'class')
    answers.compare('biggest classes', have, want)
    # A loader has the same retained size in all answers: with its classes and their instances.
    of_items, want = world.add_up(top, world.loader_of), {}
    for k, s in world.loader_sets().items():
        if s.retained > least:
            own = of_items.get(k, Sum(0, 0, 0))
            want[k] = Sum(own.count, own.shallow, s.retained)
    have = {int(r['id'], 16): Sum(r['objects'], r['shallow'], r['retained']) for r in rows if r['kind'] == 'loader'}
    answers.compare('biggest loaders', have, want)
    packages = collections.defaultdict(lambda: [0, 0, 0])
    for at in top:
        row, words = world.rows[at], world.name(world.stands_for(at)).split('.')
        for n in range(1, len(words) + 1):
            s = packages['.'.join(words[:n])]
            s[0] += 1
            s[1] += row.shallow
            s[2] += row.retained
    want = {k: Sum(*s) for k, s in packages.items() if s[2] > least}
    have = {r['name']: Sum(r['objects'], r['shallow'], r['retained']) for r in rows if r['kind'] == 'package'}
    answers.compare('biggest packages', have, want)


def loaders(world, answers):
    """The histogram by class loader, with the retained sizes that the dominator tree gives (MAT: minimum retained)."""
    all_of = world.add_up(world.rows, lambda at: world.dump.classes[world.dump.class_of(at)].loader)
    top_of = world.loader_sets()
    want = {k: Sum(s.count, s.shallow, top_of[k].retained) for k, s in all_of.items()}
    have = {int(r['id'], 16): Sum(r['objects'], r['shallow'], r['retained'])
            for r in answers.ask('histogram', '--by', 'loader') if r['objects']}
    answers.compare('histogram by loader', have, want)


def tree_by_class(world, answers):
    """
    The dominator tree grouped by class: members of a class below one group are one group. Objects of the class of the
    group that dominates them belong to that group.
    """
    def group_of(at):
        return ('class', at) if at in world.dump.classes else world.dump.class_of(at)

    least = world.whole // 200
    rows, at, have = answers.ask('dominator-tree', '--min', str(least)), [], collections.Counter()
    for row in rows:
        del at[row['level']:]
        at.append(row['name'])
        have[' / '.join(at), Sum(row['objects'], row['shallow'], row['retained'])] += 1
    want, stack = collections.Counter(), [('', world.children[0])]
    while stack:
        path, objects = stack.pop()
        groups = collections.defaultdict(list)
        for one in objects:
            groups[group_of(one)].append(one)
        for group, members in groups.items():
            retained, below, waiting = sum(world.rows[m].retained for m in members), [], list(members)
            while waiting:
                for child in world.children[waiting.pop()]:
                    same = group_of(child) == group
                    (waiting if same else below).append(child)
                    if same:
                        members.append(child)
            s = Sum(len(members), sum(world.rows[m].shallow for m in members), retained)
            if s.retained < least:
                continue
            name = ('class ' if members[0] in world.dump.classes else '') + world.name(members[0])
            name = path + ' / ' + name if path else name
            want[name, s] += 1
            stack.append((name, below))
    answers.compare('dominator tree by class', have, want)


def immediate_dominators(world, answers, name, skip):
    """Dominators by class of the objects of a class; skipped packages do not count."""
    want = collections.defaultdict(lambda: [set(), 0, 0])
    for at, row in world.rows.items():
        if at in world.dump.classes or row.name != name:
            continue
        above = row.dominator
        while above and skip and world.name(above).startswith(skip):
            above = world.rows[above].dominator
        kind = '<root>' if not above else ('class ' if above in world.dump.classes else '') + world.name(above)
        if kind != '<root>':
            want[kind][0].add(above)
        want[kind][1] += 1
        want[kind][2] += row.shallow
    have = collections.defaultdict(lambda: [0, 0, 0])
    args = [name] + ['--skip', ','.join(p + '*' for p in skip) or 'none']
    for row in answers.ask('immediate-dominators', *args):
        # Here several rows have the same class name.
        have[row['name']][0] += row['objects'] or 0
        have[row['name']][1] += row['dominated_objects']
        have[row['name']][2] += row['dominated_shallow']
    answers.compare('immediate dominators of ' + name, {k: tuple(v) for k, v in have.items()},
                    {k: (len(v[0]), v[1], v[2]) for k, v in want.items()})


def threads(world, answers):
    have = {int(r['id'], 16): r['retained'] for r in answers.ask('threads', '--no-stack', '--all')
            if r['id'] and int(r['id'], 16) in world.rows}
    want = {at: world.rows[at].retained for at in world.rows if at not in world.dump.classes and
            'java.lang.Thread' in {world.dump.classes[c].name for c in world.dump.line(world.dump.class_of(at))}}
    answers.compare('threads', have, want)


class Collections:
    """Size, capacity and places in use of collections, each read off its fields."""
    # class: field of the size (None: entries are counted), of the array, whether it has chains
    KNOWN = {
        'java.util.HashMap': ('size', 'table', True), 'java.util.Hashtable': ('count', 'table', True),
        'java.util.WeakHashMap': ('size', 'table', True),
        'java.util.concurrent.ConcurrentHashMap': (None, 'table', True),
        'java.util.ArrayList': ('size', 'elementData', False),
        'java.util.Vector': ('elementCount', 'elementData', False),
        'java.util.PriorityQueue': ('size', 'queue', False),
        'java.util.ArrayDeque': ('', 'elements', False),
    }

    def __init__(self, world):
        self.world, self.dump, self.lines = world, world.dump, {}

    def classes_of(self, name, at):
        """The names of its class and those above it, of instances."""
        if name not in self.lines:
            kind, c = self.dump.objects[at][:2]
            self.lines[name] = {self.dump.classes[k].name for k in self.dump.line(c)} if kind == 'instance' else set()
        return self.lines[name]

    def value(self, at, name):
        for _, field, _, value in self.dump.fields(at):
            if field == name:
                return value
        return None

    def slots(self, array):
        if array not in self.dump.objects or self.dump.objects[array][0] != 'objects':
            return None
        return [v for _, v in self.dump.edges(array)]

    def entries(self, slots):
        count = 0
        for at in slots:
            seen = set()
            while at in self.dump.objects and at not in seen:
                seen.add(at)
                names = {n: v for _, n, _, v in self.dump.fields(at)}
                if 'first' in names and 'root' in names:  # a bucket that became a tree keeps the list, too
                    at = names['first']
                    continue
                count += 'key' in names
                at = names.get('next', 0)
        return count

    def measure(self, at, size_field, array_field):
        """(size, capacity, slots in use)"""
        inner = self.value(at, 'map')
        if inner in self.dump.objects:  # Properties since JDK 9
            at, size_field = inner, None
        array = self.value(at, array_field)
        slots = self.slots(array)
        if slots is None:
            return (self.value(at, size_field) if size_field else 0), 0, 0
        if size_field is None:
            size = self.entries(slots)
        elif not size_field:
            size = len(slots)
        else:
            size = self.value(at, size_field)
        return size, self.dump.objects[array][2], len(slots)

    def step(self, ratio, segments=5):
        """The upper end of the step that a ratio lies in, as MAT's linear frequency distribution has it."""
        return round(math.ceil(round(ratio * segments, 9)) / segments, 6)

    def compare(self, answers, name, fields):
        size_field, array_field, chain = fields
        want_fill, want_collisions = collections.defaultdict(lambda: [0] * 3), collections.defaultdict(lambda: [0] * 3)
        for at, row in self.world.rows.items():
            if at in self.dump.classes or name not in self.classes_of(row.name, at):
                continue
            size, capacity, used = self.measure(at, size_field, array_field)
            if capacity:
                one = want_fill[self.step(min(1, size / capacity))]
            else:
                one = want_fill[1.0]  # MAT: no waste is reported of what has no room
            for i, n in enumerate((1, size, capacity)):
                one[i] += n
            if chain and size:
                one = want_collisions[self.step((size - used) / size)]
                for i, n in enumerate((1, size, used)):
                    one[i] += n
        if not want_fill:
            return
        have = {round(r['at_most'], 6): (r['objects'], r['elements'], r['capacity'] or 0)
                for r in answers.ask('collections', name, '--by', 'fill')
                if r['objects']}
        answers.compare('fill of ' + name, have, {k: tuple(v) for k, v in want_fill.items()})
        if not chain:
            return
        rows = answers.ask('collections', name, '--by', 'collisions')
        have = {round(r['at_most'], 6): (r['objects'], r['elements'],
                                         round(r['elements'] * (1 - (r['collisions'] or 0)))) for r in rows if r['objects']}
        answers.compare('collisions of ' + name, have, {k: tuple(v) for k, v in want_collisions.items()})


def main(dump, table, database):
    world, answers = World(dump, table), Answers(database)
    for percent in (1, 5):
        consumers(world, answers, percent)
    loaders(world, answers)
    tree_by_class(world, answers)
    for name in ('java.lang.String', 'byte[]', 'char[]', 'java.util.HashMap$Node', 'java.lang.Object[]'):
        immediate_dominators(world, answers, name, ())
        immediate_dominators(world, answers, name, ('java.', 'javax.', 'com.sun.', 'sun.', 'jdk.'))
    threads(world, answers)
    known = Collections(world)
    for name, fields in known.KNOWN.items():
        known.compare(answers, name, fields)
    print('%s: %d figures compared%s' % (dump.rsplit('/', 1)[-1], answers.compared, ', DIFFERENT' if answers.bad else ''))
    return answers.bad


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:4]))
