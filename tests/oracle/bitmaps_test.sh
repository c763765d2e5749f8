#!/bin/sh
# tests/oracle/bitmaps_test.sh - bitmaps of Android dumps made by this test: pixels in the Java heap in each
# configuration, pictures that `am dumpheap -b png` puts into Bitmap.dumpData, bitmaps in graphics memory, copies, and
# dimensions that do not match the pixels. The exported pictures are read back.
set -eu
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
export PYTHONPATH="$HDB_ROOT/tests/oracle:$HDB_ROOT/tests/support" PYTHONDONTWRITEBYTECODE=1
cd "$TMPDIR"

python3 - <<'PY'
import struct, zlib
from android_dump import Dump

def png(width, height, rgb):
    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    rows = b''.join(b'\0' + rgb * width for _ in range(height))
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)) +
            chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))

def bitmap(d, width, height, data=None, **more):
    array = d.numbers('B', data) if data is not None else 0
    ident = d.new('android.graphics.Bitmap', mWidth=width, mHeight=height, mBuffer=array, **more)
    kept.append(ident)
    return ident

for name, id_size in ('old', 4), ('wide', 8):
    d, kept = Dump(sdk=23, id_size=id_size), []
    d.define('android.graphics.Bitmap', 'java.lang.Object', 'L mBuffer', 'I mDensity', 'I mHeight',
             'Z mIsMutable', 'J mNativePtr', 'Z mRecycled', 'I mWidth')
    ids = {}
    # 2 x 2: red, green, half transparent blue (multiplied), transparent.
    four = bytes([255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 128, 128, 0, 0, 0, 0])
    ids['argb'] = bitmap(d, 2, 2, four, mDensity=320)
    ids['copy'] = bitmap(d, 2, 2, four)
    ids['other shape'] = bitmap(d, 4, 1, four)
    ids['565'] = bitmap(d, 2, 1, struct.pack('<HH', 0xf800, 0x001f))
    ids['alpha'] = bitmap(d, 3, 1, bytes([0, 128, 255]))
    ids['longer buffer'] = bitmap(d, 2, 1, four[:8] + b'xyz')
    ids['overflow'] = bitmap(d, 0x7fffffff, 0x7fffffff, four)
    ids['times four'] = bitmap(d, 0x40000000, 1, four)
    ids['negative'] = bitmap(d, -2, 2, four)
    ids['nothing'] = bitmap(d, 0, 0, b'')
    ids['recycled'] = bitmap(d, 5, 5, mRecycled=True)
    d.static('app.Main', 'kept', d.array('android.graphics.Bitmap', kept))
    d.write(name + '.hprof')
    open(name + '.ids', 'w').write('\n'.join('%s=0x%x' % i for i in ids.items()))

d, kept = Dump(sdk=35), []
d.define('android.graphics.Bitmap', 'java.lang.Object', 'I mDensity', 'I mHeight', 'J mId',
         'L mHardwareBuffer', 'J mNativePtr', 'Z mRecycled', 'I mWidth')
d.define('android.graphics.Bitmap$DumpData', 'java.lang.Object', 'L buffers', 'I count', 'I format',
         'I max', 'L natives')
d.define('libcore.util.NativeAllocationRegistry', 'java.lang.Object', 'J size')
d.define('libcore.util.NativeAllocationRegistry$CleanerThunk', 'java.lang.Object', 'J nativePtr', 'L this$0')
d.define('java.lang.ref.Reference', 'java.lang.Object', 'L referent')
d.define('java.lang.ref.PhantomReference', 'java.lang.ref.Reference')
d.define('sun.misc.Cleaner', 'java.lang.ref.PhantomReference', 'L next', 'L prev', 'L thunk')
def modern(width, height, native, size, kind, **more):
    ident = d.new('android.graphics.Bitmap', mWidth=width, mHeight=height, mNativePtr=native,
                  mId=4711 * 10000000 + kind * 1000000 + native, **more)
    registry = d.new('libcore.util.NativeAllocationRegistry', size=size)
    thunk = d.new('libcore.util.NativeAllocationRegistry$CleanerThunk', **{'this$0': registry})
    kept.append(d.new('sun.misc.Cleaner', thunk=thunk, referent=ident))
    kept.append(ident)
    return ident
red, blue = png(7, 5, b'\xff\0\0'), png(7, 5, b'\0\0\xff')
ids = {'red': modern(7, 5, 1, 7 * 5 * 4 + 32, 1), 'red again': modern(7, 5, 2, 7 * 5 * 4 + 32, 1),
       'blue': modern(7, 5, 3, 7 * 5 * 2 + 32, 2), 'hardware': modern(9, 9, 4, 9 * 9 * 4 + 32, 3),
       'hardware by field': modern(9, 9, 5, 356, 1, mHardwareBuffer=d.new('android.hardware.HardwareBuffer')),
       'not dumped': modern(8, 8, 6, 8 * 8 * 8 + 32, 1), 'no picture': modern(1, 1, 7, 36, 1)}
buffers = d.array('byte[]', [d.numbers('B', b) for b in (red, red, blue, b'GIF89a, or so')])
natives = d.numbers('J', [1, 2, 3, 7])
d.static('android.graphics.Bitmap', 'dumpData', d.new('android.graphics.Bitmap$DumpData', count=1 << 30,
         format=1, max=4, natives=natives, buffers=buffers))
d.static('app.Main', 'kept', d.array('java.lang.Object', kept))
d.write('new.hprof')
open('new.ids', 'w').write('\n'.join('%s=0x%x' % i for i in ids.items()))
Dump(sdk=23).write('none.hprof')
PY
for name in old wide new none; do
	heapdb import --quiet $name.hprof >/dev/null
	heapdb query bitmaps --db $name.heapdb --json >$name.json
	heapdb query bitmaps --db $name.heapdb --duplicates --json >$name.copies.json
	heapdb export bitmaps pictures.$name --db $name.heapdb --json --quiet >$name.written.json
done
# Exporting twice to one directory works; exporting to a file does not.
heapdb export bitmaps pictures.new --db new.heapdb --quiet >/dev/null
heapdb export bitmaps none.json --db new.heapdb --quiet >out 2>&1 && { echo "wrote into a file"; exit 1; }
# A link with the name of a picture is not followed.
mkdir linked
echo precious >victim
id=$(sed -n 's/^red=//p' new.ids)
ln -s ../victim "linked/$id.png"
heapdb export bitmaps linked --db new.heapdb --quiet >out 2>&1 && { echo "followed a link"; exit 1; }
[ "$(cat victim)" = precious ] || { echo "wrote through a link"; exit 1; }

python3 - <<'PY'
import json, os, struct, zlib

from checks import end, want

def pixels(path):
    """RGBA rows of a PNG without interlacing."""
    data = open(path, 'rb').read()
    at, body = 8, b''
    while at < len(data):
        size, kind = struct.unpack('>I4s', data[at:at + 8])
        if kind == b'IHDR':
            width, height, depth, colour = struct.unpack('>IIBB', data[at + 8:at + 18])
        if kind == b'IDAT':
            body += data[at + 8:at + 8 + size]
        at += size + 12
    channels = {2: 3, 6: 4}[colour]
    raw, rows, above = zlib.decompress(body), [], bytes(width * channels)
    for y in range(height):
        line = bytearray(raw[y * (width * channels + 1):(y + 1) * (width * channels + 1)])
        how, line = line[0], line[1:]
        for x in range(len(line)):
            a = line[x - channels] if x >= channels else 0
            b, c = above[x], above[x - channels] if x >= channels else 0
            p = a + b - c
            paeth = min((abs(p - v), i, v) for i, v in enumerate((a, b, c)))[2]
            line[x] = (line[x] + (0, a, b, (a + b) // 2, paeth)[how]) & 255
        above = bytes(line)
        rows.append([tuple(line[x:x + channels]) for x in range(0, len(line), channels)])
    return rows

def load(name):
    ids = dict(line.split('=') for line in open(name + '.ids').read().split('\n'))
    answer = json.load(open(name + '.json'))
    rows = {row['id']: row for row in answer['rows']}
    written = json.load(open(name + '.written.json'))
    return (ids, answer['facts'], {key: rows[value] for key, value in ids.items()},
            {row['id']: row for row in written['rows']})

png = True
for name in 'old', 'wide':
    ids, facts, rows, written = load(name)
    want('how many', facts['bitmaps'], 11)
    want('wasted', facts['wasted'], 16)
    want('java', facts['java'] + facts['native'], facts['bytes'])
    for key, config in (('argb', 'ARGB_8888'), ('565', 'RGB_565'), ('alpha', 'ALPHA_8'),
                        ('longer buffer', 'ARGB_8888'), ('overflow', None), ('times four', None),
                        ('negative', None), ('nothing', None)):
        want(key, rows[key]['config'], config)
    want('density', (rows['argb']['density'], rows['copy']['density']), (320, 0))
    want('copies', [rows[key]['copies'] for key in ('argb', 'copy', 'other shape')], [2, 2, 1])
    want('first', (rows['copy']['first'], rows['argb']['first']), (ids['argb'], None))
    want('recycled', (rows['recycled']['recycled'], rows['argb']['recycled']), (True, False))
    want('where', rows['argb']['store'], 'java')
    copies = json.load(open(name + '.copies.json'))['rows']
    want('duplicates', [(row['id'], row['copies'], row['wasted']) for row in copies],
         [(ids['argb'], 2, 16)])
    for key in 'overflow', 'times four', 'negative', 'nothing', 'recycled':
        want(key, written[ids[key]]['file'], None)
    if 'libpng' in written[ids['argb']]['state']:
        png = False
        continue
    folder = 'pictures.' + name
    want('files', sorted(os.listdir(folder)),
         sorted(ids[key] + '.png' for key in ('argb', 'copy', 'other shape', '565', 'alpha', 'longer buffer')))
    want('argb', pixels('%s/%s.png' % (folder, ids['argb'])),
         [[(255, 0, 0, 255), (0, 255, 0, 255)], [(0, 0, 255, 128), (0, 0, 0, 0)]])
    want('565', pixels('%s/%s.png' % (folder, ids['565'])), [[(255, 0, 0, 255), (0, 0, 255, 255)]])
    want('alpha', pixels('%s/%s.png' % (folder, ids['alpha'])),
         [[(0, 0, 0, 0), (0, 0, 0, 128), (0, 0, 0, 255)]])
    want('longer', pixels('%s/%s.png' % (folder, ids['longer buffer'])),
         [[(255, 0, 0, 255), (0, 255, 0, 255)]])

ids, facts, rows, written = load('new')
want('stores', [rows[key]['store'] for key in ids],
     ['native', 'native', 'ashmem', 'hardware', 'hardware', 'native', 'native'])
want('configs', [rows[key]['config'] for key in ids],
     ['ARGB_8888', 'ARGB_8888', 'RGB_565', 'HARDWARE', 'HARDWARE', 'RGBA_F16', 'ARGB_8888'])
want('bytes', rows['red']['bytes'], 140)
want('copies', [rows[key]['copies'] for key in ids], [2, 2, 1, None, None, None, 1])
want('native', (facts['java'], facts['native'] > 0, facts['contents']), (0, True, 4))
want('files', sorted(os.listdir('pictures.new')),
     sorted(ids[key] + '.png' for key in ('red', 'red again', 'blue')))
want('blue', pixels('pictures.new/%s.png' % ids['blue'])[4][6], (0, 0, 255))
for key, word in ('hardware', 'graphics memory'), ('not dumped', 'am dumpheap -b'), ('no picture', 'not a PNG'):
    want(key, word in written[ids[key]]['state'], True)
want('no bitmaps', json.load(open('none.json'))['rows'], [])
if not png:
    print('built without libpng: pixels were not drawn')
end()
PY
