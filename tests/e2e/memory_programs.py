"""
Programs that hold known memory outside the heap (java/OutsideHeap.java), and what `heapdb memory`
says of it: the parts add up to RSS, and each has what the program holds, within a tolerance.

    memory_programs.py short|all|full JAVA_HOME...

Prints a line for each program, JDK and mode of Native Memory Tracking: the part, the truth, the
account, RSS by the kernel, what is not explained.
"""
import json
import os
import subprocess
import sys

MIB = 1 << 20
ROOT = os.environ['HDB_ROOT']
failed = 0

# Name, words of the program, options of the VM; part, detail and MiB that it must have at least, and
# at most; whether that needs NMT, and whether a dump.
PROGRAMS = [
    ('direct buffers', 'direct=100', [], 'direct memory', None, 99, 104, 'nmt'),
    ('direct buffers', 'direct=100', [], 'direct memory', 'direct buffers', 100, 100.2, 'dump'),
    ('small direct buffers', 'small=20', [], 'direct memory', None, 19.5, 24, 'nmt'),
    ('small direct buffers', 'small=20', [], 'direct memory', 'direct buffers', 20, 20.2, 'dump'),
    ('mapped file', 'mapped=64', [], 'mapped files', None, 64, 68, ''),
    ('mapped file', 'mapped=64', [], 'mapped files', 'mapped buffers', 64, 64.1, 'dump'),
    ('threads', 'threads=200', ['-Xss1m'], 'thread stacks', None, 200 * 0.1, 200 * 0.5, ''),
    ('class loaders', 'loaders=2000', [], 'metaspace', None, None, None, ''),
    ('class loaders', 'loaders=2000', [], 'not explained', None, 0, 9, ''),
    ('malloc by JNI', 'malloc=80', [], 'malloc', None, 79, 85, 'nmt+malloc'),
    ('malloc by JNI', 'malloc=80', [], 'not explained', None, 79, 95, 'nmt-malloc'),
    ('freed in arenas', 'freed=60', [], 'free in malloc', None, 55, 63, ''),
    ('heap, committed', 'heap=100', ['-Xms512m', '-Xmx512m', '-XX:+UseSerialGC'], 'Java heap', None, 100, 110, ''),
    ('heap, touched', 'heap=10', ['-Xms256m', '-Xmx256m', '-XX:+AlwaysPreTouch'], 'Java heap', None, 256, 256, ''),
]


# Modes of Native Memory Tracking. Without `full`, each JDK runs with detail and one other mode.
MODES = {
    'short': lambda home: ('detail',),
    'all': lambda home: ('off' if '17' in home else 'summary', 'detail'),
    'full': lambda home: ('off', 'summary', 'detail'),
}


def check(good, *words):
    global failed
    if not good:
        failed = 1
        print('FAILED:', *words)


def kernel(pid, name):
    """Bytes of a line of smaps_rollup."""
    with open(f'/proc/{pid}/smaps_rollup') as file:
        return sum(int(line.split()[1]) for line in file if line.startswith(name + ':')) * 1024


def heapdb(*words):
    done = subprocess.run(['heapdb', *map(str, words)], capture_output=True, text=True)
    check(done.returncode == 0, *words, done.stderr)
    return done.stdout


def account(pid, *words):
    before = kernel(pid, 'Rss')
    answer = json.loads(heapdb('memory', pid, *words, '--json'))
    after = kernel(pid, 'Rss')
    rss = answer['facts']['rss']
    parts = {row['part']: row for row in answer['rows'] if row['detail'] is None}
    check(sum(row['resident'] for row in parts.values()) == rss, 'parts do not add up')
    # The VM works on while it answers.
    check(min(before, after) * 0.98 <= rss <= max(before, after) * 1.02, 'RSS', before, rss, after)
    return answer, parts


def metaspace(pid, home):
    """Committed bytes, by the VM, which counts at each collection."""
    subprocess.run([f'{home}/bin/jcmd', str(pid), 'GC.run'], stdout=subprocess.DEVNULL)
    text = subprocess.run([f'{home}/bin/jcmd', str(pid), 'PerfCounter.print'], capture_output=True, text=True).stdout
    return int(text.split('sun.gc.metaspace.capacity=')[1].split()[0])


def run(home, nmt, program):
    name, words, options, *_ = program
    java = [f'{home}/bin/java', f'-XX:NativeMemoryTracking={nmt}', '-Xmx64m', '-XX:MaxDirectMemorySize=200m', *options, '-cp', 'classes',
            f'-Dlibrary={os.getcwd()}/liboutside.so', 'OutsideHeap', *words.split()]
    vm = subprocess.Popen(java, stdout=subprocess.PIPE, text=True)
    try:
        if vm.stdout.readline() != 'ready\n':
            check(False, 'the program did not start', *java)
            return
        look(vm.pid, home, nmt, name, [one for one in PROGRAMS if one[0] == name])
        # A process that ends meanwhile: an account, or one line.
        late = subprocess.Popen(['heapdb', 'memory', str(vm.pid)], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)
        vm.kill()
        said = late.communicate()[1]
        check(late.returncode in (0, 3, 4) and said.count('\n') <= 1, 'ended meanwhile', late.returncode, said)
    finally:
        vm.kill()
        vm.wait()


def look(pid, home, nmt, name, rows):
    answer, parts = account(pid)
    version = '17' if '17' in home else '25' if '25' in home else os.path.basename(home)
    help = subprocess.run([f'{home}/bin/jcmd', str(pid), 'help'], capture_output=True, text=True).stdout
    has_malloc = 'System.native_heap_info' in help
    for _, _, _, part, detail, least, most, needs in rows:
        if ('nmt' in needs and nmt == 'off') or ('malloc' in needs and has_malloc != ('-malloc' not in needs)):
            continue
        if 'dump' in needs:
            heapdb('capture', pid, '-o', 'vm.heapdb', '--force', '--quiet')
            answer, parts = account(pid, 'vm.heapdb')
            check(answer['facts']['not_in_process'] is None, 'buffers are elsewhere', answer['facts'])
        if least is None:
            committed = metaspace(pid, home)
            least, most = committed * 0.85 / MIB, committed * 1.02 / MIB
        have = [row['resident'] / MIB for row in answer['rows'] if row['part'] == part and row['detail'] == detail]
        have = have[0] if have else 0
        rest = parts.get('not explained', {'resident': 0})['resident'] / MIB
        print(f'{name:22}{version:>3} {nmt:8}{part}{": " + detail if detail else "":18} '
              f'{least:6.1f} to {most:6.1f}: {have:6.1f}; RSS {answer["facts"]["rss"] / MIB:6.1f}, '
              f'not explained {rest:5.1f}')
        check(least * 0.999 <= have <= most * 1.001, name, version, nmt, part, detail, least, have, most)
    if name == 'heap, committed':
        heap = parts['Java heap']
        check(heap['committed'] >= 500 * MIB, 'committed', heap)
    if name == 'threads':
        check(parts['thread stacks']['count'] >= 210, 'stacks', parts['thread stacks'])


def main():
    homes = sys.argv[2:]
    subprocess.run([f'{homes[0]}/bin/javac', '-J-XX:TieredStopAtLevel=1', '--release', '11', '-nowarn', '-d', 'classes',
                    f'{ROOT}/tests/java/OutsideHeap.java'], check=True, stderr=subprocess.DEVNULL)
    built = subprocess.run(['cc', '-shared', '-fPIC', '-O0', f'-I{homes[0]}/include', f'-I{homes[0]}/include/linux',
                            f'{ROOT}/tests/java/outside_heap.c', '-o', 'liboutside.so'], stderr=subprocess.DEVNULL)
    names = list(dict.fromkeys(program[0] for program in PROGRAMS))
    if built.returncode != 0:
        print('no C compiler or jni.h here: no malloc by JNI')
        names = [name for name in names if name not in ('malloc by JNI', 'freed in arenas')]
    if sys.argv[1] == 'short':
        names = ['direct buffers']
    for name in names:
        program = [program for program in PROGRAMS if program[0] == name][0]
        for home in homes:
            for nmt in MODES[sys.argv[1]](home):
                run(home, nmt, program)
    return failed


sys.exit(main())
