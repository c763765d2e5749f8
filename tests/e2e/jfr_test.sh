#!/bin/sh
# jfr_test.sh - Flight Recorder files written by jfr_make.py: events; samples by class, thread, frame and stack,
# compared with sums of the test; their use in `leaks`; and recordings truncated or changed at their bytes.
set -eu
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
export PYTHONPATH="$HDB_ROOT/tests/e2e:$HDB_ROOT/tests/support" PYTHONDONTWRITEBYTECODE=1
cd "$TMPDIR"
python3 - <<'PY'
import json, os, subprocess
import jfr_make

from checks import end, want

def run(*arguments):
    done = subprocess.run(['heapdb', *arguments, '--json'], capture_output=True, text=True, timeout=60)
    return done.returncode, json.loads(done.stdout)

def write(name, data):
    with open(name, 'wb') as f:
        f.write(data)
    return data

def rows(*arguments):
    code, answer = run('jfr', *arguments)
    want('exit of %r' % (arguments,), code, 0)
    return answer['rows']

write('a.jfr', jfr_make.sample(40).data())
code, answer = run('jfr', 'a.jfr')
want('facts', answer['facts'], {'events': 'old-objects', 'old_objects': 41, 'allocations': 6, 'heap_summaries': 2,
                                'cpu_loads': 1, 'chunks': 1})
servlet, grow, deep = 'com.acme.SessionServlet.doGet:31', 'com.acme.Session.grow:12', 'java.util.Arrays.copyOf:3537'
stacks = {servlet: servlet + ' < java.lang.Thread.run:840',
          deep: deep + ' < com.acme.Session.grow:12 < java.lang.Thread.run', None: None}
want('an old object', answer['rows'][1], {
    'time': '2023-11-14T22:13:20.000004001Z', 'class': 'com.acme.Session', 'bytes': None, 'elements': None,
    'address': '0x80000010', 'allocated': '2023-11-14T22:13:20.000000001Z', 'description': 'Size: 1',
    'root': None, 'root_type': None, 'heap_used': 1 << 20, 'thread': 'w\u00e4rter \U0001f600',
    'thread_id': 7, 'site': servlet, 'stack': stacks[servlet]})
want('long texts', [answer['rows'][i]['description'] == text for i, text in
                    ((0, 'x' * 5000), (3, 'y' * 65536 + '... (70000 bytes)'))], [True, True])
want('an old array', [answer['rows'][40][k] for k in ('class', 'elements', 'root', 'description', 'thread', 'stack')],
     ['byte[]', 100, 'a static field', None, 'main', stacks[deep]])
allocations = rows('a.jfr', 'allocations')
want('allocations', [(r['class'], r['bytes'], r['thread_id'], r['site'], r['stack']) for r in allocations],
     [('java.lang.String[][]' if i % 2 else 'byte[]', 1000 * (i + 1), 7 if i % 2 else 1, grow if i % 2 else servlet,
       stacks[deep if i % 2 else servlet]) for i in range(5)] +
     [('com.acme.Session$Lambda+0x01.0x02', 7, None, None, None)])
want('gc', [(r['gc'], r['when'], r['heap_used'], r['committed'], r['reserved']) for r in rows('a.jfr', 'gc')],
     [(3, 'Before GC', 30 << 20, 64 << 20, 128 << 20), (3, 'After GC', 20 << 20, 64 << 20, 128 << 20)])
want('cpu', [(r['user'], r['system'], r['thread_id']) for r in rows('a.jfr', 'cpu')], [(25, 12.5, 7)])

# Added up.
for by, key in (('class', 'class'), ('thread', 'thread'), ('site', 'site')):
    sums = {}
    for r in allocations:
        name = r[key] or {'thread': '(no thread)', 'site': '(no call stack)'}[by]
        n, b = sums.get(name, (0, 0))
        sums[name] = n + 1, b + r['bytes']
    have = rows('a.jfr', 'allocations', '--by', by)
    want('by ' + by, {r['name']: (r['objects'], r['bytes']) for r in have}, sums)
    want('order by ' + by, [r['bytes'] for r in have], sorted((r['bytes'] for r in have), reverse=True))
folded = {}
for r in allocations:
    path = ';'.join(reversed(r['stack'].split(' < '))) if r['stack'] else '(no call stack)'
    folded[path] = folded.get(path, 0) + r['bytes']
text = subprocess.run(['heapdb', 'jfr', 'a.jfr', 'allocations', '--by', 'stack', '--format', 'folded'],
                      capture_output=True, text=True, check=True).stdout
want('folded', dict((line.rsplit(' ', 1)[0], int(line.rsplit(' ', 1)[1])) for line in text.splitlines()), folded)
# Several chunks have their own constants: the same stack appears once in the answer.
write('b.jfr', jfr_make.sample(3, 'com/acme/A').data() + jfr_make.sample(40).data() +
      jfr_make.sample(2, 'com/acme/A').data())
want('chunks', run('jfr', 'b.jfr')[1]['facts']['chunks'], 3)
want('classes of chunks', {r['name']: r['objects'] for r in rows('b.jfr', '--by', 'class')},
     {'com.acme.Session': 40, 'com.acme.A': 5, 'byte[]': 3})
want('frames of chunks', [(r['level'], r['name'], r['objects']) for r in rows('b.jfr', '--by', 'stack')],
     [(0, 'java.lang.Thread.run:840', 45), (1, servlet, 40), (1, 'com.acme.AServlet.doGet:31', 5),
      (0, 'java.lang.Thread.run', 3), (1, 'com.acme.A.grow:12', 2), (2, deep, 2), (1, 'com.acme.Session.grow:12', 1),
      (2, deep, 1)])
# Cyclic constants, and a class that contains itself.
r = jfr_make.Recording(dict(jfr_make.TYPES, **{'java.lang.Class': [('name', 'java.lang.Class', 1, 0)]}))
r.event('jdk.ObjectAllocationSample', 1, 0, 0, r.constant('java.lang.Class', 1), 8)
write('cycle.jfr', r.data())
want('a cycle', [x['class'] for x in rows('cycle.jfr')], [None])
r = jfr_make.Recording(dict(jfr_make.TYPES, **{'a.A': [('a', 'a.A', 0, 0), ('b', 'a.A', 0, 0)]}))
r.constant('a.A', 1)
write('inside.jfr', r.data())
want('a type in itself', run('jfr', 'inside.jfr')[0], 3)

# leaks shows the sampled elements of the suspect.
subprocess.run(['heapdb', 'import', os.environ['DUMP'], '-o', 'a.heapdb', '--quiet'], check=True)
_, plain = run('leaks', '--db', 'a.heapdb')
lists = [r for r in plain['rows'] if r['kind'] in ('element', 'content') and
         r['class'] and r['objects'] and not r['text']]
cls, objects = lists[0]['class'], lists[0]['objects']
write('c.jfr', jfr_make.sample(40, cls.replace('.', '/')).data())
_, told = run('leaks', '--db', 'a.heapdb', '--jfr', 'c.jfr')
said = [r for r, before in zip(told['rows'], plain['rows']) if r != before]
want('rows of leaks', len(told['rows']), len(plain['rows']))
want('said of leaks', [r['text'] for r in said if r['class'] == cls][:1],
     ['40 of {:,} {} objects were sampled, all allocated at {}Servlet.doGet:31'.format(
         objects, cls.rsplit('.', 1)[1], cls)])
want('once a suspect', len({r['suspect'] for r in said}), len(said))
want('only texts', [{**r, 'text': None} for r in told['rows']], [{**r, 'text': None} for r in plain['rows']])
prose = subprocess.run(['heapdb', 'leaks', '--db', 'a.heapdb', '--jfr', 'c.jfr', '--wide'],
                       capture_output=True, text=True).stdout
want('prose', 'objects were sampled, all allocated at ' + cls + 'Servlet.doGet:31' in ' '.join(prose.split()), True)

# Truncated and changed at its bytes: an answer or an error message, never a crash.
data = write('small.jfr', jfr_make.sample(1).data())
for i in range(0, len(data), 1 + len(data) // 100):
    for kind, other in (('cut', data[:i]), ('flip', data[:i] + bytes([data[i] ^ 0xff]) + data[i + 1:])):
        write('broken.jfr', other)
        code, answer = run('jfr', 'broken.jfr', ('old-objects', 'allocations')[i % 2])
        if code not in (0, 3) or (code == 3) != ('error' in answer):
            want('%s at %d' % (kind, i), code, '0 or 3')
        if kind == 'cut':
            want('cut at %d' % i, code, 3)
want('an older format', run('jfr', write('old.jfr', b'FLR\0\0\1' + data[6:]) and 'old.jfr')[0], 3)
want('numbers of fixed size', run('jfr', write('old.jfr', data[:67] + b'\0' + data[68:]) and 'old.jfr')[0], 3)
want('no recording', run('jfr', 'a.heapdb')[0], 3)
want('no file', run('jfr', 'none')[0], 3)
want('no events', run('jfr', 'a.jfr', 'locks')[0], 2)
want('no CPU samples', run('jfr', 'a.jfr', 'gc', '--by', 'class')[0], 2)
want('two files', run('jfr', 'a.jfr', 'gc', 'b.jfr')[0], 2)
end()
PY
for form in csv tsv jsonl table; do
	heapdb jfr a.jfr --format $form --limit all >out || { echo "$form fails"; exit 1; }
	grep -q 'com.acme.SessionServlet.doGet:31' out || { echo "$form has no frame"; exit 1; }
done
heapdb jfr - <a.jfr --by class --csv | grep -q '^com.acme.Session,40,' || { echo "not from a pipe"; exit 1; }
