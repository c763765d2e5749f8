#!/usr/bin/env python3
# coverage_oracle.py DATABASE... - runs every query that omits or selects objects, and adds up its answers. See
# coverage_test.sh.
import json
import subprocess
import sys

bad = 0
asked = 0


def fails(db, question, what):
    global bad
    bad += 1
    print('FAILED:', db.rsplit('/', 1)[-1], ' '.join(question), ':', what)


def run(db, *arguments):
    global asked
    asked += 1
    return subprocess.run(['heapdb', *arguments, '--db', db], capture_output=True, text=True, encoding='utf-8')


def ask(db, *question):
    arguments = question if question[0] in ('export', 'info') else ('query',) + question
    p = run(db, *arguments, '--json', '--limit', 'all')
    if p.returncode != 0:
        fails(db, question, 'exit %d: %s' % (p.returncode, p.stderr.strip()))
        return {}, []
    answer = json.loads(p.stdout)
    if len(answer['rows']) != answer['total_rows']:
        fails(db, question, '%d rows, told %d' % (len(answer['rows']), answer['total_rows']))
    return answer['facts'], answer['rows']


def same(db, question, what, a, b):
    if a != b:
        fails(db, question, '%s: %r, not %r' % (what, a, b))


def children_of(rows):
    """By row: the numbers of its children; of None: the top level."""
    stack, children = [], {None: []}
    for i, row in enumerate(rows):
        while stack and (rows[stack[-1]]['level'] or 0) >= (row['level'] or 0):
            stack.pop()
        children.setdefault(stack[-1] if stack else None, []).append(i)
        children[i] = []
        stack.append(i)
    return children


def adds_up(db, question, rows, total, own, depth=None):
    """What a node has is its own and its children's; returns what the top level has."""
    children = children_of(rows)
    for i, row in enumerate(rows):
        if row.get('others') or (depth is not None and row['level'] >= depth):
            continue
        if sum(rows[c][total] for c in children[i]) + row[own] != row[total]:
            fails(db, question, 'children and the rest are not their parent: %r' % row)
            break
    return sum(rows[c][total] for c in children[None])


def trees(db, kinds):
    for by in kinds:
        for options in ((), ('--min', '0'), ('--min', '20000'), ('--depth', '2'), ('--depth', '0'),
                        ('--min', '3000', '--depth', '3')):
            question = ('dominator-tree', '--by', by) + options
            depth = int(options[-1]) if '--depth' in options else None
            facts, rows = ask(db, *question)
            same(db, question, 'bytes', adds_up(db, question, rows, 'retained', 'shallow', depth),
                 facts['heap_shallow'])
            same(db, question, 'shown and cut', sum(r['shallow'] or 0 for r in rows) + facts.get('cut_bytes', 0),
                 facts['heap_shallow'])
            same(db, question, 'a reason', 'cut' in facts, 'cut_rows' in facts)
            if by == 'package':
                csv = run(db, 'query', *question, '--csv')
                same(db, question, 'told beside CSV', 'left out' in csv.stderr, 'cut' in facts)
        for options in (), ('--min', '20'), ('--depth', '1'):
            question = ('merged-paths', 'java.lang.String', '--by', by) + options
            depth = int(options[-1]) if '--depth' in options else None
            facts, rows = ask(db, *question)
            same(db, question, 'objects', adds_up(db, question, rows, 'below_objects', 'objects', depth),
                 facts['objects'] - facts['without_path'])
            same(db, question, 'shown and cut', sum(r['objects'] or 0 for r in rows) + facts.get('cut_objects', 0),
                 facts['objects'] - facts['without_path'])


def growth(db, older):
    for by in 'path', 'dominator':
        for options in (), ('--min', '0'), ('--min', '5000'):
            question = ('diff', '--by', by) + options
            p = subprocess.run(['heapdb', 'diff', older, db, '--json', '--by', by, *options], capture_output=True,
                               text=True, encoding='utf-8')
            answer = json.loads(p.stdout)
            facts, rows = answer['facts'], answer['rows']
            children = children_of(rows)
            for when in '', '_before':
                top = sum(rows[c]['retained' + when] for c in children[None])
                if by == 'dominator':
                    same(db, question, 'bytes' + when, top, facts['heap_shallow' + when])
                for i, row in enumerate(rows):
                    below = sum(rows[c]['retained' + when] for c in children[i])
                    if not row['others' if 'others' in row else 'level'] and children[i] and \
                            below > row['retained' + when]:
                        fails(db, question, 'children have more than their parent: %r' % row)
            if by == 'dominator':
                shown = sum(r['objects'] for r in rows if not r.get('others'))
                same(db, question, 'shown and cut', shown + facts.get('cut_objects', 0), facts['heap_objects'])


def consumers(db):
    for options in (), ('--threshold', '0'), ('--threshold', '7'), ('java.util.*',):
        question = ('top-consumers',) + options
        facts, rows = ask(db, *question)
        for kind in 'object', 'class', 'loader', 'package':
            top = [r for r in rows if r['kind'] == kind and not r['level']]
            # A loader retains with all its classes, whoever holds them, unless a target is named.
            if kind != 'loader' or options == ('java.util.*',):
                same(db, question, kind + ' bytes', sum(r['retained'] for r in top), facts['retained'])
            same(db, question, kind + ' items', sum(r['objects'] for r in top), facts['objects'])
        rows = [r for r in rows if r['kind'] == 'package']
        for parent, own in children_of(rows).items():
            if parent is not None and own:
                same(db, question, 'in ' + rows[parent]['name'], sum(rows[c]['retained'] for c in own),
                     rows[parent]['retained'])


def minimums(db):
    for question, total in ((('strings', '--min-count', '4'), 'found'),
                            (('strings', '--min-count', '3', '--match', '^[a-m]'), 'found'),
                            (('strings', '--by', 'prefix', '--min-count', '9'), 'found'),
                            (('group-by-value', 'java.lang.String', '--min-count', '3'), 'objects'),
                            (('group-by-value', 'java.*', '--min-count', '5', '--all'), 'objects'),
                            (('collections', '--by', 'fill'), 'objects'),
                            (('collections', '--by', 'collisions'), 'objects'),
                            (('collections', '--by', 'size'), 'objects'),
                            (('collections', '--arrays', '--by', 'fill'), 'objects'),
                            (('arrays',), 'found')):
        facts, rows = ask(db, *question)
        same(db, question, 'objects', sum(r['objects'] for r in rows) + facts.get('cut_objects', 0), facts[total])
        # `found` of strings are bytes of both, `shallow` of their own
        if 'found_shallow' in facts and question[0] == 'strings':
            same(db, question, 'bytes', sum(r['total_shallow'] for r in rows) + facts.get('cut_bytes', 0),
                 facts['found_shallow'])
    # a minimum omits exactly the difference to the answer without it
    for question, minimum in ((('duplicates', '--no-holders'), ('--min-count', '4')),
                              (('duplicates', '--no-holders'), ('--min-wasted', '200')),
                              (('duplicates', '--no-holders', '--arrays'), ('--min-wasted', '100')),
                              (('substrings',), ('--min-wasted', '100')), (('substrings',), ('--shared',)),
                              (('arrays', '--trailing-zeros', '--min-tail', '1'), ('--min-tail', '200'))):
        _, rows = ask(db, *question)
        facts, kept = ask(db, *question, *minimum)
        things = 'strings' if question[0] == 'substrings' else 'objects'
        same(db, question + minimum, 'objects', sum(r[things] for r in kept) + facts.get('cut_objects', 0),
             sum(r[things] for r in rows))
        if 'cut_rows' in facts:
            same(db, question + minimum, 'rows', len(kept) + facts['cut_rows'], len(rows))


def populations(db):
    for question, total in ((('strings',), 'objects'), (('group-by-value', 'java.lang.String'), 'objects'),
                            (('group-by-value', '*', '--by', 'value'), 'objects'), (('arrays',), 'objects'),
                            (('duplicates', '--no-holders'), 'objects'),
                            (('duplicates', '--no-holders', '--arrays'), 'objects'), (('substrings',), 'strings'),
                            (('collections',), 'objects'), (('collections', '--arrays'), 'objects')):
        ways = [ask(db, *question, *way)[0] for way in ((), ('--unreachable',), ('--all',))]
        same(db, question, 'both are all', ways[0][total] + ways[1][total], ways[2][total])
        same(db, question, 'counted', [w['counted'] for w in ways],
             ['reachable', 'unreachable', 'all objects, reachable or not'])
        same(db, question, 'unreachable', [w['unreachable_objects'] for w in ways], [ways[1][total]] * 3)
        p = run(db, 'query', *question, '--all', '--unreachable')
        same(db, question, 'both options', p.returncode, 2)
    # the row of a class equals that in the histogram
    facts, _ = ask(db, 'strings')
    _, rows = ask(db, 'histogram', 'java.lang.String')
    same(db, ('strings',), 'strings', facts['objects'], rows[0]['objects'])
    same(db, ('strings',), 'unreachable', facts['unreachable_objects'], rows[0]['unreachable_objects'])
    same(db, ('strings',), 'unreachable bytes', facts['unreachable_shallow'], rows[0]['unreachable_shallow'])
    whole, _ = ask(db, 'histogram')
    for question in (('dominators',), ('top',), ('big-drops',), ('loaders',), ('duplicate-classes',), ('unreachable',),
                     ('top-consumers',), ('dominator-tree',), ('reference-stats', '--no-retained'), ('export', 'objects')):
        facts, _ = ask(db, *question)
        for fact in 'unreachable_objects', 'unreachable_shallow':
            same(db, question, fact, facts.get(fact), whole[fact])
    for way, fact in ((), 'objects'), (('--unreachable',), 'unreachable_objects'):
        _, rows = ask(db, 'export', 'objects', '--columns', 'id', *way)
        same(db, ('export', 'objects') + way, 'objects', len(rows), whole[fact])


def order(db):
    """Sorted by any column, what is below a row stays below it, and siblings are in order."""
    for question in (('threads',), ('dominator-tree',), ('merged-paths', 'java.lang.String', '--min', '50'), ('loaders',),
                     ('loaders', '--classes'), ('big-drops', '--threshold', '0'), ('top-consumers',)):
        _, plain = ask(db, *question)
        if not plain:
            continue

        def shape(rows):
            """Each row, with those above it."""
            stack, out = [], []
            for row in rows:
                while stack and (stack[-1]['level'] or 0) >= (row['level'] or 0):
                    stack.pop()
                stack.append(row)
                out.append(json.dumps(stack[-3:]))
            return sorted(out)

        want = shape(plain)
        for column in plain[0]:
            for turned in '', '-':
                _, rows = ask(db, *question, '--sort=' + turned + column)
                if shape(rows) != want:
                    fails(db, question, '--sort=%s%s tears rows apart' % (turned, column))
                for parent, own in children_of(rows).items():
                    values = [rows[c][column] for c in own if rows[c][column] is not None]
                    if question == ('threads',) and parent is not None or not values or \
                            column.endswith('id') or column in ('parent', 'carrier', 'carries'):
                        continue
                    is_text = isinstance(values[0], str)
                    key = (lambda v: v.encode()) if is_text else (lambda v: v)
                    if values != sorted(values, key=key, reverse=is_text == (turned == '-')):
                        fails(db, question, '--sort=%s%s: not in order' % (turned, column))
                        break


for database in sys.argv[1:]:
    is_first = database == sys.argv[1]
    trees(database, ('class', 'package', 'loader') if is_first else ('class',))
    consumers(database)
    minimums(database)
    populations(database)
    if is_first:
        order(database)
    else:
        growth(database, sys.argv[1])
print('%d answers, %d wrong' % (asked, bad))
sys.exit(bad != 0)
