"""fake_vm.py MODE DUMP [LIBRARY] - a process that heapdb capture takes for a HotSpot VM: it has a file
called libjvm.so mapped, a handler of SIGQUIT, and answers on the socket of the attach protocol, in the
manner that MODE names. Prints "ready", and each request as a line."""
import mmap, os, signal, socket, sys, time

mode, dump = sys.argv[1:3]
pid = os.getpid()
name = '/tmp/.java_pid%d' % pid
if os.path.lexists(name):  # of a killed process that had this ID
    os.unlink(name)
if len(sys.argv) > 3:
    library = open(sys.argv[3], 'rb')
    mapped = mmap.mmap(library.fileno(), 0, prot=mmap.PROT_READ)
listener = None

HELP = """GC.heap_dump
Generate a HPROF format dump of the Java heap.
Syntax : GC.heap_dump [options] <filename>
Options: (options must be specified using the <key> or <key>=<value> syntax)
\t-all : [optional] Dump all objects, including unreachable objects (BOOLEAN, false)
"""
OVERWRITE = """\t-gz : [optional] compression level (INT, 1)
\t-overwrite : [optional] If specified, the dump file will be overwritten (BOOLEAN, false)
"""


def listen(*_):
    """As the VM does it: only where a trigger file is, under another name first."""
    global listener
    triggers = ['.attach_pid%d' % pid, '/tmp/.attach_pid%d' % pid]
    if listener or mode == 'deaf' or not any(os.path.exists(t) for t in triggers):
        return
    s = socket.socket(socket.AF_UNIX)
    s.bind(name + '.tmp')
    s.listen(5)
    os.chmod(name + '.tmp', 0o666 if mode == 'open' else 0o600)
    os.rename(name + '.tmp', name)
    listener = s


def request(s):
    data = b''
    while True:
        words = data.split(b'\0')
        if words[0] == b'1' and len(words) > 5:
            return 1, [w.decode() for w in words[1:5]]
        if words[0] == b'2' and len(words) > 2 and len(data) - 3 - len(words[1]) == int(words[1]):
            return 2, [w.decode() for w in words[2:-1]]
        more = s.recv(4096)
        if not more:
            return 0, []
        data += more


def write_dump(path, flags):
    with open(dump, 'rb') as f:
        data = f.read()
    if mode in ('space', 'dies'):
        data = data[:len(data) // 2]
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o600)
    try:
        while data:
            data = data[os.write(fd, data):]
    except OSError as e:
        return 'Dump file is incomplete: %s' % e.strerror
    finally:
        os.close(fd)
    if mode == 'dies':
        os._exit(1)
    if mode == 'space':
        return 'Dump file is incomplete: No space left on device'
    return 'Heap dump file created [1 bytes in 0.001 secs]'


def answer(version, words):
    old = mode in ('old', 'fails')
    if words[0] == 'getversion':
        return '0\n2 streaming' if mode in ('v2', 'streaming') else '-1\nOperation getversion not recognized!'
    if version != (2 if mode in ('v2', 'streaming') else 1):
        return '101\n'
    if words[0] == 'inspectheap' and mode == 'fails':
        return '1\nPermission denied\n'
    if words[0] == 'inspectheap':
        rows = ''.join('%4d: %14d %14d  %s\n' % (no, 10000 - no, 16 * (10000 - no), name)
                       for no, name in enumerate(['[B (java.base@17.0.1)', '[[Lp.Inner$A; (p@1)', 'p.A', '[[I', '['] +
                                                 ['p.Class%d' % i for i in range(2000)], 1))
        return '0\n num     #instances         #bytes  class name (module)\n-----\n%sTotal   1   2\n' % rows
    if words[0] == 'threaddump':
        return '0\nFull thread dump\n\n"\033[31mred" #1\n\tat a.B.c(B.java:1)\n' + 'x' * 100000 + '\nend\n'
    if words[0] == 'jcmd' and words[1] == 'help GC.heap_dump':
        return '0\n' + HELP + ('' if old else OVERWRITE)
    if mode == 'fails':
        return '0\nUnable to create %s: \033[31mPermission denied\n' % words[1]
    if words[0] == 'dumpheap' and old:
        return '0\n' + write_dump(words[1], os.O_EXCL)
    if words[0] == 'jcmd' and words[1].startswith('GC.heap_dump -overwrite'):
        path = words[1].split(' ')[-1]
        return '0\nDumping heap to %s ...\n%s\n' % (path, write_dump(path, os.O_TRUNC))
    return '-1\nOperation %s not recognized!' % words[0]


def serve(s):
    if mode == 'closes':
        return
    version, words = request(s)
    print('request', version, words, flush=True)
    if mode == 'hangs':
        time.sleep(1000)
    elif mode == 'garbage':
        s.sendall(os.urandom(100000))
    elif mode == 'endless':
        while True:
            s.sendall(b'0\nand so on')
            time.sleep(0.1)
    elif mode == 'exits':
        os._exit(0)
    else:
        s.sendall(answer(version, words).encode())


if mode == 'stolen':
    # Another process listens under its name.
    if os.fork() == 0:
        s = socket.socket(socket.AF_UNIX)
        s.bind(name)
        os.chmod(name, 0o600)
        s.listen(5)
        print('ready', flush=True)
        while True:
            s.accept()[0].close()
elif mode == 'file':
    open(name, 'w').close()
elif mode == 'link':
    os.symlink('/tmp/.java_pid1', name)
if mode != 'nohandler':
    signal.signal(signal.SIGQUIT, listen)
if mode != 'stolen':
    print('ready', flush=True)
while not listener:
    time.sleep(0.02)
while True:
    s = listener.accept()[0]
    try:
        serve(s)
    except OSError:
        pass
    s.close()
