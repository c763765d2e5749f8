"""relations.py - asks a dump and its variants (variants.py) many questions, and looks for answers that cannot be right.

Usage: relations.py short|long DUMP...

No answer is known beforehand. What is looked at are relations that hold whatever the dump: rows add up to the totals
that the same answer states, a number that two answers show is the same, the table of all objects (`export objects`) is
consistent in itself and with every answer that names an object, and the same heap written in another way, or imported
and asked with other threads, budgets and in another order, gives the same answers. tests/README.md lists them.

Prints what does not hold, at most some lines of each kind; exit code 1 if there is any.
"""
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import variants

ID = re.compile(r'0x[0-9a-f]+')
MEANT_ID = re.compile(r'(?<!")0x[0-9a-f]+')
# What one kind of failure may print; all are counted.
SHOWN_MAX = 4
# Steps of a path that are looked at one by one.
STEPS_MAX = 20
# Seconds that one question may take.
PATIENCE = 900


class Failures:
    def __init__(self):
        self.counts = collections.Counter()
        self.checked = collections.Counter()
        self.where = ''

    def add(self, kind, text):
        self.counts[kind, self.where] += 1
        if self.counts[kind, self.where] <= SHOWN_MAX:
            print('FAILED [%s] %s: %s' % (kind, self.where, text), flush=True)

    def same(self, kind, a, b, text):
        self.checked[kind] += 1
        if a != b:
            self.add(kind, '%s: %r, %r' % (text, a, b))

    def true(self, kind, condition, text):
        self.checked[kind] += 1
        if not condition:
            self.add(kind, text)


fails = Failures()
runs = 0


class Answer:
    def __init__(self, code, text, error):
        self.code, self.text, self.error = code, text, error
        try:
            answer = json.loads(text) if text else {}
        except ValueError:
            fails.add('json', '%.200r' % text)
            answer = {}
        self.facts = answer.get('facts', {})
        self.rows = answer.get('rows', [])
        self.total = answer.get('total_rows', 0)

    def sum(self, column, **only):
        return sum(r[column] or 0 for r in self.rows if all(r[k] == v for k, v in only.items()))


def run(args):
    global runs
    runs += 1
    done = subprocess.run(['heapdb'] + args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
    return done.returncode, done.stdout.decode('utf-8', 'replace'), done.stderr.decode('utf-8', 'replace')


class Base:
    """A database in its own directory, and the answers so far."""

    def __init__(self, dump, folder, options=(), ask_options=()):
        os.makedirs(folder)
        self.path = os.path.join(folder, 'a.heapdb')
        self.ask_options = list(ask_options)
        self.answers = {}
        code, text, error = run(['import', dump, '-o', self.path, '--json', '--quiet'] + list(options))
        self.ok = code == 0
        self.error = error
        self.facts = json.loads(text)['facts'] if self.ok else {}

    def ask(self, *args):
        if args not in self.answers:
            self.answers[args] = Answer(*run(list(args) + ['--json', '--db', self.path, '--quiet'] + self.ask_options))
            if self.answers[args].code > 1:
                fails.add('exit', '%s: %d: %s' % (' '.join(args), self.answers[args].code,
                                                  self.answers[args].error[:200]))
        return self.answers[args]

    def query(self, *args):
        return self.ask('query', *args)


# ---- the table of all objects ----

class Heap:
    """All objects by `export objects`, and their dominator tree."""

    def __init__(self, base):
        code, text, error = run(['export', 'objects', '--all', '--invented', '--columns',
                                 'id,class,kind,shallow,retained,dominator,offset,reachable', '--format', 'tsv',
                                 '--db', base.path, '--quiet'] + base.ask_options)
        if code:
            fails.add('exit', 'export objects: %d: %s' % (code, error[:200]))
        self.cls, self.kind, self.shallow, self.retained, self.dominator, self.reachable = {}, {}, {}, {}, {}, {}
        self.invented = set() # the dump lacks them: they count nowhere, but may hold others
        for line in text.split('\n')[1:]:
            if not line:
                continue
            ident, cls, kind, shallow, retained, dominator, offset, reachable = line.split('\t')
            self.cls[ident], self.kind[ident] = cls, kind
            self.shallow[ident], self.retained[ident] = int(shallow), int(retained)
            self.dominator[ident] = dominator
            if offset == '':
                self.invented.add(ident)
            self.reachable[ident] = reachable in ('1', 'true', 'yes')
        self.children = {}
        for ident, above in self.dominator.items():
            if self.reachable[ident]:
                self.children.setdefault(above, []).append(ident)
        # The stand-in for the boot loader has the ID that also says "no object dominates it".
        self.top = [i for i in self.children.get('0x0', [])]
        self.total = sum(s for i, s in self.shallow.items() if self.reachable[i] and i not in self.invented)
        # Retained sizes count the objects that the dump lacks, too.
        self.retained_total = sum(s for i, s in self.shallow.items() if self.reachable[i])
        self.count = sum(1 for i in self.cls if self.reachable[i] and i not in self.invented)

    def below(self, ident):
        """The objects that it dominates, itself included."""
        found, stack = [], [ident]
        while stack:
            i = stack.pop()
            found.append(i)
            stack += self.children.get(i, ()) if i != '0x0' else ()
        return found

    def above(self, ident):
        """Its dominators, the nearest first."""
        found = []
        while True:
            ident = self.dominator.get(ident)
            if not ident or ident == '0x0':
                return found
            found.append(ident)

    def tops(self, key):
        """Retained bytes by key: of the objects that no other object of their key dominates."""
        sums, counts = collections.Counter(), collections.Counter()
        stack = [(i, None) for i in self.top]
        on_path = collections.Counter()
        while stack:
            ident, leaving = stack.pop()
            if leaving is not None:
                on_path[leaving] -= 1
                continue
            k = key(ident)
            if not on_path[k]:
                sums[k] += self.retained[ident]
            counts[k] += 1
            kids = self.children.get(ident) if ident != '0x0' else None
            if kids:
                on_path[k] += 1
                stack.append((ident, k))
                stack += [(kid, None) for kid in kids]
        return sums


def check_tree(heap):
    """Each object retains itself and the retained sizes of the objects it dominates; no object is in two places."""
    total = 0
    for ident in heap.cls:
        if not heap.reachable[ident]:
            fails.true('tree', heap.retained[ident] == 0, '%s is unreachable and retains %d' %
                       (ident, heap.retained[ident]))
            continue
        if ident == '0x0':
            continue
        kids = heap.children.get(ident, ())
        fails.same('tree', heap.retained[ident], heap.shallow[ident] + sum(heap.retained[k] for k in kids),
                   '%s retains itself and what it dominates' % ident)
        total += heap.shallow[ident]
    fails.same('tree', sum(heap.retained[i] for i in heap.top if i != '0x0'),
               total, 'the top level retains all that is reachable')


# ---- relations of answers ----

def split_off(base, heap, ident):
    """
    The objects that `leaks` does not count with a suspect, though it dominates them: a class is split by its static
    fields, so what the large ones hold are suspects of their own, and the class is the suspect for the rest.
    """
    own = [r['id'] for r in base.query('leaks', '--brief').rows if r['kind'] == 'suspect']
    return {i for top in own if ident in heap.above(top) for i in heap.below(top)}


def by_name(answer, *columns):
    found = {}
    for r in answer.rows:
        key = r['name'] if len(columns) < 2 else tuple(r[c] for c in columns)
        found[key] = r
    return found


def check_objects(base, heap, rng):
    """Every row that names an object shows its shallow and retained size as the table of all objects does."""
    for args, answer in list(base.answers.items()):
        if '--exclude' in args and args[1] == 'retained':
            continue
        if args[0] != 'query' or args[1] in ('diff', 'histogram', 'unreachable', 'collections', 'class', 'arrays',
                                             'duplicates', 'group-by-value', 'merged-paths', 'dominator-tree', 'strings', 'substrings',
                                             'immediate-dominators', 'loaders', 'duplicate-classes', 'finalizers',
                                             'triage', 'reference-leaks'):
            continue
        grouped = '--by' in args and args[args.index('--by') + 1] != 'object'
        for r in answer.rows:
            ident = r.get('id')
            if not ident or ident not in heap.cls or grouped or ident == '0x0':
                continue
            if args[1] == 'top-consumers' and r['kind'] != 'object':
                continue
            if r.get('objects') not in (None, 1):
                continue
            if r.get('shallow') is not None:
                fails.same('object shallow', r['shallow'], heap.shallow[ident], '%s: %s' % (' '.join(args), ident))
            if r.get('retained') is not None:
                split = split_off(base, heap, ident) if args[1] == 'leaks' and r['kind'] == 'suspect' else ()
                fails.same('object retained', r['retained'], heap.retained[ident] - sum(heap.shallow[i] for i in split),
                           '%s: %s' % (' '.join(args), ident))
            if r.get('children') is not None:
                fails.same('object dominated', r['children'], len(heap.children.get(ident, ())),
                           '%s: %s' % (' '.join(args), ident))
            whole = answer.facts['retained'] if args[1] == 'top-consumers' else heap.retained_total
            if 'percent' in r and r.get('percent') is not None and args[1] != 'leaks' and whole:
                fails.true('percent', abs(r['percent'] - 100 * r['retained'] / whole) <= 0.006,
                           '%s: %s' % (' '.join(args), ident))


def check_histogram(base, heap):
    classes = base.query('histogram')
    f = classes.facts
    fails.same('histogram', f['objects'], heap.count, 'objects, of the table of all')
    fails.same('histogram', f['shallow'], heap.total, 'shallow, of the table of all')
    fails.same('histogram', f['groups'], len(classes.rows), 'groups')
    for by in 'class', 'package', 'loader':
        a = base.query('histogram', '--by', by)
        for column, fact in (('objects', 'objects'), ('shallow', 'shallow'), ('unreachable_objects', 'unreachable_objects'),
                             ('unreachable_shallow', 'unreachable_shallow')):
            fails.same('histogram sums', a.sum(column), a.facts[fact], 'histogram --by %s: %s' % (by, column))
        top = base.query('top', '--by', by)
        rows = {(r['name'], r.get('loader'), r.get('id')): r for r in a.rows}
        for r in top.rows:
            h = rows.get((r['name'], r.get('loader'), r.get('id')))
            if h is None and not r['objects']: # a class loader without instances
                continue
            if h is None:
                fails.add('top of histogram', 'top --by %s: %s is not in the histogram' % (by, r['name']))
                continue
            for column in 'objects', 'shallow', 'retained':
                fails.same('top of histogram', r[column], h[column], 'top --by %s: %s: %s' % (by, r['name'], column))
    counts, bytes_of = collections.Counter(), collections.Counter()
    lost, lost_bytes = collections.Counter(), collections.Counter()

    def class_of(ident):
        return 'java.lang.Class' if heap.kind[ident] == 'class' else heap.cls[ident]

    for ident in heap.cls:
        if ident in heap.invented:
            continue
        name = class_of(ident)
        if heap.reachable[ident]:
            counts[name] += 1
            bytes_of[name] += heap.shallow[ident]
        else:
            lost[name] += 1
            lost_bytes[name] += heap.shallow[ident]
    retained = heap.tops(class_of)
    names = collections.Counter(r['name'] for r in classes.rows)
    for r in classes.rows:
        if names[r['name']] > 1: # of several loaders
            continue
        what = 'histogram: ' + r['name']
        fails.same('histogram of objects', r['objects'], counts[r['name']], what + ': count')
        fails.same('histogram of objects', r['shallow'], bytes_of[r['name']], what + ': shallow')
        fails.same('histogram of objects', r['unreachable_objects'], lost[r['name']], what + ': unreachable')
        fails.same('histogram of objects', r['unreachable_shallow'], lost_bytes[r['name']], what + ': unreachable')
        fails.same('histogram retained', r['retained'], retained[r['name']], what)
    for r in classes.rows:
        fails.true('histogram retained', r['shallow'] <= r['retained'] <= f['shallow'] or not r['objects'],
                   'histogram: %s: %d, %d' % (r['name'], r['shallow'], r['retained']))
    everything = base.query('histogram', '--shallow')
    rows = {r['id']: r for r in classes.rows}
    for r in everything.rows:
        h = rows.get(r['id'], {'objects': 0, 'shallow': 0, 'unreachable_objects': 0, 'unreachable_shallow': 0})
        fails.same('histogram --shallow', r['objects'], h['objects'] + h['unreachable_objects'], r['name'] + ': count')
        fails.same('histogram --shallow', r['shallow'], h['shallow'] + h['unreachable_shallow'],
                   r['name'] + ': shallow')
    fails.same('histogram --shallow', everything.facts['objects'], everything.sum('objects'), 'objects')
    fails.same('histogram --shallow', everything.facts['shallow'], everything.sum('shallow'), 'shallow')
    some = base.query('histogram', 'java.util.*')
    fails.same('pattern', some.rows, [r for r in classes.rows if r['name'].startswith('java.util.')],
               'histogram java.util.*')
    info = {(r['section'], r['key']): r['number'] for r in base.ask('info').rows}
    fails.same('info', info['objects', 'reachable'], f['objects'], 'reachable')
    fails.same('info', info['objects', 'reachable bytes'], f['shallow'], 'reachable bytes')
    fails.same('info', info['objects', 'unreachable'], f['unreachable_objects'], 'unreachable')
    fails.same('info', info['objects', 'unreachable bytes'], f['unreachable_shallow'], 'unreachable bytes')
    fails.same('info', info['objects', 'objects'], f['objects'] + f['unreachable_objects'], 'objects')
    fails.same('info', sum(info['objects', k] for k in ('instances', 'object arrays', 'primitive arrays',
                                                         'class objects')), info['objects', 'objects'], 'kinds')
    sizes = {(r['section'], r['key']): r['number'] for r in base.query('sizes').rows}
    if ('totals', 'bytes') in sizes:
        fails.same('info', sizes['totals', 'bytes'], f['shallow'] + f['unreachable_shallow'], 'sizes: bytes')
    a = base.query('unreachable')
    rows = {r['name']: r for r in a.rows}
    if max(names.values()) == 1:
        for r in classes.rows:
            u = rows.get(r['name'], {'objects': 0, 'shallow': 0})
            fails.same('unreachable', u['objects'], r['unreachable_objects'], 'unreachable: ' + r['name'])
            fails.same('unreachable', u['shallow'], r['unreachable_shallow'], 'unreachable: ' + r['name'])
    for by in 'class', 'package', 'loader', 'holder':
        a = base.query('unreachable', '--by', by)
        fails.same('unreachable', a.sum('objects'), a.facts['unreachable_objects'], 'unreachable --by %s: objects' % by)
        fails.same('unreachable', a.sum('shallow'), a.facts['unreachable_shallow'], 'unreachable --by %s' % by)
        fails.same('unreachable', a.facts['unreachable_objects'], f['unreachable_objects'], 'facts')
        fails.same('unreachable', a.facts['unreachable_shallow'], f['unreachable_shallow'], 'facts')
        if by == 'holder':
            fails.same('unreachable', a.sum('holders'), a.facts['holders'], 'holders')
            one = base.query('unreachable', '--holders')
            fails.same('unreachable', one.sum('objects'), a.facts['unreachable_objects'], 'unreachable --holders')
            fails.same('unreachable', one.total, a.facts['holders'], 'unreachable --holders')
    listed = base.query('class', '*', '--list', '--all')
    fails.same('class list', listed.sum('instances'), f['objects'] + f['unreachable_objects'], 'instances')
    rows = {r['id']: r for r in classes.rows}
    for r in base.query('class', '*', '--list').rows:
        fails.same('class list', r['instances'], rows.get(r['id'], {'objects': 0})['objects'], r['class'] + ': reachable')
    for r in listed.rows:
        h = rows.get(r['id'], {'objects': 0, 'unreachable_objects': 0})
        fails.same('class list', r['instances'], h['objects'] + h['unreachable_objects'], r['class'])


def check_dominators(base, heap):
    a = base.query('dominators')
    f = a.facts
    fails.same('dominators', f['children'], len([i for i in heap.top if i != '0x0']), 'children')
    fails.same('dominators', len(a.rows), f['children'], 'rows')
    fails.same('dominators', a.sum('retained'), f['heap_shallow'], 'the top level retains all')
    fails.same('dominators', f['heap_shallow'], heap.total, 'heap_shallow')
    fails.same('dominators', sorted(r['id'] for r in a.rows), sorted(i for i in heap.top if i != '0x0'), 'IDs')
    top = base.query('top')
    fails.same('dominators', top.total, f['children'], 'top is the top level')
    for by in 'class', 'package', 'loader':
        b = base.query('dominators', '--by', by)
        fails.same('dominators --by', b.sum('objects'), f['children'], by + ': count')
        fails.same('dominators --by', b.sum('retained'), f['heap_shallow'], by + ': retained')
        fails.same('dominators --by', b.sum('shallow'), a.sum('shallow'), by + ': shallow')
    c = base.query('top-consumers')
    fails.same('top-consumers', c.facts['objects'], f['children'], 'items')
    fails.same('top-consumers', c.facts['retained'], f['heap_shallow'], 'retained')
    c = base.query('top-consumers', '--threshold', '0')
    for kind in 'object', 'class', 'loader':
        fails.same('top-consumers', c.sum('objects', kind=kind), f['children'], kind + ': count')
        if kind != 'loader': # a loader retains with all its classes, whoever holds them
            fails.same('top-consumers', c.sum('retained', kind=kind), f['heap_shallow'], kind + ': retained')
    fails.same('top-consumers', c.sum('retained', kind='package', level=0), f['heap_shallow'], 'packages')
    fails.same('top-consumers', c.sum('objects', kind='package', level=0), f['children'], 'packages')
    check_levels(c.rows and [r for r in c.rows if r['kind'] == 'package'], 'consumers --threshold 0', 'objects', 'objects',
                 equal=False, own=False) # a class may be called as a package


def check_levels(rows, what, own_column, total_column, equal, own=True):
    """What rows of a tree say of themselves and what is below adds up: all of it (equal), or at least no more."""
    stack = []

    def leave():
        r, below, kids = stack.pop()
        if r.get('others') is not None: # stands for nodes that are not shown
            return
        mine = r[own_column] if own else 0
        if equal and (own or kids):
            fails.same('tree rows', r[total_column], mine + below, '%s: %s at level %d: %s' %
                       (what, r['name'], r['level'], total_column))
        else:
            fails.true('tree rows', r[total_column] >= mine + below, '%s: %s at level %d: %s %d, below %d' %
                       (what, r['name'], r['level'], total_column, r[total_column], mine + below))

    for r in rows:
        while stack and stack[-1][0]['level'] >= r['level']:
            leave()
        if stack:
            stack[-1][1] += r[total_column]
            stack[-1][2] += 1
        stack.append([r, 0, 0])
    while stack:
        leave()


def check_trees(base, heap, small):
    for by in 'class', 'package', 'loader':
        for least in ('1', None) if small else (None,):
            args = ['dominator-tree', '--by', by] + (['--min', least] if least else [])
            a = base.query(*args)
            what = ' '.join(args)
            f = a.facts
            fails.same('dominator-tree', f['heap_shallow'], heap.total, what + ': shallow_total')
            top = [r for r in a.rows if r['level'] == 0]
            fails.same('dominator-tree', sum(r['retained'] for r in top), heap.total, what + ': level 0')
            fails.same('dominator-tree', sum(r['retained_objects'] for r in top), heap.count, what + ': level 0')
            check_levels(a.rows, what, 'objects', 'retained_objects', True)
            check_levels(a.rows, what, 'shallow', 'retained', True)
            cut = [r for r in a.rows if r.get('others') is not None]
            if cut:
                fails.same('cut', (f['cut_objects'], f['cut_bytes']),
                           tuple(sum(r[c] for r in cut) for c in ('retained_objects', 'retained')), what)
                fails.true('cut', f['cut_rows'] >= sum(r['others'] for r in cut), what)
    for target in 'java.lang.String', 'byte[]', 'java.util.*':
        sets = base.query('retained', target)
        if sets.code:
            continue
        for by in 'class', 'package', 'loader', 'field':
            a = base.query('merged-paths', target, '--by', by)
            what = 'paths %s --by %s' % (target, by)
            f = a.facts
            fails.same('merged-paths', f['objects'], sets.rows[0]['objects'], what + ': objects')
            fails.same('merged-paths', f['shallow'], sets.rows[0]['shallow'], what + ': shallow')
            top = [r for r in a.rows if r['level'] == 0]
            fails.same('merged-paths', sum(r['below_objects'] for r in top) + f['without_path'], f['objects'], what + ': level 0')
            check_levels(a.rows, what, 'objects', 'below_objects', True)
            check_levels(a.rows, what, 'shallow', 'below_shallow', True)
        a = base.query('immediate-dominators', target)
        fails.same('immediate', a.facts['objects'], sets.rows[0]['objects'], target + ': objects')
        fails.same('immediate', a.sum('dominated_objects'), a.facts['objects'], target + ': dominated')
        fails.same('immediate', a.sum('dominated_shallow'), a.facts['shallow'], target + ': dominated_shallow')
    a = base.query('big-drops')
    for r in a.rows:
        kids = heap.children.get(r['id'], ())
        fails.same('big-drops', r['largest'], max((heap.retained[k] for k in kids), default=0), 'largest of ' + r['id'])
        if r['holder_id']:
            fails.true('big-drops', r['holder_id'] in heap.above(r['id']), 'the holder dominates ' + r['id'])
            fails.same('big-drops', r['holder_retained'], heap.retained[r['holder_id']], 'holder of ' + r['id'])


def check_leaks(base, heap):
    a = base.query('leaks')
    f = a.facts
    fails.same('leaks', f['heap_shallow'], heap.total, 'shallow')
    histogram = {}
    for r in base.query('histogram').rows:
        h = histogram.setdefault(r['name'], collections.Counter())
        for column in 'objects', 'shallow', 'retained':
            h[column] += r[column]
    names = collections.Counter(r['name'] for r in base.query('histogram').rows)
    suspects = {}
    for r in a.rows:
        if r['suspect'] is not None:
            suspects.setdefault(r['suspect'], []).append(r)
    listed = sum(1 for rows in suspects.values() if rows[0]['kind'] == 'suspect')
    fails.same('leaks', f['suspects'], listed, 'suspects')
    brief = [r for r in base.query('leaks', '--brief').rows if r['kind'] == 'suspect']
    fails.same('leaks', [(r['id'], r['class'], r['retained']) for r in brief],
               [(rows[0]['id'], rows[0]['class'], rows[0]['retained']) for rows in suspects.values()
                if rows[0]['kind'] == 'suspect'], 'leaks --brief')
    for number, rows in suspects.items():
        suspect = rows[0]
        what = 'suspect %s (%s)' % (number, suspect['class'])
        point = next((r for r in rows if r['kind'] == 'point'), None)
        if suspect['kind'] == 'suspect':
            fails.true('leaks', suspect['retained'] > f['threshold'] or suspect['retained'] == 0,
                       what + ' is above the threshold')
        if suspect['id'] and point:
            fails.true('leaks', point['id'] == suspect['id'] or suspect['id'] in heap.above(point['id']),
                       what + ' dominates its point')
        inside = None
        if suspect['id'] in heap.cls:
            inside = collections.Counter(), collections.Counter()
            for i in set(heap.below(suspect['id'])) - split_off(base, heap, suspect['id']):
                name = 'java.lang.Class' if heap.kind[i] == 'class' else heap.cls[i]
                inside[0][name] += 1
                inside[1][name] += heap.shallow[i]
        elif suspect['kind'] == 'suspect' and suspect['class'] in histogram:
            h = histogram[suspect['class']]
            fails.true('leaks', suspect['objects'] <= h['objects'], what + ': more objects than the histogram has')
            fails.true('leaks', suspect['retained'] <= h['retained'], what + ': retains more than the class')
        sums = collections.Counter()
        for r in rows:
            if r['kind'] == 'content' and r['class'] in histogram:
                h = histogram[r['class']]
                for column in 'objects', 'shallow':
                    fails.true('leaks contents', r[column] <= h[column], '%s: %s: %s %d, histogram %d' %
                               (what, r['class'], column, r[column], h[column]))
                if inside:
                    fails.same('leaks contents', (r['objects'], r['shallow']),
                               (inside[0][r['class']], inside[1][r['class']]), '%s: %s' % (what, r['class']))
            if r['kind'] in ('content', 'child', 'element'):
                sums[r['kind']] += r['shallow'] if r['kind'] == 'content' else r['retained']
            if r['kind'] in ('child', 'element') and r['class'] in histogram:
                fails.true('leaks children', r['objects'] <= histogram[r['class']]['objects'], '%s: %s of %s' %
                           (what, r['kind'], r['class']))
        fails.true('leaks sums', sums['content'] <= suspect['retained'], '%s: contents %d of %d' %
                   (what, sums['content'], suspect['retained']))
        if point:
            for kind in 'child', 'element':
                fails.true('leaks sums', sums[kind] <= point['retained'], '%s: %s %d of %d' %
                           (what, kind, sums[kind], point['retained']))
            below = heap.children.get(point['id'], ())
            if sums['child']:
                fails.same('leaks sums', sums['child'], sum(heap.retained[k] for k in below), what + ': all children')
            kids = collections.Counter('java.lang.Class' if heap.kind[k] == 'class' else heap.cls[k] for k in below)
            for r in rows:
                if r['kind'] == 'child' and r['class'] in kids and names[r['class']] == 1:
                    fails.same('leaks children', r['objects'], kids[r['class']], '%s: children of class %s' %
                               (what, r['class']))


def check_waste(base, heap):
    h = base.query('histogram')
    arrays = [r for r in h.rows if r['name'].endswith('[]')]
    a = base.query('arrays')
    fails.same('arrays', a.facts['objects'], sum(r['objects'] for r in arrays), 'arrays, by the histogram')
    fails.same('arrays', a.facts['shallow'], sum(r['shallow'] for r in arrays), 'shallow, by the histogram')
    for by in 'class', 'length':
        b = base.query('arrays', '--by', by)
        fails.same('arrays', b.sum('objects'), b.facts['found'], by + ': count')
        fails.same('arrays', b.sum('shallow'), b.facts['found_shallow'], by + ': shallow')
        for column in 'empty', 'empty_shallow', 'zero', 'zero_shallow', 'constant', 'constant_shallow', 'trailing_zeros', 'trailing_wasted':
            fails.same('arrays', b.sum(column), a.sum(column), '%s: %s' % (by, column))
    for kind, column in (('empty', 'empty'), ('zero', 'zero'), ('constant', 'constant'), ('trailing-zeros', 'trailing_zeros')):
        b = base.query('arrays', '--' + kind)
        fails.same('arrays', b.facts['found'], a.sum(column), '--' + kind)
        fails.same('arrays', b.sum('objects'), b.facts['found'], '--%s: count' % kind)
        fails.same('arrays', b.sum('wasted'), b.facts['wasted'], '--%s: wasted' % kind)
    strings = base.query('strings')
    f = strings.facts
    fails.same('strings', strings.sum('objects') + f['without_text'], f['objects'], 'objects')
    fails.same('strings', len(strings.rows), f['texts'], 'texts')
    own = [r for r in h.rows if r['name'] == 'java.lang.String']
    if own and strings.rows:
        counts = own[0]['objects'], own[0]['objects'] + own[0]['unreachable_objects']
        fails.true('strings', f['objects'] in counts, 'strings: %d, histogram: %d or %d' % ((f['objects'],) + counts))
    for by in 'prefix', 'length', 'encoding':
        b = base.query('strings', '--by', by)
        for column in 'objects', 'shallow', 'array_shallow', 'total_shallow':
            fails.same('strings', b.sum(column), strings.sum(column), 'strings --by %s: %s' % (by, column))
    for r in strings.rows:
        fails.true('strings', r['total_shallow'] == r['shallow'] + r['array_shallow'], 'total of %.40r' % r['text'])
    triage = {r['rule']: r for r in base.query('triage', '--all').rows}
    for option in (), ('--arrays',):
        a = base.query('duplicates', *option)
        f = a.facts
        fails.same('duplicates', a.sum('wasted'), f['wasted'], 'wasted %s' % (option,))
        fails.same('duplicates', len(a.rows), f['duplicated'], 'duplicated %s' % (option,))
        fails.same('duplicates', a.sum('objects') - len(a.rows), f['copies'], 'copies %s' % (option,))
        fails.same('duplicates', f['heap_shallow'], heap.total, 'heap')
        if not option and own:
            fails.same('duplicates', f['objects'] + f['without_content'], own[0]['objects'], 'strings')
    a = base.query('substrings')
    shared = base.query('substrings', '--shared')
    fails.same('substrings', len(shared.rows), shared.facts['shared'], 'shared')
    fails.true('substrings', a.sum('wasted') <= a.facts['wasted'], 'wasted')
    for arrays in (), ('--arrays',):
        a = base.query('collections', *arrays)
        for by in 'class', 'size', 'fill', 'collisions', 'object':
            if arrays and by == 'collisions':
                continue
            b = base.query('collections', '--by', by, *arrays)
            if 'objects' in (b.rows[0] if b.rows else {}) and by in ('class', 'size'):
                fails.same('collections', b.sum('objects'), b.facts['objects'] -
                           (b.facts.get('without_size', 0) if by == 'size' and
                            not any(r['size'] is None for r in b.rows) else 0), 'count by %s %s' % (by, arrays))
            if b.rows and 'elements' in b.rows[0]:
                if by in ('class', 'size'):
                    fails.same('collections', b.sum('elements'), b.facts['elements'], 'elements by %s' % by)
            if b.rows and 'wasted' in b.rows[0] and by in ('class', 'object'):
                fails.same('collections', b.sum('wasted'), b.facts['wasted'], 'wasted by %s' % by)
            if by == 'object':
                fails.same('collections', len(b.rows), b.facts['objects'], 'by object')
            fails.same('collections', b.facts['objects'], a.facts['objects'], 'facts by %s' % by)
            if by != 'collisions':
                fails.same('collections', b.facts['elements'], a.facts['elements'], 'facts by %s' % by)
    for cls in 'java.lang.Integer', 'java.lang.String', 'java.lang.Thread':
        g = base.query('group-by-value', cls, *(['--subclasses'] if cls.endswith('Thread') else []))
        if g.code:
            continue
        fails.same('group-by-value', g.sum('objects'), g.facts['objects'], cls + ': count')
        fails.same('group-by-value', len(g.rows), g.facts['values'], cls + ': values')
        rows = [r for r in h.rows if r['name'] == cls]
        if len(rows) == 1 and not cls.endswith('Thread'):
            r = rows[0]
            reachable = g.facts.get('counted') == 'reachable'
            fails.same('group-by-value', g.facts['objects'], r['objects'] + (0 if reachable else r['unreachable_objects']), cls)
            fails.same('group-by-value', g.sum('shallow'), r['shallow'] + (0 if reachable else r['unreachable_shallow']), cls)
            if reachable:
                fails.same('group-by-value', (g.facts['unreachable_objects'], g.facts['unreachable_shallow']),
                           (r['unreachable_objects'], r['unreachable_shallow']), cls)
    stats = base.query('reference-stats')
    f = stats.facts
    fails.same('reference-stats', sum(f[s + '_objects'] for s in ('strong', 'soft', 'weak', 'finalizer', 'phantom')),
               heap.count, 'objects by strength')
    fails.same('reference-stats', sum(f[s + '_shallow'] for s in ('strong', 'soft', 'weak', 'finalizer', 'phantom')),
               heap.total, 'bytes by strength')
    for by in 'class', 'referent', 'strength':
        b = base.query('reference-stats', '--by', by)
        fails.same('reference-stats', b.sum('objects'), f['references'], by + ': count')
        fails.same('reference-stats', b.sum('cleared'), stats.sum('cleared'), by + ': cleared')
        for r in b.rows:
            fails.true('reference-stats', r['only_shallow'] <= (r['only_retained'] or 0), by + ': %s' % r)
    a = base.query('finalizers')
    one = base.query('finalizers', '--objects')
    for state in 'registered', 'queued', 'running', 'finalized':
        fails.same('finalizers', a.sum('objects', state=state), a.facts[state], state)
        fails.same('finalizers', len([r for r in one.rows if r['state'] == state]), a.facts[state], state + ' --objects')
    leaks = base.query('reference-leaks')
    one = base.query('reference-leaks', '--objects')
    fails.same('reference-leaks', leaks.sum('objects'), leaks.facts['leaks'], 'objects')
    fails.same('reference-leaks', len(one.rows), leaks.facts['leaks'], '--objects')
    if 'duplicate-strings' in triage and triage['duplicate-strings']['count'] is not None:
        d = base.query('duplicates').facts
        fails.same('triage', (triage['duplicate-strings']['bytes'], triage['duplicate-strings']['count']),
                   (d['wasted'], d['copies']), 'duplicate-strings, as duplicates')
    if 'weak-only' in triage:
        fails.same('triage', (triage['weak-only']['count'], triage['weak-only']['bytes']),
                   tuple(sum(stats.facts[s + k] for s in ('soft', 'weak', 'finalizer', 'phantom')) for k in ('_objects', '_shallow'))
                   if triage['weak-only']['count'] else (0, 0), 'weak-only')
    # where the maximum heap size is not known, nothing was counted
    if 'heap-full' in triage and triage['heap-full']['count']:
        fails.same('triage', triage['heap-full']['bytes'], heap.total, 'heap-full')
    if 'threads' in triage:
        fails.true('triage', triage['threads']['count'] <= base.query('threads', '--all').facts['threads'], 'threads')


def check_classes(base, heap):
    h = base.query('histogram')
    rows = {r['id']: r for r in h.rows}
    a = base.query('loaders', '--classes')
    loaders = [r for r in a.rows if r['kind'] == 'loader']
    fails.same('loaders', len(loaders), a.facts['loaders'], 'loaders')
    fails.same('loaders', sum(r['objects'] for r in loaders), h.facts['objects'], 'instances')
    fails.same('loaders', sum(r['shallow'] for r in loaders), h.facts['shallow'], 'shallow')
    fails.same('loaders', sum(r['unreachable_objects'] for r in loaders), h.facts['unreachable_objects'],
               'unreachable')
    now, sums = None, {}
    for r in a.rows:
        if r['kind'] == 'loader':
            now = r
            sums[now['id']] = collections.Counter()
            continue
        c = rows.get(r['id'])
        if c:
            for column, other in (('objects', 'objects'), ('shallow', 'shallow'), ('retained', 'retained'),
                                  ('unreachable_objects', 'unreachable_objects')):
                fails.same('loaders', r[column], c[other], 'loaders --classes: %s: %s' % (r['name'], column))
        for column in 'objects', 'shallow', 'unreachable_objects':
            sums[now['id']][column] += r[column]
        sums[now['id']]['classes'] += 1
    for r in loaders:
        for column in 'objects', 'shallow', 'unreachable_objects', 'classes':
            fails.same('loaders', r[column], sums[r['id']][column], 'loader %s: %s' % (r['id'], column))
        if r['id'] in heap.cls and r['id'] != '0x0':
            fails.same('loaders', r['loader_retained'], heap.retained[r['id']], 'loader %s: retained' % r['id'])
    # A class loader has the same retained size in all answers, at most that of the exact answer.
    others = [(' '.join(q), {r['id']: r['retained'] for r in base.query(*q).rows if r.get('kind', 'loader') == 'loader'})
              for q in (('histogram', '--by', 'loader'), ('top', '--by', 'loader'),
                        ('top-consumers', '--threshold', '0'))]
    for r in loaders:
        for what, retained in others:
            if r['id'] in retained:
                fails.same('loaders', r['retained'], retained[r['id']], 'loader %s in %s' % (r['id'], what))
    for r in sorted(loaders, key=lambda r: -r['retained'])[:5]:
        if not r['classes'] or r['id'] == '0x0':
            continue
        target = 'loader:' + r['id']
        bound = base.query('retained', target, '--lower-bound').rows[0]['retained']
        exact = base.query('retained', target).rows[0]['retained']
        fails.same('loaders', r['retained'], bound, target + ': lower bound')
        fails.true('loaders', exact >= max(bound, r['loader_retained']), target + ': exact')
    a = base.query('duplicate-classes')
    fails.same('duplicate-classes', len(a.rows), a.facts['classes'], 'classes')
    for r in a.rows:
        c = rows.get(r['id'])
        if c:
            fails.same('duplicate-classes', (r['objects'], r['shallow'], r['retained'], r['unreachable_objects']),
                       (c['objects'], c['shallow'], c['retained'], c['unreachable_objects']), r['name'])
    roots = base.query('roots')
    everything = base.query('roots', '--kind', 'all')
    fails.same('roots', roots.sum('records'), roots.facts['records'], 'records')
    kinds = collections.Counter()
    seen = collections.defaultdict(set)
    for r in everything.rows:
        kinds[r['kind']] += 1
        seen[r['kind']].add(r['id'])
    for r in roots.rows:
        fails.same('roots', r['records'], kinds[r['kind']], r['kind'] + ': records')
        fails.same('roots', r['objects'], len(seen[r['kind']]), r['kind'] + ': objects')
        fails.same('roots', r['shallow'], sum(heap.shallow.get(i, 0) for i in seen[r['kind']]), r['kind'])
    if everything.rows and 'local' in everything.rows[0]:
        own = set(r['id'] for r in everything.rows if not r['local'])
        fails.same('roots', len(own), roots.facts['objects'], 'objects that are roots of their own')
        for i in own:
            fails.same('roots', heap.dominator.get(i), '0x0', 'no object dominates the root ' + i)
    names = collections.Counter(r['name'] for r in h.rows)
    for r in [r for r in h.rows if r['id'] in heap.cls and names[r['name']] == 1 and '[' not in r['name']][:8]:
        f = base.query('class', r['name']).facts
        held = {}
        for row in base.query('references', r['id']).rows:
            for name in row['name'].split(', '):
                held.setdefault(name, set()).add(row['id'])
        above = (f.get('superclasses') or '').split(', ')[0]
        if names[above] == 1:
            above = next(x['id'] for x in h.rows if x['name'] == above)
            fails.true('class edges', above in held.get('<super>', ()), '%s holds its superclass' % r['name'])
        if f['loader_id'] != '0x0':
            fails.true('class edges', f['loader_id'] in held.get('<class loader>', ()), '%s holds its loader' % r['name'])
    for r in base.query('threads').rows[:200]:
        if r['kind'] == 'thread':
            thread = r['id']
        elif r['kind'] == 'local' and thread in heap.cls and r['id'] in heap.cls:
            fails.true('thread edges', r['id'] in set(x['id'] for x in base.query('references', thread).rows),
                       '%s holds its local variable %s' % (thread, r['id']))
    for option in (), ('--all',):
        a = base.query('threads', *option)
        threads = [r for r in a.rows if r['kind'] == 'thread']
        fails.same('threads', len(threads), a.facts['threads'], 'threads %s' % (option,))
        now, found = None, collections.Counter()
        for r in a.rows + [{'kind': 'thread'}]:
            if r['kind'] == 'thread':
                if now:
                    fails.same('threads', now['depth'] or 0, found['frame'], 'frames of %s %s' % (now['id'], option))
                now, found = r, collections.Counter()
            found[r['kind']] += 1


def check_object(base, heap, ident, deep):
    """Compares all answers about one object."""
    o = base.query('object', ident)
    f = o.facts
    what = 'object ' + ident
    fails.same('object', f['shallow'], heap.shallow[ident], what + ': shallow')
    if f.get('retained') is not None:
        fails.same('object', f['retained'], heap.retained[ident], what + ': retained')
    fails.same('object', f['reachable'], heap.reachable[ident], what + ': reachable')
    r = base.query('retained', ident).rows[0]
    fails.same('retained', (r['shallow'], r['retained'], r['reachable'], r['exact']),
               (heap.shallow[ident], heap.retained[ident], heap.reachable[ident], True), 'retained ' + ident)
    if heap.reachable[ident] and r['retained_objects'] is not None:
        fails.same('retained', r['retained_objects'], len(heap.below(ident)), 'objects of retained ' + ident)
    less = base.query('retained', ident, '--exclude', 'weak,soft').rows[0]
    fails.true('retained', less['retained'] >= heap.retained[ident], 'retained %s --exclude weak,soft: %d, all: %d' %
               (ident, less['retained'], heap.retained[ident]))
    refs = base.query('references', ident)
    named = set(r['id'] for r in refs.rows)
    if heap.kind[ident] != 'object array':
        fails.same('references', len(named), refs.facts['references'], 'references ' + ident)
    for row in o.rows:
        if row['ref'] and row['ref'] in heap.cls:
            fails.true('references', row['ref'] in named, '%s refers to %s by %s' % (ident, row['ref'], row['name']))
    for other in sorted(named)[:deep]:
        back = base.query('referrers', other, '--instances', '--all')
        fails.true('referrers', ident in set(r['id'] for r in back.rows), '%s is no referrer of %s' % (ident, other))
    if heap.reachable[ident]:
        for other in named:
            fails.true('reachable', heap.reachable.get(other, False), '%s is reachable and refers to %s, which is not' %
                       (ident, other))
            above = heap.dominator.get(other)
            if other != '0x0' and above not in (None, '0x0', ident):
                fails.true('dominators', above in heap.above(ident),
                           '%s dominates %s, but not %s, which refers to it' % (above, other, ident))
    back = base.query('referrers', ident, '--all')
    fails.same('referrers', len(set(r['id'] for r in back.rows)), back.facts['referrers'], 'referrers ' + ident)
    some = base.query('referrers', ident)
    fails.same('referrers', [r['id'] for r in some.rows],
               [r['id'] for r in back.rows if r['reachable'] or not heap.reachable[ident]], 'referrers ' + ident + ': reachable')
    for row in back.rows[:deep]:
        fails.same('referrers', row['reachable'], heap.reachable[row['id']], 'referrer ' + row['id'])
        forth = base.query('references', row['id'])
        fails.true('referrers', ident in set(r['id'] for r in forth.rows), '%s does not refer to %s' %
                   (row['id'], ident))
    level = base.query('dominators', ident)
    if heap.reachable[ident] and ident != '0x0':
        fails.same('dominators', level.facts['children'], len(heap.children.get(ident, ())), ident + ': children')
        fails.same('dominators', level.sum('retained') + heap.shallow[ident], heap.retained[ident], ident)
    for option in ('--exclude', 'none'), ('--all', '3'), ('--exclude', 'none', '--all', '5', '--internals'):
        p = base.query('path', ident, *option)
        paths = {}
        for r in p.rows:
            paths.setdefault(r['path'], []).append(r)
        if '--internals' in option or option == ('--exclude', 'none'):
            fails.same('path', bool(paths), heap.reachable[ident], 'path %s %s' % (ident, option))
        above = set(heap.above(ident))
        lengths = []
        for number, steps in paths.items():
            lengths.append(steps[-1]['step'])
            fails.same('path', steps[0]['id'], ident, 'path begins')
            fails.true('path', bool(steps[-1]['root']), 'path %d of %s ends at a root' % (number, ident))
            if '--internals' in option:
                fails.same('path', [r['step'] for r in steps], list(range(len(steps))), 'steps of %s' % ident)
                fails.true('path', above <= set(r['id'] for r in steps), 'path %d of %s passes all dominators' %
                           (number, ident))
                for a, b in list(zip(steps, steps[1:]))[:STEPS_MAX]:
                    fails.true('path', a['id'] in set(r['id'] for r in base.query('references', b['id']).rows),
                               'path of %s: %s refers to %s' % (ident, b['id'], a['id']))
        fails.same('path', lengths, sorted(lengths), 'paths of %s, the shortest first' % ident)


def check_sets(base, heap):
    rows = base.query('histogram').rows
    names = collections.Counter(r['name'] for r in rows)
    for r in rows[:6]:
        if names[r['name']] > 1 or not r['objects']:
            continue
        exact = base.query('retained', r['name'])
        quick = base.query('retained', '--lower-bound', r['name'])
        if exact.code or quick.code:
            continue
        e, q = exact.rows[0], quick.rows[0]
        fails.same('sets', (q['objects'], q['shallow'], q['retained']), (r['objects'], r['shallow'], r['retained']),
                   'retained --lower-bound ' + r['name'])
        fails.same('sets', (e['objects'], e['shallow']), (r['objects'], r['shallow']), 'retained ' + r['name'])
        fails.true('sets', r['retained'] <= e['retained'] <= heap.total, 'retained %s: %d, at least %d' %
                   (r['name'], e['retained'], r['retained']))
        c = base.query('class', r['name']).facts
        if 'instances' in c:
            a = base.query('class', '--all', r['name']).facts
            fails.same('class', (c['instances'], c['shallow']), (r['objects'], r['shallow']), r['name'])
            fails.same('class', (a['instances'], a['shallow']), (r['objects'] + r['unreachable_objects'],
                       r['shallow'] + r['unreachable_shallow']), r['name'] + ': --all')
            if c.get('retained') is not None:
                fails.same('class', c['retained'], r['retained'], r['name'])
    e = base.query('retained', '*').rows
    if e:
        fails.same('sets', (e[0]['objects'], e[0]['shallow'], e[0]['retained']), (heap.count, heap.total, heap.total),
                   'retained *')


def check_forms(base):
    """Formats, limits, sorting and columns show the same rows."""
    import csv
    for args in ('histogram',), ('dominators',), ('strings',), ('roots', '--kind', 'all'), ('collections',):
        full = base.query(*args)
        if not full.rows:
            continue
        limited = base.query(*(args + ('--limit', '3')))
        fails.same('limit', limited.rows, full.rows[:3], '%s --limit 3' % (args,))
        fails.same('limit', (limited.total, limited.facts), (full.total, full.facts), '%s --limit 3: facts' % (args,))
        for column in list(full.rows[0])[:8]:
            kinds = set(type(r[column]) for r in full.rows)
            if kinds <= {int, float}:
                by = base.query(*(args + ('--sort', column))).rows
                values = [r[column] for r in by]
                fails.true('sort', values in (sorted(values), sorted(values, reverse=True)), '%s --sort %s' %
                           (args, column))
                fails.same('sort', collections.Counter(json.dumps(r) for r in by),
                           collections.Counter(json.dumps(r) for r in full.rows), '%s --sort %s' % (args, column))
        code, text, _ = run(['query'] + list(args) + ['--csv', '--db', base.path, '--quiet', '--limit', 'all'])
        lines = [l for l in text.split('\n') if not l.startswith('#')]
        table = list(csv.DictReader(lines)) if '"' not in text or True else []
        if all('\n' not in str(v) and '\r' not in str(v) for r in full.rows for v in r.values()):
            fails.same('csv', len(table), len(full.rows), '%s: rows' % (args,))
            for a, b in zip(table, full.rows):
                for column, value in b.items():
                    if isinstance(value, int) and not isinstance(value, bool):
                        fails.same('csv', a.get(column), str(value), '%s: %s' % (args, column))


QUESTIONS = [
    # arguments, columns that depend on the order of IDs (ties, "the first by ID"), or None: the whole answer does
    (('histogram',), ()), (('histogram', '--shallow'), ()), (('histogram', '--by', 'superclass'), ()),
    (('histogram', '--by', 'package'), ()), (('histogram', '--by', 'loader'), ()),
    (('top',), ()), (('top', '--by', 'class'), ()), (('top', '--by', 'loader'), ()),
    (('dominators',), ()), (('dominators', '--by', 'package'), ()),
    (('dominator-tree',), ('id',)), (('dominator-tree', '--by', 'package'), ('id',)),
    (('big-drops',), ()), (('top-consumers',), ()), (('leaks',), None), (('leaks', '--brief'), ('suspect', 'via_field', 'text', 'short_text', 'owner_text', 'signature', 'signature_shape', 'signature_text')),
    (('triage', '--all'), ('id', 'class', 'label', 'detail', 'suspect', 'target')), (('roots',), ()), (('roots', '--kind', 'all'), ()),
    (('threads',), ()), (('threads', '--all', '--no-stack'), ()),
    (('strings',), ('id',)), (('strings', '--by', 'encoding'), ('id',)), (('strings', '--by', 'prefix'), ('id',)),
    (('duplicates',), ('id', 'arrays', 'holder', 'held')), (('duplicates', '--arrays'), ('id', 'holder', 'held', 'class')),
    (('substrings',), ('string', 'text')), (('arrays',), ('id',)), (('arrays', '--trailing-zeros'), ('id',)),
    (('collections',), ('largest',)), (('collections', '--by', 'fill'), ('largest',)), (('collections', '--by', 'object'), ()),
    (('collections', '--by', 'collisions'), ('largest',)),
    (('reference-stats',), ()), (('reference-leaks',), ('id', 'referent', 'path', 'steps')), (('finalizers',), ('id',)),
    (('unreachable',), ()), (('unreachable', '--by', 'holder'), None), (('loaders', '--classes'), ()),
    (('duplicate-classes',), ()), (('group-by-value', 'java.lang.Integer'), ('id',)), (('group-by-value', 'java.lang.String'), ('id',)),
    (('class', 'java.lang.String'), ()), (('class', '*', '--list'), ()), (('properties',), ()),
    (('merged-paths', 'java.lang.String'), None), (('immediate-dominators', 'java.lang.String'), ('id',)),
    (('retained', 'java.lang.String'), ()), (('retained', 'java.util.*'), ()),
    (('retained', 'java.util.*', '--exclude', 'weak,soft'), ()), (('dangling',), ('example', 'example_class')),
    (('layout', 'java.lang.Thread'), ()), (('problems',), None), (('sizes',), ()),
]
# What an answer says of the file, not of the heap.
OF_FILE = {'file_offset', 'time_us'}
# What depends on the width of IDs: the VM's own fields in some classes, and with them sizes and all sums of them.
OF_WIDTH = {'recorded_bytes', 'offset', 'shallow', 'retained', 'percent', 'heap_shallow', 'unreachable_shallow',
            'array_shallow', 'total_shallow', 'below_shallow', 'wasted', 'heap_shallow', 'only_shallow', 'only_retained', 'strong_shallow', 'soft_shallow',
            'weak_shallow', 'finalizer_shallow', 'phantom_shallow', 'kept_shallow', 'dominated_shallow', 'bytes',
            'class_bytes', 'instance_bytes', 'cut', 'cut_rows', 'cut_objects', 'cut_bytes', 'empty_shallow', 'zero_shallow', 'constant_shallow', 'trailing_wasted', 'waste_bytes', 'field_bytes', 'found_shallow', 'threshold', 'stack_bytes'}
# Questions whose rows depend on sizes, and what the others lose by that.
BY_SIZE = {'dominator-tree', 'big-drops', 'top-consumers', 'leaks', 'triage', 'layout', 'sizes', 'loaders', 'merged-paths'}
# Classes that have such fields.
HAS_POINTERS = re.compile(r'Loader|java\.lang\.Class$|java\.lang\.invoke\.|java\.lang\.reflect\.|java\.lang\.Thread|java\.lang\.Module')
# What an answer has only once all tables are built, and what proves a size by what lies between addresses.
OF_TABLES = {'retained', 'retained_from'}
OF_ADDRESSES = {'proof', 'left_out'}


class Map:
    """Converts an answer about a variant into the answer about the dump."""

    def __init__(self, ids):
        self.back = {'0x%x' % new: '0x%x' % old for old, new in (ids or {}).items()}
        self.forth = {'0x%x' % old: '0x%x' % new for old, new in (ids or {}).items()}

    def text(self, value):
        if self.back and isinstance(value, str) and '0x' in value:
            return MEANT_ID.sub(lambda m: self.back.get(m.group(), m.group()), value)
        return value

    def row(self, row, drop):
        # a string of the dump may look like an ID, and is none; the value of a field may be one
        texts = ('text', 'value') if 'objects' in row else ('text',)
        return {k: v if k in texts and isinstance(v, str) and ID.fullmatch(v) else self.text(v)
                for k, v in row.items() if k not in drop}

    def to(self, ident):
        return self.forth.get(ident, ident)


def first_difference(a, b):
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            keys = [k for k in x if x.get(k) != y.get(k)] or list(y)
            return 'row %d (%s): %s' % (i, x.get('name') or x.get('class') or x.get('id') or x.get('key') or
                                        x.get('text'), ', '.join('%s %.100r, %.100r' % (k, x.get(k), y.get(k))
                                                                 for k in keys[:3]))
    return '%d rows, %d' % (len(a), len(b))


def key_of(row):
    return json.dumps(row, sort_keys=True)


def compare(base, other, args, drop, where, back, any_order, own_args=None, keep_rows=None):
    """The answer of `other` is that of `base` but for the columns in `drop`, and the order of rows if any_order."""
    a, b = base.query(*args), other.query(*(own_args or args))
    what = '%s: %s' % (where, ' '.join(args))
    drop = set(drop) | OF_FILE
    fails.same('variant ' + where, b.code, a.code, what + ': exit code')
    x = [{k: v for k, v in r.items() if k not in drop} for r in a.rows]
    y = [back.row(r, drop) for r in b.rows]
    if keep_rows:
        x, y = list(filter(keep_rows, x)), list(filter(keep_rows, y))
    if any_order:
        x.sort(key=key_of)
        y.sort(key=key_of)
    fails.checked['variant ' + where] += 1
    if x != y:
        fails.add('variant ' + where, '%s: %s' % (what, first_difference(x, y)))
    fx = {k: v for k, v in a.facts.items() if k not in drop}
    fy = back.row(b.facts, drop)
    fails.checked['variant ' + where] += 1
    if fx != fy:
        keys = [k for k in sorted(set(fx) | set(fy)) if fx.get(k) != fy.get(k)]
        fails.add('variant ' + where, '%s: facts: %s' % (what, ', '.join('%s %r, %r' % (k, fx.get(k), fy.get(k))
                                                                        for k in keys[:4])))


def compare_heaps(heap, other, back, where, added=(), loaders=()):
    """Every object has the same sizes and the same dominator."""
    added = set(added)
    for ident in heap.cls:
        new = back.to(ident)
        if new not in other.cls:
            fails.add('variant ' + where, 'object %s is not there' % ident)
            continue
        mine = (heap.dominator[ident], heap.reachable[ident], heap.shallow[ident], heap.retained[ident])
        its = (back.text(other.dominator[new]), other.reachable[new], other.shallow[new], other.retained[new])
        if where == 'width':
            plain = heap.kind[ident] == 'instance' and not HAS_POINTERS.search(heap.cls[ident]) and \
                heap.cls[ident] not in loaders
            mine, its = mine[:2 + plain], its[:2 + plain]
        fails.same('variant ' + where, its, mine, 'object %s (%s)' % (ident, heap.cls[ident]))
    fails.same('variant ' + where, len(other.cls), len(heap.cls) + len(added), 'objects')


def compare_dumps(before, after, where, same_ids):
    """By `heapdb diff` nothing has changed, in whatever it is counted; in both directions."""
    for by in 'class', 'package', 'loader', 'superclass', 'path', 'dominator':
        for a, b in (before, after), (after, before):
            code, text, error = run(['diff', a.path, b.path, '--by', by, '--json', '--quiet'])
            answer = Answer(code, text, error)
            what = 'diff --by %s' % by
            fails.same('diff', code, 0, what + ': exit code ' + error[:100])
            # Paths of the same length are distinguished by IDs.
            if by == 'path' and not same_ids:
                continue
            for r in answer.rows:
                for column, value in r.items():
                    if column.endswith('_delta') and column != 'point_delta':
                        fails.true('diff ' + where, not value, '%s: %s: %s %s' % (what, r['name'], column, value))
            for column in 'objects', 'shallow':
                fails.same('diff', answer.facts.get(column + '_before'), answer.facts.get(column), what)


def sample_objects(heap, rng, count):
    """Returns the largest objects, some with many referrers and other properties, and some random ones."""
    found = sorted((i for i in heap.cls if i != '0x0'), key=lambda i: (-heap.retained[i], i))[:count // 3]
    found += rng.sample(sorted(i for i in heap.cls if i != '0x0' and i not in found), min(count - len(found),
                                                                                        len(heap.cls) - len(found) - 1))
    lost = sorted(i for i in heap.cls if not heap.reachable[i])
    return found + rng.sample(lost, min(2, len(lost)))


def layout_of(base):
    said = {r['key']: r['number'] for r in base.query('sizes').rows if r['section'] == 'sizes'}
    if not said.get('header') or not said.get('reference'):
        return None
    return 'header=%d,ref=%d,align=%d' % (said['header'], said['reference'], said['alignment'])


def relations(base, heap, rng, small, samples):
    for check in check_tree,:
        check(heap)
    check_histogram(base, heap)
    check_dominators(base, heap)
    check_trees(base, heap, small)
    check_leaks(base, heap)
    check_waste(base, heap)
    check_classes(base, heap)
    check_sets(base, heap)
    for ident in samples:
        check_object(base, heap, ident, 3)
    for args, _ in QUESTIONS:
        base.query(*args)
    compare_dumps(base, base, 'itself', True)
    check_objects(base, heap, rng)
    check_forms(base)
    check = base.ask('check')
    fails.same('check', check.code, 0, 'heapdb check')


def same_way(dump, work, base, heap, options, ask_options, name, questions, samples):
    """The same dump, imported and queried with other threads and budgets: byte for byte the same answers."""
    fails.where = base.name + ' ' + name
    other = Base(dump, os.path.join(work, name), options, ask_options)
    if not other.ok:
        fails.add('exit', 'import: ' + other.error)
        return
    none = Map(None)
    # Before there is any table, in another order: small questions are answered without the big tables.
    for ident in samples:
        r = other.query('retained', ident)
        fails.same('retained early', r.rows[0]['retained'] if r.rows else None, heap.retained[ident], ident)
    for args, _ in reversed(questions):
        compare(base, other, args, OF_TABLES if args[0] == 'class' else (), name, none, False)
    compare_heaps(heap, Heap(other), none, name)
    shutil.rmtree(os.path.join(work, name))


def campaign(path, name, short, work, picked):
    rng = random.Random(name)
    began = time.time()
    fails.where = name
    base = Base(path, os.path.join(work, 'base'))
    base.name = name
    if not base.ok:
        fails.add('exit', 'import: ' + base.error)
        return
    heap = Heap(base)
    small = len(heap.cls) < 200000
    samples = sample_objects(heap, rng, 9 if short else 60)
    relations(base, heap, rng, small, samples)
    questions = QUESTIONS
    for memory, threads in picked.get('ways', ()):
        same_way(path, work, base, heap, ['--threads', threads, '--memory', memory],
                 ['--threads', threads, '--memory', memory], 'threads %s, memory %s' % (threads, memory), questions,
                 samples[:6])
    try:
        dump = variants.Dump(path)
        known = dump.all_ids()
    except variants.Unsuitable as why:
        print('%s: no variants: %s' % (name, why))
        return
    layout = layout_of(base)
    fixed = fixed_heap = None
    for kind in picked['variants']:
        fails.where = '%s %s' % (name, kind)
        out = os.path.join(work, 'variant.hprof')
        try:
            ids, said = variants.write(dump, kind, out)
        except variants.Unsuitable as why:
            print('%s: no variant %s: %s' % (name, kind, why))
            continue
        back = Map(ids)
        if ids is None:
            mine, mine_heap, options = base, heap, []
        else:
            # What lies between addresses is no evidence any more.
            options = ['--layout', layout] if layout else ['--sizes', 'dump']
            if fixed is None:
                fixed = Base(path, os.path.join(work, 'fixed'), options)
                fixed_heap = Heap(fixed)
            mine, mine_heap = fixed, fixed_heap
        other = Base(out, os.path.join(work, 'other'), options)
        if not other.ok:
            fails.add('exit', 'import: ' + other.error)
            continue
        if kind != 'width':
            compare_dumps(mine, other, kind, kind != 'mixed')
        if said.get('added'):
            check_garbage(mine, mine_heap, other, back, kind, said['added'])
        else:
            compare_heaps(mine_heap, Heap(other), back, kind,
                          loaders=set(r['name'] for r in mine.query('loaders').rows))
            drop = OF_WIDTH if kind == 'width' else set()
            if ids is not None:
                drop = drop | OF_ADDRESSES
            mixed = kind in ('mixed', 'width')
            for args, ties in questions:
                if args[0] == 'sizes' and ids is not None or args[0] == 'problems' or \
                        args[0] in BY_SIZE and kind == 'width' or kind == 'mixed' and ties is None or \
                        args[0] == 'layout' and ids is not None:
                    continue
                compare(mine, other, args, drop | (set(ties or ()) if mixed else set()), kind, back, mixed,
                        keep_rows=(lambda r: 'Eclipse MAT' not in r['key'] and r['key'] != 'difference')
                        if args[0] == 'sizes' else None)
            for ident in samples[:12]:
                new = back.to(ident)
                for q in 'object', 'references', 'referrers', 'dominators', 'retained':
                    compare(mine, other, (q, ident), drop | {'target'}, kind, back, mixed, (q, new))
                if not mixed:
                    compare(mine, other, ('path', ident, '--all', '3'), drop, kind, back, False,
                            ('path', new, '--all', '3'))
        shutil.rmtree(os.path.join(work, 'other'))
    print('%s: %d objects, %d questions, %d relations, %.0f s' %
          (name, len(heap.cls), runs, sum(fails.checked.values()), time.time() - began), flush=True)


def check_garbage(mine, heap, other, back, kind, added):
    """With objects that no root reaches nothing changes of what is reachable, and the others are counted."""
    more = Heap(other)
    gone = set('0x%x' % i for i in added)
    compare_heaps(heap, more, back, kind, gone)
    size = sum(more.shallow[i] for i in gone)
    for i in gone:
        fails.same('garbage', more.reachable[i], False, i)
    before, after = mine.query('histogram').facts, other.query('histogram').facts
    fails.same('garbage', (after['objects'], after['shallow']), (before['objects'], before['shallow']), 'reachable')
    fails.same('garbage', (after['unreachable_objects'], after['unreachable_shallow']),
               (before['unreachable_objects'] + len(gone), before['unreachable_shallow'] + size), 'unreachable')
    lost = {'unreachable_objects', 'unreachable_shallow', 'unreachable_objects', 'unreachable_references', 'groups',
            'unreachable_objects', 'unreachable', 'help', 'use', 'idle'}
    for args, ties in QUESTIONS:
        if args[0] in ('unreachable', 'strings', 'class', 'group-by-value', 'sizes', 'problems', 'dangling', 'layout', 'triage') or \
                '--shallow' in args:
            continue
        reachable = None
        if args[0] in ('histogram',):
            reachable = lambda r: r['objects']
        compare(mine, other, args, lost, kind, back, args[0] == 'histogram', keep_rows=reachable)
    # Of the rules all but those on garbage, fillers and texts are about what is reachable.
    compare(mine, other, ('triage', '--all'), (), kind, back, False,
            keep_rows=lambda r: r['rule'] not in ('garbage', 'gc-fillers'))


def check_ways(work, shape, objects):
    """
    A heap so large that with little memory the dominators are found in other ways and with scratch files (16 MB is
    the least that is taken): byte for byte the same table of all objects.
    """
    fails.where = '%s %s' % (shape, objects)
    path = os.path.join(work, 'made.hprof')
    if not shutil.which('hprofgen') or subprocess.run(['hprofgen', shape, '-o', path, '--objects', objects],
                                                      stdout=subprocess.DEVNULL).returncode:
        fails.add('exit', 'hprofgen')
        return
    first = None
    for memory, threads in ('2G', '2'), ('16M', '1'), ('16M', '3'):
        options = ['--memory', memory, '--threads', threads]
        base = Base(path, os.path.join(work, 'made'), options, options)
        said = run(['export', 'objects', '--all', '--columns', 'id,shallow,retained,dominator', '--format', 'tsv',
                    '--db', base.path, '--quiet'] + options)
        fails.same('ways', said[0], 0, 'export objects: ' + said[2][:100])
        first = first or said[1]
        # Not shown: a line is enough.
        fails.true('ways', said[1] == first, 'export objects with %s differs' % ' '.join(options))
        shutil.rmtree(os.path.join(work, 'made'))
    os.remove(path)


SHORT = {
    'sample': {'ways': [('1M', '1'), ('64M', '4')],
               'variants': ['order', 'late', 'segments', 'whole', 'kept', 'mixed', 'width', 'garbage']},
    'first': {'ways': [('1M', '3')], 'variants': ['mixed', 'garbage']},
    'others': {'ways': [], 'variants': ['order', 'width']},
}
LONG = {
    'ways': [('1M', '1'), ('16M', '2')],
    'variants': ['order', 'late', 'segments', 'whole', 'kept', 'mixed', 'width', 'garbage'],
}


def main():
    short = sys.argv[1] == 'short'
    only = os.environ.get('RELATIONS_ONLY')
    for number, path in enumerate(sys.argv[2:]):
        name = os.path.basename(path).replace('.hprof', '')
        picked = LONG if not short else SHORT['sample' if number == 0 else 'first' if number == 1 else 'others']
        if only:
            picked = dict(picked, variants=[v for v in picked['variants'] if v in only.split(',')],
                          ways=picked['ways'] if 'ways' in only else [])
        work = tempfile.mkdtemp(prefix='relations-')
        try:
            campaign(path, name, short, work, picked)
        finally:
            shutil.rmtree(work)
    if os.environ.get('RELATIONS_WAYS'):
        for shape in os.environ['RELATIONS_WAYS'].split():
            work = tempfile.mkdtemp(prefix='relations-')
            try:
                check_ways(work, *shape.split(':'))
            finally:
                shutil.rmtree(work)
    for (kind, where), count in sorted(fails.counts.items()):
        print('%5d  %s: %s' % (count, where, kind))
    print('%d questions, %d relations looked at, %d do not hold' %
          (runs, sum(fails.checked.values()), sum(fails.counts.values())))
    sys.exit(1 if fails.counts else 0)


if __name__ == '__main__':
    main()
