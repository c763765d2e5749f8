"""Compares the events and fields that heapdb reads from a recording with the output of the JDK's own tool.
Arguments: the tool jfr, the recording. Exits with 1 if they differ."""
import calendar, json, re, subprocess, sys, time
jfr_tool, recording = sys.argv[1:3]
KINDS = {'OldObjectSample': 'old-objects', 'ObjectAllocationSample': 'allocations', 'GCHeapSummary': 'gc',
         'ThreadCPULoad': 'cpu'}
bad = 0

def want(what, have, expected):
    global bad
    if have != expected:
        bad += 1
        if bad < 20:
            print('%s: %r, not %r' % (what, have, expected))

def class_name(text):
    dims = len(text) - len(text.lstrip('['))
    base = text[dims:]
    if dims:
        base = {'B': 'byte', 'C': 'char', 'D': 'double', 'F': 'float', 'I': 'int', 'J': 'long', 'S': 'short',
                'Z': 'boolean'}.get(base) or base[1:-1]
    return base.replace('/', '.') + '[]' * dims

def frame(f):
    m = f['method']
    return class_name(m['type']['name']) + '.' + m['name'] + (':%d' % f['lineNumber'] if f['lineNumber'] > 0 else '')

def when(text):
    head, _, rest = text.rstrip('Z').partition('.')
    return head + '.' + (rest + '000000000')[:9] + 'Z'

def nanos(text):
    return calendar.timegm(time.strptime(text[:19], '%Y-%m-%dT%H:%M:%S')) * 10**9 + int(text[20:29])

def expected(v):
    row = {'time': when(v['startTime'])}
    if 'eventThread' in v:
        t = v['eventThread'] or {}
        row.update(thread=t.get('javaName') or t.get('osName'), thread_id=t.get('javaThreadId'))
    if 'stackTrace' in v:
        frames = [frame(f) for f in v['stackTrace']['frames']] if v['stackTrace'] else []
        ours = [f for f in frames if not re.match(r'(javax?|jdk|sun|com\.sun)\.', f)]
        row.update(site=(ours or frames or [None])[0], stack=' < '.join(frames) if frames else None)
    if 'objectAge' in v:
        o, r = v['object'], v['root'] or {}
        row.update({'class': class_name(o['type']['name']), 'bytes': v.get('objectSize'),
                    'address': '0x%x' % o['address'],
                    'elements': v['arrayElements'] if v['arrayElements'] >= 0 else None,
                    'allocated': when(v['allocationTime']),
                    'description': o['description'], 'root': r.get('description'), 
                    'root_type': r.get('type'), 'heap_used': v['lastKnownHeapUsage']})
    if 'weight' in v:
        row.update({'class': class_name(v['objectClass']['name']), 'bytes': v['weight']})
    if 'gcId' in v:
        row.update(gc=v['gcId'], when=v['when'], heap_used=v['heapUsed'], committed=v['heapSpace']['committedSize'],
                   reserved=v['heapSpace']['reservedSize'])
    if 'user' in v:
        row.update(user=v['user'] * 100, system=v['system'] * 100)
    return row

def key(row):
    return [row['time']] + [str(row.get(k)) for k in ('thread', 'class', 'address', 'bytes', 'stack', 'when')]

total = {}
for event, kind in KINDS.items():
    printed = subprocess.run([jfr_tool, 'print', '--json', '--stack-depth', '5000', '--events', 'jdk.' + event, recording],
                             check=True, capture_output=True).stdout
    theirs = [expected(e['values']) for e in json.loads(printed)['recording']['events']]
    answer = json.loads(subprocess.run(['heapdb', 'jfr', recording, kind, '--json'], check=True,
                                       capture_output=True).stdout)
    ours = answer['rows']
    total[kind] = len(ours)
    want(kind + ' rows', len(ours), len(theirs))
    want(kind + ' columns', sorted(answer['columns']) if theirs else 0, sorted(theirs[0]) if theirs else 0)
    for a, b in zip(sorted(ours, key=key), sorted(theirs, key=key)):
        for name, value in b.items():
            have = a.get(name)
            if name in ('time', 'allocated') and answer['facts']['chunks'] > 1:
                # The JDK uses the clock of the first chunk for all chunks with the same metadata.
                want('%s %s' % (kind, name), abs(nanos(have) - nanos(value)) < 10**6, True)
            elif name == 'thread' and '\ufffd' in (value or ''):
                # The JDK does not read what the VM writes for characters beyond 16 bits.
                want('%s %s' % (kind, name), re.sub('[\U00010000-\U0010ffff]', '\ufffd\ufffd', have), value)
            elif name in ('user', 'system'):
                want('%s %s' % (kind, name), abs(have - value) < 0.006, True)
            else:
                want('%s %s' % (kind, name), have, value)
print(total)
sys.exit(bad > 0)
