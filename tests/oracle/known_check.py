#!/usr/bin/env python3
"""known_check.py DB TRUTH [CLASS] - what heapdb says of the objects in CLASS.ALL against TRUTH.

Lines of the truth are said in tests/java/Known.java, whose collections (the default) are also summed up in other ways.
"""
import json
import re
import subprocess
import sys

db, truth = sys.argv[1:3]
program = sys.argv[3] if len(sys.argv) > 3 else 'Known'
bad = 0


def ask(*args):
    run = subprocess.run(['heapdb', 'query', *args, '--db', db, '--json'], capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(' '.join(args) + ': ' + run.stderr)
    return json.loads(run.stdout)


def complain(*what):
    global bad
    bad += 1
    print('FAILED:', *what)


def plain(text):
    """A label without the class that it begins with."""
    match = re.fullmatch(r'java\.lang\.String "(.*)"', text, re.S)
    return match[1] if match else re.sub(r'^(java\.lang\.(Integer|Long|Short|Boolean)|com\.google\.common\.collect\.Count|Known\$(Color|Many)) ', '', text)


top = next(f['ref'] for f in ask('class', program)['rows'] if f['field'] == 'ALL')
ids = [r['value_id'] for r in ask('entries', top)['rows']]
lines = [line.rstrip('\n').split('\t') for line in open(truth, encoding='utf-8')]
if len(ids) != len(lines):
    complain(len(ids), 'objects,', len(lines), 'lines')
sizes, elements = {}, 0
for at, (kind, name, *want) in zip(ids, lines):
    if kind == 'V':
        got = ask('object', at)['facts'].get('value')
        if name == 'record':  # the order of components is the dump's
            got = '[' + ', '.join(sorted(got[1:-1].split(', '))) + ']'
        if [got] != want:
            complain(name, 'is', got, 'not', want)
        continue
    answer = ask('entries', at)
    if kind == 'U':
        rows = answer['rows']
        if 'note' not in answer['facts'] and not (rows and rows[-1]['value_label'].startswith('<unknown: ')):
            complain(name, 'is known:', answer)
        if want and answer['facts']['size'] != int(want[0]):
            complain(name, 'has', answer['facts']['size'], 'not', want)
        for what in at, "'%s'" % answer['facts']['class']:
            sql = subprocess.run(['heapdb', 'sql', 'SELECT count(*) FROM entries(%s)' % what, '--db', db],
                                 capture_output=True, text=True)
            if sql.returncode != 2 or 'cannot list the entries' not in sql.stderr or \
                    (what != at and not re.search(r'\d+ of \d+ collections', sql.stderr)):
                complain('SQL knows', name, what, sql.stdout, sql.stderr)
        continue
    got = [(plain(r['key_label']) + '=' if r['key_label'] is not None else '') + plain(r['value_label'])
           for r in answer['rows']]
    elements += len(got)
    size = answer['facts'].get('size', len(got))
    ordered = kind == 'O' or answer['facts']['kind'] in ('list', 'queue', 'bits') and not name.startswith('values')
    wanted = want[1:] if ordered else sorted(want[1:])
    if (got if ordered else sorted(got)) != wanted or size != int(want[0]):
        complain(name, 'has', size, got[:9], 'not', want[:9])
    sizes[at] = size
    # The path from an object that only this collection holds contains the key or the index.
    row = next((r for r in answer['rows'] if name in ('HashMap 333', 'TreeMap 333', 'ConcurrentHashMap 333',
                'ArrayList 333', 'LinkedHashMap 333', 'ConcurrentSkipListMap 333', 'IdentityHashMap 333')
                and r['no'] == 40), None)
    if row:
        steps = ask('path', row['value_id'])['rows']
        want_label = '[40]' if row['key_label'] is None else '["%s"]' % plain(row['key_label'])
        if steps[1]['id'] != at or steps[1]['via_field'] != want_label:
            complain('path of', name, 'says', steps[1]['via_field'], 'not', want_label)
        if steps[2]['id'] != top or steps[2]['via_field'] != '["%s"]' % name:
            complain('path of', name, 'goes on with', steps[2]['via_field'])

print(len(lines), 'objects,', len(sizes), 'collections,', elements, 'elements')
if program != 'Known':
    sys.exit(bad != 0)

# One by one, and all together: the same sizes. What every collection of these has is in the sums.
one = {r['id']: r for r in ask('collections', '--by', 'object')['rows']}
for at, size in sizes.items():
    if one.get(at, {}).get('size') != size:
        complain('collections --by object:', at, one.get(at), 'not', size)
by_class = ask('collections')['rows']
by_size = ask('collections', '--by', 'size')['rows']
total = sum(r['objects'] for r in by_class)
if total != len(one) or total != sum(r['objects'] for r in by_size) + sum(r['size'] is None for r in one.values()):
    complain('sums differ:', total, len(one))
if sum(r['wasted'] for r in by_class) != sum(r['wasted'] for r in one.values()):
    complain('wasted bytes differ')
fill = ask('collections', '--by', 'fill', '--segments', '4')['rows']
for row in fill:
    low = (1 if row['at_most'] is None else row['at_most']) - 0.25
    want = sum(1 for r in one.values() if r['capacity'] is not None and r['size'] is not None and
               (lambda f: low < f <= row['at_most'] + 1e-12 if row['at_most'] is not None else f > 1)
               (1.0 if not r['capacity'] else r['size'] / r['capacity']))
    if want != row['objects']:
        complain('fill', row, want)
collisions = ask('collections', '--by', 'collisions')['rows']
if not collisions or sum(r['objects'] for r in collisions) != \
        sum(r['collisions'] is not None for r in one.values()):
    complain('collisions', collisions)

# Groups by value against the objects themselves.
groups = ask('group-by-value', 'java.lang.Integer')
if sum(r['objects'] for r in groups['rows']) != groups['facts']['objects'] or \
        len({r['value'] for r in groups['rows']}) != len(groups['rows']):
    complain('group java.lang.Integer')
names = ask('group-by-value', 'java.lang.Thread', '--by', 'field:name')['rows']
if 'main' not in [r['value'] for r in names]:
    complain('group by field:name', names)

found = {r['name']: r['value'] for r in ask('properties')['rows'] if r['section'] == 'property'}
if found.get('heapdb.test.property') != 'its value' or not found.get('java.version'):
    complain('properties', found)
sys.exit(bad != 0)
