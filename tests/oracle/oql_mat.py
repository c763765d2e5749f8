#!/usr/bin/env python3
"""oql_mat.py HEAPDB MAT_RUN DIR DUMP...: the same statements to `heapdb oql` and to Eclipse MAT, row by row.

MAT_RUN is ../shared/peers/bin/mat-run, which takes a file of statements. Statements are made from shapes and classes;
rows are compared as sets of cells. What differs on purpose is in DIFFERENT, with its reason.
"""
import collections
import json
import os
import re
import subprocess
import sys

heapdb, mat_run, work = sys.argv[1:4]

CLASSES = ['java.lang.String', 'java.lang.Thread', 'java.util.HashMap', 'java.util.ArrayList', 'java.lang.Integer',
           'java.lang.Class', 'java.lang.Object[]', 'byte[]', 'java.util.concurrent.ConcurrentHashMap', 'java.lang.Long',
           'java.lang.Module', 'java.util.Properties']
OF_ANY = [
    'SELECT * FROM {c}',
    'SELECT * FROM INSTANCEOF {c}',
    'SELECT o.@objectAddress, o.@usedHeapSize FROM {c} o',
    'SELECT o.@objectId FROM {c} o WHERE o.@usedHeapSize > 24',
    'SELECT o.@retainedHeapSize AS held FROM {c} o WHERE o.@retainedHeapSize >= 100',
    'SELECT DISTINCT o.@clazz FROM INSTANCEOF {c} o',
    'SELECT classof(o).@name FROM {c} o WHERE o.@objectId < 5000',
    'SELECT toHex(o.@objectAddress) FROM {c} o WHERE o.@objectId < 5000',
    'SELECT inbounds(o).size() FROM {c} o WHERE o.@objectId < 3000',
    'SELECT outbounds(o).size() FROM {c} o WHERE o.@objectId < 3000',
    'SELECT dominators(o).size() FROM {c} o WHERE o.@objectId < 3000',
    'SELECT dominatorof(o) FROM {c} o WHERE o.@objectId < 3000',
    'SELECT o.@GCRootInfo != null FROM {c} o WHERE o.@GCRootInfo != null',
    'SELECT OBJECTS dominatorof(o) FROM {c} o WHERE o.@objectId < 3000',
    'SELECT OBJECTS outbounds(o) FROM {c} o WHERE o.@objectId < 1000',
    'SELECT * FROM OBJECTS ( SELECT OBJECTS inbounds(o) FROM {c} o WHERE o.@objectId < 1000 ) p',
    'SELECT * FROM {c} o WHERE o IN ( SELECT OBJECTS dominators(p) FROM java.lang.Thread p )',
    'SELECT (o.@usedHeapSize * 2 + 1) AS n, (o.@usedHeapSize / 3) AS part FROM {c} o WHERE o.@objectId < 2000',
    'SELECT o.@objectAddress - 1L FROM {c} o WHERE NOT (o.@objectId >= 2000)',
    'SELECT o.@objectId FROM {c} o WHERE o.@objectId > 100 AND o.@objectId < 2000 OR o.@usedHeapSize = 64',
    'SELECT o.nosuch FROM {c} o WHERE o.nosuch = null AND o.@objectId < 2000',
    'SELECT o.@nosuch FROM {c} o',
    'SELECT o.@objectId FROM {c} o WHERE o.@objectId.toString().endsWith("7")',
    'SELECT ${{snapshot}}.getGCRootInfo(o.@objectId) = null FROM {c} o WHERE o.@objectId < 500',
    'SELECT ${{snapshot}}.isClass(o.@objectId) AS a, ${{snapshot}}.isArray(o.@objectId) AS b FROM {c} o WHERE o.@objectId < 900',
    'SELECT ${{snapshot}}.getImmediateDominatorId(o.@objectId) FROM {c} o WHERE o.@objectId < 900',
    'SELECT AS RETAINED SET * FROM {c} o WHERE o.@objectId < 1500',
    'SELECT o.@clazz.@superClass.@name FROM {c} o WHERE o.@objectId < 900',
    'SELECT o.@clazz.@numberOfObjects, o.@clazz.@classLoaderAddress FROM {c} o WHERE o.@objectId < 900',
    'SELECT o.@usedHeapSize FROM {c} o UNION ( SELECT t.@usedHeapSize FROM java.lang.ThreadGroup t )',
    'SELECT * FROM OBJECTS {c}',
]
OF_SOME = [
    'SELECT s.hash, s.coder, s.value.@length FROM java.lang.String s WHERE s.value.@length > 5',
    'SELECT toString(s) FROM java.lang.String s WHERE toString(s) LIKE "java[.].*"',
    'SELECT toString(s).length() FROM java.lang.String s WHERE toString(s).startsWith("sun")',
    'SELECT toString(s).substring(0, 3) FROM java.lang.String s WHERE toString(s).length() > 3 AND s.@objectId < 4000',
    'SELECT toString(s).toUpperCase() FROM java.lang.String s WHERE toString(s) = "main"',
    'SELECT toString(s).hashCode() FROM java.lang.String s WHERE s.hash != 0 AND s.coder = 0 AND s.@objectId < 2000',
    'SELECT toString(s).split("[.]").length FROM java.lang.String s WHERE toString(s).contains("java.util")',
    'SELECT toString(s).replace("a", "b") FROM java.lang.String s WHERE toString(s) LIKE "[a-z]{{3,6}}"',
    'SELECT toString(s).indexOf(".") FROM java.lang.String s WHERE toString(s) LIKE "[a-z.]{{3,16}}"',
    'SELECT toString(s).compareTo("main") FROM java.lang.String s WHERE toString(s) LIKE "[a-z]{{4}}"',
    'SELECT s.value[0:2] FROM java.lang.String s WHERE s.@objectId < 1500',
    'SELECT s.value[0] FROM java.lang.String s WHERE s.@objectId < 1500',
    'SELECT m.size, m.threshold, m.loadFactor FROM java.util.HashMap m WHERE m.size > 0',
    'SELECT m.table.@length FROM java.util.HashMap m WHERE m.table != null',
    'SELECT m[0:-1].size() FROM java.util.HashMap m WHERE m.size > 3',
    'SELECT h.key, h.value FROM java.util.HashMap$Node h WHERE h.next != null',
    'SELECT l.size, l.elementData.@length FROM java.util.ArrayList l',
    'SELECT l.elementData[0] FROM java.util.ArrayList l WHERE l.size > 0',
    'SELECT i.value FROM java.lang.Integer i WHERE i.value > 10 AND i.value <= 100',
    'SELECT i.value.intValue(), i.value.doubleValue() FROM java.lang.Integer i WHERE i.value < 5',
    'SELECT t.name, t.tid, t.daemon FROM INSTANCEOF java.lang.Thread t',
    'SELECT t.contextClassLoader.@clazz.@name FROM java.lang.Thread t WHERE t.contextClassLoader != null',
    'SELECT t FROM java.lang.Thread t WHERE t.group.name.toString().startsWith("s")',
    'SELECT c.@name, c.@superClass FROM java.lang.Class c WHERE c implements org.eclipse.mat.snapshot.model.IClass AND c.@name LIKE "java.util.H.*"',
    'SELECT c.@instanceSize, c.@heapSizePerInstance FROM OBJECTS java.util.HashMap c',
    'SELECT c.getName() FROM OBJECTS ( ${snapshot}.getClassesByName("java.util.AbstractMap", true) ) c',
    'SELECT a.@length FROM INSTANCEOF java.lang.Object[] a WHERE a.@length > 50',
    'SELECT b.@length, b.@valueArray[0] FROM byte[] b WHERE b.@length > 200 AND b.@length < 400',
    'SELECT o FROM INSTANCEOF java.util.AbstractMap o WHERE o.size = 1',
    'SELECT e.name, e.ordinal FROM INSTANCEOF java.lang.Enum e WHERE e.ordinal > 3',
    'SELECT * FROM "java[.]util[.].*Map"',
    'SELECT o.@displayName FROM java.lang.ThreadGroup o',
    'SELECT r.referent FROM INSTANCEOF java.lang.ref.WeakReference r WHERE r.referent != null',
    'SELECT m.name, m.descriptor FROM java.lang.Module m WHERE m.name != null',
    'SELECT o.resolveValue("name") FROM java.lang.ThreadGroup o',
    'SELECT l.parallelLockMap.table.@length FROM INSTANCEOF java.lang.ClassLoader l',
    'SELECT x.k, x.n FROM OBJECTS ( SELECT m.size AS k, m.@objectId AS n FROM java.util.HashMap m ) x WHERE x.k > 2',
    'SELECT m FROM java.util.HashMap m WHERE ((SELECT t FROM nosuch t) = null) AND m.size = 2',
    'SELECT s FROM java.lang.String s WHERE s.value IN ( SELECT OBJECTS b FROM byte[] b WHERE b.@length > 300 )',
    'SELECT i.value + 0.5, i.value * 2L FROM java.lang.Integer i WHERE i.value = 7',
    'SELECT (7 / 2), (7 * 2), (1 - 3L) FROM OBJECTS 0',
    'SELECT count FROM java.util.HashMap WHERE',
    'SELECT x FROM',
    'SELECT s.value.nosuch.more FROM java.lang.String s WHERE s.@objectId < 200',
    'SELECT t.name.nosuch() FROM java.lang.Thread t',
]
# Statements that differ on purpose: a part of the statement, and why.
DIFFERENT = [
    ('substring(0, 3)', 'MAT counts the characters of \\uXXXX that it writes for what is not ASCII'),
]


def statements():
    made = [shape.format(c=c) for shape in OF_ANY for c in CLASSES]
    return made + [shape.replace('{{', '{').replace('}}', '}') for shape in OF_SOME]


def of_mat(dump, asked):
    with open(f'{work}/statements', 'w') as f:
        f.write('\n'.join(asked) + '\n')
    out = subprocess.run([mat_run, 'oqls', dump, f'{work}/statements'], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True).stdout.decode('utf-8', 'replace')
    answers, current = {}, None
    for line in out.split('\n'):
        if re.fullmatch(r'## \d+', line):
            current = answers.setdefault(int(line[3:]), [])
        elif current is not None and line:
            current.append(line)
    return answers


def of_heapdb(database, statement):
    p = subprocess.run([heapdb, 'oql', '--db', database, statement, '--format', 'jsonl', '--limit', 'all', '--quiet'],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    if p.returncode:
        return None, p.stderr.decode()
    return [json.loads(line, object_pairs_hook=list) for line in p.stdout.decode().splitlines()], ''


def number(text):
    try:
        return repr(float(text)) if re.fullmatch(r'-?[0-9.]+([eE][-+]?[0-9]+)?', text) else text
    except ValueError:
        return text


def mat_cell(cell):
    m = re.match(r'(0x[0-9a-f]+) \S', cell)
    if m or cell == 'null':  # as MAT's driver prints both null and the text "null"
        return m[1] if m else None
    if re.match(r'int\[\d+\]', cell) or cell.startswith('['):
        return '[]'
    return number(cell.replace('\\\\', '\\'))


def our_cell(cell):
    if cell is None or isinstance(cell, bool):
        return cell if cell is None else str(cell).lower()
    text = str(cell)
    if text == 'null':
        return None
    if text.startswith('[') or re.match(r'0x[0-9a-f]+, ', text):
        return '[]'
    units = ''.join(c if ' ' <= c < '\x7f' else '\\u%04x' % ord(c) for c in text)
    return number(units if len(text) <= 1024 else units[:1024] + '...')


def compare(statement, mat, database):
    rows, message = of_heapdb(database, statement)
    if mat and mat[0].startswith('!'):
        return '' if rows is None else 'MAT: ' + mat[0][:120]
    if rows is None:
        # an unknown class is a mistake here
        return '' if not mat and 'no class' in message else message.strip()[:160]
    is_list = not (mat and mat[0].startswith('#'))
    if is_list:
        want = [(line.split('\t')[0].split(' ')[0],) for line in mat]
        have = [(str(dict(row)['id']),) if 'id' in dict(row) else (our_cell(row[0][1]),) for row in rows]
    else:
        want = [tuple(mat_cell(cell) for cell in line.split('\t')) for line in mat[1:]]
        have = [tuple(our_cell(value) for _, value in row) for row in rows]
    want, have = collections.Counter(want), collections.Counter(have)
    if want == have:
        return ''
    return f'{sum(want.values())} rows of MAT, {sum(have.values())} here; ' \
           f'{list((want - have).items())[:2]} {list((have - want).items())[:2]}'


def main():
    asked, total, failed = statements(), 0, 0
    for dump in sys.argv[4:]:
        database = f'{work}/{os.path.basename(dump)}.heapdb'
        subprocess.run([heapdb, 'import', dump, '-o', database, '--sizes', 'mat', '--quiet', '--force'], check=True,
                       stdout=subprocess.DEVNULL)
        answers = of_mat(dump, asked)
        for no, statement in enumerate(asked, 1):
            if any(part in statement for part, _ in DIFFERENT):
                continue
            total += 1
            why = compare(statement, answers.get(no, ['!none']), database)
            if why:
                failed += 1
                print(f'{os.path.basename(dump)}: {statement}\n  {why}')
    print(f'{len(asked)} statements, {total} answers, {failed} differ')
    sys.exit(failed > 0 or len(asked) < 400)


main()
